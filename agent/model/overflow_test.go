package model_test

import (
	"strings"
	"testing"

	"pinch/agent/model"
)

func TestOverflowKnowsEveryProvider(t *testing.T) {
	for _, c := range []struct {
		text          string
		window, asked int
	}{
		{"prompt is too long: 213462 tokens > 200000 maximum", 200000, 213462},
		{`{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, 0, 0},
		{"Request exceeds the maximum size", 0, 0},
		{"stop reason model_context_window_exceeded", 0, 0},
		{"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.", 8192, 9001},
		{"This model's maximum context length is 4,097 tokens, however you requested 5,000 tokens (4,000 in your prompt; 1,000 for the completion).", 4097, 5000},
		{"This model's maximum context length is 16385 tokens…", 16385, 0},
		{`{"error":{"code":"context_length_exceeded"}}`, 0, 0},
		{"Your input exceeds the context window of this model", 0, 0},
		{"'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 65536 tokens and your request has 57879 input tokens", 65536, 57879},
		{"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)", 1048575, 1196265},
		{"ValidationException: Input is too long for requested model.", 0, 0},
		{"This model's maximum prompt length is 131072 but the request contains 537812 tokens", 131072, 537812},
		{"Please reduce the length of the messages or completion", 0, 0},
		{"Prompt contains 300000 tokens, too large for model with 131072 maximum context length", 131072, 300000},
		{"This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens (39000 of text input, 1000 in the output).", 32768, 40000},
		{"Input length 40000 exceeds the maximum allowed input length of 32767 tokens.", 32767, 40000},
		{"Input length (265330) exceeds model's maximum context length (262144).", 262144, 265330},
		{"Requested token count exceeds the model's maximum context length of 131072 tokens", 131072, 0},
		{"prompt token count of 130000 exceeds the limit of 128000", 128000, 130000},
		{"Your request exceeded model token limit: 131072 (requested: 200000)", 131072, 200000},
		{"invalid params, context window exceeds limit", 0, 0},
		{"Prompt too long", 0, 0},
		{"Range of input length should be [1, 30720]", 30720, 0},
		{"request (302 tokens) exceeds the available context size (256 tokens), try increasing it", 256, 302},
		{"the request exceeds the available context size (5000 > 4096)", 4096, 5000},
		{"the request exceeds the available context size. try increasing the context size or enable context shift", 0, 0},
		{`{"error":{"code":400,"type":"exceed_context_size_error","n_ctx":4096}}`, 0, 0},
		{"Trying to keep the first 5103 tokens when context the overflows. However, the number is greater than the context length of 4096", 4096, 5103},
		{"The number of tokens to keep from the initial prompt is greater than the context length", 0, 0},
		{"prompt too long; exceeded max context length by 12 tokens", 0, 0},
		{"the prompt is longer than the context length currently available to the model; shorten the prompt, adjust", 0, 0},
		{"the input length exceeds the context length", 0, 0},
		{"PROMPT IS TOO LONG: 9 TOKENS > 8 MAXIMUM", 8, 9},
	} {
		got, ok := model.Overflow(c.text)
		if !ok || got.Window != c.window || got.Asked != c.asked {
			t.Errorf("%q gives %+v, %v; want window %d, asked %d", c.text, got, ok, c.window, c.asked)
		}
	}
}

func TestOverflowIsNotEveryRefusal(t *testing.T) {
	for _, text := range []string{
		"", "ThrottlingException: Too many tokens, please wait before trying again.", "server busy, please try again",
		"Rate limit reached for model in organization on tokens per min (TPM): Limit 30000, Requested 42000. The prompt is too long for your plan.",
		"model requires more system memory (2.9 GiB) than is available (1.1 GiB)", "error parsing tool call",
		"max_tokens must be at least 1", "insufficient_quota", "maximum context length is unknown",
		"request body too large", "the file name is too long", "context deadline exceeded", "context canceled",
	} {
		if got, ok := model.Overflow(text); ok {
			t.Errorf("%q is taken for an overflow: %+v", text, got)
		}
	}
}

func FuzzOverflow(f *testing.F) {
	f.Add("prompt is too long: 213462 tokens > 200000 maximum")
	f.Add("maximum context length is 99999999999999999999 tokens, you requested , tokens")
	f.Add("exceeds the available context size (\xff > 4096)")
	f.Add(strings.Repeat("maximum context length is 1 tokens ", 999))
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := model.Overflow(text)
		if got.Window < 0 || got.Asked < 0 || !ok && got != (model.Excess{}) {
			t.Errorf("%q gives %+v, %v", text, got, ok)
		}
		if _, again := model.Overflow("x " + text); ok && len(text) < 16<<10-2 && !again {
			t.Errorf("%q is not known with text before it", text)
		}
	})
}
