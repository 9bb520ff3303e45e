package driver

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gostress/pkg/result"
)

// connectFunc is a Connector.
type connectFunc func(ctx context.Context) (Session, error)

func (f connectFunc) Connect(ctx context.Context) (Session, error) { return f(ctx) }

// session is a scripted Session: do answers call number i, from 0.
type session struct {
	do     func(ctx context.Context, s *session, i int) (Outcome, error)
	calls  int
	once   sync.Once
	closed chan struct{}
	onEnd  func()
}

func newSession(do func(ctx context.Context, s *session, i int) (Outcome, error)) *session {
	return &session{do: do, closed: make(chan struct{})}
}

func (s *session) Do(ctx context.Context, _ *Request, _ Sink) (Outcome, error) {
	s.calls++
	return s.do(ctx, s, s.calls-1)
}

func (s *session) Close() error {
	s.once.Do(func() {
		close(s.closed)
		if s.onEnd != nil {
			s.onEnd()
		}
	})
	return nil
}

// always connects to sessions that answer as do does.
func always(do func(ctx context.Context, s *session, i int) (Outcome, error)) Connector {
	return connectFunc(func(context.Context) (Session, error) { return newSession(do), nil })
}

// wait sleeps for d like a server that takes d and acknowledges a cancel at once.
func wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// takes answers each call after d.
func takes(d time.Duration) func(context.Context, *session, int) (Outcome, error) {
	return func(ctx context.Context, _ *session, _ int) (Outcome, error) {
		if err := wait(ctx, d); err != nil {
			return Outcome{}, err
		}
		return Outcome{Rows: 1, ResultSets: 1}, nil
	}
}

// batches is a program of so many requests an iteration.
type batches int

func (n batches) Iteration(Worker, int64) iter.Seq[*Request] {
	return func(yield func(*Request) bool) {
		for range int(n) {
			if !yield(oneRequest) {
				return
			}
		}
	}
}

var oneRequest = &Request{Text: "SELECT 1"}

// plan is a plan without file descriptors.
func plan(c Connector, connections int, iterations int64) Plan {
	return Plan{Connector: c, Units: []Unit{{Name: "query", Program: batches(1)}},
		Connections: connections, Iterations: iterations, FilesPerConnection: -1}
}

// log keeps events.
type log struct {
	mu     sync.Mutex
	events []Event
}

func (l *log) add(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

func (l *log) count(kind EventKind) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, e := range l.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// simulate runs f where time is simulated and where a goroutine left behind fails the test.
func simulate(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, f)
}

// want checks counts of a load by name.
func want(t *testing.T, l result.Load, counts map[string]int64) {
	t.Helper()
	all := map[string]int64{
		"iterations": l.Iterations, "batches": l.Batches, "failed_iterations": l.FailedIterations, "failed_batches": l.FailedBatches,
		"in_doubt": l.InDoubt, "cancelled": l.Cancelled, "skipped": l.Skipped, "attempted": l.Attempted,
		"planned_iterations": l.PlannedIterations, "attempted_iterations": l.AttemptedIterations,
		"in_doubt_iterations": l.InDoubtIterations, "cancelled_iterations": l.CancelledIterations, "skipped_iterations": l.SkippedIterations,
		"rows": l.Rows, "deadlocks": l.Deadlocks, "timeouts": l.Timeouts, "open_tran": l.OpenTran,
		"connected": int64(l.Connected), "connect_failed": int64(l.ConnectFailed), "late_connections": int64(l.LateConnections),
		"lost_connections": l.LostConnections, "reconnects": l.Reconnects, "disconnects": l.Disconnects, "given_up": int64(l.GivenUp), "abandoned": int64(l.Abandoned),
	}
	for name, n := range counts {
		got, ok := all[name]
		if !ok {
			t.Errorf("no count is called %s", name)
		} else if got != n {
			t.Errorf("%s = %d, want %d", name, got, n)
		}
	}
	if err := check(l); err != nil {
		t.Error(err)
	}
}

// sessionCount counts sessions opened and closed.
type sessionCount struct{ opened, closed atomic.Int64 }

func (c *sessionCount) connector(do func(context.Context, *session, int) (Outcome, error)) Connector {
	return connectFunc(func(context.Context) (Session, error) {
		c.opened.Add(1)
		s := newSession(do)
		s.onEnd = func() { c.closed.Add(1) }
		return s, nil
	})
}

var errReset = errors.New("connection reset by peer")
