package latency

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"gostress/pkg/result"
)

// Interval is what was recorded in a part of a run. Its histograms are its giver's again when the
// function it was given to returns; Clone keeps one.
type Interval struct {
	// Start and End are times since the measured part began; StartedAt is Start on the wall clock.
	Start, End time.Duration
	StartedAt  time.Time
	// Stage is the index of the stage, -1 before the measured part.
	Stage      int
	Statements []StatementInterval
}

// StatementInterval is what was recorded of a statement.
type StatementInterval struct {
	Name string
	// Latency is of what succeeded: in an open loop from the intended start, else the service time.
	Latency *Histogram
	// Service is the service time in an open loop; else nil.
	Service *Histogram
	// Failed is the service time of what did not succeed, by class; a class without any is missing.
	Failed map[result.Class]*Histogram
}

// Clone is a copy.
func (h *Histogram) Clone() *Histogram {
	c := *h
	c.h = h.h.Clone()
	return &c
}

// HDR is the histogram underneath, nanoseconds, for those who write its formats. It must not be
// changed.
func (h *Histogram) HDR() *hdrhistogram.Histogram { return h.h }
