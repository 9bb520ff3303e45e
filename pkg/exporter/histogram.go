package exporter

import (
	"math"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"gostress/pkg/latency"
)

// schema makes a native histogram's buckets grow by 2^(1/32), about two per cent.
const schema = 5

// bounds are the classic buckets' upper ends, seconds.
func bounds() []float64 {
	var out []float64
	for decade := 1e-4; decade < 100; decade *= 10 {
		out = append(out, round(decade), round(2.5*decade), round(5*decade))
	}
	return out
}

func round(f float64) float64 {
	scale := math.Pow(10, 2-math.Floor(math.Log10(f)))
	return math.Round(f*scale) / scale
}

// both is a metric that is a native and a classic histogram at once, as Prometheus's own are, so
// that every server finds what it understands.
type both struct {
	prometheus.Metric
	classic []*dto.Bucket
}

func (b both) Write(m *dto.Metric) error {
	if err := b.Metric.Write(m); err != nil {
		return err
	}
	m.Histogram.Bucket = b.classic
	return nil
}

// histogram is h as a metric. A value counts in the bucket that its HdrHistogram bucket's upper end
// lies in.
func histogram(desc *prometheus.Desc, h *latency.Histogram, labels ...string) prometheus.Metric {
	native := map[int]int64{}
	ends := bounds()
	counts := make([]uint64, len(ends))
	for _, bar := range h.HDR().Distribution() {
		if bar.Count == 0 {
			continue
		}
		seconds := float64(bar.To) / float64(time.Second)
		native[int(math.Ceil(math.Log2(seconds)*(1<<schema)))] += bar.Count
		for i, end := range ends {
			if seconds <= end*1.001 { // three figures are all that is known of it
				counts[i] += uint64(bar.Count)
			}
		}
	}
	m, err := prometheus.NewConstNativeHistogram(desc, uint64(h.Count()), h.Sum()/float64(time.Second), native, nil, 0, schema,
		prometheus.DefNativeHistogramZeroThreshold, time.Time{}, labels...)
	if err != nil {
		return prometheus.NewInvalidMetric(desc, err)
	}
	b := both{Metric: m}
	for i := range ends {
		b.classic = append(b.classic, &dto.Bucket{CumulativeCount: &counts[i], UpperBound: &ends[i]})
	}
	return b
}

// label is a name that a label can have.
func label(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
