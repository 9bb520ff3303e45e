package target

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// conn is the socket below go-mssqldb. It shows the first packet of the server
// to first, before go-mssqldb sees it, and remembers why reading failed.
type conn struct {
	net.Conn
	first func(net.Conn, []byte) error
	buf   []byte // what was read of the first packet and not handed on
	mu    sync.Mutex
	down  error
}

func (c *conn) Read(b []byte) (int, error) {
	if c.first != nil {
		check := c.first
		c.first = nil
		if err := c.readPacket(check); err != nil {
			return 0, err
		}
	}
	if len(c.buf) > 0 {
		n := copy(b, c.buf)
		if c.buf = c.buf[n:]; len(c.buf) == 0 {
			c.buf = nil
		}
		return n, nil
	}
	n, err := c.Conn.Read(b)
	if err != nil {
		c.mu.Lock()
		if c.down == nil {
			c.down = err
		}
		c.mu.Unlock()
	}
	return n, err
}

// isDown is why reading failed; nil if it did not.
func (c *conn) isDown() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.down
}

func (c *conn) readPacket(check func(net.Conn, []byte) error) error {
	const response, last = 4, 1
	p := make([]byte, 8)
	if n, err := io.ReadFull(c.Conn, p); err != nil {
		if n > 0 && p[0] != response {
			return &notServerError{p[:n]}
		}
		return beforeLogin(err)
	}
	n := int(binary.BigEndian.Uint16(p[2:]))
	if p[0] != response || n < 8 || p[1]&last == 0 {
		return &notServerError{p}
	}
	p = append(p, make([]byte, n-8)...)
	if _, err := io.ReadFull(c.Conn, p[8:]); err != nil {
		return beforeLogin(err)
	}
	c.buf = p
	return check(c.Conn, p)
}

// notServerError is an answer that no SQL Server gives.
type notServerError struct{ sent []byte }

func (e *notServerError) Error() string {
	return fmt.Sprintf("what answers is not a SQL Server: it sent %q", e.sent)
}

func beforeLogin(err error) error {
	if closedByServer(err) {
		return errors.New("the server closed the connection before the login")
	}
	return err
}

func closedByServer(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// preloginOption finds an option in a PRELOGIN answer, header included (MS-TDS
// 2.2.6.5). Of two with the same token the last counts, as it does for
// go-mssqldb.
func preloginOption(packet []byte, token byte) ([]byte, bool) {
	const header, option, end = 8, 5, 0xFF
	if len(packet) < header {
		return nil, false
	}
	body := packet[header:]
	var value []byte
	var found bool
	for at := 0; at+option <= len(body) && body[at] != end; at += option {
		off, n := int(binary.BigEndian.Uint16(body[at+1:])), int(binary.BigEndian.Uint16(body[at+3:]))
		if body[at] != token {
			continue
		}
		if n < 1 || off+n > len(body) {
			return nil, false
		}
		value, found = body[off:off+n], true
	}
	return value, found
}

// browserWait is how long SQL Browser may take for its one datagram, which can
// get lost.
const browserWait = 5 * time.Second

// browserConn is the UDP socket to SQL Browser. go-mssqldb gives it the time of
// the whole login, or no end at all.
type browserConn struct{ net.Conn }

func (c browserConn) SetDeadline(t time.Time) error {
	if latest := time.Now().Add(browserWait); t.IsZero() || t.After(latest) {
		t = latest
	}
	return c.Conn.SetDeadline(t)
}
