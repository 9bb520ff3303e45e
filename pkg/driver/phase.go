package driver

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"gostress/pkg/pace"
)

// phase is a part of a run with a number of connections or a rate of its own.
type phase struct {
	Stage
	measured bool
	ramp     bool // the number of connections grows to its own
}

// phases are the parts of a run, in order. The last one lasts until the work is done when its For
// is zero.
func (p *Plan) phases() []phase {
	stages := p.Stages
	if len(stages) == 0 {
		stages = []Stage{{Rate: p.Rate, For: p.Duration}}
	}
	first, last := stages[0], stages[len(stages)-1]
	var out []phase
	if p.RampUp > 0 {
		out = append(out, phase{Stage: Stage{Connections: first.Connections, Rate: first.Rate, For: p.RampUp}, ramp: true})
	}
	if p.Warmup > 0 {
		out = append(out, phase{Stage: Stage{Connections: first.Connections, Rate: first.Rate, For: p.Warmup}})
	}
	for _, s := range stages {
		out = append(out, phase{Stage: s, measured: true})
	}
	if p.Cooldown > 0 && last.For > 0 {
		out = append(out, phase{Stage: Stage{Connections: last.Connections, Rate: last.Rate, For: p.Cooldown}})
	}
	return out
}

// full is the number of connections of the largest unit, where no phase has a number of its own.
func (p *Plan) full() int {
	n := 0
	for _, u := range p.Units {
		n = max(n, cmp.Or(u.Connections, p.Connections))
	}
	return n
}

// sized says that a unit has a number of connections of its own.
func (p *Plan) sized() bool {
	return slices.ContainsFunc(p.Units, func(u Unit) bool { return u.Connections > 0 })
}

// most is the largest number of connections that a phase asks for, of a unit without its own.
func (p *Plan) most() int {
	n := 1
	for _, ph := range p.phases() {
		n = max(n, cmp.Or(ph.Connections, p.Connections))
	}
	return n
}

// size is the number of workers of a unit, those included that MaxConnections allows.
func (p *Plan) size(u Unit) int {
	return cmp.Or(u.Connections, max(p.most(), p.MaxConnections))
}

// workers is the number of workers of all units.
func (p *Plan) workers() int64 {
	n := int64(0)
	for _, u := range p.Units {
		n += int64(p.size(u))
	}
	return n
}

// initial is the number of connections of a unit with which the run begins.
func (p *Plan) initial() int {
	first := p.phases()[0]
	if first.ramp {
		return 1
	}
	return cmp.Or(first.Connections, p.full())
}

// isOpen says that iterations begin at intended starts.
func (p *Plan) isOpen() bool { return p.phases()[0].Rate > 0 }

// schedule is the arrivals of an open loop.
func (p *Plan) schedule() pace.Schedule {
	var stages []pace.Stage
	for _, ph := range p.phases() {
		stages = append(stages, pace.Stage{Rate: ph.Rate, For: ph.For})
	}
	s := pace.Constant(stages)
	if p.Arrivals == Poisson {
		s = pace.Poisson(stages, p.Seed)
	}
	if planned := p.planned(); planned > 0 {
		s = &limited{s, planned}
	}
	return s
}

// planned is connections x iterations over all units; zero when there is no such number.
func (p *Plan) planned() int64 {
	n := int64(0)
	for _, u := range p.Units {
		n += int64(cmp.Or(u.Connections, p.most()))
	}
	if p.Iterations == math.MaxInt64 || p.Iterations > math.MaxInt64/n {
		return 0
	}
	return n * p.Iterations
}

// limited is the first so many arrivals of a schedule.
type limited struct {
	pace.Schedule
	left int64
}

func (l *limited) Next() (time.Duration, bool) {
	if l.left == 0 {
		return 0, false
	}
	l.left--
	return l.Schedule.Next()
}

// watched remembers what was taken from a schedule.
type watched struct {
	pace.Schedule
	taken int64
	last  time.Duration
}

func (w *watched) Next() (time.Duration, bool) {
	at, ok := w.Schedule.Next()
	if ok {
		w.taken++
		w.last = at
	}
	return at, ok
}

// missed is the number of arrivals that were due until a time and are not among those released.
func (w *watched) missed(released int64, until time.Duration) int64 {
	n := int64(0)
	if w.taken > released && w.last < until {
		n++
	}
	for at, ok := w.Next(); ok && at < until; at, ok = w.Next() {
		n++
	}
	return n
}

// release runs the pacer of an open loop from the run's beginning to its end.
func (r *runner) release(stop <-chan struct{}) {
	select {
	case <-r.begin:
	case <-stop:
		return
	}
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-stop:
		case <-r.noMore:
		case <-ended:
		}
		cancel()
	}()
	pacer := pace.Pacer{Clock: r.clock, Sleep: r.plan.sleep}
	due := &watched{Schedule: r.plan.schedule()}
	released := int64(0)
	err := pacer.Run(ctx, r.beganAt, due, func(at time.Duration) {
		released++
		busy, ok := r.arrivals.release(at, r.plan.Late == LateSkip)
		if !ok {
			r.dropArrivals(1)
		}
		if busy && r.plan.MaxConnections > 0 {
			r.gate.grow(r.plan.MaxConnections)
		}
	})
	if r.isFinishing() {
		// What was due and never released counts, as the pacer's own fault.
		n := due.missed(released, r.clock.Now()-r.beganAt)
		r.dropArrivals(n)
		r.unreleased = n
	}
	switch {
	case err == nil && r.plan.planned() > 0:
		r.endWhenTaken(stop)
	case err != nil && ctx.Err() == nil:
		r.stop(&StoppedError{Reason: "the arrivals could not be released in time", Err: err})
	}
}

// endWhenTaken ends the run when the last arrival has been taken.
func (r *runner) endWhenTaken(stop <-chan struct{}) {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for len(r.arrivals.queue) > 0 {
		select {
		case <-ticker.C:
		case <-stop:
			return
		case <-r.noMore:
			return
		}
	}
	r.finish(EndedByWork)
}

// dropArrivals counts arrivals that nobody takes.
func (r *runner) dropArrivals(n int64) {
	sh := &r.shards.all[0]
	sh.mu.Lock()
	sh.t.iterations.n[skipped] += n
	sh.t.counters[skippedLate] += n
	sh.mu.Unlock()
	r.dropped.Add(n)
}

// Why a run ended, as result.Load.EndedBy has it.
const (
	EndedByWork     = "iterations"
	EndedByDuration = "duration"
	EndedByErrors   = "max_errors"
	EndedEarly      = "early"
)

// finish lets nobody begin another iteration. Unless all the work is done, those at work are cut
// behind the batch in flight. The first reason counts.
func (r *runner) finish(why string) {
	r.finishOnce.Do(func() {
		r.endedBy = why
		close(r.noMore)
		if why != EndedByWork {
			close(r.over)
		}
	})
}

// isOver says that iterations at work are cut.
func (r *runner) isOver() bool {
	select {
	case <-r.over:
		return true
	default:
		return false
	}
}

// isFinishing says that nobody begins another iteration.
func (r *runner) isFinishing() bool {
	select {
	case <-r.noMore:
		return true
	default:
		return false
	}
}
