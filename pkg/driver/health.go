package driver

import (
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"gostress/pkg/latency"
	"gostress/pkg/result"
)

// Names of the Go runtime's own metrics.
const (
	gcPauses    = "/sched/pauses/total/gc:seconds"
	schedDelays = "/sched/latencies:seconds"
)

// health watches what could make this process, and not the server, shape the result.
type health struct {
	mu    sync.Mutex
	on    bool
	start map[string]*metrics.Float64Histogram
	stall time.Duration
}

// begin begins the measured part.
func (h *health) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.on, h.stall, h.start = true, 0, runtimeTimes()
}

// stallStep is how often a goroutine looks whether it is woken in time.
const stallStep = 10 * time.Millisecond

// watch measures the longest stall until it is told to stop.
func (r *runner) watchStalls(stop <-chan struct{}) {
	timer := time.NewTimer(stallStep)
	defer timer.Stop()
	for {
		due := r.clock.Now() + stallStep
		select {
		case <-timer.C:
		case <-stop:
			return
		}
		late := r.clock.Now() - due
		h := &r.health
		h.mu.Lock()
		if h.on {
			h.stall = max(h.stall, late)
		}
		h.mu.Unlock()
		timer.Reset(stallStep)
	}
}

// result is the state of the measured part so far.
func (h *health) result(used time.Duration, seconds float64) result.Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := result.Health{LongestStallUS: latency.Microseconds(h.stall)}
	if seconds > 0 {
		out.CPUShare = min(used.Seconds()/seconds/float64(runtime.GOMAXPROCS(0)), 1)
	}
	now := runtimeTimes()
	gc := between(h.start[gcPauses], now[gcPauses])
	out.GCPauses, out.GCPauseTotalUS, out.GCPauseMaxUS = gc.count(), gc.sum()*1e6, gc.quantile(1)*1e6
	sched := between(h.start[schedDelays], now[schedDelays])
	out.SchedDelayP50US, out.SchedDelayP99US = sched.quantile(0.5)*1e6, sched.quantile(0.99)*1e6
	return out
}

func runtimeTimes() map[string]*metrics.Float64Histogram {
	samples := []metrics.Sample{{Name: gcPauses}, {Name: schedDelays}}
	metrics.Read(samples)
	out := map[string]*metrics.Float64Histogram{}
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindFloat64Histogram {
			h := s.Value.Float64Histogram()
			out[s.Name] = &metrics.Float64Histogram{Counts: append([]uint64{}, h.Counts...), Buckets: h.Buckets}
		}
	}
	return out
}

// buckets is the difference of two of the runtime's histograms.
type buckets struct {
	n    []uint64
	ends []float64 // of bucket i: ends[i] to ends[i+1]
}

func between(from, to *metrics.Float64Histogram) buckets {
	if from == nil || to == nil || len(from.Counts) != len(to.Counts) {
		return buckets{}
	}
	b := buckets{ends: to.Buckets}
	for i := range to.Counts {
		b.n = append(b.n, to.Counts[i]-from.Counts[i])
	}
	return b
}

func (b buckets) count() int64 {
	sum := int64(0)
	for _, n := range b.n {
		sum += int64(n)
	}
	return sum
}

// middle is a bucket's middle, or its finite end.
func (b buckets) middle(i int) float64 {
	from, to := b.ends[i], b.ends[i+1]
	switch {
	case math.IsInf(from, 0):
		return to
	case math.IsInf(to, 0):
		return from
	}
	return (from + to) / 2
}

func (b buckets) sum() float64 {
	sum := 0.0
	for i, n := range b.n {
		if n > 0 {
			sum += float64(n) * b.middle(i)
		}
	}
	return sum
}

// quantile is the upper end of the bucket in which it lies.
func (b buckets) quantile(q float64) float64 {
	rank := uint64(math.Ceil(q * float64(b.count())))
	seen := uint64(0)
	for i, n := range b.n {
		if seen += n; n > 0 && seen >= rank {
			if math.IsInf(b.ends[i+1], 0) {
				return b.ends[i]
			}
			return b.ends[i+1]
		}
	}
	return 0
}

// boundLimit is how far behind its intended start one arrival of ten may begin, a connection being
// free, before the rate is one that this process cannot hold.
const boundLimit = 10 * time.Millisecond

// generatorBound says that the generator, not the server, could not hold the rate: arrivals for which
// a connection was free began late, or the pacer never came to more than one in a hundred.
func generatorBound(startError *latency.Histogram, unreleased, arrivals int64) bool {
	return startError != nil && startError.Percentile(90) > boundLimit || unreleased > arrivals/100
}

// What is worth a warning.
const (
	cpuWarning   = 0.8
	stallWarning = 100 * time.Millisecond
	pauseWarning = 10 * time.Millisecond
	startWarning = time.Millisecond
)

// warnings say in words what of the generator's state could have shaped the result.
func warnings(l *result.Load, h *result.Health) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if l.GeneratorBound {
		say("the generator could not hold the rate asked for: one arrival in ten began more than %v behind its intended start although a connection was free", boundLimit)
	} else if h.StartError != nil && h.StartError.P99US > latency.Microseconds(startWarning) {
		say("one arrival in a hundred began more than %.1f ms behind its intended start although a connection was free", h.StartError.P99US/1e3)
	}
	// Of a moment's run the share says nothing: a single batch is all there was.
	if h.CPUShare > cpuWarning && l.RunS >= 1 {
		say("the generator used %.0f %% of this machine's processors: latencies may be its own", h.CPUShare*100)
	}
	if h.LongestStallUS > latency.Microseconds(stallWarning) {
		say("gostress itself got no processor for %.0f ms: latencies may contain it", h.LongestStallUS/1e3)
	}
	if h.GCPauseMaxUS > latency.Microseconds(pauseWarning) {
		say("a pause of the garbage collector took %.0f ms", h.GCPauseMaxUS/1e3)
	}
	return out
}
