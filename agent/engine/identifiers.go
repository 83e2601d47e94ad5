package engine

import (
	"regexp"
	"strings"
	"sync"

	"pinch/budget"
)

// identifier finds what a summary must not reword: UUIDs, hashes, URLs, addresses, paths, pins, times, numbers with
// units or of four digits and more.
var identifier = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.Join([]string{
		`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`,
		`https?://[^\s<>"'\])）]+`,
		`[\w.+-]+@[\w-]+\.[\w.-]+`,
		`\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b`,
		`(?:~|\.{1,2})?(?:/[\w.-]+){2,}/?`,
		`\b(?:GPIO|BCM|P1_|pin )\d+\b`,
		`\b0x[0-9a-fA-F]+\b`,
		`\b[A-Z]{2,}[-_]?\d+[\w-]*\b`,
		`\b(?:[0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{5,}\b`,
		`\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2})?\b`,
		`\b\d{1,2}:\d{2}\b`,
		`\b\d+(?:[.,]\d+)? ?(?:°C|°F|%|km|cm|mm|kg|kWh|Wh|kW|MHz|GHz|Hz|GB|MB|KB|mA|[VAWg€$])(?:\b|[^\w]|$)`,
		`\b\d{4,}\b`,
	}, "|"))
})

// identifiers are those of a text, each once, in order.
func identifiers(text string) []string {
	seen := map[string]bool{}
	var list []string
	for _, id := range identifier().FindAllString(text, -1) {
		id = strings.Trim(id, " .,;:!?)]}\"'，。")
		if id != "" && !seen[id] {
			seen[id] = true
			list = append(list, id)
		}
	}
	return list
}

// missing is a line with the identifiers of the source that a summary lost, the newest first, within so many tokens.
func missing(summary, source string, tokens int) string {
	ids := identifiers(scrub(source))
	line := ""
	for i := len(ids) - 1; i >= 0; i-- {
		if strings.Contains(summary, ids[i]) {
			continue
		}
		if budget.Tokens(line+", "+ids[i]) > tokens {
			break
		}
		if line != "" {
			line += ", "
		}
		line += ids[i]
	}
	if line == "" {
		return ""
	}
	return "\n- also: " + line
}

// secret finds credentials that must not outlive the message in which they came.
var secret = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.Join([]string{
		`\b(?:sk|pk|rk)[-_](?:[\w]+[-_])*[A-Za-z0-9]{16,}`,
		`\bgh[pousr]_[A-Za-z0-9]{20,}`, `\bgithub_pat_\w{20,}`, `\bxox[abprs]-[\w-]{10,}`, `\bAKIA[0-9A-Z]{16}\b`,
		`\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*`, `\b\d{8,10}:[A-Za-z0-9_-]{35}\b`, `\bAIza[\w-]{30,}`,
		`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`,
	}, "|"))
})

// scrub takes credentials out of a text.
func scrub(text string) string { return secret().ReplaceAllString(text, "[secret]") }
