package server

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/microsoft/go-mssqldb"
	_ "github.com/microsoft/go-mssqldb/integratedauth/ntlm"

	"gostress/internal/engine/exec"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// script is a session that does what a test says.
type script struct {
	spid   int
	batch  func(ctx context.Context, text string, out exec.Output) error
	call   func(ctx context.Context, c *exec.Call, out exec.Output) error
	opts   exec.SessionOptions
	resets atomic.Int32
	closed atomic.Int32
	killed chan struct{}
	tran   []string
	mu     sync.Mutex
}

func (s *script) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tran = append(s.tran, fmt.Sprintf(format, args...))
}

func (s *script) Batch(ctx context.Context, text string, out exec.Output) error {
	if s.batch == nil {
		return out.Event(&exec.Done{Cmd: exec.CmdSelect})
	}
	return s.batch(ctx, text, out)
}

func (s *script) Call(ctx context.Context, c *exec.Call, out exec.Output) error {
	if s.call == nil && s.batch != nil { // go-mssqldb calls what is one word
		return s.batch(ctx, c.Proc, out)
	}
	if s.call == nil {
		return out.Event(&exec.Done{Kind: exec.DoneProc, Cmd: exec.CmdExecute})
	}
	return s.call(ctx, c, out)
}

func (s *script) Begin(_ context.Context, iso uint8, name string, out exec.Output) error {
	s.note("begin %d %s", iso, name)
	return events(out, &exec.EnvChange{Kind: exec.EnvBeginTran, Tran: 77}, &exec.Done{InTran: true})
}

func (s *script) Commit(_ context.Context, begin bool, iso uint8, name string, out exec.Output) error {
	s.note("commit %v %d %s", begin, iso, name)
	return events(out, &exec.EnvChange{Kind: exec.EnvCommitTran, Tran: 77}, &exec.Done{})
}

func (s *script) Rollback(_ context.Context, name string, begin bool, iso uint8, next string, out exec.Output) error {
	s.note("rollback %s", name)
	return events(out, &exec.EnvChange{Kind: exec.EnvRollbackTran, Tran: 77}, &exec.Done{})
}

func (s *script) Save(_ context.Context, name string, out exec.Output) error {
	s.note("save %s", name)
	return events(out, &exec.Done{})
}

func (s *script) SPID() int               { return s.spid }
func (s *script) Database() string        { return s.opts.Database }
func (s *script) Language() string        { return "us_english" }
func (s *script) Reset(bool)              { s.resets.Add(1) }
func (s *script) Killed() <-chan struct{} { return s.killed }
func (s *script) Close()                  { s.closed.Add(1) }

func events(out exec.Output, es ...exec.Event) error {
	for _, e := range es {
		if err := out.Event(e); err != nil {
			return err
		}
	}
	return nil
}

func message(number int32, class uint8, text string) *exec.Message {
	e := sqlerr.New(number, class, 1, "%s", text)
	e.Line = 3
	return &exec.Message{Err: e}
}

// rows sends a result set of one int column.
func rows(out exec.Output, more bool, values ...int64) error {
	if err := out.Event(&exec.Columns{Columns: []exec.Column{{Name: "n", Type: types.Int}}}); err != nil {
		return err
	}
	for _, v := range values {
		if err := out.Row([]types.Value{types.NewInt(types.KindInt, v)}); err != nil {
			return err
		}
	}
	return out.Event(&exec.Done{Cmd: exec.CmdSelect, HasCount: true, Count: int64(len(values)), More: more})
}

// running is a server under test.
type running struct {
	addr  string
	stop  context.CancelFunc
	ended chan error
}

const testPassword = "pa;ss={wörd}%#@'\""

// start serves sessions made by open until the test ends.
func start(tb testing.TB, opts Options, open func(exec.SessionOptions) (session, error)) *running {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	opts.Listener = l
	opts.open = open
	if opts.Users == nil {
		opts.Users = map[string]string{"sa": testPassword}
	}
	if opts.FailureDelay == 0 {
		opts.FailureDelay = time.Millisecond
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{addr: l.Addr().String(), stop: cancel, ended: make(chan error, 1)}
	go func() { r.ended <- Serve(ctx, opts) }()
	tb.Cleanup(func() {
		cancel()
		select {
		case err := <-r.ended:
			if err != nil {
				tb.Errorf("Serve: %v", err)
			}
		case <-time.After(10 * time.Second):
			tb.Error("Serve does not return")
		}
	})
	return r
}

// scripted serves one kind of session.
func scripted(tb testing.TB, s *script) *running {
	tb.Helper()
	return start(tb, Options{}, func(o exec.SessionOptions) (session, error) {
		s.opts = o
		if o.Database == "" {
			s.opts.Database = "master"
		}
		s.spid = 51
		return s, nil
	})
}

// dsn is the URL for go-mssqldb; extra are more query parameters, k=v.
func (r *running) dsn(extra ...string) string {
	q := url.Values{"encrypt": {"disable"}, "dial timeout": {"5"}, "app name": {"test"}}
	for _, kv := range extra {
		k, v, _ := strings.Cut(kv, "=")
		q.Set(k, v)
	}
	u := url.URL{Scheme: "sqlserver", User: url.UserPassword("sa", testPassword), Host: r.addr, RawQuery: q.Encode()}
	return u.String()
}

func (r *running) db(tb testing.TB, extra ...string) *sql.DB {
	tb.Helper()
	db, err := sql.Open("sqlserver", r.dsn(extra...))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { db.Close() })
	return db
}
