//go:debug x509negativeserial=1

package target

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"gostress/internal/tds"
	"gostress/pkg/driver"
)

// TestMain sees to it that no test leaves a goroutine of a session behind.
func TestMain(m *testing.M) {
	code := m.Run()
	deadline := time.Now().Add(5 * time.Second)
	for code == 0 {
		left := sessionGoroutines()
		if left == "" {
			break
		}
		if time.Now().After(deadline) {
			fmt.Fprintf(os.Stderr, "goroutines were left behind:\n%s\n", left)
			code = 1
		}
		time.Sleep(10 * time.Millisecond)
	}
	os.Exit(code)
}

// sessionGoroutines are the stacks of goroutines of this package or of
// go-mssqldb, the test's own apart.
func sessionGoroutines() string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var out []string
	for _, g := range strings.Split(string(buf), "\n\n") {
		if (strings.Contains(g, "go-mssqldb") || strings.Contains(g, "gostress/pkg/target")) &&
			!strings.Contains(g, "testing.tRunner") && !strings.Contains(g, "TestMain") {
			out = append(out, g)
		}
	}
	return strings.Join(out, "\n\n")
}

// fake is a server that does what a test says, one step at a time.
type fake struct {
	tb   testing.TB
	l    net.Listener
	addr string // as -S takes it
}

// serve runs script for each connection.
func serve(tb testing.TB, script func(*peer)) *fake {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	f := &fake{tb: tb, l: l, addr: fmt.Sprintf("127.0.0.1,%d", l.Addr().(*net.TCPAddr).Port)}
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	wg.Go(func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				stop := context.AfterFunc(ctx, func() { c.Close() })
				defer stop()
				p := &peer{tb: tb, n: n, raw: c, rw: c}
				p.wr.Dst = c
				script(p)
			})
		}
	})
	tb.Cleanup(func() {
		cancel()
		_ = l.Close()
		wg.Wait()
	})
	return f
}

// peer is the server's end of a connection. Its methods stop the script, by
// runtime.Goexit, when the client has gone.
type peer struct {
	tb      testing.TB
	n       int // of the connection, from 0
	raw     net.Conn
	rw      net.Conn
	rd      tds.Reader
	wr      tds.Writer
	pre     tds.Prelogin
	login   *tds.Login7
	cert    *tls.Certificate
	version tds.Version
}

func (p *peer) gone() { runtime.Goexit() }

func (p *peer) read(want tds.PacketType) tds.Message {
	m, err := p.rd.ReadMessage(p.rw)
	if err != nil {
		p.gone()
	}
	if m.Type != want {
		p.tb.Errorf("the client sent a message of type %#x, not %#x", m.Type, want)
		p.gone()
	}
	return m
}

func (p *peer) send(parts ...[]byte) {
	p.wr.Begin(tds.PacketResponse, 0)
	for _, b := range parts {
		p.wr.Buf = append(p.wr.Buf, b...)
		if p.wr.Commit() != nil {
			p.gone()
		}
	}
	if p.wr.End() != nil {
		p.gone()
	}
}

// part sends a packet that does not end the message.
func (p *peer) part(parts ...[]byte) {
	var body []byte
	for _, b := range parts {
		body = append(body, b...)
	}
	p.bytes(append(tds.Header{Type: tds.PacketResponse, Length: 8 + len(body), ID: 1}.Append(nil), body...))
}

func (p *peer) bytes(b []byte) {
	if _, err := p.rw.Write(b); err != nil {
		p.gone()
	}
}

// wait returns when the client closes the connection.
func (p *peer) wait() {
	b := make([]byte, 512)
	for {
		if _, err := p.rw.Read(b); err != nil {
			return
		}
	}
}

// prelogin answers PRELOGIN, with TLS where enc says so.
func (p *peer) prelogin(enc tds.Encryption) {
	m := p.read(tds.PacketPrelogin)
	var err error
	if p.pre, err = tds.ParsePrelogin(m.Data); err != nil {
		p.tb.Error(err)
		p.gone()
	}
	answer := tds.Prelogin{Version: [6]byte{15, 0, 0x07, 0xD0, 2, 0}, Encryption: enc}
	p.send(answer.AppendResponse(nil, p.pre.FedAuth))
	if enc == tds.EncryptNotSupported || p.version == tds.V80 {
		return
	}
	h := tds.NewHandshakeConn(p.raw)
	c := tls.Server(h, &tls.Config{Certificates: []tls.Certificate{*p.cert}, MaxVersion: tls.VersionTLS12, SessionTicketsDisabled: true})
	if c.Handshake() != nil || h.Done() != nil {
		p.gone()
	}
	p.rw, p.wr.Dst = c, c
}

// accept takes LOGIN7 and lets the client in.
func (p *peer) accept(enc tds.Encryption) {
	p.prelogin(enc)
	p.takeLogin(enc)
	p.ack()
}

func (p *peer) takeLogin(enc tds.Encryption) {
	m := p.read(tds.PacketLogin7)
	var err error
	if p.login, err = tds.ParseLogin7(m.Data); err != nil {
		p.tb.Error(err)
		p.gone()
	}
	if enc == tds.EncryptOff && p.version != tds.V80 {
		p.rw, p.wr.Dst = p.raw, p.raw
	}
	if p.version == 0 {
		p.version = tds.V74
	}
}

func (p *peer) ack(more ...[]byte) {
	size := tds.NegotiatePacketSize(int(p.login.PacketSize))
	parts := [][]byte{
		tds.AppendEnvChange(nil, &tds.EnvChange{Type: tds.EnvDatabase, New: "master", Old: ""}),
		tds.AppendLoginAck(nil, &tds.LoginAck{Interface: 1, Version: p.version, Program: "Microsoft SQL Server", Major: 15, Build: 2000}),
		tds.AppendEnvChange(nil, &tds.EnvChange{Type: tds.EnvPacketSize, New: fmt.Sprint(size), Old: "4096"}),
	}
	parts = append(parts, more...)
	p.send(append(parts, done(0))...)
	p.wr.SetPacketSize(size)
}

