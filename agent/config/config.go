// Package config reads one strict TOML file into sections that their packages own.
//
// A package that can be configured offers a struct with defaults, toml tags for the keys and doc tags
// for `pinch config example`; main lists them as sections. The file may be absent: everything has a default.
package config

// Section is one named part of pinch.toml.
type Section struct {
	Name string // dotted table name, such as "channels.telegram"
	Doc  string // one line for `pinch config example`
	Into any    // pointer to a struct that holds the defaults, or pointer to a slice of structs (an array of tables)
}

// Defaulter gives an entry of an array of tables, or of a map of tables, its defaults before the file is read into it.
type Defaulter interface{ Default() }

// Validator is implemented by section structs that can be wrong in ways that types cannot express.
// The error starts with the key's name, says what is wrong and what would be right.
type Validator interface{ Validate() error }
