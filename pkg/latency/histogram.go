// Package latency keeps distributions of times: HdrHistograms from 100 ns to 1 h with three
// significant figures, and series of points over time.
package latency

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"gostress/pkg/result"
)

// Lowest and Highest are the ends of what is recorded; a time beyond counts as the nearer end.
const (
	Lowest  = 100 * time.Nanosecond
	Highest = time.Hour
)

const figures = 3

// Histogram is a distribution of times. Count, sum, least and largest are exact, quantiles
// precise to three significant figures. It takes about 210 kB. It is not safe for concurrent use.
type Histogram struct {
	h        *hdrhistogram.Histogram
	sum      float64 // nanoseconds; a float keeps sums beyond 292 years from wrapping
	min, max time.Duration
	clamped  int64
}

// New returns an empty histogram.
func New() *Histogram {
	return &Histogram{h: hdrhistogram.New(int64(Lowest), int64(Highest), figures)}
}

// Record adds a time.
func (h *Histogram) Record(d time.Duration) {
	if d < Lowest {
		d = Lowest
		h.clamped++
	} else if d > Highest {
		d = Highest
		h.clamped++
	}
	// Within the ends the library has no error to give.
	_ = h.h.RecordValues(int64(d), 1)
	h.sum += float64(d)
	if h.min == 0 || d < h.min {
		h.min = d
	}
	h.max = max(h.max, d)
}

// Merge adds all of other's times.
func (h *Histogram) Merge(other *Histogram) {
	if other.Count() == 0 {
		return
	}
	h.h.Merge(other.h)
	h.sum += other.sum
	h.clamped += other.clamped
	if h.min == 0 || other.min < h.min {
		h.min = other.min
	}
	h.max = max(h.max, other.max)
}

// Reset empties the histogram.
func (h *Histogram) Reset() {
	if h.Count() == 0 {
		return
	}
	h.h.Reset()
	h.sum, h.min, h.max, h.clamped = 0, 0, 0, 0
}

// Count is the number of times recorded.
func (h *Histogram) Count() int64 { return h.h.TotalCount() }

// Clamped is the number of them that lay beyond Lowest and Highest.
func (h *Histogram) Clamped() int64 { return h.clamped }

// Min and Max are the least and the largest time, zero when there is none.
func (h *Histogram) Min() time.Duration { return h.min }
func (h *Histogram) Max() time.Duration { return h.max }

// Sum is the sum of all times, nanoseconds.
func (h *Histogram) Sum() float64 { return h.sum }

// Mean is the arithmetic mean, zero when there is no time.
func (h *Histogram) Mean() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.sum / float64(h.Count()))
}

// Percentile is the least time that at least p per cent of the times do not exceed, within the
// histogram's precision and never above Max; zero when there is no time.
func (h *Histogram) Percentile(p float64) time.Duration {
	if h.Count() == 0 {
		return 0
	}
	// The library answers with the upper end of the bucket.
	return min(time.Duration(h.h.ValueAtPercentile(p)), h.max)
}

// Summary is what the report shows of the distribution.
func (h *Histogram) Summary() result.Percentiles {
	p := result.Percentiles{Count: h.Count(), Clamped: h.clamped}
	if p.Count == 0 {
		return p
	}
	values := h.h.ValueAtPercentilesSlice([]float64{50, 90, 95, 99, 99.9})
	for i, to := range []*float64{&p.P50US, &p.P90US, &p.P95US, &p.P99US, &p.P99_9US} {
		*to = Microseconds(min(time.Duration(values[i]), h.max))
	}
	p.MaxUS = Microseconds(h.max)
	p.MeanUS = h.sum / float64(p.Count) / 1e3
	return p
}

// Microseconds is d in microseconds, with its fraction.
func Microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
