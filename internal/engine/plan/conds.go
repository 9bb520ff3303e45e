package plan

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// conjunct is one of the conditions that AND joins in WHERE or ON.
type conjunct struct {
	cond cond
	refs leafSet // every leaf it reads, those of blocks around it and within it too
	// A comparison of two expressions keeps its parts: they may become the key
	// of an index seek or of a hash join.
	op          string // "" = no comparison; as in ast.BooleanComparisonExpression
	left, right operand
	never       bool // false whatever the row: 1 = 0
	// list is set for expression IN (values): left is the expression.
	list []operand
}

// operand is one side of a comparison.
type operand struct {
	ex   expr.Expr
	refs leafSet
	leaf *leaf // when it is a plain column
	ord  int
}

// mirrored are the comparisons with their sides exchanged.
var mirrored = map[string]string{
	"Equals": "Equals", "LessThan": "GreaterThan", "GreaterThan": "LessThan",
	"LessThanOrEqualTo": "GreaterThanOrEqualTo", "GreaterThanOrEqualTo": "LessThanOrEqualTo",
}

// split compiles a condition into the parts that must all be true.
func (b *block) split(e ast.BooleanExpression) ([]*conjunct, error) {
	switch e := e.(type) {
	case nil:
		return nil, nil
	case *ast.BooleanParenthesisExpression:
		return b.split(e.Expression)
	case *ast.BooleanBinaryExpression:
		if e.BinaryExpressionType != "And" {
			break
		}
		l, err := b.split(e.FirstExpression)
		if err != nil {
			return nil, err
		}
		r, err := b.split(e.SecondExpression)
		return append(l, r...), err
	case *ast.BooleanComparisonExpression:
		l, err := b.operand(e.FirstExpression)
		if err != nil {
			return nil, err
		}
		r, err := b.operand(e.SecondExpression)
		if err != nil {
			return nil, err
		}
		c, err := compared(e.ComparisonType, l, r)
		if err != nil {
			return nil, sqlerr.AtLine(err, tsql.Line(e))
		}
		return []*conjunct{c}, nil
	case *ast.BooleanTernaryExpression:
		if e.TernaryExpressionType == "Between" {
			return b.between(e)
		}
	case *ast.BooleanInExpression:
		if e.Subquery != nil {
			return b.inSubquery(e)
		}
		if !e.NotDefined && len(e.Values) <= 64 {
			return b.inList(e)
		}
	case *ast.ExistsPredicate:
		return b.exists(e.Subquery, false)
	case *ast.BooleanNotExpression:
		if x, ok := unparen(e.Expression).(*ast.ExistsPredicate); ok {
			return b.exists(x.Subquery, true)
		}
	}
	p, refs, err := b.boolean(e)
	if err != nil {
		return nil, sqlerr.AtLine(err, tsql.Line(e))
	}
	return []*conjunct{{cond: predCond(p), refs: refs}}, nil
}

func unparen(e ast.BooleanExpression) ast.BooleanExpression {
	for {
		p, ok := e.(*ast.BooleanParenthesisExpression)
		if !ok {
			return e
		}
		e = p.Expression
	}
}

// operand compiles one side of a comparison.
func (b *block) operand(e ast.ScalarExpression) (operand, error) {
	x, refs, err := b.scalar(e)
	if err != nil {
		return operand{}, sqlerr.AtLine(err, tsql.Line(e))
	}
	o := operand{ex: x, refs: refs}
	for {
		p, ok := e.(*ast.ParenthesisExpression)
		if !ok {
			break
		}
		e = p.Expression
	}
	if c, ok := e.(*ast.ColumnReferenceExpression); ok && !b.grouped && (c.ColumnType == "" || c.ColumnType == "Regular") {
		if parts := identifiers(c.MultiPartIdentifier); len(parts) > 0 && c.Collation == nil {
			if s, i, err := b.find(parts); err == nil && s != nil {
				o.leaf, o.ord = s.cols[i].leaf, s.cols[i].ord
			}
		}
	}
	return o, nil
}

func compared(op string, l, r operand) (*conjunct, error) {
	p, err := expr.Compare(op, l.ex, r.ex)
	if err != nil {
		return nil, err
	}
	c := &conjunct{cond: predCond(p), refs: l.refs.union(r.refs)}
	if l.ex.Const && r.ex.Const {
		t, err := p(&expr.Frame{})
		c.never = err == nil && t != expr.True
	}
	if _, ok := mirrored[op]; ok {
		c.op, c.left, c.right = op, l, r
	}
	return c, nil
}

