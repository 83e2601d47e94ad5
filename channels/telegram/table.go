package telegram

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// tableWidth is the widest table that is set in columns, in characters of a fixed width: on a phone a wider one wraps.
const tableWidth = 60

// table sets a table as text: in columns, or with bars between the cells where it is too wide for that.
func (p *page) table(t ast.Node) string {
	var rows [][]string
	var widths []int
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			sub := &page{markdown: p.markdown}
			sub.inlines(cell)
			text := strings.Join(strings.Fields(sub.text.String()), " ")
			cells = append(cells, text)
			if len(cells) > len(widths) {
				widths = append(widths, 0)
			}
			widths[len(cells)-1] = max(widths[len(cells)-1], width(text))
		}
		rows = append(rows, cells)
	}
	total := 0
	for _, w := range widths {
		total += w + 2
	}
	var b strings.Builder
	for i, cells := range rows {
		b.WriteString(setRow(cells, widths, total <= tableWidth) + "\n")
		if i == 0 {
			b.WriteString(strings.Repeat("─", max(min(total-2, tableWidth), 1)) + "\n")
		}
	}
	return b.String()
}

func setRow(cells []string, widths []int, columns bool) string {
	if !columns {
		return strings.Join(cells, " | ")
	}
	var b strings.Builder
	for i, text := range cells {
		b.WriteString(text + strings.Repeat(" ", widths[i]-width(text)+2))
	}
	return strings.TrimRight(b.String(), " ")
}

// width is how many columns a text takes in a font of fixed width: East Asian characters and emoji take two.
func width(s string) (n int) {
	for _, r := range s {
		n++
		if r >= 0x1100 && r <= 0x115F || r >= 0x2E80 && r <= 0xA4CF || r >= 0xAC00 && r <= 0xD7A3 ||
			r >= 0xF900 && r <= 0xFAFF || r >= 0xFE30 && r <= 0xFE6F || r >= 0xFF00 && r <= 0xFF60 || r >= 0x1F300 && r <= 0x1FAFF {
			n++
		}
	}
	return n
}
