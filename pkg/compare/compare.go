package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"

	"gostress/pkg/result"
)

// confidence is that of the intervals, and of the finding that there is a difference.
const confidence = 0.95

// Comparison is a table: a row for each figure, a cell for each input.
type Comparison struct {
	Names    []string
	Rows     []Row
	Warnings []string
}

// Row is a figure of all inputs.
type Row struct {
	Figure string
	// Unit is "us", "/s", "s", or "" for a count.
	Unit string
	// Cells stand in the order of the inputs; a figure that an input has not has N = 0.
	Cells []Cell
}

// Cell is a figure of an input, and its difference from the first input's.
type Cell struct {
	// Median of N values; Lo and Hi are the ends of its 95 % confidence interval, infinite when
	// there are too few for one.
	Median, Lo, Hi float64
	N              int
	// Ratio is Median over the first input's; NaN when that is zero or missing.
	Ratio float64
	// P is the probability of a difference as large by chance, after Mann and Whitney; 1 when either
	// has one value alone. Differs says that it is below 5 %.
	P       float64
	Differs bool
}

// figure is what a row is about; ok is false when a run has it not.
type figure struct {
	name, unit string
	of         func(*result.Run) (float64, bool)
}

// Compare holds every input against the first.
func Compare(inputs []Input) Comparison {
	c := Comparison{Warnings: differences(inputs)}
	for _, in := range inputs {
		c.Names = append(c.Names, in.Name)
	}
	for _, f := range figures(inputs) {
		row := Row{Figure: f.name, Unit: f.unit}
		var first *benchmath.Sample
		for i, in := range inputs {
			var values []float64
			for j := range in.Runs {
				if v, ok := f.of(&in.Runs[j]); ok {
					values = append(values, v)
				}
			}
			cell := Cell{N: len(values), Ratio: math.NaN(), P: 1, Lo: math.Inf(-1), Hi: math.Inf(1)}
			if cell.N > 0 {
				sample := benchmath.NewSample(values, &benchmath.DefaultThresholds)
				summary := benchmath.AssumeNothing.Summary(sample, confidence)
				cell.Median, cell.Lo, cell.Hi = summary.Center, summary.Lo, summary.Hi
				switch {
				case i == 0:
					first = sample
				case first != nil:
					cell.versus(first, sample, row.Cells[0])
				}
			}
			row.Cells = append(row.Cells, cell)
		}
		if slices.ContainsFunc(row.Cells, func(c Cell) bool { return c.N > 0 && c.Median != 0 }) {
			c.Rows = append(c.Rows, row)
		}
	}
	c.Warnings = append(c.Warnings, tooFew(inputs)...)
	return c
}

// versus holds a cell against the first input's.
func (c *Cell) versus(first, sample *benchmath.Sample, base Cell) {
	if base.Median != 0 {
		c.Ratio = c.Median / base.Median
	}
	if base.N > 1 && c.N > 1 {
		t := benchmath.AssumeNothing.Compare(first, sample)
		c.P, c.Differs = t.P, t.P < t.Alpha
	}
}

// figures are those of the whole run, and of each statement when there are several.
func figures(inputs []Input) []figure {
	times := func(prefix string, short bool, of func(*result.Run) (result.Percentiles, bool)) []figure {
		pick := func(name string, from func(result.Percentiles) float64) figure {
			return figure{prefix + name, "us", func(r *result.Run) (float64, bool) {
				p, ok := of(r)
				return from(p), ok && p.Count > 0
			}}
		}
		if short {
			return []figure{
				pick("p50", func(p result.Percentiles) float64 { return p.P50US }),
				pick("p99", func(p result.Percentiles) float64 { return p.P99US }),
			}
		}
		return []figure{
			pick("p50", func(p result.Percentiles) float64 { return p.P50US }),
			pick("p90", func(p result.Percentiles) float64 { return p.P90US }),
			pick("p95", func(p result.Percentiles) float64 { return p.P95US }),
			pick("p99", func(p result.Percentiles) float64 { return p.P99US }),
			pick("p99.9", func(p result.Percentiles) float64 { return p.P99_9US }),
			pick("max", func(p result.Percentiles) float64 { return p.MaxUS }),
			pick("mean", func(p result.Percentiles) float64 { return p.MeanUS }),
		}
	}
	whole := func(name, unit string, of func(*result.Run) float64) figure {
		return figure{name, unit, func(r *result.Run) (float64, bool) { return of(r), true }}
	}
	out := []figure{
		whole("batches", "/s", func(r *result.Run) float64 { return r.BatchesPerS }),
		whole("iterations", "/s", func(r *result.Run) float64 { return r.IterationsPerS }),
		whole("run", "s", func(r *result.Run) float64 { return r.RunS }),
	}
	out = append(out, times("", false, func(r *result.Run) (result.Percentiles, bool) { return r.Latency.Batch, true })...)
	out = append(out, times("service ", false, func(r *result.Run) (result.Percentiles, bool) {
		if r.Service == nil {
			return result.Percentiles{}, false
		}
		return r.Service.Batch, true
	})...)
	out = append(out,
		whole("errors", "", func(r *result.Run) float64 { return float64(r.FailedBatches + r.InDoubt) }),
		whole("deadlocks", "", func(r *result.Run) float64 { return float64(r.Deadlocks) }),
		whole("lost connections", "", func(r *result.Run) float64 { return float64(r.LostConnections) }),
		whole("client CPU", "us/batch", func(r *result.Run) float64 {
			return (r.CPUUserS + r.CPUSystemS) * 1e6 / math.Max(1, float64(r.Attempted))
		}))
	for _, name := range statements(inputs) {
		find := func(r *result.Run) (*result.Statement, bool) {
			i := slices.IndexFunc(r.Statements, func(s result.Statement) bool { return s.Name == name })
			if i < 0 {
				return nil, false
			}
			return &r.Statements[i], true
		}
		out = append(out, figure{name + " batches", "/s", func(r *result.Run) (float64, bool) {
			s, ok := find(r)
			if !ok {
				return 0, false
			}
			return s.BatchesPerS, true
		}})
		out = append(out, times(name+" ", true, func(r *result.Run) (result.Percentiles, bool) {
			s, ok := find(r)
			if !ok {
				return result.Percentiles{}, false
			}
			return s.Latency, true
		})...)
	}
	return out
}

