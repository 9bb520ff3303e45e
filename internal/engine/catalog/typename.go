package catalog

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/types"
)

// ResolvedType is what the name of a data type stands for.
type ResolvedType struct {
	Type  types.Type // KindTable for a table type
	Table *TableType
	Alias *AliasType
}

// ResolveType resolves the type of a column, variable or parameter. Errors: 2715
// no such type, 131/1001 length, 2750/2751 precision and scale.
func (db *Database) ResolveType(t ast.DataTypeReference) (ResolvedType, error) {
	return ResolvedType{}, unsupported("types")
}
