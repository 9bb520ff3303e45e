package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"gostress/pkg/result"
)

// loop says how the load was made, where that is more than connections and iterations.
func loop(b *strings.Builder, l *result.Load) {
	if l.Loop == "open" {
		text := "open"
		if l.RatePerS > 0 {
			text += ", " + rate(l.RatePerS) + " iterations/s asked for"
		}
		line(b, "Loop", "%s%s", text, list(note{l.Late, "begun more than 1 ms late"}, note{l.SkippedLate, "not begun in time and dropped"}))
	} else if len(l.Stages) > 0 || l.EndedBy == "duration" {
		line(b, "Loop", "closed")
	}
	switch l.EndedBy {
	case "duration":
		line(b, "Ended by", "its duration")
	case "max_errors":
		line(b, "Ended by", "the number of errors (--max-errors)")
	}
	if l.WarmupS > 0 || l.RampUpS > 0 {
		line(b, "Not counted", "ramp-up %g s, warm-up %g s", l.RampUpS, l.WarmupS)
	}
}

// grid writes cells in columns: the first to the left, the others to the right.
func grid(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	widths[0] = max(widths[0], 12)
	for _, row := range rows {
		var text strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				text.WriteString("  " + cell + pad)
			} else {
				text.WriteString("  " + pad + cell)
			}
		}
		b.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
}

// headings are those of the cells that cells makes.
func headings(first string, open bool) []string {
	out := []string{first, "batches", "failed", "batches/s", "p50 ms", "p95 ms", "p99 ms", "max ms"}
	if open {
		out = append(out, "service p50", "service p99")
	}
	return out
}

func cells(name string, c result.Counts, perSecond float64, p result.Percentiles, service *result.Percentiles) []string {
	out := []string{name, count(c.Batches), count(c.FailedBatches + c.InDoubt), rate(perSecond)}
	for _, us := range []float64{p.P50US, p.P95US, p.P99US, p.MaxUS} {
		out = append(out, milliseconds(us, p.Count))
	}
	if service != nil {
		out = append(out, milliseconds(service.P50US, service.Count), milliseconds(service.P99US, service.Count))
	}
	return out
}

func milliseconds(us float64, n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", us/1e3)
}

// longest is how much of a statement's name a table shows.
const longest = 40

// mostStatements bounds the lines of the table.
const mostStatements = 100

// statements writes a line for each when there are several.
func statements(b *strings.Builder, l *result.Load) {
	if len(l.Statements) < 2 {
		return
	}
	rows := [][]string{headings("Statement", l.Loop == "open")}
	for i, s := range l.Statements {
		if i == mostStatements {
			defer line(b, "", "and %s more, which the JSON report has", count(int64(len(l.Statements)-i)))
			break
		}
		name := s.Name
		if r := []rune(name); len(r) > longest {
			name = string(r[:longest-3]) + "..."
		}
		rows = append(rows, cells(name, s.Counts, s.BatchesPerS, s.Latency, s.Service))
	}
	grid(b, rows)
}

// stages writes a line for each.
func stages(b *strings.Builder, l *result.Load) {
	if len(l.Stages) == 0 {
		return
	}
	rows := [][]string{headings("Stage", l.Loop == "open")}
	for _, s := range l.Stages {
		rows = append(rows, cells(s.Name, s.Counts, s.BatchesPerS, s.Latency, s.Service))
	}
	grid(b, rows)
}

// warnings says what of the generator's own state could have shaped the result.
func warnings(b *strings.Builder, l *result.Load) {
	if l.Health == nil {
		return
	}
	for _, w := range l.Health.Warnings {
		line(b, "Warning", "%s", w)
	}
}
