package tool_test

import (
	"strings"
	"testing"

	"pinch/agent/tool"
	"pinch/budget"
)

func TestShapeMakesResultsSmall(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"text stays", "It is 21 degrees.\nAll is well.", "It is 21 degrees.\nAll is well."},
		{"JSON loses its blanks", "{\n  \"a\": 1,\n  \"b\": [1, 2]\n}\n", `{"a":1,"b":[1,2]}`},
		{"a list becomes a table", `[{"name":"Ana","age":30},{"name":"Bo, jr","age":4}]`, "name,age\nAna,30\n\"Bo, jr\",4"},
		{"in the order of its fields", `[{"z":1,"a":null},{"a":true,"z":2}]`, "z,a\n1,null\n2,true"},
		{"but not what is not alike", `[{"a":1},{"b":2}]`, `[{"a":1},{"b":2}]`},
		{"nor what is nested", `[{"a":{"x":1}},{"a":{"x":2}}]`, `[{"a":{"x":1}},{"a":{"x":2}}]`},
		{"broken JSON stays", `{"a": 1,`, `{"a": 1,`},
		{"data is left out", "before " + strings.Repeat("QUJD", 50) + "== after", "before [202 bytes of data left out] after"},
		{"in lines, too", "key:\n" + strings.Repeat(strings.Repeat("QUJD", 16)+"\n", 5) + "QUI=\n-----END-----", "key:\n[329 bytes of data left out]\n-----END-----"},
		{"but not words", strings.Repeat("one line of a log that says something, and no more than that\n", 5), strings.Repeat("one line of a log that says something, and no more than that\n", 5)},
	} {
		if got, cut := tool.Shape(c.in, 1000); got != c.want || cut {
			t.Errorf("%s: %q, %v; want %q", c.name, got, cut, c.want)
		}
	}
}

func TestShapeKeepsBothEndsOfALog(t *testing.T) {
	var b strings.Builder
	b.WriteString("first line\n")
	for range 4000 {
		b.WriteString("Nov 30 12:00:01 board kernel: all is as it was\n")
	}
	b.WriteString("last line: error -110")
	got, cut := tool.Shape(b.String(), 300)
	if !cut || !strings.HasPrefix(got, "first line") || !strings.HasSuffix(got, "error -110") || !strings.Contains(got, "left out") {
		t.Errorf("%v %q", cut, got)
	}
	if n := budget.Tokens(got); n > 300 {
		t.Errorf("%d tokens", n)
	}
}

func FuzzShape(f *testing.F) {
	for _, s := range []string{"", "[]", `[{"a":1},{"a":2}]`, `[{"a":1,"a":2},{"a":3}]`, "{", strings.Repeat("a", 300), "温室 21°C\n", strings.Repeat(strings.Repeat("QUJD", 16)+"\n", 9), " [1, 2] ", "[{\"[1]\":1},{\"[1]\":2}]"} {
		f.Add(s, 100)
	}
	f.Fuzz(func(t *testing.T, text string, tokens int) {
		tokens = 24 + tokens&0x3ff
		once, _ := tool.Shape(text, tokens)
		if n := budget.Tokens(once); n > tokens {
			t.Errorf("%d tokens, at most %d", n, tokens)
		}
		if twice, _ := tool.Shape(once, tokens); twice != once {
			t.Errorf("%q became %q", once, twice)
		}
	})
}
