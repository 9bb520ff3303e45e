package threshold

import (
	"strings"

	"gostress/pkg/result"
)

type kind uint8

const (
	ofTime kind = iota
	ofRate
	ofCount
	ofServer
)

// metric is something that a condition can be about.
type metric struct {
	name    string
	kind    kind
	whole   bool // known of the whole run alone
	share   bool // may be held against per cents: of the batches attempted
	percent bool // is a percentage
	time    func(result.Percentiles) float64
	count   func(result.Counts) int64
	load    func(*result.Load) int64
}

func metrics() []metric {
	return []metric{
		{name: "p50", kind: ofTime, time: func(p result.Percentiles) float64 { return p.P50US }},
		{name: "p90", kind: ofTime, time: func(p result.Percentiles) float64 { return p.P90US }},
		{name: "p95", kind: ofTime, time: func(p result.Percentiles) float64 { return p.P95US }},
		{name: "p99", kind: ofTime, time: func(p result.Percentiles) float64 { return p.P99US }},
		{name: "p99.9", kind: ofTime, time: func(p result.Percentiles) float64 { return p.P99_9US }},
		{name: "max", kind: ofTime, time: func(p result.Percentiles) float64 { return p.MaxUS }},
		{name: "mean", kind: ofTime, time: func(p result.Percentiles) float64 { return p.MeanUS }},
		{name: "rate", kind: ofRate},
		{name: "errors", kind: ofCount, share: true, count: func(c result.Counts) int64 { return c.FailedBatches + c.InDoubt }},
		{name: "failed", kind: ofCount, share: true, count: func(c result.Counts) int64 { return c.FailedBatches }},
		{name: "in_doubt", kind: ofCount, share: true, count: func(c result.Counts) int64 { return c.InDoubt }},
		{name: "cancelled", kind: ofCount, share: true, count: func(c result.Counts) int64 { return c.Cancelled }},
		{name: "skipped", kind: ofCount, share: true, count: func(c result.Counts) int64 { return c.Skipped }},
		{name: "batches", kind: ofCount, count: func(c result.Counts) int64 { return c.Batches }},
		{name: "attempted", kind: ofCount, count: func(c result.Counts) int64 { return c.Attempted }},
		{name: "deadlocks", kind: ofCount, whole: true, share: true, load: func(l *result.Load) int64 { return l.Deadlocks }},
		{name: "timeouts", kind: ofCount, whole: true, share: true, load: func(l *result.Load) int64 { return l.Timeouts }},
		{name: "lost", kind: ofCount, whole: true, load: func(l *result.Load) int64 { return l.LostConnections }},
		{name: "late", kind: ofCount, whole: true, load: func(l *result.Load) int64 { return l.Late }},
		{name: "rows", kind: ofCount, whole: true, load: func(l *result.Load) int64 { return l.Rows }},
		{name: "blocked_others", kind: ofServer},
		{name: "log_used", kind: ofServer, share: true, percent: true},
		{name: "server_cpu", kind: ofServer, share: true, percent: true},
		{name: "log_send_queue_mb", kind: ofServer},
	}
}

func names() []string {
	var out []string
	for _, m := range metrics() {
		out = append(out, m.name)
	}
	return out
}

func isPercentile(name string) bool { return name == "p99.9" }

func (m metric) example() string {
	switch {
	case m.kind == ofTime:
		return m.name + "<20ms"
	case m.kind == ofRate:
		return m.name + ">=5000/s"
	case m.percent:
		return m.name + ">80%"
	case m.share:
		return m.name + "<0.1% or " + m.name + "==0"
	}
	return m.name + "==0"
}

// unit is the unit of a value, as result.Threshold has it.
func (c Condition) unit() string {
	switch {
	case c.metric.kind == ofTime:
		return "us"
	case c.metric.kind == ofRate:
		return "/s"
	case c.metric.percent || c.share:
		return "%"
	case strings.HasSuffix(c.metric.name, "_mb"):
		return "MB"
	}
	return ""
}
