// Package hw has the words of hardware: readings of devices, and the sentinel of what is not there.
package hw

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrAbsent means that this board does not have the hardware. That is normal.
var ErrAbsent = errors.New("not present on this board")

// Reading is what a device told.
type Reading struct {
	Values []Value   `json:"values"`
	At     time.Time `json:"at"`
}

// Value is one measured number.
type Value struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Get returns a value by name.
func (r Reading) Get(name string) (Value, bool) {
	for _, v := range r.Values {
		if v.Name == name {
			return v, true
		}
	}
	return Value{}, false
}

func (r Reading) String() string {
	parts := make([]string, len(r.Values))
	for i, v := range r.Values {
		parts[i] = strings.TrimSpace(fmt.Sprintf("%s %.1f %s", v.Name, v.Value, v.Unit))
	}
	return strings.Join(parts, ", ")
}
