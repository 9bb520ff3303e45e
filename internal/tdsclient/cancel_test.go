package tdsclient_test

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gostress/internal/tds"
	"gostress/internal/tdsclient"
)

// peer is a server by hand, at the other end of a pipe.
type peer struct {
	t  *testing.T
	nc net.Conn
}

// expect reads a message of that type.
func (p *peer) expect(want tds.PacketType) {
	p.t.Helper()
	head := make([]byte, tds.HeaderSize)
	for {
		if _, err := io.ReadFull(p.nc, head); err != nil {
			p.t.Errorf("waiting for 0x%02X: %v", byte(want), err)
			return
		}
		h, err := tds.ParseHeader(head)
		if err != nil || h.Type != want {
			p.t.Errorf("%+v, %v, want type 0x%02X", h, err, byte(want))
			return
		}
		if _, err := io.CopyN(io.Discard, p.nc, int64(h.Length-tds.HeaderSize)); err != nil {
			p.t.Error(err)
		}
		if h.Status&tds.StatusEOM != 0 {
			return
		}
	}
}

func (p *peer) send(b []byte) {
	p.t.Helper()
	if _, err := p.nc.Write(b); err != nil {
		p.t.Error(err)
	}
}

func done(status ...uint16) []byte {
	var b []byte
	for _, s := range status {
		b = tds.AppendDone(b, tds.V74, tds.Done{Token: tds.TokenDone, Status: s})
	}
	return b
}

// The ways in which a server answers a cancel, in exact time.
func TestAcknowledgements(t *testing.T) {
	t.Parallel()
	one := slices.Clip(append(tds.AppendColMetadata(nil, tds.V74, []tds.Column{{Name: "n", Type: tds.TypeInfo{ID: tds.TypeInt4, Size: 4}}}), 0xD1, 1, 0, 0, 0))
	for _, tc := range []struct {
		name   string
		answer func(p *peer) // after the attention came
		lost   string        // why the connection is of no use afterwards
		took   time.Duration
	}{
		{"in a message of its own", func(p *peer) {
			p.send(packets(done(tds.DoneError)))
			p.send(packets(done(tds.DoneAttn)))
		}, "", 0},
		{"in one write", func(p *peer) { p.send(append(packets(done(tds.DoneError)), packets(done(tds.DoneAttn))...)) }, "", 0},
		{"in the message that runs", func(p *peer) { p.send(packets(append(one, done(tds.DoneAttn)...))) }, "", 0},
		{"behind the last DONE", func(p *peer) { p.send(packets(done(tds.DoneError, tds.DoneAttn))) }, "", 0},
		{"with a packet between", func(p *peer) { p.send(packets(done(tds.DoneError, tds.DoneAttn), 13)) }, "", 0},
		{"late", func(p *peer) {
			time.Sleep(9 * time.Second)
			p.send(packets(done(tds.DoneAttn)))
		}, "", 9 * time.Second},
		{"never", func(p *peer) {}, "did not acknowledge", 10 * time.Second},
		{"with another answer", func(p *peer) {
			p.send(packets(done(0)))
			p.send(packets(done(0)))
		}, "not acknowledged", 0},
		{"by closing", func(p *peer) { _ = p.nc.Close() }, "closed it", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				c := tdsclient.NewConn(near, 4096)
				ctx, cancel := context.WithCancel(context.Background())
				start := time.Now()
				p := &peer{t, far}
				served := make(chan struct{})
				go func() {
					defer close(served)
					p.expect(tds.PacketSQLBatch)
					time.Sleep(time.Second)
					cancel()
					p.expect(tds.PacketAttention)
					tc.answer(p)
					if tc.lost == "" {
						p.expect(tds.PacketSQLBatch)
						p.send(packets(append(one, done(0)...)))
					}
				}()
				r := tdsclient.Batch("x")
				_, err := c.Do(ctx, r, nil)
				if took := time.Since(start); took != time.Second+tc.took {
					t.Errorf("it took %v", took)
				}
				var lost *tdsclient.LostError
				if tc.lost == "" {
					if !errors.Is(err, context.Canceled) {
						t.Errorf("%v", err)
					}
					time.Sleep(time.Minute) // no deadline is left behind
					if out, err := c.Do(context.Background(), r, nil); err != nil || out.Rows != 1 {
						t.Errorf("afterwards: %+v, %v", out, err)
					}
				} else if !errors.As(err, &lost) || !strings.Contains(err.Error(), tc.lost) {
					t.Errorf("%v, want %q", err, tc.lost)
				}
				_ = c.Close()
				<-served
				_ = far.Close()
			})
		})
	}
}

// A cancel while the request is still being written goes out behind it.
func TestCancelWhileWriting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		c := tdsclient.NewConn(near, 512)
		ctx, cancel := context.WithCancel(context.Background())
		p := &peer{t, far}
		go func() {
			time.Sleep(time.Second)
			cancel()
			time.Sleep(time.Second)
			p.expect(tds.PacketSQLBatch)
			p.expect(tds.PacketAttention)
			p.send(packets(done(tds.DoneAttn)))
		}()
		if _, err := c.Do(ctx, tdsclient.Batch(strings.Repeat("x", 100_000)), nil); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		// And a server that does not read holds nobody for longer than the grace.
		ctx, cancel = context.WithCancel(context.Background())
		defer cancel()
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		var lost *tdsclient.LostError
		if _, err := c.Do(ctx, tdsclient.Batch("x"), nil); !errors.As(err, &lost) || time.Since(start) != 11*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// A context that ended after its request was answered does not touch the next one.
func TestLateContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		c := tdsclient.NewConn(near, 4096)
		p := &peer{t, far}
		go func() {
			for range 100 {
				p.expect(tds.PacketSQLBatch)
				p.send(packets(done(0)))
			}
		}()
		r := tdsclient.Batch("x")
		for range 50 {
			ctx, cancel := context.WithCancel(context.Background())
			if _, err := c.Do(ctx, r, nil); err != nil {
				t.Fatal(err)
			}
			cancel()
			if _, err := c.Do(context.Background(), r, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Do(ctx, r, nil); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		_ = c.Close()
		_ = far.Close()
	})
}

// Contexts that end at any moment cancel their own request or none.
func TestCancelRaces(t *testing.T) {
	t.Parallel()
	c, _ := login(t, serve(t), tds.EncryptNotSupported, 0, nil)
	var good, cut int
	for i := range 3000 {
		ctx, cancel := context.WithCancel(context.Background())
		var timer *time.Timer
		if i%3 != 0 {
			timer = time.AfterFunc(time.Duration(i%250)*time.Microsecond, cancel)
		}
		out, err := c.Do(ctx, tdsclient.Batch("SELECT 1 AS n; SELECT 2 AS n"), nil)
		switch {
		case err == nil && out.Rows == 2 && out.ResultSets == 2:
			good++
		case i%3 != 0 && errors.Is(err, context.Canceled):
			cut++
		default:
			t.Fatalf("request %d: %+v, %v", i, out, err)
		}
		if timer != nil && i%2 == 0 {
			timer.Stop()
		}
		if i%2 == 0 {
			cancel()
		} else {
			go cancel()
		}
	}
	t.Logf("%d answered, %d cancelled", good, cut)
}
