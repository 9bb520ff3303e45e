package server

import (
	"context"
	"crypto/x509"
	"database/sql"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"gostress/internal/engine/exec"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

func TestEncryptions(t *testing.T) {
	t.Parallel()
	cert, err := selfSigned(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil || leaf.NotAfter.Before(time.Now()) {
		t.Fatalf("certificate: %v", err)
	}
	open := func(o exec.SessionOptions) (session, error) {
		return &script{spid: 60, opts: o, batch: func(_ context.Context, text string, out exec.Output) error {
			n := int64(0)
			if o.Encrypted {
				n = 1
			}
			return rows(out, false, n)
		}}, nil
	}
	for _, tc := range []struct {
		name      string
		params    []string
		encrypted int
		insist    bool
		fails     bool
	}{
		{name: "disable", params: []string{"encrypt=disable"}},
		{name: "login only", params: []string{"encrypt=false", "trustservercertificate=true"}},
		{name: "full", params: []string{"encrypt=true", "trustservercertificate=true"}, encrypted: 1},
		{name: "full, certificate checked", params: []string{"encrypt=true", "certificate=" + ca}, encrypted: 1},
		{name: "full, certificate unknown", params: []string{"encrypt=true"}, fails: true},
		{name: "strict", params: []string{"encrypt=strict", "certificate=" + ca}, encrypted: 1},
		{name: "insist, disable", params: []string{"encrypt=disable"}, insist: true, fails: true},
		{name: "insist, login only", params: []string{"encrypt=false", "trustservercertificate=true"}, insist: true, encrypted: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := start(t, Options{Certificate: cert, RequireEncryption: tc.insist}, open)
			db := r.db(t, tc.params...)
			for range 3 {
				var n int
				err := db.QueryRow("select 1").Scan(&n)
				if (err != nil) != tc.fails {
					t.Fatalf("error %v", err)
				}
				if n != tc.encrypted {
					t.Fatalf("encrypted = %d, want %d", n, tc.encrypted)
				}
				db.SetMaxIdleConns(0) // the next round logs in anew
			}
		})
	}
}

func TestLogins(t *testing.T) {
	t.Parallel()
	open := func(o exec.SessionOptions) (session, error) {
		if o.Database == "nowhere" {
			return nil, sqlerr.New(4060, 11, 1, "Cannot open database \"nowhere\".")
		}
		return &script{spid: 51, opts: o}, nil
	}
	r := start(t, Options{}, open)
	for _, tc := range []struct {
		name, user, password, database string
		number                         int32
		all                            []int32
	}{
		{name: "right", user: "sa", password: testPassword},
		{name: "case of the name", user: "SA", password: testPassword},
		{name: "wrong password", user: "sa", password: "x", number: 18456},
		{name: "no such user", user: "sb", password: testPassword, number: 18456},
		{name: "no database", user: "sa", password: testPassword, database: "nowhere", number: 18456, all: []int32{4060, 18456}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			q := url.Values{"encrypt": {"disable"}}
			if tc.database != "" {
				q.Set("database", tc.database)
			}
			u := url.URL{Scheme: "sqlserver", User: url.UserPassword(tc.user, tc.password), Host: r.addr, RawQuery: q.Encode()}
			db, err := sql.Open("sqlserver", u.String())
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			err = db.Ping()
			if tc.number == 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var e mssql.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			if e.Number != tc.number || e.Class != 14 || e.State != 1 {
				t.Fatalf("error %d class %d state %d: %v", e.Number, e.Class, e.State, e)
			}
			for i, n := range tc.all {
				if e.All[i].Number != n {
					t.Errorf("message %d is %d, want %d", i, e.All[i].Number, n)
				}
			}
			if strings.Contains(e.Message, tc.password) && tc.password != "x" {
				t.Error("the password is in the message")
			}
		})
	}
}

