package plan

import (
	"slices"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/types"
)

// changeInstance is the state of one run: the rows that were found, each with
// its id, the values of SET and the registers that OUTPUT reads.
type changeInstance struct {
	run
	p     *changePlan
	start step
	width int
	found rowTable
	vals  []types.Value
	stop  error
	limit int64
	row   []types.Value
	rows  []types.Value // of OUTPUT
	undo  []undoRow
	late  []lateKey
	olds  []types.Value // the rows, when they leave the table before the new ones come
}

// undoRow takes back the change of one row of a table variable.
type undoRow struct {
	id  storage.RowID // the new row, 0 = none
	old []types.Value // nil = none
}

func (p *changePlan) instance() *changeInstance {
	if in, _ := p.pool.Get().(*changeInstance); in != nil {
		return in
	}
	in := &changeInstance{p: p, stop: newStop()}
	in.width = 1 + len(p.sets)
	if p.out != nil {
		in.width += len(p.out.regs)
	}
	in.found = rowTable{width: 1, keys: 1}
	in.row = make([]types.Value, in.width)
	in.start = p.root.bind(&in.run, in.find)
	return in
}

func (p *changePlan) run(f *expr.Frame, emit func(row []types.Value) error) (int64, error) {
	if err := cancelled(f); err != nil {
		return 0, err
	}
	if err := p.out.begin(f); err != nil {
		return 0, err
	}
	in := p.instance()
	in.f = f
	in.gen++
	n, err := in.all()
	if err == nil {
		err = p.out.flush(in.rows, emit)
	} else if p.tg.slot >= 0 {
		in.takeBack()
	}
	in.f = nil
	p.pool.Put(in)
	return n, err
}

func (in *changeInstance) all() (int64, error) {
	p, f := in.p, in.f
	in.found.reset()
	if cap(in.vals) > maxKept {
		in.vals, in.rows = nil, nil
	}
	in.vals, in.rows, in.undo, in.late, in.olds = in.vals[:0], in.rows[:0], in.undo[:0], in.late[:0], in.olds[:0]
	in.limit = -1
	if p.top != nil && !p.pct {
		_, left, err := limits(f, p.top, nil, nil)
		if err != nil || left == 0 {
			return 0, err
		}
		in.limit = left
	}
	in.limit = limited(f, in.limit)
	if err := in.start(); err != nil && err != in.stop {
		return 0, err
	}
	n := in.found.n
	if p.pct {
		v, err := p.top.Eval(f)
		if err != nil {
			return 0, err
		}
		if v.IsNull() || v.Float() < 0 || v.Float() > 100 {
			return 0, sqlerr.New(1031, 15, 1, "Percent values must be between 0 and 100.")
		}
		n = int((float64(n)*v.Float() + 99.999999) / 100)
	}
	return int64(n), in.apply(n)
}

// find keeps the row in the registers, unless it is kept already.
func (in *changeInstance) find() error {
	p, f := in.p, in.f
	if int64(in.found.n) == in.limit {
		return in.stop
	}
	in.row[0] = f.Regs[p.leaf.rid]
	if in.row[0].IsNull() {
		return nil // the outer join found no row of the target
	}
	h := uint64(in.row[0].Int()) * 0x9E3779B97F4A7C15
	h ^= h >> 29
	if in.found.first(h, in.row[:1]) >= 0 {
		return nil
	}
	for i := range p.sets {
		s := &p.sets[i]
		v, err := s.eval(f)
		if err != nil {
			return err
		}
		in.row[1+i] = v
		if s.slot >= 0 {
			if s.ord >= 0 {
				if v, err = types.Assign(v, s.varConv); err != nil {
					return err
				}
			}
			f.Vars[s.slot] = v
		}
	}
	if p.out != nil {
		save(f, p.out.regs, in.row[1+len(p.sets):])
	}
	in.found.add(h, in.row[:1])
	in.vals = append(in.vals, in.row...)
	return nil
}

