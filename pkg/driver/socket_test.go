package driver

import (
	"context"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"
)

// echo is a session over a socket: a byte goes out, a byte comes back.
type echo struct {
	conn net.Conn
	buf  [1]byte
}

func (e *echo) Do(context.Context, *Request, Sink) (Outcome, error) {
	if _, err := e.conn.Write(e.buf[:]); err != nil {
		return Outcome{}, &LostError{Err: err}
	}
	if _, err := io.ReadFull(e.conn, e.buf[:]); err != nil {
		return Outcome{}, &LostError{Err: err}
	}
	return Outcome{Rows: 1}, nil
}

func (e *echo) Close() error { return e.conn.Close() }

// serveEcho answers each byte after hold, until the test ends.
func serveEcho(t *testing.T, hold time.Duration) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				var b [1]byte
				for {
					if _, err := io.ReadFull(conn, b[:]); err != nil {
						return
					}
					time.Sleep(hold)
					if _, err := conn.Write(b[:]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().String()
}

func TestOnARealSocket(t *testing.T) {
	t.Parallel()
	const hold = 2 * time.Millisecond
	address := serveEcho(t, hold)
	p := plan(connectFunc(func(ctx context.Context) (Session, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, &ConnectError{Server: address, Err: err}
		}
		return &echo{conn: conn}, nil
	}), 50, 20)
	p.FilesPerConnection = 2 // both ends are ours
	load, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	want(t, load, map[string]int64{"batches": 1000, "iterations": 1000, "connected": 50, "rows": 1000})
	// Of real time only what it cannot be is known: faster than the server.
	if floor := float64(hold.Microseconds()); load.Latency.Batch.P50US < floor*0.999 || load.RunS < 20*hold.Seconds() || load.ElapsedS < load.RunS {
		t.Errorf("latency %+v, run %v s of %v s", load.Latency.Batch, load.RunS, load.ElapsedS)
	}
	noDriverGoroutine(t)
}

// noDriverGoroutine fails if code of a run is still at work. Other tests' runs are in bubbles,
// whose own check they have; here only a short grace is needed for goroutines that are returning.
func noDriverGoroutine(t *testing.T) {
	t.Helper()
	stacks := make([]byte, 4<<20)
	for range 200 {
		all := string(stacks[:runtime.Stack(stacks, true)])
		left := ""
		for _, stack := range strings.Split(all, "\n\n") {
			if strings.Contains(stack, "driver.(*runner)") && !strings.Contains(stack, "synctest bubble") || strings.Contains(stack, "driver.(*eventQueue)") && !strings.Contains(stack, "synctest bubble") {
				left = stack
			}
		}
		if left == "" {
			return
		}
		time.Sleep(5 * time.Millisecond)
		if t.Context().Err() != nil {
			return
		}
		stacks = stacks[:cap(stacks)]
	}
	t.Error("a goroutine of a run is still there")
}
