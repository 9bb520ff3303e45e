package main

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"

	"gostress/pkg/driver"
	"gostress/pkg/ostress"
	"gostress/pkg/pace"
)

// loopFlags say when iterations begin and when the run ends.
type loopFlags struct {
	Think          string
	Rate           string
	Arrivals       string
	Late           string
	MaxConnections string
	Duration       string
	Warmup         string
	RampUp         string
	Cooldown       string
	MaxErrors      string
	Stages         string
	Seed           string
}

// loop is checked loopFlags.
type loop struct {
	think                              pace.Think
	rate                               pace.Rate
	arrivals                           driver.Arrivals
	late                               driver.Late
	maxConnections                     int
	duration, warmup, rampUp, cooldown time.Duration
	maxErrors                          int64
	stages                             []driver.Stage
	seed                               uint64
}

func usagef(format string, args ...any) error {
	return &ostress.ArgError{Text: fmt.Sprintf(format, args...)}
}

// check reads the flags; n and r are -n and -r as they were given, empty where they were not.
func (f *loopFlags) check(n, r string) (loop, error) {
	l := loop{seed: 1}
	fail := func(name, value string, err error) (loop, error) {
		return loop{}, usagef("--%s=%s: %v", name, value, err)
	}
	var err error
	if f.Think != "" {
		if l.think, err = pace.ParseThink(f.Think); err != nil {
			return loop{}, usagef("--think: %v", err)
		}
	}
	if f.Rate != "" {
		if l.rate, err = pace.ParseRate(f.Rate); err != nil {
			return loop{}, usagef("--rate: %v", err)
		}
	}
	switch f.Arrivals {
	case "", "constant":
	case "poisson":
		l.arrivals = driver.Poisson
	default:
		return loop{}, usagef("--arrivals=%s: write constant or poisson", f.Arrivals)
	}
	switch f.Late {
	case "", "queue":
	case "skip":
		l.late = driver.LateSkip
	default:
		return loop{}, usagef("--late=%s: write queue or skip", f.Late)
	}
	for _, d := range []struct {
		name, value string
		to          *time.Duration
	}{{"duration", f.Duration, &l.duration}, {"warmup", f.Warmup, &l.warmup}, {"ramp-up", f.RampUp, &l.rampUp}, {"cooldown", f.Cooldown, &l.cooldown}} {
		if d.value == "" {
			continue
		}
		if *d.to, err = pace.ParseFor(d.value); err != nil {
			return loop{}, usagef("--%s: %v", d.name, err)
		}
	}
	if f.MaxErrors != "" {
		if l.maxErrors, err = number("--max-errors", f.MaxErrors, 1); err != nil {
			return loop{}, err
		}
	}
	if f.MaxConnections != "" {
		m, err := number("--max-connections", f.MaxConnections, 1)
		if err != nil {
			return loop{}, err
		}
		l.maxConnections = int(min(m, math.MaxInt32))
	}
	if f.Seed != "" {
		if l.seed, err = strconv.ParseUint(f.Seed, 10, 64); err != nil {
			return fail("seed", f.Seed, fmt.Errorf("write a whole number from 0"))
		}
	}
	if f.Stages != "" {
		steps, err := pace.ParseSteps(f.Stages)
		if err != nil {
			return loop{}, usagef("--stages: %v", err)
		}
		for _, s := range steps {
			l.stages = append(l.stages, driver.Stage{Name: s.Text, Connections: s.Connections, Rate: s.Rate, For: s.For})
		}
	}
	return l, f.agree(&l, n, r)
}

// agree finds what does not go together.
func (f *loopFlags) agree(l *loop, n, r string) error {
	switch {
	case f.Stages != "" && f.Duration != "":
		return usagef("--stages and --duration do not go together: each stage has a time of its own")
	case f.Stages != "" && f.Rate != "":
		return usagef("--stages and --rate do not go together: a stage can have a rate of its own, as in 500/s:1m")
	case l.byConnections() && n != "":
		return usagef("--stages=%s and -n do not go together: the stages say how many connections there are", f.Stages)
	case f.Think != "" && l.open():
		return usagef("--think is for a closed loop: with a rate, that says when iterations begin")
	case f.Arrivals != "" && !l.open():
		return usagef("--arrivals is for an open loop, which has a rate (--rate)")
	case f.Late != "" && !l.open():
		return usagef("--late is for an open loop, which has a rate (--rate)")
	case f.MaxConnections != "" && !l.open():
		return usagef("--max-connections is for an open loop, which has a rate (--rate); a closed one has -n connections")
	case l.open() && r == "" && !l.timed():
		return usagef("--rate=%s needs an end: --duration or -r", f.Rate)
	case f.Warmup != "" && !l.timed():
		return usagef("--warmup needs --duration or --stages: -r alone could be done before the warm-up is")
	case f.RampUp != "" && !l.timed():
		return usagef("--ramp-up needs --duration or --stages: -r alone could be done before all connections are there")
	case f.Cooldown != "" && !l.timed():
		return usagef("--cooldown needs --duration or --stages: it follows them")
	}
	return nil
}

// open says that iterations begin at a rate.
func (l *loop) open() bool { return l.rate > 0 || len(l.stages) > 0 && l.stages[0].Rate > 0 }

// byConnections says that the stages have numbers of connections.
func (l *loop) byConnections() bool { return len(l.stages) > 0 && l.stages[0].Rate == 0 }

// timed says that a time ends the run.
func (l *loop) timed() bool { return l.duration > 0 || len(l.stages) > 0 }

// most is the largest number of connections of an input, n being -n.
func (l *loop) most(n int) int {
	if l.byConnections() {
		n = 0
	}
	for _, s := range l.stages {
		n = max(n, s.Connections)
	}
	return max(n, l.maxConnections)
}

// arrivalsExpected is how many iterations begin by the rate, over all inputs; zero in a closed loop.
func (l *loop) arrivalsExpected() int64 {
	stages := l.stages
	if len(stages) == 0 {
		stages = []driver.Stage{{Rate: l.rate, For: l.duration}}
	}
	sum := float64(stages[0].Rate)*(l.rampUp+l.warmup).Seconds() + float64(stages[len(stages)-1].Rate)*l.cooldown.Seconds()
	for _, s := range stages {
		sum += float64(s.Rate) * s.For.Seconds()
	}
	return int64(math.Ceil(math.Min(sum, 1e15)))
}

// fill puts it into a plan.
func (l *loop) fill(p *driver.Plan) {
	p.Think, p.Rate, p.Arrivals, p.Late, p.MaxConnections = l.think, l.rate, l.arrivals, l.late, l.maxConnections
	p.Duration, p.Warmup, p.RampUp, p.Cooldown = l.duration, l.warmup, l.rampUp, l.cooldown
	p.MaxErrors, p.Stages, p.Seed = l.maxErrors, l.stages, l.seed
}

// readLength reads -r: without it there is one iteration, or as many as the time allows.
func (l *loop) readLength(r string) (int64, error) {
	if r == "" && l.timed() {
		return math.MaxInt64, nil
	}
	return number("-r", cmp.Or(r, "1"), 1)
}
