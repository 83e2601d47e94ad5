// Package packaging holds how Pinch is built, checked and installed: the scripts behind the Makefile, the rules
// of the house as tests, and the end-to-end tests of the built binary.
package packaging
