package budget

// MessageTokens is what the chat template adds to each message.
const MessageTokens = 5

// Tokens estimates how many tokens a text is where the model's family is not known.
func Tokens(s string) int { return Qwen.Tokens(s) }

// Bound is an upper bound for budgets where nothing was learned yet: the estimate with a margin for what the priors
// do not know.
func Bound(tokens int) int { return tokens + tokens/5 + 8 }
