package driver

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"gostress/pkg/result"
)

// near says that a percentile is right within the histogram's three figures.
func near(got float64, want time.Duration) bool {
	us := float64(want) / 1e3
	return math.Abs(got-us) <= us/1000
}

func truth(all []time.Duration, p float64) time.Duration {
	slices.Sort(all)
	return all[max(int(math.Ceil(p*float64(len(all))/100-1e-9)), 1)-1]
}

func TestLatencyIsTheServersDelay(t *testing.T) {
	delays := map[string]func(*rand.Rand, int) time.Duration{
		"constant": func(*rand.Rand, int) time.Duration { return 3 * time.Millisecond },
		"uniform": func(r *rand.Rand, _ int) time.Duration {
			return 1 + time.Duration(r.Int64N(int64(50*time.Millisecond)))
		},
		"bimodal": func(r *rand.Rand, _ int) time.Duration {
			if r.IntN(50) == 0 {
				return 800 * time.Millisecond
			}
			return 2 * time.Millisecond
		},
		"one stall": func(_ *rand.Rand, i int) time.Duration {
			if i == 500 {
				return 2 * time.Second
			}
			return 10 * time.Millisecond
		},
	}
	for name, delay := range delays {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(7, 7))
				var given []time.Duration
				var total time.Duration
				load, err := Run(t.Context(), plan(always(func(ctx context.Context, s *session, i int) (Outcome, error) {
					d := max(delay(random, i), 100)
					given = append(given, d)
					total += d
					return takes(d)(ctx, s, i)
				}), 1, 1000))
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range []result.Percentiles{load.Latency.Batch, load.Latency.Iteration} {
					for _, c := range []struct {
						name string
						got  float64
						p    float64
					}{{"p50", l.P50US, 50}, {"p90", l.P90US, 90}, {"p95", l.P95US, 95}, {"p99", l.P99US, 99}, {"p99.9", l.P99_9US, 99.9}, {"max", l.MaxUS, 100}} {
						if want := truth(given, c.p); !near(c.got, want) {
							t.Errorf("%s = %v us, want %v", c.name, c.got, want)
						}
					}
					if l.Count != 1000 || !near(l.MeanUS, total/1000) {
						t.Errorf("count %d, mean %v us, want 1000, %v", l.Count, l.MeanUS, total/1000)
					}
				}
				want(t, load, map[string]int64{"batches": 1000, "iterations": 1000, "attempted": 1000, "rows": 1000, "planned_iterations": 1000})
				if load.RunS != total.Seconds() {
					t.Errorf("run_s = %v, want %v", load.RunS, total.Seconds())
				}
				sum := int64(0)
				for _, p := range load.Series {
					sum += p.Batches
				}
				if sum != 1000 {
					t.Errorf("the series holds %d batches", sum)
				}
			})
		})
	}
}

func TestTimesOfAnIterationAndOfTheRun(t *testing.T) {
	simulate(t, func(t *testing.T) {
		// Two units of three connections, logins of 100 ms, 4 batches of 5 ms an iteration.
		p := plan(connectFunc(func(ctx context.Context) (Session, error) {
			if err := wait(ctx, 100*time.Millisecond); err != nil {
				return nil, err
			}
			return newSession(takes(5 * time.Millisecond)), nil
		}), 3, 10)
		p.Units = []Unit{{Name: "a", Program: batches(4)}, {Name: "b", Program: batches(4)}}
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want(t, load, map[string]int64{"batches": 240, "iterations": 60, "connected": 6, "rows": 240})
		if !near(load.Latency.Iteration.P50US, 20*time.Millisecond) || !near(load.Latency.Batch.P50US, 5*time.Millisecond) {
			t.Errorf("latency %+v", load.Latency)
		}
		// The first login alone, then five at once.
		if load.ConnectS != 0.2 || load.RunS != 0.2 || load.ElapsedS != 0.4 {
			t.Errorf("connect %v run %v elapsed %v, want 0.2 0.2 0.4", load.ConnectS, load.RunS, load.ElapsedS)
		}
		if load.BatchesPerS != 1200 || load.IterationsPerS != 300 {
			t.Errorf("%v batches/s, %v iterations/s", load.BatchesPerS, load.IterationsPerS)
		}
	})
}

func TestLoginsInFlightAreBounded(t *testing.T) {
	simulate(t, func(t *testing.T) {
		var lock sync.Mutex
		flight, most := 0, 0
		p := plan(connectFunc(func(ctx context.Context) (Session, error) {
			lock.Lock()
			flight++
			most = max(most, flight)
			lock.Unlock()
			time.Sleep(50 * time.Millisecond)
			lock.Lock()
			flight--
			lock.Unlock()
			return newSession(takes(time.Millisecond)), nil
		}), 200, 1)
		p.LoginTimeout = 60 * time.Millisecond // counted from the dial, not from the queue
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if most != 64 || load.Connected != 200 {
			t.Errorf("%d logins in flight, %d connected", most, load.Connected)
		}
		if load.ConnectS != 0.25 {
			t.Errorf("connect_s = %v", load.ConnectS)
		}
	})
}

func TestBarrierWaitsForSlowLoginsButNotForever(t *testing.T) {
	simulate(t, func(t *testing.T) {
		slow := make(chan struct{}, 1)
		slow <- struct{}{}
		var events log
		p := plan(connectFunc(func(ctx context.Context) (Session, error) {
			select {
			case <-slow: // the first: at once
			default:
				if err := wait(ctx, 61*time.Second); err != nil {
					return nil, err
				}
			}
			return newSession(takes(2 * time.Second)), nil
		}), 2, 5)
		p.Events = events.add
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want(t, load, map[string]int64{"connected": 2, "late_connections": 1, "batches": 10})
		if load.ConnectS != 60 || load.RunS != 11 {
			t.Errorf("connect %v, run %v, want 60, 11", load.ConnectS, load.RunS)
		}
		if events.count(Begun) != 1 || events.count(WorkerCreated) != 2 {
			t.Errorf("events %v", events.events)
		}
	})
}

func TestProgressTellsTheTruth(t *testing.T) {
	simulate(t, func(t *testing.T) {
		p := plan(always(takes(10*time.Millisecond)), 2, 1000)
		var seen []Progress
		p.Progress = func(now Progress) { seen = append(seen, now) }
		load, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if len(seen) < 9 || len(load.Series) != len(seen) {
			t.Fatalf("%d times, series of %d", len(seen), len(load.Series))
		}
		got := seen[4]
		if got.Elapsed != 5*time.Second || got.Done < 998 || got.Done > 1000 || got.Planned != 2000 || got.Connections != 2 ||
			math.Abs(got.BatchesPerS-200) > 2 || math.Abs(float64(got.Left-5*time.Second)) > 3e7 || got.P99 < 9990*time.Microsecond || got.P99 > 10010*time.Microsecond {
			t.Errorf("after 5 s: %+v", got)
		}
	})
}
