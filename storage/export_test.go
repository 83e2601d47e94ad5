package storage

import "database/sql"

// TurnQueries are the statements of every turn that look for rows; none may read a whole table.
var TurnQueries = []string{
	seenSQL, answerSQL, tieSQL, resultSQL, recordsSQL, epochSQL, entriesSQL, heardSQL, ownSQL, dueSQL, sentSQL, pendingSQL,
}

// Writer is the writing connection.
func (db *DB) Writer() *sql.DB { return db.write }

// Loose reports whether a light commit waits for Flush.
func (db *DB) Loose() bool { return db.loose }
