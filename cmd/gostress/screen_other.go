//go:build !unix && !windows

package main

import "os"

func enableEscapes(*os.File) (restore func(), ok bool) { return nil, false }

func watchSize(func()) (stop func()) { return func() {} }
