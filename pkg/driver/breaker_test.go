package driver

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// brokenSink keeps what it is told of answers that broke off.
type brokenSink struct{ told []string }

func (*brokenSink) Row([]any) error       { return nil }
func (*brokenSink) Event(SinkEvent) error { return nil }
func (s *brokenSink) Broke(err error)     { s.told = append(s.told, err.Error()) }

// TestSinksAreToldOfBrokenAnswers lets answers end well, by the query timeout and
// by a lost connection.
func TestSinksAreToldOfBrokenAnswers(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var sink brokenSink
		lost := &LostError{Err: errors.New("the cable is out")}
		p := plan(always(func(ctx context.Context, s *session, i int) (Outcome, error) {
			switch i {
			case 1:
				return Outcome{}, wait(ctx, time.Minute)
			case 2:
				return Outcome{Errors: []ServerError{{Number: 8134, Class: 16}}}, nil
			case 3:
				return Outcome{}, lost
			}
			return Outcome{}, nil
		}), 1, 4)
		p.QueryTimeout = time.Second
		p.Sink = func(int, int) (Sink, error) { return &sink, nil }
		if _, err := Run(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if want := []string{"query timeout", lost.Error()}; !slices.Equal(sink.told, want) {
			t.Errorf("told %q, want %q", sink.told, want)
		}
	})
}
