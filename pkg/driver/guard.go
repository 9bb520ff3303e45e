package driver

import (
	"context"
	"errors"
	"math"
	"time"
)

// A worker's wait mark. While it waits for a session or connector it is the time at which it
// began to, plus a nanosecond; negated once the guard has cancelled it for its query timeout.
// It moves on by compare-and-swap alone, so that worker and guard agree on what happened.
const (
	idle      = 0
	closing   = math.MinInt64     // the guard closes the session
	abandoned = math.MinInt64 + 1 // the guard has left the worker behind
)

var (
	errQueryTimeout = errors.New("query timeout")
	errClosedByUs   = errors.New("it was closed since a cancelled request did not end in time")
)

// beginWait is called by a worker before it waits.
func (w *worker) beginWait(op uint32, now time.Duration) (mark int64) {
	mark = int64(now) + 1
	if w.op.Load() != op {
		w.op.Store(op)
	}
	w.wait.Store(mark)
	return mark
}

// endWait is called by a worker when its wait is over. It returns the mark as the guard left it,
// and false when the guard has left the worker behind: it then must touch nothing any more.
func (w *worker) endWait() (mark int64, ok bool) {
	for {
		mark = w.wait.Load()
		if mark == abandoned {
			return mark, false
		}
		if w.wait.CompareAndSwap(mark, idle) {
			return mark, true
		}
	}
}

// guard watches the workers' waits, so that no call needs a timer. It cancels requests after the
// query timeout, closes sessions that do not answer the cancel, and leaves workers behind whose
// session does not even end when it is closed.
func (r *runner) guard(stop <-chan struct{}) {
	tick := r.plan.CancelGrace / 20
	if r.plan.QueryTimeout > 0 {
		tick = min(tick, r.plan.QueryTimeout/20)
	}
	ticker := time.NewTicker(min(max(tick, time.Millisecond), 100*time.Millisecond))
	defer ticker.Stop()
	stopped := time.Duration(-1) // when the run was
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		now := r.clock.Now()
		if stopped < 0 && r.stopping() {
			stopped = now
		}
		for i := range r.workers {
			r.workers[i].watch(now, stopped)
		}
	}
}

// watch looks at one worker.
func (w *worker) watch(now, stopped time.Duration) {
	mark := w.wait.Load()
	plan := &w.run.plan
	switch {
	case mark == idle || mark == abandoned:
	case mark == closing:
		if now-w.closedAt >= plan.CancelGrace && w.wait.CompareAndSwap(closing, abandoned) {
			w.abandon()
		}
	case mark > 0 && w.op.Load() == opDo && plan.QueryTimeout > 0 && now-time.Duration(mark-1) >= plan.QueryTimeout:
		// Read before the swap: if that succeeds, this was the context of the request in flight.
		cancel := w.cancel.Load()
		if w.wait.CompareAndSwap(mark, -mark) {
			w.firedAt.Store(int64(now))
			(*cancel)(errQueryTimeout)
		}
	case w.overdue(mark, now, stopped):
		if w.wait.CompareAndSwap(mark, closing) {
			w.closedAt, w.timedOut = now, mark < 0
			w.closeFromOutside()
		}
	}
}

// overdue says that what was cancelled, or should have ended by itself, has not ended in time.
func (w *worker) overdue(mark int64, now, stopped time.Duration) bool {
	plan := &w.run.plan
	started := time.Duration(max(mark, -mark) - 1)
	if stopped >= 0 && now-max(started, stopped) >= plan.CancelGrace {
		return true
	}
	switch w.op.Load() {
	case opConnect:
		return plan.LoginTimeout > 0 && now-started >= plan.LoginTimeout+plan.CancelGrace
	case opClose, opAside:
		return now-started >= plan.CancelGrace
	}
	return mark < 0 && now-time.Duration(w.firedAt.Load()) >= plan.CancelGrace
}

// closeFromOutside closes the session under a worker that waits for it.
func (w *worker) closeFromOutside() {
	w.mu.Lock()
	s := w.session
	w.mu.Unlock()
	if s != nil && w.op.Load() != opClose {
		w.run.closers.Go(func() { _ = s.Close() })
	}
}

// abandon accounts for a worker that does not come back.
func (w *worker) abandon() {
	r := w.run
	err := context.Cause(r.ctx)
	op := w.op.Load()
	// What is unfinished ends here: the batch, if one is, and the iteration.
	doubt := w.doubt
	if w.pending == pendingDoubt || op == opDo {
		w.countBatch(w.statement, inDoubt)
		doubt = true
	} else if w.pending == pendingFailed {
		w.countBatch(w.statement, failed)
	}
	if w.inIteration {
		switch {
		case doubt:
			w.countIteration(inDoubt, false, 0, 0)
		case op == opConnect && w.pending == notPending:
			w.countIteration(skipped, false, 0, 0)
		default:
			w.countIteration(failed, false, 0, 0)
		}
	}
	switch op {
	case opConnect:
		<-r.logins
		err = errors.New("the login did not end in time")
		if w.past {
			w.gone = true
			r.gaveUp.Add(1)
			break
		}
		w.connectFailed(err)
		w.settle()
	case opDo:
		r.sessions.Add(-1) // the session is still the worker's to read
		w.count(lostConnections, 1)
		if w.timedOut {
			err = errors.New("a request did not end in time, even though its connection was closed")
			w.count(timeouts, 1)
			r.gaveUp.Add(1)
		}
	case opClose, opAside:
		r.sessions.Add(-1)
	}
	w.ended()
	r.abandoned.Add(1)
	e := w.event(Abandoned)
	e.Err = err
	r.events.offer(e, 0)
	r.workerEnded()
}
