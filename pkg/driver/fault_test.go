package driver

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync/atomic"
	"testing"
	"time"
)

func TestARefusedLoginIsTriedOnce(t *testing.T) {
	for _, number := range refusals {
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			simulate(t, func(t *testing.T) {
				tries := 0
				var events log
				var closed atomic.Int64
				p := plan(connectFunc(func(context.Context) (Session, error) {
					tries++
					return nil, fmt.Errorf("wrapped: %w", &LoginError{Number: number, State: 8, Server: "db1,1433", Login: "sa", Message: "No."})
				}), 100, 10)
				p.Events = events.add
				p.Sink = func(int, int) (Sink, error) { return &closingSink{closed: &closed}, nil }
				load, err := Run(t.Context(), p)
				var refused *LoginError
				if !errors.As(err, &refused) || refused.Number != number {
					t.Errorf("error %v", err)
				}
				if tries != 1 || events.count(ConnectFailed) != 1 || events.count(WorkerCreated) != 1 || closed.Load() != 100 {
					t.Errorf("%d logins, %d sinks closed, events %v", tries, closed.Load(), events.events)
				}
				want(t, load, map[string]int64{"connected": 0, "connect_failed": 1, "attempted": 0, "planned_iterations": 1000})
				if load.Interrupted {
					t.Error("interrupted")
				}
			})
		})
	}
}

type closingSink struct {
	closed *atomic.Int64
	err    error
}

func (*closingSink) Row([]any) error       { return nil }
func (*closingSink) Event(SinkEvent) error { return nil }
func (s *closingSink) Close() error        { s.closed.Add(1); return s.err }

func TestNobodyCanConnect(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var tries atomic.Int64
		var events log
		refusal := &ConnectError{Server: "127.0.0.1,1", Err: errors.New("connection refused")}
		p := plan(connectFunc(func(context.Context) (Session, error) {
			tries.Add(1)
			return nil, refusal
		}), 150, 1)
		p.Events = events.add
		load, err := Run(t.Context(), p)
		if !errors.Is(err, ErrNoConnection) || !errors.Is(err, refusal) {
			t.Errorf("error %v", err)
		}
		want(t, load, map[string]int64{"connected": 0, "connect_failed": 150, "attempted": 0})
		if tries.Load() != 150 || events.count(ConnectFailed) != inFull || events.count(Suppressed) != 1 {
			t.Errorf("%d tries, %d reported, %d summaries", tries.Load(), events.count(ConnectFailed), events.count(Suppressed))
		}
	})
}

func TestAServerThatAcceptsAndSaysNothing(t *testing.T) {
	for name, honours := range map[string]bool{"the connector minds its context": true, "it does not": false} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T) {
				end := make(chan struct{})
				defer close(end) // an abandoned worker still closes the session it gets at last
				p := plan(connectFunc(func(ctx context.Context) (Session, error) {
					if honours {
						<-ctx.Done()
						return nil, &ConnectError{Server: "h", Err: ctx.Err()}
					}
					<-end
					return newSession(takes(0)), nil
				}), 3, 1)
				p.LoginTimeout = 15 * time.Second
				start := time.Now()
				load, err := Run(t.Context(), p)
				if !errors.Is(err, ErrNoConnection) {
					t.Errorf("error %v", err)
				}
				want(t, load, map[string]int64{"connected": 0, "connect_failed": 3})
				if took := time.Since(start); took > time.Minute {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

func TestSomeCannotConnect(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var tries atomic.Int64
		var events log
		p := plan(connectFunc(func(context.Context) (Session, error) {
			if tries.Add(1)%2 == 0 {
				return nil, &LoginError{Number: 18456}
			}
			return newSession(takes(time.Millisecond)), nil
		}), 10, 3)
		p.Events = events.add
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want(t, load, map[string]int64{"connected": 5, "connect_failed": 5, "batches": 15, "attempted": 15, "planned_iterations": 30})
		if events.count(ConnectFailed) != 5 {
			t.Errorf("%v", events.events)
		}
	})
}

