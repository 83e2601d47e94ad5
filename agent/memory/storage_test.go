package memory_test

import (
	"log/slog"
	"os"
	"testing"

	"pinch/agent/command"
	"pinch/agent/memory"
	"pinch/storage"
)

// TestRecallWithTheRealIndex shows that the terms made here and the tokenizer of the store agree.
func TestRecallWithTheRealIndex(t *testing.T) {
	db, err := storage.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	rows := db.For("main")
	mem := memory.New(root, rows.Notes, rows.Past)
	d := desk{t: t, mem: mem, table: command.NewTable(mem.Operations())}
	d.say("remember The Müllers' boiler was serviced in May, code AB-4711.", "Remembered. (note 1)")
	d.say("remember 备用钥匙在蓝色花盆下面", "Remembered. (note 2)")
	d.say("remember カギは玄関", "Remembered. (note 3)")
	d.say("remember 우리 강아지는 보리", "Remembered. (note 4)")
	d.say("remember café at 7 with Ana's sister", "Remembered. (note 5)")
	for _, c := range []struct{ query, want string }{
		{"the boilers", "1. The Müllers' boiler was serviced in May, code AB-4711."},
		{"4711", "1. The Müllers' boiler was serviced in May, code AB-4711."},
		{"备用钥匙", "2. 备用钥匙在蓝色花盆下面"},
		{"花", "2. 备用钥匙在蓝色花盆下面"},
		{"カギ", "3. カギは玄関"},
		{"강아지", "4. 우리 강아지는 보리"},
		{"Café", "5. café at 7 with Ana's sister"},
		{"sisters", "5. café at 7 with Ana's sister"},
	} {
		d.say("recall "+c.query, "You told me:\n"+c.want)
	}
	d.say("recall NEAR OR \"*", "Nothing about NEAR OR \"*.")
	d.say("forget 1", "Forgotten: The Müllers' boiler was serviced in May, code AB-4711.")
	d.say("recall 备用钥匙", "You told me:\n1. 备用钥匙在蓝色花盆下面")
}
