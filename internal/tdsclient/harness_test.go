package tdsclient_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"

	"gostress/internal/engine/exec"
	"gostress/internal/server"
	"gostress/internal/tds"
	"gostress/internal/tdsclient"
)

const password = "Harness-1"

// serve starts the embedded engine and gives its address.
func serve(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	eng := exec.New(exec.Options{Version: "test"})
	go func() {
		done <- server.Serve(ctx, server.Options{Listener: ln, Engine: eng, Users: map[string]string{"sa": password}})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("server: %v", err)
		}
	})
	return ln.Addr().String()
}

type loginDialer struct {
	opt  tdsclient.LoginOptions
	wrap func(net.Conn) net.Conn
	last *tdsclient.Login
}

func (d *loginDialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	if d.wrap != nil {
		nc = d.wrap(nc)
	}
	d.last = tdsclient.NewLogin(nc, d.opt)
	return d.last, nil
}

func config(addr string) msdsn.Config {
	host, port, _ := net.SplitHostPort(addr)
	var n uint64
	_, _ = fmt.Sscan(port, &n)
	return msdsn.Config{
		Host: host, Port: n, User: "sa", Password: password, AppName: "test", DialTimeout: -1, DisableRetry: true,
		Protocols: []string{"tcp"}, Parameters: map[string]string{}, ProtocolParameters: map[string]any{},
		Encoding: msdsn.EncodeParameters{Timezone: time.UTC}, Encryption: msdsn.EncryptionDisabled,
	}
}

// login logs in with go-mssqldb and takes the connection.
func login(t testing.TB, addr string, enc tds.Encryption, size uint16, wrap func(net.Conn) net.Conn) (*tdsclient.Conn, tdsclient.LoginFacts) {
	t.Helper()
	d := &loginDialer{wrap: wrap, opt: tdsclient.LoginOptions{Encrypt: enc, TLS: &tls.Config{InsecureSkipVerify: true, DynamicRecordSizingDisabled: true}}}
	cfg := config(addr)
	cfg.PacketSize = size
	c := mssql.NewConnectorConfig(cfg)
	c.Dialer = d
	raw, err := c.Connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	conn, facts, err := d.last.Take()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil { // gives back buffers, and leaves the socket
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, facts
}

// recorder writes down all that a sink is given.
type recorder struct {
	lines []string
	stop  int // refuse the row of that number
	rows  int
}

func (r *recorder) add(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *recorder) Columns(cols []tdsclient.Column) error {
	for _, c := range cols {
		r.add("column %s %v", c.Name, c.Type)
	}
	return nil
}

func (r *recorder) Row(values []any) error {
	if r.rows++; r.rows == r.stop {
		return errors.New("no more")
	}
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%T(%v)", v, v)
	}
	r.add("row %s", b.String())
	return nil
}

func (r *recorder) Done(rows int64, counted bool) error {
	r.add("done %d %v", rows, counted)
	return nil
}

func (r *recorder) Message(m *tdsclient.ServerError) error {
	r.add("message %d class %d line %d proc %q: %s", m.Number, m.Class, m.Line, m.Proc, m.Message)
	return nil
}

func (r *recorder) Output(name string, ordinal int, value any) error {
	r.add("output %s %d %T(%v)", name, ordinal, value, value)
	return nil
}

func (r *recorder) Status(v int32) error {
	r.add("status %d", v)
	return nil
}

func (r *recorder) String() string { return strings.Join(r.lines, "\n") }

// counting counts reads and writes that moved bytes.
type counting struct {
	net.Conn
	reads, writes, bytes int
}

func (c *counting) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.reads++
	return n, err
}

func (c *counting) Write(b []byte) (int, error) {
	c.writes++
	c.bytes += len(b)
	return c.Conn.Write(b)
}

var _ io.ReadWriter = (*counting)(nil)