func TestQueryErrorsDoNotStopTheRun(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var events log
		p := plan(always(func(ctx context.Context, s *session, i int) (Outcome, error) {
			out, err := takes(time.Millisecond)(ctx, s, i)
			switch i % 4 {
			case 1:
				out.Errors = []ServerError{{Number: 1205, Class: 13, Message: "deadlock"}}
			case 2:
				out.Errors = []ServerError{{Number: 8134, Class: 16}, {Number: 3621, Class: 16}}
			}
			return out, err
		}), 2, 100)
		p.Units[0].Program = batches(2)
		p.Events = events.add
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		// Batches go good, 1205 | 8134, good: no iteration is good.
		want(t, load, map[string]int64{"batches": 200, "failed_batches": 200, "iterations": 0, "failed_iterations": 200,
			"deadlocks": 100, "rows": 400, "attempted": 400})
		if load.ErrorsByNumber[1205] != 100 || load.ErrorsByNumber[8134] != 100 || load.ErrorsByNumber[3621] != 100 {
			t.Errorf("errors %v", load.ErrorsByNumber)
		}
		if load.FailedLatency.Batch.Count != 200 || load.Latency.Batch.Count != 200 || load.FailedLatency.Iteration.Count != 200 || load.Latency.Iteration.Count != 0 {
			t.Errorf("latency %+v failed %+v", load.Latency, load.FailedLatency)
		}
		if events.count(QueryError) != 300 {
			t.Errorf("%d errors reported", events.count(QueryError))
		}
	})
}

func TestErrorStorm(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var events log
		p := plan(always(func(ctx context.Context, s *session, i int) (Outcome, error) {
			_, err := takes(100*time.Microsecond)(ctx, s, i)
			return Outcome{Errors: []ServerError{{Number: 50000, Class: 16, Message: fmt.Sprint("error ", i)}}}, err
		}), 4, 10_000)
		p.Events = func(e Event) {
			time.Sleep(time.Millisecond) // a slow terminal
			events.add(e)
		}
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want(t, load, map[string]int64{"failed_batches": 40_000, "failed_iterations": 40_000})
		if load.RunS != 1 {
			t.Errorf("the log slowed the run to %v s", load.RunS)
		}
		told := int64(events.count(QueryError))
		if told != inFull {
			t.Errorf("%d errors in full", told)
		}
		for _, e := range events.events {
			if e.Kind == Suppressed {
				told += e.Count
				if e.Of != QueryError || e.Server.Number != 50000 || e.Worker != -1 {
					t.Errorf("summary %+v", e)
				}
			}
		}
		if told != 40_000 || events.count(Suppressed) > 3 {
			t.Errorf("%d errors told of, %d summaries", told, events.count(Suppressed))
		}
	})
}

func TestStopOnError(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := plan(always(func(ctx context.Context, s *session, i int) (Outcome, error) {
			if i == 7 {
				return Outcome{Errors: []ServerError{{Number: 208, Class: 16, Message: "Invalid object name."}}}, nil
			}
			return takes(time.Second)(ctx, s, i)
		}), 1, 100)
		p.StopOnError = true
		load, err := Run(t.Context(), p)
		var stopped *StoppedError
		var server ServerError
		if !errors.As(err, &stopped) || !errors.As(err, &server) || server.Number != 208 {
			t.Errorf("error %v", err)
		}
		want(t, load, map[string]int64{"batches": 7, "failed_batches": 1, "attempted": 8, "attempted_iterations": 8})
		if load.Interrupted {
			t.Error("interrupted")
		}
	})
}

func TestAQuotaStopsTheRun(t *testing.T) {
	simulate(t, func(t *testing.T) {
		load, err := Run(t.Context(), plan(always(func(context.Context, *session, int) (Outcome, error) {
			return Outcome{Errors: []ServerError{{Number: 41823, Class: 16}}}, nil
		}), 1, 100))
		var stopped *StoppedError
		if !errors.As(err, &stopped) {
			t.Errorf("error %v", err)
		}
		want(t, load, map[string]int64{"failed_batches": 1})
	})
}