func (b *block) between(e *ast.BooleanTernaryExpression) ([]*conjunct, error) {
	x, err := b.operand(e.FirstExpression)
	if err != nil {
		return nil, err
	}
	lo, err := b.operand(e.SecondExpression)
	if err != nil {
		return nil, err
	}
	hi, err := b.operand(e.ThirdExpression)
	if err != nil {
		return nil, err
	}
	c1, err := compared("GreaterThanOrEqualTo", x, lo)
	if err != nil {
		return nil, sqlerr.AtLine(err, tsql.Line(e))
	}
	c2, err := compared("LessThanOrEqualTo", x, hi)
	if err != nil {
		return nil, sqlerr.AtLine(err, tsql.Line(e))
	}
	return []*conjunct{c1, c2}, nil
}

func (b *block) inList(e *ast.BooleanInExpression) ([]*conjunct, error) {
	x, err := b.operand(e.Expression)
	if err != nil {
		return nil, err
	}
	c := &conjunct{left: x, refs: append(leafSet(nil), x.refs...)}
	var preds []expr.Pred
	for _, v := range e.Values {
		o, err := b.operand(v)
		if err != nil {
			return nil, err
		}
		p, err := expr.Compare("Equals", x.ex, o.ex)
		if err != nil {
			return nil, sqlerr.AtLine(err, tsql.Line(e))
		}
		preds = append(preds, p)
		c.list = append(c.list, o)
		c.refs.addAll(o.refs)
	}
	c.cond = predCond(func(f *expr.Frame) (expr.Tri, error) {
		res := expr.False
		for _, p := range preds {
			t, err := p(f)
			if err != nil || t == expr.True {
				return t, err
			}
			if t == expr.Unknown {
				res = t
			}
		}
		return res, nil
	})
	return []*conjunct{c}, nil
}

// exists compiles [NOT] EXISTS. A subquery that reads nothing of the blocks
// around it is run once a run.
func (b *block) exists(q ast.QueryExpression, not bool) ([]*conjunct, error) {
	s, refs, err := b.nested(q, true)
	if err != nil {
		return nil, err
	}
	root, err := s.root()
	if err != nil {
		return nil, err
	}
	c := &existsCond{root: root, not: not, once: !b.correlated(refs, s.block)}
	return []*conjunct{{cond: c, refs: refs}}, nil
}

// nested compiles a subquery of the block.
func (b *block) nested(q ast.QueryExpression, exists bool) (s *query, refs leafSet, err error) {
	inner := b.c.newBlock(b.st, b)
	ctes := b.st.ctes
	refs, err = b.tracked(func() error {
		s, err = inner.query(q, queryUse{exists: exists})
		return err
	})
	b.st.ctes = ctes
	return s, refs, err
}

// correlated reports whether refs, read by a subquery, has leaves of the blocks
// around it.
func (b *block) correlated(refs leafSet, _ *block) bool {
	for s := b; s != nil; s = s.parent {
		if refs.meets(s.leaves) {
			return true
		}
	}
	return false
}

type existsCond struct {
	root node
	not  bool
	once bool
}

func (c *existsCond) bind(r *run) func() (expr.Tri, error) {
	found := false
	gen := uint64(0)
	sub := c.root.bind(r, func() error {
		found = true
		return expr.ErrStop
	})
	return func() (expr.Tri, error) {
		if !c.once || gen != r.gen {
			found = false
			if err := sub(); err != nil && err != expr.ErrStop {
				return expr.False, err
			}
			gen = r.gen
		}
		if found != c.not {
			return expr.True, nil
		}
		return expr.False, nil
	}
}

// inSubquery compiles expression [NOT] IN (subquery).
func (b *block) inSubquery(e *ast.BooleanInExpression) ([]*conjunct, error) {
	x, err := b.operand(e.Expression)
	if err != nil {
		return nil, err
	}
	finish := b.st.finish
	s, refs, err := b.nested(e.Subquery, false)
	if err != nil {
		return nil, sqlerr.AtLine(err, tsql.Line(e))
	}
	if len(s.cols) != 1 {
		return nil, sqlerr.TooManyColumns().At(tsql.Line(e))
	}
	if !sameCollation(x.ex.Type, s.cols[0].Type) {
		// Package expr knows which collation counts.
		b.st.finish = finish
		p, refs, err := b.boolean(e)
		if err != nil {
			return nil, sqlerr.AtLine(err, tsql.Line(e))
		}
		return []*conjunct{{cond: predCond(p), refs: refs}}, nil
	}
	root, err := s.root()
	if err != nil {
		return nil, err
	}
	left, right, coll, err := b.common(x.ex, s.out[0])
	if err != nil {
		return nil, sqlerr.AtLine(err, tsql.Line(e))
	}
	all := x.refs.union(refs)
	c := &inCond{root: root, left: left, right: right, coll: coll, not: e.NotDefined, once: !b.correlated(refs, s.block)}
	return []*conjunct{{cond: c, refs: all}}, nil
}

