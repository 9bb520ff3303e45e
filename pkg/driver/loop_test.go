package driver

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"gostress/pkg/latency"
	"gostress/pkg/pace"
	"gostress/pkg/result"
)

func asleep(d time.Duration) error { time.Sleep(d); return nil }

// open is a plan of an open loop on a simulated clock.
func open(c Connector, connections int, rate pace.Rate, length time.Duration) Plan {
	p := plan(c, connections, math.MaxInt64)
	p.Rate, p.Duration, p.sleep = rate, length, asleep
	return p
}

// queue is what an open loop must measure, worked out apart: arrivals wait for the first of c
// servers to be free. Service is asked for the time that a call takes which begins at a time.
func queue(arrivals []time.Duration, c int, service func(i int, at time.Duration) time.Duration) (latencies, services []time.Duration) {
	free := make([]time.Duration, c)
	for i, at := range arrivals {
		slices.Sort(free)
		begins := max(at, free[0])
		took := service(i, begins)
		free[0] = begins + took
		latencies = append(latencies, begins+took-at)
		services = append(services, took)
	}
	return latencies, services
}

func schedule(s pace.Schedule) []time.Duration {
	var out []time.Duration
	for at, ok := s.Next(); ok; at, ok = s.Next() {
		out = append(out, at)
	}
	return out
}

func hold(t *testing.T, name string, got result.Percentiles, all []time.Duration) {
	t.Helper()
	for _, c := range []struct{ got, p float64 }{{got.P50US, 50}, {got.P90US, 90}, {got.P95US, 95}, {got.P99US, 99}, {got.P99_9US, 99.9}, {got.MaxUS, 100}} {
		if w := truth(all, c.p); !near(c.got, w) {
			t.Errorf("%s: p%v = %v us, want %v", name, c.p, c.got, w)
		}
	}
	if got.Count != int64(len(all)) {
		t.Errorf("%s: %d times, want %d", name, got.Count, len(all))
	}
}

// A server that stands still for two seconds of ten: with fewer connections than one in a hundred
// arrivals, the open loop shows it in p99, and the service time does not.
func TestAnOpenLoopShowsAStall(t *testing.T) {
	simulate(t, func(t *testing.T) {
		stalls := func(at time.Duration) time.Duration {
			if at >= 4*time.Second && at < 6*time.Second {
				return 6*time.Second - at
			}
			return time.Millisecond
		}
		began := time.Now()
		server := always(func(ctx context.Context, _ *session, _ int) (Outcome, error) {
			return Outcome{Rows: 1}, wait(ctx, stalls(time.Since(began)))
		})
		load, err := Run(t.Context(), open(server, 5, 100, 10*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		latencies, services := queue(schedule(pace.Constant([]pace.Stage{{Rate: 100, For: 10 * time.Second}})), 5,
			func(_ int, at time.Duration) time.Duration { return stalls(at) })
		hold(t, "latency", load.Latency.Batch, latencies)
		hold(t, "iteration", load.Latency.Iteration, latencies)
		hold(t, "service", load.Service.Batch, services)
		if load.Latency.Batch.P99US < 1.8e6 || load.Service.Batch.P99US > 1100 {
			t.Errorf("p99 from the intended start %v us, of the service %v us", load.Latency.Batch.P99US, load.Service.Batch.P99US)
		}
		want(t, load, map[string]int64{"batches": 1000, "iterations": 1000, "attempted": 1000, "skipped": 0})
		late := int64(0)
		for i := range latencies {
			if latencies[i]-services[i] > lateLimit {
				late++
			}
		}
		if load.Loop != "open" || load.EndedBy != EndedByDuration || load.Late != late || load.SkippedLate != 0 || load.GeneratorBound {
			t.Errorf("loop %s, ended by %s, %d late (want %d), %d skipped, bound %v", load.Loop, load.EndedBy, load.Late, late, load.SkippedLate, load.GeneratorBound)
		}
		// The first arrival is due as the workers begin, and may come before one of them waits for it.
		h := load.Health
		if h == nil || h.StartError == nil || 1000-late-h.StartError.Count < 0 || 1000-late-h.StartError.Count > 1 || h.StartError.MaxUS > 1 {
			t.Errorf("start error %+v, %d late", h, late)
		}

		// The closed loop sends less while the server stands still, and says which loop it is.
		began = time.Now()
		p := plan(server, 5, math.MaxInt64)
		p.Duration = 10 * time.Second
		load, err = Run(t.Context(), p)
		if err != nil || load.Loop != "closed" || load.Service != nil || load.Latency.Batch.P99US > 1100 || load.Latency.Batch.MaxUS < 1.9e6 {
			t.Errorf("%v, %s, %+v", err, load.Loop, load.Latency.Batch)
		}
	})
}

func TestOpenLoopAgainstKnownDelays(t *testing.T) {
	for name, c := range map[string]struct {
		arrivals    Arrivals
		connections int
		delay       func(i int) time.Duration
	}{
		"constant":          {Even, 3, func(int) time.Duration { return 8 * time.Millisecond }},
		"constant, Poisson": {Poisson, 3, func(int) time.Duration { return 8 * time.Millisecond }},
		"bimodal": {Poisson, 8, func(i int) time.Duration {
			if i%50 == 7 {
				return 300 * time.Millisecond
			}
			return 2 * time.Millisecond
		}},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T) {
				var calls atomic.Int64
				p := open(always(func(ctx context.Context, _ *session, _ int) (Outcome, error) {
					return Outcome{}, wait(ctx, c.delay(int(calls.Add(1))-1))
				}), c.connections, 300, 20*time.Second)
				p.Arrivals, p.Seed = c.arrivals, 11
				load, err := Run(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				latencies, services := queue(schedule(p.schedule()), c.connections, func(i int, _ time.Duration) time.Duration { return c.delay(i) })
				// What still waits when the time is over is not begun.
				if n := int(load.Batches); n < len(latencies)*95/100 || n+int(load.SkippedLate) != len(latencies) {
					t.Fatalf("%d batches and %d skipped of %d arrivals", n, load.SkippedLate, len(latencies))
				}
				n := int(load.Batches)
				hold(t, "latency", load.Latency.Batch, latencies[:n])
				hold(t, "service", load.Service.Batch, services[:n])
			})
		})
	}
}

