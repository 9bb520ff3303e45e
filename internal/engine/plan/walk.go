package plan

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/sqlc-dev/teesql/ast"
)

// walk calls fn for n and for every node below it, parents first; fn returns
// false to leave a node's children out. Subqueries are not entered: what is in
// them belongs to another query.
func walk(n any, fn func(n any) bool) { walkValue(reflect.ValueOf(n), fn) }

var fragmentType = reflect.TypeFor[ast.Fragment]()

func walkValue(v reflect.Value, fn func(n any) bool) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			walkValue(v.Elem(), fn)
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		n := v.Interface()
		if _, query := n.(ast.QueryExpression); query {
			return
		}
		if fn(n) {
			walkValue(v.Elem(), fn)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Type != fragmentType && f.IsExported() {
				walkValue(v.Field(i), fn)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			walkValue(v.Index(i), fn)
		}
	}
}

// fingerprint spells a node so that two nodes with the same meaning have the
// same spelling: positions, letter case of names and redundant parentheses do
// not count. col spells the columns.
func fingerprint(n any, col func(*ast.ColumnReferenceExpression) string) string {
	var b strings.Builder
	spell(&b, reflect.ValueOf(n), col)
	return b.String()
}

func spell(b *strings.Builder, v reflect.Value, col func(*ast.ColumnReferenceExpression) string) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			b.WriteByte('-')
			return
		}
		spell(b, v.Elem(), col)
	case reflect.Pointer:
		if v.IsNil() {
			b.WriteByte('-')
			return
		}
		switch n := v.Interface().(type) {
		case *ast.ParenthesisExpression:
			spell(b, reflect.ValueOf(n.Expression), col)
		case *ast.ColumnReferenceExpression:
			b.WriteString(col(n))
		case *ast.Identifier:
			b.WriteString(strings.ToLower(n.Value))
		case *ast.VariableReference:
			b.WriteString(strings.ToLower(n.Name))
		default:
			spell(b, v.Elem(), col)
		}
	case reflect.Struct:
		b.WriteString(v.Type().Name())
		b.WriteByte('{')
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Type != fragmentType && f.IsExported() {
				spell(b, v.Field(i), col)
				b.WriteByte(';')
			}
		}
		b.WriteByte('}')
	case reflect.Slice:
		b.WriteByte('[')
		for i := range v.Len() {
			spell(b, v.Index(i), col)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case reflect.String:
		fmt.Fprintf(b, "%q", v.String())
	default:
		fmt.Fprintf(b, "%v", v.Interface())
	}
}
