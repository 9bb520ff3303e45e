// Package driver is the executor: a Plan goes in, a result.Load comes out. Each worker owns one
// connection for all of its iterations; all begin together, and each call is timed.
package driver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gostress/pkg/latency"
	"gostress/pkg/pace"
	"gostress/pkg/result"
)

// Defaults of a Plan's fields that are zero.
const (
	DefaultConnectConcurrency = 64
	DefaultCancelGrace        = 5 * time.Second
	DefaultReconnectFor       = 2 * time.Minute
)

// Reconnect says what happens to a connection that broke.
type Reconnect uint8

const (
	// ReconnectBackoff opens it again, with growing waits; but not a session that was ended on
	// purpose, by KILL or ROLLBACK IMMEDIATE.
	ReconnectBackoff Reconnect = iota
	// ReconnectNever gives it up.
	ReconnectNever
	// ReconnectAlways opens it again even then.
	ReconnectAlways
)

// Progress is what Plan.Progress is told.
type Progress = result.Progress

// Plan is a run to be made.
type Plan struct {
	Connector Connector
	Units     []Unit
	// Connections is the number of workers of each unit that has none of its own (-n).
	Connections int
	// Iterations is how often each worker runs its program (-r); math.MaxInt64 is until the run ends
	// for another reason. In an open loop there are Connections x Iterations arrivals for each unit.
	Iterations int64

	// Think is a pause of a worker between iterations, in a closed loop.
	Think pace.Think
	// Rate makes the loop an open one: so many iterations begin a second, over all units and
	// connections, at intended starts spaced as Arrivals says.
	Rate     pace.Rate
	Arrivals Arrivals
	// Late says what becomes of an arrival that finds no free connection.
	Late Late
	// MaxConnections lets an open loop open up to so many connections of a unit when all are busy.
	MaxConnections int
	// Seed makes think times and arrivals repeatable.
	Seed uint64

	// Duration ends the run after a time from its measured part's beginning; 0 is none. Iterations
	// at work are cut behind the batch in flight, which still counts.
	Duration time.Duration
	// Stages are parts of the measured time, one after the other, in place of Duration and Rate.
	Stages []Stage
	// RampUp is a time before the measured part in which the connections are opened evenly and begin
	// to work, Warmup one after it with all of them; Cooldown follows the measured part when that
	// has an end. Nothing of them is in the result.
	RampUp, Warmup, Cooldown time.Duration
	// MaxErrors ends the run after so many batches that failed or are in doubt, those that Faults cut
	// or cancelled apart; 0 is never.
	MaxErrors int64

	// LoginTimeout bounds one login, from its dial; 0 is none.
	LoginTimeout time.Duration
	// QueryTimeout bounds one request; 0 is none.
	QueryTimeout time.Duration
	// CancelGrace is how long a cancelled request may take to end before its connection is
	// closed, and how long after that until the worker is left behind. 0 is DefaultCancelGrace.
	CancelGrace time.Duration
	// ConnectConcurrency bounds the logins in flight. 0 is DefaultConnectConcurrency.
	ConnectConcurrency int

	// Reconnect says what happens to a connection that broke.
	Reconnect Reconnect
	// ReconnectFor is how long a worker tries to open its connection again before it gives up.
	// 0 is DefaultReconnectFor.
	ReconnectFor time.Duration

	// StopOnError ends the run at the first error of class 11 or above, timeout or broken
	// connection (-b).
	StopOnError bool
	// QueryDelay is a pause before each batch of a worker but its first, inside the iteration.
	QueryDelay time.Duration
	// MaxRetries is how often a batch is sent again that a deadlock, a write conflict or a throttling
	// server failed. It is still one batch: what came of it in the end counts, its service time is
	// from the first sending, and what it did before it failed, if it is not one transaction, is
	// done again. A batch in a transaction that an earlier one began is sent again only while that is
	// still open: else the rest of the transaction would be done without its beginning. RetryInDoubt
	// sends again what timed out or lost its connection too, though it may have taken effect.
	MaxRetries   int
	RetryInDoubt bool
	// MaxWorkerErrors ends a worker after so many batches that failed or are in doubt, those that
	// Faults cut or cancelled apart; 0 is never.
	MaxWorkerErrors int64
	// Faults are what the run does to its own connections and batches.
	Faults Faults

	// FilesPerConnection is how many file descriptors a connection takes, to be checked against
	// the process's limit. 0 is one, and one more with a Sink; negative is none.
	FilesPerConnection int

	// Sink makes the sink of a worker, before its login; nil means no sink (-q). A sink that is
	// an io.Closer is closed when the worker ends. Each sink is used by its own worker, so
	// different ones are used at once.
	Sink func(unit, conn int) (Sink, error)
	// Events, if set, takes events from one goroutine. Run returns after the last one.
	Events func(Event)
	// Verbose asks for Connected events.
	Verbose bool
	// Progress, if set, is called about once a second from one goroutine, another than Events'.
	Progress func(Progress)
	// Interval, if set, takes what was recorded in each second of the measured part, and in what is
	// left at its end; Live the result so far. Both are called from Progress's goroutine.
	Interval func(latency.Interval)
	Live     func(result.Load)

	sleep func(time.Duration) error // replaces the pacer's, for tests on a simulated clock
}

