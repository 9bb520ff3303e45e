package plan

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
)

// Select compiles a SELECT statement.
func (c *Compiler) Select(s *ast.SelectStatement) (*Query, error) {
	return nil, sqlerr.Unsupported("SELECT")
}

// Insert compiles an INSERT statement.
func (c *Compiler) Insert(s *ast.InsertStatement) (*DML, error) {
	return nil, sqlerr.Unsupported("INSERT")
}

// Update compiles an UPDATE statement.
func (c *Compiler) Update(s *ast.UpdateStatement) (*DML, error) {
	return nil, sqlerr.Unsupported("UPDATE")
}

// Delete compiles a DELETE statement.
func (c *Compiler) Delete(s *ast.DeleteStatement) (*DML, error) {
	return nil, sqlerr.Unsupported("DELETE")
}

// Merge compiles a MERGE statement.
func (c *Compiler) Merge(s *ast.MergeStatement) (*DML, error) {
	return nil, sqlerr.Unsupported("MERGE")
}

// Truncate compiles TRUNCATE TABLE.
func (c *Compiler) Truncate(s *ast.TruncateTableStatement) (*DML, error) {
	return nil, sqlerr.Unsupported("TRUNCATE TABLE")
}

// Scalar compiles an expression outside a query (SET, PRINT, RETURN, an
// argument); subqueries are allowed in it.
func (c *Compiler) Scalar(e ast.ScalarExpression) (expr.Expr, error) {
	return expr.Expr{}, sqlerr.Unsupported("expression")
}

// Bool compiles the condition of IF or WHILE; subqueries are allowed in it.
func (c *Compiler) Bool(e ast.BooleanExpression) (expr.Pred, error) {
	return nil, sqlerr.Unsupported("condition")
}
