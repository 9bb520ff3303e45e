// Package report renders results: as text and as files, and the
// table that compares the demo's two runs.
package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"gostress/pkg/result"
)

// Text writes the summary of a run. Times in the latency table are milliseconds.
func Text(w io.Writer, run result.Run) error {
	var b strings.Builder
	l := &run.Load
	b.WriteString("Summary\n")
	if s := run.Server; s != nil {
		line(&b, "Server", "%s", server(s))
	}
	line(&b, "Connections", "%s", connections(l))
	loop(&b, l)
	line(&b, "Batches", "%s", classes(l.Batches, l.FailedBatches, l.InDoubt, l.Cancelled, l.Skipped, l.Attempted))
	line(&b, "Iterations", "%s", classes(l.Iterations, l.FailedIterations, l.InDoubtIterations, l.CancelledIterations, l.SkippedIterations, l.AttemptedIterations))
	// What a warm-up did counts towards -r, and is in no other figure.
	if left := l.PlannedIterations - l.AttemptedIterations; left > 0 && l.WarmupS == 0 && l.RampUpS == 0 {
		line(&b, "", "%s of %s iterations asked for were not begun", count(left), count(l.PlannedIterations))
	}
	line(&b, "Rows", "%s", count(l.Rows))
	line(&b, "Errors", "%s", errorCounts(l))
	if l.OpenTran > 0 {
		line(&b, "Open tran", "%s iterations ended with a transaction open; what was open at the end is rolled back", count(l.OpenTran))
	}
	if extra := list(note{l.Retries, "batches sent again"}, note{l.Throttled, "throttled answers waited out"}, note{l.RolledBack, "open transactions rolled back at the end of their connection"}); extra != "" {
		line(&b, "Retries", "%s", extra[2:])
	}
	if extra := list(note{l.InjectedCancels, "batches cancelled"}, note{l.InjectedDisconnects, "connections cut"}, note{l.Disconnects, "connections ended and opened again"}); extra != "" {
		line(&b, "By the run", "%s", extra[2:])
	}
	if l.EndedByErrors > 0 {
		line(&b, "", "%s connections ended as they had too many errors", count(int64(l.EndedByErrors)))
	}
	line(&b, "Elapsed", "%s (connecting %.3f s, running %.3f s)", Clock(l.ElapsedS), l.ConnectS, l.RunS)
	line(&b, "Rate", "%s batches/s, %s iterations/s", rate(l.BatchesPerS), rate(l.IterationsPerS))
	latencies(&b, l)
	statements(&b, l)
	stages(&b, l)
	line(&b, "Client CPU", "%.3f s user, %.3f s system%s", l.CPUUserS, l.CPUSystemS, perBatch(l))
	warnings(&b, l)
	thresholds(&b, run)
	observer(&b, run.Observer)
	if l.Interrupted {
		line(&b, "", "The run was interrupted: the figures are of what was done until then.")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func line(b *strings.Builder, name, format string, args ...any) {
	fmt.Fprintf(b, "  %-12s "+format+"\n", append([]any{name}, args...)...)
}

func server(s *result.Server) string {
	text := s.Address
	for _, part := range []struct{ name, value string }{{"version", s.Version}, {"edition", s.Edition}, {"database", s.Database}, {"encryption", encryption(s)}, {"wire", s.Wire}, {"SET options of", s.SetOptions}} {
		if part.value != "" {
			text += ", " + part.name + " " + part.value
		}
	}
	return text
}

// encryption is what of a connection is encrypted, and with what.
func encryption(s *result.Server) string {
	words := s.Encryption
	switch words {
	case "all":
		words = "of everything"
	case "login":
		words = "of the login only"
	}
	if s.TLS != "" {
		words += ", " + s.TLS
	}
	return words
}

func connections(l *result.Load) string {
	text := count(int64(l.Connected))
	if l.Connected != l.Connections {
		text += " of " + count(int64(l.Connections))
	}
	return text + list(
		note{int64(l.ConnectFailed), "could not be opened"},
		note{int64(l.LateConnections), "came late"},
		note{l.LostConnections, "times lost"},
		note{l.Reconnects, "times reopened"},
		note{int64(l.GivenUp), "given up"},
		note{int64(l.Abandoned), "did not end"})
}

func classes(good, failed, inDoubt, cancelled, skipped, attempted int64) string {
	if good == attempted {
		return count(good)
	}
	return count(good) + " good" + list(note{failed, "failed"}, note{inDoubt, "in doubt"}, note{cancelled, "cancelled"}, note{skipped, "skipped"}) +
		" (" + count(attempted) + " attempted)"
}

// note is a count worth telling of when it is not zero.
type note struct {
	n    int64
	what string
}

func list(notes ...note) string {
	text := ""
	for _, n := range notes {
		if n.n != 0 {
			text += ", " + count(n.n) + " " + n.what
		}
	}
	return text
}

// errorCounts lists error numbers by how often they came.
func errorCounts(l *result.Load) string {
	var parts []string
	for _, number := range slices.SortedFunc(maps.Keys(l.ErrorsByNumber), func(a, b int32) int {
		if by := l.ErrorsByNumber[b] - l.ErrorsByNumber[a]; by != 0 {
			return int(max(min(by, 1), -1))
		}
		return int(a) - int(b)
	}) {
		text := fmt.Sprintf("error %d: %s", number, count(l.ErrorsByNumber[number]))
		if number == 1205 {
			text += " (deadlock victims)"
		}
		parts = append(parts, text)
	}
	if l.Timeouts > 0 {
		parts = append(parts, "query timeouts: "+count(l.Timeouts))
	}
	if l.LostConnections > 0 {
		parts = append(parts, "connections lost: "+count(l.LostConnections))
	}
	if len(parts) == 0 {
		return "none"
	}
	const most = 20
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], fmt.Sprintf("and %d more numbers", more))
	}
	return strings.Join(parts, ", ")
}

