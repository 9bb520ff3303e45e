package storage

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"gostress/internal/engine/types"
)

// reader is a transaction's view of a table for one read.
func (t *Table) reader(tx *Tx) (*Tx, func()) {
	if tx != nil || t.local != nil {
		return tx, func() {}
	}
	tx = t.store.Begin(ReadCommitted)
	return tx, tx.Rollback
}

// visible reports whether tx reads the row.
func (t *Table) visible(tx *Tx, p unsafe.Pointer) bool {
	if t.local != nil {
		return t.local.visible(tx, p)
	}
	return tx.sees(p)
}

// pass gives a row to fn if tx sees it.
func (t *Table) pass(tx *Tx, no rowNo, p unsafe.Pointer, fn func(id RowID) (bool, error)) (bool, error) {
	if !t.visible(tx, p) {
		return true, nil
	}
	if t.local == nil && tx.iso >= RepeatableRead {
		tx.rows = append(tx.rows, readRow{t: t, row: no})
	}
	return fn(RowID(no))
}

// Scan calls fn with every row that tx sees until fn returns false or an
// error, which Scan returns. fn may change the table; the scan does not see it.
func (t *Table) Scan(tx *Tx, fn func(id RowID) (bool, error)) error {
	tx, done := t.reader(tx)
	defer done()
	defer runtime.KeepAlive(t)
	if t.local != nil {
		return t.scanLocal(tx, fn)
	}
	if tx.iso == Serializable {
		tx.scans = append(tx.scans, readScan{t: t, index: -1})
	}
	var err error
	t.slab.each(func(no rowNo, p unsafe.Pointer) bool {
		var more bool
		more, err = t.pass(tx, no, p, fn)
		return more && err == nil
	})
	return err
}

// Seek calls fn with the rows whose key is equal to key: for a hash index the
// whole key, for an ordered one any prefix of it, in the index's order. The
// key's values should have their columns' types; NULL is equal to NULL.
func (t *Table) Seek(tx *Tx, index int, key []types.Value, fn func(id RowID) (bool, error)) error {
	tx, done := t.reader(tx)
	defer done()
	defer runtime.KeepAlive(t)
	st := t.state.Load()
	x := st.indexes[index]
	key, err := x.normalKey(st, key)
	if err != nil {
		return err
	}
	if t.local == nil && tx.iso == Serializable {
		tx.scans = append(tx.scans, readScan{t: t, x: x, index: index, lo: Bound{Key: append([]types.Value(nil), key...)}})
	}
	if x.hash == nil {
		return t.walk(tx, st, x, Bound{Key: key, Included: true}, Bound{Key: key, Included: true}, false, fn)
	}
	if len(key) != len(x.def.Columns) {
		return errPartialKey(index)
	}
	if t.local != nil {
		t.local.scans++
		defer t.local.scanned()
	}
	head := x.hash.head(x.hashKey(st, key), false)
	if head == nil {
		return nil
	}
	for no := rowNo(atomic.LoadUint32(head)); no != 0; {
		p := t.row(no)
		if x.equalKey(st, p, key) {
			if more, err := t.pass(tx, no, p, fn); err != nil || !more {
				return err
			}
			p = t.row(no) // a local table's memory may have moved
		}
		no = rowNo(atomic.LoadUint32(link(p, x.next)))
	}
	return nil
}

// Range calls fn with the rows between two bounds of an ordered index, in the
// index's order or, with reverse, against it. lo is the end that comes first
// in the index's order, hi the other, also with reverse.
func (t *Table) Range(tx *Tx, index int, lo, hi Bound, reverse bool, fn func(id RowID) (bool, error)) error {
	tx, done := t.reader(tx)
	defer done()
	defer runtime.KeepAlive(t)
	st := t.state.Load()
	x := st.indexes[index]
	if x.tree == nil || x.def.Kind == Hash {
		return errNotOrdered(index)
	}
	var err error
	if lo.Key, err = x.normalKey(st, lo.Key); err != nil {
		return err
	}
	if hi.Key, err = x.normalKey(st, hi.Key); err != nil {
		return err
	}
	if t.local == nil && tx.iso == Serializable {
		tx.scans = append(tx.scans, readScan{t: t, x: x, index: index, lo: lo.clone(), hi: hi.clone(), ranged: true})
	}
	return t.walk(tx, st, x, lo, hi, reverse, fn)
}

func (b Bound) clone() Bound {
	b.Key = append([]types.Value(nil), b.Key...)
	return b
}

