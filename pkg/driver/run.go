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

// Classes of the latency recorder.
const (
	batchGood = iota
	batchFailed
	iterationGood
	iterationFailed
	classes
)

// runner is a run while it goes on.
type runner struct {
	plan    Plan
	clock   clock.Clock
	latency *latency.Recorder
	series  *latency.Series
	events  *eventQueue
	workers []worker

	// ctx ends when the caller's does or stop is called; done is its channel.
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   <-chan struct{}

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

	stopped                                          atomic.Bool // by stop, not by the caller
	open, connected, late, failed, gaveUp, abandoned atomic.Int64
	spent                                            atomic.Int64 // workers with too many errors

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
	// An error to read the CPU time leaves zeros: it is told from use by being exactly that.
	startCPU, _ := clock.ProcessCPU()
	started := r.clock.Now()
	endCollecting, endGuarding := r.background(r.collect), r.background(r.guard)
	endAnnouncing := r.announceStop()

	err := r.connectAndRun()

	ended := r.clock.Now()
	endCPU, _ := clock.ProcessCPU()
	endGuarding()
	r.awaitClosers()
	endCollecting()
	endAnnouncing()
	r.events.close()

	load := r.load(started, startCPU)
	load.ElapsedS = (ended - started).Seconds()
	load.Interrupted = err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx))
	if r.begun() {
		used := endCPU.Sub(r.beganCPU)
		load.CPUUserS, load.CPUSystemS = used.User.Seconds(), used.System.Seconds()
	} else {
		load.ConnectS = load.ElapsedS
		load.ConnectCPUS = endCPU.Sub(startCPU).Total().Seconds()
	}
	if wrong := check(load); wrong != nil {
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
	return raiseFileLimit(len(p.Units)*p.Connections, p.FilesPerConnection)
}

func newRunner(ctx context.Context, p Plan) *runner {
	r := &runner{
		plan:     p,
		clock:    clock.New(),
		latency:  latency.NewRecorder(classes),
		series:   latency.NewSeries(time.Second, 3600),
		events:   newEventQueue(p.Events),
		workers:  make([]worker, len(p.Units)*p.Connections),
		logins:   make(chan struct{}, p.ConnectConcurrency),
		relogins: rate.NewLimiter(reloginsPerSecond, 1),
		settled:  make(chan struct{}),
		begin:    make(chan struct{}),
		finished: make(chan struct{}),
	}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.done = r.ctx.Done()
	for i := range r.workers {
		r.workers[i].init(r, i)
	}
	r.unsettled.Store(int64(len(r.workers)))
	r.running.Store(1) // until all have been started, see connectAndRun
	return r
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
	first := &r.workers[0]
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
		if w.counts.itAttempted.Load() < r.plan.Iterations || w.cutShort || w.wait.Load() == abandoned {
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

// load adds up what the workers counted. It is called when all have ended.
func (r *runner) load(started time.Duration, startCPU clock.CPU) result.Load {
	load := result.Load{
		PlannedIterations: r.planned(len(r.workers)),
		Connections:       len(r.workers),
		Connected:         int(r.connected.Load()),
		ConnectFailed:     int(r.failed.Load()),
		LateConnections:   int(r.late.Load()),
		GivenUp:           int(r.gaveUp.Load()),
		Abandoned:         int(r.abandoned.Load()),
		EndedByErrors:     int(r.spent.Load()),
		ErrorsByNumber:    map[int32]int64{},
		ClockResolutionUS: latency.Microseconds(r.clock.Resolution()),
		Series:            append([]result.Point{}, r.series.Points()...),
		SeriesStepS:       r.series.Step().Seconds(),
		Latency: result.Latency{
			Batch:     r.latency.Total(batchGood).Summary(),
			Iteration: r.latency.Total(iterationGood).Summary(),
		},
		FailedLatency: result.Latency{
			Batch:     r.latency.Total(batchFailed).Summary(),
			Iteration: r.latency.Total(iterationFailed).Summary(),
		},
	}
	var lastAnswer time.Duration
	for i := range r.workers {
		w := &r.workers[i]
		w.counts.addTo(&load)
		for number, count := range w.errors {
			load.ErrorsByNumber[number] += count
		}
		lastAnswer = max(lastAnswer, w.lastAnswer)
	}
	load.Deadlocks = load.ErrorsByNumber[numDeadlock]
	if r.begun() {
		load.ConnectS = (r.beganAt - started).Seconds()
		load.ConnectCPUS = r.beganCPU.Sub(startCPU).Total().Seconds()
		load.RunS = max(lastAnswer-r.beganAt, 0).Seconds()
	}
	if load.RunS > 0 {
		load.BatchesPerS = float64(load.Batches) / load.RunS
		load.IterationsPerS = float64(load.Iterations) / load.RunS
	}
	return load
}

// planned is workers x iterations, or the largest number there is.
func (r *runner) planned(workers int) int64 {
	if n := int64(workers); n > 0 && r.plan.Iterations > math.MaxInt64/n {
		return math.MaxInt64
	}
	return int64(workers) * r.plan.Iterations
}

// check holds the counts against each other: a batch or an iteration that is in none of the
// classes, or in two, is a fault of the driver that must not pass for a measurement.
func check(l result.Load) error {
	if sum := l.Batches + l.FailedBatches + l.Skipped + l.Cancelled + l.InDoubt; sum != l.Attempted {
		return fmt.Errorf("internal error: %d batches were attempted and %d accounted for", l.Attempted, sum)
	}
	sum := l.Iterations + l.FailedIterations + l.SkippedIterations + l.CancelledIterations + l.InDoubtIterations
	if sum != l.AttemptedIterations {
		return fmt.Errorf("internal error: %d iterations were attempted and %d accounted for", l.AttemptedIterations, sum)
	}
	return nil
}
