//go:build !linux && !darwin && !windows

package pace

import "time"

// newSleeper returns Go's own sleep; the start error that is reported shows what it is worth.
func newSleeper() (sleep func(time.Duration) error, end func()) {
	return func(d time.Duration) error { time.Sleep(d); return nil }, func() {}
}
