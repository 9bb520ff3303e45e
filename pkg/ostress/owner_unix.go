//go:build unix

package ostress

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

func ownedByUser(st fs.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return !ok || int(s.Uid) == os.Geteuid()
}

// hardLinks is how many names a file has.
func hardLinks(st fs.FileInfo) uint64 {
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(s.Nlink)
}

// noFollow keeps a symbolic link from being opened.
const noFollow = syscall.O_NOFOLLOW

// lock takes a file for this process, for as long as it is open. A file system
// without locks lets everybody in.
func lock(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrBusy
	}
	return nil
}
