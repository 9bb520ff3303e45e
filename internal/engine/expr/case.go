package expr

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

type evalFunc = func(*Frame) (types.Value, error)

// unify gives expressions that may each be the result their common type. Bare
// NULLs have no say. Error: 206, and none when there is nothing but NULL.
func unify(list []Expr, none *sqlerr.Error, op string) (types.Type, []Expr, error) {
	t := types.Null
	coll := Expr{}
	found := false
	for _, e := range list {
		if e.Type.Kind == types.KindNull && e.Const {
			continue
		}
		if !found {
			t, coll, found = e.Type, e, true
			continue
		}
		var err error
		if t, err = types.CommonType(t, e.Type); err != nil {
			return t, nil, err
		}
		if t.Kind.IsString() && e.Type.Kind.IsString() {
			if t.Coll, coll.coll, err = commonCollation(coll, e, op); err != nil {
				return t, nil, err
			}
			coll.Type.Coll = t.Coll
		}
	}
	if !found {
		if none != nil {
			return t, nil, none
		}
		t = types.Int
	}
	out := make([]Expr, len(list))
	for i, e := range list {
		if err := types.CheckConversion(e.Type, t, false); err != nil {
			return t, nil, err
		}
		// Text of another length is a value of the type as it is.
		if e.Type.Kind == t.Kind && (t.Kind == types.KindVarChar || t.Kind == types.KindNVarChar || t.Kind == types.KindVarBinary) {
			out[i] = e
			continue
		}
		out[i] = convertTo(e, t, true)
	}
	return t, out, nil
}

func (c *Compiler) searchedCase(e *ast.SearchedCaseExpression) (Expr, error) {
	preds := make([]Pred, len(e.WhenClauses))
	thens := make([]ast.ScalarExpression, len(e.WhenClauses))
	for i, w := range e.WhenClauses {
		p, err := c.Bool(w.WhenExpression)
		if err != nil {
			return Expr{}, err
		}
		preds[i], thens[i] = p, w.ThenExpression
	}
	return c.caseOf(preds, thens, e.ElseExpression, e.Collation)
}

func (c *Compiler) simpleCase(e *ast.SimpleCaseExpression) (Expr, error) {
	in, err := c.Scalar(e.InputExpression)
	if err != nil {
		return Expr{}, err
	}
	preds := make([]Pred, len(e.WhenClauses))
	thens := make([]ast.ScalarExpression, len(e.WhenClauses))
	for i, w := range e.WhenClauses {
		x, err := c.Scalar(w.WhenExpression)
		if err != nil {
			return Expr{}, err
		}
		if preds[i], err = Compare("Equals", in, x); err != nil {
			return Expr{}, err
		}
		thens[i] = w.ThenExpression
	}
	return c.caseOf(preds, thens, e.ElseExpression, e.Collation)
}

func (c *Compiler) caseOf(preds []Pred, thens []ast.ScalarExpression, other ast.ScalarExpression, coll *ast.Identifier) (Expr, error) {
	list := make([]Expr, 0, len(thens)+1)
	for _, t := range thens {
		x, err := c.Scalar(t)
		if err != nil {
			return Expr{}, err
		}
		list = append(list, x)
	}
	if other != nil {
		x, err := c.Scalar(other)
		if err != nil {
			return Expr{}, err
		}
		list = append(list, x)
	} else {
		list = append(list, Constant(types.Null, types.NULL()))
	}
	t, list, err := unify(list, sqlerr.New(8133, 16, 1, "A CASE needs at least one result that is not the NULL constant."), "CASE")
	if err != nil {
		return Expr{}, err
	}
	nullable := false
	strength := collCoercible
	results := make([]evalFunc, len(list))
	for i, x := range list {
		nullable = nullable || x.Nullable
		strength = max(strength, x.coll)
		results[i] = x.Eval
	}
	last := results[len(results)-1]
	return collated(Expr{Type: t, Nullable: nullable, coll: strength, Eval: func(f *Frame) (types.Value, error) {
		for i, p := range preds {
			r, err := p(f)
			if err != nil {
				return types.Value{}, err
			}
			if r == True {
				return results[i](f)
			}
		}
		return last(f)
	}}, coll)
}

