package modeltest_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"pinch/agent/model/modeltest"
)

// TestTinyModelIsWhole checks what can be checked without an engine: the file opens as GGUF, names what a llama
// needs, has its size, and is the same each time.
func TestTinyModelIsWhole(t *testing.T) {
	var file, again bytes.Buffer
	if err := errors.Join(modeltest.WriteTinyModel(&file), modeltest.WriteTinyModel(&again)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file.Bytes(), again.Bytes()) {
		t.Error("the file is another one the second time")
	}
	if n := file.Len(); n < 400_000 || n > 480_000 {
		t.Errorf("the file has %d bytes, want about 440,000", n)
	}
	var front struct {
		Magic           [4]byte
		Version         uint32
		Tensors, Values uint64
	}
	text := file.String()
	if err := binary.Read(&file, binary.LittleEndian, &front); err != nil {
		t.Fatal(err)
	}
	if string(front.Magic[:]) != "GGUF" || front.Version != 3 || front.Tensors != 3+2*9 || front.Values != 19 {
		t.Errorf("the file begins with %+v", front)
	}
	for _, name := range []string{"general.architecture", "llama.block_count", "tokenizer.ggml.merges", "token_embd.weight",
		"output_norm.weight", "output.weight", "blk.0.attn_q.weight", "blk.1.ffn_down.weight"} {
		if strings.Count(text, string(binary.LittleEndian.AppendUint64(nil, uint64(len(name))))+name) != 1 {
			t.Errorf("%s does not stand in the file once", name)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestTinyModelTellsOfAFullDisk(t *testing.T) {
	if err := modeltest.WriteTinyModel(full{}); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("error is %v", err)
	}
}
