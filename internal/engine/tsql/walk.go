package tsql

import "github.com/sqlc-dev/teesql/ast"

// Statements calls fn for every statement of list and for those nested in
// blocks, branches, loops and module bodies, outer ones first.
func Statements(list []ast.Statement, fn func(ast.Statement)) {
	for _, s := range list {
		fn(s)
		switch s := s.(type) {
		case *ast.BeginEndBlockStatement:
			nested(s.StatementList, fn)
		case *ast.BeginEndAtomicBlockStatement:
			nested(s.StatementList, fn)
		case *ast.IfStatement:
			one(s.ThenStatement, fn)
			one(s.ElseStatement, fn)
		case *ast.WhileStatement:
			one(s.Statement, fn)
		case *ast.TryCatchStatement:
			nested(s.TryStatements, fn)
			nested(s.CatchStatements, fn)
		case *ast.CreateProcedureStatement:
			nested(s.StatementList, fn)
		case *ast.CreateOrAlterProcedureStatement:
			nested(s.StatementList, fn)
		case *ast.AlterProcedureStatement:
			nested(s.StatementList, fn)
		case *ast.CreateFunctionStatement:
			nested(s.StatementList, fn)
		case *ast.CreateOrAlterFunctionStatement:
			nested(s.StatementList, fn)
		case *ast.AlterFunctionStatement:
			nested(s.StatementList, fn)
		case *ast.CreateTriggerStatement:
			nested(s.StatementList, fn)
		case *ast.CreateOrAlterTriggerStatement:
			nested(s.StatementList, fn)
		case *ast.AlterTriggerStatement:
			nested(s.StatementList, fn)
		}
	}
}

func nested(l *ast.StatementList, fn func(ast.Statement)) {
	if l != nil {
		Statements(l.Statements, fn)
	}
}

func one(s ast.Statement, fn func(ast.Statement)) {
	if s != nil {
		Statements([]ast.Statement{s}, fn)
	}
}
