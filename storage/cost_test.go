package storage_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"pinch/storage"
)

// written is how many bytes this process has written so far, to whatever file.
func written(t testing.TB) (n int) {
	t.Helper()
	for line := range strings.Lines(string(must(os.ReadFile("/proc/self/io"))(t))) {
		if _, err := fmt.Sscanf(line, "wchar: %d", &n); err == nil {
			return n
		}
	}
	t.Fatal("/proc/self/io has no wchar")
	return 0
}

// shortTurn is what a turn without tools writes: accept, commit, sent.
func shortTurn(t testing.TB, db *storage.DB, i int) {
	ctx, rows := context.Background(), db.For("main")
	id := accept(t, rows, fmt.Sprint(100000+i))[0].ID
	try(t, rows.Journal.Commit(ctx, turn(id)))
	parts, _, err := rows.Outbox.Due(ctx, "telegram", moment)
	try(t, err)
	for _, p := range parts {
		try(t, rows.Outbox.Sent(ctx, p.ID, fmt.Sprint(i)))
	}
	try(t, db.Flush())
}

func TestShortTurnWritesLittle(t *testing.T) {
	db := open(t, t.TempDir())
	const turns = 300 // some checkpoints are among them
	before := written(t)
	for i := range turns {
		shortTurn(t, db, i)
	}
	per := (written(t) - before) / turns
	t.Logf("%d bytes a turn", per)
	if per > 24<<10 {
		t.Errorf("a short turn wrote %d bytes, want half of the 48 KB that the whole process may", per)
	}
}

func BenchmarkTurn(b *testing.B) {
	db := open(b, b.TempDir())
	i, before := 0, written(b)
	for b.Loop() {
		shortTurn(b, db, i)
		i++
	}
	b.ReportMetric(float64(written(b)-before)/float64(b.N), "B-written/turn")
}

func TestTurnQueriesUseIndexes(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	pool := raw(t, dir)
	for _, query := range storage.TurnQueries {
		args := make([]any, strings.Count(query, "?"))
		rows := must(pool.Query("EXPLAIN QUERY PLAN "+query, args...))(t)
		steps := 0
		for rows.Next() {
			var id, parent, unused int
			var detail string
			try(t, rows.Scan(&id, &parent, &unused, &detail))
			steps++
			// A range of ids alone would read the entries of all conversations.
			if strings.HasPrefix(detail, "SCAN ") || strings.HasPrefix(detail, "SEARCH entries") && !strings.Contains(detail, "entries_key") {
				t.Errorf("%s\n%s", detail, query)
			}
		}
		try(t, rows.Err())
		if steps == 0 {
			t.Errorf("no plan for %s", query)
		}
	}
}
