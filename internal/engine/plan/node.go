package plan

import (
	"gostress/internal/engine/expr"
	"gostress/internal/engine/types"
)

// step is one piece of an instance: it does its operator's work for the row
// that stands in the registers.
type step func() error

// node is an operator of a plan. It is immutable; what it needs at run time is
// in the instance that bind makes.
type node interface {
	// bind makes an instance that calls next for each of its rows. The step it
	// returns runs the operator once; it may be called again afterwards, never
	// within itself.
	bind(r *run, next step) step
}

// run is the state that the operators of one instance share.
type run struct {
	f         *expr.Frame
	gen       uint64 // counts the runs of the instance: once-a-run results carry it
	ticks     uint32
	recursion map[*recursiveRows]*recursion // by operator, for its working table
}

// checkEvery is the number of rows between two looks at the context.
const checkEvery = 256

// tick counts a row and now and then looks whether the run was cancelled.
func (r *run) tick() error {
	if r.ticks++; r.ticks%checkEvery != 0 {
		return nil
	}
	return cancelled(r.f)
}

func cancelled(f *expr.Frame) error {
	if f.Ctx == nil {
		return nil
	}
	return f.Ctx.Err()
}

// cond is a condition of an operator.
type cond interface {
	bind(r *run) func() (expr.Tri, error)
}

// predCond is a condition that needs no state.
type predCond expr.Pred

func (p predCond) bind(r *run) func() (expr.Tri, error) {
	return func() (expr.Tri, error) { return p(r.f) }
}

func bindConds(r *run, conds []cond) []func() (expr.Tri, error) {
	if len(conds) == 0 {
		return nil
	}
	l := make([]func() (expr.Tri, error), len(conds))
	for i, c := range conds {
		l[i] = c.bind(r)
	}
	return l
}

// holds reports whether all conditions are true.
func holds(conds []func() (expr.Tri, error)) (bool, error) {
	for _, c := range conds {
		if t, err := c(); err != nil || t != expr.True {
			return false, err
		}
	}
	return true, nil
}

// filter lets through the rows for which its conditions are true.
type filter struct {
	child node
	conds []cond
}

func (n *filter) bind(r *run, next step) step {
	conds := bindConds(r, n.conds)
	return n.child.bind(r, func() error {
		if ok, err := holds(conds); !ok || err != nil {
			return err
		}
		return next()
	})
}

// project evaluates expressions into registers.
type project struct {
	child node
	exprs []evalFunc
	regs  []int
}

func (n *project) bind(r *run, next step) step {
	return n.child.bind(r, func() error {
		for i := range n.exprs {
			v, err := n.exprs[i](r.f)
			if err != nil {
				return err
			}
			r.f.Regs[n.regs[i]] = v
		}
		return next()
	})
}

// single is the source of a SELECT without FROM: one row of no columns.
type single struct{}

func (single) bind(_ *run, next step) step { return next }

// nothing has no rows: the source of a query whose condition is false at
// compile time.
type nothing struct{}

func (nothing) bind(*run, step) step { return func() error { return nil } }

// evalFunc is what is left of an expression when a plan runs.
type evalFunc func(f *expr.Frame) (types.Value, error)

func evals(exprs []expr.Expr) []evalFunc {
	l := make([]evalFunc, len(exprs))
	for i := range exprs {
		l[i] = exprs[i].Eval
	}
	return l
}

// evalInto evaluates expressions in order into row.
func evalInto(f *expr.Frame, exprs []evalFunc, row []types.Value) error {
	for i, eval := range exprs {
		v, err := eval(f)
		if err != nil {
			return err
		}
		row[i] = v
	}
	return nil
}

// save copies registers into row, load copies them back.
func save(f *expr.Frame, regs []int, row []types.Value) {
	for i, r := range regs {
		row[i] = f.Regs[r]
	}
}

func load(f *expr.Frame, regs []int, row []types.Value) {
	for i, r := range regs {
		f.Regs[r] = row[i]
	}
}
