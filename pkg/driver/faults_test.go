package driver

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"
)

func TestFaultsFallAsOftenAsAsked(t *testing.T) {
	t.Parallel()
	for _, pct := range []float64{0, 0.5, 12.5, 50, 99, 100} {
		f := Faults{Seed: 42}
		const workers, each = 50, 2000
		hits := 0
		for w := range workers {
			for n := range int64(each) {
				if f.hits(pct, saltCancel, w, n) {
					hits++
				}
			}
		}
		total := float64(workers * each)
		if got := float64(hits) / total * 100; math.Abs(got-pct) > 5*math.Sqrt(pct*(100-pct)/total) {
			t.Errorf("%v %% were %v %%", pct, got)
		}
	}
	a, b, c := Faults{Seed: 1}, Faults{Seed: 1}, Faults{Seed: 2}
	same, other := 0, 0
	for n := range int64(1000) {
		if a.hits(50, saltCut, 3, n) == b.hits(50, saltCut, 3, n) {
			same++
		}
		if a.hits(50, saltCut, 3, n) == c.hits(50, saltCut, 3, n) {
			other++
		}
	}
	if same != 1000 || other < 400 || other > 600 {
		t.Errorf("one seed agrees with itself %d times, two with each other %d times of 1000", same, other)
	}
}

func TestCancelDelays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ min, max, from, to time.Duration }{
		{0, 0, 0, 0}, {0, time.Second, 0, time.Second}, {time.Second, 2 * time.Second, time.Second, 2 * time.Second}, {time.Second, 0, time.Second, time.Second},
	} {
		f := Faults{CancelDelayMin: c.min, CancelDelay: c.max}
		least, most := time.Hour, time.Duration(0)
		for n := range int64(2000) {
			d := f.delay(1, n)
			least, most = min(least, d), max(most, d)
		}
		slack := (c.to - c.from) / 50
		if least < c.from || most > c.to || least > c.from+slack || most < c.to-slack {
			t.Errorf("%v to %v: between %v and %v", c.min, c.max, least, most)
		}
	}
}

func TestCancelPct(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var l log
		p := plan(always(takes(time.Second)), 2, 10)
		p.Faults = Faults{CancelPct: 100, CancelDelayMin: 200 * time.Millisecond, CancelDelay: 400 * time.Millisecond}
		p.Verbose, p.Events = true, l.add
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Error(err)
		}
		want(t, load, map[string]int64{"cancelled": 20, "cancelled_iterations": 20, "timeouts": 0, "lost_connections": 0, "attempted": 20})
		if load.InjectedCancels != 20 || l.count(Cancelled) != 20 {
			t.Errorf("%d cancels, %d events", load.InjectedCancels, l.count(Cancelled))
		}
		if load.RunS < 10*0.2 || load.RunS > 10*0.4+0.1 {
			t.Errorf("10 batches cancelled after 200 to 400 ms took %v s", load.RunS)
		}
	})
}

func TestAQuickBatchIsNotCancelled(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := plan(always(takes(100*time.Millisecond)), 1, 10)
		p.Faults = Faults{CancelPct: 100, CancelDelayMin: time.Second, CancelDelay: time.Second}
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Error(err)
		}
		want(t, load, map[string]int64{"batches": 10, "cancelled": 0})
	})
}

func TestACancelThatIsNotAcknowledgedIsInDoubt(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := plan(always(func(_ context.Context, s *session, _ int) (Outcome, error) {
			<-s.closed
			return Outcome{}, &LostError{Err: errReset}
		}), 1, 2)
		p.Faults = Faults{CancelPct: 100}
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Error(err)
		}
		want(t, load, map[string]int64{"cancelled": 0, "in_doubt": 2, "timeouts": 0, "lost_connections": 2, "attempted": 2})
		if load.InjectedCancels != 2 {
			t.Errorf("%d cancels", load.InjectedCancels)
		}
	})
}

