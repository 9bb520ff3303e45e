package storage

import (
	"context"
	"sync/atomic"
	"time"

	"gostress/internal/engine/sqlerr"
)

// Tx is a transaction. It is used by one goroutine at a time.
type Tx struct {
	store  *Store
	slot   *slot
	slotNo uint32
	iso    Isolation
	doomed bool
	ended  bool
	reads  uint64 // the statement sees what was committed until this time
	snap   uint64 // the transaction's snapshot; 0 until a level above ReadCommitted needs it
	stamp  uint64 // of the current statement
	id     uint64
	log    []change

	rows  []readRow // what commit must find unchanged
	scans []readScan

	ctx         context.Context
	lockTimeout time.Duration // below 0: none
	priority    int
	session     int
}

// change is an entry of a transaction's log, from which it is stamped or undone.
type change struct {
	t   *Table
	row rowNo
	op  op
}

type op uint8

const (
	opInsert    op = iota
	opEnd          // the row's end was never
	opEndLocked    // the row's end was this transaction's lock
	opLock
)

// Savepoint is a point in a transaction to return to.
type Savepoint struct{ log int }

// ID is the transaction's number, unique in its store.
func (tx *Tx) ID() uint64 { return tx.id }

// nextStamp begins a statement.
func (tx *Tx) nextStamp() {
	tx.stamp = flagTx | uint64(tx.slotNo)<<slotAt | tx.slot.next&stmtMask
	tx.slot.next++
}

// StatementBegin starts the next statement: it sees what the transaction wrote
// before, and for ReadCommitted what others committed since. RowIDs that
// earlier statements of a ReadCommitted transaction found no longer hold.
func (tx *Tx) StatementBegin() {
	if tx.ended {
		return
	}
	tx.reads = tx.store.publish(tx.slot, tx.snap != 0)
	if tx.iso != ReadCommitted {
		if tx.snap == 0 {
			tx.snap = tx.reads
		}
		tx.reads = tx.snap
	}
	tx.nextStamp()
}

// SetContext sets the context that ends waits; nil is none.
func (tx *Tx) SetContext(ctx context.Context) { tx.ctx = ctx }

// SetLockTimeout sets how many milliseconds a wait may last; -1 is forever.
func (tx *Tx) SetLockTimeout(ms int) { tx.lockTimeout = time.Duration(ms) * time.Millisecond }

// SetDeadlockPriority sets how much the transaction is worth when the victim
// of a deadlock is chosen: the lowest (-10 to 10, 0 at first) goes.
func (tx *Tx) SetDeadlockPriority(p int) { tx.priority = p }

// SetSession sets the session number, which error 1205 names and Store.Waits tells.
func (tx *Tx) SetSession(spid int) {
	tx.session = spid
	tx.slot.session.Store(int32(spid))
}

// SetIsolation changes the level from the next statement on. All statements
// above ReadCommitted share one snapshot, that of the first of them.
func (tx *Tx) SetIsolation(iso Isolation) { tx.iso = iso }

// Isolation is the current level.
func (tx *Tx) Isolation() Isolation { return tx.iso }

// Doomed reports whether the transaction can only be rolled back: 1205, 3960
// and 41302 doom it.
func (tx *Tx) Doomed() bool { return tx.doomed }

// Doom makes the transaction refuse everything but reading and Rollback.
func (tx *Tx) Doom() { tx.doomed = true }

// Wrote reports whether there is anything to commit.
func (tx *Tx) Wrote() bool { return len(tx.log) > 0 }

// writable is the error that keeps the transaction from writing, if any.
func (tx *Tx) writable() error {
	switch {
	case tx.ended:
		return sqlerr.New(3971, 16, 1, "The transaction has ended and cannot be used.")
	case tx.doomed:
		return doomedError()
	}
	return nil
}

func doomedError() error {
	return sqlerr.New(3930, 16, 1, "The current transaction can neither be committed nor write anything. Roll it back.")
}

// Commit ends the transaction and makes its changes visible to others. When it
// fails (41305, 41325, 3930) the transaction has been rolled back.
func (tx *Tx) Commit() error {
	switch {
	case tx.ended:
		return sqlerr.New(3902, 16, 1, "COMMIT TRANSACTION was asked for, but there is no open transaction.")
	case tx.doomed:
		tx.Rollback()
		return doomedError()
	}
	validate := len(tx.rows) > 0 || len(tx.scans) > 0
	if !validate && len(tx.log) == 0 {
		tx.finish(nil)
		return nil
	}
	s := tx.store
	state := uint64(committed)
	if validate {
		state = preparing
	}
	s.commits.Lock()
	time := s.clock.Load() + 1
	tx.slot.state.Store(time<<stateBits | state)
	s.clock.Store(time)
	s.commits.Unlock()
	// A durable commit would write its log record here, still preparing.
	if validate {
		if err := tx.validate(time); err != nil {
			tx.slot.state.Store(aborted)
			tx.Rollback()
			return err
		}
		tx.slot.state.Store(time<<stateBits | committed)
	}
	tx.finish(tx.stampAll(time))
	return nil
}

