package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"gostress/pkg/result"
)

// Column is a run in a comparison.
type Column struct {
	// Title heads the column.
	Title string
	Run   result.DemoRun
}

// Compare writes the demo's table: a column for each run, a row for each figure.
func Compare(w io.Writer, columns []Column) error {
	rows := [][]string{{""}}
	for _, c := range columns {
		rows[0] = append(rows[0], c.Title)
	}
	for _, figure := range figures {
		row := []string{figure.name}
		for _, c := range columns {
			row = append(row, figure.of(&c.Run))
		}
		rows = append(rows, row)
	}
	return table(w, rows)
}

// figures are the rows of a comparison.
var figures = []struct {
	name string
	of   func(*result.DemoRun) string
}{
	{"elapsed, s", func(r *result.DemoRun) string { return fmt.Sprintf("%.3f", r.ElapsedS) }},
	{"orders", func(r *result.DemoRun) string { return count(r.Orders) }},
	{"order lines", func(r *result.DemoRun) string { return count(r.Lines) }},
	{"orders/s", func(r *result.DemoRun) string { return rate(r.OrdersPerS) }},
	{"batch p50, ms", quantile(func(p *result.Percentiles) float64 { return p.P50US })},
	{"batch p90, ms", quantile(func(p *result.Percentiles) float64 { return p.P90US })},
	{"batch p99, ms", quantile(func(p *result.Percentiles) float64 { return p.P99US })},
	{"batch p99.9, ms", quantile(func(p *result.Percentiles) float64 { return p.P99_9US })},
	{"batch max, ms", quantile(func(p *result.Percentiles) float64 { return p.MaxUS })},
	{"errors", func(r *result.DemoRun) string { return count(r.Errors) }},
	{"generator CPU, s (user + system)", func(r *result.DemoRun) string { return cpu(r.CPUUserS, r.CPUSystemS) }},
	{"engine CPU, s (user + system)", func(r *result.DemoRun) string { return cpu(r.EngineCPUUserS, r.EngineCPUSystemS) }},
	{"tables checked", func(r *result.DemoRun) string {
		if r.Verified {
			return "yes"
		}
		return "NO"
	}},
}

func quantile(of func(*result.Percentiles) float64) func(*result.DemoRun) string {
	return func(r *result.DemoRun) string {
		if r.Latency.Batch.Count == 0 {
			return "-"
		}
		return fmt.Sprintf("%.3f", of(&r.Latency.Batch)/1e3)
	}
}

func cpu(user, system float64) string {
	return fmt.Sprintf("%.2f (%.2f + %.2f)", user+system, user, system)
}

// table writes rows of cells, the first column to the left and the others to the right, with a
// rule below the first row.
func table(w io.Writer, rows [][]string) error {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for at, row := range rows {
		for i, cell := range row {
			blanks := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString(cell + blanks)
			} else {
				b.WriteString("  " + blanks + cell)
			}
		}
		b.WriteByte('\n')
		if at == 0 {
			for i, width := range widths {
				if i > 0 {
					b.WriteString("  ")
				}
				b.WriteString(strings.Repeat("-", width))
			}
			b.WriteByte('\n')
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