func TestTotalsOfAnOpenLoopAreExact(t *testing.T) {
	simulate(t, func(t *testing.T) {
		load, err := Run(t.Context(), open(always(takes(time.Millisecond)), 20, 1000, time.Minute))
		if err != nil {
			t.Error(err)
		}
		want(t, load, map[string]int64{"batches": 60_000, "attempted": 60_000, "attempted_iterations": 60_000})
		if load.Late != 0 || math.Abs(load.BatchesPerS-1000) > 0.1 {
			t.Errorf("%d late, %v/s", load.Late, load.BatchesPerS)
		}
		// Iterations end it too, when they come first.
		p := open(always(takes(time.Millisecond)), 4, 1000, 0)
		p.Iterations = 25
		load, err = Run(t.Context(), p)
		if err != nil || load.EndedBy != EndedByWork {
			t.Errorf("%v, ended by %s", err, load.EndedBy)
		}
		want(t, load, map[string]int64{"batches": 100, "iterations": 100, "planned_iterations": 100, "cancelled_iterations": 0})
	})
}

func TestLateSkip(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := open(always(takes(35*time.Millisecond)), 2, 100, 10*time.Second)
		p.Late = LateSkip
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Error(err)
		}
		// Two connections of 35 ms each: of four arrivals, 10 ms apart, two find one free.
		want(t, load, map[string]int64{"attempted_iterations": 1000, "batches": 500, "skipped_iterations": 500, "skipped": 0})
		if load.SkippedLate != 500 || load.Late != 0 || load.Latency.Batch.MaxUS != 35_000 {
			t.Errorf("%d skipped late, %d late, %v us", load.SkippedLate, load.Late, load.Latency.Batch.MaxUS)
		}
	})
}

func TestMaxConnections(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var n sessionCount
		p := open(n.connector(takes(100*time.Millisecond)), 1, 100, 10*time.Second)
		p.MaxConnections = 30
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Error(err)
		}
		// Ten are needed; those opened to catch up with the beginning stay.
		if load.Connected < 10 || load.Connected > 30 || load.Connections != load.Connected || load.Batches != 1000 || n.opened.Load() != int64(load.Connected) {
			t.Errorf("%d connected of %d, %d batches", load.Connected, load.Connections, load.Batches)
		}
		if load.Series[9].P99US > 101_000 {
			t.Errorf("p99 is %v us in the end", load.Series[9].P99US)
		}
	})
}

