package driver

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

func TestQueryTimeoutThatTheServerAcknowledges(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var events log
		p := plan(always(func(ctx context.Context, s *session, i int) (Outcome, error) {
			if i == 2 {
				return takes(time.Hour)(ctx, s, i)
			}
			return takes(900*time.Millisecond)(ctx, s, i)
		}), 3, 5)
		p.QueryTimeout = time.Second
		p.Events = events.add
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want(t, load, map[string]int64{"batches": 12, "timeouts": 3, "in_doubt": 3, "in_doubt_iterations": 3, "lost_connections": 0, "reconnects": 0})
		if got := load.FailedLatency.Batch.MaxUS; got < 1e6 || got > 1.06e6 {
			t.Errorf("cancelled after %v us", got)
		}
		if events.count(QueryTimeout) != 3 {
			t.Errorf("%v", events.events)
		}
	})
}

func TestAServerThatNeverAnswersTheCancel(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var c sessionCount
		p := plan(c.connector(func(ctx context.Context, s *session, i int) (Outcome, error) {
			if i == 1 {
				<-s.closed
				return Outcome{}, &LostError{Err: errReset}
			}
			return takes(10*time.Millisecond)(ctx, s, i)
		}), 1, 4)
		p.QueryTimeout = 2 * time.Second
		p.CancelGrace = 3 * time.Second
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want(t, load, map[string]int64{"batches": 2, "timeouts": 2, "in_doubt": 2, "lost_connections": 2, "reconnects": 1, "abandoned": 0})
		if got := load.FailedLatency.Batch.MaxUS; got < 5e6 || got > 5.3e6 {
			t.Errorf("it took %v us, want 2 s and 3 s of grace", got)
		}
		if c.opened.Load() != c.closed.Load() {
			t.Errorf("%d opened, %d closed", c.opened.Load(), c.closed.Load())
		}
	})
}

func TestASessionThatNotEvenEndsWhenClosed(t *testing.T) {
	simulate(t, func(t *testing.T) {
		end := make(chan struct{})
		var events log
		p := plan(always(func(ctx context.Context, s *session, i int) (Outcome, error) {
			if i == 1 {
				<-end
				return Outcome{Rows: 1000}, nil
			}
			return takes(10*time.Millisecond)(ctx, s, i)
		}), 2, 4)
		p.QueryTimeout = time.Second
		p.Events = events.add
		load, err := Run(t.Context(), p)
		var stopped *StoppedError
		if !errors.As(err, &stopped) { // both connections are gone
			t.Errorf("error %v", err)
		}
		want(t, load, map[string]int64{"batches": 2, "rows": 2, "timeouts": 2, "in_doubt": 2, "in_doubt_iterations": 2, "lost_connections": 2, "given_up": 2, "abandoned": 2})
		if events.count(Abandoned) != 2 {
			t.Errorf("%v", events.events)
		}
		close(end) // or the bubble would find them
	})
}

func TestInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		after     time.Duration
		batches   int64
		cancelled int64
	}{"at once": {0, 0, 0}, "in the middle": {250 * time.Millisecond, 10, 5}} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				reason := errors.New("interrupted")
				if c.after == 0 {
					cancel(reason)
				} else {
					time.AfterFunc(c.after, func() { cancel(reason) })
				}
				var closed atomic.Int64
				var count sessionCount
				p := plan(count.connector(takes(100*time.Millisecond)), 5, 100)
				p.Sink = func(int, int) (Sink, error) { return &closingSink{closed: &closed}, nil }
				var events log
				p.Events = events.add
				load, err := Run(ctx, p)
				if !errors.Is(err, reason) || !load.Interrupted {
					t.Errorf("error %v, interrupted %v", err, load.Interrupted)
				}
				want(t, load, map[string]int64{"batches": c.batches, "cancelled": c.cancelled, "cancelled_iterations": c.cancelled, "attempted": c.batches + c.cancelled})
				if count.opened.Load() != count.closed.Load() || closed.Load() != 5 || events.count(Stopping) != 1 {
					t.Errorf("%d opened, %d closed, %d sinks closed, events %v", count.opened.Load(), count.closed.Load(), closed.Load(), events.events)
				}
				if want := c.after.Seconds(); load.ElapsedS != want {
					t.Errorf("elapsed %v, want %v", load.ElapsedS, want)
				}
			})
		})
	}
}

