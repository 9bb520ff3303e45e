package driver

import (
	"context"
	"errors"
	"testing"
	"time"
)

// failing answers the first calls of a session with an error, then well.
func failing(number int32, times int) func(context.Context, *session, int) (Outcome, error) {
	return func(_ context.Context, _ *session, i int) (Outcome, error) {
		if i < times {
			return Outcome{Errors: []ServerError{{Number: number, Class: 13}}}, nil
		}
		return Outcome{Rows: 1}, nil
	}
}

func TestRetries(t *testing.T) {
	simulate(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			number  int32
			times   int
			retries int
			counts  map[string]int64
			again   int64
		}{
			"a deadlock that goes":    {1205, 2, 3, map[string]int64{"batches": 1, "failed_batches": 0, "deadlocks": 2}, 2},
			"a deadlock that stays":   {1205, 9, 3, map[string]int64{"batches": 0, "failed_batches": 1, "deadlocks": 4}, 3},
			"a write conflict":        {41302, 1, 1, map[string]int64{"batches": 1}, 1},
			"none asked for":          {1205, 1, 0, map[string]int64{"batches": 0, "failed_batches": 1}, 0},
			"an error of the batch's": {2627, 1, 5, map[string]int64{"batches": 0, "failed_batches": 1}, 0},
		} {
			p := plan(always(failing(c.number, c.times)), 1, 1)
			p.MaxRetries = c.retries
			load, err := Run(t.Context(), p)
			if err != nil {
				t.Error(name, err)
			}
			c.counts["attempted"] = 1
			want(t, load, c.counts)
			if load.Retries != c.again || load.ErrorsByNumber[c.number] != min(int64(c.times), c.again+1) {
				t.Errorf("%s: %d retries, errors %v", name, load.Retries, load.ErrorsByNumber)
			}
		}
	})
}

func TestARetriedBatchTakesAsLongAsAllOfIt(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := plan(always(func(ctx context.Context, s *session, i int) (Outcome, error) {
			if err := wait(ctx, time.Second); err != nil {
				return Outcome{}, err
			}
			return failing(1205, 2)(ctx, s, i)
		}), 1, 1)
		p.MaxRetries = 5
		load, err := Run(t.Context(), p)
		if err != nil || load.Latency.Batch.Count != 1 || load.Latency.Batch.MaxUS < 3e6 || load.Latency.Batch.MaxUS > 3.1e6 {
			t.Errorf("%v, %+v", err, load.Latency.Batch)
		}
	})
}

func TestRetryInDoubt(t *testing.T) {
	simulate(t, func(t *testing.T) {
		lose := func(sessions int) Connector {
			n := 0
			return connectFunc(func(context.Context) (Session, error) {
				n++
				mine := n
				return newSession(func(context.Context, *session, int) (Outcome, error) {
					if mine <= sessions {
						return Outcome{}, &LostError{Err: errReset}
					}
					return Outcome{}, nil
				}), nil
			})
		}
		for name, c := range map[string]struct {
			allowed bool
			want    map[string]int64
			again   int64
		}{
			"not allowed": {false, map[string]int64{"in_doubt": 1, "batches": 0, "lost_connections": 1}, 0},
			"allowed":     {true, map[string]int64{"in_doubt": 0, "batches": 1, "lost_connections": 2, "reconnects": 2}, 2},
		} {
			p := plan(lose(2), 1, 1)
			p.MaxRetries, p.RetryInDoubt = 5, c.allowed
			load, err := Run(t.Context(), p)
			if err != nil {
				t.Error(name, err)
			}
			c.want["attempted"] = 1
			want(t, load, c.want)
			if load.Retries != c.again {
				t.Errorf("%s: %d retries", name, load.Retries)
			}
		}
		// A connection that cannot be opened again leaves the batch in doubt, not skipped.
		n := 0
		p := plan(connectFunc(func(context.Context) (Session, error) {
			if n++; n > 1 {
				return nil, &LoginError{Number: 18456}
			}
			return newSession(func(context.Context, *session, int) (Outcome, error) { return Outcome{}, &LostError{Err: errReset} }), nil
		}), 1, 3)
		p.MaxRetries, p.RetryInDoubt = 5, true
		load, err := Run(t.Context(), p)
		var stopped *StoppedError
		if !errors.As(err, &stopped) {
			t.Errorf("error %v", err)
		}
		want(t, load, map[string]int64{"in_doubt": 1, "attempted": 1, "given_up": 1, "in_doubt_iterations": 1})
	})
}

func TestWhatAFailedBatchLeftOpenIsRolledBackBeforeTheNextTry(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var x texts
		fails := 1
		p := plan(x.connector(func(_ context.Context, text string) (Outcome, error) {
			if text == rollBackRequest.Text {
				return Outcome{}, nil
			}
			if fails--; fails >= 0 {
				return Outcome{OpenTran: true, Errors: []ServerError{{Number: 3960, Class: 16}}}, nil
			}
			return Outcome{}, nil
		}), 1, 1)
		p.MaxRetries = 1
		load, err := Run(t.Context(), p)
		if err != nil || len(x.seen) != 3 || x.seen[1] != rollBackRequest.Text {
			t.Errorf("%v, sent %q", err, x.seen)
		}
		want(t, load, map[string]int64{"batches": 1})
	})
}

