package exec

import (
	"reflect"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/sqlerr"
)

// isolationHints lists the tables that a statement gives an isolation hint, by
// folded name.
func isolationHints(st ast.Statement) map[string]bool {
	var m map[string]bool
	walkTables(reflect.ValueOf(st), func(t *ast.NamedTableReference) {
		for _, h := range t.TableHints {
			k, ok := h.(*ast.TableHint)
			if !ok {
				continue
			}
			switch strings.ToUpper(strings.ReplaceAll(k.HintKind, "_", "")) {
			case "SNAPSHOT", "REPEATABLEREAD", "SERIALIZABLE", "HOLDLOCK":
				if m == nil {
					m = map[string]bool{}
				}
				m[catalog.Fold(ident(t.SchemaObject.BaseIdentifier))] = true
			}
		}
	})
	return m
}

// walkTables visits the table references of a tree.
func walkTables(v reflect.Value, fn func(*ast.NamedTableReference)) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.CanInterface() {
			if t, ok := v.Interface().(*ast.NamedTableReference); ok {
				fn(t)
				return
			}
		}
		walkTables(v.Elem(), fn)
	case reflect.Struct:
		for i := range v.NumField() {
			walkTables(v.Field(i), fn)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walkTables(v.Index(i), fn)
		}
	}
}

// ident is an identifier's text, "" for none.
func ident(i *ast.Identifier) string {
	if i == nil {
		return ""
	}
	return i.Value
}

// nameText writes a name as messages do.
func nameText(n *ast.SchemaObjectName) string {
	var parts []string
	for _, i := range []*ast.Identifier{n.ServerIdentifier, n.DatabaseIdentifier, n.SchemaIdentifier, n.BaseIdentifier} {
		if i != nil && (i.Value != "" || len(parts) > 0) {
			parts = append(parts, i.Value)
		}
	}
	return strings.Join(parts, ".")
}

// databaseOf is the database that a name's first part names, or cur.
func (s *Session) databaseOf(cur *catalog.Database, n *ast.SchemaObjectName) (*catalog.Database, error) {
	name := ident(n.DatabaseIdentifier)
	if name == "" {
		return cur, nil
	}
	if db, ok := s.e.cat.Database(name); ok {
		return db, nil
	}
	return nil, sqlerr.InvalidObject(nameText(n))
}

// construct names a statement for messages: CREATE TRIGGER for a
// *ast.CreateTriggerStatement.
func construct(st ast.Statement) string {
	name := strings.TrimSuffix(reflect.TypeOf(st).Elem().Name(), "Statement")
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String())
}
