package expr

import (
	"fmt"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/fn"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// Bool compiles a boolean expression. Errors are *sqlerr.Error with their line.
func (c *Compiler) Bool(e ast.BooleanExpression) (Pred, error) {
	p, err := c.boolean(e)
	if err != nil {
		return nil, sqlerr.AtLine(err, tsql.Line(e))
	}
	return p, nil
}

func (c *Compiler) boolean(e ast.BooleanExpression) (Pred, error) {
	switch e := e.(type) {
	case *ast.BooleanComparisonExpression:
		a, b, err := c.two(e.FirstExpression, e.SecondExpression)
		if err != nil {
			return nil, err
		}
		return Compare(e.ComparisonType, a, b)
	case *ast.BooleanBinaryExpression:
		return c.logical(e)
	case *ast.BooleanNotExpression:
		p, err := c.Bool(e.Expression)
		if err != nil {
			return nil, err
		}
		return Not(p), nil
	case *ast.BooleanParenthesisExpression:
		return c.Bool(e.Expression)
	case *ast.BooleanIsNullExpression:
		return c.isNullTest(e)
	case *ast.BooleanTernaryExpression:
		return c.between(e)
	case *ast.BooleanInExpression:
		return c.in(e)
	case *ast.BooleanLikeExpression:
		return c.like(e)
	case *ast.ExistsPredicate:
		return c.exists(e.Subquery)
	case *ast.SubqueryComparisonPredicate:
		return c.quantified(e)
	case *ast.DistinctPredicate:
		a, b, err := c.two(e.FirstExpression, e.SecondExpression)
		if err != nil {
			return nil, err
		}
		p, err := distinct(a, b)
		if err == nil && e.IsNot {
			p = Not(p)
		}
		return p, err
	case *ast.BooleanScalarPlaceholder:
		return nil, sqlerr.New(4145, 15, 1, "An expression of non-boolean type stands where a condition is expected.")
	case *ast.FullTextPredicate:
		return nil, sqlerr.Unsupported("full-text predicate")
	case *ast.UpdateCall:
		return nil, sqlerr.Unsupported("UPDATE() predicate")
	case *ast.TSEqualCall:
		return nil, sqlerr.Unsupported("TSEQUAL")
	}
	return nil, sqlerr.Unsupported(strings.TrimPrefix(fmt.Sprintf("%T", e), "*ast."))
}

func (c *Compiler) two(x, y ast.ScalarExpression) (a, b Expr, err error) {
	if a, err = c.Scalar(x); err != nil {
		return a, b, err
	}
	b, err = c.Scalar(y)
	return a, b, err
}

// logical compiles AND and OR; a chain of the same operator becomes one list.
func (c *Compiler) logical(e *ast.BooleanBinaryExpression) (Pred, error) {
	op := e.BinaryExpressionType
	var parts []ast.BooleanExpression
	left := ast.BooleanExpression(e)
	for {
		b, ok := left.(*ast.BooleanBinaryExpression)
		if !ok || b.BinaryExpressionType != op {
			parts = append(parts, left)
			break
		}
		parts = append(parts, b.SecondExpression)
		left = b.FirstExpression
	}
	preds := make([]Pred, len(parts))
	for i, part := range parts {
		p, err := c.Bool(part)
		if err != nil {
			return nil, err
		}
		preds[len(parts)-1-i] = p
	}
	switch op {
	case "And":
		return And(preds...), nil
	case "Or":
		return Or(preds...), nil
	}
	return nil, sqlerr.Unsupported(op)
}

// And is true when all of the predicates are; none at all is true.
func And(preds ...Pred) Pred {
	switch len(preds) {
	case 1:
		return preds[0]
	case 2:
		a, b := preds[0], preds[1]
		return func(f *Frame) (Tri, error) {
			x, err := a(f)
			if err != nil || x == False {
				return x, err
			}
			y, err := b(f)
			if err != nil || y != True {
				return y, err
			}
			return x, nil
		}
	}
	return func(f *Frame) (Tri, error) {
		r := True
		for _, p := range preds {
			x, err := p(f)
			if err != nil || x == False {
				return x, err
			}
			if x == Unknown {
				r = Unknown
			}
		}
		return r, nil
	}
}

// Or is true when one of the predicates is; none at all is false.
func Or(preds ...Pred) Pred {
	if len(preds) == 1 {
		return preds[0]
	}
	return func(f *Frame) (Tri, error) {
		r := False
		for _, p := range preds {
			x, err := p(f)
			if err != nil || x == True {
				return x, err
			}
			if x == Unknown {
				r = Unknown
			}
		}
		return r, nil
	}
}

// Not is false when p is true and the reverse; unknown stays unknown.
func Not(p Pred) Pred {
	return func(f *Frame) (Tri, error) {
		x, err := p(f)
		switch x {
		case True:
			return False, err
		case False:
			return True, err
		}
		return Unknown, err
	}
}

func (c *Compiler) isNullTest(e *ast.BooleanIsNullExpression) (Pred, error) {
	x, err := c.Scalar(e.Expression)
	if err != nil {
		return nil, err
	}
	ev, want := x.Eval, !e.IsNot
	return func(f *Frame) (Tri, error) {
		v, err := ev(f)
		if err != nil {
			return Unknown, err
		}
		if v.IsNull() == want {
			return True, nil
		}
		return False, nil
	}, nil
}

func (c *Compiler) between(e *ast.BooleanTernaryExpression) (Pred, error) {
	x, lo, err := c.two(e.FirstExpression, e.SecondExpression)
	if err != nil {
		return nil, err
	}
	hi, err := c.Scalar(e.ThirdExpression)
	if err != nil {
		return nil, err
	}
	p, err := Compare("GreaterThanOrEqualTo", x, lo)
	if err != nil {
		return nil, err
	}
	q, err := Compare("LessThanOrEqualTo", x, hi)
	if err != nil {
		return nil, err
	}
	both := And(p, q)
	if e.TernaryExpressionType == "NotBetween" {
		return Not(both), nil
	}
	return both, nil
}

// distinct compiles IS DISTINCT FROM, which is never unknown.
func distinct(a, b Expr) (Pred, error) {
	a, b, coll, err := comparable(a, b, "is distinct from")
	if err != nil {
		return nil, err
	}
	x, y := a.Eval, b.Eval
	return func(f *Frame) (Tri, error) {
		v, err := x(f)
		if err != nil {
			return Unknown, err
		}
		w, err := y(f)
		if err != nil {
			return Unknown, err
		}
		if v.IsNull() || w.IsNull() {
			if v.IsNull() == w.IsNull() {
				return False, nil
			}
			return True, nil
		}
		if types.CompareColl(v, w, coll) == 0 {
			return False, nil
		}
		return True, nil
	}, nil
}

func (c *Compiler) in(e *ast.BooleanInExpression) (Pred, error) {
	var p Pred
	var err error
	x, err := c.Scalar(e.Expression)
	if err != nil {
		return nil, err
	}
	if e.Subquery != nil {
		p, err = c.inSubquery(x, e.Subquery)
	} else {
		p, err = c.inList(x, e.Values)
	}
	if err == nil && e.NotDefined {
		p = Not(p)
	}
	return p, err
}

func (c *Compiler) inList(x Expr, values []ast.ScalarExpression) (Pred, error) {
	list, err := c.list(values)
	if err != nil {
		return nil, err
	}
	if p, ok := inConstants(x, list); ok {
		return p, nil
	}
	preds := make([]Pred, len(list))
	for i, v := range list {
		if preds[i], err = Compare("Equals", x, v); err != nil {
			return nil, err
		}
	}
	return Or(preds...), nil
}

// inConstants looks integers up in a set when there are many.
func inConstants(x Expr, list []Expr) (Pred, bool) {
	if len(list) < 8 || !x.Type.Kind.IsInt() {
		return nil, false
	}
	set := make(map[int64]struct{}, len(list))
	for _, v := range list {
		if !v.Const || !v.Type.Kind.IsInt() || v.Value.IsNull() {
			return nil, false
		}
		set[v.Value.Int()] = struct{}{}
	}
	ev := x.Eval
	return func(f *Frame) (Tri, error) {
		v, err := ev(f)
		if err != nil || v.IsNull() {
			return Unknown, err
		}
		if _, ok := set[v.Int()]; ok {
			return True, nil
		}
		return False, nil
	}, true
}

func (c *Compiler) like(e *ast.BooleanLikeExpression) (Pred, error) {
	x, pat, err := c.two(e.FirstExpression, e.SecondExpression)
	if err != nil {
		return nil, err
	}
	if x, err = textOperand(x); err != nil {
		return nil, err
	}
	if pat, err = textOperand(pat); err != nil {
		return nil, err
	}
	coll, _, err := commonCollation(x, pat, "like")
	if err != nil {
		return nil, err
	}
	esc := Constant(types.NVarChar(1), types.NewString(types.KindNVarChar, ""))
	if e.EscapeExpression != nil {
		if esc, err = c.Scalar(e.EscapeExpression); err != nil {
			return nil, err
		}
		if esc, err = textOperand(esc); err != nil {
			return nil, err
		}
	}
	var p Pred
	xv := x.Eval
	if pat.Const && esc.Const {
		p, err = likeConstant(xv, pat.Value, esc.Value, coll)
	} else {
		p = likeDynamic(xv, pat.Eval, esc.Eval, coll)
	}
	if err == nil && e.NotDefined {
		p = Not(p)
	}
	return p, err
}

// textOperand converts what is no text to text, as LIKE does.
func textOperand(e Expr) (Expr, error) {
	if e.Type.Kind.IsString() {
		return e, nil
	}
	return Cast(e, types.NVarChar(4000), e.Type.Kind.IsMoney())
}

func likeConstant(x evalFunc, pattern, escape types.Value, coll types.Collation) (Pred, error) {
	if pattern.IsNull() || escape.IsNull() {
		return func(*Frame) (Tri, error) { return Unknown, nil }, nil
	}
	m, err := fn.CompileLike(pattern.Str(), escape.Str(), coll)
	if err != nil {
		return nil, err
	}
	return func(f *Frame) (Tri, error) {
		v, err := x(f)
		if err != nil || v.IsNull() {
			return Unknown, err
		}
		if m.Match(v.Str()) {
			return True, nil
		}
		return False, nil
	}, nil
}

func likeDynamic(x, pattern, escape evalFunc, coll types.Collation) Pred {
	return func(f *Frame) (Tri, error) {
		v, err := x(f)
		if err != nil || v.IsNull() {
			return Unknown, err
		}
		p, err := pattern(f)
		if err != nil || p.IsNull() {
			return Unknown, err
		}
		e, err := escape(f)
		if err != nil || e.IsNull() {
			return Unknown, err
		}
		m, err := fn.CompileLike(p.Str(), e.Str(), coll)
		if err != nil {
			return Unknown, err
		}
		if m.Match(v.Str()) {
			return True, nil
		}
		return False, nil
	}
}
