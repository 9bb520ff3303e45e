package plan

import (
	"math"
	"slices"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// stopError ends the work below the operator that made it.
type stopError struct{ _ byte }

func (*stopError) Error() string { return "no more rows are wanted" }

// newStop makes an error of an operator's own, so that operators that stop one
// another are told apart.
func newStop() error { return &stopError{} }

// limitNode sorts the rows, unless they are sorted, and cuts them off.
func (p *pipeline) limitNode(child node, sorted bool) node {
	if sorted && !p.limited() {
		return child
	}
	if sorted && !p.percent && !p.ties {
		return &limitRows{child: child, top: p.top, offset: p.offset, fetch: p.fetch}
	}
	n := &sortRows{child: child, keys: p.order, top: p.top, percent: p.percent, ties: p.ties, offset: p.offset, fetch: p.fetch}
	live := p.live(p.b.agg != nil, p.distinct)
	p.b.st.finish = append(p.b.st.finish, func() { n.regs = live() })
	return n
}

// limitRows is TOP or OFFSET ... FETCH over rows that come in their order.
type limitRows struct {
	child              node
	top, offset, fetch *expr.Expr
}

func (n *limitRows) bind(r *run, next step) step {
	stop := newStop()
	var skip, left int64
	child := n.child.bind(r, func() error {
		if skip > 0 {
			skip--
			return nil
		}
		if left <= 0 {
			return stop
		}
		left--
		if err := next(); err != nil {
			return err
		}
		if left == 0 {
			return stop
		}
		return nil
	})
	return func() error {
		var err error
		if skip, left, err = limits(r.f, n.top, n.offset, n.fetch); err != nil || left == 0 {
			return err
		}
		if err := child(); err != stop {
			return err
		}
		return nil
	}
}

// limits evaluates how many rows are skipped and how many follow.
func limits(f *expr.Frame, top, offset, fetch *expr.Expr) (skip, left int64, err error) {
	left = math.MaxInt64
	if top != nil {
		if left, err = count(f, top); err != nil {
			return 0, 0, err
		}
		if left < 0 {
			return 0, 0, sqlerr.New(127, 15, 1, "The number of rows given to TOP or FETCH must not be negative.")
		}
	}
	if offset != nil {
		if skip, err = count(f, offset); err != nil {
			return 0, 0, err
		}
		if skip < 0 {
			return 0, 0, sqlerr.New(10742, 15, 1, "The offset given to OFFSET must not be negative.")
		}
	}
	if fetch != nil {
		if left, err = count(f, fetch); err != nil {
			return 0, 0, err
		}
		if left <= 0 {
			return 0, 0, sqlerr.New(10744, 15, 1, "The number of rows given to FETCH must be greater than zero.")
		}
	}
	return skip, left, nil
}

func count(f *expr.Frame, x *expr.Expr) (int64, error) {
	v, err := x.Eval(f)
	if err != nil {
		return 0, err
	}
	if v.IsNull() {
		return 0, sqlerr.New(1014, 15, 1, "A TOP or FETCH clause has a value that is not valid.")
	}
	return v.Int(), nil
}

// sortRows sorts rows, and applies TOP and OFFSET to them.
type sortRows struct {
	child              node
	keys               []sortKey
	regs               []int
	top, offset, fetch *expr.Expr
	percent, ties      bool
}

func (n *sortRows) bind(r *run, next step) step {
	in := &sortInstance{sortRows: n, r: r, next: next, width: len(n.keys) + len(n.regs)}
	in.child = n.child.bind(r, in.add)
	return in.run
}

type sortInstance struct {
	*sortRows
	r     *run
	next  step
	child step
	width int
	vals  []types.Value
	rows  []int32
	n     int
	keep  int // rows worth keeping; the others are cut off now and then
}

func (in *sortInstance) add() error {
	if in.keep > 0 && len(in.rows) >= 2*in.keep+1024 {
		in.cut()
	}
	f := in.r.f
	at := len(in.vals)
	if len(in.vals)+in.width > cap(in.vals) {
		in.vals = slices.Grow(in.vals, in.width)
	}
	in.vals = in.vals[:at+in.width]
	row := in.vals[at:]
	for i := range in.keys {
		v, err := in.keys[i].ex.Eval(f)
		if err != nil {
			return err
		}
		row[i] = v
	}
	save(f, in.regs, row[len(in.keys):])
	in.rows = append(in.rows, int32(in.n))
	in.n++
	return in.r.tick()
}

func (in *sortInstance) row(i int32) []types.Value {
	return in.vals[int(i)*in.width : (int(i)+1)*in.width]
}

func (in *sortInstance) compare(a, b int32) int {
	x, y := in.row(a), in.row(b)
	for i := range in.keys {
		k := &in.keys[i]
		if c := order(x[i], y[i], k.ex.Type.Coll); c != 0 {
			if k.desc {
				return -c
			}
			return c
		}
	}
	return 0
}

// cut sorts the rows so far and drops those that TOP will not show.
func (in *sortInstance) cut() {
	slices.SortStableFunc(in.rows, in.compare)
	kept := make([]types.Value, 0, in.width*(2*in.keep+1025))
	for _, i := range in.rows[:in.keep] {
		kept = append(kept, in.row(i)...)
	}
	in.vals, in.rows, in.n = kept, in.rows[:in.keep], in.keep
	for i := range in.rows {
		in.rows[i] = int32(i)
	}
}

func (in *sortInstance) run() error {
	f := in.r.f
	top := in.top
	if in.percent {
		top = nil
	}
	skip, left, err := limits(f, top, in.offset, in.fetch)
	if err != nil {
		return err
	}
	in.keep = 0
	if !in.ties && left < math.MaxInt32/4 && skip < math.MaxInt32/4 {
		in.keep = int(skip + left)
	}
	if cap(in.vals) > maxKept {
		in.vals = nil
	}
	in.vals, in.rows, in.n = in.vals[:0], in.rows[:0], 0
	if left == 0 {
		return nil
	}
	if err := in.child(); err != nil {
		return err
	}
	slices.SortStableFunc(in.rows, in.compare)
	if in.percent {
		v, err := in.top.Eval(f)
		if err != nil {
			return err
		}
		if v.IsNull() || v.Float() < 0 || v.Float() > 100 {
			return sqlerr.New(1031, 15, 1, "Percent values must be between 0 and 100.")
		}
		left = int64(math.Ceil(float64(len(in.rows)) * v.Float() / 100))
	}
	for i := int(min(skip, int64(len(in.rows)))); i < len(in.rows); i++ {
		if left <= 0 && !(in.ties && i > 0 && in.compare(in.rows[i-1], in.rows[i]) == 0) {
			break
		}
		left--
		load(f, in.regs, in.row(in.rows[i])[len(in.keys):])
		if err := in.next(); err != nil {
			return err
		}
	}
	return nil
}
