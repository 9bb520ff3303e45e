package pace

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// newSleeper returns a sleep of the calling thread's own, which must be locked. The thread's timer
// slack, 50 us by default, is one nanosecond until end.
func newSleeper() (sleep func(time.Duration) error, end func()) {
	slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err == nil {
		// Where it cannot be set, the start error that is reported shows it.
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	}
	sleep = func(d time.Duration) error {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
			return fmt.Errorf("read the monotonic clock: %w", err)
		}
		until := unix.NsecToTimespec(now.Nano() + int64(d))
		// A signal, such as those of Go's scheduler, ends the sleep; the time is the same then.
		for {
			err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil)
			if err == nil {
				return nil
			}
			if !errors.Is(err, unix.EINTR) {
				return fmt.Errorf("sleep: %w", err)
			}
		}
	}
	return sleep, func() {
		if err == nil {
			_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0)
		}
	}
}
