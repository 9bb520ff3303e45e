package target

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gostress/internal/tds"
	"gostress/pkg/driver"
)

// TestLost breaks the connection in the middle of a request.
//
// The cases in which gostress's own reader says it in other words than
// go-mssqldb are in inOwnWords.
func TestLost(t *testing.T) { overWires(t, testLost) }

func testLost(t *testing.T, w Wire) {
	col := intColumns(2)
	row := intRow(1, 2)
	tests := map[string]struct {
		serve  func(*peer)
		number int32
		text   string
		rows   int64
	}{
		"closes without an answer":         {func(p *peer) {}, 0, "the server closed it", 0},
		"resets":                           {func(p *peer) { p.raw.(*net.TCPConn).SetLinger(0) }, 0, "reset", 0},
		"half a packet header":             {func(p *peer) { p.bytes([]byte{4, 0, 0}) }, 0, "the server closed it", 0},
		"in the middle of columns":         {func(p *peer) { p.part(col[:len(col)-5]) }, 0, "the server closed it", 0},
		"after the columns":                {func(p *peer) { p.part(col) }, 0, "the server closed it", 0},
		"in the middle of a row":           {func(p *peer) { p.part(col, row, row[:4]) }, 0, "the server closed it", 1},
		"between rows":                     {func(p *peer) { p.part(col, row, row) }, 0, "the server closed it", 2},
		"many rows, then in a row":         {func(p *peer) { p.part(col, bytes.Repeat(row, 100), row[:4]) }, 0, "the server closed it", 100},
		"in a message":                     {func(p *peer) { p.part(info(0, 0, "hello")[:9]) }, 0, "the server closed it", 0},
		"after a message":                  {func(p *peer) { p.part(info(0, 0, "hello")) }, 0, "the server closed it", 0},
		"after many messages":              {func(p *peer) { p.part(messages(60)) }, 0, "the server closed it", 0},
		"after an error":                   {func(p *peer) { p.part(serverError(50000, 16, "oops")) }, 50000, "the server closed it", 0},
		"after a DONE with more to come":   {func(p *peer) { p.part(done(more)) }, 0, "the server closed it", 0},
		"after a result set, more to come": {func(p *peer) { p.part(col, row, done(more)) }, 0, "the server closed it", 1},
		"class 20":                         {func(p *peer) { p.send(serverError(3624, 20, "assertion"), done(isError)) }, 3624, "error 3624, severity 20", 0},
		"class 20 without DONE":            {func(p *peer) { p.part(serverError(3624, 20, "assertion")) }, 3624, "error 3624, severity 20", 0},
		"KILL": {func(p *peer) {
			p.send(serverError(596, 21, "Cannot continue the execution because the session is in the kill state."), done(isError))
		}, 596, "kill state", 0},
		"KILL in rows": {func(p *peer) {
			p.send(col, row, serverError(596, 21, "Cannot continue the execution because the session is in the kill state."), done(isError|tds.DoneSrvError))
		}, 596, "kill state", 1},
		"SRVERROR":               {func(p *peer) { p.send(serverError(823, 24, "I/O"), done(isError|tds.DoneSrvError)); p.wait() }, 823, "error 823, severity 24", 0},
		"SRVERROR alone":         {func(p *peer) { p.send(done(isError | tds.DoneSrvError)); p.wait() }, 0, "internal error", 0},
		"unknown token":          {func(p *peer) { p.send([]byte{0x02, 1, 2, 3}); p.wait() }, 0, "unknown token type", 0},
		"unknown token in set":   {func(p *peer) { p.send(col, row, []byte{0x02, 1, 2, 3}); p.wait() }, 0, "unknown token type", 1},
		"unknown type":           {func(p *peer) { p.send([]byte{0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0xEE, 0, 0, 0, 0, 0}); p.wait() }, 0, "nvalid type", 0},
		"message ends early":     {func(p *peer) { p.send(col[:9]); p.wait() }, 0, "the server closed it", 0},
		"row ends early":         {func(p *peer) { p.send(col, row, row[:3]); p.wait() }, 0, "the server closed it", 1},
		"empty message":          {func(p *peer) { p.send(); p.wait() }, 0, "the server closed it", 0},
		"wrong packet type":      {func(p *peer) { p.wr.Begin(tds.PacketSQLBatch, 0); p.wr.Buf = done(0); _ = p.wr.End(); p.wait() }, 0, "packet type", 0},
		"HTTP":                   {func(p *peer) { p.bytes([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")); p.wait() }, 0, "invalid packet size", 0},
		"packet of no size":      {func(p *peer) { p.bytes([]byte{4, 1, 0, 3, 0, 0, 0, 0}); p.wait() }, 0, "invalid packet size", 0},
		"other columns, no DONE": {func(p *peer) { p.send(intColumns(5), intRow(1, 2, 3, 4, 5), col, row, done(0)); p.wait() }, 0, "cannot be understood", 1},
	}
	for name, tt := range tests {
		for _, sink := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := open(t, w, func(p *peer) { p.batch(); tt.serve(p) })
				var to driver.Sink
				if sink {
					to = &log{}
				}
				out, err := do(t, s, context.Background(), text("select 1"), to)
				var lost *driver.LostError
				if !errors.As(err, &lost) {
					t.Fatalf("got %+v, %v", out, err)
				}
				want := tt.text
				if own := inOwnWords[name]; own != "" && w == WireTDS {
					want = own
				}
				if lost.Number != tt.number || !strings.Contains(err.Error(), want) || out.Rows != tt.rows {
					t.Errorf("got %+v, %d, %v; want %d rows, %d, %q", out, lost.Number, err, tt.rows, tt.number, want)
				}
				if _, err := do(t, s, context.Background(), text("again"), to); !errors.As(err, &lost) {
					t.Errorf("the next request: %v", err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

var inOwnWords = map[string]string{
	"SRVERROR alone":         "broke the request off with a severe error",
	"unknown token":          "token 0x02 is not one",
	"unknown token in set":   "token 0x02 is not one",
	"unknown type":           "unknown type 0xEE",
	"message ends early":     "it ends early",
	"row ends early":         "it ends early",
	"empty message":          "it ends early",
	"wrong packet type":      "a packet of type 0x01",
	"HTTP":                   "a packet of type 0x48",
	"packet of no size":      "a packet of 3 bytes",
	"other columns, no DONE": "a result set begins inside another",
}

// TestLostBetween closes an idle connection.
func TestLostBetween(t *testing.T) { overWires(t, testLostBetween) }

func testLostBetween(t *testing.T, w Wire) {
	closed := make(chan struct{})
	s := open(t, w, func(p *peer) {
		p.batch()
		p.send(done(0))
		p.raw.Close()
		close(closed)
	})
	if _, err := do(t, s, context.Background(), text("select 1"), nil); err != nil {
		t.Fatal(err)
	}
	<-closed
	var lost *driver.LostError
	if _, err := do(t, s, context.Background(), text("select 1"), nil); !errors.As(err, &lost) || lost.Number != 0 {
		t.Errorf("got %v", err)
	}
}

// TestPoisonedPacketSize takes a server's word that its packets have no size.
func TestPoisonedPacketSize(t *testing.T) { overWires(t, testPoisonedPacketSize) }

func testPoisonedPacketSize(t *testing.T, w Wire) {
	for _, size := range []string{"0", "3", "100000", "-1"} {
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			f := serve(t, func(p *peer) {
				p.prelogin(tds.EncryptNotSupported)
				p.takeLogin(tds.EncryptNotSupported)
				p.ack(tds.AppendEnvChange(nil, &tds.EnvChange{Type: tds.EnvPacketSize, New: size, Old: "4096"}))
				p.wait()
			})
			s, err := connectTo(t, options(w, f))
			if err != nil {
				return
			}
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			defer cancel()
			stop := context.AfterFunc(ctx, func() { s.Close() })
			defer stop()
			var lost *driver.LostError
			if _, err := do(t, s, ctx, text("select 1 -- "+strings.Repeat("x", 70000)), nil); !errors.As(err, &lost) && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// cancels are the ways in which a request's context ends, when a test says so.
var cancels = map[string]struct {
	ctx  func() (context.Context, context.CancelFunc)
	want error
}{
	"cancel": {func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) }, context.Canceled},
	"deadline": {func() (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(context.Background())
		return expiring{ctx}, cancel
	}, context.DeadlineExceeded},
}

// expiring is a context whose deadline comes when it is cancelled.
type expiring struct{ context.Context }

func (expiring) Deadline() (time.Time, bool) { return time.Now().Add(time.Hour), true }

func (e expiring) Err() error {
	if e.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

// TestCancel ends requests at different points of their answer. The server
// counts attentions, and answers the next request with a row of its own, so that
// a session that is out of step with its server shows.
func TestCancel(t *testing.T) { overWires(t, testCancel) }

func testCancel(t *testing.T, w Wire) {
	attn := done(tds.DoneAttn)
	points := map[string]struct {
		before func(p *peer) // what is sent before the client cancels
		after  func(p *peer) // what is sent when its attention has come
	}{
		"at once":                  {func(p *peer) {}, func(p *peer) { p.send(attn) }},
		"in two messages":          {func(p *peer) {}, func(p *peer) { p.send(done(isError)); p.send(attn) }},
		"in rows":                  {func(p *peer) { p.part(intColumns(1), intRow(1), intRow(2)) }, func(p *peer) { p.send(attn) }},
		"in rows, in two messages": {func(p *peer) { p.part(intColumns(1), intRow(1)) }, func(p *peer) { p.send(intRow(2), done(isError)); p.send(attn) }},
		"more rows on the way":     {func(p *peer) { p.part(intColumns(1), intRow(1)) }, func(p *peer) { p.part(bytes.Repeat(intRow(9), 600)); p.send(attn) }},
		"between statements":       {func(p *peer) { p.part(doneCount(more, cmdInsert, 1), doneCount(more, cmdInsert, 1)) }, func(p *peer) { p.send(attn) }},
		"between result sets":      {func(p *peer) { p.part(intColumns(1), intRow(1), done(more)) }, func(p *peer) { p.send(intColumns(1), intRow(2), done(isError)); p.send(attn) }},
		"after messages":           {func(p *peer) { p.part(messages(70)) }, func(p *peer) { p.part(messages(40)); p.send(attn) }},
		"after an error":           {func(p *peer) { p.part(serverError(50000, 16, "before"), done(more|isError)) }, func(p *peer) { p.send(attn) }},
		"in half a row":            {func(p *peer) { p.part(intColumns(1), intRow(1), intRow(2)[:3]) }, func(p *peer) { p.send(intRow(2)[3:], attn) }},
	}
	for name, pt := range points {
		for how, c := range cancels {
			for _, sink := range []bool{false, true} {
				t.Run(name+"/"+how, func(t *testing.T) {
					t.Parallel()
					ctx, cancel := c.ctx()
					defer cancel()
					var attentions atomic.Int32
					s := open(t, w, func(p *peer) {
						p.batch()
						pt.before(p)
						if !sink {
							time.AfterFunc(5*time.Millisecond, cancel)
						} else if name != "after an error" { // the sink cancels
							cancel()
						}
						p.read(tds.PacketAttention)
						attentions.Add(1)
						pt.after(p)
						for {
							m, err := p.rd.ReadMessage(p.rw)
							if err != nil {
								return
							}
							if m.Type == tds.PacketAttention {
								attentions.Add(1)
								p.send(attn)
								continue
							}
							p.send(intColumns(1), intRow(42), doneCount(0, cmdSelect, 1))
						}
					})
					var to driver.Sink
					if sink {
						to = &log{onError: cancel}
					}
					out, err := do(t, s, ctx, text("select slowly"), to)
					if !errors.Is(err, c.want) {
						t.Fatalf("got %+v, %v", out, err)
					}
					if sink && name == "after an error" && (len(out.Errors) != 1 || out.Errors[0].Number != 50000) {
						t.Errorf("got the errors %+v", out.Errors)
					}
					for range 3 {
						var l log
						if out, err := do(t, s, context.Background(), text("again"), &l); err != nil || out.Rows != 1 || l.lines[1] != "42" {
							t.Fatalf("the next request: %+v, %v, %q", out, err, l.lines)
						}
					}
					if n := attentions.Load(); n != 1 {
						t.Errorf("%d attentions were sent", n)
					}
				})
			}
		}
	}
}

// TestCancelRaces cancels at about the time of the answer: whichever comes first,
// the session and the server stay in step.
func TestCancelRaces(t *testing.T) { overWires(t, testCancelRaces) }

func testCancelRaces(t *testing.T, w Wire) {
	s := open(t, w, func(p *peer) {
		for {
			m, err := p.rd.ReadMessage(p.rw)
			switch {
			case err != nil:
				return
			case m.Type == tds.PacketAttention:
				p.send(done(tds.DoneAttn))
			default:
				_, text, _ := tds.ParseBatch(m.Data, tds.V74)
				p.part(intColumns(1), intRow(int64(len(text))), doneCount(more, cmdSelect, 1))
				p.part(info(0, 0, "x"), intColumns(1), intRow(int64(len(text))))
				p.send(doneCount(0, cmdSelect, 1))
			}
		}
	})
	var good, cut int
	for i := range 3000 {
		ctx, cancel := context.WithCancel(context.Background())
		var stop *time.Timer
		if i%3 != 0 {
			stop = time.AfterFunc(time.Duration(i%150)*time.Microsecond, cancel)
		}
		l := &log{}
		out, err := do(t, s, ctx, text(strings.Repeat(" x", i%50+2)), l)
		switch {
		case err == nil:
			good++
			if out.Rows != 2 || len(l.rows) != 2 || l.rows[0][0] != int64(2*(i%50+2)) || l.rows[1][0] != l.rows[0][0] || l.lines[2] != "done 1" || l.lines[3] != "message 0/0 x" {
				t.Fatalf("request %d: %+v, %q", i, out, l.lines)
			}
		case errors.Is(err, context.Canceled):
			cut++
		default:
			t.Fatalf("request %d: %v", i, err)
		}
		if stop != nil {
			stop.Stop()
		}
		cancel()
	}
	t.Logf("%d answered, %d cancelled", good, cut)
}

// TestNoAcknowledgement closes a session whose server does not answer a cancel.
func TestNoAcknowledgement(t *testing.T) { overWires(t, testNoAcknowledgement) }

func testNoAcknowledgement(t *testing.T, w Wire) {
	for how, c := range cancels {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := c.ctx()
			defer cancel()
			s := open(t, w, func(p *peer) {
				p.batch()
				p.part(intColumns(1), bytes.Repeat(intRow(1), 300))
				cancel()
				p.wait()
			})
			time.AfterFunc(300*time.Millisecond, func() { s.Close() })
			start := time.Now()
			_, err := do(t, s, ctx, text("select 1"), nil)
			var lost *driver.LostError
			if !errors.As(err, &lost) || time.Since(start) > 4*time.Second {
				t.Errorf("after %v: %v", time.Since(start), err)
			}
		})
	}
}

// TestClose closes a session under a request that waits, or that a server floods.
func TestClose(t *testing.T) { overWires(t, testClose) }

func testClose(t *testing.T, w Wire) {
	tests := map[string]struct {
		serve func(*peer)
		long  bool
		own   string // what the tds wire says
	}{
		"waits":                {func(p *peer) { p.batch(); p.wait() }, false, ""},
		"waits in rows":        {func(p *peer) { p.batch(); p.part(intColumns(1), intRow(1)); p.wait() }, false, ""},
		"waits after messages": {func(p *peer) { p.batch(); p.part(messages(40)); p.wait() }, false, ""},
		"floods with rows": {func(p *peer) {
			p.batch()
			p.part(intColumns(1))
			for b := bytes.Repeat(intRow(1), 600); ; {
				p.part(b)
			}
		}, false, ""},
		"floods with messages": {func(p *peer) {
			p.batch()
			for b := messages(60); ; {
				p.part(b)
			}
		}, false, ""},
		"floods with statements": {func(p *peer) {
			p.batch()
			for b := bytes.Repeat(doneCount(more, cmdInsert, 1), 300); ; {
				p.part(b)
			}
		}, false, ""},
		"reads nothing":              {func(p *peer) { <-make(chan struct{}) }, true, ""},
		"ends the answer by a login": {func(p *peer) { p.batch(); p.send([]byte{0xED, 1, 0, 7}); p.wait() }, false, "token 0xED is not one"},
	}
	for name, tt := range tests {
		for _, sink := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f := serve(t, func(p *peer) {
					p.accept(tds.EncryptNotSupported)
					if tt.long {
						_ = p.raw.(*net.TCPConn).SetReadBuffer(4096)
						time.Sleep(300 * time.Millisecond) // the client has closed before
						return
					}
					tt.serve(p)
				})
				s, err := connectTo(t, options(w, f))
				if err != nil {
					t.Fatal(err)
				}
				var to driver.Sink
				if sink {
					to = &log{}
				}
				r := text("select 1")
				if tt.long {
					r = text(strings.Repeat("select 1 ", 350_000))
				}
				time.AfterFunc(100*time.Millisecond, func() { s.Close() })
				_, err = do(t, s, context.Background(), r, to)
				var lost *driver.LostError
				want := "it was closed"
				if w == WireTDS && tt.own != "" {
					want = tt.own
				}
				if !errors.As(err, &lost) || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v; want %q", err, want)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestSinkFails stops at the first thing that the sink refuses.
func TestSinkFails(t *testing.T) { overWires(t, testSinkFails) }

func testSinkFails(t *testing.T, w Wire) {
	full := errors.New("disk full")
	s := open(t, w, func(p *peer) {
		p.batch()
		p.part(intColumns(1))
		for b := bytes.Repeat(intRow(1), 600); ; {
			p.part(b)
		}
	})
	out, err := do(t, s, context.Background(), text("select 1"), &log{fail: full})
	var se *driver.SinkError
	if !errors.As(err, &se) || !errors.Is(err, full) || out.Rows != 1 {
		t.Errorf("got %+v, %v", out, err)
	}
}

// TestSinkPanics is the sink's own affair.
func TestSinkPanics(t *testing.T) { overWires(t, testSinkPanics) }

func testSinkPanics(t *testing.T, w Wire) {
	s := open(t, w, func(p *peer) { p.batch(); p.send(intColumns(1), intRow(1), done(0)); p.wait() })
	defer func() {
		if p := recover(); p != "sink" {
			t.Errorf("recovered %v", p)
		}
		s.Close()
	}()
	_, _ = s.Do(context.Background(), text("select 1"), panicSink{})
}

type panicSink struct{}

func (panicSink) Row([]any) error              { panic("sink") }
func (panicSink) Event(driver.SinkEvent) error { return nil }

// TestGracefulTLSEnd ends the TLS in good order: the socket itself tells nothing.
func TestGracefulTLSEnd(t *testing.T) { overWires(t, testGracefulTLSEnd) }

func testGracefulTLSEnd(t *testing.T, w Wire) {
	cert := newCert(t)
	for name, part := range map[string][]byte{"before the answer": nil, "in the answer": append(intColumns(1), intRow(1)...)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := serve(t, func(p *peer) {
				p.cert = cert.tls
				p.accept(tds.EncryptOn)
				p.batch()
				if part != nil {
					p.part(part)
				}
				_ = p.rw.(*tls.Conn).CloseWrite()
				p.wait()
			})
			o := options(w, f)
			o.Encrypt = EncryptMandatory
			s, err := connectTo(t, o)
			if err != nil {
				t.Fatal(err)
			}
			_, err = do(t, s, context.Background(), text("select 1"), nil)
			var lost *driver.LostError
			if !errors.As(err, &lost) || !strings.Contains(err.Error(), "the server closed it") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestOpenTran follows the environment changes.
func TestOpenTran(t *testing.T) { overWires(t, testOpenTran) }

func testOpenTran(t *testing.T, w Wire) {
	env := func(typ tds.EnvType) []byte {
		id := []byte{1, 2, 3, 4, 5, 6, 7, 8}
		e := tds.EnvChange{Type: typ, NewBytes: id}
		if typ != tds.EnvBeginTran {
			e.NewBytes, e.OldBytes = nil, id
		}
		return tds.AppendEnvChange(nil, &e)
	}
	steps := []struct {
		send [][]byte
		want bool
		tran uint64 // in the next request's headers
	}{
		{[][]byte{done(0)}, false, 0},
		{[][]byte{env(tds.EnvBeginTran), done(0)}, true, 0x0807060504030201},
		{[][]byte{doneCount(0, cmdInsert, 1)}, true, 0x0807060504030201},
		{[][]byte{env(tds.EnvCommitTran), done(0)}, false, 0},
		{[][]byte{env(tds.EnvBeginTran), serverError(1205, 13, "deadlock"), env(tds.EnvRollbackTran), done(isError)}, false, 0},
		{[][]byte{env(tds.EnvBeginTran), env(tds.EnvCommitTran), env(tds.EnvBeginTran), done(0)}, true, 0x0807060504030201},
	}
	s := open(t, w, func(p *peer) {
		var tran uint64
		for _, st := range steps {
			h, _, err := tds.ParseBatch(p.read(tds.PacketSQLBatch).Data, tds.V74)
			if err != nil || h.Transaction != tran {
				t.Errorf("the request's transaction is %#x, not %#x: %v", h.Transaction, tran, err)
			}
			p.send(st.send...)
			tran = st.tran
		}
		p.wait()
	})
	for i, st := range steps {
		out, err := do(t, s, context.Background(), text("select 1"), nil)
		if err != nil || out.OpenTran != st.want {
			t.Errorf("step %d: %+v, %v", i, out, err)
		}
	}
}
