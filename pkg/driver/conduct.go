package driver

import (
	"cmp"
	"maps"
	"math"
	"time"

	"gostress/internal/clock"
	"gostress/pkg/latency"
	"gostress/pkg/result"
)

// span is a part of the run as it was: what was counted in it, and from when to when.
type span struct {
	*tally
	from, to time.Duration // on the clock
}

// rampSteps is how often a ramp-up lets connections in.
const rampSteps = 200

// conduct takes the run through its phases, and once a second, and where a phase ends, collects what
// was counted: that makes the series, the intervals and the progress. It goes on until it is told to
// stop.
func (r *runner) conduct(stop <-chan struct{}) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
connecting:
	for {
		select {
		case <-stop:
			if !r.begun() {
				return
			}
			// A run so short that this is the first we hear of it.
			break connecting
		case <-r.begin:
			break connecting
		case <-ticker.C:
			r.progress(Progress{Connecting: true, Phase: result.PhaseConnecting, Planned: r.plan.planned(), Connections: int(r.sessions.Load()),
				ConnectionsAsked: r.plan.initial() * len(r.plan.Units), Left: -1})
		}
	}
	ticker.Stop()
	c := conductor{runner: r, last: r.beganAt}
	c.enter(0, r.beganAt)
	for c.wait(stop) {
	}
}

// conductor is where the run stands.
type conductor struct {
	*runner
	at     int           // the phase
	ending time.Duration // of the phase; zero when it has no end of its own
	last   time.Duration // the last collection
	tick   time.Duration // the next one
}

// enter begins a phase.
func (c *conductor) enter(i int, now time.Duration) {
	c.at, c.ending = i, 0
	ph := c.phase[i]
	if ph.For > 0 {
		c.ending = now + ph.For
	}
	if ph.measured && c.window.tally == nil {
		c.window = span{newTally(len(c.names)), now, now}
		c.windowCPU = processCPU()
		c.health.begin()
		// Seconds are counted from here.
		c.tick = now
	}
	c.tick = max(c.tick, now) + time.Second
	if !ph.ramp && ph.Connections > 0 {
		c.gate.set(ph.Connections)
	}
}

// wait waits for what comes next, and does it. It is false when the run has ended.
func (c *conductor) wait(stop <-chan struct{}) bool {
	ph := c.phase[c.at]
	next := c.tick
	if c.ending > 0 {
		next = min(next, c.ending)
		if ph.ramp {
			next = min(next, c.clock.Now()+max(ph.For/rampSteps, time.Millisecond))
		}
	}
	timer := time.NewTimer(max(next-c.clock.Now(), 0))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-stop:
		c.collect(c.clock.Now())
		return false
	}
	now := c.clock.Now()
	if ph.ramp {
		all := cmp.Or(ph.Connections, c.plan.full())
		done := min(float64(ph.For-(c.ending-now))/float64(ph.For), 1)
		c.gate.set(max(1, int(math.Ceil(done*float64(all)))))
	}
	switch {
	case c.ending > 0 && now >= c.ending:
		c.collect(now)
		if c.at+1 < len(c.phase) {
			c.enter(c.at+1, now)
			break
		}
		c.finish(EndedByDuration)
		// What is in flight still counts where the last phase does.
		c.ending, c.tick = 0, now+time.Second
	case now >= c.tick:
		c.collect(now)
		c.tick = max(c.tick+time.Second, now)
	}
	return true
}

// collect takes what was counted since the last time.
func (c *conductor) collect(now time.Duration) {
	ph := c.phase[c.at]
	latest := c.interval
	latest.reset()
	c.shards.collect(latest)
	c.all.add(latest)
	if ph.measured {
		c.window.add(latest)
		c.window.to = now
		c.collectStage(latest, now)
		c.point(latest, now)
		if c.plan.Interval != nil {
			c.plan.Interval(c.asInterval(latest, now))
		}
	}
	c.tell(latest, now)
	c.last = now
	if c.plan.Live != nil && ph.measured {
		c.plan.Live(c.load(now, processCPU()))
	}
}

// collectStage adds to the stage at work.
func (c *conductor) collectStage(latest *tally, now time.Duration) {
	if len(c.plan.Stages) == 0 {
		return
	}
	s := &c.stages[c.at]
	if s.tally == nil {
		*s = span{newTally(len(c.names)), c.last, now}
	}
	s.add(latest)
	s.to = now
}