func TestTheQueryTimeoutOfABatchThatIsToBeCancelledLater(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := plan(always(takes(time.Minute)), 1, 3)
		p.QueryTimeout = time.Second
		p.Faults = Faults{CancelPct: 100, CancelDelayMin: 10 * time.Second, CancelDelay: 10 * time.Second}
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Error(err)
		}
		want(t, load, map[string]int64{"cancelled": 0, "in_doubt": 3, "timeouts": 3, "lost_connections": 0})
		if load.InjectedCancels != 0 {
			t.Errorf("%d cancels", load.InjectedCancels)
		}
	})
}

// texts is a Session's answers by what it is asked.
type texts struct {
	mu   sync.Mutex
	seen []string
}

func (x *texts) connector(do func(ctx context.Context, text string) (Outcome, error)) Connector {
	return connectFunc(func(context.Context) (Session, error) {
		s := newSession(nil)
		return &textSession{session: s, x: x, answer: do}, nil
	})
}

type textSession struct {
	*session
	x      *texts
	answer func(ctx context.Context, text string) (Outcome, error)
}

func (s *textSession) Do(ctx context.Context, r *Request, _ Sink) (Outcome, error) {
	s.x.mu.Lock()
	s.x.seen = append(s.x.seen, r.Text)
	s.x.mu.Unlock()
	return s.answer(ctx, r.Text)
}

func TestRollbackOnCancel(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var x texts
		p := plan(x.connector(func(ctx context.Context, text string) (Outcome, error) {
			if text == rollBackRequest.Text {
				return Outcome{}, nil
			}
			err := wait(ctx, time.Second)
			return Outcome{OpenTran: true}, err
		}), 1, 2)
		p.Faults = Faults{CancelPct: 100, RollbackOnCancel: true}
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Error(err)
		}
		want(t, load, map[string]int64{"cancelled": 2, "open_tran": 0})
		if len(x.seen) != 4 || x.seen[1] != rollBackRequest.Text || x.seen[3] != rollBackRequest.Text || load.RolledBack != 0 {
			t.Errorf("sent %q, rolled back %d", x.seen, load.RolledBack)
		}
	})
}

func TestBatchDisconnectPct(t *testing.T) {
	simulate(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			takes time.Duration
			want  map[string]int64
		}{
			"in flight":    {time.Second, map[string]int64{"in_doubt": 10, "batches": 0}},
			"right behind": {0, map[string]int64{"in_doubt": 0, "batches": 10}},
		} {
			var n sessionCount
			p := plan(n.connector(func(ctx context.Context, s *session, _ int) (Outcome, error) {
				if c.takes == 0 {
					return Outcome{}, nil
				}
				select {
				case <-s.closed:
					return Outcome{}, &LostError{Err: errReset}
				case <-time.After(c.takes):
					return Outcome{}, nil
				}
			}), 1, 10)
			p.Faults = Faults{BatchDisconnectPct: 100}
			p.StopOnError = true // it is no error of the server's
			load, err := Run(t.Context(), p)
			if err != nil {
				t.Error(name, err)
			}
			c.want["lost_connections"], c.want["reconnects"] = 0, 0
			want(t, load, c.want)
			if load.InjectedDisconnects != 10 || n.opened.Load() != 10 || n.closed.Load() != 10 || load.RunS > 0.5 {
				t.Errorf("%s: %d cuts, %d opened, %d closed, in %v s", name, load.InjectedDisconnects, n.opened.Load(), n.closed.Load(), load.RunS)
			}
		}
	})
}

func TestDisconnectPct(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var n sessionCount
		p := plan(n.connector(takes(time.Millisecond)), 4, 25)
		p.Faults = Faults{DisconnectPct: 100}
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Error(err)
		}
		want(t, load, map[string]int64{"batches": 100, "iterations": 100, "reconnects": 0, "disconnects": 96, "lost_connections": 0})
		if load.Disconnects != 96 || n.opened.Load() != 100 || n.closed.Load() != 100 {
			t.Errorf("%d disconnects, %d opened, %d closed", load.Disconnects, n.opened.Load(), n.closed.Load())
		}
	})
}

