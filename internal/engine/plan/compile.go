package plan

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/expr"
)

// Select compiles a SELECT statement.
func (c *Compiler) Select(s *ast.SelectStatement) (*Query, error) { return c.selectStatement(s) }

// Insert compiles an INSERT statement.
func (c *Compiler) Insert(s *ast.InsertStatement) (*DML, error) { return c.insertStatement(s) }

// Update compiles an UPDATE statement.
func (c *Compiler) Update(s *ast.UpdateStatement) (*DML, error) { return c.updateStatement(s) }

// Delete compiles a DELETE statement.
func (c *Compiler) Delete(s *ast.DeleteStatement) (*DML, error) { return c.deleteStatement(s) }

// Merge compiles a MERGE statement.
func (c *Compiler) Merge(s *ast.MergeStatement) (*DML, error) { return c.mergeStatement(s) }

// Truncate compiles TRUNCATE TABLE.
func (c *Compiler) Truncate(s *ast.TruncateTableStatement) (*DML, error) {
	return c.truncateStatement(s)
}

// Scalar compiles an expression outside a query (SET, PRINT, RETURN, an
// argument); subqueries are allowed in it.
func (c *Compiler) Scalar(e ast.ScalarExpression) (expr.Expr, error) {
	b := c.begin()
	x, err := b.ex.Scalar(e)
	b.st.done()
	return x, err
}

// Bool compiles the condition of IF or WHILE; subqueries are allowed in it.
func (c *Compiler) Bool(e ast.BooleanExpression) (expr.Pred, error) {
	b := c.begin()
	p, err := b.ex.Bool(e)
	b.st.done()
	return p, err
}

// begin starts a statement: its registers begin anew.
func (c *Compiler) begin() *block {
	c.Scope.NewStatement()
	c.deps = depSet{}
	return c.newBlock(&statement{}, nil)
}

// regs reserves n registers in a row and returns the first.
func (c *Compiler) regs(n int) int {
	m := c.Scope.Module()
	first := -1
	for range n {
		if r := m.NewReg(); first < 0 {
			first = r
		}
	}
	return max(first, 0)
}

// done runs what had to wait for the whole statement: which columns are used
// is known only now.
func (st *statement) done() {
	for _, fn := range st.finish {
		fn()
	}
	st.finish = nil
}