// sameCollation reports whether two types, if both are text, have one
// collation: then it is the one they are compared in.
func sameCollation(a, b types.Type) bool {
	return !a.Kind.IsString() || !b.Kind.IsString() || a.Coll == b.Coll
}

// common brings two expressions that are compared for equality to the type
// they are compared in.
func (b *block) common(l, r expr.Expr) (expr.Expr, expr.Expr, types.Collation, error) {
	if _, err := expr.Compare("Equals", l, r); err != nil {
		return l, r, 0, err
	}
	t, err := types.CommonType(l.Type, r.Type)
	if err != nil {
		return l, r, 0, err
	}
	if l, err = expr.Cast(l, widest(t), false); err != nil {
		return l, r, 0, err
	}
	r, err = expr.Cast(r, widest(t), false)
	return l, r, t.Coll, err
}

// widest takes the length off string types, so that bringing values to a
// common type never cuts them or pads them.
func widest(t types.Type) types.Type {
	switch t.Kind {
	case types.KindChar, types.KindVarChar:
		t.Kind, t.Len = types.KindVarChar, types.Max
	case types.KindNChar, types.KindNVarChar:
		t.Kind, t.Len = types.KindNVarChar, types.Max
	case types.KindBinary, types.KindVarBinary:
		t.Kind, t.Len = types.KindVarBinary, types.Max
	}
	return t
}

// inCond is expression [NOT] IN (subquery). The values of a subquery that is
// not correlated are kept in a hash table for the run.
type inCond struct {
	root        node
	left, right expr.Expr
	coll        types.Collation
	not         bool
	once        bool
}

func (c *inCond) bind(r *run) func() (expr.Tri, error) {
	in := &inInstance{inCond: c, r: r, set: rowTable{width: 1, keys: 1, colls: []types.Collation{c.coll}}}
	in.fill = c.root.bind(r, in.add)
	in.probe = c.root.bind(r, in.match)
	return in.holds
}

type inInstance struct {
	*inCond
	r       *run
	fill    step
	probe   step
	gen     uint64
	set     rowTable
	hasNull bool
	key     [1]types.Value
	found   bool
}

func (in *inInstance) add() error {
	v, err := in.right.Eval(in.r.f)
	if err != nil {
		return err
	}
	if v.IsNull() {
		in.hasNull = true
		return nil
	}
	in.key[0] = v
	if h := hashRow(in.key[:]); in.set.first(h, in.key[:]) < 0 {
		in.set.add(h, in.key[:])
	}
	return nil
}

func (in *inInstance) match() error {
	v, err := in.right.Eval(in.r.f)
	if err != nil {
		return err
	}
	switch {
	case v.IsNull():
		in.hasNull = true
	case in.key[0].IsNull():
		// NULL IN a set that is not empty is unknown.
		in.hasNull = true
		return expr.ErrStop
	case types.CompareColl(v, in.key[0], in.coll) == 0:
		in.found = true
		return expr.ErrStop
	}
	return nil
}

func (in *inInstance) holds() (expr.Tri, error) {
	t, err := in.member()
	if in.not && t != expr.Unknown {
		t = expr.True - t
	}
	return t, err
}

func (in *inInstance) member() (expr.Tri, error) {
	if in.once && in.gen != in.r.gen {
		in.set.reset()
		in.hasNull = false
		if err := in.fill(); err != nil {
			return expr.False, err
		}
		in.gen = in.r.gen
	}
	v, err := in.left.Eval(in.r.f)
	if err != nil {
		return expr.False, err
	}
	in.key[0] = v
	if in.once {
		switch {
		case in.set.n == 0 && !in.hasNull:
			return expr.False, nil
		case v.IsNull():
			return expr.Unknown, nil
		case in.set.first(hashRow(in.key[:]), in.key[:]) >= 0:
			return expr.True, nil
		}
	} else {
		in.found, in.hasNull = false, false
		if err := in.probe(); err != nil && err != expr.ErrStop {
			return expr.False, err
		}
		if in.found {
			return expr.True, nil
		}
	}
	if in.hasNull {
		return expr.Unknown, nil
	}
	return expr.False, nil
}
