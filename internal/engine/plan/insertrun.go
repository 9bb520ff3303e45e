package plan

import (
	"sync"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// insertPlan is a compiled INSERT.
type insertPlan struct {
	in     *inserter
	rows   [][]expr.Expr // of VALUES, or the columns of SELECT
	convs  [][]colConv   // of rows, or one of a query's columns
	root   node          // SELECT
	exec   Rows          // EXEC
	values bool
	// apart: the target is a table variable that is read too. Its rows are
	// found first: outside a transaction new ones would be seen.
	apart bool
	top   *expr.Expr
	pool  sync.Pool
}

// insertSource compiles where the rows come from and returns how many values
// each has.
func (b *block) insertSource(p *insertPlan, src ast.InsertSource, tg *target, cols []int, listed bool) (int, error) {
	switch src := src.(type) {
	case *ast.ValuesInsertSource:
		if src.IsDefaultValues {
			in, err := b.newInserter(tg, nil, true, 0)
			p.in, p.values, p.rows = in, true, [][]expr.Expr{{}}
			return 0, err
		}
		return b.insertValues(p, src, tg, cols, listed)
	case *ast.SelectInsertSource:
		q, err := b.c.newBlock(b.st, nil).query(src.Select, queryUse{})
		if err != nil {
			return 0, err
		}
		if p.root, err = q.root(); err != nil {
			return 0, err
		}
		for i := range q.cols {
			if q.cols[i].null { // NULL itself goes into a column of any type
				q.out[i] = expr.Constant(types.Null, nullValue)
			}
		}
		p.rows = [][]expr.Expr{q.out}
		return len(q.out), nil
	case *ast.ExecuteInsertSource:
		if b.c.Exec == nil {
			return 0, sqlerr.Unsupported("INSERT ... EXEC")
		}
		rows, err := b.c.Exec(src.Execute)
		p.exec = rows
		return len(cols), err
	}
	return 0, sqlerr.Unsupported(refName(src))
}

func (b *block) insertValues(p *insertPlan, src *ast.ValuesInsertSource, tg *target, cols []int, listed bool) (int, error) {
	p.values = true
	n := len(src.RowValues[0].ColumnValues)
	in, err := b.newInserter(tg, cols, listed, n)
	if err != nil {
		return 0, err
	}
	p.in = in
	for _, rv := range src.RowValues {
		if len(rv.ColumnValues) != n {
			return 0, sqlerr.New(10709, 16, 1, "Each row of a table value constructor must have the same number of columns.").At(tsql.Line(rv))
		}
		row := make([]expr.Expr, n)
		for i, e := range rv.ColumnValues {
			if _, ok := e.(*ast.DefaultLiteral); ok {
				if i < len(in.cols) {
					d, err := b.defaultFor(tg, in.cols[i])
					if err != nil {
						return 0, err
					}
					// It is of the column's type already, or is brought to it here.
					row[i] = expr.Expr{Type: tg.t.Columns[in.cols[i]].Type, Nullable: true, Eval: d.eval}
				}
				continue
			}
			x, _, err := b.scalar(e)
			if err != nil {
				return 0, sqlerr.AtLine(err, tsql.Line(e))
			}
			row[i] = x
		}
		p.rows = append(p.rows, row)
	}
	return n, nil
}

// bindValues matches the values of each row to columns. Errors: 109, 110, 120,
// 121, 213.
func (p *insertPlan) bindValues(n int, listed bool) error {
	in := p.in
	if p.exec != nil {
		return nil
	}
	if n != len(in.cols) {
		switch {
		case !listed:
			return sqlerr.ColumnCount()
		case p.values:
			return sqlerr.MoreColumns(n < len(in.cols))
		case n < len(in.cols):
			return sqlerr.New(120, 15, 1, "The select list of the INSERT statement has fewer items than the insert list. The numbers must be equal.")
		}
		return sqlerr.New(121, 15, 1, "The select list of the INSERT statement has more items than the insert list. The numbers must be equal.")
	}
	for _, row := range p.rows {
		convs := make([]colConv, n)
		for i, x := range row {
			c, err := in.convert(x, in.cols[i])
			if err != nil {
				return err
			}
			convs[i] = c
		}
		p.convs = append(p.convs, convs)
	}
	return nil
}

// insertInstance is the state of one run.
type insertInstance struct {
	run
	p     *insertPlan
	start step
	n     int64
	left  int64
	stop  error
	undo  []storage.RowID
	late  []lateKey
	rows  []types.Value // of OUTPUT
	kept  []types.Value // the values of the rows, when they are found first
}

func (p *insertPlan) instance() *insertInstance {
	if in, _ := p.pool.Get().(*insertInstance); in != nil {
		return in
	}
	in := &insertInstance{p: p, stop: newStop()}
	if p.root != nil {
		in.start = p.root.bind(&in.run, func() error { return in.row(p.convs[0]) })
		if p.apart {
			in.start = p.root.bind(&in.run, in.keep)
		}
	}
	return in
}

func (p *insertPlan) run(f *expr.Frame, emit func(row []types.Value) error) (int64, error) {
	if err := cancelled(f); err != nil {
		return 0, err
	}
	if err := p.in.identityInsert(f); err != nil {
		return 0, err
	}
	if err := p.in.out.begin(f); err != nil {
		return 0, err
	}
	in := p.instance()
	in.f, in.n, in.left = f, 0, -1
	in.gen++
	in.undo, in.late, in.rows = in.undo[:0], in.late[:0], in.rows[:0]
	err := in.all()
	if err == nil {
		err = p.in.checkLate(f, in.late, "INSERT")
	}
	if err != nil {
		for _, id := range in.undo {
			// A table variable is not part of the transaction, but a statement
			// is done whole or not at all.
			_ = p.in.data(f).Delete(f.Tx, id)
		}
	} else {
		err = p.in.out.flush(in.rows, emit)
	}
	n := in.n
	in.f = nil
	p.pool.Put(in)
	return n, err
}

func (in *insertInstance) all() error {
	p := in.p
	if p.top != nil {
		_, left, err := limits(in.f, p.top, nil, nil)
		if err != nil || left == 0 {
			return err
		}
		in.left = left
	}
	in.left = limited(in.f, in.left)
	var err error
	switch {
	case p.root != nil:
		in.kept = in.kept[:0]
		if err = in.start(); err == nil && p.apart {
			err = in.putKept()
		}
	case p.exec != nil:
		err = p.exec(in.f, in.execRow)
	default:
		for _, c := range p.convs {
			if err = in.row(c); err != nil {
				break
			}
		}
	}
	if err == in.stop {
		return nil
	}
	return err
}

// row inserts the row of the values that convs evaluate.
func (in *insertInstance) row(convs []colConv) error {
	f := in.f
	row := in.p.in.row(f)
	for i := range convs {
		c := &convs[i]
		v, err := c.eval(f)
		if err != nil {
			return err
		}
		row[c.ord] = v
	}
	return in.put(row)
}

// keep evaluates the values of a row that is inserted later.
func (in *insertInstance) keep() error {
	for i := range in.p.convs[0] {
		v, err := in.p.convs[0][i].eval(in.f)
		if err != nil {
			return err
		}
		in.kept = append(in.kept, v)
	}
	return in.tick()
}

func (in *insertInstance) putKept() error {
	convs := in.p.convs[0]
	row := in.p.in.row(in.f)
	for at := 0; at < len(in.kept); at += len(convs) {
		for i := range convs {
			row[convs[i].ord] = in.kept[at+i]
		}
		if err := in.put(row); err != nil {
			return err
		}
	}
	return nil
}

// execRow inserts a row that a procedure returned.
func (in *insertInstance) execRow(vals []types.Value) error {
	p := in.p.in
	if len(vals) != len(p.cols) {
		return sqlerr.ColumnCount()
	}
	row := p.row(in.f)
	for i, ord := range p.cols {
		c := &p.t.Columns[ord]
		v, err := types.AssignColumn(vals[i], c.Type, p.fullName(), c.Name)
		if err != nil {
			return err
		}
		row[ord] = v
	}
	return in.put(row)
}

func (in *insertInstance) put(row []types.Value) error {
	if in.left == 0 {
		return in.stop
	}
	in.left--
	p := in.p.in
	if err := p.put(in.f, row, &in.undo, &in.late); err != nil {
		return err
	}
	in.n++
	return p.out.take(in.f, &in.rows)
}