func latencies(b *strings.Builder, l *result.Load) {
	fmt.Fprintf(b, "  %-16s", "Latency, ms")
	for _, name := range []string{"p50", "p90", "p95", "p99", "p99.9", "max", "mean"} {
		fmt.Fprintf(b, " %10s", name)
	}
	b.WriteByte('\n')
	var service, startError result.Percentiles
	if l.Service != nil {
		service = l.Service.Batch
	}
	if l.Health != nil && l.Health.StartError != nil {
		startError = *l.Health.StartError
	}
	for _, row := range []struct {
		name   string
		always bool
		p      result.Percentiles
	}{
		{"batch", true, l.Latency.Batch}, {"iteration", true, l.Latency.Iteration},
		{"batch service", false, service}, {"start error", false, startError},
		{"failed batch", false, l.FailedLatency.Batch}, {"failed iteration", false, l.FailedLatency.Iteration},
	} {
		if row.p.Count == 0 && !row.always {
			continue
		}
		fmt.Fprintf(b, "  %-16s", row.name)
		for _, us := range []float64{row.p.P50US, row.p.P90US, row.p.P95US, row.p.P99US, row.p.P99_9US, row.p.MaxUS, row.p.MeanUS} {
			if row.p.Count == 0 {
				fmt.Fprintf(b, " %10s", "-")
			} else {
				fmt.Fprintf(b, " %10.3f", us/1e3)
			}
		}
		b.WriteByte('\n')
		if row.p.Clamped > 0 {
			line(b, "", "%s of these lay beyond 100 ns to 1 h and count as the nearer end", count(row.p.Clamped))
		}
	}
}

func perBatch(l *result.Load) string {
	done := l.Batches + l.FailedBatches
	if done == 0 {
		return ""
	}
	return fmt.Sprintf(" (%.1f us a batch)", (l.CPUUserS+l.CPUSystemS)*1e6/float64(done))
}

// Clock is a number of seconds as ostress writes it, hours:minutes:seconds.milliseconds.
func Clock(seconds float64) string {
	ms := time.Duration(seconds * float64(time.Second)).Round(time.Millisecond).Milliseconds()
	return fmt.Sprintf("%02d:%02d:%02d.%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, ms%1000)
}

// count is a number with its thousands apart.
func count(n int64) string {
	digits := fmt.Sprint(max(n, -n))
	var b strings.Builder
	if n < 0 {
		b.WriteByte('-')
	}
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// rate is a number a second, with a fraction when it is small.
func rate(r float64) string {
	if r < 100 {
		return fmt.Sprintf("%.2f", r)
	}
	return count(int64(r + 0.5))
}