func TestAGeneratorThatCannotHoldTheRate(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := open(always(takes(time.Millisecond)), 50, 100, 10*time.Second)
		p.sleep = func(d time.Duration) error { time.Sleep(d + 60*time.Millisecond); return nil }
		load, err := Run(t.Context(), p)
		if err != nil || !load.GeneratorBound || len(load.Health.Warnings) == 0 {
			t.Errorf("%v, bound %v, %q", err, load.GeneratorBound, load.Health.Warnings)
		}
	})
}

func TestArrivalsThatAreNeverReleasedCount(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := open(always(takes(time.Millisecond)), 50, 100, 10*time.Second)
		p.sleep = func(d time.Duration) error {
			if d < 20*time.Millisecond { // the pacer stands still from its second arrival on
				time.Sleep(9500 * time.Millisecond)
				return nil
			}
			time.Sleep(d)
			return nil
		}
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Error(err)
		}
		want(t, load, map[string]int64{"attempted_iterations": 1000})
		if load.Iterations+load.SkippedLate != 1000 || load.SkippedLate == 0 || !load.GeneratorBound {
			t.Errorf("%d iterations and %d skipped of 1000 arrivals, bound %v", load.Iterations, load.SkippedLate, load.GeneratorBound)
		}
	})
}

func TestDuration(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := plan(always(takes(300*time.Millisecond)), 4, math.MaxInt64)
		p.Units[0].Program = batches(2)
		p.Duration = 10 * time.Second
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Error(err)
		}
		// 34 batches of 300 ms begin within 10 s; the last ends at 10.2 s and is counted.
		want(t, load, map[string]int64{"batches": 4 * 34, "iterations": 4 * 17, "cancelled_iterations": 0, "planned_iterations": 0, "cancelled": 0})
		if load.EndedBy != EndedByDuration || load.RunS != 10.2 {
			t.Errorf("ended by %s after %v s", load.EndedBy, load.RunS)
		}
		p.Duration = 9500 * time.Millisecond
		load, err = Run(t.Context(), p)
		if err != nil {
			t.Error(err)
		}
		// An iteration that the end cuts short behind its first batch.
		want(t, load, map[string]int64{"batches": 4 * 32, "iterations": 4 * 16, "cancelled_iterations": 0})
		p.Duration = 9100 * time.Millisecond
		load, err = Run(t.Context(), p)
		if err != nil {
			t.Error(err)
		}
		want(t, load, map[string]int64{"batches": 4 * 31, "iterations": 4 * 15, "cancelled_iterations": 4})
		p.Duration, p.Iterations = time.Hour, 3
		load, err = Run(t.Context(), p)
		if err != nil || load.EndedBy != EndedByWork || load.Batches != 24 {
			t.Errorf("%v, ended by %s, %d batches", err, load.EndedBy, load.Batches)
		}
	})
}

func TestWarmupRampUpAndCooldownDoNotCount(t *testing.T) {
	simulate(t, func(t *testing.T) {
		began := time.Now()
		var n sessionCount
		slow := func(ctx context.Context, _ *session, _ int) (Outcome, error) {
			at := time.Since(began)
			d := 10 * time.Millisecond
			if at < 15*time.Second || at > 25*time.Second {
				d = time.Second
			}
			return Outcome{Rows: 1}, wait(ctx, d)
		}
		p := plan(n.connector(slow), 10, math.MaxInt64)
		p.RampUp, p.Warmup, p.Duration, p.Cooldown = 10*time.Second, 6*time.Second, 8*time.Second, 5*time.Second
		var opened []int64
		p.Progress = func(now Progress) {
			if now.Elapsed <= 10*time.Second {
				opened = append(opened, n.opened.Load())
			}
			if measuring := now.Elapsed > 16*time.Second && now.Elapsed <= 24*time.Second; now.Measuring != measuring && now.Elapsed%time.Second == 0 && now.Elapsed != 16*time.Second {
				t.Errorf("at %v measuring is %v", now.Elapsed, now.Measuring)
			}
		}
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want(t, load, map[string]int64{"connected": 10, "late_connections": 0})
		if load.Latency.Batch.MaxUS > 11_000 || load.RunS != 8 || math.Abs(float64(load.Batches)-8000) > 20 || math.Abs(load.BatchesPerS-1000) > 3 {
			t.Errorf("max %v us, %v s, %d batches, %v/s", load.Latency.Batch.MaxUS, load.RunS, load.Batches, load.BatchesPerS)
		}
		if len(load.Series) != 8 || load.WarmupS != 6 || load.RampUpS != 10 {
			t.Errorf("%d points, warm-up %v s, ramp-up %v s", len(load.Series), load.WarmupS, load.RampUpS)
		}
		for i, got := range opened {
			if math.Abs(float64(got)-float64(i+1)) > 1 {
				t.Errorf("%d connections after %d s of ramp-up", got, i+1)
			}
		}
	})
}