func TestABrokenConnectionIsReopened(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var events log
		var c counter
		p := plan(c.connector(func(ctx context.Context, s *session, i int) (Outcome, error) {
			if _, err := takes(time.Millisecond)(ctx, s, i); err != nil {
				return Outcome{}, err
			}
			if i == 3 {
				return Outcome{}, &LostError{Err: errReset}
			}
			return Outcome{}, nil
		}), 1, 4)
		p.Units[0].Program = batches(5)
		p.Events = events.add
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		// 20 batches, 4 on each session, the last of which breaks it.
		want(t, load, map[string]int64{"batches": 15, "in_doubt": 5, "lost_connections": 5, "reconnects": 4,
			"attempted": 20, "in_doubt_iterations": 4, "iterations": 0})
		if events.count(Lost) != 5 || events.count(Reconnected) != 4 {
			t.Errorf("%v", events.events)
		}
		if c.opened.Load() != 5 || c.closed.Load() != 5 {
			t.Errorf("%d opened, %d closed", c.opened.Load(), c.closed.Load())
		}
		if load.RunS < 0.2+0.02 || load.RunS > 0.4+0.02 {
			t.Errorf("run_s = %v with four waits of 50 to 100 ms", load.RunS)
		}
	})
}

func TestReconnectBackoff(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var logins []time.Time
		up := true
		p := plan(connectFunc(func(context.Context) (Session, error) {
			logins = append(logins, time.Now())
			if !up {
				return nil, &ConnectError{Server: "h", Err: errors.New("refused")}
			}
			return newSession(func(context.Context, *session, int) (Outcome, error) {
				up = false
				return Outcome{}, &LostError{Err: errReset}
			}), nil
		}), 1, 2)
		load, err := Run(t.Context(), p)
		var stopped *StoppedError
		if !errors.As(err, &stopped) {
			t.Errorf("error %v", err)
		}
		want(t, load, map[string]int64{"in_doubt": 1, "skipped": 1, "attempted": 2, "in_doubt_iterations": 1, "skipped_iterations": 1, "given_up": 1})
		backoff := firstBackoff
		for i := 1; i < len(logins); i++ {
			if gap := logins[i].Sub(logins[i-1]); gap < backoff/2 || gap > backoff {
				t.Errorf("gap %d is %v, want %v to %v", i, gap, backoff/2, backoff)
			}
			backoff = min(2*backoff, mostBackoff)
		}
		if took := logins[len(logins)-1].Sub(logins[1]); took < DefaultReconnectFor || took > DefaultReconnectFor+mostBackoff {
			t.Errorf("it tried for %v", took)
		}
	})
}

func TestReconnectsAreAtMostFiftyASecond(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var down atomic.Bool
		var again atomic.Int64
		p := plan(connectFunc(func(context.Context) (Session, error) {
			if down.Load() {
				again.Add(1)
			}
			return newSession(func(ctx context.Context, s *session, i int) (Outcome, error) {
				if !down.Load() {
					time.Sleep(time.Second)
					down.Store(true)
					return Outcome{}, &LostError{Err: errReset}
				}
				return takes(time.Millisecond)(ctx, s, i)
			}), nil
		}), 500, 2)
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want(t, load, map[string]int64{"in_doubt": 500, "batches": 500, "reconnects": 500})
		if load.RunS < 1+499./50 || load.RunS > 1+0.2+500./50 {
			t.Errorf("500 logins took %v s", load.RunS-1)
		}
	})
}

