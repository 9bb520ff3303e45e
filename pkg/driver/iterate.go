package driver

import (
	"context"
	"time"
)

// iterate runs the program as often as the loop lets it. It is false when the guard has left the
// worker behind.
func (w *worker) iterate() bool {
	faults := &w.run.plan.Faults
	for i := int64(0); ; i++ {
		goOn, ok := w.next(i)
		if !goOn {
			return ok
		}
		w.begun++
		w.sent, w.doubt, w.cut, w.bad, w.cancelled = false, false, false, false, false
		w.inIteration = true
		w.program.Iteration(w.info, i)(w.yield)
		if w.wait.Load() == abandoned {
			return false
		}
		w.inIteration = false
		w.endIteration()
		if i+1 < w.run.plan.Iterations && faults.hits(faults.DisconnectPct, saltDisconnect, w.info.ID, i) && !w.disconnect() {
			return false
		}
	}
}

// next waits until iteration i may begin. GoOn is false when there is none for this worker, ok then
// when the guard has not left it behind.
func (w *worker) next(i int64) (goOn, ok bool) {
	r := w.run
	for {
		if w.gone || w.spent || r.stopping() || r.isFinishing() || !r.open && i >= r.plan.Iterations {
			return false, true
		}
		if r.gate.admits(w.place) {
			break
		}
		// The stage has fewer connections: this one is not there until a later one has more.
		if w.session != nil {
			if !w.rollBack() || !w.closeSession() {
				return false, false
			}
			w.departure = parted
		}
		if !r.gate.await(w.place, r.done, r.noMore) {
			return false, true
		}
	}
	if r.open {
		if w.session == nil && !w.connectAhead() {
			return false, w.wait.Load() != abandoned
		}
		w.arrival, goOn = r.arrivals.take(r.done, r.noMore)
		return goOn, true
	}
	if i > 0 && !r.plan.Think.IsZero() && !w.pause(r.plan.Think.Draw(w.random), r.noMore) {
		return false, true
	}
	return true, true
}

// connectAhead opens the connection of an open loop's worker before it takes an arrival, which would
// else wait for the login while another connection is free.
func (w *worker) connectAhead() bool { return w.open() }

// lateness counts how far behind its intended start an arrival begins.
func (w *worker) lateness(start time.Duration) {
	late := start - w.arrival.at
	sh := w.shard
	sh.mu.Lock()
	if late > lateLimit {
		sh.t.counters[lateStarts]++
	}
	if w.arrival.free {
		record(&sh.t.startError, late)
	}
	sh.mu.Unlock()
}

// endIteration puts the iteration into its class.
func (w *worker) endIteration() {
	w.cutShort = w.cutShort || w.cut && w.run.stopping()
	what := good
	switch {
	case w.doubt:
		what = inDoubt
	case w.cut:
		what = cancelled
	case w.gone:
		what = skipped
	case w.cancelled:
		what = cancelled
	case w.bad:
		what = failed
	}
	from := w.from
	if w.run.open {
		from = w.arrival.at
	}
	w.countIteration(what, w.sent && !w.cut && what != cancelled && what != skipped, w.to-from, w.to-w.from)
}

// disconnect ends the session in good order; the next request opens another. It is false when the
// guard has left the worker behind.
func (w *worker) disconnect() bool {
	if w.session == nil {
		return true
	}
	if !w.rollBack() || !w.closeSession() {
		return false
	}
	w.departure, w.killed = parted, false
	w.count(disconnects, 1)
	w.tell(w.event(Disconnected))
	return true
}

// rollBack rolls back what is open before the session ends. It is false when the guard has left the
// worker behind.
func (w *worker) rollBack() bool {
	if w.session == nil || !w.openTran {
		return true
	}
	w.count(rolledBack, 1)
	e := w.event(RolledBack)
	var ok bool
	if e.Err, ok = w.aside(rollBackRequest); !ok {
		return false
	}
	w.openTran = false
	w.run.events.offer(e, 0)
	return true
}

var rollBackRequest = &Request{Text: "IF @@TRANCOUNT > 0 ROLLBACK TRAN", Plain: true}

// aside sends a request that is none of the program's and is in no count. It is false when the guard
// has left the worker behind. It goes out when the run has been stopped, too: the guard alone bounds it.
func (w *worker) aside(req *Request) (err error, ok bool) {
	w.beginWait(opAside, w.run.clock.Now())
	out, err := w.session.Do(context.WithoutCancel(w.run.ctx), req, nil)
	if _, ok := w.endWait(); !ok {
		return nil, false
	}
	if err == nil && len(out.Errors) > 0 {
		err = out.Errors[0]
	}
	return err, true
}

// tell passes on an event that only -v shows.
func (w *worker) tell(e Event) {
	if w.run.plan.Verbose {
		w.run.events.offer(e, 0)
	}
}
