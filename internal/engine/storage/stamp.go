package storage

import (
	"sync/atomic"
	"unsafe"
)

// A stamp in a row's begin or end is the time of a commit, or, with flagTx,
// the slot and statement of the transaction that has written the row and not
// yet stamped it. Statement numbers of a slot never come again, so such a
// stamp names one statement of one transaction for good.
const (
	flagTx   = 1 << 63
	flagLock = 1 << 62 // end only: the row is locked, not ended
	slotAt   = 42
	slotMask = 1<<20 - 1
	stmtMask = 1<<slotAt - 1

	never = 1<<62 - 1 // later than every time: end of a row that lives, begin of an undone one
)

func slotOf(stamp uint64) uint32 { return uint32(stamp>>slotAt) & slotMask }

// The states of a slot's transaction; the time stands above them.
const (
	active    = 0
	preparing = 1 // has its time, is being validated
	committed = 2
	aborted   = 3
	stateBits = 2
)

// slot is the part of a transaction that others look at.
type slot struct {
	state   atomic.Uint64
	reads   atomic.Uint64 // reads nothing that ended at or before this; 0 when there is no transaction
	epoch   atomic.Uint64 // the store's epoch when its statement began
	busy    atomic.Uint32 // inside an operation on a table's structure
	session atomic.Int32  // whose transaction it is; 0 = nobody said
	waiters atomic.Int32
	waiting *waiter // those who wait for it; guarded by Store.waits
	next    uint64  // the next statement number; the owner's
	log     []change
	_       [36]byte
}

// own reports whether a stamp with flagTx is of this transaction.
func (tx *Tx) own(stamp uint64) bool {
	return (stamp&^flagLock)>>slotAt == tx.stamp>>slotAt
}

// sees reports whether the row belongs to what the statement reads.
func (tx *Tx) sees(p unsafe.Pointer) bool {
	b := atomic.LoadUint64(begin(p))
	if b&flagTx != 0 {
		if tx.own(b) {
			if b == tx.stamp {
				return false // written by this very statement
			}
		} else if b = tx.settle(begin(p), b, tx.reads); b > tx.reads {
			return false
		}
	} else if b > tx.reads || b == 0 {
		return false
	}
	e := atomic.LoadUint64(end(p))
	if e&flagTx == 0 {
		return e > tx.reads
	}
	if e&flagLock != 0 {
		return true
	}
	if tx.own(e) {
		return e == tx.stamp
	}
	return tx.settle(end(p), e, tx.reads) > tx.reads
}

// settle turns a stamp into the time of its transaction's commit, or never
// while there is none at or before the time asked about. A transaction that is
// being validated under an earlier time is waited for.
func (tx *Tx) settle(at *uint64, stamp, time uint64) uint64 {
	for stamp&flagTx != 0 && stamp&flagLock == 0 {
		if tx.own(stamp) {
			return never
		}
		state, owner := tx.store.stateOf(at, &stamp)
		if owner == nil {
			continue
		}
		switch state & (1<<stateBits - 1) {
		case committed:
			return state >> stateBits
		case preparing:
			if state>>stateBits > time {
				return never
			}
			tx.awaitOutcome(owner, at, stamp)
			stamp = atomic.LoadUint64(at)
		default:
			return never
		}
	}
	if stamp&flagLock != 0 {
		return never
	}
	return stamp
}

// stateOf looks at the transaction of a stamp. When the stamp at its place has
// changed meanwhile it returns no owner and updates stamp: a transaction
// stamps its rows before its slot serves another.
func (s *Store) stateOf(at *uint64, stamp *uint64) (state uint64, owner *slot) {
	sl := s.slot(slotOf(*stamp))
	state = sl.state.Load()
	if now := atomic.LoadUint64(at); now != *stamp {
		*stamp = now
		return 0, nil
	}
	return state, sl
}
