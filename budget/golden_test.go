package budget_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
)

var write = flag.Bool("write", false, "write the golden texts anew; count them with testdata/count.mjs afterwards")

// A golden text and what five vocabularies make of it. Half 0 is for fitting, half 1 for judging.
type golden struct {
	Class  string         `json:"class"`
	Half   int            `json:"half"`
	Text   string         `json:"text"`
	Counts map[string]int `json:"-"` // tokens by vocabulary
}

var sizes = []int{100, 150, 220, 330, 500, 800, 1200, 2000, 3200, 5000}

// large are the classes with two texts of 32 KB.
var large = []string{"chat", "log", "results", "json"}

func writeGolden(t *testing.T) {
	t.Helper()
	file, err := os.Create("testdata/texts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out := json.NewEncoder(file)
	out.SetEscapeHTML(false)
	writers := []*writer{newWriter(t, 0), newWriter(t, 1)}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		wanted := sizes
		if slices.Contains(large, class) {
			wanted = append(slices.Clone(sizes), 32<<10, 32<<10)
		}
		for i, size := range wanted {
			if err := out.Encode(golden{Class: class, Half: i % 2, Text: writers[i%2].write(class, size)}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// readGolden returns the golden texts of a half.
func readGolden(t testing.TB, half int) []golden {
	t.Helper()
	file, err := os.Open("testdata/texts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	counts := readCounts(t)
	var all []golden
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for i := 0; lines.Scan(); i++ {
		var g golden
		if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
			t.Fatalf("text %d: %v", i, err)
		}
		g.Counts = map[string]int{}
		for vocabulary, list := range counts.Texts {
			if i >= len(list) {
				t.Fatal("texts are newer than counts: run node testdata/count.mjs")
			}
			g.Counts[vocabulary] = list[i]
		}
		if g.Half == half {
			all = append(all, g)
		}
	}
	return all
}

// counts is what testdata/count.mjs found.
type counts struct {
	Texts    map[string][]int          `json:"texts"`    // by vocabulary, in the order of texts.jsonl
	Template map[string]map[string]int `json:"template"` // by vocabulary: what a message, a tool and the tools block add
}

func readCounts(t testing.TB) counts {
	t.Helper()
	data, err := os.ReadFile("testdata/counts.json")
	if err != nil {
		t.Fatal(err)
	}
	var c counts
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(fmt.Errorf("counts.json: %w", err))
	}
	return c
}

func TestGoldenTexts(t *testing.T) {
	if *write {
		writeGolden(t)
		return
	}
	fit, judge := readGolden(t, 0), readGolden(t, 1)
	if n := len(fit) + len(judge); n < 200 {
		t.Fatalf("only %d texts", n)
	}
	seen := map[string]int{}
	for _, g := range judge {
		seen[g.Class]++
	}
	if len(seen) < 22 {
		t.Errorf("only %d classes", len(seen))
	}
}