func TestStagesOfConnections(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var n sessionCount
		p := plan(n.connector(takes(10*time.Millisecond)), 1, math.MaxInt64)
		p.Stages = []Stage{{Name: "a", Connections: 2, For: 5 * time.Second}, {Name: "b", Connections: 8, For: 5 * time.Second}, {Name: "c", Connections: 4, For: 5 * time.Second}}
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want(t, load, map[string]int64{"connected": 8, "late_connections": 0, "reconnects": 0, "disconnects": 0, "lost_connections": 0})
		if len(load.Stages) != 3 || load.Connections != 8 || n.opened.Load() != 8 || n.closed.Load() != 8 {
			t.Fatalf("%+v, %d connections, %d opened, %d closed", load.Stages, load.Connections, n.opened.Load(), n.closed.Load())
		}
		sum := int64(0)
		for i, c := range []int64{2, 8, 4} {
			s := load.Stages[i]
			sum += s.Batches
			if math.Abs(float64(s.Batches-c*500)) > 25 || s.FromS != float64(5*i) || math.Abs(s.ForS-5) > 0.011 || !s.Sound() || s.Connections != int(c) {
				t.Errorf("stage %+v", s)
			}
			if got := load.Series[5*i+3].Connections; got != int(c) {
				t.Errorf("%d connections in stage %s", got, s.Name)
			}
		}
		if sum != load.Batches {
			t.Errorf("the stages have %d batches of %d", sum, load.Batches)
		}
	})
}

func TestStagesOfRates(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := plan(always(takes(time.Millisecond)), 4, math.MaxInt64)
		p.sleep = asleep
		p.Warmup = 2 * time.Second
		p.Stages = []Stage{{Name: "slow", Rate: 10, For: 3 * time.Second}, {Name: "fast", Rate: 100, For: 3 * time.Second}}
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if len(load.Stages) != 2 || math.Abs(float64(load.Stages[0].Batches-30)) > 1 || math.Abs(float64(load.Stages[1].Batches-300)) > 1 || load.Stages[1].RatePerS != 100 || load.Stages[0].Service == nil {
			t.Errorf("%+v", load.Stages)
		}
	})
}

func TestThink(t *testing.T) {
	simulate(t, func(t *testing.T) {
		think, err := pace.ParseThink("uniform(50ms,150ms)")
		if err != nil {
			t.Fatal(err)
		}
		p := plan(always(takes(100*time.Millisecond)), 5, math.MaxInt64)
		p.Think, p.Duration, p.Seed = think, 100*time.Second, 3
		load, err := Run(t.Context(), p)
		if err != nil || math.Abs(load.BatchesPerS-25) > 0.7 || load.Latency.Iteration.MaxUS != 100_000 {
			t.Errorf("%v, %v/s, %v us", err, load.BatchesPerS, load.Latency.Iteration.MaxUS)
		}
		again, err := Run(t.Context(), p)
		if err != nil || again.Batches != load.Batches {
			t.Errorf("%v, %d and %d batches of one seed", err, load.Batches, again.Batches)
		}
	})
}

func TestMaxErrors(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := plan(always(func(ctx context.Context, _ *session, i int) (Outcome, error) {
			if i%10 == 9 {
				return Outcome{Errors: []ServerError{{Number: 2627, Class: 14}}}, wait(ctx, time.Millisecond)
			}
			return Outcome{}, wait(ctx, time.Millisecond)
		}), 1, math.MaxInt64)
		p.MaxErrors = 7
		load, err := Run(t.Context(), p)
		if err != nil || load.EndedBy != EndedByErrors {
			t.Errorf("%v, ended by %s", err, load.EndedBy)
		}
		want(t, load, map[string]int64{"batches": 63, "failed_batches": 7})
	})
}

// named is a program of two statements, by turns.
type named struct{}

func (named) Iteration(_ Worker, i int64) iter.Seq[*Request] {
	return func(yield func(*Request) bool) { yield(&Request{Statement: int(i % 2)}) }
}

