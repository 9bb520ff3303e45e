//go:build !unix && !windows

package ostress

import (
	"io/fs"
	"os"
)

// ownedByUser leaves it to the file system's own access rules.
func ownedByUser(fs.FileInfo) bool { return true }

// hardLinks takes every file for the only name of it.
func hardLinks(fs.FileInfo) uint64 { return 1 }

const noFollow = 0

// lock has nothing to do.
func lock(*os.File) error { return nil }
