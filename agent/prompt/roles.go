package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// controlNames are the words of <word> and [word] control tokens of the chat templates in use. A word that ends
// with = begins a token with a value.
var controlNames = []string{
	"s", "bos", "eos", "pad", "unk", "sys", "im_start", "im_end", "start_of_turn", "end_of_turn", "start_of_image",
	"end_of_image", "tool_call", "tool_calls", "tool_response", "tools", "tool_output", "function_call",
	"function_calls", "function_response", "think", "thinking", "thought", "reasoning", "function=", "parameter=",
	"function", "invoke", "unused", "0x", "inst", "available_tools", "tool_results", "tool_content",
	"system_prompt", "img", "audio", "model_settings",
}

// tokens breaks chat-template control tokens: their first character becomes a look-alike.
func tokens(s string) string {
	if !strings.ContainsAny(s, "<[") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := range len(s) {
		switch {
		case s[i] == '<' && controlAt(s[i+1:], '>'):
			b.WriteString("‹")
		case s[i] == '[' && controlAt(s[i+1:], ']'):
			b.WriteString("(")
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// controlAt reports whether what follows an opening character makes it a control token.
func controlAt(s string, closer byte) bool {
	if closer == '>' && (strings.HasPrefix(s, "|") || strings.HasPrefix(s, "｜")) {
		return true
	}
	s = strings.TrimPrefix(s, "/")
	end := 0
	for end < len(s) && end < 24 && (s[end] == '_' || isAlnum(s[end])) {
		end++
	}
	word, rest := strings.ToLower(s[:end]), s[end:]
	if word == "" || rest == "" {
		return false
	}
	if closer == '>' && rest[0] == '|' {
		return true
	}
	for _, name := range controlNames {
		switch {
		case word == strings.TrimSuffix(name, "=") && strings.HasSuffix(name, "="):
			if rest[0] == '=' {
				return true
			}
		case word == name:
			if rest[0] == closer || closer == '>' && name == "invoke" && rest[0] == ' ' {
				return true
			}
		case name == "unused" || name == "0x":
			if strings.HasPrefix(word, name) && rest[0] == closer {
				return true
			}
		}
	}
	return false
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// roleNames are the speakers that a text may pretend to be; longer ones first.
var roleNames = []string{
	"system message", "system prompt", "system", "assistant", "developer", "internal", "human", "user",
	"系统消息", "系统提示", "系统", "助手", "助理", "用户", "开发者",
}

// roleAt returns the length of the role name that s begins with, in any case; 0 = none.
func roleAt(s string) int {
	for _, name := range roleNames {
		if len(s) < len(name) || !strings.EqualFold(s[:len(name)], name) {
			continue
		}
		if next, _ := utf8.DecodeRuneInString(s[len(name):]); name[0] < utf8.RuneSelf &&
			len(s) > len(name) && (unicode.IsLetter(next) || unicode.IsDigit(next) || next == '_') {
			continue
		}
		return len(name)
	}
	return 0
}

// lead is what may stand before a role at the start of a line without hiding it.
func lead(line string) int {
	return len(line) - len(strings.TrimLeftFunc(line, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(">#*_-~`\"'“”‘’", r)
	}))
}

// tags makes round brackets of "[System]", "[Assistant: …]" and their like, wherever they stand in a line.
func tags(line string) string {
	var b strings.Builder
	from, opened := 0, false // what is copied; whether the next closing bracket belongs to a tag
	for i := 0; i < len(line); i++ {
		closes, width := bracketAt(line[i:])
		switch {
		case width == 0:
			continue
		case closes && opened:
			b.WriteString(line[from:i] + ")")
			opened = false
		case !closes && isTag(line[i+width:]):
			b.WriteString(line[from:i] + "(")
			opened = true
		default:
			continue
		}
		i += width - 1
		from = i + 1
	}
	return b.String() + line[from:]
}

// isTag reports whether what follows an opening bracket makes it a system tag.
func isTag(inner string) bool {
	inner = strings.TrimLeftFunc(inner, decoration)
	n := roleAt(inner)
	if n == 0 {
		return false
	}
	rest := strings.TrimLeftFunc(inner[n:], decoration)
	_, width := bracketAt(rest)
	return width > 0 || strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "：")
}

func decoration(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("*_`#~", r) }

// bracketAt tells whether s begins with a square bracket of any width, and whether that closes.
func bracketAt(s string) (closes bool, width int) {
	for _, b := range []string{"[", "【", "［"} {
		if strings.HasPrefix(s, b) {
			return false, len(b)
		}
	}
	for _, b := range []string{"]", "】", "］"} {
		if strings.HasPrefix(s, b) {
			return true, len(b)
		}
	}
	return false, 0
}

// round replaces the opening bracket of s, and the first closing one after it.
func round(s string, width int) string {
	s = "(" + s[width:]
	for i := 1; i < len(s); i++ {
		if closes, w := bracketAt(s[i:]); closes {
			return s[:i] + ")" + s[i+w:]
		}
	}
	return s
}

// header makes round brackets of a line start that looks like the header that Envelope writes.
func header(line string) string {
	at := lead(line)
	closes, width := bracketAt(line[at:])
	if width == 0 || closes {
		return line
	}
	end := strings.IndexAny(line[at:], "]】］")
	inner := line[at:]
	if end > 0 {
		inner = inner[:end]
	}
	for _, mark := range []string{"·", "answers", "files:", "note:", "forwarded"} {
		if strings.Contains(inner, mark) {
			return line[:at] + round(line[at:], width)
		}
	}
	return line
}

// roles puts a role name that begins a line, and is followed by a colon, into round brackets.
func roles(line string) string {
	at := lead(line)
	n := roleAt(line[at:])
	if n == 0 {
		return line
	}
	rest := strings.TrimLeftFunc(line[at+n:], decoration)
	if !strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, "：") {
		return line
	}
	return line[:at] + "(" + line[at:at+n] + ")" + line[at+n:]
}