func TestADisconnectRollsBack(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var n sessionCount
		p := plan(n.connector(func(context.Context, *session, int) (Outcome, error) { return Outcome{OpenTran: true}, nil }), 1, 2)
		p.Units[0].Program = &sequence{requests: []*Request{oneRequest, parting, parting, oneRequest, parting}}
		p.Reconnect = ReconnectNever // that is for connections that break
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Error(err)
		}
		// The rollbacks are requests too, and none of the program's.
		want(t, load, map[string]int64{"batches": 4, "attempted": 4, "iterations": 2, "reconnects": 0, "open_tran": 0})
		if load.Disconnects != 4 || load.RolledBack != 4 || n.opened.Load() != 4 || n.closed.Load() != 4 {
			t.Errorf("%d disconnects, %d rolled back, %d opened, %d closed", load.Disconnects, load.RolledBack, n.opened.Load(), n.closed.Load())
		}
	})
}

func TestWhatIsOpenAtTheEndIsRolledBack(t *testing.T) {
	simulate(t, func(t *testing.T) {
		for name, fails := range map[string]error{"rolled back": nil, "refused": errors.New("no")} {
			var x texts
			var l log
			p := plan(x.connector(func(_ context.Context, text string) (Outcome, error) {
				if text == rollBackRequest.Text {
					return Outcome{}, fails
				}
				return Outcome{OpenTran: true}, nil
			}), 1, 3)
			p.Events = l.add
			load, err := Run(t.Context(), p)
			if err != nil {
				t.Error(err)
			}
			want(t, load, map[string]int64{"batches": 3, "open_tran": 3})
			if len(x.seen) != 4 || x.seen[3] != rollBackRequest.Text || load.RolledBack != 1 || l.count(RolledBack) != 1 {
				t.Errorf("%s: sent %q, %d rolled back, %d events", name, x.seen, load.RolledBack, l.count(RolledBack))
			}
		}
	})
}

func TestQueryDelay(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := plan(always(takes(time.Second)), 2, 3)
		p.Units[0].Program = batches(2)
		p.QueryDelay = 10 * time.Second
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Error(err)
		}
		want(t, load, map[string]int64{"batches": 12})
		if load.RunS != 6+5*10 || load.Latency.Batch.MaxUS != 1e6 {
			t.Errorf("it took %v s, a batch %v us", load.RunS, load.Latency.Batch.MaxUS)
		}
	})
}

// TestErrorsBeforeAFault: a batch that the server answered with an error is what it would have been, though
// its cancel or cut was on its way.
func TestErrorsBeforeAFault(t *testing.T) {
	deadlock := func(context.Context, *session, int) (Outcome, error) {
		time.Sleep(time.Second) // until the fault has come
		return Outcome{Errors: []ServerError{{Number: 1205, Class: 13}}}, nil
	}
	for name, c := range map[string]struct {
		faults  Faults
		change  func(*Plan)
		want    map[string]int64
		retries int64
		stopped bool
	}{
		"cancel, -b":             {Faults{CancelPct: 100}, func(p *Plan) { p.StopOnError = true }, map[string]int64{"failed_batches": 1, "attempted": 1}, 0, true},
		"cut, -b":                {Faults{BatchDisconnectPct: 100}, func(p *Plan) { p.StopOnError = true }, map[string]int64{"failed_batches": 1, "attempted": 1}, 0, true},
		"cancel, retried":        {Faults{CancelPct: 100}, func(p *Plan) { p.MaxRetries = 2 }, map[string]int64{"failed_batches": 5, "attempted": 5}, 10, false},
		"cut, retries allowed":   {Faults{BatchDisconnectPct: 100}, func(p *Plan) { p.MaxRetries = 2 }, map[string]int64{"failed_batches": 5, "attempted": 5}, 0, false},
		"cancel, errors bounded": {Faults{CancelPct: 100}, func(p *Plan) { p.MaxWorkerErrors = 2 }, map[string]int64{"failed_batches": 2, "attempted": 2}, 0, true},
		"cut, errors bounded":    {Faults{BatchDisconnectPct: 100}, func(p *Plan) { p.MaxWorkerErrors = 2 }, map[string]int64{"failed_batches": 2, "attempted": 2}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T) {
				p := plan(always(deadlock), 1, 5)
				p.Faults = c.faults
				c.change(&p)
				load, err := Run(t.Context(), p)
				var stopped *StoppedError
				if errors.As(err, &stopped) != c.stopped {
					t.Errorf("error %v", err)
				}
				c.want["cancelled"], c.want["in_doubt"] = 0, 0
				want(t, load, c.want)
				if load.Retries != c.retries || load.InjectedCancels != 0 {
					t.Errorf("%d retries, %d cancels", load.Retries, load.InjectedCancels)
				}
			})
		})
	}
}

