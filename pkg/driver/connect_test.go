package driver

import (
	"context"
	"errors"
	"fmt"
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

func TestTenThousandConnections(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var c sessionCount
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
