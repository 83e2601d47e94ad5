package budget

import "strings"

// Family is a kind of vocabulary.
type Family string

// The families that have priors of their own.
const (
	Qwen   Family = "qwen"
	Gemma  Family = "gemma"
	Llama  Family = "llama"
	O200k  Family = "o200k"
	CL100k Family = "cl100k"
)

// names are pieces of model names by family, the first that fits.
var names = []struct {
	family Family
	pieces []string
}{
	{O200k, []string{"gpt-oss", "gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-6", "chatgpt", "o1", "o3", "o4"}},
	{CL100k, []string{"gpt-4", "gpt-3.5"}},
	{Gemma, []string{"gemma", "gemini"}},
	{Llama, []string{"deepseek-r1-distill-llama", "llama", "hermes", "granite", "lfm"}},
	{Qwen, []string{"qwen", "qwq", "deepseek", "smollm", "mistral", "ministral", "devstral", "phi"}},
}

// FamilyOf tells the family that a model's name speaks of, such as "qwen3:1.7b" or "openai/gpt-4o-mini". A name that
// says nothing is Qwen's, which needs most tokens for what tools return.
func FamilyOf(model string) Family {
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, n := range names {
		for _, p := range n.pieces {
			if i := strings.Index(model, p); i == 0 || i > 0 && len(p) > 2 {
				return n.family
			}
		}
	}
	return Qwen
}

// Tokens estimates how many tokens a text is in a family's vocabulary. It does not allocate.
func (f Family) Tokens(s string) int {
	prices, ok := priors[f]
	if !ok {
		prices = priors[Qwen]
	}
	x, sum := measure(s), 0
	for i, n := range x {
		sum += n * prices[i]
	}
	return (sum + 999) / 1000
}
