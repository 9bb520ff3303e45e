package driver

import (
	"context"
	"errors"
	"slices"
	"time"

	"gostress/pkg/result"
)

// call carries out one request. It is what the program yields to; false ends the iteration.
func (w *worker) call(req *Request) bool {
	r := w.run
	if r.stopping() || r.isOver() {
		w.cut = true
		return false
	}
	w.statement = r.offsets[w.info.Unit] + req.Statement
	if req.Kind == Disconnect {
		return w.disconnect()
	}
	if r.plan.QueryDelay > 0 && w.number > 0 && !w.sleep(r.plan.QueryDelay) {
		w.cut = true
		return false
	}
	if w.session == nil && !w.reopen() {
		return false
	}
	w.number++
	start := r.clock.Now()
	w.intended = start
	if !w.sent {
		w.sent, w.from = true, start
		if r.open {
			w.intended = w.arrival.at
			w.lateness(start)
		}
	}
	for tries := 0; ; tries++ {
		again, ok := w.attempt(req, start, tries)
		if !again {
			return ok
		}
	}
}

// attempt sends a request. Start is when it was sent first, tries how often it was before. Again says
// that it is to be sent once more; else ok is false when the iteration cannot go on.
func (w *worker) attempt(req *Request, start time.Duration, tries int) (again, ok bool) {
	r := w.run
	began := start
	if tries > 0 {
		began = r.clock.Now()
	}
	ctx := w.ctx
	var fault *fault
	mark := w.beginWait(opDo, began)
	if r.plan.Faults.any() && tries == 0 {
		fault = w.inject(mark)
		if fault != nil {
			ctx = fault.ctx
		}
	}
	out, err := w.session.Do(ctx, req, w.sink)
	end := r.clock.Now()
	left := mark
	if !w.wait.CompareAndSwap(mark, idle) {
		var ok bool
		if left, ok = w.endWait(); !ok {
			return false, false
		}
	}
	w.to, w.lastAnswer = end, end
	before := w.openTran
	w.openTran = out.OpenTran
	if fault == nil && err == nil && len(out.Errors) == 0 && left == mark {
		w.throttles = 0
		w.goodBatch(w.statement, end-w.intended, end-start, out.Rows)
		return false, true
	}
	w.countRows(w.statement, out.Rows)
	sorted := out // a copy, so that out itself need not be allocated
	t := trouble{req: req, out: &sorted, err: err, left: left, end: end, took: end - start, tries: tries, wasOpen: before}
	if fault != nil {
		fault.end()
		t.injected = fault
	}
	return w.sortOut(t)
}

// trouble is a request that did not simply succeed.
type trouble struct {
	req      *Request
	out      *Outcome
	err      error
	left     int64 // what the guard made of the worker's wait mark
	end      time.Duration
	took     time.Duration
	tries    int
	wasOpen  bool // a transaction was open before it
	injected *fault
}

