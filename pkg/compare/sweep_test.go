package compare

import (
	"strings"
	"testing"

	"gostress/pkg/result"
)

func point(n int, rate, p99 float64) result.Run {
	return result.Run{Load: result.Load{Connections: n, BatchesPerS: rate, Latency: result.Latency{Batch: result.Percentiles{P50US: p99 / 2, P99US: p99, Count: 1}}}}
}

func TestSweepText(t *testing.T) {
	t.Parallel()
	set := result.Set{Runs: []result.Run{point(1, 900, 1000), point(1, 1100, 3000), point(4, 3000, 1500), point(16, 4000, 6000), point(16, 4000, 6000), point(16, 4400, 7000)},
		USL: &result.USL{Lambda: 1000, Sigma: 0.1, Kappa: 0.001, Peak: 30, R2: 0.99, Knee: 4}}
	var b strings.Builder
	if err := SweepText(&b, set); err != nil {
		t.Fatal(err)
	}
	want := `Sweep
  connections  batches/s  by the law  p50 ms  p99 ms  errors
            1       1000        1000   1.000   2.000       0
            4       3000        3049  0.7500   1.500       0  <- knee
           16       4000        5839   3.000   6.000       0
  Universal Scalability Law: lambda 1000/s, sigma 0.1, kappa 0.001, R2 0.990; by it the rate is highest with 30 connections
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if err := SweepText(&b, result.Set{Runs: set.Runs[:1]}); err != nil || !strings.Contains(b.String(), "takes three numbers of connections") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
