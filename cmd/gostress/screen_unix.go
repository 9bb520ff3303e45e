//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// enableEscapes says that a terminal knows escape sequences: there are none left that do not, but
// those that TERM=dumb tells of.
func enableEscapes(*os.File) (restore func(), ok bool) { return func() {}, true }

// watchSize calls f after the terminal's size changed, until it is told to stop.
func watchSize(f func()) (stop func()) {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGWINCH)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-ch:
				f()
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(ch)
		close(done)
	}
}
