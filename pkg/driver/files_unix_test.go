//go:build unix

package driver

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTheFileLimitIsHeldAgainstTheConnections(t *testing.T) {
	t.Parallel()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := raiseFileLimit(1, 2); err != nil {
		t.Errorf("one connection: %v", err)
	}
	if uint64(limit.Max) < 1<<30 {
		err := raiseFileLimit(1<<30, 1)
		if err == nil || !strings.Contains(err.Error(), "1073741824 connections need") || !strings.Contains(err.Error(), "ulimit") {
			t.Errorf("too many: %v", err)
		}
	}
	if err := raiseFileLimit(1<<30, -1); err != nil {
		t.Errorf("connections without files: %v", err)
	}
}
