package plan

import (
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// grouping is the GROUP BY of a block, or the one group of a block that has
// aggregates only.
type grouping struct {
	leaf  *leaf // stands for the registers of keys and results
	keys  []groupKey
	aggs  []*aggregate
	byKey map[string]int // fingerprint -> keys
	byAgg map[string]expr.Expr
	all   bool // no GROUP BY: there is always one group
}

type groupKey struct {
	ex  expr.Expr
	reg int
	out expr.Expr
}

// key returns the value of a grouping expression by its fingerprint.
func (g *grouping) key(print string) (expr.Expr, bool) {
	i, ok := g.byKey[print]
	if !ok {
		return expr.Expr{}, false
	}
	return g.keys[i].out, true
}

// newGrouping compiles GROUP BY; by may be nil.
func (b *block) newGrouping(by *ast.GroupByClause) error {
	g := &grouping{byKey: map[string]int{}, byAgg: map[string]expr.Expr{}, all: by == nil}
	g.leaf = b.newLeaf("", nil)
	b.agg = g
	if by == nil {
		return nil
	}
	if by.All {
		return sqlerr.Unsupported("GROUP BY ALL").At(tsql.Line(by))
	}
	if by.GroupByOption != "" && by.GroupByOption != "None" {
		return sqlerr.Unsupported("WITH " + strings.ToUpper(by.GroupByOption)).At(tsql.Line(by))
	}
	b.clause = "GROUP BY"
	for _, spec := range by.GroupingSpecifications {
		switch s := spec.(type) {
		case *ast.ExpressionGroupingSpecification:
			if err := b.groupBy(s.Expression); err != nil {
				return sqlerr.AtLine(err, tsql.Line(s))
			}
		case *ast.GrandTotalGroupingSpecification:
			g.all = len(by.GroupingSpecifications) == 1
		case *ast.RollupGroupingSpecification:
			return sqlerr.Unsupported("ROLLUP").At(tsql.Line(s))
		case *ast.CubeGroupingSpecification:
			return sqlerr.Unsupported("CUBE").At(tsql.Line(s))
		case *ast.GroupingSetsGroupingSpecification:
			return sqlerr.Unsupported("GROUPING SETS").At(tsql.Line(s))
		default:
			return sqlerr.Unsupported("this GROUP BY element").At(tsql.Line(by))
		}
	}
	return nil
}

func (b *block) groupBy(e ast.ScalarExpression) error {
	x, refs, err := b.scalar(e)
	if err != nil {
		return err
	}
	if !refs.meets(b.leaves) {
		return sqlerr.New(164, 15, 1, "Each GROUP BY expression must have at least one column that is not an outer reference.")
	}
	if err := comparable(x.Type); err != nil {
		return err
	}
	print := b.print(e)
	if _, ok := b.agg.byKey[print]; ok {
		return nil
	}
	reg := b.c.regs(1)
	b.agg.byKey[print] = len(b.agg.keys)
	b.agg.keys = append(b.agg.keys, groupKey{ex: x, reg: reg, out: expr.Register(reg, x.Type, x.Name, x.Nullable)})
	return nil
}

// comparable refuses the types that can be neither compared nor sorted.
func comparable(t types.Type) error {
	switch t.Kind {
	case types.KindText, types.KindNText, types.KindImage:
		return sqlerr.NotComparable()
	}
	return nil
}

// hasAggregate reports whether a node has an aggregate function of its own
// block: one without OVER and not in a subquery.
func hasAggregate(n any) bool {
	found := false
	walk(n, func(n any) bool {
		if f, ok := n.(*ast.FunctionCall); ok && f.OverClause == nil && f.CallTarget == nil && isAggregate(f.FunctionName.Value) {
			found = true
		}
		return !found
	})
	return found
}

// Derived reports whether the rows of a query are no rows of tables: it groups,
// drops duplicates, combines queries or reads no table.
func Derived(q ast.QueryExpression) bool {
	switch q := q.(type) {
	case *ast.QueryParenthesisExpression:
		return Derived(q.QueryExpression)
	case *ast.QuerySpecification:
		if q.FromClause == nil || q.GroupByClause != nil || q.HavingClause != nil || strings.EqualFold(q.UniqueRowFilter, "Distinct") {
			return true
		}
		for _, e := range q.SelectElements {
			if hasAggregate(e) {
				return true
			}
		}
		return false
	}
	return true
}

// rewrite is asked by package expr for every scalar node: what a query block
// gives a meaning of its own is compiled here.
func (b *block) rewrite(e ast.ScalarExpression) (expr.Expr, bool, error) {
	if b.grouped && len(b.agg.keys) > 0 {
		switch e.(type) {
		case *ast.ParenthesisExpression, *ast.VariableReference, *ast.ScalarSubquery:
		default:
			if x, ok := b.agg.key(b.print(e)); ok {
				b.st.refs.add(b.agg.leaf.id)
				return x, true, nil
			}
		}
	}
	switch e := e.(type) {
	case *ast.ColumnReferenceExpression:
		x, err := b.column(e)
		if err == nil && e.Collation != nil {
			x, err = b.collate(x, e.Collation)
			err = sqlerr.AtLine(err, tsql.Line(e))
		}
		return x, true, err
	case *ast.FunctionCall:
		if e.CallTarget != nil {
			return expr.Expr{}, false, nil
		}
		if e.OverClause != nil {
			x, err := b.window(e)
			return x, true, sqlerr.AtLine(err, tsql.Line(e))
		}
		if isAggregate(e.FunctionName.Value) {
			x, err := b.aggregate(e)
			return x, true, sqlerr.AtLine(err, tsql.Line(e))
		}
	}
	return expr.Expr{}, false, nil
}

// aggregate compiles a call of an aggregate function and returns the
// expression of its result.
func (b *block) aggregate(e *ast.FunctionCall) (expr.Expr, error) {
	switch {
	case b.inAgg:
		return expr.Expr{}, sqlerr.New(130, 15, 1, "An aggregate function cannot be applied to an expression that has an aggregate or a subquery in it.")
	case b.agg == nil || !b.grouped:
		switch b.clause {
		case "WHERE":
			return expr.Expr{}, sqlerr.New(147, 15, 1, "An aggregate cannot stand in the WHERE clause unless it is in a subquery of a HAVING clause or a select list and its column is an outer reference.")
		case "GROUP BY":
			return expr.Expr{}, sqlerr.New(144, 15, 1, "An aggregate or a subquery cannot be used in an expression of the GROUP BY list.")
		}
		return expr.Expr{}, sqlerr.New(157, 15, 1, "An aggregate cannot stand here.")
	}
	print := b.print(e)
	if x, ok := b.agg.byAgg[print]; ok {
		b.st.refs.add(b.agg.leaf.id)
		return x, nil
	}
	over := b.overGroups
	b.overGroups = false
	a, err := b.newAggregate(e)
	b.overGroups = over
	if err != nil {
		return expr.Expr{}, err
	}
	a.reg = b.c.regs(1)
	b.agg.aggs = append(b.agg.aggs, a)
	x := expr.Register(a.reg, a.typ, "", !a.count())
	b.agg.byAgg[print] = x
	b.st.refs.add(b.agg.leaf.id)
	return x, nil
}

// argument compiles an aggregate's argument, which sees the rows before they
// are grouped.
func (b *block) argument(e ast.ScalarExpression) (x expr.Expr, err error) {
	if b.overGroups {
		return b.ex.Scalar(e)
	}
	grouped := b.grouped
	b.grouped, b.inAgg = false, true
	defer func() { b.grouped, b.inAgg = grouped, false }()
	var refs leafSet
	refs, err = b.tracked(func() error {
		x, err = b.ex.Scalar(e)
		return err
	})
	if err != nil {
		return x, err
	}
	for s := b.parent; s != nil; s = s.parent {
		if refs.meets(s.leaves) && !refs.meets(b.leaves) {
			return x, sqlerr.Unsupported("an aggregate over the columns of an outer query only")
		}
	}
	return x, nil
}

// groupRows is the operator of GROUP BY.
type groupRows struct {
	child node
	g     *grouping
	keys  []evalFunc
	regs  []int // of the keys
	colls []types.Collation
}

func (b *block) groupNode(child node) node {
	n := &groupRows{child: child, g: b.agg}
	var ts []types.Type
	for _, k := range b.agg.keys {
		n.keys = append(n.keys, k.ex.Eval)
		n.regs = append(n.regs, k.reg)
		ts = append(ts, k.ex.Type)
	}
	n.colls = collations(ts)
	return n
}

func (n *groupRows) bind(r *run, next step) step {
	in := &groupInstance{groupRows: n, r: r, next: next}
	in.table = rowTable{width: len(n.keys), keys: len(n.keys), colls: n.colls}
	in.key = make([]types.Value, len(n.keys))
	in.child = n.child.bind(r, in.row)
	return in.run
}

type groupInstance struct {
	*groupRows
	r     *run
	next  step
	child step
	table rowTable
	key   []types.Value
	accs  []accumulator // len(aggs) for each group
}

func (in *groupInstance) run() error {
	in.table.reset()
	if cap(in.accs) > maxKept {
		in.accs = nil
	}
	for i := range in.accs {
		in.accs[i].reset()
	}
	in.accs = in.accs[:0]
	if in.g.all {
		in.group()
	}
	if err := in.child(); err != nil {
		return err
	}
	groups := in.table.n
	if in.g.all {
		groups = 1
	}
	f, w := in.r.f, len(in.g.aggs)
	for i := range groups {
		if !in.g.all {
			load(f, in.regs, in.table.row(i))
		}
		for k, a := range in.g.aggs {
			v, err := a.result(&in.accs[i*w+k])
			if err != nil {
				return err
			}
			f.Regs[a.reg] = v
		}
		if err := in.next(); err != nil {
			return err
		}
	}
	return nil
}

// group makes the accumulators of a new group.
func (in *groupInstance) group() {
	n := len(in.accs) + len(in.g.aggs)
	if n <= cap(in.accs) {
		in.accs = in.accs[:n]
		return
	}
	in.accs = append(in.accs, make([]accumulator, len(in.g.aggs))...)
}

func (in *groupInstance) row() error {
	f := in.r.f
	at := 0
	if !in.g.all {
		if err := evalInto(f, in.keys, in.key); err != nil {
			return err
		}
		h := hashRow(in.key)
		i := in.table.first(h, in.key)
		if i < 0 {
			i = in.table.add(h, in.key)
			in.group()
		}
		at = i * len(in.g.aggs)
	}
	for k, a := range in.g.aggs {
		if err := a.add(&in.accs[at+k], f); err != nil {
			return err
		}
	}
	return nil
}
