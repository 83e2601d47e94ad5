package web

// What the tests of this package reach into.
var (
	ReadEvents = readEvents
	SayAlive   = (*Channel).say
)
