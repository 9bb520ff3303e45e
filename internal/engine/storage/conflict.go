package storage

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"gostress/internal/engine/sqlerr"
)

// over reports whether a version ended before anything that tx reads.
func (tx *Tx) over(q unsafe.Pointer) bool {
	e := atomic.LoadUint64(end(q))
	return e&flagTx == 0 && e <= tx.reads
}

// sameKey collects the other rows with the item's key. The latch is held.
func (x *index) sameKey(st *tableState, m *rowMemory, it item, rows []rowNo) []rowNo {
	p := m.row(it.row)
	same := func(o item) bool {
		return o.hi == it.hi && o.lo == it.lo && (x.exact || x.equalRows(st, p, m.row(o.row)))
	}
	n, i := x.tree.lower(func(o item) int { return x.compareItems(st, m, o, it) })
	for l, j := n, i-1; ; j-- {
		if j < 0 {
			if l = l.prev; l == nil {
				break
			}
			j = l.n
			continue
		}
		if !same(l.items[j]) {
			break
		}
		rows = append(rows, l.items[j].row)
	}
	for l, j := n, i; l != nil; j++ {
		if j >= l.n {
			l, j = l.next, -1
			continue
		}
		if l.items[j].row == it.row {
			continue
		}
		if !same(l.items[j]) {
			break
		}
		rows = append(rows, l.items[j].row)
	}
	return rows
}

// checkDuplicate decides what another row with an equal key of unique index i
// means, waiting for its transaction where the table's kind says so.
func (t *Table) checkDuplicate(tx *Tx, i int, q unsafe.Pointer) error {
	for {
		b := atomic.LoadUint64(begin(q))
		e := atomic.LoadUint64(end(q))
		at, owner := begin(q), b
		switch {
		case b == never || b == 0:
			return nil // undone
		case b&flagTx != 0 && !tx.own(b):
		case e == never:
			if b&flagTx == 0 && b > tx.reads && t.kind == Memory && tx.iso != ReadCommitted {
				return tx.conflict() // it came after the snapshot: try again
			}
			return &UniqueError{Index: i}
		case e&flagTx == 0:
			if e > tx.reads && tx.iso != ReadCommitted && b&flagTx == 0 && b <= tx.reads {
				return tx.changedSince(t) // the snapshot still has it
			}
			return nil
		case tx.own(e):
			if e&flagLock != 0 {
				return &UniqueError{Index: i}
			}
			return nil
		default:
			at, owner = end(q), e
		}
		if done, err := t.meet(tx, at, owner, WaitExclusive); err != nil || done {
			return err
		}
	}
}

// meet deals with a stamp of another transaction's in the way: it returns an
// error, or nil when the stamp has changed or is about to. kind is what the transaction waits for
// where it has to.
func (t *Table) meet(tx *Tx, at *uint64, stamp uint64, kind WaitKind) (done bool, err error) {
	state, owner := tx.store.stateOf(at, &stamp)
	if owner == nil {
		return false, nil
	}
	switch state & (1<<stateBits - 1) {
	case active:
		if t.kind == Memory {
			return true, tx.conflict()
		}
		t.leave(tx)
		err := tx.wait(at, stamp, kind)
		t.enter(tx)
		return false, err
	case preparing:
		tx.awaitOutcome(owner, at, stamp)
	default:
		runtime.Gosched() // it is stamping or undoing
	}
	return false, nil
}

// conflict is a write conflict in a memory table.
func (tx *Tx) conflict() error {
	tx.doomed = true
	return sqlerr.WriteConflict()
}

// changedSince is the error for a row that another transaction changed and
// committed after this one's snapshot.
func (tx *Tx) changedSince(t *Table) error {
	switch {
	case t.kind == Memory:
		return tx.conflict()
	case tx.iso == ReadCommitted:
		return ErrChanged
	}
	tx.doomed = true
	return sqlerr.SnapshotConflict("", "")
}

// take makes the row's end the transaction's, or its lock.
func (t *Table) take(tx *Tx, no rowNo, p unsafe.Pointer, lock bool) error {
	mine, kind := tx.stamp, WaitExclusive
	if lock {
		mine |= flagLock
		kind = WaitUpdate
	}
	for {
		e := atomic.LoadUint64(end(p))
		switch {
		case e == never:
			if atomic.LoadUint64(begin(p)) == never {
				return ErrGone
			}
			if !atomic.CompareAndSwapUint64(end(p), e, mine) {
				continue
			}
			o := opEnd
			if lock {
				o = opLock
			}
			tx.log = append(tx.log, change{t: t, row: no, op: o})
			return nil
		case e&flagTx == 0:
			return tx.changedSince(t)
		case tx.own(e):
			if lock {
				return nil
			}
			if e&flagLock == 0 {
				return ErrGone
			}
			atomic.StoreUint64(end(p), mine)
			tx.log = append(tx.log, change{t: t, row: no, op: opEndLocked})
			return nil
		}
		if done, err := t.meet(tx, end(p), e, kind); err != nil || done {
			return err
		}
	}
}
