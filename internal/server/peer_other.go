//go:build !linux

package server

import (
	"errors"
	"net"
)

// sameUser cannot be told on this platform.
func sameUser(_, _ net.Addr) (bool, error) {
	return false, errors.New("this platform does not tell whose a socket is")
}
