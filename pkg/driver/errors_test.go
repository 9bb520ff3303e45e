package driver

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
	"time"
)

func (*closingSink) Row([]any) error       { return nil }
func (*closingSink) Event(SinkEvent) error { return nil }
func (s *closingSink) Close() error        { s.closed.Add(1); return s.err }

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

func (nothing) Iteration(Worker, int64) iter.Seq[*Request] { return func(func(*Request) bool) {} }

func (cheap) Do(context.Context, *Request, Sink) (Outcome, error) { return Outcome{Rows: 1}, nil }
func (cheap) Close() error                                        { return nil }

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
