package reflex_test

import (
	"testing"

	"pinch/agent/reflex"
)

func TestX(t *testing.T) {
	if _, err := reflex.New(reflex.Builtins(), reflex.Lists{}, nil); err != nil {
		t.Fatal(err)
	}
}
