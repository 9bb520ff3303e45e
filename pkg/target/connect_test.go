package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gostress/internal/tds"
	"gostress/pkg/driver"
)

// said collects notes.
type said struct {
	mu    sync.Mutex
	lines []string
}

func (s *said) note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
}

func (s *said) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.lines)
}

func TestConnectFails(t *testing.T) { overWires(t, testConnectFails) }

func testConnectFails(t *testing.T, w Wire) {
	tests := map[string]struct {
		serve func(*peer)
		enc   Encrypt
		want  string // in the *driver.ConnectError
	}{
		"HTTP": {
			serve: func(p *peer) {
				p.bytes([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
				p.wait()
			},
			want: `what answers is not a SQL Server: it sent "HTTP/1.1"`,
		},
		"a short greeting": {
			serve: func(p *peer) { p.bytes([]byte("+OK\r\n")); p.raw.(*net.TCPConn).CloseWrite(); p.wait() },
			want:  `what answers is not a SQL Server: it sent "+OK\r\n"`,
		},
		"closes at once": {
			serve: func(p *peer) { p.read(tds.PacketPrelogin) },
			want:  "the server closed the connection before the login",
		},
		"PRELOGIN without encryption": {
			serve: func(p *peer) {
				p.read(tds.PacketPrelogin)
				p.send([]byte{0, 0, 6, 0, 6, 0xFF, 15, 0, 7, 0xD0, 0, 0})
				p.wait()
			},
			want: "does not say whether it encrypts",
		},
		"PRELOGIN that goes on": {
			serve: func(p *peer) {
				p.read(tds.PacketPrelogin)
				p.part((&tds.Prelogin{}).AppendResponse(nil, false))
				p.wait()
			},
			want: "what answers is not a SQL Server",
		},
		"closes after PRELOGIN": {
			serve: func(p *peer) { p.prelogin(tds.EncryptNotSupported); p.read(tds.PacketLogin7) },
			want:  "the server closed the connection during the login",
		},
		"closes in the TLS handshake": {
			serve: func(p *peer) {
				p.read(tds.PacketPrelogin)
				p.send((&tds.Prelogin{Encryption: tds.EncryptOn}).AppendResponse(nil, false))
				p.read(tds.PacketPrelogin)
			},
			enc:  EncryptMandatory,
			want: "the server closed the connection during the login",
		},
		"nonsense after the login": {
			serve: func(p *peer) {
				p.prelogin(tds.EncryptNotSupported)
				p.takeLogin(tds.EncryptNotSupported)
				p.send([]byte{0x01, 2, 3})
				p.wait()
			},
			want: "unknown token type",
		},
		"another protocol after the login": {
			serve: func(p *peer) {
				p.prelogin(tds.EncryptNotSupported)
				p.takeLogin(tds.EncryptNotSupported)
				p.bytes([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
				p.wait()
			},
			want: "invalid packet size",
		},
		"closes the TLS first": {
			serve: func(p *peer) { p.bytes([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")); p.wait() },
			enc:   EncryptStrict,
			want:  "TLS Handshake failed",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(w, serve(t, tt.serve))
			if tt.enc != "" {
				o.Encrypt, o.Wire = tt.enc, wireFor(w, tt.enc)
			}
			_, err := connectTo(t, o)
			var ce *driver.ConnectError
			if !errors.As(err, &ce) || !strings.Contains(ce.Error(), tt.want) {
				t.Fatalf("got %v; want a ConnectError with %q", err, tt.want)
			}
			if ce.Server != o.Server || strings.Contains(err.Error(), "trust-server") || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := fmt.Sprintf("127.0.0.1,%d", l.Addr().(*net.TCPAddr).Port)
	l.Close()
	_, err = connectTo(t, Options{Server: addr, User: "sa", Password: "x"})
	var ce *driver.ConnectError
	if !errors.As(err, &ce) || !strings.Contains(err.Error(), "refused") {
		t.Fatalf("got %v", err)
	}
}

// TestLoginTimeout ends logins at each of their stages.
func TestLoginTimeout(t *testing.T) { overWires(t, testLoginTimeout) }

func testLoginTimeout(t *testing.T, w Wire) {
	stages := map[string]struct {
		enc   Encrypt
		serve func(p *peer, reached func())
	}{
		"says nothing":        {EncryptMandatory, func(p *peer, reached func()) { p.read(tds.PacketPrelogin); reached() }},
		"says nothing strict": {EncryptStrict, func(p *peer, reached func()) { b := make([]byte, 1); _, _ = p.raw.Read(b); reached() }},
		"half a PRELOGIN":     {EncryptMandatory, func(p *peer, reached func()) { p.bytes([]byte{4, 1, 0, 50, 0}); reached() }},
		"in the handshake": {EncryptMandatory, func(p *peer, reached func()) {
			p.read(tds.PacketPrelogin)
			p.send((&tds.Prelogin{Encryption: tds.EncryptOn}).AppendResponse(nil, false))
			p.read(tds.PacketPrelogin)
			reached()
		}},
		"after LOGIN7": {EncryptDisable, func(p *peer, reached func()) {
			p.prelogin(tds.EncryptNotSupported)
			p.takeLogin(tds.EncryptNotSupported)
			reached()
		}},
		"half an answer": {EncryptDisable, func(p *peer, reached func()) {
			p.prelogin(tds.EncryptNotSupported)
			p.takeLogin(tds.EncryptNotSupported)
			p.part(info(5701, 10, "changed"))
			reached()
		}},
	}
	for name, st := range stages {
		for how, end := range map[string]func() (context.Context, context.CancelFunc, string){
			"timeout": func() (context.Context, context.CancelFunc, string) {
				ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
				return ctx, cancel, "in time (-l)"
			},
			"cancel": func() (context.Context, context.CancelFunc, string) {
				ctx, cancel := context.WithCancel(context.Background())
				return ctx, cancel, "context canceled"
			},
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				ctx, cancel, want := end()
				defer cancel()
				reached := func() {}
				if how == "cancel" {
					reached = cancel
				}
				f := serve(t, func(p *peer) { st.serve(p, reached); p.wait() })
				o := options(w, f)
				o.Encrypt, o.Wire = st.enc, wireFor(w, st.enc)
				tg, err := New(o)
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				_, err = tg.Connect(ctx)
				var ce *driver.ConnectError
				if !errors.As(err, &ce) || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v; want %q", err, want)
				}
				if took := time.Since(start); took > 10*time.Second {
					t.Errorf("it took %v", took)
				}
				var timeout interface{ Timeout() bool }
				if how == "timeout" && !errors.As(err, &timeout) {
					t.Errorf("%v is no timeout", err)
				}
			})
		}
	}
}

func TestLoginRefused(t *testing.T) { overWires(t, testLoginRefused) }

func testLoginRefused(t *testing.T, w Wire) {
	tests := map[string]struct {
		send   [][]byte
		number int32
		text   string
	}{
		"wrong password": {
			[][]byte{serverError(18456, 14, "Login failed for user 'sa'.")}, 18456,
			"as sa: error 18456, state 1: Login failed for user 'sa'.",
		},
		"no database": {
			[][]byte{serverError(4060, 11, `Cannot open database "x" requested by the login. The login failed.`), serverError(18456, 14, "Login failed for user 'sa'.")}, 4060,
			`as sa: error 4060, state 1: Cannot open database "x" requested by the login. The login failed. Login failed for user 'sa'.`,
		},
		"locked": {
			[][]byte{serverError(18486, 14, "Login failed for user 'sa' because the account is currently locked out.")}, 18486, "locked out",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := serve(t, func(p *peer) {
				p.prelogin(tds.EncryptNotSupported)
				p.takeLogin(tds.EncryptNotSupported)
				p.send(append(tt.send, done(isError))...)
			})
			_, err := connectTo(t, options(w, f))
			var le *driver.LoginError
			if !errors.As(err, &le) {
				t.Fatalf("got %v", err)
			}
			if le.Number != tt.number || le.Login != "sa" || le.Server != f.addr || !le.Refused() || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %+v: %v; want %d and %q", le, err, tt.number, tt.text)
			}
		})
	}
}

func TestLoginPacket(t *testing.T) { overWires(t, testLoginPacket) }

func testLoginPacket(t *testing.T, w Wire) {
	const password = `;={}%#@'"\ wörd` + "\t€"
	logins := make(chan *tds.Login7, 1)
	f := serve(t, func(p *peer) {
		p.accept(tds.EncryptNotSupported)
		logins <- p.login
		p.wait()
	})
	o := options(w, f)
	o.User, o.Password = "us;er={}", password
	o.Database, o.AppName, o.PacketSize, o.ReadOnlyIntent = "Ädventure Works", "gostress/1 abc", 8192, true
	s, err := connectTo(t, o)
	if err != nil {
		t.Fatal(err)
	}
	l := <-logins
	host, _ := os.Hostname()
	if l.UserName != o.User || l.Password != password || l.Database != o.Database || l.AppName != o.AppName ||
		l.HostName != host || l.PacketSize != 8192 || l.TypeFlags&tds.TypeReadOnlyIntent == 0 || l.Flags2&tds.OptionODBC == 0 ||
		l.Flags2&tds.OptionSecurity != 0 || l.Flags1&tds.OptionUseDB == 0 || l.ServerName != "127.0.0.1" || int(l.ClientPID) != os.Getpid() {
		t.Errorf("got %+v", l)
	}
	d := s.(interface{ Describe() string }).Describe()
	if want := "Microsoft SQL Server 15.0.2000, TDS 7.4, encryption none, packet size 8192, login us;er={} (SQL Server login), wire " + string(w); d != want {
		t.Errorf("got  %s\nwant %s", d, want)
	}
}

// TestWindowsLogin sends a login with a backslash by NTLM, with the password in
// no packet.
func TestWindowsLogin(t *testing.T) { overWires(t, testWindowsLogin) }

func testWindowsLogin(t *testing.T, w Wire) {
	logins := make(chan *tds.Login7, 1)
	f := serve(t, func(p *peer) {
		p.prelogin(tds.EncryptNotSupported)
		p.takeLogin(tds.EncryptNotSupported)
		logins <- p.login
		p.send(serverError(18452, 14, "Login failed."), done(isError))
	})
	o := options(w, f)
	o.User = `DOM\user`
	_, err := connectTo(t, o)
	l := <-logins
	if l.UserName != "" || l.Password != "" || l.Flags2&tds.OptionSecurity == 0 || !strings.HasPrefix(string(l.SSPI), "NTLMSSP\x00\x01") {
		t.Errorf("got %+v", l)
	}
	var le *driver.LoginError
	if !errors.As(err, &le) || le.Number != 18452 || le.Login != `DOM\user` {
		t.Errorf("got %v", err)
	}
}

// TestIntegratedHint says what to do when this machine's own user is refused.
func TestIntegratedHint(t *testing.T) { overWires(t, testIntegratedHint) }

func testIntegratedHint(t *testing.T, w Wire) {
	f := serve(t, func(p *peer) {
		p.prelogin(tds.EncryptNotSupported)
		p.takeLogin(tds.EncryptNotSupported)
		p.send(serverError(18452, 14, "Login failed. The login is from an untrusted domain."), done(isError))
	})
	o := options(w, f)
	o.User, o.Password = "", ""
	o.Env = func(k string) string { return map[string]string{"KRB5CCNAME": "/nonexistent"}[k] }
	_, err := connectTo(t, o)
	if err == nil || !strings.Contains(err.Error(), "untrusted domain") || !strings.Contains(err.Error(), "kinit, or log in with -U and -P") {
		t.Errorf("got %v", err)
	}
}

func TestIntegratedBeyondLoopback(t *testing.T) {
	t.Parallel()
	_, err := New(Options{Server: "host.example", Env: func(k string) string { return map[string]string{"KRB5CCNAME": "/nonexistent"}[k] }})
	if err == nil || !strings.Contains(err.Error(), "kinit") {
		t.Errorf("got %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*Options)
		want   string
	}{
		"packet too small":     {func(o *Options) { o.PacketSize = 511 }, "from 512 to 32767"},
		"packet too large":     {func(o *Options) { o.PacketSize = 32768 }, "from 512 to 32767"},
		"emoji in password":    {func(o *Options) { o.Password = "a😀" }, "the password has a character"},
		"long application":     {func(o *Options) { o.AppName = strings.Repeat("x", 129) }, "the application name is longer than 128"},
		"no UTF-8":             {func(o *Options) { o.Database = "\xff" }, "the database is not text"},
		"read-only, no -d":     {func(o *Options) { o.ReadOnlyIntent = true }, "needs a database"},
		"TLS version":          {func(o *Options) { o.TLSMin = "1.4" }, "TLS version"},
		"no such CA file":      {func(o *Options) { o.CAFile = "/nonexistent" }, "cannot read the certificate authority's file"},
		"no certificate in it": {func(o *Options) { o.CAFile = "connect_test.go" }, "holds no PEM certificate"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Server: "127.0.0.1,1", User: "sa", Password: "secret"}
			tt.change(&o)
			_, err := New(o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v; want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "😀") {
				t.Errorf("%v shows the password", err)
			}
		})
	}
}

// TestSmallPackets logs in with more than it asked for.
func TestSmallPackets(t *testing.T) { overWires(t, testSmallPackets) }

func testSmallPackets(t *testing.T, w Wire) {
	var n said
	cert := newCert(t)
	sizes := make(chan uint32, 1)
	f := serve(t, func(p *peer) {
		p.cert = cert.tls
		p.accept(tds.EncryptOn)
		sizes <- p.login.PacketSize
		p.wait()
	})
	o := options(w, f)
	o.Encrypt, o.TrustServerCertificate, o.PacketSize, o.Note = EncryptMandatory, true, 512, n.note
	if _, err := connectTo(t, o); err != nil {
		t.Fatal(err)
	}
	if got := <-sizes; got != 4096 {
		t.Errorf("asked for %d", got)
	}
	if got := n.all(); len(got) != 1 || !strings.Contains(got[0], "packet size 512: a login needs packets of 4096 bytes") {
		t.Errorf("got the notes %q", got)
	}
}

// fakeAddr is a connection whose other end seems to be elsewhere.
type fakeAddr struct {
	net.Conn
	addr string
}

func (c fakeAddr) RemoteAddr() net.Addr {
	a, _ := net.ResolveTCPAddr("tcp", c.addr)
	return a
}

func TestServerWithoutEncryption(t *testing.T) {
	t.Parallel()
	const local, remote = "127.0.0.1:1433", "10.0.0.1:1433"
	tests := map[string]struct {
		from       string
		enc        Encrypt
		integrated bool
		allow      bool
		refused    string
		note       string
	}{
		"loopback":             {from: local, enc: EncryptMandatory, note: "stays on this machine"},
		"loopback v6":          {from: "[::1]:1433", enc: EncryptMandatory, note: "stays on this machine"},
		"loopback optional":    {from: local, enc: EncryptOptional, note: "stays on this machine"},
		"loopback disabled":    {from: local, enc: EncryptDisable},
		"beyond":               {from: remote, enc: EncryptMandatory, refused: "does not support encryption, so the password would cross the network in clear; --allow-cleartext-login"},
		"beyond optional":      {from: remote, enc: EncryptOptional, refused: "--allow-cleartext-login"},
		"beyond disabled":      {from: remote, enc: EncryptDisable, refused: "encryption is switched off for"},
		"beyond allowed":       {from: remote, enc: EncryptMandatory, allow: true, note: "as --allow-cleartext-login permits"},
		"beyond, no password":  {from: remote, enc: EncryptMandatory, integrated: true, note: "the connection is in clear"},
		"looks like loopback?": {from: "128.0.0.1:1433", enc: EncryptMandatory, refused: "--allow-cleartext-login"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var n said
			tg, err := New(Options{Server: "db.example", User: "sa", Password: "secret", Encrypt: tt.enc, AllowCleartextLogin: tt.allow, Note: n.note})
			if err != nil {
				t.Fatal(err)
			}
			if tt.integrated {
				tg.auth.integrated, tg.auth.password = true, ""
			}
			d := &dialer{target: tg, password: tg.auth.password, mayClear: tt.allow, enc: tt.enc}
			payload := (&tds.Prelogin{Encryption: tds.EncryptNotSupported}).AppendResponse(nil, false)
			packet := append(tds.Header{Type: tds.PacketResponse, Status: 1, Length: 8 + len(payload)}.Append(nil), payload...)
			for range 3 {
				err = d.prelogin(fakeAddr{addr: tt.from}, packet)
			}
			if (err == nil) != (tt.refused == "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("got %v; want %q", err, tt.refused)
			}
			if d.cause() != err {
				t.Errorf("the dialer's cause is %v", d.cause())
			}
			notes := strings.Join(n.all(), "\n")
			if (notes == "") != (tt.note == "") || !strings.Contains(notes, tt.note) || strings.Contains(notes, "\n") {
				t.Errorf("got the notes %q; want one with %q", notes, tt.note)
			}
		})
	}
}

func TestNoEncryptionOnLoopback(t *testing.T) { overWires(t, testNoEncryptionOnLoopback) }

func testNoEncryptionOnLoopback(t *testing.T, w Wire) {
	for _, enc := range []Encrypt{EncryptMandatory, EncryptOptional} {
		t.Run(string(enc), func(t *testing.T) {
			t.Parallel()
			var n said
			f := serve(t, func(p *peer) { p.accept(tds.EncryptNotSupported); p.batch(); p.send(done(0)) })
			o := options(w, f)
			o.Encrypt, o.Note = enc, n.note
			tg, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				s, err := tg.Connect(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := do(t, s, context.Background(), text("select 1"), nil); err != nil {
					t.Error(err)
				}
				s.Close()
			}
			if got := n.all(); len(got) != 1 || !strings.Contains(got[0], "does not support encryption") {
				t.Errorf("got the notes %q", got)
			}
		})
	}
}

// TestRouted follows a server that sends the client to another one.
func TestRouted(t *testing.T) { overWires(t, testRouted) }

func testRouted(t *testing.T, w Wire) {
	second := serve(t, func(p *peer) {
		p.accept(tds.EncryptNotSupported)
		p.batch()
		p.send(intColumns(1), intRow(1), done(0))
		p.wait()
	})
	port := second.l.Addr().(*net.TCPAddr).Port
	value := append([]byte{0, byte(port), byte(port >> 8), 9, 0}, tds.AppendUTF16(nil, "127.0.0.1")...)
	routing := append([]byte{0xE3, byte(5 + len(value)), 0, 20, byte(len(value)), 0}, value...)
	routing = append(routing, 0, 0)
	first := serve(t, func(p *peer) {
		p.prelogin(tds.EncryptNotSupported)
		p.takeLogin(tds.EncryptNotSupported)
		p.ack(routing)
		p.wait()
	})
	s, err := connectTo(t, options(w, first))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := do(t, s, context.Background(), text("select 1"), nil); err != nil || out.Rows != 1 {
		t.Errorf("got %+v, %v", out, err)
	}
	if s, ok := s.(*session); ok && s.wire.RemoteAddr().String() != second.l.Addr().String() {
		t.Errorf("the session holds the connection to %s", s.wire.RemoteAddr())
	}
}

// TestDialAll takes the address that answers.
func TestDialAll(t *testing.T) {
	t.Parallel()
	f := serve(t, func(p *peer) { p.wait() })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := l.Addr().String()
	l.Close()
	c, err := dialAll(context.Background(), &net.Dialer{}, []string{dead, f.l.Addr().String(), dead, f.l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	if c.RemoteAddr().String() != f.l.Addr().String() {
		t.Errorf("dialed %v", c.RemoteAddr())
	}
	c.Close()
	if _, err = dialAll(context.Background(), &net.Dialer{}, []string{dead, dead}); err == nil {
		t.Error("nobody listens, and no error")
	}
	if _, err = dialAll(context.Background(), &net.Dialer{}, nil); err == nil {
		t.Error("no address, and no error")
	}
}
