package tds

import (
	"fmt"
	"io"
	"net"
)

// HandshakeConn carries a TLS handshake inside PRELOGIN packets, as TDS 7 does
// it on both sides: under tls.Server or tls.Client it wraps each flight in one
// packet, until Done; after that bytes pass as they are.
type HandshakeConn struct {
	net.Conn
	out  []byte
	left int // payload bytes of the current incoming packet
	done bool
	head [HeaderSize]byte
}

// NewHandshakeConn wraps c.
func NewHandshakeConn(c net.Conn) *HandshakeConn { return &HandshakeConn{Conn: c} }

// Write gathers a flight; it leaves with the next Read, or with Done.
func (c *HandshakeConn) Write(b []byte) (int, error) {
	if c.done {
		return c.Conn.Write(b)
	}
	if len(c.out)+len(b) > 1<<20 {
		return 0, fmt.Errorf("tds: a TLS handshake flight of more than %d bytes", 1<<20)
	}
	c.out = append(c.out, b...)
	return len(b), nil
}

func (c *HandshakeConn) flush() error {
	if len(c.out) == 0 {
		return nil
	}
	w := Writer{Dst: c.Conn, FlushAt: 1 << 20}
	w.Begin(PacketPrelogin, 0)
	w.Buf = append(w.Buf, c.out...)
	c.out = c.out[:0]
	return w.End()
}

// Read sends what was written and reads from the incoming packets, never past
// the end of one.
func (c *HandshakeConn) Read(b []byte) (int, error) {
	if c.done && c.left == 0 {
		return c.Conn.Read(b)
	}
	if err := c.flush(); err != nil {
		return 0, err
	}
	for c.left == 0 {
		if _, err := io.ReadFull(c.Conn, c.head[:]); err != nil {
			return 0, err
		}
		h, err := ParseHeader(c.head[:])
		if err != nil {
			return 0, err
		}
		// SQL Server answers in PRELOGIN packets; its older versions in responses.
		if h.Type != PacketPrelogin && h.Type != PacketResponse {
			return 0, &FormatError{What: "TLS handshake", Detail: fmt.Sprintf("a packet of type 0x%02X", byte(h.Type))}
		}
		c.left = h.Length - HeaderSize
	}
	if len(b) > c.left {
		b = b[:c.left]
	}
	n, err := c.Conn.Read(b)
	c.left -= n
	return n, err
}

// Done sends the last flight and ends the wrapping.
func (c *HandshakeConn) Done() error {
	err := c.flush()
	c.done, c.out = true, nil
	return err
}
