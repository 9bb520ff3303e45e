package driver

import (
	"context"
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gostress/pkg/pace"
	"gostress/pkg/result"
)

// ending is a program that counts who was told to have ended.
type ending struct {
	Program
	mu    sync.Mutex
	ended map[int]int
}

func (e *ending) Ended(w Worker) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended[w.ID]++
}

// mixture is a program of batches and disconnects.
type mixture struct{}

func (m mixture) Iteration(w Worker, i int64) iter.Seq[*Request] {
	r := rand.New(rand.NewPCG(uint64(w.ID), uint64(i)))
	return func(yield func(*Request) bool) {
		for range r.IntN(4) {
			req := oneRequest
			if r.IntN(10) == 0 {
				req = &Request{Kind: Disconnect}
			}
			if !yield(req) {
				return
			}
		}
	}
}

// Whatever servers and faults do, the counts add up, every worker's end is told once, and nothing is
// left behind.
func TestCountsAddUpInAnyStorm(t *testing.T) {
	t.Parallel()
	seeds := 300
	if testing.Short() {
		seeds = 60
	}
	for seed := range uint64(seeds) {
		synctest.Test(t, func(t *testing.T) { storm(t, seed) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// ledger is what the sessions of a storm saw, counted apart from the driver.
type ledger struct{ sent, rows, errors, opened, closed atomic.Int64 }

// countedSession enters into a ledger what the program sends and gets.
type countedSession struct {
	*session
	count  *ledger
	answer func(context.Context, *session) (Outcome, error)
}

func (s *countedSession) Do(ctx context.Context, r *Request, _ Sink) (Outcome, error) {
	out, err := s.answer(ctx, s.session)
	if r != rollBackRequest {
		s.count.sent.Add(1)
		s.count.rows.Add(out.Rows)
		s.count.errors.Add(int64(len(out.Errors)))
	}
	return out, err
}

// check holds a load, of which nothing is left out, against the ledger and the plan.
func (c *ledger) check(t *testing.T, p *Plan, l *result.Load) {
	messages := int64(0)
	for _, n := range l.ErrorsByNumber {
		messages += n
	}
	for what, ok := range map[string]bool{
		"requests": c.sent.Load() == l.Attempted-l.Skipped+l.Retries,
		"rows":     c.rows.Load() == l.Rows,
		"messages": c.errors.Load() == messages,
		"logins": len(p.Stages) > 0 || c.opened.Load() <=
			int64(l.Connected+l.Abandoned)+l.LostConnections+l.InjectedDisconnects+l.Disconnects,
		"reopened": l.Reconnects <= l.LostConnections+l.InjectedDisconnects+l.Disconnects,
		"retries":  l.Retries <= int64(p.MaxRetries)*l.Attempted,
		"timeouts": l.Timeouts == 0 || p.QueryTimeout > 0,
		"cancels":  l.InjectedCancels <= l.Cancelled+l.InDoubt && (l.InjectedCancels == 0 || p.Faults.CancelPct > 0),
		"cuts":     l.InjectedDisconnects == 0 || p.Faults.BatchDisconnectPct > 0,
		"worker errors": l.EndedByErrors == 0 || p.MaxWorkerErrors > 0 &&
			l.FailedBatches+l.InDoubt >= int64(l.EndedByErrors)*p.MaxWorkerErrors,
	} {
		if !ok {
			t.Errorf("%s: %d sent, %d rows, %d errors, %d opened; %+v", what, c.sent.Load(), c.rows.Load(), c.errors.Load(), c.opened.Load(), *l)
		}
	}
}

func storm(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 77))
	var mu sync.Mutex
	draw := func(n int) int { mu.Lock(); defer mu.Unlock(); return r.IntN(n) }
	ms := func(n int) time.Duration { return time.Duration(draw(n)) * time.Millisecond }

	var count ledger
	answer := func(ctx context.Context, s *session) (Outcome, error) {
		out := Outcome{Rows: 1, OpenTran: draw(5) == 0}
		took := ms(50)
		switch draw(20) {
		case 0:
			out.Errors = []ServerError{{Number: 1205, Class: 13}}
		case 1:
			out.Errors = []ServerError{{Number: 40197, Class: 17}}
		case 2:
			out.Errors = []ServerError{{Number: 2627, Class: 14}}
		case 3:
			return out, &LostError{Number: []int32{0, 596, 40613}[draw(3)], Err: errReset}
		case 4: // does not acknowledge a cancel
			select {
			case <-s.closed:
				return Outcome{}, &LostError{Err: errReset}
			case <-time.After(20 * time.Second):
			}
		case 5:
			took = time.Minute
		case 6:
			out.Errors = []ServerError{{Number: 823, Class: 24}}
		}
		timer := time.NewTimer(took)
		defer timer.Stop()
		select {
		case <-timer.C:
			return out, nil
		case <-ctx.Done():
			return Outcome{OpenTran: out.OpenTran}, ctx.Err()
		case <-s.closed:
			return Outcome{}, &LostError{Err: errReset}
		}
	}
	program := &ending{Program: mixture{}, ended: map[int]int{}}
	p := Plan{
		Connector: connectFunc(func(ctx context.Context) (Session, error) {
			if err := wait(ctx, ms(20)); err != nil {
				return nil, err
			}
			switch draw(20) {
			case 2: // ignores ctx
				time.Sleep(2 * time.Minute)
			case 0:
				return nil, &ConnectError{Err: errReset}
			case 1:
				return nil, &LoginError{Number: 18456}
			}
			count.opened.Add(1)
			s := newSession(nil)
			s.onEnd = func() { count.closed.Add(1) }
			return &countedSession{s, &count, answer}, nil
		}),
		Units: []Unit{{Name: "a", Program: program}}, Connections: 1 + draw(8), Iterations: int64(1 + draw(12)), FilesPerConnection: -1,
		LoginTimeout: time.Duration(draw(2)) * time.Second, QueryTimeout: time.Duration(draw(2)) * 200 * time.Millisecond,
		Reconnect: Reconnect(draw(3)), ReconnectFor: time.Second, StopOnError: draw(10) == 0,
		QueryDelay: ms(3), MaxRetries: draw(4), RetryInDoubt: draw(2) == 0, MaxWorkerErrors: int64(draw(3) * draw(8)),
		Faults: Faults{DisconnectPct: float64(draw(2) * draw(60)), BatchDisconnectPct: float64(draw(2) * draw(30)), CancelPct: float64(draw(2) * draw(40)),
			CancelDelayMin: ms(20), CancelDelay: ms(60), RollbackOnCancel: draw(2) == 0, Seed: seed},
		Verbose: draw(2) == 0, Events: func(Event) {},
	}
	p.sleep = asleep
	switch draw(6) {
	case 0:
		p.Rate, p.Arrivals, p.Late, p.Seed = pace.Rate(1+draw(200)), Arrivals(draw(2)), Late(draw(2)), seed
		p.MaxConnections = draw(2) * draw(10)
	case 1:
		p.Rate, p.Duration, p.Iterations = pace.Rate(1+draw(200)), ms(5000)+1, math.MaxInt64
		p.RampUp, p.Warmup, p.Cooldown = ms(1000), ms(1000), ms(1000)
	case 2:
		p.Duration, p.Iterations, p.MaxErrors = ms(5000)+1, math.MaxInt64, int64(draw(3))
		p.RampUp, p.Warmup, p.Cooldown = ms(1000), ms(1000), ms(1000)
	case 3:
		p.Iterations = math.MaxInt64
		for range 1 + draw(4) {
			p.Stages = append(p.Stages, Stage{Connections: 1 + draw(8), For: ms(2000) + 1})
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if draw(4) == 0 {
		timer := time.AfterFunc(ms(3000), cancel)
		defer timer.Stop()
	}
	load, err := Run(ctx, p)
	if wrong := check(load); wrong != nil {
		t.Errorf("%v (run: %v)\n%+v", wrong, err, p)
	}
	var stopped *StoppedError
	var refused *LoginError
	if err != nil && !errors.As(err, &stopped) && !errors.As(err, &refused) && !errors.Is(err, ErrNoConnection) && !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	for id := range max(p.most(), p.MaxConnections) {
		if program.ended[id] != 1 {
			t.Errorf("worker %d was told %d times to have ended", id, program.ended[id])
		}
	}
	time.Sleep(3 * time.Minute) // until logins that were left behind have ended
	if p.Warmup+p.RampUp+p.Cooldown == 0 {
		count.check(t, &p, &load)
	}
	if opened, closed := count.opened.Load(), count.closed.Load(); opened != closed {
		t.Errorf("%d sessions opened, %d closed", opened, closed)
	}
	if load.Latency.Batch.Count != load.Batches || load.Service != nil && load.Service.Batch.Count != load.Batches {
		t.Errorf("%d batches, %d times", load.Batches, load.Latency.Batch.Count)
	}
}
