package prompt

import (
	"encoding/json"
	"regexp"
	"strings"
)

// block is a part of a reply that nobody sees, up to one of its closers.
type block struct{ closers []string }

// end returns where the first closer begins and how long it is; -1 = nowhere.
func (b block) end(s string) (at, width int) {
	at = -1
	lower := lowerASCII(s)
	for _, c := range b.closers {
		if i := strings.Index(lower, c); i >= 0 && (at < 0 || i < at) {
			at, width = i, len(c)
		}
	}
	return at, width
}

var (
	thinkOpeners = []string{"<think>", "<thinking>", "<thought>", "<reasoning>"}
	thinkClosers = []string{"</think>", "</thinking>", "</thought>", "</reasoning>"}
	callClosers  = []string{
		"</tool_call>", "</tool_calls>", "</function>", "</function_call>", "</function_calls>", "</invoke>",
		"<|tool_call_end|>", "<|tool_calls_end|>", "<|eom_id|>", "</tool_response>", "[/tool_calls]",
	}
	// callOpeners begin a call written as text. Those that end within a tag match by their beginning.
	callOpeners = []string{
		"<tool_call>", "<tool_calls>", "<function_call>", "<function_calls>", "<function=", "<invoke ", "<tool_response>",
		"<|tool_call", "<|python_tag|>",
	}
	// enders come when a model talks on after its turn.
	enders = []string{
		"<|im_end|>", "<|im_start|>", "<|eot_id|>", "<|endoftext|>", "<|end|>", "<|start_header_id|>",
		"<end_of_turn>", "<start_of_turn>", "<|turn>", "<turn|>",
	}
)

// longestTag is at least the length of any tag above.
const longestTag = 32

// tag judges a held text that begins with '<'.
func (s *Stream) tag(closed bool) verdict {
	lower := lowerASCII(s.held[:min(len(s.held), longestTag)])
	wait := false
	try := func(tags []string, hit func(n int) verdict) (verdict, bool) {
		for _, t := range tags {
			if strings.HasPrefix(lower, t) {
				return hit(len(t)), true
			}
			wait = wait || strings.HasPrefix(t, lower)
		}
		return verdict{}, false
	}
	think := func(n int) verdict {
		if s.inLine { // talks about the tag
			return verdict{}
		}
		return verdict{drop: n, skip: &block{thinkClosers}, thought: true}
	}
	for _, c := range []struct {
		tags []string
		hit  func(int) verdict
	}{
		{thinkOpeners, think},
		{thinkClosers, func(n int) verdict { return verdict{drop: n, thought: true} }},
		{callOpeners, func(n int) verdict { return verdict{drop: n, skip: &block{callClosers}} }},
		{callClosers, func(n int) verdict { return verdict{drop: n} }},
		{enders, func(n int) verdict { return verdict{drop: n, over: true} }},
	} {
		if v, ok := try(c.tags, c.hit); ok {
			return v
		}
	}
	if n, open := controlToken(lower); n > 0 || open {
		return verdict{drop: n, wait: n == 0 && !closed}
	}
	return verdict{wait: wait && !closed}
}

// controlToken measures a token like <|name|>; open = it may still become one.
func controlToken(s string) (n int, open bool) {
	for i := range len(s) {
		switch c := s[i]; {
		case i == 0 && c == '<', i == 1 && c == '|':
		case i < 2:
			return 0, false
		case c == '|' || isAlnum(c) || c == '_':
		case c == '>' && s[i-1] == '|' && i > 3:
			return i + 1, false
		default:
			return 0, false
		}
	}
	return 0, len(s) < longestTag && len(s) > 1
}

// lowerASCII keeps the length of a text, which strings.ToLower does not.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// mostObject is how much text is held for an object that may be a call.
const mostObject = 4096

// callStart is how an object begins that may be a call; callKeys are what one has.
var (
	callStart = regexp.MustCompile(`^\[?\s*\{\s*"(name|function|tool|tool_name|arguments|parameters|type|id|tool_calls)"\s*:`)
	callName  = regexp.MustCompile(`"(name|function|tool|tool_name)"\s*:\s*["{]`)
	callArgs  = regexp.MustCompile(`"(arguments|parameters|args)"\s*:`)
)

// callPrefix is the longest text in front of the first key's colon that is still worth holding.
const callPrefix = 40

