package driver

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gostress/pkg/latency"
)

// What a worker is waiting for, for the guard.
const (
	opConnect uint32 = iota
	opDo
	opClose
)

// worker owns one connection and runs its unit's program on it.
type worker struct {
	run     *runner
	info    Worker
	program Program
	sink    Sink
	latency latency.Handle
	yield   func(*Request) bool // w.call, made once: a method value is an allocation

	// wait is what the guard watches, see there; op says what for.
	wait atomic.Int64
	op   atomic.Uint32
	// ctx is what requests get. With a query timeout it is the worker's own, used until the guard
	// cancels it; cancel is for the guard.
	ctx    context.Context
	cancel atomic.Pointer[context.CancelCauseFunc]
	// session is written under mu, and read without by the worker alone. It is nil before the
	// login and after the connection broke.
	mu      sync.Mutex
	session Session

	settled    chan struct{} // closed when connected or not; connectErr is set before
	connectErr error
	killed     bool // the session was ended on purpose
	parted     bool // the program ended the last session in good order
	gone       bool // it broke and is not opened again

	counts     counts
	errors     map[int32]int64 // by number
	lastAnswer time.Duration

	// The iteration at work.
	inIteration     bool
	sent            bool // a batch was sent; from and to are set
	from, to        time.Duration
	doubt, cut, bad bool // a batch is in doubt; the run was stopped; a batch failed
	openTran        bool

	// The guard's own.
	firedAt, closedAt time.Duration
	timedOut          bool
}

func (w *worker) init(r *runner, id int) {
	n := r.plan.Connections
	w.run = r
	w.info = Worker{ID: id, Unit: id / n, Conn: id % n, Connections: n}
	w.program = r.plan.Units[w.info.Unit].Program
	w.latency = r.latency.Handle(id)
	w.yield = w.call
	w.settled = make(chan struct{})
	w.ctx = r.ctx
	w.renewContext()
}

// renewContext makes the context that a query timeout can cancel.
func (w *worker) renewContext() {
	if w.run.plan.QueryTimeout <= 0 {
		return
	}
	ctx, cancel := context.WithCancelCause(w.run.ctx)
	w.ctx = ctx
	w.cancel.Store(&cancel)
}

func (w *worker) event(kind EventKind) Event {
	return Event{Kind: kind, Worker: w.info.ID, Unit: w.info.Unit, Conn: w.info.Conn}
}

// main is the worker's life.
func (w *worker) main() {
	if !w.login() {
		return
	}
	if w.session != nil {
		select {
		case <-w.run.begin:
			if !w.iterate() {
				return
			}
		case <-w.run.done:
		}
	}
	if !w.closeSession() {
		return
	}
	w.closeSink()
	if cancel := w.cancel.Load(); cancel != nil {
		(*cancel)(nil)
	}
	w.ended()
	w.run.workerEnded()
}

// ended is called once for each worker, by itself or by the guard, when it will run nothing more.
func (w *worker) ended() {
	if e, ok := w.program.(Ender); ok {
		e.Ended(w.info)
	}
}

// login makes the first connection. It is false when the guard has left the worker behind.
func (w *worker) login() bool {
	session, err, ok := w.connect()
	if !ok {
		return false
	}
	r := w.run
	if err == nil {
		w.setSession(session)
		r.connected.Add(1)
		if r.begun() {
			r.late.Add(1)
		}
		w.announce(session)
	} else if !r.stopping() { // else nothing went wrong: the login was called off
		w.connectFailed(err)
	}
	close(w.settled)
	r.workerSettled()
	return true
}

// announce tells of a session that was opened.
func (w *worker) announce(s Session) {
	if w.run.plan.Verbose {
		e := w.event(Connected)
		e.Session = s
		w.run.events.send(e)
	}
}

// connectFailed notes that the worker never got a connection.
func (w *worker) connectFailed(err error) {
	r := w.run
	w.connectErr = err
	r.failed.Add(1)
	r.mu.Lock()
	if r.firstErr == nil {
		r.firstErr = err
	}
	r.mu.Unlock()
	e := w.event(ConnectFailed)
	e.Err = err
	var login *LoginError
	number := int32(0)
	if errors.As(err, &login) {
		number = login.Number
	}
	r.events.offer(e, number)
}

