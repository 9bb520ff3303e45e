package latency

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gostress/pkg/result"
)

// exact is the percentile by its definition: the least time that at least p per cent reach.
func exact(sorted []time.Duration, p float64) time.Duration {
	rank := int(math.Ceil(p*float64(len(sorted))/100 - 1e-9))
	return sorted[max(rank, 1)-1]
}

func TestPercentilesAgainstSortedTimes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() time.Duration{
		"constant":    func() time.Duration { return 1234567 },
		"uniform":     func() time.Duration { return 100 + time.Duration(random.Int64N(1e9)) },
		"exponential": func() time.Duration { return 100 + time.Duration(random.ExpFloat64()*3e6) },
		"bimodal": func() time.Duration {
			if random.IntN(100) < 3 {
				return 2 * time.Second
			}
			return 250 * time.Microsecond
		},
	} {
		h, all := New(), []time.Duration{}
		for range 20_000 {
			d := draw()
			h.Record(d)
			all = append(all, d)
		}
		slices.Sort(all)
		for _, p := range []float64{1, 50, 90, 95, 99, 99.9, 100} {
			want, got := exact(all, p), h.Percentile(p)
			if off := math.Abs(float64(got-want)) / float64(want); off > 0.001 && got-want > 64 {
				t.Errorf("%s: p%v = %v, want %v (off by %.3g)", name, p, got, want, off)
			}
		}
		if h.Min() != all[0] || h.Max() != all[len(all)-1] {
			t.Errorf("%s: min %v max %v, want %v %v", name, h.Min(), h.Max(), all[0], all[len(all)-1])
		}
		sum := time.Duration(0)
		for _, d := range all {
			sum += d
		}
		if want := sum / time.Duration(len(all)); h.Mean() != want {
			t.Errorf("%s: mean %v, want %v", name, h.Mean(), want)
		}
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	h := New()
	if got := h.Summary(); got != (result.Percentiles{}) {
		t.Errorf("empty: %+v", got)
	}
	for i := range 1000 {
		h.Record(time.Duration(i+1) * time.Microsecond)
	}
	got := h.Summary()
	want := result.Percentiles{P50US: 500, P90US: 900, P95US: 950, P99US: 990, P99_9US: 999, MaxUS: 1000, MeanUS: 500.5, Count: 1000}
	for _, pair := range [][2]float64{{got.P50US, want.P50US}, {got.P90US, want.P90US}, {got.P95US, want.P95US},
		{got.P99US, want.P99US}, {got.P99_9US, want.P99_9US}, {got.MaxUS, want.MaxUS}, {got.MeanUS, want.MeanUS}} {
		if math.Abs(pair[0]-pair[1]) > pair[1]/1000 {
			t.Errorf("got %+v, want %+v", got, want)
			break
		}
	}
	if got.Count != 1000 {
		t.Errorf("count %d", got.Count)
	}
}

func TestTimesBeyondTheEndsAreClampedAndCounted(t *testing.T) {
	t.Parallel()
	h := New()
	for _, d := range []time.Duration{-1, 0, 99, 100, time.Hour, time.Hour + 1, math.MaxInt64} {
		h.Record(d)
	}
	if h.Count() != 7 || h.Clamped() != 5 || h.Min() != Lowest || h.Max() != Highest {
		t.Errorf("count %d, clamped %d, min %v, max %v", h.Count(), h.Clamped(), h.Min(), h.Max())
	}
}

func TestMergingAnyPartitionGivesTheSame(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	whole, parts := New(), []*Histogram{New(), New(), New()}
	for range 10_000 {
		d := time.Duration(random.ExpFloat64() * 1e6)
		whole.Record(d)
		parts[random.IntN(len(parts))].Record(d)
	}
	merged := New()
	for _, p := range parts {
		merged.Merge(p)
	}
	got, want := merged.Summary(), whole.Summary()
	if math.Abs(got.MeanUS-want.MeanUS) > 1e-6 {
		t.Errorf("mean %v, want %v", got.MeanUS, want.MeanUS)
	}
	got.MeanUS, want.MeanUS = 0, 0
	if got != want || merged.Min() != whole.Min() {
		t.Errorf("merged %+v, want %+v", got, want)
	}
	merged.Reset()
	if merged.Summary() != (result.Percentiles{}) || merged.Min() != 0 {
		t.Error("reset left something")
	}
}

func TestSeriesStaysBoundedAndLosesNoCount(t *testing.T) {
	t.Parallel()
	const most, seconds = 100, 86_400
	s := NewSeries(time.Second, most)
	for i := range seconds {
		p := result.Point{AtS: float64(i + 1), Batches: 10, Failed: 1, P99US: 5, Connections: i}
		if i == 4321 {
			p.P99US = 9000
		}
		s.Add(p)
	}
	points := s.Points()
	if len(points) > most || len(points) < most/2 {
		t.Fatalf("%d points", len(points))
	}
	batches, failed, worst := int64(0), int64(0), 0.0
	for i, p := range points {
		batches += p.Batches
		failed += p.Failed
		worst = max(worst, p.P99US)
		if want := float64(i+1) * s.Step().Seconds(); i < len(points)-1 && p.AtS != want {
			t.Fatalf("point %d ends at %v s, want %v", i, p.AtS, want)
		}
		if math.Abs(p.BatchesPerS-10) > 1e-9 {
			t.Fatalf("point %d has rate %v", i, p.BatchesPerS)
		}
	}
	if last := points[len(points)-1]; batches != 10*seconds || failed != seconds || worst != 9000 || last.AtS != seconds || last.Connections != seconds-1 {
		t.Errorf("batches %d failed %d worst %v last %+v", batches, failed, worst, last)
	}
}

func BenchmarkRecord(b *testing.B) {
	h := New()
	b.ReportAllocs()
	for b.Loop() {
		h.Record(250 * time.Microsecond)
	}
}