func TestInterruptedAgainstAServerThatIgnoresTheCancel(t *testing.T) {
	simulate(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		load, err := Run(ctx, plan(always(func(_ context.Context, s *session, _ int) (Outcome, error) {
			<-s.closed
			return Outcome{}, &LostError{Err: errReset}
		}), 10, 5))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		want(t, load, map[string]int64{"in_doubt": 10, "in_doubt_iterations": 10, "attempted": 10, "lost_connections": 0})
		if load.ElapsedS > 1+DefaultCancelGrace.Seconds()+0.3 {
			t.Errorf("it ended after %v s", load.ElapsedS)
		}
	})
}

func TestAnInterruptAfterTheLastAnswerInterruptsNothing(t *testing.T) {
	simulate(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		load, err := Run(ctx, plan(always(func(context.Context, *session, int) (Outcome, error) {
			cancel()
			return Outcome{}, nil
		}), 1, 1))
		if err != nil || load.Interrupted || load.Batches != 1 {
			t.Errorf("error %v, %+v", err, load)
		}
	})
}

func TestStopOnErrorCancelsWhatIsInFlight(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var workers atomic.Int64
		p := plan(connectFunc(func(context.Context) (Session, error) {
			first := workers.Add(1) == 1
			return newSession(func(ctx context.Context, s *session, i int) (Outcome, error) {
				if first {
					time.Sleep(time.Second)
					return Outcome{}, &LostError{Err: errReset}
				}
				return takes(time.Hour)(ctx, s, i)
			}), nil
		}), 4, 2)
		p.StopOnError = true
		load, err := Run(t.Context(), p)
		var stopped *StoppedError
		if !errors.As(err, &stopped) || !errors.Is(err, errReset) {
			t.Errorf("error %v", err)
		}
		want(t, load, map[string]int64{"in_doubt": 1, "cancelled": 3, "attempted": 4, "attempted_iterations": 4})
	})
}

func TestWhatAnInterruptLeavesOpenIsRolledBack(t *testing.T) {
	for name, c := range map[string]struct {
		rollback time.Duration // what the rollback takes
		fails    bool
		elapsed  float64
	}{
		"at once":            {0, false, 1},
		"it takes a while":   {time.Second, false, 2},
		"it does not answer": {time.Hour, true, 1 + DefaultCancelGrace.Seconds()},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				var events log
				var closed sessionCount
				p := plan(connectFunc(func(context.Context) (Session, error) {
					closed.opened.Add(1)
					s := newSession(nil)
					s.onEnd = func() { closed.closed.Add(1) }
					return &textSession{session: s, x: &texts{}, answer: func(ctx context.Context, text string) (Outcome, error) {
						if text != rollBackRequest.Text {
							return Outcome{OpenTran: true}, wait(ctx, time.Hour)
						}
						select {
						case <-s.closed:
							return Outcome{OpenTran: true}, &LostError{Err: errReset}
						case <-time.After(c.rollback):
							return Outcome{}, ctx.Err()
						}
					}}, nil
				}), 3, 2)
				p.Events = events.add
				load, err := Run(ctx, p)
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error %v", err)
				}
				want(t, load, map[string]int64{"cancelled": 3, "cancelled_iterations": 3, "open_tran": 3, "lost_connections": 0, "abandoned": 0})
				failed := 0
				for _, e := range events.events {
					if e.Kind == RolledBack && e.Err != nil {
						failed++
					}
				}
				if load.RolledBack != 3 || events.count(RolledBack) != 3 || (failed == 3) != c.fails || failed > 0 && !c.fails {
					t.Errorf("%d rolled back, %d events, %d of them failures", load.RolledBack, events.count(RolledBack), failed)
				}
				if load.ElapsedS < c.elapsed || load.ElapsedS > c.elapsed+0.3 || closed.opened.Load() != closed.closed.Load() {
					t.Errorf("it took %v s, %d opened, %d closed", load.ElapsedS, closed.opened.Load(), closed.closed.Load())
				}
			})
		})
	}
}