// point adds to the series.
func (c *conductor) point(latest *tally, now time.Duration) {
	n := latest.batches()
	all, _, _ := latest.goodBatches()
	c.series.Add(result.Point{
		AtS:         (now - c.window.from).Seconds(),
		Batches:     n[good],
		Failed:      n[failed] + n[inDoubt],
		P50US:       latency.Microseconds(all.Percentile(50)),
		P99US:       latency.Microseconds(all.Percentile(99)),
		MaxUS:       latency.Microseconds(all.Max()),
		Connections: int(c.sessions.Load()),
	})
}

// asInterval is the latest collection as the plan's Interval takes it.
func (c *conductor) asInterval(latest *tally, now time.Duration) latency.Interval {
	out := latency.Interval{Start: c.last - c.window.from, End: now - c.window.from, StartedAt: c.wall.Add(c.last), Stage: c.at - c.firstMeasured}
	for i, name := range c.names {
		s := &latest.statements[i]
		in := latency.StatementInterval{Name: name, Latency: orEmpty(s.latency)}
		if c.open {
			in.Service = orEmpty(s.service)
		}
		for class, h := range s.failedBy {
			if h != nil && h.Count() > 0 {
				if in.Failed == nil {
					in.Failed = map[result.Class]*latency.Histogram{}
				}
				in.Failed[result.Classes()[class]] = h
			}
		}
		out.Statements = append(out.Statements, in)
	}
	return out
}

// tell passes on the progress.
func (c *conductor) tell(latest *tally, now time.Duration) {
	if c.plan.Progress == nil {
		return
	}
	n, it := c.all.batches(), c.all.iterations.n
	all, _, _ := latest.goodBatches()
	ph := c.phase[c.at]
	p := Progress{
		Phase: c.phaseName(), Stage: ph.Name, ErrorsByNumber: maps.Clone(c.all.errors),
		Late: c.all.counters[lateStarts], SkippedLate: c.all.counters[skippedLate],
		ConnectionsAsked: cmp.Or(ph.Connections, c.plan.Connections) * len(c.plan.Units),
		Elapsed:          now - c.beganAt, Planned: c.stillPlanned(),
		Done:    it[good] + it[failed] + it[inDoubt] + it[cancelled] + it[skipped],
		Batches: n[good], Failed: n[failed] + n[inDoubt], Errors: c.all.counters[errorMessages],
		P50: all.Percentile(50), P99: all.Percentile(99),
		Connections: int(c.sessions.Load()), Left: -1,
		Measuring: ph.measured,
	}
	if length := now - c.last; length > 0 {
		p.BatchesPerS = float64(latest.batches()[good]) / length.Seconds()
	}
	if p.Planned > 0 && p.Done > 0 {
		p.Left = time.Duration(float64(p.Elapsed) / float64(p.Done) * float64(max(p.Planned-p.Done, 0)))
	}
	if end := c.length(); end > 0 {
		left := max(c.beganAt+end-now, 0)
		if p.Left < 0 || left < p.Left {
			p.Left = left
		}
	}
	c.progress(p)
}

// phaseName is the phase as it is told.
func (c *conductor) phaseName() result.Phase {
	switch ph := c.phase[c.at]; {
	case c.isFinishing() || c.ctx.Err() != nil:
		return result.PhaseEnding
	case ph.ramp:
		return result.PhaseRampUp
	case ph.measured:
		return result.PhaseMeasuring
	case c.at < c.firstMeasured:
		return result.PhaseWarmup
	}
	return result.PhaseCooldown
}

// length is how long all phases last; zero when the last has no end of its own.
func (r *runner) length() time.Duration {
	sum := time.Duration(0)
	for _, ph := range r.phase {
		sum += ph.For
	}
	if r.phase[len(r.phase)-1].For == 0 {
		return 0
	}
	return sum
}

// stillPlanned is the iterations asked for of those who could connect.
func (r *runner) stillPlanned() int64 {
	planned := r.plan.planned()
	if planned == 0 || r.open {
		return planned
	}
	return planned - r.failed.Load()*r.plan.Iterations
}

func (r *runner) progress(p Progress) {
	if r.plan.Progress != nil {
		r.plan.Progress(p)
	}
}

// processCPU is the processor time so far; an error to read it leaves zeros, which no use has.
func processCPU() clock.CPU {
	c, _ := clock.ProcessCPU()
	return c
}