// connect opens a session when there is a slot for one more login. ok is false when the guard
// has left the worker behind.
func (w *worker) connect() (session Session, err error, ok bool) {
	r := w.run
	select {
	case r.logins <- struct{}{}:
	case <-r.done:
		return nil, context.Cause(r.ctx), true
	}
	// Only now does the time count: -l is from the dial, not from the queue.
	ctx, cancel := r.ctx, context.CancelFunc(func() {})
	if r.plan.LoginTimeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, r.plan.LoginTimeout)
	}
	defer cancel()
	w.beginWait(opConnect, r.clock.Now())
	connector := r.plan.Units[w.info.Unit].Connector
	if connector == nil {
		connector = r.plan.Connector
	}
	session, err = connector.Connect(ctx)
	if _, ok := w.endWait(); !ok {
		// The guard has given the slot back.
		if session != nil {
			_ = session.Close()
		}
		return nil, nil, false
	}
	<-r.logins
	if err == nil && session == nil {
		err = errors.New("the connector returned neither a session nor an error")
	}
	return session, err, true
}

func (w *worker) setSession(s Session) {
	w.mu.Lock()
	w.session = s
	w.mu.Unlock()
	if s != nil {
		w.run.open.Add(1)
	} else {
		w.run.open.Add(-1)
	}
}

// closeSession ends the session if there is one. It is false when the guard has left the worker
// behind.
func (w *worker) closeSession() bool {
	s := w.session
	if s == nil {
		return true
	}
	w.beginWait(opClose, w.run.clock.Now())
	// What a connection says when it goes is of no interest: it has done its work, or has been
	// reported as lost.
	_ = s.Close()
	if _, ok := w.endWait(); !ok {
		return false
	}
	w.setSession(nil)
	return true
}

// disconnect ends the session because the program says so; it does nothing when there is none. It
// is false when the guard has left the worker behind.
func (w *worker) disconnect() bool {
	if w.session == nil {
		return true
	}
	if !w.closeSession() {
		return false
	}
	w.openTran, w.parted = false, true
	w.counts.disconnects.Add(1)
	return true
}

func (w *worker) closeSink() {
	closer, ok := w.sink.(io.Closer)
	if !ok {
		return
	}
	if err := closer.Close(); err != nil {
		w.run.mu.Lock()
		if w.run.sinkErr == nil {
			w.run.sinkErr = err
		}
		w.run.mu.Unlock()
	}
}

// iterate runs the program as often as asked. It is false when the guard has left the worker
// behind.
func (w *worker) iterate() bool {
	for i := int64(0); i < w.run.plan.Iterations; i++ {
		if w.gone || w.run.stopping() {
			return true
		}
		w.counts.itAttempted.Add(1)
		w.sent, w.doubt, w.cut, w.bad, w.openTran = false, false, false, false, false
		w.inIteration = true
		w.program.Iteration(w.info, i)(w.yield)
		if w.wait.Load() == abandoned {
			return false
		}
		w.inIteration = false
		w.endIteration()
	}
	return true
}

// endIteration puts the iteration into its class.
func (w *worker) endIteration() {
	c := &w.counts
	switch {
	case w.doubt:
		c.itInDoubt.Add(1)
	case w.cut:
		c.itCancelled.Add(1)
		return
	case w.gone:
		c.itSkipped.Add(1)
		return
	case w.bad:
		c.itFailed.Add(1)
	default:
		c.itGood.Add(1)
	}
	if w.openTran {
		c.openTran.Add(1)
	}
	if !w.sent || w.cut {
		return
	}
	class := iterationGood
	if w.doubt || w.bad {
		class = iterationFailed
	}
	w.latency.Record(class, w.to-w.from)
}

// call carries out one request. It is what the program yields to; false ends the iteration.
func (w *worker) call(req *Request) bool {
	r := w.run
	if r.stopping() {
		w.cut = true
		return false
	}
	if req.Kind == Disconnect {
		return w.disconnect()
	}
	if w.session == nil && !w.reopen() {
		return false
	}
	w.counts.attempted.Add(1)
	start := r.clock.Now()
	mark := w.beginWait(opDo, start)
	out, err := w.session.Do(w.ctx, req, w.sink)
	end := r.clock.Now()
	left := mark
	if !w.wait.CompareAndSwap(mark, idle) {
		var ok bool
		if left, ok = w.endWait(); !ok {
			return false
		}
	}
	if !w.sent {
		w.sent, w.from = true, start
	}
	w.to, w.lastAnswer = end, end
	w.openTran = out.OpenTran
	if out.Rows != 0 {
		w.counts.rows.Add(out.Rows)
	}
	if err == nil && len(out.Errors) == 0 && left == mark {
		w.counts.good.Add(1)
		w.latency.Record(batchGood, end-start)
		return true
	}
	return w.trouble(req, &out, err, left, end-start)
}

