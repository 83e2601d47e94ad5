package storage_test

import (
	"pinch/agent"
	"pinch/agent/engine"
	"pinch/agent/memory"
	"pinch/agent/tool"
	"pinch/storage"
)

// What the loop asks for is what the store gives.
var (
	_ agent.Journal       = storage.Journal{}
	_ agent.Inbox         = storage.Inbox{}
	_ agent.Outbox        = storage.Outbox{}
	_ agent.People        = storage.People{}
	_ agent.Conversations = storage.Conversations{}
	_ tool.Records        = storage.Records{}
	_ engine.Log          = storage.Log{}
	_ memory.Notes        = storage.Notes{}
)
