package plan

import (
	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/types"
)

// mergeInstance is the state of one run.
type mergeInstance struct {
	run
	p     *mergePlan
	start step
	conds [][]func() (expr.Tri, error)
	seen  rowTable
	acts  []mergeAct
	vals  []types.Value
	rows  []types.Value // of OUTPUT
	late  []lateKey
	left  int64
	stop  error
	undo  []undoRow
}

// mergeAct is what is to be done for one joined row.
type mergeAct struct {
	when *whenClause
	id   storage.RowID
	at   int // in vals: the values, then the registers of OUTPUT
}

func (p *mergePlan) instance() *mergeInstance {
	if in, _ := p.pool.Get().(*mergeInstance); in != nil {
		return in
	}
	in := &mergeInstance{p: p, stop: newStop(), seen: rowTable{width: 1, keys: 1}}
	for _, w := range p.when {
		in.conds = append(in.conds, bindConds(&in.run, w.conds))
	}
	in.start = p.root.bind(&in.run, in.find)
	return in
}

func (p *mergePlan) run(f *expr.Frame, emit func(row []types.Value) error) (int64, error) {
	if err := cancelled(f); err != nil {
		return 0, err
	}
	for _, w := range p.when {
		if w.in != nil {
			if err := w.in.identityInsert(f); err != nil {
				return 0, err
			}
		}
	}
	if err := p.out.begin(f); err != nil {
		return 0, err
	}
	in := p.instance()
	in.f = f
	in.gen++
	err := in.all()
	n := int64(len(in.acts))
	if err == nil {
		err = p.out.flush(in.rows, emit)
	} else if p.tg.slot >= 0 {
		in.takeBack()
	}
	in.f = nil
	p.pool.Put(in)
	return n, err
}

func (in *mergeInstance) all() error {
	in.seen.reset()
	in.acts, in.vals, in.rows, in.late, in.undo = in.acts[:0], in.vals[:0], in.rows[:0], in.late[:0], in.undo[:0]
	in.left = -1
	if in.p.top != nil {
		_, left, err := limits(in.f, in.p.top, nil, nil)
		if err != nil || left == 0 {
			return err
		}
		in.left = left
	}
	in.left = limited(in.f, in.left)
	if err := in.start(); err != nil && err != in.stop {
		return err
	}
	for _, do := range []func(w *whenClause) bool{
		func(w *whenClause) bool { return w.delete },
		func(w *whenClause) bool { return !w.delete && w.in == nil },
		func(w *whenClause) bool { return w.in != nil },
	} {
		for i := range in.acts {
			if a := &in.acts[i]; do(a.when) {
				if err := in.act(a); err != nil {
					return err
				}
				if err := in.tick(); err != nil {
					return err
				}
			}
		}
	}
	return in.p.tg.checkLate(in.f, in.late, "MERGE")
}

// find decides which clause takes the joined row in the registers.
func (in *mergeInstance) find() error {
	p, f := in.p, in.f
	if in.left == 0 {
		return in.stop
	}
	rid := f.Regs[p.leaf.rid]
	kind := whenMatched
	switch {
	case rid.IsNull():
		kind = whenNotMatched
	case p.source >= 0 && f.Regs[p.source].IsNull():
		kind = whenNotMatchedBySource
	}
	for i, w := range p.when {
		if w.kind != kind {
			continue
		}
		ok, err := holds(in.conds[i])
		if err != nil {
			return err
		}
		if ok {
			return in.keep(w, rid)
		}
	}
	return nil
}

