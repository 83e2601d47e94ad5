-- Times are Unix milliseconds, 0 = none. Ids of inbox rows are turn ids and are never reused as long as the newest
-- row stays. Indexes are few on purpose: each costs a page, 1 KB, in every commit that touches it.

CREATE TABLE inbox (
	id      INTEGER PRIMARY KEY,
	agent   TEXT    NOT NULL,
	channel TEXT    NOT NULL,
	event   TEXT    NOT NULL,
	state   INTEGER NOT NULL DEFAULT 0, -- 0 waiting, 1 answered, 2 answered with an error
	turn    INTEGER NOT NULL DEFAULT 0,
	tries   INTEGER NOT NULL DEFAULT 0,
	body    TEXT    NOT NULL,           -- JSON of channels.Admitted, emptied once answered
	at      INTEGER NOT NULL,
	UNIQUE (channel, event)             -- across agents: an event is answered once
) STRICT;
CREATE INDEX inbox_waiting ON inbox (agent) WHERE state = 0;

CREATE TABLE conversations (
	key     TEXT    PRIMARY KEY,
	agent   TEXT    NOT NULL,
	audience TEXT   NOT NULL,           -- who may be told what was said in it
	address TEXT    NOT NULL,           -- JSON of channels.Address
	turns   INTEGER NOT NULL,
	about   TEXT    NOT NULL,           -- JSON of channels.About
	updated INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE epochs (
	id     INTEGER PRIMARY KEY,
	agent  TEXT    NOT NULL,
	key    TEXT    NOT NULL,
	head   TEXT    NOT NULL,
	tools  TEXT    NOT NULL,
	summary TEXT   NOT NULL,            -- the message that stands for what first leaves out
	first  INTEGER NOT NULL,
	stub   INTEGER NOT NULL,            -- tool results below this entry are one line
	hash   TEXT    NOT NULL,
	source TEXT    NOT NULL,            -- what head and tools were made of
	reason TEXT    NOT NULL,
	began  INTEGER NOT NULL
) STRICT;
CREATE INDEX epochs_key ON epochs (key);

CREATE TABLE entries (
	id      INTEGER PRIMARY KEY,
	agent   TEXT    NOT NULL,
	key     TEXT    NOT NULL,
	turn    INTEGER NOT NULL,
	message TEXT    NOT NULL,           -- JSON of model.Message
	tokens  INTEGER NOT NULL,
	at      INTEGER NOT NULL
) STRICT;
CREATE INDEX entries_key ON entries (key);

-- What was said, by search terms; filled in batches while idle, up to the entry of past_mark. A row is an entry's.
CREATE VIRTUAL TABLE past USING fts5 (terms, content = '', contentless_delete = 1);
CREATE TABLE past_mark (
	agent TEXT    PRIMARY KEY,
	entry INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_records (
	id        INTEGER PRIMARY KEY,
	agent     TEXT    NOT NULL,
	turn      INTEGER NOT NULL,
	call      TEXT    NOT NULL,
	name      TEXT    NOT NULL,
	arguments TEXT    NOT NULL,
	done      INTEGER NOT NULL DEFAULT 0,
	result    TEXT    NOT NULL DEFAULT '',
	at        INTEGER NOT NULL,
	UNIQUE (turn, call)                 -- an intent is recorded once
) STRICT;

CREATE TABLE outbox (
	id       INTEGER PRIMARY KEY,
	agent    TEXT    NOT NULL,
	turn     INTEGER NOT NULL,
	channel  TEXT    NOT NULL,
	chat     TEXT    NOT NULL,
	topic    TEXT    NOT NULL,
	part     TEXT    NOT NULL,          -- JSON of channels.Part, emptied once sent
	state    INTEGER NOT NULL DEFAULT 0, -- 0 waiting, 1 sent, 2 given up
	platform TEXT    NOT NULL DEFAULT '', -- the platform's message id
	due      INTEGER NOT NULL,
	tries    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX outbox_waiting ON outbox (agent, channel) WHERE state = 0;

CREATE TABLE usage (
	id      INTEGER PRIMARY KEY,
	agent   TEXT    NOT NULL,
	turn    INTEGER NOT NULL,
	model   TEXT    NOT NULL,
	cause   TEXT    NOT NULL,
	prompt  INTEGER NOT NULL,
	cached  INTEGER NOT NULL,           -- -1 = the provider did not say
	reply   INTEGER NOT NULL,
	prefill INTEGER NOT NULL,           -- ms
	decode  INTEGER NOT NULL,           -- ms
	at      INTEGER NOT NULL
) STRICT;

CREATE TABLE pairings (
	agent   TEXT    NOT NULL,
	channel TEXT    NOT NULL,
	person  TEXT    NOT NULL,           -- the platform's id of the sender
	code    TEXT    NOT NULL,           -- '' once approved
	at      INTEGER NOT NULL,
	PRIMARY KEY (agent, channel, person)
) STRICT, WITHOUT ROWID;

CREATE TABLE grants (
	agent TEXT    NOT NULL,
	hash  TEXT    NOT NULL,             -- of the tool's declaration
	name  TEXT    NOT NULL,
	at    INTEGER NOT NULL,
	PRIMARY KEY (agent, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
	agent TEXT NOT NULL,
	name  TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (agent, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE notes (
	id    INTEGER PRIMARY KEY,
	agent TEXT    NOT NULL,
	line  INTEGER NOT NULL,
	text  TEXT    NOT NULL,
	terms TEXT    NOT NULL,
	UNIQUE (agent, line)
) STRICT;
CREATE VIRTUAL TABLE notes_fts USING fts5 (terms, content = 'notes', content_rowid = 'id');

CREATE TABLE notes_mark (
	agent TEXT PRIMARY KEY,
	mark  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
