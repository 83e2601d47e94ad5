package memory

import (
	"slices"
	"strings"
	"unicode"
)

// Terms returns what a note can be found by: lower-case words, English ones without their endings and without those
// that say nothing, digits as words; of Chinese, Japanese and Korean text each pair of neighbouring characters and
// each character. Each term comes once, in the order of the text.
func Terms(text string) []string { return terms(text, true) }

// QueryTerms returns what to search a question by: as Terms, but a single character only where it stands alone,
// since in a longer run the pairs say more.
func QueryTerms(query string) []string { return terms(query, false) }

func terms(text string, singles bool) []string {
	var out []string
	add := func(t string) {
		if t != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	for _, run := range runs(text) {
		if !isWide(run[0]) {
			add(word(string(run)))
			continue
		}
		for i := range run {
			if i+1 < len(run) {
				add(string(run[i : i+2]))
			}
			if singles || len(run) == 1 {
				add(string(run[i]))
			}
		}
	}
	return out
}

// runs splits a text into runs of letters and digits of one kind.
func runs(text string) [][]rune {
	var out [][]rune
	var run []rune
	for _, r := range strings.ToLower(text) {
		inWord := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) && len(run) > 0
		if len(run) > 0 && (!inWord || isWide(r) != isWide(run[0])) {
			out, run = append(out, run), nil
		}
		if inWord && !unicode.IsMark(r) || inWord && len(run) > 0 {
			run = append(run, r)
		}
	}
	if len(run) > 0 {
		out = append(out, run)
	}
	return out
}

// isWide tells the scripts that are written without spaces.
func isWide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー'
}

// stopWords is a set of the words that say nothing about a note's subject.
const stopWords = " a about am an and any are as at be been but by can could did do does for from had has have he her " +
	"his how i if in into is it its me my no not of on or our she should so some tell than that the their them " +
	"then there these they this those to told us was we were what when where which who whose why will with would you your "

// word brings a word into the form that it is found by; "" for one that says nothing.
func word(w string) string {
	if strings.Contains(stopWords, " "+w+" ") {
		return ""
	}
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return w
		}
	}
	return stem(w)
}

// stem takes the common English endings off, the same way for notes and questions.
func stem(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		w = w[:len(w)-3] + "y"
	case len(w) > 4 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes")):
		w = w[:len(w)-2]
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		w = w[:len(w)-1]
	}
	for _, ending := range []string{"ing", "ed"} {
		if base, ok := strings.CutSuffix(w, ending); ok && len(base) >= 3 && strings.ContainsAny(base, "aeiouy") {
			if n := len(base); base[n-1] == base[n-2] && !strings.ContainsRune("aeiouls", rune(base[n-1])) {
				base = base[:n-1] // running, planned
			}
			w = base
			break
		}
	}
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}
