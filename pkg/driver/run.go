package driver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"gostress/internal/clock"
	"gostress/pkg/latency"
	"gostress/pkg/result"
)

// barrierLeast is the least time that the barrier waits for slow logins.
const barrierLeast = 60 * time.Second

// reloginsPerSecond bounds the logins that replace broken connections, over all workers.
const reloginsPerSecond = 50

// runner is a run while it goes on.
type runner struct {
	plan       Plan
	clock      clock.Clock
	wall       time.Time // of the clock's zero
	resolution time.Duration
	events     *eventQueue
	workers    []worker
	names      []string // of statements
	offsets    []int    // of each unit's first statement
	open       bool     // iterations begin at intended starts

	// The conductor's, and everybody's when that has ended.
	phase         []phase
	firstMeasured int
	all           *tally // of the whole run
	interval      *tally // of the latest collection
	window        span   // the measured part
	windowCPU     clock.CPU
	stages        []span // by phase
	series        *latency.Series
	ended         bool // all workers have

	shards   *shards
	arrivals *arrivals
	gate     *gate
	health   health
	failures atomic.Int64 // batches that failed or are in doubt, for Plan.MaxErrors
	dropped  atomic.Int64 // arrivals
	// unreleased are arrivals that the pacer never came to; set when it has ended.
	unreleased int64

	// ctx ends when the caller's does or stop is called; done is its channel.
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   <-chan struct{}
	// noMore and over are closed by finish.
	noMore, over chan struct{}
	finishOnce   sync.Once
	endedBy      string

	logins    chan struct{} // a slot for each login in flight
	relogins  *rate.Limiter
	unsettled atomic.Int64  // workers that have neither connected nor failed to
	settled   chan struct{} // closed when there is none
	begin     chan struct{} // the barrier; beganAt is set before it is closed
	beganAt   time.Duration
	beganCPU  clock.CPU
	running   atomic.Int64  // workers created and not ended
	finished  chan struct{} // closed when there is none
	closers   sync.WaitGroup

	stopped                                              atomic.Bool // by stop, not by the caller
	sessions, connected, late, failed, gaveUp, abandoned atomic.Int64
	spent                                                atomic.Int64 // workers with too many errors

	mu       sync.Mutex
	firstErr error // of the first worker that could not connect
	sinkErr  error // of the first sink that could not be closed
}

func run(ctx context.Context, p Plan) (result.Load, error) {
	if err := p.complete(); err != nil {
		return result.Load{ErrorsByNumber: map[int32]int64{}, Series: []result.Point{}}, err
	}
	r := newRunner(ctx, p)
	defer r.cancel(nil)
	if err := r.makeSinks(); err != nil {
		r.events.close()
		return r.load(0, clock.CPU{}), err
	}
	startCPU := processCPU()
	started := r.clock.Now()
	endConducting, endGuarding, endWatching := r.background(r.conduct), r.background(r.guard), r.background(r.watchStalls)
	endReleasing := func() {}
	if r.open {
		endReleasing = r.background(r.release)
	}
	endAnnouncing := r.announceStop()

	err := r.connectAndRun()

	ended := r.clock.Now()
	endCPU := processCPU()
	endReleasing()
	endGuarding()
	r.awaitClosers()
	if r.open {
		r.dropArrivals(int64(len(r.arrivals.queue)))
	}
	r.ended = true
	endConducting()
	endWatching()
	endAnnouncing()
	r.events.close()

	load := r.load(ended, endCPU)
	load.ElapsedS = (ended - started).Seconds()
	load.Interrupted = err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx))
	load.EndedBy = EndedByWork
	if r.isFinishing() {
		load.EndedBy = r.endedBy
	}
	if r.begun() {
		load.ConnectS = (r.beganAt - started).Seconds()
		load.ConnectCPUS = r.beganCPU.Sub(startCPU).Total().Seconds()
	} else {
		load.ConnectS = load.ElapsedS
		load.ConnectCPUS = endCPU.Sub(startCPU).Total().Seconds()
	}
	if err != nil {
		load.EndedBy = EndedEarly
	}
	if wrong := errors.Join(r.check(), check(load)); wrong != nil {
		err = errors.Join(err, wrong)
	}
	return load, err
}

// announceStop sends an event when the run is stopped before its end. The function it returns
// ends that.
func (r *runner) announceStop() (end func()) {
	told := make(chan struct{})
	unwatch := context.AfterFunc(r.ctx, func() {
		defer close(told)
		r.events.send(Event{Kind: Stopping, Worker: -1, Unit: -1, Conn: -1, Err: context.Cause(r.ctx)})
	})
	return func() {
		if !unwatch() {
			<-told
		}
	}
}