func TestThrottlingIsWaitedOut(t *testing.T) {
	simulate(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			number     int32
			retries    int
			want       map[string]int64
			least      float64
			throttled  int64
			iterations int64
		}{
			"busy":            {40501, 0, map[string]int64{"failed_batches": 1, "batches": 1}, 10, 1, 2},
			"in maintenance":  {49918, 0, map[string]int64{"failed_batches": 2, "batches": 1}, 1 + 2, 2, 3},
			"busy, and again": {40501, 1, map[string]int64{"failed_batches": 0, "batches": 1}, 10, 1, 1},
		} {
			p := plan(always(failing(c.number, int(c.throttled))), 1, c.iterations)
			p.MaxRetries = c.retries
			load, err := Run(t.Context(), p)
			if err != nil {
				t.Error(name, err)
			}
			want(t, load, c.want)
			if load.Throttled != c.throttled || load.RunS < c.least || load.RunS > 2*c.least {
				t.Errorf("%s: throttled %d times, in %v s", name, load.Throttled, load.RunS)
			}
		}
	})
}

func TestAQuotaIsNotRetried(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := plan(always(func(context.Context, *session, int) (Outcome, error) {
			return Outcome{Errors: []ServerError{{Number: 1205, Class: 13}, {Number: 41823, Class: 16}}}, nil
		}), 1, 9)
		p.MaxRetries = 5
		load, err := Run(t.Context(), p)
		var stopped *StoppedError
		if !errors.As(err, &stopped) || load.Retries != 0 || load.FailedBatches != 1 {
			t.Errorf("%v, %d retries, %d failed", err, load.Retries, load.FailedBatches)
		}
	})
}

func TestMaxWorkerErrors(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var l log
		n := 0
		p := plan(connectFunc(func(context.Context) (Session, error) {
			if n++; n == 1 {
				return newSession(takes(0)), nil
			}
			return newSession(failing(2627, 1000)), nil
		}), 3, 10)
		p.MaxWorkerErrors, p.Events = 4, l.add
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Error(err)
		}
		want(t, load, map[string]int64{"batches": 10, "failed_batches": 8, "attempted": 18, "attempted_iterations": 18, "failed_iterations": 8})
		if load.EndedByErrors != 2 || l.count(TooManyErrors) != 2 {
			t.Errorf("%d ended, %d events", load.EndedByErrors, l.count(TooManyErrors))
		}
		p = plan(always(failing(2627, 1000)), 3, 10)
		p.MaxWorkerErrors = 1
		_, err = Run(t.Context(), p)
		var stopped *StoppedError
		if !errors.As(err, &stopped) {
			t.Errorf("all ended: %v", err)
		}
	})
}

func TestABatchWhoseTransactionAnotherBeganIsNotSentAgainWithoutIt(t *testing.T) {
	simulate(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			second func(*session) (Outcome, error) // the second batch of each iteration, the first time
			again  int64
			want   map[string]int64
		}{
			"the transaction is gone": {func(*session) (Outcome, error) {
				return Outcome{Errors: []ServerError{{Number: 1205, Class: 13}}}, nil
			}, 0, map[string]int64{"batches": 2, "failed_batches": 1}},
			"it is still there": {func(*session) (Outcome, error) {
				return Outcome{OpenTran: true, Errors: []ServerError{{Number: 41302, Class: 16}}}, nil
			}, 1, map[string]int64{"batches": 3}},
			"it went with the connection": {func(*session) (Outcome, error) {
				return Outcome{OpenTran: true}, &LostError{Err: errReset}
			}, 0, map[string]int64{"batches": 2, "in_doubt": 1}},
		} {
			n := 0
			p := plan(always(func(_ context.Context, s *session, _ int) (Outcome, error) {
				if n++; n == 2 {
					return c.second(s)
				}
				return Outcome{OpenTran: n == 1}, nil
			}), 1, 1)
			p.Units[0].Program = batches(3)
			p.MaxRetries, p.RetryInDoubt = 5, true
			load, err := Run(t.Context(), p)
			if err != nil {
				t.Error(name, err)
			}
			c.want["attempted"] = 3
			want(t, load, c.want)
			if load.Retries != c.again {
				t.Errorf("%s: %d retries", name, load.Retries)
			}
		}
	})
}

func TestAThrottledAnswerThatEndsTheRunIsNotWaitedOut(t *testing.T) {
	simulate(t, func(t *testing.T) {
		for name, change := range map[string]func(*Plan){
			"-b":                func(p *Plan) { p.StopOnError = true },
			"too many errors":   func(p *Plan) { p.MaxWorkerErrors = 1 },
			"MaxErrors reached": func(p *Plan) { p.MaxErrors = 1 },
		} {
			p := plan(always(failing(40501, 1000)), 1, 5)
			change(&p)
			load, _ := Run(t.Context(), p)
			want(t, load, map[string]int64{"failed_batches": 1, "attempted": 1})
			if load.Throttled != 1 || load.ElapsedS > 1 {
				t.Errorf("%s: throttled %d times, in %v s", name, load.Throttled, load.ElapsedS)
			}
		}
	})
}
