//go:build !unix

package ostress

import (
	"io/fs"
	"os"
)

// ownedByUser leaves it to the file system's own access rules.
func ownedByUser(fs.FileInfo) bool { return true }

const noFollow = 0

// lock has nothing to do: the system does not let a file be removed that another
// process has open.
func lock(*os.File) error { return nil }
