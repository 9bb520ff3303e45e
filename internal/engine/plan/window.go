package plan

import (
	"slices"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// windowCall is a call of a function with OVER.
type windowCall struct {
	fn        string
	agg       *aggregate // of an aggregate
	arg       expr.Expr  // LAG, LEAD, FIRST_VALUE, LAST_VALUE, NTILE
	offset    expr.Expr  // LAG, LEAD; Eval nil = 1
	def       expr.Expr  // LAG, LEAD; Eval nil = NULL
	partition []expr.Expr
	parts     []evalFunc
	order     []sortKey
	spec      string // fingerprint of partition and order
	frame     frame
	reg       int
}

// frame is the rows of a partition an aggregate sees: from and to count from
// the current row.
type frame struct {
	whole    bool // the whole partition
	peers    bool // up to the last row that sorts like the current one
	from, to frameEnd
}

type frameEnd struct {
	unbounded bool
	n         expr.Expr // Eval nil = 0
	following bool
}

var rankings = map[string]bool{"row_number": true, "rank": true, "dense_rank": true, "ntile": true, "percent_rank": true, "cume_dist": true}

// window compiles a call with OVER and returns the expression of its result.
func (b *block) window(e *ast.FunctionCall) (expr.Expr, error) {
	none := expr.Expr{}
	name := strings.ToLower(e.FunctionName.Value)
	if !b.winOK {
		return none, sqlerr.New(4108, 15, 1, "Windowed functions can only stand in the SELECT or ORDER BY clauses.")
	}
	if b.inAgg {
		return none, sqlerr.New(4109, 15, 1, "Windowed functions cannot be used within another windowed function or aggregate.")
	}
	o := e.OverClause
	if o.WindowName != nil {
		return none, sqlerr.Unsupported("WINDOW clause")
	}
	for _, id := range e.IgnoreRespectNulls {
		if strings.EqualFold(id.Value, "IGNORE") {
			return none, sqlerr.Unsupported("IGNORE NULLS")
		}
	}
	b.winOK = false
	defer func() { b.winOK = true }()
	w := &windowCall{fn: name}
	for _, p := range o.Partitions {
		x, err := b.ex.Scalar(p)
		if err != nil {
			return none, err
		}
		w.partition = append(w.partition, x)
	}
	w.parts = evals(w.partition)
	if o.OrderByClause != nil {
		for _, el := range o.OrderByClause.OrderByElements {
			if _, ok := el.Expression.(*ast.IntegerLiteral); ok {
				return none, sqlerr.New(5308, 16, 1, "Windowed functions, aggregates and NEXT VALUE FOR functions do not take integer indices as ORDER BY expressions.").At(tsql.Line(el))
			}
			x, err := b.ex.Scalar(el.Expression)
			if err != nil {
				return none, err
			}
			w.order = append(w.order, sortKey{ex: x, desc: el.SortOrder == "Descending"})
		}
	}
	w.spec = b.print(o.Partitions) + b.print(o.OrderByClause)
	if err := b.windowFrame(w, o.WindowFrameClause); err != nil {
		return none, err
	}
	t, err := b.windowFunction(w, e)
	if err != nil {
		return none, err
	}
	w.reg = b.c.regs(1)
	b.extra = append(b.extra, w.reg)
	b.windows = append(b.windows, w)
	return expr.Register(w.reg, t, "", true), nil
}

func (b *block) windowFrame(w *windowCall, f *ast.WindowFrameClause) error {
	if f == nil {
		w.frame = frame{whole: len(w.order) == 0, peers: true, from: frameEnd{unbounded: true}}
		return nil
	}
	if len(w.order) == 0 {
		return sqlerr.New(10756, 15, 1, "A window frame with ROWS or RANGE needs an ORDER BY clause.")
	}
	bottom := f.Bottom
	if bottom == nil {
		bottom = &ast.WindowDelimiter{WindowDelimiterType: "CurrentRow"}
	}
	if strings.EqualFold(f.WindowFrameType, "Range") {
		up, down := f.Top.WindowDelimiterType, bottom.WindowDelimiterType
		switch {
		case up == "UnboundedPreceding" && down == "CurrentRow":
			w.frame = frame{peers: true, from: frameEnd{unbounded: true}}
		case up == "UnboundedPreceding" && down == "UnboundedFollowing":
			w.frame = frame{whole: true}
		default:
			return sqlerr.Unsupported("RANGE with another frame than UNBOUNDED PRECEDING to CURRENT ROW")
		}
		return nil
	}
	var err error
	if w.frame.from, err = b.frameEnd(f.Top); err != nil {
		return err
	}
	w.frame.to, err = b.frameEnd(bottom)
	w.frame.whole = w.frame.from.unbounded && w.frame.to.unbounded
	return err
}

func (b *block) frameEnd(d *ast.WindowDelimiter) (frameEnd, error) {
	switch d.WindowDelimiterType {
	case "CurrentRow":
		return frameEnd{}, nil
	case "UnboundedPreceding":
		return frameEnd{unbounded: true}, nil
	case "UnboundedFollowing":
		return frameEnd{unbounded: true, following: true}, nil
	}
	x, err := b.ex.Scalar(d.OffsetValue)
	if err != nil {
		return frameEnd{}, err
	}
	x, err = expr.Cast(x, types.BigInt, false)
	return frameEnd{n: x, following: d.WindowDelimiterType == "ValueFollowing"}, err
}

// windowFunction compiles the function itself and returns its type.
func (b *block) windowFunction(w *windowCall, e *ast.FunctionCall) (types.Type, error) {
	none := types.Null
	ordered := func() error {
		if len(w.order) == 0 {
			return sqlerr.New(4112, 15, 1, "The function '%s' needs an OVER clause with ORDER BY.", strings.ToUpper(w.fn))
		}
		if rankings[w.fn] && e.OverClause.WindowFrameClause != nil {
			return sqlerr.New(10752, 15, 1, "The function '%s' takes no window frame.", strings.ToUpper(w.fn))
		}
		return nil
	}
	args := func(lo, hi int) error {
		if n := len(e.Parameters); n < lo || n > hi {
			return sqlerr.ArgumentRange(strings.ToUpper(w.fn), lo, hi)
		}
		return ordered()
	}
	switch w.fn {
	case "row_number", "rank", "dense_rank":
		return types.BigInt, args(0, 0)
	case "percent_rank", "cume_dist":
		return types.Float, args(0, 0)
	case "ntile":
		if err := args(1, 1); err != nil {
			return none, err
		}
		x, err := b.ex.Scalar(e.Parameters[0])
		if err != nil {
			return none, err
		}
		w.arg, err = expr.Cast(x, types.BigInt, false)
		return types.BigInt, err
	case "first_value", "last_value":
		if err := args(1, 1); err != nil {
			return none, err
		}
		x, err := b.ex.Scalar(e.Parameters[0])
		w.arg = x
		return x.Type, err
	case "lag", "lead":
		if err := args(1, 3); err != nil {
			return none, err
		}
		x, err := b.ex.Scalar(e.Parameters[0])
		if err != nil {
			return none, err
		}
		w.arg = x
		if len(e.Parameters) > 1 {
			o, err := b.ex.Scalar(e.Parameters[1])
			if err != nil {
				return none, err
			}
			if w.offset, err = expr.Cast(o, types.BigInt, false); err != nil {
				return none, err
			}
		}
		if len(e.Parameters) > 2 {
			d, err := b.ex.Scalar(e.Parameters[2])
			if err != nil {
				return none, err
			}
			if w.def, err = expr.Cast(d, x.Type, false); err != nil {
				return none, err
			}
		}
		return x.Type, nil
	}
	if !isAggregate(w.fn) {
		return none, sqlerr.UnknownFunction(e.FunctionName.Value)
	}
	if strings.EqualFold(e.UniqueRowFilter, "Distinct") {
		return none, sqlerr.New(10759, 15, 1, "DISTINCT cannot be used with the OVER clause.")
	}
	if w.fn == "string_agg" {
		return none, sqlerr.New(4113, 16, 1, "The function 'STRING_AGG' is not a windowing function and takes no OVER clause.")
	}
	a, err := b.windowAggregate(e)
	if err != nil {
		return none, err
	}
	w.agg = a
	return a.typ, nil
}

// windowAggregate compiles an aggregate over a window: its argument sees the
// row as it is after grouping.
func (b *block) windowAggregate(e *ast.FunctionCall) (*aggregate, error) {
	plain := *e
	plain.OverClause = nil
	b.overGroups = true
	defer func() { b.overGroups = false }()
	return b.newAggregate(&plain)
}

// windowNodes builds an operator for each way in which the block's windows
// are partitioned and ordered.
func (b *block) windowNodes(n node, live func() []int) node {
	bySpec := map[string]*windowRows{}
	for _, w := range b.windows {
		if o, ok := bySpec[w.spec]; ok {
			o.calls = append(o.calls, w)
			continue
		}
		o := &windowRows{child: n, calls: []*windowCall{w}}
		bySpec[w.spec] = o
		b.st.finish = append(b.st.finish, func() { o.regs = live() })
		n = o
	}
	return n
}

// windowRows keeps all rows, sorts them by partition and order, and computes
// the functions.
type windowRows struct {
	child node
	calls []*windowCall // the same partition and order
	regs  []int
}

func (n *windowRows) bind(r *run, next step) step {
	in := &windowInstance{windowRows: n, r: r, next: next}
	in.parts, in.orders = len(n.calls[0].partition), len(n.calls[0].order)
	in.width = in.parts + in.orders + 3*len(n.calls) + len(n.regs)
	in.child = n.child.bind(r, in.add)
	return in.run
}

type windowInstance struct {
	*windowRows
	r             *run
	next          step
	child         step
	width         int
	parts, orders int
	vals          []types.Value
	rows          []int32
	out           []types.Value // len(calls) for each row
}

func (in *windowInstance) row(i int) []types.Value {
	at := int(in.rows[i]) * in.width
	return in.vals[at : at+in.width]
}

// args is where the three arguments of a call are kept in a row.
func (in *windowInstance) args(call int) int { return in.parts + in.orders + 3*call }

func (in *windowInstance) add() error {
	f := in.r.f
	at := len(in.vals)
	in.vals = append(in.vals, make([]types.Value, in.width)...)
	row := in.vals[at:]
	w := in.calls[0]
	if err := evalInto(f, w.parts, row); err != nil {
		return err
	}
	for i := range w.order {
		v, err := w.order[i].ex.Eval(f)
		if err != nil {
			return err
		}
		row[in.parts+i] = v
	}
	for i, c := range in.calls {
		x := c.arg
		if c.agg != nil {
			x = c.agg.arg
		}
		for k, a := range [...]expr.Expr{x, c.offset, c.def} {
			if a.Eval == nil {
				continue
			}
			v, err := a.Eval(f)
			if err != nil {
				return err
			}
			row[in.args(i)+k] = v
		}
	}
	save(f, in.regs, row[in.args(len(in.calls)):])
	in.rows = append(in.rows, int32(len(in.rows)))
	return in.r.tick()
}

// compareKeys compares two rows by the keys from lo to hi.
func (in *windowInstance) compareKeys(x, y []types.Value, lo, hi int) int {
	w := in.calls[0]
	for i := lo; i < hi; i++ {
		var coll types.Collation
		desc := false
		if i < in.parts {
			coll = w.partition[i].Type.Coll
		} else {
			coll, desc = w.order[i-in.parts].ex.Type.Coll, w.order[i-in.parts].desc
		}
		if c := order(x[i], y[i], coll); c != 0 {
			if desc {
				return -c
			}
			return c
		}
	}
	return 0
}

func (in *windowInstance) run() error {
	if cap(in.vals) > maxKept {
		in.vals, in.out = nil, nil
	}
	in.vals, in.rows = in.vals[:0], in.rows[:0]
	if err := in.child(); err != nil {
		return err
	}
	all := in.parts + in.orders
	slices.SortStableFunc(in.rows, func(a, b int32) int {
		return in.compareKeys(in.vals[int(a)*in.width:], in.vals[int(b)*in.width:], 0, all)
	})
	in.out = slices.Grow(in.out[:0], len(in.rows)*len(in.calls))[:len(in.rows)*len(in.calls)]
	for lo := 0; lo < len(in.rows); {
		hi := lo + 1
		for hi < len(in.rows) && in.compareKeys(in.row(lo), in.row(hi), 0, in.parts) == 0 {
			hi++
		}
		for i, c := range in.calls {
			p := partition{windowInstance: in, call: c, at: i, lo: lo, hi: hi}
			if err := p.compute(); err != nil {
				return err
			}
		}
		lo = hi
	}
	for i := range in.rows {
		load(in.r.f, in.regs, in.row(i)[in.args(len(in.calls)):])
		for k, c := range in.calls {
			in.r.f.Regs[c.reg] = in.out[i*len(in.calls)+k]
		}
		if err := in.next(); err != nil {
			return err
		}
	}
	return nil
}