// complete checks the plan and fills in its defaults.
func (p *Plan) complete() error {
	switch {
	case p.Connector == nil:
		return errors.New("the plan has no connector")
	case len(p.Units) == 0:
		return errors.New("the plan has nothing to run")
	case p.Connections < 1:
		return fmt.Errorf("%d connections: at least one is needed", p.Connections)
	case p.Iterations < 1:
		return fmt.Errorf("%d iterations: at least one is needed", p.Iterations)
	}
	if err := p.checkLoop(); err != nil {
		return err
	}
	if err := p.Faults.check(); err != nil {
		return err
	}
	if p.CancelGrace <= 0 {
		p.CancelGrace = DefaultCancelGrace
	}
	if p.ConnectConcurrency <= 0 {
		p.ConnectConcurrency = DefaultConnectConcurrency
	}
	if p.ReconnectFor <= 0 {
		p.ReconnectFor = DefaultReconnectFor
	}
	if p.FilesPerConnection == 0 {
		p.FilesPerConnection = 1
		if p.Sink != nil {
			p.FilesPerConnection = 2
		}
	}
	return raiseFileLimit(int(min(p.workers(), math.MaxInt32)), p.FilesPerConnection)
}

func newRunner(ctx context.Context, p Plan) *runner {
	r := &runner{
		plan:     p,
		clock:    clock.New(),
		wall:     time.Now(),
		open:     p.isOpen(),
		phase:    p.phases(),
		series:   latency.NewSeries(time.Second, 3600),
		events:   newEventQueue(p.Events),
		workers:  make([]worker, p.workers()),
		gate:     newGate(p.initial()),
		logins:   make(chan struct{}, p.ConnectConcurrency),
		relogins: rate.NewLimiter(reloginsPerSecond, 1),
		settled:  make(chan struct{}),
		begin:    make(chan struct{}),
		finished: make(chan struct{}),
		noMore:   make(chan struct{}),
		over:     make(chan struct{}),
	}
	r.resolution = r.clock.Resolution()
	r.names, r.offsets = statementNames(p.Units)
	r.shards, r.all, r.interval = newShards(len(r.names)), newTally(len(r.names)), newTally(len(r.names))
	r.stages = make([]span, len(r.phase))
	for r.firstMeasured < len(r.phase) && !r.phase[r.firstMeasured].measured {
		r.firstMeasured++
	}
	if r.open {
		r.arrivals = newArrivals()
	}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.done = r.ctx.Done()
	id := 0
	for unit, u := range p.Units {
		n := p.size(u)
		for conn := range n {
			w := &r.workers[id]
			w.init(r, Worker{ID: id, Unit: unit, Conn: conn, Connections: n})
			if w.initial {
				r.unsettled.Add(1)
			}
			id++
		}
	}
	r.running.Store(1) // until all have been started, see connectAndRun
	return r
}

// statementNames are the names of all units' statements, made different, and where each unit's begin.
func statementNames(units []Unit) (names []string, offsets []int) {
	seen := map[string]int{}
	for _, u := range units {
		offsets = append(offsets, len(names))
		own := u.Statements
		if len(own) == 0 {
			own = []string{u.Name}
		}
		for _, name := range own {
			if seen[name]++; seen[name] > 1 {
				name = fmt.Sprintf("%s (%d)", name, seen[name])
			}
			names = append(names, name)
		}
	}
	return names, offsets
}

// makeSinks makes every worker's sink, in order, so that what is named after them does not
// depend on who is first.
func (r *runner) makeSinks() error {
	if r.plan.Sink == nil {
		return nil
	}
	for i := range r.workers {
		w := &r.workers[i]
		sink, err := r.plan.Sink(w.info.Unit, w.info.Conn)
		if err != nil {
			r.leaveOut(0)
			return err
		}
		w.sink = sink
	}
	return nil
}

// leaveOut ends the workers from the given one on, none of which has started.
func (r *runner) leaveOut(from int) {
	for i := from; i < len(r.workers); i++ {
		r.workers[i].ended()
		r.workers[i].closeSink()
	}
}

// connectAndRun takes the workers through login, barrier and run, and returns when all ended.
func (r *runner) connectAndRun() error {
	first := &r.workers[0] // there from the beginning, as every unit's first is
	r.start(first)
	<-first.settled
	err := first.connectErr
	var refused *LoginError
	if r.stopping() || errors.As(err, &refused) && refused.Refused() {
		r.leaveOut(1)
	} else {
		for i := 1; i < len(r.workers); i++ {
			r.start(&r.workers[i])
		}
		err = r.openBarrier()
	}
	if err != nil {
		r.stop(err)
	}
	r.workerEnded() // the one that running began with
	<-r.finished
	return r.verdict()
}