func (c *Compiler) iif(e *ast.IIfCall) (Expr, error) {
	p, err := c.Bool(e.Predicate)
	if err != nil {
		return Expr{}, err
	}
	return c.caseOf([]Pred{p}, []ast.ScalarExpression{e.ThenExpression}, e.ElseExpression, nil)
}

func (c *Compiler) list(args []ast.ScalarExpression) ([]Expr, error) {
	out := make([]Expr, len(args))
	for i, a := range args {
		x, err := c.Scalar(a)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

func (c *Compiler) coalesce(args []ast.ScalarExpression) (Expr, error) {
	if len(args) < 2 {
		return Expr{}, sqlerr.SyntaxKeyword("COALESCE")
	}
	list, err := c.list(args)
	if err != nil {
		return Expr{}, err
	}
	t, list, err := unify(list, sqlerr.New(4127, 16, 1, "COALESCE needs at least one argument that is not the NULL constant."), "COALESCE")
	if err != nil {
		return Expr{}, err
	}
	return firstNotNull(t, list), nil
}

func firstNotNull(t types.Type, list []Expr) Expr {
	nullable := true
	strength := collCoercible
	evs := make([]evalFunc, len(list))
	for i, x := range list {
		nullable = nullable && x.Nullable
		strength = max(strength, x.coll)
		evs[i] = x.Eval
	}
	return fold(Expr{Type: t, Nullable: nullable, coll: strength, Eval: func(f *Frame) (types.Value, error) {
		for _, ev := range evs {
			v, err := ev(f)
			if err != nil || !v.IsNull() {
				return v, err
			}
		}
		return types.Value{}, nil
	}}, list...)
}

// isNull compiles ISNULL, whose result has the type of its first argument.
func (c *Compiler) isNull(args []ast.ScalarExpression) (Expr, error) {
	if len(args) != 2 {
		return Expr{}, sqlerr.ArgumentCount("isnull", 2)
	}
	list, err := c.list(args)
	if err != nil {
		return Expr{}, err
	}
	t := list[0].Type
	if t.Kind == types.KindNull {
		t = list[1].Type
	}
	if list[1], err = Cast(list[1], t, false); err != nil {
		return Expr{}, err
	}
	r := firstNotNull(t, list)
	r.Nullable = list[0].Nullable && list[1].Nullable
	return r, nil
}

func (c *Compiler) nullIf(e *ast.NullIfExpression) (Expr, error) {
	a, err := c.Scalar(e.FirstExpression)
	if err != nil {
		return Expr{}, err
	}
	if a.Type.Kind == types.KindNull {
		return Expr{}, sqlerr.New(4151, 16, 1, "The first argument of NULLIF cannot be the NULL constant: its type must be known.")
	}
	b, err := c.Scalar(e.SecondExpression)
	if err != nil {
		return Expr{}, err
	}
	same, err := Compare("Equals", a, b)
	if err != nil {
		return Expr{}, err
	}
	ev := a.Eval
	return Expr{Type: a.Type, Nullable: true, coll: a.coll, Eval: func(f *Frame) (types.Value, error) {
		r, err := same(f)
		if err != nil || r == True {
			return types.Value{}, err
		}
		return ev(f)
	}}, nil
}

func (c *Compiler) choose(args []ast.ScalarExpression) (Expr, error) {
	if len(args) < 2 {
		return Expr{}, sqlerr.ArgumentRange("choose", 2, 254)
	}
	list, err := c.list(args)
	if err != nil {
		return Expr{}, err
	}
	index, err := Cast(list[0], types.Int, true)
	if err != nil {
		return Expr{}, err
	}
	t, list, err := unify(list[1:], nil, "CHOOSE")
	if err != nil {
		return Expr{}, err
	}
	evs := make([]evalFunc, len(list))
	for i, x := range list {
		evs[i] = x.Eval
	}
	ix := index.Eval
	return Expr{Type: t, Nullable: true, Eval: func(f *Frame) (types.Value, error) {
		n, err := ix(f)
		if err != nil || n.IsNull() || n.Int() < 1 || n.Int() > int64(len(evs)) {
			return types.Value{}, err
		}
		return evs[n.Int()-1](f)
	}}, nil
}
