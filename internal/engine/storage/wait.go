package storage

import (
	"context"
	"sync/atomic"
	"time"

	"gostress/internal/engine/sqlerr"
)

// waiter is a transaction that waits for another's end. A transaction waits
// for one other at a time, so the wait-for graph is at most one edge a slot.
type waiter struct {
	tx     *Tx
	slotNo uint32 // who waits
	target *slot  // for whom
	no     uint32 // the target's number
	cost   int    // changes that a rollback would undo
	prio   int
	id     uint64
	kind   WaitKind
	since  time.Time
	ch     chan struct{}
	victim bool
	next   *waiter
}

// wait waits until the transaction that wrote stamp at its place has ended, or
// has let go of some rows. It returns 1205 when the transaction is chosen as a
// deadlock's victim (all its changes are undone then), 1222 after the lock
// timeout, or the context's error.
func (tx *Tx) wait(at *uint64, stamp uint64, kind WaitKind) error {
	s := tx.store
	no := slotOf(stamp)
	w := &waiter{tx: tx, slotNo: tx.slotNo, no: no, target: s.slot(no), cost: len(tx.log), prio: tx.priority, id: tx.id,
		kind: kind, since: time.Now(), ch: make(chan struct{})}
	s.waits.Lock()
	w.target.waiters.Add(1)
	if atomic.LoadUint64(at) != stamp {
		w.target.waiters.Add(-1)
		s.waits.Unlock()
		return nil
	}
	s.waiting[w.slotNo] = w
	if v := s.cycle(w); v == w {
		delete(s.waiting, w.slotNo)
		w.target.waiters.Add(-1)
		s.waits.Unlock()
		return tx.deadlocked()
	} else if v != nil {
		v.victim = true
		s.unqueue(v)
		close(v.ch)
	}
	w.next, w.target.waiting = w.target.waiting, w
	s.waits.Unlock()

	err := tx.sleep(w.ch)
	s.waits.Lock()
	s.unqueue(w)
	s.waits.Unlock()
	if w.victim {
		return tx.deadlocked()
	}
	return err
}

// sleep waits for ch, the lock timeout or the context.
func (tx *Tx) sleep(ch <-chan struct{}) error {
	var timeout <-chan time.Time
	if tx.lockTimeout >= 0 {
		timer := time.NewTimer(tx.lockTimeout)
		defer timer.Stop()
		timeout = timer.C
	}
	var done <-chan struct{}
	if tx.ctx != nil {
		done = tx.ctx.Done()
	}
	select {
	case <-ch:
		return nil
	case <-timeout:
		return sqlerr.LockTimeout()
	case <-done:
		return context.Cause(tx.ctx)
	}
}

// unqueue takes w from those who wait, if it is among them.
func (s *Store) unqueue(w *waiter) {
	if s.waiting[w.slotNo] != w {
		return
	}
	delete(s.waiting, w.slotNo)
	w.target.waiters.Add(-1)
	for at := &w.target.waiting; *at != nil; at = &(*at).next {
		if *at == w {
			*at = w.next
			break
		}
	}
}

// cycle follows the waits from w's target; when they lead back to w it
// returns the one to give up: of the lowest priority, then with the fewest
// changes, then the youngest.
func (s *Store) cycle(w *waiter) *waiter {
	victim := w
	for no := w.no; no != w.slotNo; {
		o := s.waiting[no]
		if o == nil {
			return nil
		}
		if o.cheaper(victim) {
			victim = o
		}
		no = o.no
	}
	return victim
}

func (w *waiter) cheaper(o *waiter) bool {
	switch {
	case w.prio != o.prio:
		return w.prio < o.prio
	case w.cost != o.cost:
		return w.cost < o.cost
	}
	return w.id > o.id
}

// deadlocked makes the transaction the victim: its rows are set free at once.
func (tx *Tx) deadlocked() error {
	tx.doomed = true
	made := tx.undo(0, nil)
	tx.store.wake(tx.slot)
	collect(tx.store, made)
	return sqlerr.Deadlock(tx.session)
}

// wake wakes those who wait for the slot's transaction.
func (s *Store) wake(sl *slot) {
	if sl.waiters.Load() == 0 {
		return
	}
	s.waits.Lock()
	defer s.waits.Unlock()
	for w := sl.waiting; w != nil; w = sl.waiting {
		s.unqueue(w)
		close(w.ch)
	}
}

// awaitOutcome waits until a transaction that is being validated has stamped
// its row at or undone it. It waits only for those with earlier times, and so
// never in a circle, and validation does not wait for anybody's rows: the
// lock timeout does not matter.
func (tx *Tx) awaitOutcome(target *slot, at *uint64, stamp uint64) {
	s := tx.store
	s.waits.Lock()
	target.waiters.Add(1)
	if st := target.state.Load(); st&(1<<stateBits-1) != preparing || atomic.LoadUint64(at) != stamp {
		target.waiters.Add(-1)
		s.waits.Unlock()
		return
	}
	w := &waiter{tx: tx, slotNo: tx.slotNo, no: slotOf(stamp), target: target, cost: len(tx.log), prio: tx.priority, id: tx.id,
		kind: WaitCommit, since: time.Now(), ch: make(chan struct{})}
	s.waiting[w.slotNo] = w
	w.next, target.waiting = target.waiting, w
	s.waits.Unlock()
	<-w.ch
}
