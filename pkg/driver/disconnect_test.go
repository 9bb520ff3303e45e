package driver

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"
)

// sequence is a program that yields the same requests in each iteration, and keeps who ended.
type sequence struct {
	requests []*Request
	mu       sync.Mutex
	ended    []int
}

func (p *sequence) Iteration(Worker, int64) iter.Seq[*Request] {
	return func(yield func(*Request) bool) {
		for _, r := range p.requests {
			if !yield(r) {
				return
			}
		}
	}
}

func (p *sequence) Ended(w Worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = append(p.ended, w.ID)
}

// all says whether each of n workers has ended once.
func (p *sequence) all(n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	slices.Sort(p.ended)
	for i, id := range p.ended {
		if id != i {
			return false
		}
	}
	return len(p.ended) == n
}

var parting = &Request{Kind: Disconnect}

func TestDisconnect(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var c sessionCount
		p := plan(c.connector(takes(time.Second)), 3, 2)
		program := &sequence{requests: []*Request{parting, oneRequest, parting, parting, oneRequest}}
		p.Units[0].Program = program
		p.Reconnect = ReconnectNever // is about broken ones
		load, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		// Iteration 0: the session of the login is ended unused, another opened, ended, a third opened.
		want(t, load, map[string]int64{"batches": 12, "attempted": 12, "iterations": 6, "disconnects": 12, "reconnects": 0, "lost_connections": 0, "connected": 3})
		if opened, closed := c.opened.Load(), c.closed.Load(); opened != 15 || closed != 15 {
			t.Errorf("%d sessions opened, %d closed", opened, closed)
		}
		if load.RunS != 4 {
			t.Errorf("the run took %v s, want no wait before a session is opened again", load.RunS)
		}
		if !program.all(3) {
			t.Errorf("ended: %v", program.ended)
		}
	})
}

func TestDisconnectThenNoLogin(t *testing.T) {
	for name, tt := range map[string]struct {
		reconnect Reconnect
		err       error
		counts    map[string]int64
	}{
		"refused":      {ReconnectBackoff, &LoginError{Number: 18456}, map[string]int64{"given_up": 1, "skipped": 1, "reconnects": 0, "disconnects": 1}},
		"out of reach": {ReconnectBackoff, errReset, map[string]int64{"given_up": 0, "batches": 2, "reconnects": 1, "disconnects": 1}},
		"never":        {ReconnectNever, errReset, map[string]int64{"given_up": 1, "skipped": 1, "batches": 1, "disconnects": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T) {
				n := 0
				p := plan(connectFunc(func(context.Context) (Session, error) {
					if n++; n == 2 {
						return nil, tt.err
					}
					return newSession(takes(0)), nil
				}), 1, 1)
				p.Reconnect = tt.reconnect
				program := &sequence{requests: []*Request{oneRequest, parting, oneRequest}}
				p.Units[0].Program = program
				load, err := Run(context.Background(), p)
				var stopped *StoppedError
				if gave := tt.counts["given_up"] > 0; gave != errors.As(err, &stopped) || err != nil && !gave {
					t.Errorf("error %v", err)
				}
				want(t, load, tt.counts)
				if !program.all(1) {
					t.Errorf("ended: %v", program.ended)
				}
			})
		})
	}
}

// TestEnded: each worker is known to have ended, however that came.
func TestEnded(t *testing.T) {
	for name, tt := range map[string]struct {
		connect func(i int) (Session, error)
	}{
		"done": {func(int) (Session, error) { return newSession(takes(0)), nil }},
		"one cannot connect": {func(i int) (Session, error) {
			if i == 1 {
				return nil, errReset
			}
			return newSession(takes(0)), nil
		}},
		"nobody connects":      {func(int) (Session, error) { return nil, errReset }},
		"the first is refused": {func(int) (Session, error) { return nil, &LoginError{Number: 18456} }},
		"killed": {func(int) (Session, error) {
			return newSession(func(context.Context, *session, int) (Outcome, error) { return Outcome{}, &LostError{Number: 596} }), nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T) {
				var mu sync.Mutex
				i := 0
				p := plan(connectFunc(func(context.Context) (Session, error) {
					mu.Lock()
					defer mu.Unlock()
					i++
					return tt.connect(i - 1)
				}), 3, 2)
				program := &sequence{requests: []*Request{oneRequest}}
				p.Units[0].Program = program
				_, _ = Run(context.Background(), p)
				if !program.all(3) {
					t.Errorf("ended: %v", program.ended)
				}
			})
		})
	}
	// A worker that never comes back is left behind, and has ended all the same.
	t.Run("abandoned", func(t *testing.T) {
		simulate(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			release := make(chan struct{})
			p := plan(always(func(context.Context, *session, int) (Outcome, error) {
				<-release
				return Outcome{}, errReset
			}), 2, 1)
			program := &sequence{requests: []*Request{oneRequest}}
			p.Units[0].Program = program
			load, err := Run(ctx, p)
			if !errors.Is(err, context.DeadlineExceeded) || load.Abandoned != 2 || !program.all(2) {
				t.Errorf("%v, %d abandoned, ended: %v", err, load.Abandoned, program.ended)
			}
			close(release)
		})
	})
}

// TestUnitConnector: a unit with a connector of its own uses it, at first and later.
func TestUnitConnector(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var mine, theirs sessionCount
		p := plan(theirs.connector(takes(0)), 2, 1)
		p.Units = append(p.Units, Unit{Name: "own", Program: &sequence{requests: []*Request{parting, oneRequest}}, Connector: mine.connector(takes(0))})
		if _, err := Run(context.Background(), p); err != nil {
			t.Fatal(err)
		}
		if a, b := mine.opened.Load(), theirs.opened.Load(); a != 4 || b != 2 {
			t.Errorf("the unit's connector opened %d, the plan's %d", a, b)
		}
	})
}
