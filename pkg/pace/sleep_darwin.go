package pace

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// newSleeper returns a sleep on a kernel event of its own: a critical timer, which the system does
// not move to save power. mach_wait_until would need cgo.
func newSleeper() (sleep func(time.Duration) error, end func()) {
	kq, err := unix.Kqueue()
	if err != nil {
		err = fmt.Errorf("open a kernel queue: %w", err)
		return func(time.Duration) error { return err }, func() {}
	}
	unix.CloseOnExec(kq)
	sleep = func(d time.Duration) error {
		timer := []unix.Kevent_t{{
			Ident: 1, Filter: unix.EVFILT_TIMER, Flags: unix.EV_ADD | unix.EV_ONESHOT,
			Fflags: unix.NOTE_NSECONDS | unix.NOTE_CRITICAL, Data: int64(d),
		}}
		fired := make([]unix.Kevent_t, 1)
		for {
			_, err := unix.Kevent(kq, timer, fired, nil)
			if err == nil {
				return nil
			}
			if !errors.Is(err, unix.EINTR) {
				return fmt.Errorf("sleep: %w", err)
			}
			timer = nil // it is set already
		}
	}
	return sleep, func() { _ = unix.Close(kq) }
}
