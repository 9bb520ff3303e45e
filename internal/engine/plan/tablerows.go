package plan

import (
	"gostress/internal/engine/expr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/types"
)

// tableRows is the operator that finds the rows of a table or table variable.
type tableRows struct {
	leaf  *leaf
	data  *storage.Table // nil for a table variable
	acc   *access
	conds []cond
	lock  bool
	cols  []int // those that are used; filled in when the statement is compiled
	dense bool  // cols are one run: they are read straight into the registers
}

func (b *block) tableRows(l *leaf, a *access, conds []*conjunct) *tableRows {
	n := &tableRows{leaf: l, data: l.table.Data, acc: a, lock: l.hints.lock}
	if l.slot >= 0 {
		n.data = nil
	}
next:
	for _, c := range conds {
		for _, x := range a.exact {
			if x == c {
				continue next
			}
		}
		n.conds = append(n.conds, c.cond)
	}
	b.st.finish = append(b.st.finish, func() {
		for i := range l.cols {
			if l.cols[i].used {
				n.cols = append(n.cols, i)
			}
		}
		n.dense = len(n.cols) > 0 && n.cols[len(n.cols)-1]-n.cols[0] == len(n.cols)-1
	})
	return n
}

func (n *tableRows) bind(r *run, next step) step {
	in := &tableInstance{tableRows: n, r: r, next: next, conds: bindConds(r, n.conds), vals: make([]types.Value, len(n.cols))}
	in.fn = in.row
	in.key = make([]types.Value, len(n.acc.keys), len(n.acc.keys)+1)
	in.loKey = make([]types.Value, len(n.acc.keys)+1)
	in.hiKey = make([]types.Value, len(n.acc.keys)+1)
	return in.run
}

type tableInstance struct {
	*tableRows
	r     *run
	next  step
	conds []func() (expr.Tri, error)
	fn    func(id storage.RowID) (bool, error)
	vals  []types.Value
	key   []types.Value
	loKey []types.Value
	hiKey []types.Value
	t     *storage.Table
}

func (in *tableInstance) run() error {
	f := in.r.f
	in.t = in.data
	if in.t == nil {
		in.t = f.Tables[in.leaf.slot]
	}
	a := in.acc
	if a.index < 0 {
		return in.t.Scan(f.Tx, in.fn)
	}
	if a.list != nil {
		return in.seekList()
	}
	for i := range a.keys {
		v, found, _, err := a.keys[i].eval(f)
		if err != nil || !found {
			return err
		}
		in.key[i] = v
	}
	if a.lo == nil && a.hi == nil && !a.walk && !a.reverse {
		return in.t.Seek(f.Tx, a.index, in.key, in.fn)
	}
	lo, ok, err := in.bound(a.lo, a.loIn, in.loKey)
	if err != nil || !ok {
		return err
	}
	hi, ok, err := in.bound(a.hi, a.hiIn, in.hiKey)
	if err != nil || !ok {
		return err
	}
	return in.t.Range(f.Tx, a.index, lo, hi, a.reverse, in.fn)
}

// bound makes one end of a range; ok is false when the range is empty.
func (in *tableInstance) bound(k *keyExpr, included bool, key []types.Value) (b storage.Bound, ok bool, err error) {
	n := copy(key, in.key)
	if k != nil {
		v, found, null, err := k.eval(in.r.f)
		if err != nil || null {
			return b, false, err
		}
		if found {
			key[n] = v
			return storage.Bound{Key: key[:n+1], Included: included}, true, nil
		}
		// The column cannot hold the value, so it bounds no row exactly: the
		// condition itself decides.
	}
	if n == 0 {
		return b, true, nil
	}
	return storage.Bound{Key: key[:n], Included: true}, true, nil
}

func (in *tableInstance) seekList() error {
	f, a := in.r.f, in.acc
	seen := make([]types.Value, 0, len(a.list))
next:
	for i := range a.list {
		v, found, _, err := a.list[i].eval(f)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		for _, s := range seen {
			if types.CompareColl(s, v, a.list[i].to.Coll) == 0 {
				continue next
			}
		}
		seen = append(seen, v)
		in.key = append(in.key[:0], v)
		if err := in.t.Seek(f.Tx, a.index, in.key, in.fn); err != nil {
			return err
		}
	}
	return nil
}

func (in *tableInstance) row(id storage.RowID) (bool, error) {
	if err := in.r.tick(); err != nil {
		return false, err
	}
	regs := in.r.f.Regs[in.leaf.reg:]
	if in.dense {
		in.t.Read(id, in.cols, regs[in.cols[0]:])
	} else if len(in.cols) > 0 {
		in.t.Read(id, in.cols, in.vals)
		for i, c := range in.cols {
			regs[c] = in.vals[i]
		}
	}
	if in.leaf.rid >= 0 {
		in.r.f.Regs[in.leaf.rid] = types.NewInt(types.KindBigInt, int64(id))
	}
	for _, c := range in.conds {
		if t, err := c(); err != nil || t != expr.True {
			return err == nil, err
		}
	}
	if in.lock {
		if err := in.t.Lock(in.r.f.Tx, id); err != nil {
			return false, err
		}
	}
	if err := in.next(); err != nil {
		return false, err
	}
	return true, nil
}
