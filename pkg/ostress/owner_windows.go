package ostress

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// ownedByUser leaves it to the file system's own access rules.
func ownedByUser(fs.FileInfo) bool { return true }

// hardLinks takes every file for the only name of it.
func hardLinks(fs.FileInfo) uint64 { return 1 }

// noFollow: a link in the directory that leads out of it is not followed anyway.
const noFollow = 0

// lock takes a file for this process, for as long as it is open: one byte far
// behind its end, since Windows keeps others from reading what is locked.
func lock(f *os.File) error {
	far := &windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, far)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrBusy
	}
	return nil
}
