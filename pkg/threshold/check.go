package threshold

import (
	"fmt"
	"slices"

	"gostress/pkg/result"
)

// Server is what a server said of itself, by the names of conditions. A name that is missing could
// not be read.
type Server map[string]float64

// Check holds a load, finished or still going on, against the condition. When there is no value to
// hold, as of a latency when no batch succeeded, OK is false and Note says why.
func (c Condition) Check(l *result.Load, s Server) result.Threshold {
	t := result.Threshold{Expr: c.expr, Limit: c.limit, Unit: c.unit()}
	if c.share {
		t.Limit *= 100
	}
	value, note := c.value(l, s)
	if note != "" {
		t.Note = note
		return t
	}
	t.Value = value
	t.OK = holds(value, c.op, t.Limit)
	return t
}

func holds(value float64, op string, limit float64) bool {
	switch op {
	case "<":
		return value < limit
	case "<=":
		return value <= limit
	case ">":
		return value > limit
	case ">=":
		return value >= limit
	case "==":
		return value == limit
	}
	return value != limit
}

// value is the metric's, in the condition's unit, or a note why there is none.
func (c Condition) value(l *result.Load, s Server) (value float64, note string) {
	counts, rate := loadCounts(l), l.BatchesPerS
	var statement *result.Statement
	if c.statement != "" {
		i := slices.IndexFunc(l.Statements, func(st result.Statement) bool { return st.Name == c.statement })
		if i < 0 {
			return 0, fmt.Sprintf("there is no statement %s", c.statement)
		}
		statement = &l.Statements[i]
		counts, rate = statement.Counts, statement.BatchesPerS
	}
	switch {
	case c.metric.kind == ofServer:
		v, ok := s[c.metric.name]
		if !ok {
			return 0, "the server could not be asked"
		}
		return v, ""
	case c.metric.kind == ofTime:
		p, note := c.times(l, statement)
		if note == "" && p.Count == 0 {
			note = "no batch succeeded"
		}
		return c.metric.time(p), note
	case c.metric.kind == ofRate && c.part == iteration:
		return l.IterationsPerS, ""
	case c.metric.kind == ofRate:
		return rate, ""
	}
	var n int64
	switch {
	case c.number != 0:
		n = l.ErrorsByNumber[c.number]
	case c.metric.load != nil:
		n = c.metric.load(l)
	default:
		n = c.metric.count(counts)
	}
	if !c.share {
		return float64(n), ""
	}
	if counts.Attempted == 0 {
		return 0, "no batch was attempted"
	}
	return float64(n) / float64(counts.Attempted) * 100, ""
}

func (c Condition) times(l *result.Load, statement *result.Statement) (result.Percentiles, string) {
	var missing result.Percentiles
	switch {
	case c.part == startError:
		if l.Health == nil || l.Health.StartError == nil {
			return missing, "a closed loop has no start error"
		}
		return *l.Health.StartError, ""
	case statement != nil && c.part == service && statement.Service != nil:
		return *statement.Service, ""
	case statement != nil:
		return statement.Latency, "" // of a closed loop it is the service time
	case c.part == iteration:
		return l.Latency.Iteration, ""
	case c.part == service && l.Service != nil:
		return l.Service.Batch, ""
	}
	return l.Latency.Batch, ""
}

func loadCounts(l *result.Load) result.Counts {
	return result.Counts{Attempted: l.Attempted, Batches: l.Batches, FailedBatches: l.FailedBatches, InDoubt: l.InDoubt, Cancelled: l.Cancelled, Skipped: l.Skipped}
}

// Verdict is what the thresholds of a finished run come to; "" when there are none.
func Verdict(l *result.Load, checked []result.Threshold) result.Verdict {
	switch {
	case l.GeneratorBound:
		return result.Void
	case len(checked) == 0:
		return ""
	case slices.ContainsFunc(checked, func(t result.Threshold) bool { return !t.OK }):
		return result.Failed
	}
	return result.Passed
}