// reason is why the answer broke off: the error, or what ended the request's context.
func (w *worker) reason(t trouble) error {
	if !errors.Is(t.err, context.Canceled) && !errors.Is(t.err, context.DeadlineExceeded) {
		return t.err
	}
	ctx := w.ctx
	if t.injected != nil {
		ctx = t.injected.ctx
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return t.err
}

// sortOut finds the class of a request that did not simply succeed, and what becomes of its
// connection. Its results are attempt's.
func (w *worker) sortOut(t trouble) (again, ok bool) {
	r := w.run
	w.countErrors(t.req, t.out)
	if b, ok := w.sink.(Breaker); ok && t.err != nil {
		b.Broke(w.reason(t))
	}
	byFault := t.injected.hasFired()
	cut := t.injected != nil && t.injected.cut
	fired := t.left < 0 && t.left != closing
	timedOut := context.Cause(w.ctx) == errQueryTimeout || fired && !byFault && !r.stopping()
	if timedOut {
		w.renewContext()
	}

	var timeout *TimeoutError
	var fatal *FatalError
	var sink *SinkError
	switch {
	case t.err == nil && len(t.out.Errors) == 0:
		// The answer came as the cancel was on its way.
		w.throttles = 0
		w.goodBatch(w.statement, t.end-w.intended, t.took, 0)
		if cut {
			return false, w.replace(t)
		}
		if t.left == closing {
			w.lost(t.req, errClosedByUs, t.out)
		}
		return false, true
	case errors.As(t.err, &sink):
		w.unsuccessful(t, true, result.ClassError)
		r.stop(&StoppedError{Reason: "the results could not be written", Err: sink.Err})
		return false, true
	case errors.As(t.err, &fatal):
		w.unsuccessful(t, false, result.ClassError)
		r.stop(&StoppedError{Reason: "a request could not be carried out", Err: t.err})
		return false, true
	case cut && t.err != nil && !wasKilled(t.err, t.out):
		return false, w.sortOutCut(t)
	case byFault && !timedOut && t.err != nil:
		return false, w.sortOutCancel(t)
	case t.err != nil && r.stopping() && !timedOut && !errors.As(t.err, &timeout):
		return false, w.stopped(t)
	}

	// Failed, timed out, or lost.
	lost := t.left == closing || slices.ContainsFunc(t.out.Errors, func(e ServerError) bool { return e.Class >= 20 })
	doubtful := t.err != nil
	timedOut = timedOut || errors.As(t.err, &timeout)
	if doubtful {
		lost = lost || !timedOut || !isContextError(t.err)
	}
	why := t.err
	if why == nil {
		why = t.out.Errors[len(t.out.Errors)-1]
	}
	retry := t.tries < r.plan.MaxRetries && w.retryable(t, doubtful) && !w.quota(t.out) && !cut
	if t.wasOpen && (lost || !w.openTran) {
		// What earlier batches did in the transaction is undone: the rest of it alone must not be done.
		retry = false
	}
	if timedOut && doubtful {
		w.count(timeouts, 1)
		e := w.event(QueryTimeout)
		e.Source, e.Err = t.req.Source, t.err
		r.events.offer(e, 0)
	}
	if lost {
		w.lost(t.req, why, t.out)
	}
	// A throttled answer is waited out whatever becomes of its batch.
	wait := w.throttled(t)
	waited := retry && wait > 0
	if waited && !w.sleep(wait) {
		retry = false
	}
	if retry {
		w.pending = pendingFailed
		if doubtful {
			w.pending = pendingDoubt
		}
		again, ok := w.again(t, why)
		if !ok {
			return false, false
		}
		w.pending = notPending
		if again {
			return true, false
		}
	}
	class := classOf(t.out)
	switch {
	case wait > 0:
		class = result.ClassThrottled
	case doubtful && timedOut:
		class = result.ClassTimeout
	case doubtful:
		class = result.ClassLost
	}
	w.unsuccessful(t, doubtful, class)
	w.stopFor(t.out, t.err)
	if cut && !lost {
		w.replace(t)
	}
	goOn := w.tooMany() && !w.gone
	if goOn && wait > 0 && !waited {
		w.sleep(wait) // when the run stops meanwhile, the next call sees it
	}
	return false, goOn
}

// unsuccessful counts a batch that failed, or is in doubt and not by the run's own doing.
func (w *worker) unsuccessful(t trouble, doubtful bool, class result.Class) {
	w.failures++
	if doubtful {
		w.badBatch(w.statement, inDoubt, class, t.took)
		w.doubt = true
	} else {
		w.badBatch(w.statement, failed, class, t.took)
		w.bad = true
	}
	if most := w.run.plan.MaxErrors; most > 0 && w.run.failures.Add(1) >= most {
		w.run.finish(EndedByErrors)
	}
}

// classOf is the class of a batch that the server answered with errors: of its first one that has a
// class of its own.
func classOf(out *Outcome) result.Class {
	for _, e := range out.Errors {
		switch {
		case e.Number == numDeadlock:
			return result.ClassDeadlock
		case slices.Contains(conflicts, e.Number):
			return result.ClassConflict
		}
	}
	return result.ClassError
}

// stopped is a request in flight when the run was stopped. Whether it took effect is known only if
// the server acknowledged the cancel.
func (w *worker) stopped(t trouble) bool {
	w.cut = true
	if t.left != closing && isContextError(t.err) {
		// The session can still be used, to roll back what is open.
		w.countBatch(w.statement, cancelled)
		return false
	}
	w.countBatch(w.statement, inDoubt)
	w.doubt = true
	w.drop()
	return false
}

// again prepares the next sending of a request; false means that there is none after all. Ok is false
// when the guard has left the worker behind.
func (w *worker) again(t trouble, why error) (again, ok bool) {
	if w.run.stopping() {
		return false, true
	}
	if w.session == nil {
		if !w.open() {
			return false, w.wait.Load() != abandoned
		}
	} else if w.openTran && !t.wasOpen {
		// What the batch began and left open must not hold the next one.
		err, ok := w.aside(rollBackRequest)
		if !ok || err != nil {
			return false, ok
		}
		w.openTran = false
	}
	if !w.sleep(retryWait(t.tries)) {
		return false, true
	}
	w.count(retries, 1)
	e := w.event(Retried)
	e.Source, e.Err = t.req.Source, why
	w.tell(e)
	return true, true
}

// tooMany counts a batch that failed; it is false when the worker has had enough of them.
func (w *worker) tooMany() bool {
	most := w.run.plan.MaxWorkerErrors
	if most <= 0 || w.failures < most {
		return true
	}
	if !w.spent {
		w.spent = true
		w.run.spent.Add(1)
		w.run.events.offer(w.event(TooManyErrors), 0)
	}
	return false
}

// isContextError says that a cancelled request ended in good order.
func isContextError(err error) bool {
	var timeout *TimeoutError
	var lost *LostError
	return !errors.As(err, &lost) &&
		(errors.As(err, &timeout) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
			errors.Is(err, errQueryTimeout) || errors.Is(err, errInjectedCancel))
}

// quota says that the database has reached its quota.
func (w *worker) quota(out *Outcome) bool {
	return slices.ContainsFunc(out.Errors, func(e ServerError) bool { return slices.Contains(quotas, e.Number) })
}

// stopFor stops the run if the request gave a reason to.
func (w *worker) stopFor(out *Outcome, err error) {
	r := w.run
	for _, e := range out.Errors {
		if slices.Contains(quotas, e.Number) {
			r.stop(&StoppedError{Reason: "the database has reached its quota", Err: e})
			return
		}
	}
	switch {
	case !r.plan.StopOnError:
	case len(out.Errors) > 0:
		r.stop(&StoppedError{Reason: "a query failed", Err: out.Errors[0]})
	case err != nil:
		r.stop(&StoppedError{Reason: "a query failed", Err: err})
	}
}

// countErrors counts and reports the errors that the server sent.
func (w *worker) countErrors(req *Request, out *Outcome) {
	if len(out.Errors) == 0 {
		return
	}
	w.shard.mu.Lock()
	w.shard.t.counters[errorMessages] += int64(len(out.Errors))
	for i := range out.Errors {
		w.shard.t.errors[out.Errors[i].Number]++
	}
	w.shard.mu.Unlock()
	for i := range out.Errors {
		e := w.event(QueryError)
		e.Source, e.Server = req.Source, out.Errors[i]
		w.run.events.offer(e, e.Server.Number)
	}
}

// lost notes that the connection broke, and whether on purpose.
func (w *worker) lost(req *Request, err error, out *Outcome) {
	w.killed = wasKilled(err, out)
	w.count(lostConnections, 1)
	w.drop()
	e := w.event(Lost)
	e.Source, e.Err = req.Source, err
	w.run.events.offer(e, 0)
}

// wasKilled says that a session was ended on the server on purpose.
func wasKilled(err error, out *Outcome) bool {
	var broken *LostError
	return errors.As(err, &broken) && broken.Number == numKilled ||
		slices.ContainsFunc(out.Errors, func(e ServerError) bool { return e.Number == numKilled })
}

// drop closes a session that is of no use any more.
func (w *worker) drop() {
	if w.session == nil {
		return
	}
	s := w.session
	w.setSession(nil)
	w.openTran = false
	// In a goroutine of its own, bounded at the end of the run: closing can take as long as a
	// dead peer likes.
	w.run.closers.Go(func() { _ = s.Close() })
}
