package budget

// Features is how many features a text is measured by.
const Features = features

// Names of the features, in their order.
var FeatureNames = [Features]string{
	"word", "glued", "foreign", "camel", "capital", "middle", "long", "digit", "triple", "spaced", "punct", "mixed", "same",
	"newline", "indent", "latin", "rare", "cyrillic", "arabic", "han", "kana", "hangul", "indic", "thai", "phrase", "wide",
	"symbol", "joiner", "codes", "figures",
}

// Measure counts the features of a text.
func Measure(s string) [Features]int { return measure(s) }