// Arrivals says how the intended starts of an open loop are spaced.
type Arrivals uint8

const (
	// Even spaces them evenly.
	Even Arrivals = iota
	// Poisson makes them independent of each other.
	Poisson
)

// Late says what becomes of an arrival that finds no free connection.
type Late uint8

const (
	// LateQueue lets it wait for one.
	LateQueue Late = iota
	// LateSkip drops it.
	LateSkip
)

// Stage is a part of a run.
type Stage struct {
	Name string
	// Connections is the number of connections of each unit; 0 is the plan's.
	Connections int
	// Rate makes it a part of an open loop; either all stages have one or none has.
	Rate pace.Rate
	// For is how long it lasts.
	For time.Duration
}

// checkLoop checks what says when iterations begin and when they end.
func (p *Plan) checkLoop() error {
	for _, d := range []time.Duration{p.Duration, p.RampUp, p.Warmup, p.Cooldown} {
		if d < 0 {
			return fmt.Errorf("a part of a run cannot last %v", d)
		}
	}
	if len(p.Stages) > 0 && (p.Duration > 0 || p.Rate > 0) {
		return errors.New("stages have durations and rates of their own")
	}
	for i, s := range p.Stages {
		if s.For <= 0 || s.Connections < 0 || s.Rate < 0 {
			return fmt.Errorf("stage %d lasts %v, with %d connections and %v arrivals", i+1, s.For, s.Connections, s.Rate)
		}
		if (s.Rate > 0) != (p.Stages[0].Rate > 0) {
			return errors.New("either every stage has a rate, or none has")
		}
	}
	for _, u := range p.Units {
		switch {
		case u.Connections < 0:
			return fmt.Errorf("%s has %d connections", u.Name, u.Connections)
		case u.Connections > 0 && p.MaxConnections > 0:
			return fmt.Errorf("%s has a number of connections of its own, and more of them were to be opened", u.Name)
		case u.Connections > 0 && slices.ContainsFunc(p.Stages, func(s Stage) bool { return s.Connections > 0 }):
			return fmt.Errorf("%s has a number of connections of its own, and so have stages", u.Name)
		}
	}
	if !p.isOpen() {
		if p.MaxConnections > 0 {
			return errors.New("a closed loop has all its connections: more of them are opened in an open loop alone, which has a rate")
		}
		return nil
	}
	if !p.Think.IsZero() {
		return errors.New("think time is for a closed loop: in an open one the rate says when iterations begin")
	}
	if p.Iterations == math.MaxInt64 && p.Duration == 0 && len(p.Stages) == 0 {
		return errors.New("an open loop needs an end: iterations, a duration or stages")
	}
	return nil
}

// Run carries out p. The first worker logs in alone; if the server refuses it, Run returns that
// *LoginError and nobody else has tried. Then the others log in, and when each has or has failed,
// or after the longer of LoginTimeout and 60 s, all begin. Late ones join.
//
// The Load is complete whatever the error. The error is nil when the run was carried out, query
// errors and all; a *LoginError; an error that is ErrNoConnection when nobody could connect; a
// *StoppedError; a *SinkError when a sink could not be closed; or ctx's cause when ctx ended
// before the work did, Load.Interrupted then being set. Run leaves no goroutine behind but those
// that wait for a Session or Connector that never returns: of workers reported as Abandoned, and
// of calls to Close.
func Run(ctx context.Context, p Plan) (result.Load, error) {
	return run(ctx, p)
}
