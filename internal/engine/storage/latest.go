package storage

import (
	"runtime"
	"slices"
	"sync/atomic"
	"unsafe"

	"gostress/internal/engine/types"
)

// Latest reports whether a row with the key is there now, whatever tx's snapshot
// says: one that is committed, or tx's own. A row of the key that another
// transaction is inserting or deleting is waited for in a disk-based table, and
// is a write conflict in a memory-optimized one. So of two transactions that each
// change one table and then ask for a key of the other, one learns of the other.
// The key is a prefix of the key of the ordered index at that place, or a hash
// index's whole key; -1 scans, and match then tells the rows.
func (t *Table) Latest(tx *Tx, at int, key []types.Value, match func(id RowID) bool) (bool, error) {
	defer runtime.KeepAlive(t)
	st := t.enter(tx)
	defer t.leave(tx)
	var x *index
	var err error
	if at >= 0 {
		x = st.indexes[at]
		if key, err = x.normalKey(st, key); err != nil {
			return false, err
		}
		if x.hash != nil && len(key) != len(x.def.Columns) {
			return false, errPartialKey(at)
		}
	}
	var before []rowNo
	for {
		var rows []rowNo
		if x == nil {
			rows = t.matching(tx, match)
		} else {
			rows = t.withKey(tx, st, x, key)
		}
		met := false
		for _, no := range rows {
			is, waited, err := t.latest(tx, t.row(no))
			if err != nil || is {
				return is, err
			}
			met = met || waited
		}
		// A row that an update has ended has a successor, which may have come
		// after the rows were gathered.
		if !met && (len(rows) == 0 || slices.Equal(rows, before)) {
			return false, nil
		}
		before = rows
	}
}

// matching gathers the versions that match and did not end long ago.
func (t *Table) matching(tx *Tx, match func(id RowID) bool) (rows []rowNo) {
	t.slab.each(func(no rowNo, p unsafe.Pointer) bool {
		if b := atomic.LoadUint64(begin(p)); b != 0 && b != never && !tx.over(p) && match(RowID(no)) {
			rows = append(rows, no)
		}
		return true
	})
	return rows
}

// withKey is matching for a key of an index.
func (t *Table) withKey(tx *Tx, st *tableState, x *index, key []types.Value) (rows []rowNo) {
	if x.hash == nil {
		b := Bound{Key: key, Included: true}
		t.items(st, x, b, b, func(no rowNo, p unsafe.Pointer) bool {
			if !tx.over(p) {
				rows = append(rows, no)
			}
			return true
		})
		return rows
	}
	head := x.hash.head(x.hashKey(st, key), false)
	if head == nil {
		return nil
	}
	for no := rowNo(atomic.LoadUint32(head)); no != 0; {
		p := t.row(no)
		if x.equalKey(st, p, key) && !tx.over(p) {
			rows = append(rows, no)
		}
		no = rowNo(atomic.LoadUint32(link(p, x.next)))
	}
	return rows
}

// latest reports whether a version is the row as it is now. waited says that
// another transaction had to be met to know.
func (t *Table) latest(tx *Tx, p unsafe.Pointer) (is, waited bool, err error) {
	for {
		b, e := atomic.LoadUint64(begin(p)), atomic.LoadUint64(end(p))
		at, owner := begin(p), b
		switch {
		case b == never || b == 0:
			return false, waited, nil // undone, or not there yet
		case b&flagTx != 0 && !tx.own(b):
		case e == never || e&flagTx != 0 && e&flagLock != 0:
			return true, waited, nil
		case e&flagTx == 0 || tx.own(e):
			return false, waited, nil
		default:
			at, owner = end(p), e
		}
		waited = true
		if done, err := t.meet(tx, at, owner, WaitShared); err != nil || done {
			return false, waited, err
		}
	}
}
