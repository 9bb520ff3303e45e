package catalog

import (
	"github.com/sqlc-dev/teesql/ast"
	"gostress/internal/engine/sqlerr"

	"gostress/internal/engine/storage"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// DDL carries out data definition statements in one database. Hooks are what the
// catalog cannot know: it has no expression compiler. A nil hook makes the
// statements that need it an error.
type DDL struct {
	DB    *Database
	Batch *tsql.Batch // of the statement: texts of definitions are cut out of it
	Undo  *Undo       // of the open transaction; nil = nothing to undo
	Temp  *TempTables // of the session; nil = no #tables
	Tx    *storage.Tx // for reading and writing the rows of existing tables

	UserTran bool // inside BEGIN TRANSACTION: memory-optimized tables refuse DDL there

	QuotedIdentifier, AnsiNulls bool // SET options in force, kept with modules
	AnsiNullDefaultOff          bool // columns without NULL or NOT NULL are NOT NULL

	// Value evaluates the expression of a DEFAULT for existing rows.
	Value func(e ast.ScalarExpression, t types.Type) (types.Value, error)
	// Computed types a computed column's expression over the columns of t.
	Computed func(t *Table, e ast.ScalarExpression) (types.Type, bool, error)
	// Fill computes column c of a row of t.
	Fill func(t *Table, c int, row []types.Value) (types.Value, error)
	// Describe compiles the query of a view or inline function.
	Describe func(q *ast.SelectStatement, params []Param) ([]Column, error)
	// Verify checks existing rows against a new constraint: *Check or *ForeignKey.
	Verify func(t *Table, constraint any) error
	// Check compiles a constraint's condition, so that a wrong one is refused at
	// once; nil skips that.
	Check func(t *Table, e ast.BooleanExpression) error
}

// Handles reports whether Execute carries out a statement.
func Handles(s ast.Statement) bool { return handler(s) != nil }

// Execute carries out one data definition statement.
func (d *DDL) Execute(s ast.Statement) error {
	h := handler(s)
	if h == nil {
		return sqlerr.Unsupported("this statement").At(tsql.Line(s))
	}
	return sqlerr.AtLine(h(d, s), tsql.Line(s))
}

// Undo takes back the catalog changes of a transaction. It is used by one
// goroutine at a time.
type Undo struct {
	steps   []func()
	retired []*storage.Table
}

// Mark returns a position for RollbackTo.
func (u *Undo) Mark() int { return len(u.steps) }

// RollbackTo takes back the changes made since mark, the last first; 0 takes all
// of them back.
func (u *Undo) RollbackTo(mark int) {
	for i := len(u.steps) - 1; i >= mark; i-- {
		u.steps[i]()
	}
	u.steps = u.steps[:mark]
	if mark == 0 {
		u.retired = nil // put back by the steps
	}
}

// Commit forgets the changes and returns the data of dropped tables: the caller
// closes it when no statement uses it any more.
func (u *Undo) Commit() []*storage.Table {
	r := u.retired
	u.steps, u.retired = nil, nil
	return r
}

// Changed reports whether there is anything to take back.
func (u *Undo) Changed() bool { return u != nil && len(u.steps) > 0 }

func (u *Undo) add(fn func()) {
	if u != nil {
		u.steps = append(u.steps, fn)
	}
}

// retire notes the data of a table that is dropped. Without an Undo it is left
// to the garbage collector: others may still be reading it.
func (u *Undo) retire(t *storage.Table) {
	if u != nil && t != nil {
		u.retired = append(u.retired, t)
		n := len(u.retired)
		u.add(func() {
			if len(u.retired) >= n {
				u.retired = append(u.retired[:n-1], u.retired[n:]...)
			}
		})
	}
}
