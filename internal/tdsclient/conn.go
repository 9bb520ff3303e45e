package tdsclient

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"gostress/internal/tds"
)

// headersSize is the size of ALL_HEADERS with a transaction descriptor.
const headersSize = 22

// defaultGrace is how long the acknowledgement of a cancel may take, unless
// SetCancelGrace says otherwise.
const defaultGrace = 10 * time.Second

// fatalClass is the severity from which on the server ends the connection.
const fatalClass = 20

// Conn carries out requests on a connection that is logged in. One goroutine at
// a time calls Do; Close may be called from any.
type Conn struct {
	nc  net.Conn // TLS, if there is any
	raw net.Conn // the socket
	tls bool

	in         stream
	packetSize int
	tran       uint64 // descriptor of the transaction that is open; 0 is none
	database   string
	reset      byte // status bits of the next request
	resetAck   bool // the last answer acknowledged a reset

	metas  []*metadata // of result sets seen lately
	cur    *metadata   // of the result set being read
	next   int         // which of metas is likely next
	row    []any
	joined []byte // a chunked value being put together
	dec    tds.Decoder
	tokens tds.TokenReader
	tok    tds.Token

	// state is the request's progress and, above stateBits, the generation of the
	// context that is watched; see cancel.go.
	state atomic.Uint64
	done  <-chan struct{} // of the watched context
	stop  func() bool     // ends the watching
	grace time.Duration
	mu    sync.Mutex // held while an attention is sent
}

// newConn drives nc; raw is the socket below it.
func newConn(nc, raw net.Conn, packetSize int, database string) *Conn {
	c := &Conn{nc: nc, raw: raw, tls: nc != raw, packetSize: packetSize, database: database, grace: defaultGrace}
	c.in.src = nc
	c.tokens.Version = tds.V74
	return c
}

// NewConn drives a connection whose login somebody else made, with TDS 7.2 or
// newer and without MARS. packetSize is what the login agreed on.
func NewConn(nc net.Conn, packetSize int) *Conn { return newConn(nc, nc, packetSize, "") }

// SetCancelGrace sets how long the server may take to acknowledge a cancel before
// the connection is given up.
func (c *Conn) SetCancelGrace(d time.Duration) { c.grace = d }

// Database is the current database, as far as the server told.
func (c *Conn) Database() string { return c.database }

// PacketSize is the size of packets in bytes.
func (c *Conn) PacketSize() int { return c.packetSize }

// Transaction is the descriptor of the open transaction; 0 is none.
func (c *Conn) Transaction() uint64 { return c.tran }

// ResetNext makes the next request reset the session first; with keepTran its
// transaction stays.
func (c *Conn) ResetNext(keepTran bool) {
	c.reset = tds.StatusReset
	if keepTran {
		c.reset = tds.StatusResetKeepTran
	}
}

// WasReset reports whether the last answer acknowledged a reset of the session.
func (c *Conn) WasReset() bool { return c.resetAck }

// Close ends the connection; a request under way returns a LostError.
func (c *Conn) Close() error {
	if c.close() {
		c.unwatch()
	}
	// The socket itself: TLS's goodbye could wait for a writer.
	if err := c.raw.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Do sends r and reads its whole answer into sink; a nil sink means that rows are
// counted and no value is built. Errors of the server are in the Outcome. Do's own
// error is a LostError or a SinkError, after which the connection is closed, or
// ctx's, when the server has acknowledged the cancel and the connection can be
// used again.
//
// ctx is watched until Do is called with another one, or Close: watching anew
// each time would cost an allocation per call.
func (c *Conn) Do(ctx context.Context, r *Request, sink Sink) (Outcome, error) {
	var out Outcome
	if !c.begin(ctx) {
		c.end()
		_ = c.raw.Close()
		return out, &LostError{Err: ErrClosed}
	}
	if err := ctx.Err(); err != nil {
		if !c.rest() {
			return out, c.lost(ErrClosed, &out)
		}
		return out, err
	}
	c.resetAck = false
	err := c.send(r)
	if err == nil {
		err = c.answer(&out, sink)
	}
	c.in.release()
	out.OpenTran = c.tran != 0
	if err == nil {
		// The server ends the connection after such an error, and may be slow to.
		for i := range out.Errors {
			if out.Errors[i].Class >= fatalClass {
				err = out.Errors[i]
			}
		}
	}
	switch {
	case err == nil:
		return out, nil
	case errors.Is(err, errCancelled):
		return out, ctx.Err()
	}
	return out, c.lost(err, &out)
}

// lost closes the connection and says why.
func (c *Conn) lost(err error, out *Outcome) error {
	was := c.end()
	_ = c.raw.Close()
	c.unwatch()
	var se *SinkError
	if errors.As(err, &se) {
		return err
	}
	l := &LostError{Err: err}
	switch {
	case was == stateClosed:
		l.Err = ErrClosed
	case errors.Is(err, errEnd):
		l.Err = protocol("it ends early")
	case errors.Is(err, os.ErrDeadlineExceeded):
		l.Err = errNoAck // deadlines are set for nothing else
	case errors.Is(err, io.EOF):
		l.Err = errServerClosed
	}
	if n := len(out.Errors); n > 0 {
		last := out.Errors[n-1]
		l.Number = last.Number
		if last.Class >= fatalClass {
			l.Err = last
		}
	}
	return l
}

// send puts r into packets and writes them: all at once if they fit a buffer and
// there is no TLS, which SQL Server wants to carry a packet at a time. The buffer
// is the one that the answer is read into afterwards, if r fits it.
func (c *Conn) send(r *Request) error {
	size := max(c.packetSize, tds.MinPacketSize)
	n := min(r.Len(size), max(largeBuffer, size))
	if c.tls {
		n = min(n, size)
	}
	c.in.begin()
	if n <= len(c.in.buf.b) {
		return c.write(c.in.buf.b, r, size)
	}
	var buf buffer
	buf.get(n)
	err := c.write(buf.b, r, size)
	buf.put()
	return err
}

func (c *Conn) write(buf []byte, r *Request, size int) error {
	body, id, n := r.body, byte(1), 0
	status := c.reset
	c.reset = 0
	for first := true; ; first = false {
		at := n
		n += tds.HeaderSize
		if first {
			n = len(tds.AppendHeaders(buf[:n], tds.V74, c.tran))
		}
		k := copy(buf[n:min(at+size, len(buf))], body)
		body = body[k:]
		n += k
		if len(body) == 0 {
			status |= tds.StatusEOM
		}
		b := buf[at:]
		b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7] = byte(r.typ), status, byte((n-at)>>8), byte(n-at), 0, 0, id, 0
		id++
		status = 0
		if len(body) > 0 && !c.tls && n+size <= len(buf) {
			continue
		}
		if _, err := c.nc.Write(buf[:n]); err != nil {
			return err
		}
		if len(body) == 0 {
			return nil
		}
		n = 0
	}
}
