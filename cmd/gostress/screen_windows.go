package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// enableEscapes lets a console read escape sequences; one older than Windows 10 cannot.
func enableEscapes(f *os.File) (restore func(), ok bool) {
	h := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(h, &mode); err != nil {
		return nil, false
	}
	if mode&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0 {
		return func() {}, true
	}
	if err := windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING); err != nil {
		return nil, false
	}
	// The console belongs to whoever started this program: it gets back what it had.
	return func() { _ = windows.SetConsoleMode(h, mode) }, true
}

// watchSize does nothing: a console tells of its size when it is asked, once a second.
func watchSize(func()) (stop func()) { return func() {} }
