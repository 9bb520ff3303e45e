package plan

import (
	"strconv"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// sortKey is an element of an ORDER BY.
type sortKey struct {
	ex   expr.Expr
	desc bool
	col  *orderKey // when it is a plain column
}

// pipeline is what a query does with the rows that its joins make, in order:
// group, HAVING, windows, DISTINCT, ORDER BY, TOP or OFFSET.
type pipeline struct {
	b        *block
	items    []item
	having   []*conjunct
	before   []projected // select list values that later steps compare
	distinct bool
	union    bool // the rows of a set operation: ORDER BY sees its columns only
	order    []sortKey
	top      *expr.Expr // bigint, or float with percent
	percent  bool
	ties     bool
	offset   *expr.Expr
	fetch    *expr.Expr
}

type projected struct {
	ex  expr.Expr
	reg int
}

func (p *pipeline) limited() bool { return p.top != nil || p.offset != nil }

// reside makes the value of a select list item stand in a register before the
// steps that need it, so that it is evaluated once.
func (p *pipeline) reside(it *item) {
	if it.resides || it.assign >= 0 {
		return
	}
	it.resides = true
	reg := p.b.c.regs(1)
	p.before = append(p.before, projected{it.ex, reg})
	p.b.extra = append(p.b.extra, reg)
	x := expr.Register(reg, it.ex.Type, it.ex.Name, it.ex.Nullable)
	it.ex = x
	it.src = column{ex: x, refs: it.src.refs}
}

// orderBy compiles ORDER BY: ordinals, select list aliases, select list
// expressions, then any other expression.
func (p *pipeline) orderBy(clause *ast.OrderByClause) error {
	if clause == nil {
		return nil
	}
	for _, el := range clause.OrderByElements {
		k, err := p.orderKey(el.Expression)
		if err != nil {
			return sqlerr.AtLine(err, tsql.Line(el))
		}
		if err := comparable(k.ex.Type); err != nil {
			return sqlerr.AtLine(err, tsql.Line(el))
		}
		k.desc = el.SortOrder == "Descending"
		if k.col != nil {
			k.col.desc = k.desc
		}
		p.order = append(p.order, k)
	}
	return nil
}

func (p *pipeline) orderKey(e ast.ScalarExpression) (sortKey, error) {
	if lit, ok := e.(*ast.IntegerLiteral); ok {
		n, err := strconv.Atoi(lit.Value)
		if err != nil || n < 1 || n > len(p.items) || p.items[n-1].assign >= 0 {
			return sortKey{}, sqlerr.New(108, 16, 1, "The ORDER BY position number %s is beyond the number of items in the select list.", lit.Value)
		}
		return p.itemKey(&p.items[n-1]), nil
	}
	if c, ok := e.(*ast.ColumnReferenceExpression); ok {
		if parts := identifiers(c.MultiPartIdentifier); len(parts) == 1 {
			it, err := p.named(parts[0])
			if err != nil {
				return sortKey{}, err
			}
			if it != nil {
				return p.itemKey(it), nil
			}
		}
	}
	print := p.b.print(e)
	for i := range p.items {
		if it := &p.items[i]; it.print == print && it.assign < 0 {
			return p.itemKey(it), nil
		}
	}
	if p.distinct {
		return sortKey{}, sqlerr.New(145, 15, 1, "ORDER BY items must appear in the select list if SELECT DISTINCT is given.")
	}
	if p.union {
		return sortKey{}, sqlerr.New(104, 16, 1, "ORDER BY items must appear in the select list if the statement has a UNION, INTERSECT or EXCEPT operator.")
	}
	o, err := p.b.operand(e)
	if err != nil {
		return sortKey{}, err
	}
	if o.ex.Const {
		return sortKey{}, sqlerr.New(408, 16, 1, "A constant expression was found in the ORDER BY list, position %d.", len(p.order)+1)
	}
	k := sortKey{ex: o.ex}
	if o.leaf != nil {
		k.col = &orderKey{leaf: o.leaf, ord: o.ord}
	}
	return k, nil
}

// named finds the select list item of a name. Error 209: two different ones
// have it.
func (p *pipeline) named(name string) (*item, error) {
	var found *item
	for i := range p.items {
		it := &p.items[i]
		if it.assign >= 0 || !catalog.EqualName(it.Name, name) || it.Name == "" {
			continue
		}
		if found != nil && found.print != it.print {
			return nil, sqlerr.AmbiguousColumn(name)
		}
		found = it
	}
	return found, nil
}

func (p *pipeline) itemKey(it *item) sortKey {
	if it.leaf != nil && !p.distinct && !p.b.grouped {
		return sortKey{ex: it.ex, col: &orderKey{leaf: it.leaf, ord: it.ord}}
	}
	p.reside(it)
	return sortKey{ex: it.ex}
}

// limits compiles TOP and OFFSET ... FETCH.
func (p *pipeline) limits(top *ast.TopRowFilter, off *ast.OffsetClause) error {
	if top != nil {
		if off != nil {
			return sqlerr.New(10741, 15, 2, "TOP cannot be used in the same query as OFFSET.").At(tsql.Line(off))
		}
		if top.WithTies && p.order == nil {
			return sqlerr.New(1062, 15, 1, "TOP N WITH TIES needs an ORDER BY clause.").At(tsql.Line(top))
		}
		p.percent, p.ties = top.Percent, top.WithTies
		x, err := p.b.rowCount(top.Expression, top.Percent)
		if err != nil {
			return sqlerr.AtLine(err, tsql.Line(top))
		}
		p.top = x
	}
	if off != nil {
		if p.order == nil {
			return sqlerr.Syntax("OFFSET").At(tsql.Line(off))
		}
		x, err := p.b.rowCount(off.OffsetExpression, false)
		if err != nil {
			return sqlerr.AtLine(err, tsql.Line(off))
		}
		p.offset = x
		if off.FetchExpression != nil {
			if p.fetch, err = p.b.rowCount(off.FetchExpression, false); err != nil {
				return sqlerr.AtLine(err, tsql.Line(off))
			}
		}
	}
	return nil
}

// rowCount compiles the number of TOP, OFFSET or FETCH, which may read
// variables and outer columns but not the query's own.
func (b *block) rowCount(e ast.ScalarExpression, percent bool) (*expr.Expr, error) {
	outer := b.c.newBlock(b.st, b.parent)
	x, _, err := outer.scalar(e)
	if err != nil {
		return nil, err
	}
	t := types.BigInt
	if percent {
		t = types.Float
	} else if !x.Type.Kind.IsInt() {
		return nil, sqlerr.New(1060, 15, 1, "The number of rows given to a TOP or FETCH clause must be an integer.")
	}
	x, err = expr.Cast(x, t, false)
	return &x, err
}

// live lists the registers that hold the row between two steps.
func (p *pipeline) live(grouped, distinct bool) func() []int {
	return func() []int {
		var regs []int
		switch {
		case distinct:
		case grouped:
			for _, k := range p.b.agg.keys {
				regs = append(regs, k.reg)
			}
			for _, a := range p.b.agg.aggs {
				regs = append(regs, a.reg)
			}
		default:
			regs = p.b.registersOf(p.b.leaves)
		}
		return append(regs, p.b.extra...)
	}
}

// root builds the operators.
func (p *pipeline) root() (node, error) {
	b := p.b
	var want []orderKey
	if b.agg == nil && len(b.windows) == 0 && !p.distinct {
		for _, k := range p.order {
			if k.col == nil {
				want = nil
				break
			}
			want = append(want, *k.col)
		}
	}
	minmax := p.extreme()
	if minmax != nil {
		want = minmax
	}
	n, inOrder, err := b.plan(b.tree, b.conds, want, p.limited() && !p.percent || minmax != nil)
	if err != nil {
		return nil, err
	}
	if b.agg != nil {
		if minmax != nil && inOrder {
			n = &firstRow{child: n, key: b.agg.aggs[0].arg}
		}
		n = b.groupNode(n)
		n = withConds(n, p.having)
	}
	if len(b.windows) > 0 {
		n = b.windowNodes(n, p.live(b.agg != nil, false))
	}
	if len(p.before) > 0 {
		pr := &project{child: n}
		for _, x := range p.before {
			pr.exprs = append(pr.exprs, x.ex.Eval)
			pr.regs = append(pr.regs, x.reg)
		}
		n = pr
	}
	if p.distinct {
		n = p.distinctNode(n)
	}
	sorted := len(p.order) == 0 || inOrder && want != nil && len(want) == len(p.order) && b.agg == nil
	return p.limitNode(n, sorted), nil
}

// extreme recognises SELECT MIN(column) or MAX(column) without GROUP BY: the
// first row of an index in that order answers it.
func (p *pipeline) extreme() []orderKey {
	b := p.b
	if b.agg == nil || !b.agg.all || len(b.agg.aggs) != 1 || len(b.agg.keys) > 0 || len(b.leafs) != 2 {
		return nil // leafs are the table and the grouping itself
	}
	a := b.agg.aggs[0]
	if a.kind != aggMin && a.kind != aggMax || a.leaf == nil {
		return nil
	}
	return []orderKey{{leaf: a.leaf, ord: a.ord, desc: a.kind == aggMax}}
}

// firstRow lets the first row through whose key is not NULL.
type firstRow struct {
	child node
	key   expr.Expr
}

func (n *firstRow) bind(r *run, next step) step {
	stop := newStop()
	child := n.child.bind(r, func() error {
		v, err := n.key.Eval(r.f)
		if err != nil || v.IsNull() {
			return err
		}
		if err := next(); err != nil {
			return err
		}
		return stop
	})
	return func() error {
		if err := child(); err != stop {
			return err
		}
		return nil
	}
}

// distinctNode lets each different row through once.
func (p *pipeline) distinctNode(child node) node {
	n := &distinctRows{child: child}
	var ts []types.Type
	for i := range p.items {
		if p.items[i].assign < 0 {
			n.exprs = append(n.exprs, p.items[i].ex.Eval)
			ts = append(ts, p.items[i].ex.Type)
		}
	}
	n.colls = collations(ts)
	return n
}

type distinctRows struct {
	child node
	exprs []evalFunc
	colls []types.Collation
}

func (n *distinctRows) bind(r *run, next step) step {
	t := &rowTable{width: len(n.exprs), keys: len(n.exprs), colls: n.colls}
	row := make([]types.Value, len(n.exprs))
	child := n.child.bind(r, func() error {
		if err := evalInto(r.f, n.exprs, row); err != nil {
			return err
		}
		h := hashRow(row)
		if t.first(h, row) >= 0 {
			return nil
		}
		t.add(h, row)
		return next()
	})
	return func() error {
		t.reset()
		return child()
	}
}
