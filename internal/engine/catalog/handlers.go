package catalog

import "github.com/sqlc-dev/teesql/ast"

// handler returns the method that carries out a statement, or nil.
func handler(s ast.Statement) func(*DDL, ast.Statement) error {
	switch s.(type) {
	case *ast.CreateTableStatement:
		return (*DDL).createTable
	case *ast.CreateTypeTableStatement:
		return (*DDL).createTableType
	case *ast.CreateTypeUddtStatement:
		return (*DDL).createAliasType
	case *ast.CreateSchemaStatement:
		return (*DDL).createSchema
	case *ast.CreateIndexStatement:
		return (*DDL).createIndex
	case *ast.CreateProcedureStatement, *ast.AlterProcedureStatement, *ast.CreateOrAlterProcedureStatement:
		return (*DDL).createProcedure
	case *ast.CreateViewStatement, *ast.AlterViewStatement, *ast.CreateOrAlterViewStatement:
		return (*DDL).createView
	case *ast.CreateFunctionStatement, *ast.AlterFunctionStatement, *ast.CreateOrAlterFunctionStatement:
		return (*DDL).createFunction
	case *ast.AlterTableAddTableElementStatement:
		return (*DDL).alterTableAdd
	case *ast.AlterTableDropTableElementStatement:
		return (*DDL).alterTableDrop
	case *ast.AlterTableAlterColumnStatement:
		return (*DDL).alterColumn
	case *ast.AlterTableConstraintModificationStatement:
		return (*DDL).alterConstraints
	case *ast.AlterTableAlterIndexStatement:
		return (*DDL).alterTableIndex
	case *ast.AlterIndexStatement:
		return (*DDL).alterIndex
	case *ast.DropTableStatement:
		return (*DDL).dropTables
	case *ast.DropViewStatement:
		return (*DDL).dropViews
	case *ast.DropProcedureStatement:
		return (*DDL).dropProcedures
	case *ast.DropFunctionStatement:
		return (*DDL).dropFunctions
	case *ast.DropTypeStatement:
		return (*DDL).dropType
	case *ast.DropSchemaStatement:
		return (*DDL).dropSchema
	case *ast.DropIndexStatement:
		return (*DDL).dropIndexes
	}
	return nil
}
