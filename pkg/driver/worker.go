package driver

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// What a worker is waiting for, for the guard.
const (
	opConnect uint32 = iota
	opDo
	opClose
	opAside // a request that is none of the program's
)

// worker owns one connection and runs its unit's program on it.
type worker struct {
	run     *runner
	info    Worker
	place   int // in the gate
	program Program
	sink    Sink
	shard   *shard
	random  *rand.Rand          // for think times
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
	departure  departure
	gone       bool // it broke and is not opened again
	spent      bool // it had too many errors
	cutShort   bool // the stop of the run cut an iteration short

	initial    bool  // it is there when the run begins
	past       bool  // the first login is over
	begun      int64 // iterations begun
	failures   int64 // batches that failed or are in doubt
	lastAnswer time.Duration

	// The iteration at work.
	inIteration     bool
	sent            bool // a batch was sent; from and to are set
	from, to        time.Duration
	doubt, cut, bad bool // a batch is in doubt; the run was stopped; a batch failed
	cancelled       bool // a batch was cancelled by the run itself
	openTran        bool
	number          int64 // batches taken up so far
	statement       int   // of the batch at work
	arrival         arrival
	intended        time.Duration // when the batch at work should have begun
	throttles       int           // throttled answers in a row
	pending         pending
	told            atomic.Bool // ended was called

	// The guard's own.
	closedAt time.Duration
	timedOut bool
	// firedAt is when the request in flight was cancelled, by the guard or by a fault.
	firedAt atomic.Int64
}

// pending is what became so far of a batch that is to be sent again, for the guard.
type pending uint8

const (
	notPending pending = iota
	pendingFailed
	pendingDoubt
)

func (w *worker) init(r *runner, info Worker) {
	id := info.ID
	w.run, w.info, w.place = r, info, info.Conn
	u := &r.plan.Units[info.Unit]
	if full := int64(r.plan.full()); r.plan.sized() {
		w.place = int(int64(info.Conn) * full / int64(info.Connections))
	}
	w.program = u.Program
	w.shard = &r.shards.all[id%len(r.shards.all)]
	w.random = rand.New(rand.NewPCG(r.plan.Seed, mix(uint64(id))))
	w.initial = r.gate.admits(w.place)
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
	if w.initial || w.run.gate.await(w.place, w.run.done, w.run.noMore) {
		if !w.login() {
			return
		}
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
	w.ended()
	if !w.rollBack() || !w.closeSession() {
		return
	}
	w.closeSink()
	if cancel := w.cancel.Load(); cancel != nil {
		(*cancel)(nil)
	}
	w.run.workerEnded()
}

// ended tells the program, once, that the worker will run nothing more.
func (w *worker) ended() {
	if e, ok := w.program.(Ender); ok && w.told.CompareAndSwap(false, true) {
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
		if r.begun() && w.initial {
			r.late.Add(1)
		}
		w.announce(session)
	} else if !r.stopping() { // else nothing went wrong: the login was called off
		w.connectFailed(err)
	}
	w.settle()
	return true
}

// settle tells the barrier that the worker's first login has succeeded or failed.
func (w *worker) settle() {
	w.past = true
	if w.initial {
		close(w.settled)
		w.run.workerSettled()
	}
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
		w.run.sessions.Add(1)
	} else {
		w.run.sessions.Add(-1)
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