// batch takes a batch and returns its text.
func (p *peer) batch() string {
	_, text, err := tds.ParseBatch(p.read(tds.PacketSQLBatch).Data, tds.V74)
	if err != nil {
		p.tb.Error(err)
		p.gone()
	}
	return text
}

// Tokens.

func done(status uint16) []byte {
	return tds.AppendDone(nil, tds.V74, tds.Done{Token: tds.TokenDone, Status: status})
}

func doneCount(status uint16, cmd uint16, n uint64) []byte {
	return tds.AppendDone(nil, tds.V74, tds.Done{Token: tds.TokenDone, Status: status | tds.DoneCount, Cmd: cmd, Count: n})
}

func doneToken(id tds.TokenID, status uint16) []byte {
	return tds.AppendDone(nil, tds.V74, tds.Done{Token: id, Status: status})
}

func serverError(number int32, class uint8, text string) []byte {
	return tds.AppendMessage(nil, tds.V74, &tds.ServerMessage{Token: tds.TokenError, Number: number, State: 1, Class: class, Text: text, Server: "srv", Line: 3})
}

func info(number int32, class uint8, text string) []byte {
	return tds.AppendMessage(nil, tds.V74, &tds.ServerMessage{Token: tds.TokenInfo, Number: number, State: 1, Class: class, Text: text, Server: "srv", Line: 1})
}

var intType = tds.TypeInfo{ID: tds.TypeIntN, Size: 4}

func intColumns(n int) []byte {
	cols := make([]tds.Column, n)
	for i := range cols {
		cols[i] = tds.Column{Name: fmt.Sprintf("c%d", i+1), Flags: tds.ColNullable, Type: intType}
	}
	return tds.AppendColMetadata(nil, tds.V74, cols)
}

func intRow(vs ...int64) []byte {
	b := []byte{byte(tds.TokenRow)}
	for _, v := range vs {
		b = tds.AppendInt(b, &intType, v)
	}
	return b
}

// The client's side.

// overWires runs a test over each wire.
func overWires(t *testing.T, test func(*testing.T, Wire)) {
	t.Parallel()
	for _, w := range []Wire{WireTDS, WireMSSQL} {
		t.Run(string(w), func(t *testing.T) {
			t.Parallel()
			test(t, w)
		})
	}
}

func options(w Wire, f *fake) Options {
	return Options{Server: f.addr, User: "sa", Password: "secret", Encrypt: EncryptDisable, Env: func(string) string { return "" }, Wire: w}
}

// wireFor is w, or what can do with enc.
func wireFor(w Wire, enc Encrypt) Wire {
	if enc == EncryptStrict {
		return WireAuto // which goes back to go-mssqldb
	}
	return w
}

func connectTo(tb testing.TB, o Options) (driver.Session, error) {
	tb.Helper()
	t, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	s, err := t.Connect(ctx)
	if err == nil {
		tb.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

// open connects to a server that runs script after the login.
func open(tb testing.TB, w Wire, script func(*peer)) driver.Session {
	tb.Helper()
	f := serve(tb, func(p *peer) {
		p.accept(tds.EncryptNotSupported)
		script(p)
	})
	s, err := connectTo(tb, options(w, f))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// answer opens a session whose server answers the first batch so, and each
// further one with DONE.
func answer(tb testing.TB, w Wire, parts ...[]byte) driver.Session {
	tb.Helper()
	return open(tb, w, func(p *peer) {
		p.batch()
		p.send(parts...)
		for {
			p.batch()
			p.send(done(0))
		}
	})
}

// log is a sink that writes down what it is given.
type log struct {
	lines []string
	rows  [][]any
	fail  error
	// onError is called when an error has come.
	onError func()
}

func (l *log) Row(values []any) error {
	l.lines = append(l.lines, fmt.Sprint(values...))
	l.rows = append(l.rows, append([]any(nil), values...))
	return l.fail
}

func (l *log) Event(e driver.SinkEvent) error {
	switch e.Kind {
	case driver.SinkColumns:
		names := make([]string, len(e.Columns))
		for i, c := range e.Columns {
			names[i] = c.Name
		}
		l.lines = append(l.lines, "columns "+strings.Join(names, " "))
	case driver.SinkDone:
		if e.HasCount {
			l.lines = append(l.lines, fmt.Sprintf("done %d", e.Affected))
		} else {
			l.lines = append(l.lines, "done")
		}
	case driver.SinkMessage:
		l.lines = append(l.lines, fmt.Sprintf("message %d/%d %s", e.Message.Number, e.Message.Class, e.Message.Message))
		if l.onError != nil && e.Message.Class >= 11 {
			l.onError()
		}
	}
	return nil
}

// do carries out a batch and fails the test when it does not end in time.
func do(tb testing.TB, s driver.Session, ctx context.Context, r *driver.Request, sink driver.Sink) (driver.Outcome, error) {
	tb.Helper()
	type result struct {
		out driver.Outcome
		err error
	}
	ch := make(chan result, 1)
	go func() {
		out, err := s.Do(ctx, r, sink)
		ch <- result{out, err}
	}()
	select {
	case r := <-ch:
		return r.out, r.err
	case <-time.After(15 * time.Second):
		buf := make([]byte, 1<<20)
		tb.Fatalf("Do does not return\n%s", buf[:runtime.Stack(buf, true)])
		return driver.Outcome{}, nil
	}
}

func text(s string) *driver.Request { return &driver.Request{Text: s} }
