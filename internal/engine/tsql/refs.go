package tsql

import (
	"reflect"
	"strings"

	"github.com/sqlc-dev/teesql/ast"
)

// Reference is a table or view that a piece of syntax names; Object of a table
// variable begins with @.
type Reference struct {
	Database, Schema, Object string
	Line                     int
}

// Tables lists the tables and views that a node names as sources or targets, in
// the order of the tree. Names of common table expressions are among them.
func Tables(n any) []Reference {
	var list []Reference
	visit(reflect.ValueOf(n), func(v any) {
		switch v := v.(type) {
		case *ast.NamedTableReference:
			if o := v.SchemaObject; o != nil && o.BaseIdentifier != nil {
				r := Reference{Object: o.BaseIdentifier.Value, Line: Line(o)}
				if o.SchemaIdentifier != nil {
					r.Schema = o.SchemaIdentifier.Value
				}
				if o.DatabaseIdentifier != nil {
					r.Database = o.DatabaseIdentifier.Value
				}
				list = append(list, r)
			}
		case *ast.VariableTableReference:
			if v.Variable != nil {
				list = append(list, Reference{Object: v.Variable.Name, Line: Line(v)})
			}
		}
	})
	return list
}

// Mentions reports whether an expression has a column reference whose last part
// is name.
func Mentions(n any, name string) bool {
	found := false
	visit(reflect.ValueOf(n), func(v any) {
		c, ok := v.(*ast.ColumnReferenceExpression)
		if !ok || c.MultiPartIdentifier == nil {
			return
		}
		if ids := c.MultiPartIdentifier.Identifiers; len(ids) > 0 && strings.EqualFold(ids[len(ids)-1].Value, name) {
			found = true
		}
	})
	return found
}

// visit calls fn with every pointer to a node below v.
func visit(v reflect.Value, fn func(any)) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			visit(v.Elem(), fn)
		}
	case reflect.Pointer:
		if v.IsNil() || v.Elem().Kind() != reflect.Struct {
			return
		}
		fn(v.Interface())
		s := v.Elem()
		for i := range s.NumField() {
			if f := s.Type().Field(i); f.IsExported() && f.Name != "Fragment" {
				visit(s.Field(i), fn)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(v.Index(i), fn)
		}
	}
}
