//go:build unix

package clock

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// ProcessCPU is the processor time that this process has used so far.
func ProcessCPU() (CPU, error) {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return CPU{}, fmt.Errorf("read the process's CPU time: %w", err)
	}
	return CPU{User: time.Duration(usage.Utime.Nano()), System: time.Duration(usage.Stime.Nano())}, nil
}
