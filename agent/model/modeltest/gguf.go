package modeltest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// The shape of the tiny model: the smallest that engines have fast code for.
const (
	tinyWidth   = 64 // of the hidden state
	tinyLayers  = 2
	tinyHeads   = 4
	tinyKVHeads = 2
	tinyInner   = 128 // width of the feed-forward part
	tinyTrained = 32768
	tinySeed    = 1
)

// Kinds of values in a GGUF file.
const (
	ggufUint32  = 4
	ggufInt32   = 5
	ggufFloat32 = 6
	ggufString  = 8
	ggufArray   = 9
)

const ggufAlign = 32 // bytes; each tensor begins at a multiple

// WriteTinyModel writes a model of the llama family as a GGUF file of 440 KB, the same bytes each time, trained for
// a window of 32,768 tokens. Its weights are random and its vocabulary little more than the 256 bytes, so it talks
// nonsense, but a real engine loads and runs it: counts, caches, limits and stops can be tried on it.
//
// At temperature 0 it never ends a reply by itself, and it says only the letters bcfgjklmpqsuvwxyz and the space:
// none of these pairs merge into a token, so a reply that is sent back has the tokens that were made.
func WriteTinyModel(w io.Writer) error {
	vocabulary, merges := tinyVocabulary()
	size := len(vocabulary)
	kinds := make([]int32, size)
	for i, token := range vocabulary {
		kinds[i] = 1 // a normal token
		if strings.HasPrefix(token, "<|") {
			kinds[i] = 3 // a control token
		}
	}
	var f ggufFile
	f.meta("general.architecture", "llama")
	f.meta("general.name", "tiny-random")
	f.meta("general.file_type", 0) // all weights are float32
	f.meta("llama.context_length", tinyTrained)
	f.meta("llama.embedding_length", tinyWidth)
	f.meta("llama.block_count", tinyLayers)
	f.meta("llama.feed_forward_length", tinyInner)
	f.meta("llama.attention.head_count", tinyHeads)
	f.meta("llama.attention.head_count_kv", tinyKVHeads)
	f.meta("llama.attention.layer_norm_rms_epsilon", float32(1e-5))
	f.meta("llama.rope.dimension_count", tinyWidth/tinyHeads)
	f.meta("llama.vocab_size", size)
	f.meta("tokenizer.ggml.model", "gpt2")
	f.meta("tokenizer.ggml.pre", "gpt-2") // this way to split words is the one that engines do fast
	f.meta("tokenizer.ggml.tokens", vocabulary)
	f.meta("tokenizer.ggml.token_type", kinds)
	f.meta("tokenizer.ggml.merges", merges)
	f.meta("tokenizer.ggml.bos_token_id", size-3)
	f.meta("tokenizer.ggml.eos_token_id", size-1)
	tinyWeights(&f, vocabulary)
	if _, err := w.Write(f.bytes()); err != nil {
		return fmt.Errorf("writing the tiny model: %w", err)
	}
	return nil
}

// tinyVocabulary lists the tokens: one for each byte, one for each merge, and three that mark turns.
func tinyVocabulary() (tokens, merges []string) {
	spare := rune(256) // GPT-2 writes a byte that cannot be printed as the next letter from here
	for b := range rune(256) {
		printable := b > ' ' && b < 127 || b > 160 && b != 173
		if printable {
			tokens = append(tokens, string(b))
		} else {
			tokens = append(tokens, string(spare))
			spare++
		}
	}
	for _, pair := range []string{"th", "he", "in", "er", "an", "re", "on", "at", "en", "nd"} {
		merges = append(merges, pair[:1]+" "+pair[1:])
		tokens = append(tokens, pair)
	}
	return append(tokens, "<|endoftext|>", "<|im_start|>", "<|im_end|>"), merges
}

