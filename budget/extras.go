package budget

// Overhead is what chat templates add to the texts, in tokens.
type Overhead struct {
	Message int // each message
	Call    int // each tool call, beside its name and arguments
	Result  int // each tool result, beside its message
	Tool    int // each tool of the block, beside its JSON
	Tools   int // the block, where there is a tool
}

// Overhead of the family's usual template. The first count that a model reports corrects it.
func (f Family) Overhead() Overhead {
	switch f {
	case Gemma:
		return Overhead{Message: MessageTokens, Call: 21, Result: 12, Tool: 13, Tools: 51}
	case Llama, O200k, CL100k:
		return Overhead{Message: MessageTokens, Call: 17, Result: 9, Tool: 12, Tools: 47}
	}
	return Overhead{Message: MessageTokens, Call: 12, Result: 4, Tool: 12, Tools: 44}
}

// ImageTokens is what a provider ("anthropic", "openai") counts for an image of so many pixels. Others, local models
// above all, count by rules of their own: there it is other, from the config.
func ImageTokens(provider string, width, height, other int) int {
	w, h := float64(max(width, 1)), float64(max(height, 1))
	switch provider {
	case "anthropic": // scaled to a longer side of 1568
		scale := min(1, 1568/max(w, h))
		return min(int(w*scale*h*scale/750)+1, 1600)
	case "openai": // scaled into 2048 x 2048, then to a shorter side of 768; 170 a tile of 512 and 85
		scale := min(1, 2048/max(w, h))
		scale *= min(1, 768/(min(w, h)*scale))
		return 85 + 170*tiles(w*scale)*tiles(h*scale)
	}
	return other
}

func tiles(side float64) int { return max(1, int((side+511)/512)) }