func TestAKilledSessionIsLeftAlone(t *testing.T) {
	kills := map[string]func() (Outcome, error){
		"told by the connection": func() (Outcome, error) { return Outcome{}, &LostError{Number: 596, Err: errReset} },
		"told by a message": func() (Outcome, error) {
			return Outcome{Errors: []ServerError{{Number: 596, Class: 21}}}, nil
		},
		"told by both": func() (Outcome, error) {
			return Outcome{Errors: []ServerError{{Number: 596, Class: 21}}}, &LostError{Err: errReset}
		},
	}
	for name, kill := range kills {
		for mode, reconnects := range map[Reconnect]int64{ReconnectBackoff: 0, ReconnectNever: 0, ReconnectAlways: 1} {
			t.Run(fmt.Sprint(name, " ", mode), func(t *testing.T) {
				simulate(t, func(t *testing.T) {
					var first atomic.Bool
					p := plan(always(func(ctx context.Context, s *session, i int) (Outcome, error) {
						if first.CompareAndSwap(false, true) {
							return kill()
						}
						return takes(time.Millisecond)(ctx, s, i)
					}), 2, 10)
					p.Reconnect = mode
					load, err := Run(t.Context(), p)
					if err != nil {
						t.Fatal(err)
					}
					given := 1 - reconnects
					want(t, load, map[string]int64{"reconnects": reconnects, "given_up": given, "skipped": given, "lost_connections": 1,
						"batches": 10 + 9*reconnects, "planned_iterations": 20})
				})
			})
		}
	}
}

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
		var c counter
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
				var count counter
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

func TestInterruptedWhileLoggingIn(t *testing.T) {
	simulate(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		load, err := Run(ctx, plan(connectFunc(func(ctx context.Context) (Session, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}), 10, 1))
		if !errors.Is(err, context.DeadlineExceeded) || !load.Interrupted || load.ConnectFailed != 0 || load.ElapsedS != 1 {
			t.Errorf("error %v, %+v", err, load)
		}
	})
}

func TestInterruptedWhileReconnecting(t *testing.T) {
	simulate(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		up := true
		load, err := Run(ctx, plan(connectFunc(func(context.Context) (Session, error) {
			if !up {
				return nil, errReset
			}
			up = false
			return newSession(func(context.Context, *session, int) (Outcome, error) { return Outcome{}, &LostError{} }), nil
		}), 1, 5))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		want(t, load, map[string]int64{"in_doubt": 1, "attempted": 1, "in_doubt_iterations": 1, "cancelled_iterations": 1, "attempted_iterations": 2})
	})
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
		want(t, load, map[string]int64{"cancelled": 10, "cancelled_iterations": 10, "attempted": 10, "lost_connections": 0})
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

func TestSinkErrors(t *testing.T) {
	full := errors.New("no space left on device")
	t.Run("at the start", func(t *testing.T) {
		simulate(t, func(t *testing.T) {
			var closed atomic.Int64
			p := plan(always(takes(0)), 3, 1)
			p.Events = func(Event) {}
			p.Sink = func(_, conn int) (Sink, error) {
				if conn == 2 {
					return nil, full
				}
				return &closingSink{closed: &closed}, nil
			}
			if _, err := Run(t.Context(), p); !errors.Is(err, full) || closed.Load() != 2 {
				t.Errorf("error %v, %d closed", err, closed.Load())
			}
		})
	})
	t.Run("in the middle", func(t *testing.T) {
		simulate(t, func(t *testing.T) {
			load, err := Run(t.Context(), plan(always(func(ctx context.Context, s *session, i int) (Outcome, error) {
				if i == 3 {
					return Outcome{}, &SinkError{Err: full}
				}
				return takes(time.Millisecond)(ctx, s, i)
			}), 1, 10))
			if !errors.Is(err, full) {
				t.Errorf("error %v", err)
			}
			want(t, load, map[string]int64{"batches": 3, "in_doubt": 1, "lost_connections": 0})
		})
	})
	t.Run("at the end", func(t *testing.T) {
		simulate(t, func(t *testing.T) {
			var closed atomic.Int64
			p := plan(always(takes(0)), 1, 1)
			p.Sink = func(int, int) (Sink, error) { return &closingSink{closed: &closed, err: full}, nil }
			load, err := Run(t.Context(), p)
			if !errors.Is(err, full) || load.Batches != 1 {
				t.Errorf("error %v", err)
			}
		})
	})
}

