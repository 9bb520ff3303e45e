package catalog

import (
	"time"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// Module is what procedures, functions, views and triggers have in common.
type Module struct {
	ID               int32
	Schema, Name     string
	Text             string      // the CREATE statement, as sys.sql_modules shows it
	Batch            *tsql.Batch // the batch Text came from: slices the texts of nodes
	Line             int         // of the batch on which Text begins, from 1
	Created          time.Time
	Modified         time.Time
	SchemaBound      bool
	Native           bool // WITH NATIVE_COMPILATION
	Recompile        bool
	ExecuteAs        string // "" = caller
	QuotedIdentifier bool
	AnsiNulls        bool

	refs []tsql.Reference // tables and views it names
}

// FullName returns schema.name.
func (m *Module) FullName() string { return m.Schema + "." + m.Name }

// Procedure is a stored procedure.
type Procedure struct {
	Module
	Params []Param
	Body   *ast.StatementList
	Atomic *ast.BeginEndAtomicBlockStatement // the body of a native one
}

// Param is a parameter of a procedure or function.
type Param struct {
	Name      string // with @
	Type      types.Type
	UserType  *AliasType
	TableType *TableType // for a table-valued one; Type.Kind is then KindTable
	Output    bool
	ReadOnly  bool
	NotNull   bool                 // of a natively compiled module: NULL is refused
	Default   ast.ScalarExpression // nil = required
}

// FunctionKind tells the kinds of user-defined functions apart.
type FunctionKind uint8

// The kinds of functions.
const (
	ScalarFunction FunctionKind = iota
	InlineFunction              // RETURNS TABLE AS RETURN (SELECT ...)
	TableFunction               // RETURNS @t TABLE (...) AS BEGIN ... END
)

// Function is a user-defined function.
type Function struct {
	Module
	Kind              FunctionKind
	Params            []Param
	Returns           types.Type           // of a scalar one
	Select            *ast.SelectStatement // of an inline one
	ReturnVar         string               // of a multi-statement one, with @
	Table             *Table               // the columns of an inline or multi-statement one
	Body              *ast.StatementList
	ReturnsNullOnNull bool
}

// TableType is a user-defined table type.
type TableType struct {
	ID           int32 // user_type_id
	Schema, Name string
	Table        *Table // its shape; Table.ID is type_table_object_id
	Created      time.Time
}

// AliasType is a type made by CREATE TYPE ... FROM.
type AliasType struct {
	ID           int32 // user_type_id
	Schema, Name string
	Type         types.Type
	Nullable     bool
}

// Schema is a schema.
type Schema struct {
	ID    int32
	Name  string
	Owner string
}
