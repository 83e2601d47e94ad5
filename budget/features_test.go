package budget_test

import (
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"pinch/budget"
)

func TestFeatures(t *testing.T) {
	for text, want := range map[string]map[string]int{
		"":                      {},
		"hello world":           {"word": 2, "middle": 2},
		"(internationally)":     {"glued": 1, "middle": 4, "long": 7, "punct": 2},
		"camelCase HTTP_SERVER": {"word": 2, "glued": 1, "camel": 1, "capital": 8, "middle": 6, "long": 1, "punct": 1},
		"1234567 12":            {"digit": 9, "triple": 4, "spaced": 2},
		"a -- b!?":              {"word": 2, "punct": 2, "same": 1, "mixed": 1},
		"a\n\n    b":            {"word": 2, "newline": 1, "indent": 1},
		"für alle":              {"word": 1, "latin": 1, "foreign": 2},
		"да нет":                {"cyrillic": 5, "phrase": 2},
		"水が。":                   {"han": 1, "kana": 1, "wide": 1},
		"한국 ไทย हिन्दी שלום": {"hangul": 2, "thai": 3, "indic": 6, "arabic": 4, "phrase": 3},
		"👍🏽":                        {"symbol": 1, "joiner": 1},
		"Γειά":                      {"rare": 4},
		"9f86d081884c7d659a2feaa0":  {"codes": 9, "figures": 15},
		"a7Bx9Qz2Lm4Kp8Wn":          {"codes": 11, "figures": 5},
		"agent/model/ollama_client": {"word": 1, "glued": 3, "punct": 3, "middle": 6},
		"\xff\xfe":                  {"symbol": 2},
	} {
		got := budget.Measure(text)
		for i, n := range got {
			if n != want[budget.FeatureNames[i]] {
				t.Errorf("%q has %s %d, want %d", text, budget.FeatureNames[i], n, want[budget.FeatureNames[i]])
			}
		}
	}
}

func TestFamilyOf(t *testing.T) {
	for model, want := range map[string]budget.Family{
		"qwen3:1.7b": budget.Qwen, "hf.co/unsloth/Qwen2.5-0.5B-Instruct-GGUF": budget.Qwen, "gemma3:270m": budget.Gemma,
		"functiongemma": budget.Gemma, "google/gemini-3-flash": budget.Gemma, "llama3.2:1b": budget.Llama,
		"meta-llama/Llama-3.2-3B": budget.Llama, "gpt-4o-mini": budget.O200k, "openai/gpt-5.1": budget.O200k, "o3-mini": budget.O200k,
		"gpt-4-turbo": budget.CL100k, "gpt-oss:20b": budget.O200k, "smollm2:135m": budget.Qwen, "granite4:micro": budget.Llama,
		"lfm2.5:1.2b": budget.Llama, "mistral:7b": budget.Qwen, "claude-sonnet-5": budget.Qwen, "": budget.Qwen, "proto1": budget.Qwen,
	} {
		if got := budget.FamilyOf(model); got != want {
			t.Errorf("%q is %s, want %s", model, got, want)
		}
	}
}

func TestTokensOfAnUnknownFamily(t *testing.T) {
	const text = "The reading was 21.5 degrees at 2026-11-30T22:31:07Z"
	if got, want := budget.Family("klingon").Tokens(text), budget.Tokens(text); got != want || got < 20 || got > 45 {
		t.Errorf("%d tokens, the default is %d", got, want)
	}
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{"", "hello, wörld", "{\"a\": 1234}\n\n", "9f86d081884c7d659a2feaa0", "水\xff👍🏽", "\t\t x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := budget.Tokens(s)
		if n < 0 || n > 4*len(s)+1 || s == "" && n != 0 {
			t.Errorf("%q is %d tokens", s, n)
		}
		runes, letters := 0, 0
		for i, k := range budget.Measure(s) {
			if k < 0 || k > len(s) {
				t.Errorf("%q has %s %d", s, budget.FeatureNames[i], k)
			}
			switch budget.FeatureNames[i] {
			case "latin", "rare", "cyrillic", "arabic", "han", "kana", "hangul", "indic", "thai", "wide", "symbol", "joiner":
				letters += k
			}
		}
		for _, r := range s {
			if r >= utf8.RuneSelf {
				runes++
			}
		}
		if runes != letters {
			t.Errorf("%q has %d characters beyond ASCII, counted %d", s, runes, letters)
		}
	})
}

func BenchmarkTokens(b *testing.B) {
	var all strings.Builder
	for _, g := range readGolden(b, 1) {
		all.WriteString(g.Text)
	}
	texts := map[string]string{"golden": all.String(), "english": strings.Repeat("The pump in the cellar starts whenever the water rises. ", 2000)}
	for _, name := range sortedKeys(texts) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(texts[name])))
			b.ReportAllocs()
			started := cpu()
			for b.Loop() {
				budget.Tokens(texts[name])
			}
			// Other programs slow down the clock, but not the processor time.
			b.ReportMetric(float64(b.N*len(texts[name]))/1e6/(cpu()-started).Seconds(), "cpuMB/s")
		})
	}
}

// cpu is the processor time of this process.
func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestTokensAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { budget.Tokens("für 1234 {\"a\": 水} 9f86d081884c7d659a2feaa0") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
