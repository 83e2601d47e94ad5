package packaging

import (
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestConfigExample holds the real `pinch config example` against the sources: every key that any section declares
// is printed, and the printed file is accepted.
func TestConfigExample(t *testing.T) {
	if out, err := exec.Command("./build.sh").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command("../bin/pinch", "config", "example").Output()
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	for _, f := range sources(t).product() {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok || field.Tag == nil {
				return true
			}
			tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`"))
			key, ok := tag.Lookup("toml")
			if !ok {
				return true
			}
			keys++
			if text := string(out); tag.Get("doc") == "" || !strings.Contains(text, tag.Get("doc")) || !strings.Contains(text, key) {
				t.Errorf("%s: the key %s is not in the example, or has no doc tag", f.path, key)
			}
			return true
		})
	}
	if keys < 20 {
		t.Errorf("only %d keys were found in the sources", keys)
	}
	state := t.TempDir()
	if err := os.WriteFile(filepath.Join(state, "pinch.toml"), out, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("../bin/pinch", "--state", state, "status").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
