package storage_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pinch/agent/session"
	"pinch/storage"
)

var (
	someNotes = []session.Note{{Line: 1, Text: "The boiler key is under the stairs."}, {Line: 2, Text: "Ann likes green tea; Ann comes on Monday."},
		{Line: 4, Text: "门廊灯在后面"}, {Line: 5, Text: "The green door sticks."}}
	someTerms = []string{"boiler key under stairs", "ann likes green tea ann comes monday", "门廊 廊灯 灯在 在后 后面", "green door sticks"}
)

func lines(t *testing.T, rows storage.Rows, limit int, terms ...string) (found []int) {
	t.Helper()
	for _, n := range must(rows.Notes.Search(context.Background(), terms, limit))(t) {
		found = append(found, n.Line)
	}
	return found
}

func TestNotesSearch(t *testing.T) {
	ctx := context.Background()
	db := open(t, t.TempDir())
	rows := db.For("main")
	equal(t, "mark before the first sync", must(rows.Notes.Mark(ctx))(t), "")
	equal(t, "empty index", lines(t, rows, 5, "green"), []int(nil))
	try(t, rows.Notes.Sync(ctx, "m1", someNotes, someTerms))
	equal(t, "mark", must(rows.Notes.Mark(ctx))(t), "m1")
	equal(t, "one word", lines(t, rows, 5, "boiler"), []int{1})
	equal(t, "best first", lines(t, rows, 5, "green", "ann", "tea"), []int{2, 5})
	equal(t, "limit", lines(t, rows, 1, "green", "ann"), []int{2})
	equal(t, "Chinese", lines(t, rows, 5, "开门", "廊灯"), []int{4})
	equal(t, "text", must(rows.Notes.Search(ctx, []string{"stairs"}, 5))(t), someNotes[:1])
	equal(t, "no terms", lines(t, rows, 5), []int(nil))
	equal(t, "another agent", lines(t, db.For("other"), 5, "green"), []int(nil))
	if err := rows.Notes.Sync(ctx, "m2", someNotes, nil); err == nil {
		t.Error("notes without terms were indexed")
	}
}

func TestNotesTermsHaveNoSyntax(t *testing.T) {
	rows := open(t, t.TempDir()).For("main")
	try(t, rows.Notes.Sync(context.Background(), "m", someNotes, someTerms))
	for _, term := range []string{`"`, `green" OR "door`, `NOT`, `terms:green`, `gre*`, `^boiler`, `NEAR(a b)`, `-`, `()`, "gr\x00een x", "\xff", `\`, `'; DROP TABLE notes; --`} {
		lines(t, rows, 5, term) // fails the test on a syntax error
	}
	equal(t, "after hostile terms", lines(t, rows, 5, `")`, "boiler", "\x00"), []int{1})
	equal(t, "a star finds no prefix", lines(t, rows, 5, "boil*"), []int(nil))
}

func TestNotesSyncFollowsTheFile(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	rows := open(t, dir).For("main")
	try(t, rows.Notes.Sync(ctx, "m1", someNotes, someTerms))
	// A line in the middle goes, the rest moves up.
	notes := []session.Note{someNotes[0], {Line: 2, Text: someNotes[3].Text}}
	try(t, rows.Notes.Sync(ctx, "m2", notes, []string{someTerms[0], someTerms[3]}))
	equal(t, "gone", lines(t, rows, 5, "ann", "门廊"), []int(nil))
	equal(t, "moved", lines(t, rows, 5, "green"), []int{2})
	equal(t, "kept", lines(t, rows, 5, "boiler"), []int{1})
	// The same notes with other terms.
	try(t, rows.Notes.Sync(ctx, "m3", notes, []string{"boiler", "emerald"}))
	equal(t, "old term", lines(t, rows, 5, "green"), []int(nil))
	equal(t, "new term", lines(t, rows, 5, "emerald"), []int{2})
	try(t, rows.Notes.Sync(ctx, "m4", nil, nil))
	equal(t, "all gone", lines(t, rows, 5, "boiler", "emerald"), []int(nil))
	must(raw(t, dir).Exec(`INSERT INTO notes_fts (notes_fts, rank) VALUES ('integrity-check', 1)`))(t)
}

func TestAddedNoteIsCheap(t *testing.T) {
	ctx := context.Background()
	rows := open(t, t.TempDir()).For("main")
	var notes []session.Note
	var terms []string
	for i := range 300 {
		notes = append(notes, session.Note{Line: i + 1, Text: fmt.Sprintf("note %d %s", i, strings.Repeat("word ", 15))})
		terms = append(terms, fmt.Sprintf("note n%d word", i))
	}
	try(t, rows.Notes.Sync(ctx, "m1", notes[:299], terms[:299]))
	before := written(t)
	try(t, rows.Notes.Sync(ctx, "m2", notes, terms))
	if n := written(t) - before; n > 16<<10 {
		t.Errorf("adding one note to 299 wrote %d bytes", n)
	}
	equal(t, "found", lines(t, rows, 5, "n299"), []int{300})
}
