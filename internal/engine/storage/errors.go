package storage

import (
	"errors"
	"fmt"
)

// UniqueError says that a row's key is in a unique index already.
type UniqueError struct {
	Index int // position in TableDef.Indexes
}

func (e *UniqueError) Error() string {
	return fmt.Sprintf("the key is in unique index %d already", e.Index)
}

var (
	// ErrChanged comes from Update, Delete and Lock on a Disk table when
	// another transaction changed the row and committed after the statement
	// began. Nothing was done: roll back to the statement's start, call
	// StatementBegin and run the statement again over the rows as they are now.
	ErrChanged = errors.New("the row was changed by another transaction since the statement began")

	// ErrGone comes from Update and Delete when this transaction has already
	// updated or deleted the row (a join that finds a row twice).
	ErrGone = errors.New("this transaction has already changed or deleted the row")
)

func errPartialKey(index int) error {
	return fmt.Errorf("storage: hash index %d is asked for a part of its key", index)
}

func errNotOrdered(index int) error {
	return fmt.Errorf("storage: hash index %d is asked for a range", index)
}

func errLongKey(n, columns int) error {
	return fmt.Errorf("storage: a key of %d values for an index of %d columns", n, columns)
}