// start starts a worker.
func (r *runner) start(w *worker) {
	r.running.Add(1)
	r.events.send(w.event(WorkerCreated))
	go w.main()
}

// openBarrier waits until the run can begin and lets it, or says why it cannot.
func (r *runner) openBarrier() error {
	patience := time.NewTimer(max(r.plan.LoginTimeout, barrierLeast))
	defer patience.Stop()
	select {
	case <-r.settled:
	case <-patience.C:
	case <-r.done:
		return context.Cause(r.ctx)
	}
	if r.stopping() {
		return context.Cause(r.ctx)
	}
	if r.connected.Load() == 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.firstErr == nil {
			return ErrNoConnection
		}
		return fmt.Errorf("%w: %w", ErrNoConnection, r.firstErr)
	}
	r.events.send(Event{Kind: Begun, Worker: -1, Unit: -1, Conn: -1})
	r.beganCPU, _ = clock.ProcessCPU()
	r.beganAt = r.clock.Now()
	close(r.begin)
	return nil
}

// verdict is the error of a run whose workers have all ended.
func (r *runner) verdict() error {
	// An interrupt that came when everything was done interrupted nothing.
	if cause := context.Cause(r.ctx); cause != nil && (r.stopped.Load() || !r.complete()) {
		return cause
	}
	if given := r.gaveUp.Load(); given > 0 && given == r.connected.Load() {
		return &StoppedError{Reason: "every connection was lost and none could be opened again"}
	}
	if spent := r.spent.Load(); spent > 0 && spent+r.gaveUp.Load() == r.connected.Load() {
		return &StoppedError{Reason: fmt.Sprintf("every connection ended after %d errors", r.plan.MaxWorkerErrors)}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sinkErr != nil {
		return &SinkError{Err: r.sinkErr}
	}
	return nil
}

// complete says that every worker that could connect did all that it could.
func (r *runner) complete() bool {
	if !r.begun() {
		return false
	}
	for i := range r.workers {
		w := &r.workers[i]
		if w.connectErr != nil || w.gone || w.spent {
			continue
		}
		if w.begun < r.plan.Iterations && !r.isFinishing() || w.cutShort || w.wait.Load() == abandoned {
			return false
		}
	}
	return true
}

// stop ends the run before its end; the first reason counts.
func (r *runner) stop(err error) {
	r.stopped.Store(true)
	r.cancel(err)
}

func (r *runner) stopping() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

func (r *runner) begun() bool {
	select {
	case <-r.begin:
		return true
	default:
		return false
	}
}

// workerEnded is called once for each started worker, by itself or by the guard, and once when
// all have been started.
func (r *runner) workerEnded() {
	if r.running.Add(-1) == 0 {
		close(r.finished)
	}
}

// workerSettled is called once for each started worker when it connected or failed to.
func (r *runner) workerSettled() {
	if r.unsettled.Add(-1) == 0 {
		close(r.settled)
	}
}

// background runs f in a goroutine; the function it returns ends f and waits for it.
func (r *runner) background(f func(stop <-chan struct{})) (end func()) {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		f(stop)
	}()
	return func() {
		close(stop)
		<-ended
	}
}

// awaitClosers gives the sessions that the guard closes their time to be closed.
func (r *runner) awaitClosers() {
	closed := make(chan struct{})
	go func() {
		r.closers.Wait()
		close(closed)
	}()
	late := time.NewTimer(r.plan.CancelGrace)
	defer late.Stop()
	select {
	case <-closed:
	case <-late.C:
	}
}

// check holds the counts of a report against each other.
func check(l result.Load) error {
	if sum := l.Batches + l.FailedBatches + l.Skipped + l.Cancelled + l.InDoubt; sum != l.Attempted {
		return fmt.Errorf("internal error: %d batches were attempted and %d accounted for", l.Attempted, sum)
	}
	for _, s := range l.Statements {
		if !s.Sound() {
			return fmt.Errorf("internal error: the batches of %s do not add up: %+v", s.Name, s.Counts)
		}
	}
	for _, s := range l.Stages {
		if !s.Sound() {
			return fmt.Errorf("internal error: the batches of stage %s do not add up: %+v", s.Name, s.Counts)
		}
	}
	sum := l.Iterations + l.FailedIterations + l.SkippedIterations + l.CancelledIterations + l.InDoubtIterations
	if sum != l.AttemptedIterations {
		return fmt.Errorf("internal error: %d iterations were attempted and %d accounted for", l.AttemptedIterations, sum)
	}
	return nil
}
