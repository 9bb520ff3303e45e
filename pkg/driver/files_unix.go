//go:build unix

package driver

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// spareFiles are descriptors for what a process has open beside its connections.
const spareFiles = 64

// raiseFileLimit makes sure that the process may open what the connections need, raising its own
// limit where it may.
func raiseFileLimit(connections, each int) error {
	if each <= 0 {
		return nil
	}
	need := uint64(connections)*uint64(each) + spareFiles
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	if uint64(limit.Cur) >= need {
		return nil
	}
	if uint64(limit.Max) < need {
		return fmt.Errorf("%d connections need %d open files and this process may have %d at most; raise the limit (ulimit -Hn, or LimitNOFILE in systemd) or use fewer connections",
			connections, need, limit.Max)
	}
	raised := limit
	setLimit(&raised.Cur, need)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &raised); err != nil {
		return fmt.Errorf("%d connections need %d open files and this process may have %d; raising that failed: %w (try: ulimit -n %d)",
			connections, need, limit.Cur, err, need)
	}
	return nil
}

// setLimit hides that the type of a limit differs between systems.
func setLimit[T int64 | uint64](limit *T, to uint64) { *limit = T(to) }
