// Package plan compiles the queries and the data modifications of T-SQL into
// plans that run over package storage.
//
// A plan is immutable once compiled, and all sessions share it. Whatever a run
// needs of its own (buffers, hash tables, cursors) lives in an instance of the
// plan's operators; instances are pooled and never used by two runs at once.
// Rows travel in the registers of the frame (expr.Frame.Regs): an operator
// fills registers and calls the next one, so a pipeline copies nothing.
package plan

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/types"
)

// Resolver finds the tables, views and system views that statements name.
type Resolver interface {
	// Table returns the table of that name, a temporary table of the session
	// included, or error 208.
	Table(name *ast.SchemaObjectName) (*catalog.Table, error)
}

// Rows produces rows one by one; a row is valid only during the call.
type Rows func(f *expr.Frame, emit func(row []types.Value) error) error

// Compiler compiles the statements of one module (a batch, a procedure, a
// trigger). Tables and Scope must be set. It is not safe for concurrent use;
// what it returns is.
type Compiler struct {
	// Tables finds tables by name.
	Tables Resolver
	// Scope holds the module's variables and table variables.
	Scope *expr.Scope
	// Env resolves what belongs to the session: @@ROWCOUNT, user functions.
	Env expr.Env
	// Database returns the database a table lives in: constraint messages name
	// it and foreign keys are followed through it. Temporary tables are in
	// tempdb. Without it a table with foreign keys cannot be changed.
	Database func(t *catalog.Table) *catalog.Database
	// Exec compiles the source of INSERT ... EXEC; nil refuses it by name.
	Exec func(x *ast.ExecuteSpecification) (Rows, error)
	// Function compiles a table-valued function in FROM; nil, or false,
	// refuses it by name.
	Function func(name *ast.SchemaObjectName, args []expr.Expr) (*TableFunction, bool, error)
	// Module is the procedure's name when one is compiled, for messages.
	Module string

	deps depSet
}

// Host is what a run asks of the session. exec's session implements it; plan
// finds it by type assertion on the frame's Session.
type Host interface {
	// IdentityInsert reports whether SET IDENTITY_INSERT is ON for a table.
	IdentityInsert(t *catalog.Table) bool
	// SystemQuery says for whom the rows of a system view are made.
	SystemQuery(t *catalog.Table) catalog.SystemQuery
}

// TableFunction is a table-valued function bound to its arguments.
type TableFunction struct {
	Columns []Column
	Rows    Rows
}

// Column describes a column of a result.
type Column struct {
	Name     string
	Type     types.Type
	Nullable bool
	Identity bool // the identity column of its table, for SELECT ... INTO

	null bool // the word NULL, whose type is int only where nothing else gives it one
}

// Dep is an object that a plan was compiled against.
type Dep struct {
	// Table is the table, view or system view the plan reads or writes. The
	// plan is stale when the name no longer resolves to it or its definition
	// changed; the version of its database (catalog.Database) tells that it may
	// have.
	Table *catalog.Table
	// Name is the name as the statement wrote it.
	Name *ast.SchemaObjectName
}

// Query is a compiled SELECT.
type Query struct {
	// Columns of the result; none when Assigns.
	Columns []Column
	// Assigns tells that the query assigns variables (SELECT @v = ...) and
	// emits no row.
	Assigns bool
	// Into is the table that SELECT ... INTO creates, nil otherwise. The rows
	// are emitted as usual: exec creates the table of Columns and fills it.
	Into *ast.SchemaObjectName
	// Deps lists what the plan was compiled against.
	Deps []Dep
	// Run emits the rows and returns how many there were (for @@ROWCOUNT). A
	// row is valid only during the call of emit. Errors are *sqlerr.Error,
	// emit's own, or the context's.
	Run func(f *expr.Frame, emit func(row []types.Value) error) (rows int64, err error)
}

// DML is a compiled INSERT, UPDATE, DELETE, MERGE or TRUNCATE TABLE.
type DML struct {
	// Output are the columns of an OUTPUT clause without INTO; none if there
	// is no such clause.
	Output []Column
	// Deps lists what the plan was compiled against.
	Deps []Dep
	// Target is the table that is changed; nil for a table variable.
	Target *catalog.Table
	// Run makes the changes within f.Tx, emits the rows of OUTPUT and returns
	// how many rows were changed. After an error the caller rolls back to the
	// savepoint it took before the statement.
	Run func(f *expr.Frame, emit func(row []types.Value) error) (rows int64, err error)
}

type depSet struct {
	list []Dep
	seen map[*catalog.Table]bool
}

func (d *depSet) add(t *catalog.Table, name *ast.SchemaObjectName) {
	if d.seen[t] {
		return
	}
	if d.seen == nil {
		d.seen = map[*catalog.Table]bool{}
	}
	d.seen[t] = true
	d.list = append(d.list, Dep{Table: t, Name: name})
}

func (d *depSet) take() []Dep {
	l := d.list
	*d = depSet{}
	return l
}