func TestTrustedLogin(t *testing.T) {
	t.Parallel()
	got := make(chan exec.SessionOptions, 1)
	r := start(t, Options{TrustLocal: false}, func(o exec.SessionOptions) (session, error) {
		got <- o
		return &script{spid: 51, opts: o}, nil
	})
	db, err := sql.Open("sqlserver", "sqlserver://HOST%5Cme:x@"+r.addr+"?authenticator=ntlm&encrypt=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Ping()
	own, oerr := canTellOwner(r.addr)
	if !own {
		var e mssql.Error
		if !errors.As(err, &e) || e.Number != 18452 {
			t.Fatalf("error %v where the owner cannot be told (%v)", err, oerr)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if o := <-got; o.AuthScheme != "NTLM" || !strings.Contains(o.Login, `\`) {
		t.Fatalf("login %q, scheme %q", o.Login, o.AuthScheme)
	}
}

// canTellOwner tells whether this platform knows whose a socket is.
func canTellOwner(addr string) (bool, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return false, err
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return false, err
	}
	defer c.Close()
	return sameUser(c.LocalAddr(), c.RemoteAddr())
}

func TestBatchAnswers(t *testing.T) {
	t.Parallel()
	s := &script{batch: func(_ context.Context, text string, out exec.Output) error {
		switch {
		case strings.HasPrefix(text, "two sets"):
			if err := rows(out, true, 1, 2, 3); err != nil {
				return err
			}
			return rows(out, false, 4)
		case text == "error after rows":
			if err := rows(out, true, 1, 2); err != nil {
				return err
			}
			return events(out, message(8134, 16, "Divide by zero."), &exec.Done{Error: true})
		case text == "print":
			return events(out, message(0, 0, "hello, wörld 🙂"), message(50000, 10, "info"), &exec.Done{Cmd: exec.CmdOther})
		case text == "count":
			return events(out, &exec.Done{Cmd: exec.CmdUpdate, HasCount: true, Count: 5_000_000_000})
		case text == "panic":
			panic("deliberate")
		case text == "fatal":
			return sqlerr.New(596, 21, 1, "The session is being killed.")
		}
		return out.Event(&exec.Done{})
	}}
	r := scripted(t, s)
	db := r.db(t)

	t.Run("two result sets", func(t *testing.T) {
		q, err := db.Query("two sets: überall")
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		var got []int
		for {
			for q.Next() {
				var n int
				if err := q.Scan(&n); err != nil {
					t.Fatal(err)
				}
				got = append(got, n)
			}
			if !q.NextResultSet() {
				break
			}
			got = append(got, -1)
		}
		if q.Err() != nil || len(got) != 5 || got[3] != -1 || got[4] != 4 {
			t.Fatalf("rows %v, error %v", got, q.Err())
		}
	})
	t.Run("error after rows", func(t *testing.T) {
		q, err := db.Query("error after rows")
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		n := 0
		for q.Next() {
			n++
		}
		for q.NextResultSet() {
		}
		var e mssql.Error
		if n != 2 || !errors.As(q.Err(), &e) || e.Number != 8134 || e.LineNo != 3 || e.Class != 16 {
			t.Fatalf("%d rows, error %#v", n, q.Err())
		}
	})
	t.Run("row count beyond 32 bits", func(t *testing.T) {
		res, err := db.Exec("count")
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := res.RowsAffected(); n != 5_000_000_000 {
			t.Fatalf("%d rows", n)
		}
	})
	t.Run("print", func(t *testing.T) {
		if _, err := db.Exec("print"); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a panic ends the session only", func(t *testing.T) {
		_, err := r.db(t).Exec("panic")
		var e mssql.Error
		if !errors.As(err, &e) || e.Number != 3624 {
			t.Fatalf("error %v", err)
		}
		if _, err := r.db(t).Exec("count"); err != nil {
			t.Fatalf("the next session: %v", err)
		}
	})
	t.Run("a fatal error ends the session", func(t *testing.T) {
		_, err := r.db(t).Exec("fatal")
		var e mssql.Error
		if !errors.As(err, &e) || e.Number != 596 {
			t.Fatalf("error %v", err)
		}
	})
}

func TestLargeAnswer(t *testing.T) {
	t.Parallel()
	const count = 20000
	long := strings.Repeat("wide text ", 30)
	huge := strings.Repeat("x", 3<<20)
	s := &script{batch: func(_ context.Context, text string, out exec.Output) error {
		cols := []exec.Column{{Name: "n", Type: types.Int}, {Name: "s", Type: types.NVarChar(400), Nullable: true}}
		if text == "huge" {
			cols[1].Type = types.NVarChar(types.Max)
		}
		if err := out.Event(&exec.Columns{Columns: cols}); err != nil {
			return err
		}
		v := types.NewString(types.KindNVarChar, long)
		n := int64(count)
		if text == "huge" {
			v, n = types.NewString(types.KindNVarChar, huge), 2
		}
		for i := range n {
			if err := out.Row([]types.Value{types.NewInt(types.KindInt, i), v}); err != nil {
				return err
			}
		}
		return out.Event(&exec.Done{Cmd: exec.CmdSelect, HasCount: true, Count: n})
	}}
	r := scripted(t, s)
	for _, size := range []string{"512", "4096", "32767"} {
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			db := r.db(t, "packet size="+size)
			for text, want := range map[string]struct {
				n int
				s string
			}{"many": {count, long}, "huge": {2, huge}} {
				q, err := db.Query(text)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for q.Next() {
					var i int
					var got string
					if err := q.Scan(&i, &got); err != nil {
						t.Fatal(err)
					}
					if i != n || got != want.s {
						t.Fatalf("row %d: %d, %d characters", n, i, len(got))
					}
					n++
				}
				if q.Err() != nil || n != want.n {
					t.Fatalf("%s: %d rows, %v", text, n, q.Err())
				}
			}
		})
	}
}

func TestLargeRequest(t *testing.T) {
	t.Parallel()
	s := &script{batch: func(_ context.Context, text string, out exec.Output) error {
		return rows(out, false, int64(len(text)))
	}}
	r := start(t, Options{MaxRequest: 1 << 20}, func(o exec.SessionOptions) (session, error) { s.opts = o; return s, nil })
	for _, size := range []string{"512", "4096", "16384"} {
		db := r.db(t, "packet size="+size)
		for _, n := range []int{10, 240, 245, 2036, 2040, 4000, 100_000} {
			text := "select '" + strings.Repeat("y", n) + "'"
			var got int
			if err := db.QueryRow(text).Scan(&got); err != nil || got != len(text) {
				t.Fatalf("packets of %s, %d characters: %d, %v", size, len(text), got, err)
			}
		}
	}
	var e mssql.Error
	db := r.db(t)
	if _, err := db.Exec("select '" + strings.Repeat("z", 1<<20) + "'"); err == nil {
		t.Fatal("a request above the limit went through")
	} else if errors.As(err, &e) && e.Number != 4002 {
		t.Fatalf("error %v", err)
	}
}

func TestTransactionRequests(t *testing.T) {
	t.Parallel()
	s := &script{}
	r := scripted(t, s)
	db := r.db(t)
	for _, commit := range []bool{true, false} {
		tx, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: sql.LevelSnapshot})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec("select 1"); err != nil {
			t.Fatal(err)
		}
		if commit {
			err = tx.Commit()
		} else {
			err = tx.Rollback()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := "begin 5 ;commit false 0 ;begin 5 ;rollback "
	if got := strings.Join(s.tran, ";"); got != want {
		t.Fatalf("requests %q, want %q", got, want)
	}
	if s.resets.Load() == 0 {
		t.Error("no reset between two users of a pooled connection")
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for _, enc := range []string{"encrypt=disable", "encrypt=true"} {
		t.Run(enc, func(t *testing.T) {
			t.Parallel()
			started := make(chan struct{}, 1)
			s := &script{batch: func(ctx context.Context, text string, out exec.Output) error {
				switch text {
				case "wait":
					if err := rows(out, true, 1); err != nil {
						return err
					}
					started <- struct{}{}
					<-ctx.Done()
					return ctx.Err()
				case "stream":
					started <- struct{}{}
					if err := out.Event(&exec.Columns{Columns: []exec.Column{{Name: "n", Type: types.Int}}}); err != nil {
						return err
					}
					for {
						if err := out.Row([]types.Value{types.NewInt(types.KindInt, 1)}); err != nil {
							return err
						}
					}
				}
				return rows(out, false, 7)
			}}
			r := scripted(t, s)
			db := r.db(t, enc, "trustservercertificate=true")
			db.SetMaxOpenConns(1)
			conn, err := db.Conn(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for range 3 {
				for _, text := range []string{"wait", "stream"} {
					ctx, cancel := context.WithCancel(context.Background())
					go func() { <-started; cancel() }()
					_, err = conn.ExecContext(ctx, text)
					if !errors.Is(err, context.Canceled) {
						t.Fatalf("%s: error %v", text, err)
					}
					var n int
					if err := conn.QueryRowContext(context.Background(), "after").Scan(&n); err != nil || n != 7 {
						t.Fatalf("the connection after a cancelled %s: %d, %v", text, n, err)
					}
				}
			}
		})
	}
}

func TestClientGone(t *testing.T) {
	t.Parallel()
	started, ended := make(chan struct{}), make(chan struct{})
	s := &script{batch: func(ctx context.Context, text string, out exec.Output) error {
		close(started)
		<-ctx.Done()
		close(ended)
		return ctx.Err()
	}}
	r := scripted(t, s)
	c := dialRaw(t, r)
	c.batch("wait")
	<-started
	c.nc.Close()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the request of a client that is gone was not cancelled")
	}
}

func TestKill(t *testing.T) {
	t.Parallel()
	s := &script{killed: make(chan struct{})}
	r := scripted(t, s)
	c := dialRaw(t, r)
	c.batch("select 1")
	c.answer()
	close(s.killed)
	_ = c.nc.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := c.nc.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
		t.Fatalf("the killed session's connection: %v", err)
	}
}

func TestShutdown(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	s := &script{batch: func(ctx context.Context, text string, out exec.Output) error {
		if text == "wait" {
			close(started)
			<-ctx.Done()
			return ctx.Err()
		}
		return out.Event(&exec.Done{})
	}}
	r := scripted(t, s)
	idle, busy := dialRaw(t, r), dialRaw(t, r)
	busy.batch("wait")
	<-started
	r.stop()
	toks := busy.answer()
	if n := toks.errorNumbers(); len(n) != 1 || n[0] != 6005 {
		t.Fatalf("errors %v", n)
	}
	_ = idle.nc.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := idle.nc.Read(make([]byte, 1)); err == nil {
		t.Fatal("the idle connection is still open")
	}
	if err := <-r.ended; err != nil {
		t.Fatal(err)
	}
	r.ended <- nil
	if n := s.closed.Load(); n != 2 {
		t.Fatalf("%d sessions closed", n)
	}
}

func TestSilentClient(t *testing.T) {
	t.Parallel()
	r := start(t, Options{PreloginTimeout: 50 * time.Millisecond}, func(o exec.SessionOptions) (session, error) {
		return &script{opts: o}, nil
	})
	nc, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_ = nc.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := nc.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Fatalf("a client that says nothing: %v", err)
	}
}
