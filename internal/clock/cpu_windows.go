package clock

import (
	"fmt"
	"time"

	"golang.org/x/sys/windows"
)

// ProcessCPU is the processor time that this process has used so far.
func ProcessCPU() (CPU, error) {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		return CPU{}, fmt.Errorf("read the process's CPU time: %w", err)
	}
	return CPU{User: span(user), System: span(kernel)}, nil
}

// span is a FILETIME that counts 100 ns from zero and not from 1601.
func span(t windows.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
