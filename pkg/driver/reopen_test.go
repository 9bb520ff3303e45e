package driver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"
)

func TestABrokenConnectionIsReopened(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var events log
		var c sessionCount
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

func TestCutConnectionsAreReopenedInTurn(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := plan(always(func(_ context.Context, s *session, _ int) (Outcome, error) {
			<-s.closed
			return Outcome{}, &LostError{Err: errReset}
		}), 100, 3)
		p.Faults = Faults{BatchDisconnectPct: 100}
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want(t, load, map[string]int64{"in_doubt": 300, "lost_connections": 0, "reconnects": 0})
		// The first 100 logins are the run's own.
		if least := 199. / reloginsPerSecond; load.InjectedDisconnects != 300 || load.RunS < least || load.RunS > least+0.1 {
			t.Errorf("%d cuts in %v s", load.InjectedDisconnects, load.RunS)
		}
	})
}

func TestATimeThatIsOverWaitsForNoTurn(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := plan(always(func(context.Context, *session, int) (Outcome, error) {
			return Outcome{}, &LostError{Err: errReset}
		}), 1000, math.MaxInt64)
		p.Duration = 2 * time.Second
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want(t, load, map[string]int64{"batches": 0, "cancelled": 0})
		if load.ElapsedS > 2.2 || load.EndedBy != EndedByDuration {
			t.Errorf("it took %v s, and was ended by %s", load.ElapsedS, load.EndedBy)
		}
	})
}
