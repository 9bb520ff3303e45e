// Package expr compiles the scalar and boolean expressions of T-SQL into
// closures over a Frame. What is compiled is immutable and may be run by many
// frames at a time.
package expr

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/types"
)

// Expr is a compiled scalar expression.
type Expr struct {
	Type     types.Type
	Name     string // the column's or variable's name where it is one, "" otherwise
	Const    bool   // Value is its value, in every frame
	Value    types.Value
	Nullable bool
	Default  bool // the word DEFAULT as an argument; Eval is nil
	Eval     func(f *Frame) (types.Value, error)

	// literal marks a number written in the text: its own digits, not its
	// type's, count for the precision of decimal arithmetic.
	literal bool
	// coll tells how strong the expression's collation is.
	coll collStrength
}

// collStrength is the precedence of collations: an explicit COLLATE beats a
// column's, and a column's that of a variable or literal.
type collStrength uint8

const (
	collCoercible collStrength = iota
	collImplicit
	collExplicit
)

// Tri is a truth value of three-valued logic.
type Tri uint8

// The truth values.
const (
	False Tri = iota
	True
	Unknown
)

// Pred is a compiled boolean expression.
type Pred func(f *Frame) (Tri, error)

// Column describes a column of a subquery.
type Column struct {
	Name     string
	Type     types.Type
	Nullable bool
}

// Subquery is a compiled query within an expression. Run calls emit for each
// row; when emit returns ErrStop, Run ends and returns ErrStop or nil.
type Subquery struct {
	Columns []Column
	Run     func(f *Frame, emit func(row []types.Value) error) error
}

type stopError struct{}

func (stopError) Error() string { return "no more rows are wanted" }

// ErrStop is what emit returns when it wants no more rows.
var ErrStop error = stopError{}

// Env resolves what belongs to the session or the database.
type Env interface {
	// Function compiles a call of a function that package fn does not have:
	// SCOPE_IDENTITY, OBJECT_ID, dbo.f. Name has the parts as written; the
	// functions without parentheses (CURRENT_USER, SESSION_USER, SYSTEM_USER,
	// USER) come here too. False means that there is none.
	Function(name []string, args []Expr) (Expr, bool, error)
	// Global compiles a global variable, with its @@.
	Global(name string) (Expr, bool)
}

// TypeResolver is implemented by an Env that knows alias types.
type TypeResolver interface {
	UserType(name *ast.SchemaObjectName) (types.Type, bool)
}

// Compiler compiles expressions in a scope. Only Scope must be set.
type Compiler struct {
	Scope *Scope
	Env   Env
	// Query compiles a subquery; sc is the scope around it.
	Query func(q ast.QueryExpression, sc *Scope) (Subquery, error)
	// Rewrite is asked for every scalar node before anything else: the place
	// for aggregates, window functions and GROUP BY expressions. False means
	// that the node is compiled as usual.
	Rewrite func(e ast.ScalarExpression) (Expr, bool, error)
}
