package engine

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"pinch/agent/model"
	"pinch/agent/prompt"
	"pinch/agent/session"
	"pinch/budget"
)

// identifier finds what a summary must not reword: UUIDs, hashes, URLs, addresses, paths, pins, times, numbers with
// units or of four digits and more.
var identifier = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.Join([]string{
		`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`,
		`\b(?:https?|mqtts?|wss?|ftp|ssh|rtsp)://[^\s<>"'\])）（，。；！？、]+`,
		`[\w.+-]+@[\w-]+\.[\w.-]+`,
		`\b(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}\b`,
		`\b\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\d+)?\b`,
		`(?:~|\.{1,2}|[\w.-]+)?(?:/[\w.-]+){2,}/?`,
		`\b[\w-]+(?:[/.][\w-]+)*\.(?:md|txt|json|ya?ml|toml|csv|log|conf|ini|sh|py|go|js|html|pdf|jpe?g|png|mp[34]|db|service|local)\b`,
		`(?i)\b(?:GPIO|BCM|P1_|pin |line |room |gate |bus |port )\d+\b`,
		`\b0x[0-9a-fA-F]+\b`,
		`(?:^|[^\w#])#\d+\b`,
		`\b[A-Z]{2,}[-_]?\d+[\w-]*\b`,
		`\b(?:[0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{5,}\b`,
		`\bv?\d+\.\d+\.\d+(?:[-.]\w+)*\b`,
		`\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2})?\b`,
		`\+?\d{2,4}[ -]\d{3,4}[ -]\d{3,8}\b`,
		`\b\d{1,2}:\d{2}(?: ?[ap]\.?m\b)?`,
		`[$€£¥] ?\d+(?:[.,]\d+)*`,
		`-?\b\d+(?:[.,]\d+)* ?(?:` + units + `)`,
		`\b\d+(?:[.,]\d+)* ?(?:[VAWgmslh€$%]|°[CF]?|Ω)(?:\b|[^\w]|$)`,
		`\d{1,4}(?:[年月日号点分]\d{0,2})+[月日号点分半]?`,
		`\b\d{4,}\b`,
		`\b\d+[.,]\d+\b`,
	}, "|"))
})

// units of more than one letter.
const units = `(?:km/h|km|cm|mm|kg|mg|kWh|Wh|kW|mW|MHz|GHz|kHz|Hz|GB|MB|KB|kB|TB|mA|mAh|mV|kV|ms|min|minutes?|hours?|days?|weeks?|months?|` +
	`years?|am|pm|ml|lx|hPa|ppm|bar|psi|rpm|dBm?|kbps|Mbps|baud|euros?|dollars?|EUR|USD|metres?|meters?)\b|` +
	`度|元|块|公里|厘米|毫米|米|公斤|千克|克|小时|分钟|秒|天|个月|周|岁|楼|号|室|伏|瓦|毫升|升`

// identifiers are those of a text, each once, in order.
func identifiers(text string) []string {
	seen := map[string]bool{}
	var list []string
	for line := range strings.Lines(text) {
		if !promising(line) {
			continue
		}
		for _, id := range identifier().FindAllString(line, -1) {
			id = strings.Trim(id, " \t\n.,;:!?()[]{}<>\"'，。、；：！？（）“”")
			if id != "" && !seen[id] {
				seen[id] = true
				list = append(list, id)
			}
		}
	}
	return list
}

// promising reports whether a line may have an identifier. Most have none, and the expression is slow.
func promising(line string) bool {
	for i := range len(line) {
		switch c := line[i]; {
		case c >= '0' && c <= '9', c == '/', c == '@':
			return true
		case (c == '.' || c == ':' || c == '-') && i+1 < len(line) && line[i+1] > ' ':
			return true
		}
	}
	return false
}

// missing is a line with the identifiers that a summary lost, within so many tokens: first those that the notes before
// or a person named, then those of the model and its calls, then those of tool results; of each kind the newest first.
func missing(summary, before string, dropped []session.Entry, tokens int) string {
	const start = "\n- also: "
	sources := [3]strings.Builder{}
	sources[0].WriteString(before)
	for _, e := range dropped {
		kind := 1
		switch e.Message.Role {
		case model.User:
			kind = 0
		case model.Tool:
			kind = 2
		}
		sources[kind].WriteString("\n" + bare(e.Message.Text))
		for _, c := range e.Message.Calls {
			sources[kind].WriteString("\n" + c.Arguments)
		}
	}
	line := ""
	for i := range sources {
		ids := identifiers(scrub(prompt.Defuse(sources[i].String())))
		slices.Reverse(ids)
		for _, id := range ids {
			if holds(summary, id) || holds(line, id) {
				continue
			}
			next := line + ", " + id
			if line == "" {
				next = start + id
			}
			if budget.Tokens(next) > tokens {
				return line
			}
			line = next
		}
	}
	return line
}

// holds reports whether a text holds an identifier as it is, not as a part of a longer one.
func holds(text, id string) bool {
	inner := func(b byte) bool {
		return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
	}
	for from := 0; ; {
		i := strings.Index(text[from:], id)
		if i < 0 {
			return false
		}
		at := from + i
		end := at + len(id)
		if (at == 0 || !inner(text[at-1]) || !inner(id[0])) && (end == len(text) || !inner(text[end]) || !inner(id[len(id)-1])) {
			return true
		}
		from = at + 1
	}
}

// secret finds credentials that must not outlive the message in which they came.
var secret = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.Join([]string{
		`\b(?:sk|pk|rk)[-_](?:[\w]+[-_])*[A-Za-z0-9]{16,}`,
		`\bgh[pousr]_[A-Za-z0-9]{20,}`, `\bgithub_pat_\w{20,}`, `\bxox[abprs]-[\w-]{10,}`, `\bAKIA[0-9A-Z]{16}\b`,
		`\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*`, `\b\d{8,10}:[A-Za-z0-9_-]{35}\b`, `\bAIza[\w-]{30,}`,
		`(?i)\b(?:bearer)\s+[\w.+/=-]{16,}`, `(?i)\b(?:api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|passw(?:or)?d|secret|token)["']?\s*[=:]\s*["']?[^\s"',;]{6,}`,
		`://[^\s/:@]+:[^\s/@]+@`,
		`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`,
	}, "|"))
})

// hints are what stands in or before every credential that secret finds, in lower case.
var hints = []string{"sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat", "xox", "akia", "eyj", "aiza", "bearer", "key", "token", "passw", "secret", "://"}

// scrub takes credentials out of a text. The expression is slow, so a text without a hint is not searched.
func scrub(text string) string {
	low := strings.ToLower(text)
	for _, hint := range hints {
		if strings.Contains(low, hint) {
			return secret().ReplaceAllString(text, "[secret]")
		}
	}
	digits := 0
	for i := range len(low) { // a bot's token: eight digits, a colon
		switch {
		case low[i] == ':' && digits >= 8:
			return secret().ReplaceAllString(text, "[secret]")
		case low[i] >= '0' && low[i] <= '9':
			digits++
		default:
			digits = 0
		}
	}
	return text
}