// normalKey returns the key with its values in their columns' kinds. Whole
// numbers of any kind do for any whole number column, text for text.
func (x *index) normalKey(st *tableState, key []types.Value) ([]types.Value, error) {
	if len(key) > len(x.def.Columns) {
		return nil, errLongKey(len(key), len(x.def.Columns))
	}
	for i := range key {
		f := &st.cur.fields[x.def.Columns[i]]
		if key[i].IsNull() || f.accepts(&key[i]) {
			continue
		}
		v, err := types.Assign(key[i], st.def.Columns[x.def.Columns[i]].Type)
		if err != nil {
			return nil, err
		}
		key = append([]types.Value(nil), key...)
		key[i] = v
	}
	return key, nil
}

// accepts reports whether a value compares with the column's as it is.
func (f *field) accepts(v *types.Value) bool {
	k := v.Kind()
	switch {
	case k == f.kind:
		return true
	case f.kind.IsInt():
		return k.IsInt()
	case f.kind.IsMoney():
		return k.IsMoney()
	case f.kind.IsString():
		return k.IsString()
	case f.kind.IsBinary():
		return k.IsBinary()
	}
	return f.form == formVariant
}

// walk visits the rows between two bounds. It takes them from the tree in
// lots, so that no latch is held while fn runs.
func (t *Table) walk(tx *Tx, st *tableState, x *index, lo, hi Bound, reverse bool, fn func(id RowID) (bool, error)) error {
	if t.local != nil {
		t.local.scans++
		defer t.local.scanned()
	}
	c := newCursor(st, x, &t.rowMemory, lo, hi)
	var lot [64]item
	want := 8 // most reads end after a few rows
	for {
		n := c.fill(lot[:want], reverse)
		for _, it := range lot[:n] {
			if more, err := t.pass(tx, it.row, t.row(it.row), fn); err != nil || !more {
				return err
			}
		}
		if n < want {
			return nil
		}
		want = len(lot)
	}
}

// cursor is a place in an ordered index and the bounds it moves between.
type cursor struct {
	st         *tableState
	x          *index
	mem        *rowMemory
	lo, hi     probe
	loIn, hiIn bool
	last       item // the last one taken; row 0 before the first
}

func newCursor(st *tableState, x *index, m *rowMemory, lo, hi Bound) cursor {
	return cursor{
		st: st, x: x, mem: m,
		lo: x.probe(st, m, lo.Key), loIn: lo.Included || len(lo.Key) == 0,
		hi: x.probe(st, m, hi.Key), hiIn: hi.Included || len(hi.Key) == 0,
	}
}

// fill takes the next items. The row of the last one may have left the tree
// since; its memory is kept while this statement runs.
func (c *cursor) fill(lot []item, reverse bool) int {
	x := c.x
	x.mu.RLock()
	defer x.mu.RUnlock()
	got := 0
	if reverse {
		n, i := c.startBefore()
		for i--; got < len(lot); i-- {
			for n != nil && i < 0 {
				if n = n.prev; n != nil {
					i = n.n - 1
				}
			}
			if n == nil || c.below(n.items[i]) {
				break
			}
			lot[got] = n.items[i]
			got++
		}
	} else {
		n, i := c.startAfter()
		for ; got < len(lot); i++ {
			for n != nil && i >= n.n {
				n, i = n.next, 0
			}
			if n == nil || c.above(n.items[i]) {
				break
			}
			lot[got] = n.items[i]
			got++
		}
	}
	if got > 0 {
		c.last = lot[got-1]
	}
	return got
}

// startAfter is the place of the first item to take going forward.
func (c *cursor) startAfter() (*node, int) {
	if c.last.row != 0 {
		return c.x.tree.upper(func(it item) int { return c.x.compareItems(c.st, c.mem, it, c.last) })
	}
	if c.loIn {
		return c.x.tree.lower(c.lo.compare)
	}
	return c.x.tree.upper(c.lo.compare)
}

// startBefore is the place behind the first item to take going backward.
func (c *cursor) startBefore() (*node, int) {
	if c.last.row != 0 {
		return c.x.tree.lower(func(it item) int { return c.x.compareItems(c.st, c.mem, it, c.last) })
	}
	if c.hiIn {
		return c.x.tree.upper(c.hi.compare)
	}
	return c.x.tree.lower(c.hi.compare)
}

func (c *cursor) above(it item) bool {
	d := c.hi.compare(it)
	return d > 0 || d == 0 && !c.hiIn
}

func (c *cursor) below(it item) bool {
	d := c.lo.compare(it)
	return d < 0 || d == 0 && !c.loIn
}
