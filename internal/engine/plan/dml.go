package plan

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
)

func (c *Compiler) insertStatement(s *ast.InsertStatement) (*DML, error) {
	return nil, sqlerr.Unsupported("INSERT")
}
func (c *Compiler) updateStatement(s *ast.UpdateStatement) (*DML, error) {
	return nil, sqlerr.Unsupported("UPDATE")
}
func (c *Compiler) deleteStatement(s *ast.DeleteStatement) (*DML, error) {
	return nil, sqlerr.Unsupported("DELETE")
}
func (c *Compiler) mergeStatement(s *ast.MergeStatement) (*DML, error) {
	return nil, sqlerr.Unsupported("MERGE")
}
func (c *Compiler) truncateStatement(s *ast.TruncateTableStatement) (*DML, error) {
	return nil, sqlerr.Unsupported("TRUNCATE TABLE")
}
