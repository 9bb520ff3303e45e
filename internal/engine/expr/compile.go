package expr

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// Scalar compiles a scalar expression. Errors are *sqlerr.Error with their line.
func (c *Compiler) Scalar(e ast.ScalarExpression) (Expr, error) {
	return Expr{}, sqlerr.Unsupported("expression")
}

// Bool compiles a boolean expression. Errors are *sqlerr.Error with their line.
func (c *Compiler) Bool(e ast.BooleanExpression) (Pred, error) {
	return nil, sqlerr.Unsupported("expression")
}

// DataType turns a type reference into a type. In a CAST the length of a char
// or binary type that gives none is 30, in a declaration 1.
func (c *Compiler) DataType(ref ast.DataTypeReference, cast bool) (types.Type, error) {
	return types.Null, sqlerr.Unsupported("data type")
}

// Constant makes an expression of a value.
func Constant(t types.Type, v types.Value) Expr {
	return Expr{Type: t, Const: true, Value: v, Nullable: v.IsNull(),
		Eval: func(*Frame) (types.Value, error) { return v, nil }}
}

// Register makes an expression that reads a register.
func Register(reg int, t types.Type, name string, nullable bool) Expr {
	return Expr{Type: t, Name: name, Nullable: nullable, coll: collImplicit,
		Eval: func(f *Frame) (types.Value, error) { return f.Regs[reg], nil }}
}

// Cast converts an expression to a type: implicitly, as an assignment does,
// unless explicit is set. It refuses what SQL Server refuses at compile time.
func Cast(e Expr, to types.Type, explicit bool) (Expr, error) { return e, nil }

// Compare compiles a comparison of two expressions; op is one of the names of
// ast.BooleanComparisonExpression.ComparisonType, such as Equals.
func Compare(op string, a, b Expr) (Pred, error) { return nil, nil }