// apply changes the first n rows that were found.
func (in *changeInstance) apply(n int) error {
	p, f := in.p, in.f
	data := p.tg.data(f)
	w := len(p.tg.t.Columns)
	if p.unique && n > 1 {
		in.olds = slices.Grow(in.olds, n*w)
		for i := range n {
			id := storage.RowID(in.vals[i*in.width].Int())
			in.olds = in.olds[:(i+1)*w]
			data.Read(id, nil, in.olds[i*w:])
			if err := data.Delete(f.Tx, id); err != nil {
				in.olds = in.olds[:i*w]
				return err
			}
		}
	}
	for i := range n {
		row := in.vals[i*in.width : (i+1)*in.width]
		var old []types.Value
		if len(in.olds) > 0 {
			old = in.olds[i*w : (i+1)*w]
		}
		if err := in.changeRow(row, data, old); err != nil {
			return err
		}
		if err := in.tick(); err != nil {
			return err
		}
	}
	return p.tg.checkLate(f, in.late, p.tg.action)
}

// changeRow changes one row; gone is the old one when it is out of the table already.
func (in *changeInstance) changeRow(row []types.Value, data *storage.Table, gone []types.Value) error {
	p, f := in.p, in.f
	tg := p.tg
	id := storage.RowID(row[0].Int())
	old := tg.oldRow(f)
	local := tg.slot >= 0
	if gone != nil {
		copy(old, gone)
	} else if !p.delete || p.out != nil || len(tg.children) > 0 || local {
		data.Read(id, nil, old)
	}
	if p.delete {
		if err := tg.checkChildren(f, old, nil, "DELETE", &in.late); err != nil {
			return err
		}
		if err := data.Delete(f.Tx, id); err != nil {
			return err
		}
		if err := tg.settleChildren(f, old, nil, "DELETE"); err != nil {
			return err
		}
		if local {
			in.undo = append(in.undo, undoRow{old: append([]types.Value(nil), old...)})
		}
	} else if err := in.update(row, data, id, old, gone != nil); err != nil {
		return err
	}
	if p.out != nil {
		load(f, p.out.regs, row[1+len(p.sets):])
		return p.out.take(f, &in.rows)
	}
	return nil
}

func (in *changeInstance) update(row []types.Value, data *storage.Table, id storage.RowID, old []types.Value, apart bool) error {
	p, f := in.p, in.f
	tg := p.tg
	fresh := tg.row(f)
	copy(fresh, old)
	for i := range p.sets {
		if ord := p.sets[i].ord; ord >= 0 {
			fresh[ord] = row[1+i]
		}
	}
	if err := tg.finish(f, "UPDATE"); err != nil {
		return err
	}
	if len(tg.parents) > 0 {
		if err := tg.checkParents(f, fresh, p.changed, "UPDATE", &in.late); err != nil {
			return err
		}
	}
	if len(tg.children) > 0 {
		if err := tg.checkChildren(f, old, fresh, "UPDATE", &in.late); err != nil {
			return err
		}
	}
	if tg.slot < 0 && !apart {
		if err := data.Update(f.Tx, id, fresh); err != nil {
			return tg.duplicate(err, fresh)
		}
		return tg.settle(f, old, fresh, p.changed, "UPDATE")
	}
	if !apart {
		if err := data.Delete(f.Tx, id); err != nil {
			return err
		}
	}
	u := undoRow{}
	if tg.slot >= 0 {
		u.old = append([]types.Value(nil), old...)
	}
	var err error
	u.id, err = data.Insert(f.Tx, fresh)
	if tg.slot >= 0 {
		in.undo = append(in.undo, u)
	}
	return tg.duplicate(err, fresh)
}

// takeBack undoes what was done to a table variable: it is not part of the
// transaction, but a statement is done whole or not at all.
func (in *changeInstance) takeBack() {
	data := in.p.tg.data(in.f)
	for _, u := range in.undo {
		if u.id != 0 {
			_ = data.Delete(in.f.Tx, u.id)
		}
	}
	for _, u := range in.undo {
		if u.old != nil {
			_, _ = data.Insert(in.f.Tx, u.old)
		}
	}
	// Rows that were taken out and not yet put back.
	w := len(in.p.tg.t.Columns)
	for at := len(in.undo) * w; at < len(in.olds); at += w {
		_, _ = data.Insert(in.f.Tx, in.olds[at:at+w])
	}
}

// limited is a number of rows, -1 = all, within SET ROWCOUNT.
func limited(f *expr.Frame, n int64) int64 {
	if f.RowLimit > 0 && (n < 0 || n > f.RowLimit) {
		return f.RowLimit
	}
	return n
}
