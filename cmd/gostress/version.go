package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is the program's own; a release sets it with -ldflags.
var version = "0.1.0-dev"

type versionCmd struct{}

func (versionCmd) Run(a *app) error {
	_, err := fmt.Fprintf(a.stdout, "gostress %s (%s, %s/%s, go-mssqldb %s)\n",
		version, runtime.Version(), runtime.GOOS, runtime.GOARCH, moduleVersion("github.com/microsoft/go-mssqldb"))
	return err
}

// moduleVersion is the version of a module that was built in.
func moduleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				return m.Version
			}
		}
	}
	return "(unknown version)"
}
