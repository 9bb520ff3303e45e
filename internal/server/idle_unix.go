//go:build unix

package server

import (
	"errors"
	"net"
	"syscall"
)

// readRaw makes fill read the socket itself, so that the buffer is taken only
// when there are bytes for it.
func (c *conn) readRaw() {
	tcp, ok := c.nc.(*net.TCPConn)
	if !ok {
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return
	}
	c.raw = raw
	c.rawFn = func(fd uintptr) bool {
		for {
			c.rawN, c.rawErr = syscall.Read(int(fd), c.rd.Space())
			switch c.rawErr {
			case syscall.EINTR:
				continue
			case syscall.EAGAIN:
				if c.rd.Buffered() == 0 {
					c.releaseBuffers()
				}
				return false
			}
			if c.rawErr != nil {
				c.rawN = 0
			}
			return true
		}
	}
}

// isResourceError reports what passes by itself: too many open files, a client
// that went away before it was accepted.
func isResourceError(err error) bool {
	for _, no := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}
