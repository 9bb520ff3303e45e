package driver

import (
	"fmt"
	"time"

	"gostress/internal/clock"
	"gostress/pkg/latency"
	"gostress/pkg/result"
)

func counts(n [outcomes]int64) result.Counts {
	return result.Counts{Attempted: n[good] + n[failed] + n[inDoubt] + n[cancelled] + n[skipped],
		Batches: n[good], FailedBatches: n[failed], InDoubt: n[inDoubt], Cancelled: n[cancelled], Skipped: n[skipped]}
}

// times are the distributions of batches and iterations.
func times(batch, iteration *latency.Histogram) result.Latency {
	return result.Latency{Batch: orEmpty(batch).Summary(), Iteration: orEmpty(iteration).Summary()}
}

// load is what was measured until now, used being the processor time until then. It is called by the
// conductor, and when that has ended.
func (r *runner) load(now time.Duration, used clock.CPU) result.Load {
	t := r.window.tally
	if t == nil {
		t = newTally(len(r.names))
	}
	n, it, c := t.batches(), t.iterations.n, t.counters
	batch, service, bad := t.goodBatches()
	l := result.Load{
		Attempted: n[good] + n[failed] + n[inDoubt] + n[cancelled] + n[skipped],
		Batches:   n[good], FailedBatches: n[failed], InDoubt: n[inDoubt], Cancelled: n[cancelled], Skipped: n[skipped],

		PlannedIterations:   r.plan.planned(),
		AttemptedIterations: t.iterations.attempted(),
		Iterations:          it[good], FailedIterations: it[failed], InDoubtIterations: it[inDoubt], CancelledIterations: it[cancelled], SkippedIterations: it[skipped],

		Rows: c[rowsReceived], ErrorsByNumber: map[int32]int64{}, Timeouts: c[timeouts], OpenTran: c[openTrans],
		Retries: c[retries], Throttled: c[throttledAnswers], RolledBack: c[rolledBack],
		InjectedCancels: c[injectedCancels], InjectedDisconnects: c[injectedDisconnects], Disconnects: c[disconnects],
		LostConnections: c[lostConnections], Reconnects: c[reconnects],

		Connections:     r.peak(),
		Connected:       int(r.connected.Load()),
		ConnectFailed:   int(r.failed.Load()),
		LateConnections: int(r.late.Load()),
		GivenUp:         int(r.gaveUp.Load()),
		Abandoned:       int(r.abandoned.Load()),
		EndedByErrors:   int(r.spent.Load()),

		Loop: "closed", RatePerS: float64(r.plan.Rate), Late: c[lateStarts], SkippedLate: c[skippedLate],
		WarmupS: r.plan.Warmup.Seconds(), RampUpS: r.plan.RampUp.Seconds(),

		Latency:           times(batch, t.iterations.latency),
		FailedLatency:     times(bad, t.iterations.failed),
		ClockResolutionUS: latency.Microseconds(r.resolution),
		Series:            append([]result.Point{}, r.series.Points()...),
		SeriesStepS:       r.series.Step().Seconds(),
	}
	for number, n := range t.errors {
		l.ErrorsByNumber[number] = n
	}
	l.Deadlocks = l.ErrorsByNumber[numDeadlock]
	if r.open {
		l.Loop = "open"
		s := times(service, t.iterations.service)
		l.Service = &s
	}
	if r.window.tally == nil {
		return l
	}
	l.RunS = max(r.until(now)-r.window.from, 0).Seconds()
	if l.RunS > 0 {
		l.BatchesPerS = float64(l.Batches) / l.RunS
		l.IterationsPerS = float64(l.Iterations) / l.RunS
	}
	used = used.Sub(r.windowCPU)
	l.CPUUserS, l.CPUSystemS = used.User.Seconds(), used.System.Seconds()
	l.Statements = r.statementResults(t, l.RunS)
	l.Stages = r.stageResults()
	h := r.health.result(used.Total(), l.RunS)
	if r.open {
		s := orEmpty(t.startError).Summary()
		h.StartError = &s
		unreleased := int64(0)
		if r.ended { // it is the pacer's until then
			unreleased = r.unreleased
		}
		l.GeneratorBound = generatorBound(t.startError, unreleased, t.iterations.attempted())
	}
	h.Warnings = warnings(&l, &h)
	l.Health = &h
	return l
}

// peak is the largest number of connections that there were at a time.
func (r *runner) peak() int {
	most, n := r.gate.peak(), 0
	for i := range r.workers {
		if r.workers[i].place < most {
			n++
		}
	}
	return n
}

// until is the end of the measured part: with a cooldown the last stage's, else the last answer's once
// all have ended, or that of its time.
func (r *runner) until(now time.Duration) time.Duration {
	switch {
	case r.plan.Cooldown > 0 && r.length() > 0:
		return r.window.to
	case !r.ended:
		return now
	}
	last := r.window.from
	for i := range r.workers {
		last = max(last, r.workers[i].lastAnswer)
	}
	// A time that is over was measured to its end, also where nothing came of its last part.
	if end := r.length(); end > 0 && r.endedBy == EndedByDuration {
		last = max(last, r.beganAt+end)
	}
	return last
}

func (r *runner) statementResults(t *tally, seconds float64) []result.Statement {
	out := make([]result.Statement, len(r.names))
	for i, name := range r.names {
		st := &t.statements[i]
		s := result.Statement{Name: name, Counts: counts(st.n), Rows: st.rows, Latency: orEmpty(st.latency).Summary()}
		if seconds > 0 {
			s.BatchesPerS = float64(s.Batches) / seconds
		}
		if r.open {
			p := orEmpty(st.service).Summary()
			s.Service = &p
		}
		for class, h := range st.failedBy {
			if h != nil && h.Count() > 0 {
				if s.FailedBy == nil {
					s.FailedBy = map[result.Class]result.Percentiles{}
				}
				s.FailedBy[result.Classes()[class]] = h.Summary()
			}
		}
		out[i] = s
	}
	return out
}

// stageResults are the stages as far as they have come.
func (r *runner) stageResults() []result.Stage {
	var out []result.Stage
	for i, t := range r.stages {
		ph := r.phase[i]
		if t.tally == nil {
			continue
		}
		all, service, _ := t.goodBatches()
		s := result.Stage{
			Name: ph.Name, Connections: ph.Connections, RatePerS: float64(ph.Rate),
			FromS: (t.from - r.window.from).Seconds(), ForS: (t.to - t.from).Seconds(),
			Counts: counts(t.batches()), Latency: all.Summary(),
		}
		if r.open {
			p := orEmpty(service).Summary()
			s.Service = &p
		}
		if s.ForS > 0 {
			s.BatchesPerS = float64(s.Batches) / s.ForS
		}
		out = append(out, s)
	}
	return out
}

// check holds the counts against each other and against what the workers took up, which is counted
// apart: a batch or an iteration that is in none of the classes, or in two, is a fault of the driver
// that must not pass for a measurement.
func (r *runner) check() error {
	taken, begun := int64(0), r.dropped.Load()
	for i := range r.workers {
		taken += r.workers[i].number
		begun += r.workers[i].begun
	}
	n := r.all.batches()
	if sum := counts(n).Attempted; sum != taken {
		return fmt.Errorf("internal error: %d batches were attempted and %d accounted for", taken, sum)
	}
	if sum := r.all.iterations.attempted(); sum != begun {
		return fmt.Errorf("internal error: %d iterations were attempted and %d accounted for", begun, sum)
	}
	return nil
}
