package plan

import (
	"errors"
	"sync"
	"sync/atomic"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/types"
)

// runner runs a query with pooled instances of its operators.
type runner struct {
	root    node
	out     []evalFunc
	assigns []assignment
	pool    sync.Pool
	// slot is where a subquery keeps the number of the statement's execution:
	// what does not depend on the row around it is found once for all its runs.
	slot   int
	number func() (types.Value, error)
	count  atomic.Int64
}

func newRunner(root node, out []expr.Expr, assigns []assignment) *runner {
	return &runner{root: root, out: evals(out), assigns: assigns, slot: -1}
}

// within makes the runner that of a subquery.
func (q *runner) within(m *expr.Module) *runner {
	q.slot = m.NewOnce()
	q.number = func() (types.Value, error) { return types.NewInt(types.KindBigInt, q.count.Add(1)), nil }
	return q
}

// instance is the state of one run.
type instance struct {
	run
	*runner
	start step
	emit  func(row []types.Value) error
	row   []types.Value
	rows  int64
}

func (q *runner) instance() *instance {
	if in, _ := q.pool.Get().(*instance); in != nil {
		return in
	}
	in := &instance{runner: q, row: make([]types.Value, len(q.out))}
	if q.assigns != nil {
		in.start = q.root.bind(&in.run, in.assign)
	} else {
		in.start = q.root.bind(&in.run, in.output)
	}
	return in
}

func (q *runner) run(f *expr.Frame, emit func(row []types.Value) error) (int64, error) {
	if err := cancelled(f); err != nil {
		return 0, err
	}
	in := q.instance()
	in.f, in.emit, in.rows = f, emit, 0
	if q.slot >= 0 {
		n, err := f.OnceValue(q.slot, q.number)
		if err != nil {
			return 0, err
		}
		in.gen = uint64(n.Int())
	} else {
		in.gen++
	}
	err := in.start()
	rows := in.rows
	in.f, in.emit = nil, nil
	q.pool.Put(in)
	return rows, err
}

// locking runs a query that locks the rows it reads. When another transaction
// changed one of them in the meantime it starts again, over the rows as they
// are then, so rows are emitted only when all are locked.
func (q *runner) locking(f *expr.Frame, emit func(row []types.Value) error) (int64, error) {
	vars := append([]types.Value(nil), f.Vars...)
	var rows []types.Value
	for {
		rows = rows[:0]
		n, err := q.run(f, func(row []types.Value) error {
			rows = append(rows, row...)
			return nil
		})
		if errors.Is(err, storage.ErrChanged) && f.Tx != nil {
			copy(f.Vars, vars)
			f.Tx.StatementBegin()
			continue
		}
		if err != nil || len(q.out) == 0 {
			return n, err
		}
		w := len(q.out)
		for at := 0; at < len(rows); at += w {
			if err := emit(rows[at : at+w]); err != nil {
				return n, err
			}
		}
		return n, nil
	}
}

func (in *instance) output() error {
	if err := evalInto(in.f, in.out, in.row); err != nil {
		return err
	}
	in.rows++
	return in.emit(in.row)
}

func (in *instance) assign() error {
	for i := range in.assigns {
		a := &in.assigns[i]
		v, err := a.ex.Eval(in.f)
		if err != nil {
			return err
		}
		in.f.Vars[a.slot] = v
	}
	in.rows++
	return nil
}
