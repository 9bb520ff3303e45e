package plan

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

func setColumns() error {
	return sqlerr.New(205, 16, 1, "All queries joined by UNION, INTERSECT or EXCEPT must have an equal number of expressions in their select lists.")
}

// typeNull gives the word NULL, column i of q, the type of the column it meets.
func (c *Column) typeNull(q *query, i int, t types.Type) {
	if c.null {
		c.Type = t
		q.out[i] = expr.Constant(t, types.Value{})
	}
}

// setOperation compiles UNION, EXCEPT and INTERSECT. Its rows are a leaf of
// the block, whose columns ORDER BY names.
func (b *block) setOperation(q *ast.BinaryQueryExpression, use queryUse) (*query, error) {
	if use.derived && q.OrderByClause != nil {
		return nil, sqlerr.New(1033, 15, 1, "ORDER BY is not valid in views, inline functions, derived tables, subqueries and common table expressions unless TOP, OFFSET or FOR XML is given too.")
	}
	left, err := b.c.newBlock(b.st, b.parent).query(q.FirstQueryExpression, queryUse{})
	if err != nil {
		return nil, err
	}
	right, err := b.c.newBlock(b.st, b.parent).query(q.SecondQueryExpression, queryUse{})
	if err != nil {
		return nil, err
	}
	if len(left.cols) != len(right.cols) {
		return nil, setColumns()
	}
	n := &setRows{op: q.BinaryQueryExpressionType, all: q.All}
	if n.op != "Union" && n.all {
		return nil, sqlerr.Unsupported(n.op + " ALL")
	}
	cols := make([]Column, len(left.cols))
	leafs := make([]leafColumn, len(cols))
	var ts []types.Type
	for i := range cols {
		if l, r := &left.cols[i], &right.cols[i]; l.null != r.null {
			l.typeNull(left, i, r.Type)
			r.typeNull(right, i, l.Type)
		}
		t, err := types.CommonType(left.cols[i].Type, right.cols[i].Type)
		if err != nil {
			return nil, err
		}
		if !(q.BinaryQueryExpressionType == "Union" && q.All) {
			if err := comparable(t); err != nil {
				return nil, err
			}
		}
		cols[i] = Column{Name: left.cols[i].Name, Type: t, Nullable: left.cols[i].Nullable || right.cols[i].Nullable,
			null: left.cols[i].null && right.cols[i].null}
		leafs[i] = leafColumn{typ: t, nullable: cols[i].Nullable, used: true}
		ts = append(ts, t)
		for _, side := range []*query{left, right} {
			if side.out[i], err = expr.Cast(side.out[i], t, false); err != nil {
				return nil, err
			}
		}
	}
	n.colls = collations(ts)
	if n.left.root, err = left.root(); err != nil {
		return nil, err
	}
	if n.right.root, err = right.root(); err != nil {
		return nil, err
	}
	n.left.out, n.right.out = evals(left.out), evals(right.out)
	l := b.newLeaf("", leafs)
	l.make, n.leaf = n, l
	b.tree = b.leafItem(l)
	s := b.leafSource("", l, cols)
	if err := b.addSource(s); err != nil {
		return nil, err
	}
	r := &query{block: b, cols: cols}
	p := &pipeline{b: b, union: true}
	for i, c := range cols {
		p.items = append(p.items, item{Column: c, ex: s.cols[i].ex, refs: s.cols[i].refs, print: columnKey(s, i), src: s.cols[i], leaf: l, ord: i, assign: -1})
		r.out = append(r.out, s.cols[i].ex)
		r.sourced = append(r.sourced, s.cols[i])
	}
	b.clause = "ORDER BY"
	if err := p.orderBy(q.OrderByClause); err != nil {
		return nil, err
	}
	r.root = p.root
	return r, nil
}

// setRows is UNION, EXCEPT or INTERSECT.
type setRows struct {
	op          string
	all         bool
	leaf        *leaf
	left, right memberNode
	colls       []types.Collation
}

func (n *setRows) bind(r *run, next step) step {
	w, first := len(n.leaf.cols), n.leaf.reg
	bindSide := func(m memberNode, fn func(row []types.Value) error) step {
		row := make([]types.Value, w)
		return m.root.bind(r, func() error {
			if err := evalInto(r.f, m.out, row); err != nil {
				return err
			}
			return fn(row)
		})
	}
	show := func(row []types.Value) error {
		copy(r.f.Regs[first:first+w], row)
		return next()
	}
	if n.op == "Union" && n.all {
		left, right := bindSide(n.left, show), bindSide(n.right, show)
		return func() error {
			if err := left(); err != nil {
				return err
			}
			return right()
		}
	}
	seen := &rowTable{width: w, keys: w, colls: n.colls}
	fresh := func(row []types.Value) error {
		h := hashRow(row)
		if seen.first(h, row) >= 0 {
			return nil
		}
		seen.add(h, row)
		return show(row)
	}
	if n.op == "Union" {
		left, right := bindSide(n.left, fresh), bindSide(n.right, fresh)
		return func() error {
			seen.reset()
			if err := left(); err != nil {
				return err
			}
			return right()
		}
	}
	other := &rowTable{width: w, keys: w, colls: n.colls}
	right := bindSide(n.right, func(row []types.Value) error {
		if h := hashRow(row); other.first(h, row) < 0 {
			other.add(h, row)
		}
		return nil
	})
	left := bindSide(n.left, func(row []types.Value) error {
		if in := other.first(hashRow(row), row) >= 0; in != (n.op == "Intersect") {
			return nil
		}
		return fresh(row)
	})
	return func() error {
		seen.reset()
		other.reset()
		if err := right(); err != nil {
			return err
		}
		return left()
	}
}
