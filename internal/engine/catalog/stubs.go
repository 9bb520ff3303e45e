package catalog

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
)

const firstObjectID int32 = 1013578649

func compatibilityView(name string) bool {
	switch Fold(name) {
	case "sysobjects", "syscolumns", "sysindexes", "sysdatabases", "sysprocesses", "systypes", "sysusers":
		return true
	}
	return false
}
func unsupported(what string) error {
	return sqlerr.New(40517, 16, 1, "The embedded engine does not support %s.", what)
}
func handler(s ast.Statement) func(*DDL, ast.Statement) error { return nil }
