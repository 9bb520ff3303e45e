package catalog

import (
	"github.com/sqlc-dev/teesql/ast"

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
		return unsupported("this statement")
	}
	return h(d, s)
}

// Undo takes back the catalog changes of a transaction.
type Undo struct{ steps []func() }

// Mark returns a position for RollbackTo.
func (u *Undo) Mark() int { return len(u.steps) }

// RollbackTo takes back the changes made since mark, the last first.
func (u *Undo) RollbackTo(mark int) {
	for i := len(u.steps) - 1; i >= mark; i-- {
		u.steps[i]()
	}
	u.steps = u.steps[:mark]
}

// Commit forgets the changes.
func (u *Undo) Commit() { u.steps = nil }

func (u *Undo) add(fn func()) {
	if u != nil {
		u.steps = append(u.steps, fn)
	}
}

// TableVariable builds the table of DECLARE @name TABLE (...). It has no Data: a
// frame makes its own with storage.NewLocal(t.Def).
func (d *DDL) TableVariable(name string, def *ast.TableDefinition) (*Table, error) {
	return nil, unsupported("table variables")
}

// CreateAs makes the table of SELECT ... INTO from the columns of the query, a
// #table of the session when the name says so.
func (d *DDL) CreateAs(name *ast.SchemaObjectName, cols []Column) (*Table, error) {
	return nil, unsupported("SELECT INTO")
}
