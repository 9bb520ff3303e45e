//go:build !unix

package driver

// raiseFileLimit has nothing to raise: sockets are not bounded for each process here.
func raiseFileLimit(connections, each int) error { return nil }
