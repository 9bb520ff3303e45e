package catalog

import (
	"strconv"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// ResolvedType is what the name of a data type stands for.
type ResolvedType struct {
	Type  types.Type // KindTable for a table type
	Table *TableType
	Alias *AliasType
}

// ResolveType resolves the type of a column, variable or parameter. Errors: 2715
// no such type, 131/1001 length, 2750/2751 precision and scale, 40514 a type the
// engine does not have.
func (db *Database) ResolveType(t ast.DataTypeReference) (ResolvedType, error) {
	r, err := db.resolveType(t)
	return r, sqlerr.AtLine(err, tsql.Line(t))
}

func (db *Database) resolveType(t ast.DataTypeReference) (ResolvedType, error) {
	if n := tsql.UserType(t); n != nil {
		name := NameOf(n)
		if name.Database != "" && !EqualName(name.Database, db.Name()) {
			return ResolvedType{}, sqlerr.New(117, 15, 1, "The type name '%s' has too many parts: a type belongs to the database it is used in.", dotted(name))
		}
		if tt, ok := db.TableType(name.Schema, name.Object); ok {
			return ResolvedType{Type: types.Type{Kind: types.KindTable}, Table: tt}, nil
		}
		if a, ok := db.AliasType(name.Schema, name.Object); ok {
			return ResolvedType{Type: a.Type, Alias: a}, nil
		}
		if name.Schema == "" || EqualName(name.Schema, "sys") {
			var args []int
			if u, ok := t.(*ast.UserDataTypeReference); ok {
				var err error
				if args, err = typeArgs(u.Parameters); err != nil {
					return ResolvedType{}, err
				}
			}
			typ, err := types.ParseTypeName(name.Object, args)
			return ResolvedType{Type: typ}, err
		}
		return ResolvedType{}, sqlerr.UnknownType(1, dotted(name))
	}
	switch t := t.(type) {
	case *ast.SqlDataTypeReference:
		if t == nil {
			return ResolvedType{}, sqlerr.UnknownType(1, "")
		}
		args, err := typeArgs(t.Parameters)
		if err != nil {
			return ResolvedType{}, err
		}
		name := strings.ToLower(t.SqlDataTypeOption)
		if t.Name != nil && t.Name.BaseIdentifier != nil && t.SqlDataTypeOption == "Rowversion" {
			name = strings.ToLower(t.Name.BaseIdentifier.Value)
		}
		typ, err := types.ParseTypeName(name, args)
		return ResolvedType{Type: typ}, err
	case *ast.XmlDataTypeReference:
		return ResolvedType{}, sqlerr.Unsupported("data type xml")
	}
	return ResolvedType{}, sqlerr.UnknownType(1, "")
}

// typeArgs reads the numbers in a type's parentheses; max is types.Max.
func typeArgs(params []ast.ScalarExpression) ([]int, error) {
	var args []int
	for _, p := range params {
		switch p := p.(type) {
		case *ast.MaxLiteral:
			args = append(args, types.Max)
		case *ast.IntegerLiteral:
			n, err := strconv.Atoi(p.Value)
			if err != nil || n == types.Max {
				return nil, sqlerr.New(131, 15, 3, "The size (%s) given to a type exceeds the largest allowed for any data type (8000).", p.Value)
			}
			args = append(args, n)
		default:
			return nil, sqlerr.New(102, 15, 1, "Syntax error: the length, precision or scale of a data type must be a whole number or MAX.")
		}
	}
	return args, nil
}

func dotted(n Name) string {
	var parts []string
	for _, p := range []string{n.Server, n.Database, n.Schema, n.Object} {
		if p != "" || len(parts) > 0 {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ".")
}
