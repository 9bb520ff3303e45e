package compare

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"gostress/pkg/result"
)

// SweepText writes a sweep as a table: for each number of connections the medians of its runs, what
// the fitted law says, and where the knee is.
func SweepText(w io.Writer, set result.Set) error {
	byNumber := map[int][]result.Run{}
	var numbers []int
	for _, run := range set.Runs {
		if byNumber[run.Connections] == nil {
			numbers = append(numbers, run.Connections)
		}
		byNumber[run.Connections] = append(byNumber[run.Connections], run)
	}
	slices.Sort(numbers)
	rows := [][]string{{"connections", "batches/s", "by the law", "p50 ms", "p99 ms", "errors", ""}}
	for _, n := range numbers {
		runs := byNumber[n]
		law, mark := "-", ""
		if set.USL != nil {
			law = number(Rate(set.USL, float64(n)), "/s")
			if n == set.USL.Knee {
				mark = "<- knee"
			}
		}
		rows = append(rows, []string{fmt.Sprint(n), number(median(runs, func(r *result.Run) float64 { return r.BatchesPerS }), "/s"), law,
			number(median(runs, func(r *result.Run) float64 { return r.Latency.Batch.P50US / 1e3 }), "ms"),
			number(median(runs, func(r *result.Run) float64 { return r.Latency.Batch.P99US / 1e3 }), "ms"),
			number(median(runs, func(r *result.Run) float64 { return float64(r.FailedBatches + r.InDoubt) }), ""), mark})
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	var b strings.Builder
	b.WriteString("Sweep\n")
	for _, row := range rows {
		var text strings.Builder
		for i, cell := range row[:len(row)-1] {
			fmt.Fprintf(&text, "  %*s", widths[i], cell)
		}
		b.WriteString(strings.TrimRight(text.String()+"  "+row[len(row)-1], " ") + "\n")
	}
	switch u := set.USL; {
	case u == nil:
		b.WriteString("  No law is fitted: that takes three numbers of connections with a rate.\n")
	default:
		fmt.Fprintf(&b, "  Universal Scalability Law: lambda %s/s, sigma %.4g, kappa %.4g, R2 %.3f", number(u.Lambda, "/s"), u.Sigma, u.Kappa, u.R2)
		if u.Peak > 0 {
			fmt.Fprintf(&b, "; by it the rate is highest with %.0f connections", u.Peak)
		}
		b.WriteByte('\n')
		if u.Knee == 0 {
			b.WriteString("  No knee was found: the last number of connections still brings much.\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// median of a figure of runs; of an even number the mean of the two in the middle.
func median(runs []result.Run, of func(*result.Run) float64) float64 {
	var values []float64
	for i := range runs {
		values = append(values, of(&runs[i]))
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