// statements are the names of all statements, when any run has more than one.
func statements(inputs []Input) []string {
	var names []string
	several := false
	for _, in := range inputs {
		for _, r := range in.Runs {
			several = several || len(r.Statements) > 1
			for _, s := range r.Statements {
				if !slices.Contains(names, s.Name) {
					names = append(names, s.Name)
				}
			}
		}
	}
	if !several {
		return nil
	}
	return names
}

// tooFew says of which inputs there are too few runs to find a difference.
func tooFew(inputs []Input) []string {
	var out []string
	for _, in := range inputs {
		if n := len(in.Runs); n < 6 {
			s := "s"
			if n == 1 {
				s = ""
			}
			needed := "4 are needed to find a difference, 6 for an interval"
			if n >= 4 {
				needed = "enough to find a difference, and 6 are needed for an interval"
			}
			out = append(out, fmt.Sprintf("%s has %d run%s: %s; --repeat 10 makes enough", in.Name, n, s, needed))
		}
	}
	return out
}

// differences says in what, other than chance, the inputs differ.
func differences(inputs []Input) []string {
	asked := []struct {
		what string
		of   func(*result.Run) string
	}{
		{"connections (-n)", func(r *result.Run) string { return fmt.Sprint(r.Connections) }},
		{"loops", func(r *result.Run) string { return r.Loop }},
		{"rates asked for", func(r *result.Run) string {
			var rates []string
			if r.RatePerS > 0 {
				rates = append(rates, fmt.Sprintf("%v/s", r.RatePerS))
			}
			for _, s := range r.Stages {
				if s.RatePerS > 0 {
					rates = append(rates, fmt.Sprintf("%v/s", s.RatePerS))
				}
			}
			return strings.Join(rates, ", ")
		}},
		{"input", sql},
		{"servers", func(r *result.Run) string { return of(r, func(s *result.Server) string { return s.Address }) }},
		{"versions of the server", func(r *result.Run) string { return of(r, func(s *result.Server) string { return s.Version }) }},
		{"editions", func(r *result.Run) string { return of(r, func(s *result.Server) string { return s.Edition }) }},
		{"databases", func(r *result.Run) string { return of(r, func(s *result.Server) string { return s.Database }) }},
		{"encryption", func(r *result.Run) string { return of(r, func(s *result.Server) string { return s.Encryption }) }},
		{"wires", func(r *result.Run) string { return of(r, func(s *result.Server) string { return s.Wire }) }},
		{"SET options", func(r *result.Run) string { return of(r, func(s *result.Server) string { return s.SetOptions }) }},
		{"versions of gostress", func(r *result.Run) string { return r.Version }},
	}
	var out []string
	for _, a := range asked {
		var values []string
		for _, in := range inputs {
			for i := range in.Runs {
				if v := a.of(&in.Runs[i]); !slices.Contains(values, v) {
					values = append(values, v)
				}
			}
		}
		if len(values) > 1 {
			for i, v := range values {
				if v == "" {
					values[i] = "unknown"
				}
			}
			out = append(out, fmt.Sprintf("different %s: %s", a.what, strings.Join(values, " | ")))
		}
	}
	for _, in := range inputs {
		for _, r := range in.Runs {
			switch {
			case r.GeneratorBound:
				out = append(out, fmt.Sprintf("%s: the generator could not hold the rate asked for, so its figures are not the server's", in.Name))
			case r.Interrupted || r.Aborted != "":
				out = append(out, fmt.Sprintf("%s: a run ended early", in.Name))
			}
		}
	}
	return slices.Compact(out)
}

func of(r *result.Run, f func(*result.Server) string) string {
	if r.Server == nil {
		return ""
	}
	return f(r.Server)
}

// sql is what a command line says is to be run.
func sql(r *result.Run) string {
	var out []string
	for i, a := range r.Args {
		for _, name := range []string{"-Q", "-i", "--query", "--input", "--workload", "--mode"} {
			rest, ok := strings.CutPrefix(a, name)
			switch {
			case !ok:
				continue
			case rest == "" && i+1 < len(r.Args):
				rest = r.Args[i+1]
			case strings.HasPrefix(name, "--") && !strings.HasPrefix(rest, "="):
				continue
			}
			out = append(out, short(strings.TrimPrefix(rest, "=")))
		}
	}
	if len(out) == 0 {
		for _, u := range r.Units {
			out = append(out, u.Name)
		}
	}
	return strings.Join(out, " ")
}

// short is the beginning of a long text, with a sign of how long it was.
func short(s string) string {
	const most = 60
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) <= most {
		return string(r)
	}
	return fmt.Sprintf("%s... (%d characters)", string(r[:most]), len(r))
}