func TestStatementsAndIntervals(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := plan(always(func(ctx context.Context, _ *session, i int) (Outcome, error) {
			out := Outcome{Rows: int64(1 + i%2)}
			if i%20 == 1 {
				out.Errors = []ServerError{{Number: []int32{1205, 41302, 8134}[i/20%3], Class: 13}}
			}
			return out, wait(ctx, time.Duration(1+i%2)*10*time.Millisecond)
		}), 2, 300)
		p.Units = []Unit{{Name: "mix", Program: named{}, Statements: []string{"read", "write"}}, {Name: "query", Program: batches(1)}, {Name: "query", Program: batches(1)}}
		intervals := map[string]*latency.Histogram{}
		var last time.Duration
		p.Interval = func(i latency.Interval) {
			if i.Start != last || i.Stage != 0 {
				t.Errorf("an interval from %v of stage %d, behind %v", i.Start, i.Stage, last)
			}
			last = i.End
			for _, s := range i.Statements {
				if intervals[s.Name] == nil {
					intervals[s.Name] = latency.New()
				}
				intervals[s.Name].Merge(s.Latency)
				if s.Service != nil {
					t.Error("a closed loop has service times of their own")
				}
			}
		}
		lives := 0
		p.Live = func(l result.Load) {
			lives++
			if err := check(l); err != nil {
				t.Error(err)
			}
		}
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{"read", "write", "query", "query (2)"}
		sum, rows := int64(0), int64(0)
		for i, s := range load.Statements {
			if s.Name != names[i] || s.Attempted == 0 || intervals[s.Name].Count() != s.Batches || intervals[s.Name].Summary() != s.Latency {
				t.Errorf("%s: %+v, the intervals have %+v", names[i], s, intervals[s.Name].Summary())
			}
			sum, rows = sum+s.Attempted, rows+s.Rows
		}
		if sum != load.Attempted || rows != load.Rows || len(load.Statements) != 4 || lives < 3 {
			t.Errorf("%d of %d batches, %d of %d rows, %d statements, %d lives", sum, load.Attempted, rows, load.Rows, len(load.Statements), lives)
		}
		classes := map[result.Class]int64{}
		for _, s := range load.Statements {
			for class, p := range s.FailedBy {
				classes[class] += p.Count
			}
		}
		if classes[result.ClassDeadlock] != load.Deadlocks || classes[result.ClassConflict] == 0 || classes[result.ClassError] == 0 ||
			classes[result.ClassDeadlock]+classes[result.ClassConflict]+classes[result.ClassError] != load.FailedBatches {
			t.Errorf("%v of %d failed, %d deadlocks", classes, load.FailedBatches, load.Deadlocks)
		}
	})
}

// A day is what TestSeriesStaysBoundedAndLosesNoCount of pkg/latency simulates.
func TestALongRunInBoundedMemory(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := plan(always(takes(31*time.Second)), 2, math.MaxInt64)
		p.Duration = 2 * time.Hour
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for _, point := range load.Series {
			sum += point.Batches
		}
		if len(load.Series) > 3600 || len(load.Series) < 1000 || load.SeriesStepS < 2 || sum != load.Batches || load.Batches != 466 {
			t.Errorf("%d points of %v s with %d of %d batches", len(load.Series), load.SeriesStepS, sum, load.Batches)
		}
	})
}

func TestArrivalsSettleWhoIsFree(t *testing.T) {
	simulate(t, func(t *testing.T) {
		a := newArrivals()
		done, over := make(chan struct{}), make(chan struct{})
		r := rand.New(rand.NewPCG(5, 5))
		var taken atomic.Int64
		for range 8 {
			pauses := rand.New(rand.NewPCG(r.Uint64(), 1))
			go func() {
				for {
					if _, ok := a.take(done, over); !ok {
						return
					}
					taken.Add(1)
					time.Sleep(time.Duration(pauses.IntN(50)) * time.Millisecond)
				}
			}()
		}
		dropped := 0
		for i := range 5000 {
			time.Sleep(time.Duration(r.IntN(8)) * time.Millisecond)
			if _, ok := a.release(time.Duration(i), i%3 == 0); !ok {
				dropped++
			}
		}
		time.Sleep(time.Second)
		if n := a.free.Load(); n != 8 || int(taken.Load())+dropped != 5000 || dropped == 0 {
			t.Errorf("%d are free, %d taken, %d dropped", n, taken.Load(), dropped)
		}
		close(over)
		time.Sleep(time.Millisecond)
	})
}