// tinyWeights adds the tensors. Dimensions are written with the one that is contiguous in memory first.
func tinyWeights(f *ggufFile, vocabulary []string) {
	dice := rand.New(rand.NewPCG(tinySeed, 0))
	some := func(n int) []float32 {
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(dice.NormFloat64() * 0.08)
		}
		return values
	}
	matrix := func(name string, in, out int) { f.tensor(name, some(in*out), in, out) }
	norm := func(name string) { f.tensor(name, ones(tinyWidth), tinyWidth) }

	matrix("token_embd.weight", tinyWidth, len(vocabulary))
	norm("output_norm.weight")
	// A token whose row is all 0 has the score 0, and one of the others is always above it.
	output := some(tinyWidth * len(vocabulary))
	for i, token := range vocabulary {
		if !strings.Contains("bcfgjklmpqsuvwxyzĠ", token) { // Ġ is the space
			clear(output[i*tinyWidth : (i+1)*tinyWidth])
		}
	}
	f.tensor("output.weight", output, tinyWidth, len(vocabulary))
	kv := tinyWidth / tinyHeads * tinyKVHeads
	for i := range tinyLayers {
		layer := fmt.Sprintf("blk.%d.", i)
		norm(layer + "attn_norm.weight")
		matrix(layer+"attn_q.weight", tinyWidth, tinyWidth)
		matrix(layer+"attn_k.weight", tinyWidth, kv)
		matrix(layer+"attn_v.weight", tinyWidth, kv)
		matrix(layer+"attn_output.weight", tinyWidth, tinyWidth)
		norm(layer + "ffn_norm.weight")
		matrix(layer+"ffn_gate.weight", tinyWidth, tinyInner)
		matrix(layer+"ffn_up.weight", tinyWidth, tinyInner)
		matrix(layer+"ffn_down.weight", tinyInner, tinyWidth)
	}
}

func ones(n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = 1
	}
	return values
}

// ggufFile collects a GGUF file of version 3: counts, named values, a table of tensors, then their data.
type ggufFile struct {
	values, tensors     int
	header, table, data bytes.Buffer
}

// meta adds a named value: a string, an int, a float32, or a list of strings or int32s.
func (f *ggufFile) meta(name string, value any) {
	f.values++
	putString(&f.header, name)
	switch v := value.(type) {
	case string:
		put(&f.header, uint32(ggufString))
		putString(&f.header, v)
	case int:
		put(&f.header, uint32(ggufUint32), uint32(v))
	case float32:
		put(&f.header, uint32(ggufFloat32), v)
	case []int32:
		put(&f.header, uint32(ggufArray), uint32(ggufInt32), uint64(len(v)), v)
	case []string:
		put(&f.header, uint32(ggufArray), uint32(ggufString), uint64(len(v)))
		for _, s := range v {
			putString(&f.header, s)
		}
	default:
		panic(fmt.Sprintf("a GGUF file cannot hold the %T of %s", value, name))
	}
}

// tensor adds weights.
func (f *ggufFile) tensor(name string, weights []float32, dims ...int) {
	f.tensors++
	putString(&f.table, name)
	put(&f.table, uint32(len(dims)))
	for _, n := range dims {
		put(&f.table, uint64(n))
	}
	put(&f.table, uint32(0), uint64(f.data.Len())) // kind float32, place in the data
	put(&f.data, weights)
	pad(&f.data)
}

func (f *ggufFile) bytes() []byte {
	var b bytes.Buffer
	b.WriteString("GGUF")
	put(&b, uint32(3), uint64(f.tensors), uint64(f.values))
	b.Write(f.header.Bytes())
	b.Write(f.table.Bytes())
	pad(&b)
	b.Write(f.data.Bytes())
	return b.Bytes()
}

// put writes numbers in the order of bytes that GGUF wants.
func put(b *bytes.Buffer, values ...any) {
	for _, v := range values {
		if err := binary.Write(b, binary.LittleEndian, v); err != nil {
			panic(err) // a type without a fixed size: a fault of the caller
		}
	}
}

func putString(b *bytes.Buffer, s string) {
	put(b, uint64(len(s)))
	b.WriteString(s)
}

func pad(b *bytes.Buffer) {
	b.Write(make([]byte, (ggufAlign-b.Len()%ggufAlign)%ggufAlign))
}
