package catalog

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sqlc-dev/teesql/ast"
)

// integer reads a whole number with an optional sign.
func integer(e ast.ScalarExpression) (int64, error) {
	switch e := e.(type) {
	case *ast.IntegerLiteral:
		return strconv.ParseInt(e.Value, 10, 64)
	case *ast.NumericLiteral:
		return strconv.ParseInt(e.Value, 10, 64)
	case *ast.ParenthesisExpression:
		return integer(e.Expression)
	case *ast.UnaryExpression:
		n, err := integer(e.Expression)
		if e.UnaryExpressionType == "Negative" {
			n = -n
		}
		return n, err
	}
	return 0, strconv.ErrSyntax
}

// defaultText spells a default as SQL Server does: in parentheses, numbers in two.
func defaultText(text string, e ast.ScalarExpression) string {
	for {
		inner, ok := stripParens(text)
		if !ok {
			break
		}
		text = inner
	}
	if p, ok := e.(*ast.ParenthesisExpression); ok {
		return defaultText(text, p.Expression)
	}
	if u, ok := e.(*ast.UnaryExpression); ok {
		e = u.Expression
	}
	switch e.(type) {
	case *ast.IntegerLiteral, *ast.NumericLiteral, *ast.RealLiteral:
		return "((" + text + "))"
	}
	return "(" + text + ")"
}

// stripParens removes one pair of parentheses that encloses all of text.
func stripParens(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if len(text) < 2 || text[0] != '(' || text[len(text)-1] != ')' {
		return text, false
	}
	depth, quoted := 0, false
	for i, r := range text {
		switch {
		case r == '\'':
			quoted = !quoted
		case quoted:
		case r == '(':
			depth++
		case r == ')':
			if depth--; depth == 0 && i < len(text)-1 {
				return text, false
			}
		}
	}
	return strings.TrimSpace(text[1 : len(text)-1]), true
}

func parenthesize(text string) string {
	if _, ok := stripParens(text); ok {
		return text
	}
	return "(" + text + ")"
}

// name returns the name of a constraint, made up when it has none.
func (b *builder) name(id *ast.Identifier, prefix, column string) (string, bool) {
	if id != nil && id.Value != "" {
		return id.Value, false
	}
	b.auto++
	table := cut(strings.TrimPrefix(b.t.Name, "@"), 9)
	h := fnv64(b.t.Schema + "." + b.t.Name + "." + prefix + "." + column + strconv.Itoa(b.auto) + strconv.FormatInt(int64(b.t.ID), 10))
	if prefix == "PK" || prefix == "UQ" {
		return fmt.Sprintf("%s__%s__%016X", prefix, table, h), true
	}
	if column == "" {
		return fmt.Sprintf("%s__%s__%08X", prefix, table, uint32(h)), true
	}
	return fmt.Sprintf("%s__%s__%s__%08X", prefix, table, cut(column, 5), uint32(h)), true
}

func fnv64(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

func cut(s string, n int) string {
	r := []rune(s)
	return string(r[:min(n, len(r))])
}

// buckets rounds a bucket count up to a power of two.
func buckets(n int64) int {
	b := int64(1)
	for b < n {
		b *= 2
	}
	return int(min(b, math.MaxInt32/2+1))
}
