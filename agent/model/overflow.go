package model

import (
	"regexp"
	"strconv"
	"strings"
)

// Excess is what a refusal tells about sizes, in tokens; 0 = it does not say. Where both are told and Asked is not
// above Window, the prompt alone fits, and it is the reply's reserve that has to shrink.
type Excess struct {
	Window int // what the model takes
	Asked  int // what the prompt counts
}

// overflows are the wordings of providers, in lower case, those with more numbers first. "#" is what was asked, "@"
// the window, "…" any text between.
var overflows = []string{
	"maximum context length is @ tokens…your request has # input tokens",
	"maximum context length is @ tokens…requested about # tokens",
	"maximum context length is @ tokens…requested # tokens",
	"maximum context length is @ tokens…resulted in # tokens",
	"maximum context length is @ tokens",
	"maximum context length of @ tokens",
	"prompt is too long: # tokens > @ maximum",
	"input token count (#) exceeds the maximum number of tokens allowed (@)",
	"maximum prompt length is @ but the request contains # tokens",
	"prompt contains # tokens, too large for model with @ maximum context length",
	"input length # exceeds the maximum allowed input length of @ tokens",
	"input length (#) exceeds model's maximum context length (@)",
	"prompt token count of # exceeds the limit of @",
	"exceeded model token limit: @ (requested: #)",
	"range of input length should be [1, @]",
	"request (# tokens) exceeds the available context size (@ tokens)",
	"exceeds the available context size (# > @)",
	"# tokens…greater than the context length of @",
	"greater than the context length (@)",
	"exceeds the available context size",
	"exceed_context_size_error",
	"context_length_exceeded",
	"model_context_window_exceeded",
	"request_too_large",
	"request exceeds the maximum size",
	"exceeds the context window",
	"context window exceeds limit",
	"input is too long for requested model",
	"reduce the length of the messages or completion",
	"greater than the context length",
	"longer than the context length",
	"exceeds the context length",
	"exceeded max context length",
	"prompt is too long",
	"prompt too long",
	"input length exceeds",
}

// throttles are wordings about tokens that ask to wait, not to send less.
var throttles = []string{"too many tokens, please wait", "throttlingexception", "rate limit", "rate_limit", "per minute"}

// Overflow reports whether a provider's error text says that a prompt, or a prompt with its reply, does not fit the
// window, and the numbers that it names. The text of a status 429 is never one, whatever it says.
func Overflow(text string) (Excess, bool) {
	text = strings.ToLower(text[:min(len(text), 16<<10)])
	for _, t := range throttles {
		if strings.Contains(text, t) {
			return Excess{}, false
		}
	}
	for _, wording := range overflows {
		// An error is rare: to compile here costs less than to hold the expressions for life.
		re := regexp.MustCompile(strings.NewReplacer("#", `(?P<asked>[\d,]+)`, "@", `(?P<window>[\d,]+)`, "…", "(?s:.*?)").
			Replace(regexp.QuoteMeta(wording)))
		if m := re.FindStringSubmatch(text); m != nil {
			return Excess{Window: group(re, m, "window"), Asked: group(re, m, "asked")}, true
		}
	}
	return Excess{}, false
}

func group(re *regexp.Regexp, match []string, name string) int {
	i := re.SubexpIndex(name)
	if i < 0 {
		return 0
	}
	n, err := strconv.Atoi(strings.ReplaceAll(match[i], ",", ""))
	if err != nil || n > 1<<30 { // more than any window: not a number of tokens
		return 0
	}
	return n
}
