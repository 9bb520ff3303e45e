package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"gostress/internal/engine/exec"
	"gostress/internal/server"
	"gostress/pkg/driver"
)

// serveEngine runs the embedded engine behind its own server.
func serveEngine(tb testing.TB, cert certificate) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- server.Serve(ctx, server.Options{Listener: l, Engine: exec.New(exec.Options{}), Users: map[string]string{"sa": "p;={}%#@'\"w"},
			TrustLocal: true, Certificate: cert.tls, FailureDelay: time.Millisecond})
	}()
	tb.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	})
	return fmt.Sprintf("127.0.0.1,%d", l.Addr().(*net.TCPAddr).Port)
}

func TestEngine(t *testing.T) { overWires(t, testEngine) }

func testEngine(t *testing.T, w Wire) {
	cert := newCert(t)
	addr := serveEngine(t, cert)
	file := cert.file(t)
	env := func(k string) string { return map[string]string{"KRB5CCNAME": "/nonexistent"}[k] }
	for name, change := range map[string]func(*Options){
		"mandatory":              func(o *Options) {},
		"authority":              func(o *Options) { o.CAFile = file },
		"optional":               func(o *Options) { o.Encrypt = EncryptOptional },
		"strict":                 func(o *Options) { o.Encrypt = EncryptStrict },
		"disable":                func(o *Options) { o.Encrypt = EncryptDisable },
		"ssms":                   func(o *Options) { o.SSMS = true },
		"trusted":                func(o *Options) { o.User, o.Password = "", "" },
		"packets":                func(o *Options) { o.PacketSize = 16384 },
		"large packets in clear": func(o *Options) { o.PacketSize, o.Encrypt = 32767, EncryptDisable },
		"large packets in TLS":   func(o *Options) { o.PacketSize = 32767 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Server: addr, User: "sa", Password: "p;={}%#@'\"w", Database: "master", AppName: "test", Env: env}
			change(&o)
			o.Wire = wireFor(w, o.Encrypt)
			s, err := connectTo(t, o)
			if err != nil {
				t.Fatal(err)
			}
			l := &log{}
			out, err := do(t, s, context.Background(), text("select 1 as a union all select 2\nprint 'x'\nbegin tran"), l)
			if err != nil || out.Rows != 2 || !out.OpenTran || len(out.Errors) != 0 {
				t.Errorf("got %+v, %v, %q", out, err, l.lines)
			}
			out, err = do(t, s, context.Background(), text("rollback\nselect 1/0"), nil)
			if err != nil || out.OpenTran || len(out.Errors) != 1 || out.Errors[0].Number != 8134 {
				t.Errorf("got %+v, %v", out, err)
			}
			out, err = do(t, s, context.Background(), text("select replicate(cast('x' as varchar(max)), 200000)"), nil)
			if err != nil || out.Rows != 1 {
				t.Errorf("got %+v, %v", out, err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			if _, err = do(t, s, ctx, text("waitfor delay '00:00:30'"), nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			out, err = do(t, s, context.Background(), text("select 1"), nil)
			if err != nil || out.Rows != 1 {
				t.Errorf("got %+v, %v", out, err)
			}
			t.Log(s.(interface{ Describe() string }).Describe())
		})
	}
	for name, tt := range map[string]struct {
		change func(*Options)
		number int32
		text   string
	}{
		"wrong password": {func(o *Options) { o.Password = "x" }, 18456, "Login failed"},
		"no database":    {func(o *Options) { o.Database = "nowhere" }, 4060, "nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Server: addr, User: "sa", Password: "p;={}%#@'\"w", Database: "master", AppName: "test", Env: env}
			o.Wire = w
			tt.change(&o)
			_, err := connectTo(t, o)
			var le *driver.LoginError
			if !errors.As(err, &le) || le.Number != tt.number || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v", err)
			}
		})
	}
}
