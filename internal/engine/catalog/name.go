package catalog

import (
	"github.com/sqlc-dev/teesql/ast"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold returns the form of a name under which names compare: the catalog is
// case-insensitive, and trailing blanks do not count.
func Fold(name string) string {
	name = strings.TrimRight(name, " ")
	for i := 0; i < len(name); i++ {
		if c := name[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return strings.Map(unicode.ToLower, name)
		}
	}
	return name
}

// EqualName reports whether two names are the same to the catalog.
func EqualName(a, b string) bool {
	return a == b || strings.EqualFold(strings.TrimRight(a, " "), strings.TrimRight(b, " "))
}

// Name is an object name of up to four parts; parts not given are empty.
type Name struct{ Server, Database, Schema, Object string }

// NameOf takes an object name of the syntax tree apart.
func NameOf(n *ast.SchemaObjectName) Name {
	var r Name
	if n == nil {
		return r
	}
	get := func(id *ast.Identifier) string {
		if id == nil {
			return ""
		}
		return id.Value
	}
	return Name{get(n.ServerIdentifier), get(n.DatabaseIdentifier), get(n.SchemaIdentifier), get(n.BaseIdentifier)}
}
