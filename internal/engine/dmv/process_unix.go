//go:build unix

package dmv

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

func thisProcess() process {
	var p process
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil {
		p.kernel = int64(u.Stime.Sec)*1000 + int64(u.Stime.Usec)/1000
		p.user = int64(u.Utime.Sec)*1000 + int64(u.Utime.Usec)/1000
	}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		p.kernelRelease = strings.TrimSpace(string(b))
	}
	if n := memTotal(); n > 0 {
		p.physicalBytes = n
	}
	return p
}

// memTotal reads the machine's memory where there is a /proc; 0 elsewhere.
func memTotal() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var n int64
		if _, err := fmt.Sscanf(s.Text(), "MemTotal: %d kB", &n); err == nil {
			return n * 1024
		}
	}
	return 0
}
