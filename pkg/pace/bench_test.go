package pace

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"gostress/internal/clock"
)

// BenchmarkStartError measures how late an idle worker begins what the pacer releases, at 10,000/s
// with as many workers as a run has.
func BenchmarkStartError(b *testing.B) {
	for _, rate := range []Rate{100, 1000, 10_000} {
		b.Run(rate.String(), func(b *testing.B) {
			const workers = 32
			c := clock.New()
			due := make(chan time.Duration, 1<<16)
			late := make([]time.Duration, b.N)
			var n atomic.Int64
			done := make(chan struct{})
			for range workers {
				go func() {
					for at := range due {
						began := c.Now() - at
						if i := n.Add(1); int(i) <= b.N {
							late[i-1] = began
							if int(i) == b.N {
								close(done)
							}
						}
					}
				}()
			}
			cpu, _ := clock.ProcessCPU()
			began := c.Now()
			b.ResetTimer()
			left := b.N
			err := Pacer{Clock: c}.Run(context.Background(), c.Now(), limited{Constant([]Stage{{Rate: rate}}), &left}, func(at time.Duration) { due <- at })
			<-done
			b.StopTimer()
			took := c.Now() - began
			used, _ := clock.ProcessCPU()
			close(due)
			if err != nil {
				b.Fatal(err)
			}
			slices.Sort(late)
			at := func(p float64) float64 { return float64(late[int(p*float64(len(late)-1))]) / 1e3 }
			b.ReportMetric(at(0.5), "p50-us")
			b.ReportMetric(at(0.99), "p99-us")
			b.ReportMetric(at(1), "max-us")
			b.ReportMetric(used.Sub(cpu).Total().Seconds()/took.Seconds(), "cores")
		})
	}
}

type limited struct {
	Schedule
	left *int
}

func (l limited) Next() (time.Duration, bool) {
	if *l.left == 0 {
		return 0, false
	}
	*l.left--
	return l.Schedule.Next()
}
