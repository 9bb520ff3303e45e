package storage

import (
	"sync/atomic"
	"unsafe"

	"gostress/internal/engine/sqlerr"
)

// readRow is a row that a RepeatableRead or Serializable transaction read.
type readRow struct {
	t   *Table
	row rowNo
}

// readScan is what a Serializable transaction asked for: a whole table
// (index -1), a key (lo.Key), or a range.
type readScan struct {
	t      *Table
	x      *index
	index  int
	lo, hi Bound
	ranged bool
}

// validate checks, as of the transaction's commit time, that the rows it read
// are there still and that its scans would find no more. Its reads keep the
// versions concerned from being collected.
func (tx *Tx) validate(time uint64) error {
	for _, r := range tx.rows {
		e := atomic.LoadUint64(end(r.t.slab.row(r.row)))
		if e&flagTx != 0 && (e&flagLock != 0 || tx.own(e)) {
			continue
		}
		if tx.settle(end(r.t.slab.row(r.row)), e, time) <= time {
			return sqlerr.RepeatableReadValidation()
		}
	}
	for i := range tx.scans {
		if tx.scans[i].phantom(tx, time) {
			return sqlerr.SerializableValidation()
		}
	}
	return nil
}

// phantom reports whether the scan would find a row that others committed
// between the snapshot and time.
func (r *readScan) phantom(tx *Tx, time uint64) bool {
	t := r.t
	st := t.state.Load()
	snap := tx.snap
	if snap == 0 {
		snap = tx.reads // the level was raised within the statement
	}
	found := false
	check := func(p unsafe.Pointer) {
		b := atomic.LoadUint64(begin(p))
		if b == 0 || b == never || b&flagTx != 0 && tx.own(b) {
			return
		}
		if b = tx.settle(begin(p), b, time); b <= snap || b > time {
			return
		}
		e := atomic.LoadUint64(end(p))
		if e&flagTx == 0 || e&flagLock == 0 && !tx.own(e) {
			if tx.settle(end(p), e, time) <= time {
				return
			}
		}
		found = true
	}
	switch {
	case r.index < 0:
		t.slab.each(func(_ rowNo, p unsafe.Pointer) bool {
			check(p)
			return !found
		})
	case r.x.hash != nil:
		head := r.x.hash.head(r.x.hashKey(st, r.lo.Key), false)
		if head == nil {
			return false
		}
		for no := rowNo(atomic.LoadUint32(head)); no != 0 && !found; {
			p := t.row(no)
			if r.x.equalKey(st, p, r.lo.Key) {
				check(p)
			}
			no = rowNo(atomic.LoadUint32(link(p, r.x.next)))
		}
	default:
		lo, hi := r.lo, r.hi
		if !r.ranged {
			lo.Included, hi = true, Bound{Key: lo.Key, Included: true}
		}
		t.items(st, r.x, lo, hi, func(_ rowNo, p unsafe.Pointer) bool {
			check(p)
			return !found
		})
	}
	return found
}

// items calls fn with every version between two bounds of an ordered index.
func (t *Table) items(st *tableState, x *index, lo, hi Bound, fn func(no rowNo, p unsafe.Pointer) bool) {
	c := newCursor(st, x, &t.rowMemory, lo, hi)
	var lot [64]item
	for {
		n := c.fill(lot[:], false)
		for _, it := range lot[:n] {
			if !fn(it.row, t.row(it.row)) {
				return
			}
		}
		if n < len(lot) {
			return
		}
	}
}
