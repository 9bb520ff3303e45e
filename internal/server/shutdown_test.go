package server

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"gostress/internal/engine/exec"
)

// heldConn lets what is written once hold is set wait until its owner has done
// anything else with the connection: closed it, or given it a deadline.
type heldConn struct {
	net.Conn
	hold    *atomic.Bool
	writing chan struct{}
	touched chan struct{}
	once    atomic.Bool
}

func (h *heldConn) touch() {
	if h.hold.Load() && !h.once.Swap(true) {
		close(h.touched)
	}
}

func (h *heldConn) Write(p []byte) (int, error) {
	if h.hold.Load() && !h.once.Load() {
		close(h.writing)
		<-h.touched
	}
	return h.Conn.Write(p)
}

func (h *heldConn) Close() error {
	h.touch()
	return h.Conn.Close()
}

func (h *heldConn) SetWriteDeadline(t time.Time) error {
	h.touch()
	return h.Conn.SetWriteDeadline(t)
}

// oneListener accepts connections as heldConns.
type oneListener struct {
	net.Listener
	wrap func(net.Conn) net.Conn
}

func (l oneListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.wrap(nc), nil
}

// TestShutdownWhileAnswering ends the server between the end of a request and
// the sending of its answer, which must arrive all the same.
func TestShutdownWhileAnswering(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var hold atomic.Bool
	writing, touched := make(chan struct{}), make(chan struct{})
	s := &script{spid: 51, batch: func(ctx context.Context, text string, out exec.Output) error {
		hold.Store(true)
		return rows(out, false, 5)
	}}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, Options{
			Listener: oneListener{l, func(nc net.Conn) net.Conn {
				return &heldConn{Conn: nc, hold: &hold, writing: writing, touched: touched}
			}},
			Users: map[string]string{"sa": testPassword},
			open:  func(o exec.SessionOptions) (session, error) { s.opts = o; return s, nil },
		})
	}()
	c := dialRaw(t, &running{addr: l.Addr().String()})
	c.batch("select 5")
	<-writing
	cancel()
	if toks := c.answer(); toks.rows != 1 || len(toks.errorNumbers()) != 0 {
		t.Fatalf("%d rows, errors %v", toks.rows, toks.errorNumbers())
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
