package tsql

import (
	"reflect"

	"github.com/sqlc-dev/teesql/ast"
)

// quantified is a comparison with ALL, ANY or SOME of a subquery, which teesql
// does not read: it is given x IN (subquery) in its place.
type quantified struct {
	query      int // UTF-16 offset of the subquery
	comparison string
	kind       string // Any or All
}

// comparisonTypes are ScriptDom's names of the operators.
var comparisonTypes = map[string]string{
	"=": "Equals", "<>": "NotEqualToBrackets", "!=": "NotEqualToExclamation", "<": "LessThan", "<=": "LessThanOrEqualTo",
	">": "GreaterThan", ">=": "GreaterThanOrEqualTo", "!<": "NotLessThan", "!>": "NotGreaterThan",
}

// quantifier recognizes the word at i as one of a comparison; lo is the offset at
// which the operator begins.
func quantifier(t []token, i int) (q quantified, lo int, ok bool) {
	if t[i].kind != tokWord || t[i+1].word != "(" || t[i+2].word != "SELECT" || i == 0 || t[i-1].kind != tokPunct {
		return q, 0, false
	}
	op, first := t[i-1].word, t[i-1]
	if i > 1 && t[i-2].kind == tokPunct {
		if two := t[i-2].word + op; comparisonTypes[two] != "" {
			op, first = two, t[i-2]
		}
	}
	q.comparison = comparisonTypes[op]
	q.kind = "Any"
	if t[i].word == "ALL" {
		q.kind = "All"
	}
	return q, first.pos, q.comparison != ""
}

// quantify puts the comparisons into the tree.
func (e *edits) quantify(b *Batch) {
	by := map[int]quantified{}
	for _, q := range e.any {
		by[q.query] = q
	}
	for _, st := range b.Statements {
		replace(reflect.ValueOf(st), func(n any) any {
			in, ok := n.(*ast.BooleanInExpression)
			if !ok || in.Subquery == nil {
				return nil
			}
			f := fragment(in.Subquery)
			if f == nil {
				return nil
			}
			q, ok := by[f.StartOffset]
			if !ok {
				return nil
			}
			return &ast.SubqueryComparisonPredicate{Fragment: in.Fragment, Expression: in.Expression, ComparisonType: q.comparison,
				Subquery: &ast.ScalarSubquery{Fragment: *f, QueryExpression: in.Subquery}, SubqueryComparisonPredicateType: q.kind}
		})
	}
}

// replace puts what fn gives for a node in its place; nil leaves it. Nodes within
// a replaced one are visited too.
func replace(v reflect.Value, fn func(any) any) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		if v.CanSet() {
			if n := fn(v.Interface()); n != nil {
				v.Set(reflect.ValueOf(n))
			}
		}
		replace(v.Elem(), fn)
	case reflect.Pointer:
		if v.IsNil() || v.Elem().Kind() != reflect.Struct {
			return
		}
		s := v.Elem()
		for i := range s.NumField() {
			if f := s.Type().Field(i); f.IsExported() && f.Name != "Fragment" {
				replace(s.Field(i), fn)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			replace(v.Index(i), fn)
		}
	}
}
