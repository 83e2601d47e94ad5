package engine

// What tables of tests look at.
var (
	Identifiers = identifiers
	Scrub       = scrub
	Extract     = extract
	Usable      = usable
)
