package storage

import (
	"context"

	"gostress/internal/engine/types"
)

type shape struct{}

// Prepared returns the definition with its row layout worked out. Tables made
// of a prepared definition by NewLocal are pooled: prepare a table type's
// definition once, when the type is made.
func (d TableDef) Prepared() TableDef { return d }

// Store holds the tables of one database and the clock of their transactions.
type Store struct{}

// NewStore makes an empty store.
func NewStore() *Store { return &Store{} }

// Begin starts a transaction.
func (s *Store) Begin(iso Isolation) *Tx { return &Tx{} }

// NewTable makes a table.
func (s *Store) NewTable(def TableDef) *Table { return &Table{} }

// NewLocal makes a Local or Temp table, without a store.
func NewLocal(def TableDef) *Table { return &Table{} }

// Tx is a transaction. It is used by one goroutine at a time.
type Tx struct{}

// Savepoint is a point in a transaction to return to.
type Savepoint struct{ n int }

// ID is the transaction's number, unique in its store.
func (tx *Tx) ID() uint64 { return 0 }

// StatementBegin starts the next statement: it sees what the transaction wrote
// before, and for ReadCommitted what others committed since.
func (tx *Tx) StatementBegin() {}

// SetContext sets the context that ends waits.
func (tx *Tx) SetContext(ctx context.Context) {}

// SetLockTimeout sets how many milliseconds a wait may last; -1 is forever.
func (tx *Tx) SetLockTimeout(ms int) {}

// SetDeadlockPriority sets who is chosen as the victim of a deadlock: the
// lower (-10 to 10).
func (tx *Tx) SetDeadlockPriority(p int) {}

// SetIsolation changes the level of the reads that follow.
func (tx *Tx) SetIsolation(iso Isolation) {}

// Isolation is the current level.
func (tx *Tx) Isolation() Isolation { return 0 }

// Doomed reports whether the transaction can only be rolled back.
func (tx *Tx) Doomed() bool { return false }

// Doom makes the transaction refuse everything but Rollback.
func (tx *Tx) Doom() {}

// Commit ends the transaction and makes its changes visible to others. When it
// fails (41305, 41325, 3930) the transaction has been rolled back.
func (tx *Tx) Commit() error { return nil }

// Rollback ends the transaction and undoes its changes. It does nothing after
// Commit or Rollback.
func (tx *Tx) Rollback() {}

// Savepoint marks the present state.
func (tx *Tx) Savepoint() Savepoint { return Savepoint{} }

// RollbackTo undoes what was changed since the savepoint.
func (tx *Tx) RollbackTo(sp Savepoint) {}

// Table is a table with its indexes.
type Table struct{}

// Insert adds a row. The values must have their columns' types or be NULL.
// A *UniqueError names the violated index.
func (t *Table) Insert(tx *Tx, row []types.Value) (RowID, error) { return 0, nil }

// Update replaces a row by a new version.
func (t *Table) Update(tx *Tx, id RowID, row []types.Value) error { return nil }

// Delete removes a row.
func (t *Table) Delete(tx *Tx, id RowID) error { return nil }

// Lock takes the row for the transaction without changing it (UPDLOCK).
func (t *Table) Lock(tx *Tx, id RowID) error { return nil }

// Scan calls fn with every row that tx sees until fn returns false or an error.
func (t *Table) Scan(tx *Tx, fn func(id RowID) (bool, error)) error { return nil }

// Seek calls fn with the rows whose key is equal to key: for a hash index the
// whole key, for an ordered one any prefix of it, in the index's order.
func (t *Table) Seek(tx *Tx, index int, key []types.Value, fn func(id RowID) (bool, error)) error {
	return nil
}

// Range calls fn with the rows between two bounds of an ordered index, in the
// index's order or, with reverse, against it. lo is always the end that comes
// first in the index's order.
func (t *Table) Range(tx *Tx, index int, lo, hi Bound, reverse bool, fn func(id RowID) (bool, error)) error {
	return nil
}

// Read decodes the columns cols (nil = all) of a row into into[0], into[1] ...
func (t *Table) Read(id RowID, cols []int, into []types.Value) {}

// AddIndex adds an index and fills it. Its number is the last one.
func (t *Table) AddIndex(def IndexDef) error { return nil }

// DropIndex removes index i; the numbers of those after it become one less.
func (t *Table) DropIndex(i int) {}

// AddColumn adds a column after the last; existing rows have def in it.
func (t *Table) AddColumn(col Column, def types.Value) error { return nil }

// Truncate removes every row, undone by a rollback as a delete would be.
func (t *Table) Truncate(tx *Tx) error { return nil }

// RowCount is the number of committed rows; for Local and Temp tables of all rows.
func (t *Table) RowCount() int64 { return 0 }

// MemoryBytes is the memory of the rows and of the indexes.
func (t *Table) MemoryBytes() (table, indexes int64) { return 0, 0 }

// Def is the table's present definition.
func (t *Table) Def() TableDef { return TableDef{} }

// Close gives the table's memory back. Nobody may use the table afterwards.
func (t *Table) Close() {}
