package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/tds"
)

// conn is one client's connection.
type conn struct {
	srv  *server
	tcp  net.Conn // the socket
	nc   net.Conn // what requests and answers go through: tcp, or TLS over it
	rd   tds.Reader
	wr   tds.Writer
	ver  tds.Version
	sess session
	out  output
	rpcs tds.RPCReader
	rpc  tds.RPC

	raw    syscall.RawConn // of tcp, while nc is tcp and the platform allows it
	rawFn  func(fd uintptr) bool
	rawN   int
	rawErr error

	large bool  // the last answer was, so the next one may be
	sent  int64 // bytes sent when the writer's buffer was given back last

	killed <-chan struct{}

	// seq is odd while a request runs; the sentry compares it with what it saw
	// a tick ago (seen, its own).
	seq  atomic.Uint64
	seen uint64
	busy atomic.Bool // from the start of a request until its answer is sent
	attn atomic.Bool // the running request was cancelled by the client
	gone atomic.Bool // the client went away, or the server wants it to

	mu     sync.Mutex
	watch  *watcher
	ctx    context.Context
	cancel context.CancelFunc
}

func newConn(s *server, tcp net.Conn) *conn {
	c := &conn{srv: s, tcp: tcp, nc: tcp}
	c.rd.Get, c.rd.Put = s.bufs.get, s.bufs.put
	c.wr.Dst = c
	c.out.c = c
	return c
}

// start logs in. The connection then goes on in a goroutine of its own, because
// this one's stack grew large in the TLS handshake.
func (c *conn) start() {
	ok := false
	defer func() {
		<-c.srv.slots
		if p := recover(); p != nil {
			c.srv.log.Error("login failed in an unexpected way", zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))
			ok = false
		}
		if !ok {
			c.close()
			return
		}
		go c.serve()
	}()
	err := c.login()
	if err != nil {
		c.srv.log.Info("no login", zap.String("client", addressOf(c.tcp)), zap.Error(err))
		return
	}
	ok = true
}

func (c *conn) close() {
	if c.sess != nil {
		c.closeSession()
	}
	c.mu.Lock()
	if c.cancel != nil {
		c.cancel()
	}
	c.mu.Unlock()
	_ = c.nc.SetWriteDeadline(time.Now().Add(time.Second)) // TLS says goodbye
	_ = c.nc.Close()
	_ = c.tcp.Close()
	c.releaseBuffers()
	c.srv.remove(c)
}

func (c *conn) closeSession() {
	defer func() {
		if p := recover(); p != nil {
			c.srv.log.Error("a session did not close in order", zap.Int("spid", c.sess.SPID()),
				zap.String("panic", fmt.Sprintf("%T: %v", p, p)), zap.ByteString("stack", debug.Stack()))
		}
	}()
	c.sess.Close()
}

// endSoon closes the connection, unless a request runs or its answer is still to
// be sent: then the connection sees that it is gone and closes itself.
func (c *conn) endSoon() {
	c.gone.Store(true)
	if !c.busy.Load() {
		_ = c.tcp.Close()
		return
	}
	// The client may not be reading: the answer must not wait for it forever.
	_ = c.tcp.SetWriteDeadline(time.Now().Add(2 * time.Second))
}

// serve answers requests until either side has enough.
func (c *conn) serve() {
	defer c.close()
	for !c.gone.Load() {
		m, err := c.next()
		if err != nil {
			if errors.Is(err, tds.ErrTooLarge) {
				c.refuse(sqlerr.New(4002, 16, 1, "The request is larger than the %d bytes that this server takes.", c.rd.Max))
			} else if fe := (*tds.FormatError)(nil); errors.As(err, &fe) {
				c.refuse(protocolError(err))
			} else if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				c.srv.log.Debug("connection lost", zap.String("client", addressOf(c.tcp)), zap.Error(err))
			}
			return
		}
		if !c.handle(m) {
			return
		}
	}
}

// refuse answers with an error; the connection ends after it.
func (c *conn) refuse(e *sqlerr.Error) {
	c.begin()
	c.out.message(e)
	c.out.finish(true)
	_ = c.wr.End()
}

func protocolError(err error) *sqlerr.Error {
	return sqlerr.New(4002, 16, 1, "The incoming tabular data stream (TDS) is not correct: %s.", err)
}

// Write sends bytes of the answer; it is the Writer's destination.
func (c *conn) Write(p []byte) (int, error) { return c.nc.Write(p) }

// next waits for a message.
func (c *conn) next() (tds.Message, error) {
	for {
		m, ok, err := c.rd.Message()
		if err != nil || ok {
			return m, err
		}
		if err := c.fill(); err != nil {
			return tds.Message{}, err
		}
	}
}

// fill reads once. Where the platform allows it, no buffer is held while
// nothing comes.
func (c *conn) fill() error {
	if c.raw == nil {
		if c.rd.Buffered() == 0 {
			c.releaseWriter()
		}
		return c.rd.Fill(c.nc)
	}
	if err := c.raw.Read(c.rawFn); err != nil {
		return err
	}
	if c.rawErr != nil {
		return c.rawErr
	}
	if c.rawN == 0 {
		if c.rd.Buffered() > 0 {
			return io.ErrUnexpectedEOF
		}
		return io.EOF
	}
	c.rd.Advance(c.rawN)
	return nil
}

func (c *conn) releaseWriter() {
	if len(c.wr.Buf) == 0 && c.wr.Buf != nil {
		c.large = cap(c.wr.Buf) > bufferSize && c.wr.Bytes()-c.sent > bufferSize
		c.sent = c.wr.Bytes()
		c.srv.bufs.put(c.wr.Buf)
		c.wr.Buf = nil
	}
}

func (c *conn) releaseBuffers() {
	c.releaseWriter()
	c.rd.Shrink(2 * bufferSize)
	c.rd.Release()
}

// begin starts the answer's message.
func (c *conn) begin() {
	if c.wr.Buf == nil {
		if c.large {
			c.wr.Buf = c.srv.bufs.getLarge()[:0]
		} else {
			c.wr.Buf = c.srv.bufs.get()[:0]
		}
	}
	c.wr.Begin(tds.PacketResponse, 0)
	c.out.begin()
}

// context is that of the request to come. It is made anew only after a cancel.
func (c *conn) context() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx == nil || c.ctx.Err() != nil && c.srv.ctx.Err() == nil {
		c.ctx, c.cancel = context.WithCancel(c.srv.ctx)
	}
	return c.ctx
}

func (c *conn) cancelRequest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel()
	}
}

func addressOf(nc net.Conn) string {
	if a := nc.RemoteAddr(); a != nil {
		return a.String()
	}
	return ""
}
