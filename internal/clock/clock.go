// Package clock is the time that measurements are made with: monotonic, and as fine as the
// system allows.
package clock

import "time"

// CPU is processor time that a process has used.
type CPU struct {
	User, System time.Duration
}

// Sub returns the time used since an earlier reading.
func (c CPU) Sub(earlier CPU) CPU {
	return CPU{User: c.User - earlier.User, System: c.System - earlier.System}
}

// Total is user and system time together.
func (c CPU) Total() time.Duration { return c.User + c.System }

// Resolution measures the smallest step that the clock makes, reading it until steps were seen
// or a millisecond's worth of readings brought none. It is at least a nanosecond.
func (c Clock) Resolution() time.Duration {
	const steps, readings = 64, 200_000
	best := time.Duration(0)
	last := c.Now()
	for i, seen := 0, 0; i < readings && seen < steps; i++ {
		now := c.Now()
		if now == last {
			continue
		}
		if best == 0 || now-last < best {
			best = now - last
		}
		last = now
		seen++
	}
	// Under a simulated clock that stands still no step is seen.
	return max(best, time.Nanosecond)
}