// TestWhatTheRunDoesIsNoErrorOfAWorkers: limits on errors are for others' errors.
func TestWhatTheRunDoesIsNoErrorOfAWorkers(t *testing.T) {
	for name, faults := range map[string]Faults{"cut": {BatchDisconnectPct: 100}, "cancel": {CancelPct: 100}} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T) {
				p := plan(always(func(_ context.Context, s *session, _ int) (Outcome, error) {
					<-s.closed // a cancel is not acknowledged
					return Outcome{}, &LostError{Err: errReset}
				}), 2, 4)
				p.Faults = faults
				p.StopOnError, p.MaxErrors, p.MaxWorkerErrors, p.MaxRetries, p.RetryInDoubt = true, 1, 1, 1, true
				load, err := Run(t.Context(), p)
				if err != nil {
					t.Error(err)
				}
				want(t, load, map[string]int64{"in_doubt": 8, "attempted": 8, "in_doubt_iterations": 8})
				if load.Retries != 0 || load.EndedByErrors != 0 {
					t.Errorf("%d retries, %d workers ended", load.Retries, load.EndedByErrors)
				}
			})
		})
	}
}

// TestAKillBesidesACut: who ended a session on the server wants it gone, also where the run would have.
func TestAKillBesidesACut(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := plan(always(func(_ context.Context, s *session, _ int) (Outcome, error) {
			<-s.closed
			return Outcome{}, &LostError{Number: numKilled, Err: errReset}
		}), 1, 4)
		p.Faults = Faults{BatchDisconnectPct: 100}
		load, err := Run(t.Context(), p)
		var stopped *StoppedError
		if !errors.As(err, &stopped) {
			t.Errorf("error %v", err)
		}
		want(t, load, map[string]int64{"in_doubt": 1, "skipped": 1, "given_up": 1, "lost_connections": 1})
	})
}

// TestACancelThatComesTooLate: a batch that ended, or that its query timeout cancelled, was not cancelled by a
// fault whose time came behind that.
func TestACancelThatComesTooLate(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := plan(always(takes(0)), 1, 1)
		p.Faults = Faults{CancelPct: 100, CancelDelayMin: time.Second}
		r := newRunner(t.Context(), p)
		defer r.cancel(nil)
		w := &r.workers[0]
		for name, c := range map[string]struct {
			now   func(mark int64) int64 // the worker's wait as the fault finds it
			fired bool
		}{
			"in flight": {func(mark int64) int64 { return mark }, true},
			"ended":     {func(int64) int64 { return idle }, false},
			"timed out": {func(mark int64) int64 { return -mark }, false},
			"the next":  {func(mark int64) int64 { return mark + 1 }, false},
		} {
			mark := w.beginWait(opDo, r.clock.Now())
			f := w.inject(mark)
			w.wait.Store(c.now(mark))
			time.Sleep(2 * time.Second)
			if f.hasFired() != c.fired || (f.ctx.Err() != nil) != c.fired {
				t.Errorf("%s: fired %v, context %v", name, f.hasFired(), f.ctx.Err())
			}
			f.end()
		}
	})
}