// object judges a held text that begins with '{' or '[': a JSON object that is a call is dropped.
func object(s string, closed bool) verdict {
	if !callStart.MatchString(s) {
		return verdict{wait: !closed && mayStart(s)}
	}
	n := 0
	if last := s[len(s)-1]; last == '}' || last == ']' || closed || len(s) >= mostObject { // else it cannot have ended now
		n = balanced(s)
	}
	switch {
	case n > 0 && isCall(s[:n]):
		return verdict{drop: n}
	case n > 0:
		return verdict{}
	case len(s) < mostObject && !closed:
		return verdict{wait: true}
	case callName.MatchString(s) && callArgs.MatchString(s): // a call that was cut off, or a very long one
		return verdict{drop: len(s), over: true}
	}
	return verdict{}
}

// mayStart reports whether s can still become a callStart.
func mayStart(s string) bool {
	if len(s) > callPrefix {
		return false
	}
	rest := strings.TrimLeft(strings.TrimPrefix(s, "["), " \t\r\n")
	if rest == "" {
		return true
	}
	rest, ok := strings.CutPrefix(rest, "{")
	if !ok {
		return false
	}
	if rest = strings.TrimLeft(rest, " \t\r\n"); rest == "" {
		return true
	}
	rest, ok = strings.CutPrefix(rest, `"`)
	if !ok {
		return false
	}
	key, after, ended := strings.Cut(rest, `"`)
	for _, k := range []string{"name", "function", "tool", "tool_name", "arguments", "parameters", "type", "id", "tool_calls"} {
		if ended && key == k && strings.TrimSpace(after) == "" || !ended && strings.HasPrefix(k, key) {
			return true
		}
	}
	return false
}

// balanced returns the length of the JSON value that s begins with; 0 = it has no end yet.
func balanced(s string) int {
	depth, inString := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

func isCall(s string) bool {
	var v any
	if json.Unmarshal([]byte(s), &v) != nil {
		return callName.MatchString(s) && callArgs.MatchString(s) // broken, but meant as a call
	}
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	if _, ok := m["tool_calls"]; ok {
		return true
	}
	if f, ok := m["function"].(map[string]any); ok {
		m = f
	}
	has := func(keys ...string) bool {
		for _, k := range keys {
			if _, ok := m[k]; ok {
				return true
			}
		}
		return false
	}
	return has("name", "function", "tool", "tool_name") && has("arguments", "parameters", "args")
}

// fence judges a code block that may hold nothing but a call.
func fence(s string, closed bool) verdict {
	const ticks = "```"
	if !strings.HasPrefix(s, ticks) {
		return verdict{wait: !closed && strings.HasPrefix(ticks, s)}
	}
	tag, body, ok := strings.Cut(s[len(ticks):], "\n")
	tag = strings.ToLower(strings.TrimSpace(tag))
	known := false
	for _, t := range []string{"json", "tool_call", "tool_calls", "tool_code", "tool", "xml", ""} {
		known = known || tag == t || !ok && strings.HasPrefix(t, tag)
	}
	if !known {
		return verdict{}
	}
	inner := strings.TrimLeft(body, " \t\r\n")
	start := len(s) - len(inner)
	if !ok || inner == "" {
		return verdict{wait: !closed && len(s) < 2*callPrefix}
	}
	closer := &block{[]string{ticks}}
	switch inner[0] {
	case '{', '[':
		v := object(inner, closed)
		if v.drop > 0 {
			v.drop, v.skip = v.drop+start, closer
		}
		return v
	case '<':
		for _, t := range callOpeners {
			if strings.HasPrefix(lowerASCII(inner), t) {
				return verdict{drop: start, skip: closer}
			}
			if strings.HasPrefix(t, lowerASCII(inner)) && !closed {
				return verdict{wait: true}
			}
		}
	}
	return verdict{}
}

var (
	pythonCall  = regexp.MustCompile(`^\[[A-Za-z_][A-Za-z0-9_.]*\([^\n]*\)\]`)
	pythonStart = regexp.MustCompile(`^\[([A-Za-z_][A-Za-z0-9_.]*(\([^\n]*)?)?$`)
)

// bracket judges a held text that begins with '[': a list of calls in Python's manner at the start of a reply, or
// Mistral's marker.
func (s *Stream) bracket(closed bool) verdict {
	const marker = "[TOOL_CALLS]"
	if strings.HasPrefix(s.held, marker) {
		return verdict{drop: len(s.held), over: true}
	}
	wait := strings.HasPrefix(marker, s.held)
	if !s.begun {
		if m := pythonCall.FindString(s.held); m != "" {
			return verdict{drop: len(m)}
		}
		wait = wait || len(s.held) < mostObject && pythonStart.MatchString(s.held)
	}
	return verdict{wait: wait && !closed}
}