func (in *mergeInstance) keep(w *whenClause, rid types.Value) error {
	f := in.f
	a := mergeAct{when: w, at: len(in.vals)}
	if w.in == nil {
		a.id = storage.RowID(rid.Int())
		key := [1]types.Value{rid}
		h := hashRow(key[:])
		if in.seen.first(h, key[:]) >= 0 {
			return sqlerr.New(8672, 16, 1, "The MERGE statement tried to UPDATE or DELETE the same row more than once: a target row matches more than one source row. Refine the ON clause, or group the source rows.")
		}
		in.seen.add(h, key[:])
		for i := range w.sets {
			s := &w.sets[i]
			v, err := s.eval(f)
			if err != nil {
				return err
			}
			in.vals = append(in.vals, v)
			if s.slot >= 0 {
				if s.ord >= 0 {
					if v, err = types.Assign(v, s.varConv); err != nil {
						return err
					}
				}
				f.Vars[s.slot] = v
			}
		}
	} else {
		for i := range w.in.given {
			v, err := w.in.given[i].eval(f)
			if err != nil {
				return err
			}
			in.vals = append(in.vals, v)
		}
	}
	if in.p.out != nil {
		for _, r := range in.p.out.regs {
			in.vals = append(in.vals, f.Regs[r])
		}
	}
	in.acts = append(in.acts, a)
	in.left--
	return nil
}

// act does what a clause says.
func (in *mergeInstance) act(a *mergeAct) error {
	p, f := in.p, in.f
	tg, w := p.tg, a.when
	vals := in.vals[a.at:]
	data := tg.data(f)
	fresh, old := tg.row(f), tg.oldRow(f)
	name := "INSERT"
	switch {
	case w.in != nil:
		clear(old)
		for i := range w.in.given {
			fresh[w.in.given[i].ord] = vals[i]
		}
		var ids []storage.RowID
		if err := w.in.put(f, fresh, &ids, &in.late); err != nil {
			return err
		}
		for _, id := range ids {
			in.undo = append(in.undo, undoRow{id: id})
		}
	case w.delete:
		name = "DELETE"
		clear(fresh)
		data.Read(a.id, nil, old)
		if err := tg.checkChildren(f, old, nil, "MERGE", &in.late); err != nil {
			return err
		}
		if err := data.Delete(f.Tx, a.id); err != nil {
			return err
		}
		if err := tg.settleChildren(f, old, nil, "MERGE"); err != nil {
			return err
		}
		if tg.slot >= 0 {
			in.undo = append(in.undo, undoRow{old: append([]types.Value(nil), old...)})
		}
	default:
		name = "UPDATE"
		if err := in.update(a, vals, data); err != nil {
			return err
		}
	}
	if p.out == nil {
		return nil
	}
	load(f, p.out.regs, vals[w.values():])
	f.Regs[p.action] = types.NewString(types.KindNVarChar, name)
	return p.out.take(f, &in.rows)
}

func (in *mergeInstance) update(a *mergeAct, vals []types.Value, data *storage.Table) error {
	f, tg, w := in.f, in.p.tg, a.when
	fresh, old := tg.row(f), tg.oldRow(f)
	data.Read(a.id, nil, old)
	copy(fresh, old)
	for i := range w.sets {
		if ord := w.sets[i].ord; ord >= 0 {
			fresh[ord] = vals[i]
		}
	}
	if err := tg.finish(f, "UPDATE"); err != nil {
		return err
	}
	if err := tg.checkParents(f, fresh, w.changed, "MERGE", &in.late); err != nil {
		return err
	}
	if err := tg.checkChildren(f, old, fresh, "MERGE", &in.late); err != nil {
		return err
	}
	if tg.slot < 0 {
		if err := data.Update(f.Tx, a.id, fresh); err != nil {
			return tg.duplicate(err, fresh)
		}
		return tg.settle(f, old, fresh, w.changed, "MERGE")
	}
	if err := data.Delete(f.Tx, a.id); err != nil {
		return err
	}
	u := undoRow{old: append([]types.Value(nil), old...)}
	var err error
	u.id, err = data.Insert(f.Tx, fresh)
	in.undo = append(in.undo, u)
	return tg.duplicate(err, fresh)
}

// takeBack undoes what was done to a table variable.
func (in *mergeInstance) takeBack() {
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
}
