//go:build !windows

package clock

import "time"

// Clock reads monotonic time. Make one with New.
type Clock struct{ base time.Time }

// New returns a clock that reads about zero now.
func New() Clock { return Clock{base: time.Now()} }

// Now is the time since New.
func (c Clock) Now() time.Duration { return time.Since(c.base) }