// stampAll gives the transaction's rows their time and returns the tables with
// the garbage it left in them.
func (tx *Tx) stampAll(time uint64) []dirty {
	var made []dirty
	for i := 0; i < len(tx.log); {
		t := tx.log[i].t
		rows, dead := int64(0), 0
		from := i
		if t.local == nil {
			t.enter(tx)
		}
		for ; i < len(tx.log) && tx.log[i].t == t; i++ {
			c := &tx.log[i]
			if t.local != nil {
				if c.op == opEnd {
					t.local.retire(c.row)
				}
				continue
			}
			if t.closed.Load() {
				continue
			}
			p := t.slab.row(c.row)
			switch c.op {
			case opInsert:
				atomic.StoreUint64(begin(p), time)
				rows++
			case opEnd, opEndLocked:
				atomic.StoreUint64(end(p), time)
				rows--
				dead++
			case opLock:
				// A later entry may have made the lock an end.
				if e := atomic.LoadUint64(end(p)); e&flagLock != 0 {
					atomic.StoreUint64(end(p), never)
				}
			}
		}
		if t.local != nil {
			continue
		}
		t.leave(tx)
		if rows != 0 {
			t.rows.Add(rows)
		}
		if dead > 0 {
			t.garbage.add(tx.log[from:i], time, dead)
			made = append(made, dirty{t, dead})
		}
	}
	return made
}

// Rollback ends the transaction and undoes its changes. It does nothing after
// Commit or Rollback.
func (tx *Tx) Rollback() {
	if tx.ended {
		return
	}
	tx.finish(tx.undo(0, nil))
}

// Savepoint marks the present state.
func (tx *Tx) Savepoint() Savepoint { return Savepoint{log: len(tx.log)} }

// RollbackTo undoes what was changed since the savepoint. Rows that it sets
// free can be taken by others at once.
func (tx *Tx) RollbackTo(sp Savepoint) {
	if tx.ended || sp.log >= len(tx.log) {
		return
	}
	made := tx.undo(sp.log, nil)
	tx.store.wake(tx.slot)
	collect(tx.store, made)
}

// undo takes back the log's entries from the last down to number from. in is
// the table that the transaction has entered, if any.
func (tx *Tx) undo(from int, in *Table) []dirty {
	var made []dirty
	if in == nil {
		defer tx.slot.busy.Store(0)
	}
	last := in
	for i := len(tx.log) - 1; i >= from; i-- {
		c := &tx.log[i]
		if c.t.local != nil {
			c.t.local.undo(c)
			continue
		}
		if c.t != last {
			c.t.enter(tx)
			last = c.t
		}
		if c.t.closed.Load() {
			continue
		}
		p := c.t.slab.row(c.row)
		switch c.op {
		case opInsert:
			atomic.StoreUint64(begin(p), never)
			c.t.garbage.addOne(c.row)
			if len(made) == 0 || made[len(made)-1].t != c.t {
				made = append(made, dirty{t: c.t})
			}
			made[len(made)-1].n++
		case opEnd, opLock:
			atomic.StoreUint64(end(p), never)
		case opEndLocked:
			atomic.StoreUint64(end(p), tx.stamp|flagLock)
		}
	}
	clear(tx.log[from:])
	tx.log = tx.log[:from]
	return made
}

const keptLog = 1 << 12 // entries of the log that a slot keeps for its next transaction

// finish gives the slot back, wakes who waits, and collects garbage in the
// tables given.
func (tx *Tx) finish(made []dirty) {
	tx.ended = true
	tx.ctx = nil
	s, sl := tx.store, tx.slot
	if cap(tx.log) <= keptLog {
		clear(tx.log)
		sl.log = tx.log[:0]
	} else {
		sl.log = nil
	}
	tx.log, tx.rows, tx.scans = nil, nil, nil
	sl.state.Store(active)
	sl.reads.Store(0)
	s.wake(sl)
	s.giveSlot(tx.slotNo)
	collect(s, made)
}
