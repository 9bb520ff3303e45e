package tdsclient_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gostress/internal/tds"
	"gostress/internal/tdsclient"
)

func run(t *testing.T, c *tdsclient.Conn, text string) (tdsclient.Outcome, *recorder) {
	t.Helper()
	r := &recorder{}
	out, err := c.Do(context.Background(), tdsclient.Batch(text), r)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out, r
}

func TestLogins(t *testing.T) {
	t.Parallel()
	addr := serve(t)
	for _, tc := range []struct {
		name string
		enc  tds.Encryption
		size uint16
	}{
		{"clear", tds.EncryptNotSupported, 0},
		{"login only", tds.EncryptOff, 0},
		{"encrypted", tds.EncryptOn, 0},
		{"packets of 512", tds.EncryptNotSupported, 512},
		{"encrypted packets of 512", tds.EncryptOn, 512},
		{"packets of 16000", tds.EncryptOn, 16000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, facts := login(t, addr, tc.enc, tc.size, nil)
			if facts.Database != "master" || facts.Ack.Version != tds.V74 || facts.PacketSize == 0 {
				t.Errorf("facts %+v", facts)
			}
			out, r := run(t, c, "SELECT 1 AS n, N'x' AS s; PRINT 'hello'")
			if out.Rows != 1 || out.ResultSets != 1 || len(out.Errors) != 0 {
				t.Errorf("outcome %+v\n%s", out, r)
			}
			out, r = run(t, c, "BEGIN TRAN")
			if !out.OpenTran || c.Transaction() == 0 {
				t.Errorf("outcome %+v\n%s", out, r)
			}
			out, _ = run(t, c, "COMMIT; SELECT 1/0")
			if out.OpenTran || len(out.Errors) != 1 || out.Errors[0].Number != 8134 || out.Errors[0].Line != 1 {
				t.Errorf("outcome %+v", out)
			}
			run(t, c, "CREATE TABLE #t (i int)")
			c.ResetNext(false)
			if out, r = run(t, c, "SELECT * FROM #t"); len(out.Errors) != 1 || !c.WasReset() {
				t.Errorf("after a reset: %+v %v\n%s", out, c.WasReset(), r)
			}
		})
	}
}

// go-mssqldb sees the server's answer to its PRELOGIN as it is, but for the encryption.
func TestPreloginIsRelayed(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	answer := tds.Prelogin{Version: [6]byte{16, 0, 0x10, 0x9D, 0, 2}, Encryption: tds.EncryptNotSupported, FedAuth: true, Nonce: []byte("0123456789abcdef0123456789ABCDEF")}
	asked := make(chan tds.Prelogin, 1)
	go func() {
		defer close(asked)
		var rd tds.Reader
		m, err := rd.ReadMessage(theirs)
		if err != nil {
			return
		}
		p, err := tds.ParsePrelogin(m.Data)
		if err != nil {
			return
		}
		asked <- p
		_, _ = theirs.Write(message(tds.PacketResponse, answer.AppendRequest(nil)))
	}()
	l := tdsclient.NewLogin(ours, tdsclient.LoginOptions{Encrypt: tds.EncryptOff})
	hello := tds.Prelogin{Version: [6]byte{1, 11, 2}, Encryption: tds.EncryptNotSupported, FedAuth: true, Nonce: answer.Nonce}
	if _, err := l.Write(message(tds.PacketPrelogin, hello.AppendRequest(nil))); err != nil {
		t.Fatal(err)
	}
	got, err := new(tds.Reader).ReadMessage(l)
	if err != nil {
		t.Fatal(err)
	}
	p, err := tds.ParsePrelogin(got.Data)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(answer, p); d != "" {
		t.Errorf("go-mssqldb sees another answer:\n%s", d)
	}
	hello.Encryption = tds.EncryptOff
	if d := cmp.Diff(hello, <-asked); d != "" {
		t.Errorf("the server sees another PRELOGIN:\n%s", d)
	}
}

func message(typ tds.PacketType, payload []byte) []byte {
	h := tds.Header{Type: typ, Status: tds.StatusEOM, Length: tds.HeaderSize + len(payload), ID: 1}
	return append(h.Append(nil), payload...)
}

func TestCancel(t *testing.T) {
	t.Parallel()
	addr := serve(t)
	for _, enc := range []tds.Encryption{tds.EncryptNotSupported, tds.EncryptOn} {
		c, _ := login(t, addr, enc, 0, nil)
		for range 3 {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(20*time.Millisecond, cancel)
			start := time.Now()
			_, err := c.Do(ctx, tdsclient.Batch("WAITFOR DELAY '00:01:00'"), nil)
			if !errors.Is(err, context.Canceled) || time.Since(start) > 20*time.Second {
				t.Fatalf("%v after %v", err, time.Since(start))
			}
			if _, err := c.Do(ctx, tdsclient.Batch("SELECT 1"), nil); !errors.Is(err, context.Canceled) {
				t.Fatalf("with an ended context: %v", err)
			}
			if out, _ := run(t, c, "SELECT 1"); out.Rows != 1 {
				t.Fatalf("after a cancel: %+v", out)
			}
		}
		done := make(chan error, 1)
		go func() {
			_, err := c.Do(context.Background(), tdsclient.Batch("WAITFOR DELAY '00:01:00'"), nil)
			done <- err
		}()
		time.Sleep(20 * time.Millisecond)
		_ = c.Close()
		var lost *tdsclient.LostError
		if err := <-done; !errors.As(err, &lost) || !errors.Is(err, tdsclient.ErrClosed) {
			t.Fatalf("closed: %v", err)
		}
	}
}
