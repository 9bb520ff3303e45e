//go:build unix

package ostress

import (
	"io/fs"
	"os"
	"syscall"
)

func ownedByUser(st fs.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return !ok || int(s.Uid) == os.Geteuid()
}
