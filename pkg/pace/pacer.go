package pace

import (
	"context"
	"runtime"
	"time"

	"gostress/internal/clock"
)

// longest bounds one sleep, so that an end of the context is noticed.
const longest = 20 * time.Millisecond

// Pacer releases arrivals when they are due.
type Pacer struct {
	Clock clock.Clock
	// Sleep, when set, replaces the sleep on an OS thread, for tests on a simulated clock.
	Sleep func(time.Duration) error
}

// Run releases each arrival of the schedule when it is due, in order and however far behind, until
// the schedule or ctx ends. Start is the clock's time of the schedule's beginning; at is the
// intended start on the clock. Release is called from one goroutine, never before at, and must not
// block. The error is ctx's cause, or the system's refusal to sleep.
//
// The goroutine keeps an OS thread for itself and sleeps on it, as Go's own timers come up to a
// millisecond late. A thread wakes late too, by some tens of microseconds: the sleep is shortened
// by what it usually is, and what then remains, a few microseconds, is waited for awake.
func (p Pacer) Run(ctx context.Context, start time.Duration, s Schedule, release func(at time.Duration)) error {
	sleep := p.Sleep
	if sleep == nil {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		native, end := newSleeper()
		defer end()
		sleep = native
	}
	var late lateness
	for {
		offset, ok := s.Next()
		if !ok {
			return nil
		}
		at := start + offset
		for now := p.Clock.Now(); now < at; now = p.Clock.Now() {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			d := min(at-now-late.usual, longest)
			if d <= 0 {
				continue
			}
			if err := sleep(d); err != nil {
				return err
			}
			if p.Sleep == nil {
				late.observe(p.Clock.Now() - now - d)
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		release(at)
	}
}

// lateness follows the quartile of how late a sleeping thread wakes: three wakings of four come
// later, so that little is left to wait for awake.
type lateness struct{ usual time.Duration }

const (
	latenessStep = 500 * time.Nanosecond
	latenessMost = 200 * time.Microsecond
)

func (l *lateness) observe(d time.Duration) {
	if d > l.usual {
		l.usual = min(l.usual+latenessStep, latenessMost)
	} else {
		l.usual = max(l.usual-3*latenessStep, 0)
	}
}