func TestOpenTransactionsAreCounted(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := plan(always(func(_ context.Context, _ *session, i int) (Outcome, error) {
			return Outcome{OpenTran: i%4 != 3}, nil
		}), 1, 6)
		p.Units[0].Program = batches(2)
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want(t, load, map[string]int64{"open_tran": 3, "iterations": 6})
	})
}

func TestTenThousandConnections(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var c counter
		p := plan(c.connector(takes(time.Millisecond)), 10_000, 3)
		p.QueryTimeout = time.Minute
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want(t, load, map[string]int64{"connected": 10_000, "batches": 30_000, "iterations": 30_000, "attempted": 30_000})
		if load.RunS != 0.003 || c.closed.Load() != 10_000 {
			t.Errorf("run_s %v, %d closed", load.RunS, c.closed.Load())
		}
	})
}

// nothing is a program with no requests, as of an empty file.
type nothing struct{}

func (nothing) Iteration(Worker, int64) iter.Seq[*Request] { return func(func(*Request) bool) {} }

func TestPlansThatAreNone(t *testing.T) {
	t.Parallel()
	good := plan(always(takes(0)), 1, 1)
	for name, spoil := range map[string]func(*Plan){
		"no connector":   func(p *Plan) { p.Connector = nil },
		"no unit":        func(p *Plan) { p.Units = nil },
		"no connections": func(p *Plan) { p.Connections = 0 },
		"no iterations":  func(p *Plan) { p.Iterations = -1 },
		"too many files": func(p *Plan) { p.FilesPerConnection = math.MaxInt32; p.Connections = math.MaxInt32 },
	} {
		p := good
		spoil(&p)
		if _, err := Run(t.Context(), p); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	p := good
	p.Units = []Unit{{Program: nothing{}}}
	p.Iterations = 5
	load, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	want(t, load, map[string]int64{"iterations": 5, "attempted": 0})
}

// cheap is a session that answers at once and without a word.
type cheap struct{}

func (cheap) Do(context.Context, *Request, Sink) (Outcome, error) { return Outcome{Rows: 1}, nil }
func (cheap) Close() error                                        { return nil }

func BenchmarkCall(b *testing.B) {
	for name, timeout := range map[string]time.Duration{"no timeout": 0, "timeout": time.Minute} {
		b.Run(name, func(b *testing.B) {
			p := plan(connectFunc(func(context.Context) (Session, error) { return cheap{}, nil }), 1, 1)
			p.Units[0].Program = batches(b.N)
			p.QueryTimeout = timeout
			b.ReportAllocs()
			load, err := Run(b.Context(), p)
			if err != nil || load.Batches != int64(b.N) {
				b.Fatal(err, load.Batches)
			}
			b.ReportMetric(load.RunS*1e9/float64(b.N), "ns/call")
		})
	}
}

func TestACallAllocatesNothing(t *testing.T) {
	const calls = 100_000
	run := func(n int) uint64 {
		p := plan(connectFunc(func(context.Context) (Session, error) { return cheap{}, nil }), 1, 1)
		p.Units[0].Program = batches(n)
		p.QueryTimeout = time.Minute
		return uint64(testing.AllocsPerRun(1, func() {
			if _, err := Run(t.Context(), p); err != nil {
				t.Error(err)
			}
		}))
	}
	if few, many := run(1), run(calls); many > few+calls/100 {
		t.Errorf("%d allocations for one call, %d for %d", few, many, calls)
	}
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

func TestARequestThatCanNeverBeCarriedOutStopsTheRun(t *testing.T) {
	simulate(t, func(t *testing.T) {
		reason := errors.New("a parameter of type geography is not supported")
		load, err := Run(t.Context(), plan(always(func(context.Context, *session, int) (Outcome, error) {
			return Outcome{}, &FatalError{Err: reason}
		}), 1, 10))
		if !errors.Is(err, reason) {
			t.Errorf("error %v", err)
		}
		want(t, load, map[string]int64{"failed_batches": 1, "attempted": 1})
	})
}
