package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"gostress/pkg/ostress"
)

// openDir opens the result directory. The one that nobody asked for by name gives
// way when another run has it.
func (r *stressRun) openDir(started time.Time) (*ostress.Dir, error) {
	path := r.outputDir(started)
	dir, err := ostress.OpenDir(path)
	for i := 2; i < 1000 && r.cmd.Output == "" && errors.Is(err, ostress.ErrBusy); i++ {
		dir, err = ostress.OpenDir(fmt.Sprintf("%s~%d", path, i))
		if err == nil {
			r.say(fmt.Sprintf("another run writes to %s: the results of this one go to %s", path, dir.Path))
		}
	}
	return dir, err
}

func (r *stressRun) outputDir(started time.Time) string {
	switch {
	case r.cmd.Output != "":
		return nativePath(r.cmd.Output)
	case runtime.GOOS == "windows" || r.log.Manners == ostress.AsOstress:
		return filepath.Join(os.TempDir(), "output")
	}
	return filepath.Join("gostress-out", started.UTC().Format("20060102T150405.000Z"))
}

// nativePath reads a path in Windows spelling (.\Out) where the system has
// slashes, unless the name is there as it stands.
func nativePath(p string) string {
	if runtime.GOOS == "windows" || !strings.Contains(p, `\`) || strings.Contains(p, "/") {
		return p
	}
	if _, err := os.Lstat(p); err == nil {
		return p
	}
	return strings.ReplaceAll(p, `\`, "/")
}