// trouble sorts out a request that did not simply succeed. left is what the guard made of the
// worker's wait mark. It is false when the iteration cannot go on.
func (w *worker) trouble(req *Request, out *Outcome, err error, left int64, took time.Duration) bool {
	r, c := w.run, &w.counts
	w.countErrors(req, out)
	if b, ok := w.sink.(Breaker); ok && err != nil {
		b.Broke(err)
	}
	fired := left < 0 && left != closing
	timedOut := context.Cause(w.ctx) == errQueryTimeout || fired && !r.stopping()
	if timedOut {
		w.renewContext()
	}

	var lost bool // the session is of no use any more
	var stop string
	var timeout *TimeoutError
	var fatal *FatalError
	var sink *SinkError
	switch {
	case err == nil && len(out.Errors) == 0:
		// The answer came as the timeout fired.
		c.good.Add(1)
		w.latency.Record(batchGood, took)
		if left == closing {
			w.lost(req, errClosedByUs, out)
		}
		return true
	case err == nil:
		c.failed.Add(1)
		w.bad = true
		lost = left == closing || slices.ContainsFunc(out.Errors, func(e ServerError) bool { return e.Class >= 20 })
	case errors.As(err, &sink):
		c.inDoubt.Add(1)
		w.doubt, lost, stop = true, true, "the results could not be written"
		err = sink.Err
	case errors.As(err, &fatal):
		c.failed.Add(1)
		w.bad, stop = true, "a request could not be carried out"
	case timedOut || errors.As(err, &timeout):
		c.inDoubt.Add(1)
		c.timeouts.Add(1)
		w.doubt = true
		e := w.event(QueryTimeout)
		e.Source, e.Err = req.Source, err
		r.events.offer(e, 0)
		lost = left == closing || !isContextError(err)
	case r.stopping():
		c.cancelled.Add(1)
		w.cut = true
		w.drop()
		return false
	default:
		c.inDoubt.Add(1)
		w.doubt, lost = true, true
	}
	w.latency.Record(batchFailed, took)
	if lost && stop == "" {
		if err == nil {
			err = out.Errors[len(out.Errors)-1]
		}
		w.lost(req, err, out)
	}
	w.stopFor(stop, out, err)
	return true
}

// isContextError says that a cancelled request ended in good order.
func isContextError(err error) bool {
	var timeout *TimeoutError
	var lost *LostError
	return !errors.As(err, &lost) &&
		(errors.As(err, &timeout) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errQueryTimeout))
}

// stopFor stops the run if the request gave a reason to.
func (w *worker) stopFor(reason string, out *Outcome, err error) {
	r := w.run
	for _, e := range out.Errors {
		if slices.Contains(quotas, e.Number) {
			r.stop(&StoppedError{Reason: "the database has reached its quota", Err: e})
			return
		}
	}
	switch {
	case reason != "":
		r.stop(&StoppedError{Reason: reason, Err: err})
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
	if w.errors == nil {
		w.errors = map[int32]int64{}
	}
	w.counts.errors.Add(int64(len(out.Errors)))
	for i := range out.Errors {
		w.errors[out.Errors[i].Number]++
		e := w.event(QueryError)
		e.Source, e.Server = req.Source, out.Errors[i]
		w.run.events.offer(e, e.Server.Number)
	}
}

// lost notes that the connection broke, and whether on purpose.
func (w *worker) lost(req *Request, err error, out *Outcome) {
	var broken *LostError
	w.killed = errors.As(err, &broken) && broken.Number == numKilled ||
		slices.ContainsFunc(out.Errors, func(e ServerError) bool { return e.Number == numKilled })
	w.counts.lost.Add(1)
	w.drop()
	e := w.event(Lost)
	e.Source, e.Err = req.Source, err
	w.run.events.offer(e, 0)
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
