package observe

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gostress/internal/engine/exec"
	"gostress/internal/server"
	"gostress/pkg/driver"
	"gostress/pkg/target"
)

// serve runs the embedded engine and returns the way to it, under the name of a run.
func serve(t *testing.T) *target.Target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- server.Serve(ctx, server.Options{Listener: l, Engine: exec.New(exec.Options{Seed: 1}), Users: map[string]string{"sa": "Secret-1"}})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	tg, err := target.New(target.Options{Server: strings.Replace(l.Addr().String(), ":", ",", 1), User: "sa", Password: "Secret-1",
		Encrypt: target.EncryptOptional, TrustServerCertificate: true, AppName: "o'load 1"})
	if err != nil {
		t.Fatal(err)
	}
	return tg
}

func connect(t *testing.T, c driver.Connector) driver.Session {
	t.Helper()
	s, err := c.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func must(t *testing.T, s driver.Session, text string) [][][]any {
	t.Helper()
	sets, err := query(t.Context(), s, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return sets
}

// TestBlockedOthersOnTheEngine has a session of ours in the way of others.
func TestBlockedOthersOnTheEngine(t *testing.T) {
	t.Parallel()
	load := serve(t)
	ours, ours2, foreign := connect(t, load), connect(t, load), connect(t, load.Beside("but not of it"))
	must(t, ours, "CREATE DATABASE d")
	for _, s := range []driver.Session{ours, ours2, foreign} {
		must(t, s, "USE d")
	}
	must(t, ours, "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT t VALUES (1, 0)")
	o, err := Open(t.Context(), load.Beside("observer"), Options{AppName: "o'load 1", Conditions: []string{"blocked_others", "server_cpu", "log_send_queue_mb", "blocked_others"}})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	until := func(what string, ok func(v float64) bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(2 * time.Millisecond) {
			s, err := o.Conditions(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if q, known := s["log_send_queue_mb"]; q != 0 || !known {
				t.Fatalf("%v", s)
			}
			if ok(s["blocked_others"]) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %v", what, s)
			}
		}
	}
	waiting := func(n float64) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(2 * time.Millisecond) {
			if got, err := float(must(t, ours, "SELECT COUNT(*) FROM sys.dm_os_waiting_tasks WHERE wait_type = 'LCK_M_X'")[0][0][0]); err != nil || got == n {
				return
			}
			if time.Now().After(deadline) {
				t.Fatal("nobody waits")
			}
		}
	}
	update := func(s driver.Session) chan error {
		done := make(chan error, 1)
		go func() {
			_, err := query(t.Context(), s, "UPDATE t SET v = v + 1 WHERE id = 1")
			done <- err
		}()
		return done
	}
	must(t, ours, "BEGIN TRAN UPDATE t SET v = 1 WHERE id = 1")
	first := update(ours2)
	waiting(1)
	until("ours behind ours", func(v float64) bool { return v == 0 })
	second := update(foreign)
	until("another behind ours", func(v float64) bool { return v == 1 })
	must(t, ours, "ROLLBACK")
	if err := errors.Join(<-first, <-second); err != nil {
		t.Fatal(err)
	}
	until("after it", func(v float64) bool { return v == 0 })
	r := o.Result()
	if b := r.Conditions["blocked_others"]; b.Max != 1 || b.Last != 0 || r.Samples < 3 || r.FailedSamples != 0 || r.MeanUS <= 0 || r.MeanUS > r.MaxUS || r.Share != r.MeanUS/1e6 {
		t.Errorf("%+v", r)
	}
	name := must(t, ours, "SELECT program_name, lock_timeout, deadlock_priority FROM sys.dm_exec_sessions WHERE program_name LIKE '% observer'")
	if len(name[0]) != 1 || str(name[0][0][0]) != "o'load 1 observer" {
		t.Errorf("%v", name)
	}
}

func TestOpenNamesWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	load := serve(t)
	for condition, want := range map[string]string{
		"log_used": "log_used: cannot read sys.dm_db_log_space_usage in database master: the server says that the database has a log of no size",
		"p99":      "p99 is no condition of a server",
	} {
		o, err := Open(t.Context(), load, Options{Conditions: []string{condition}})
		if err == nil {
			o.Close()
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", condition, err)
		}
	}
}

// answers is a server that answers each query by its text, and counts connections.
type answers struct {
	edition int64
	version string
	err     func() error // of a sample; nil is none
	opened  int
	closed  int
}

func (a *answers) Connect(context.Context) (driver.Session, error) {
	a.opened++
	return a, nil
}

func (a *answers) Close() error { a.closed++; return nil }

func (a *answers) Do(_ context.Context, r *driver.Request, sink driver.Sink) (driver.Outcome, error) {
	if err := sink.Event(driver.SinkEvent{Kind: driver.SinkColumns}); err != nil {
		return driver.Outcome{}, err
	}
	if strings.HasSuffix(r.Text, factsQuery) {
		return driver.Outcome{}, sink.Row([]any{a.edition, a.version, "d"})
	}
	err := a.err()
	var e driver.ServerError
	if errors.As(err, &e) {
		return driver.Outcome{Errors: []driver.ServerError{e}}, nil
	}
	return driver.Outcome{}, err
}

func TestPermissionsAreNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server answers
		number int32
		want   string
	}{
		"2019":         {answers{edition: 3, version: "15.0.4375.4"}, 300, "may not read sys.dm_os_waiting_tasks: it needs VIEW SERVER STATE (GRANT"},
		"2022":         {answers{edition: 3, version: "16.0.4165.4"}, 300, "needs VIEW SERVER PERFORMANCE STATE (GRANT"},
		"Azure":        {answers{edition: 5, version: "12.0.2000.8"}, 262, "needs VIEW DATABASE PERFORMANCE STATE"},
		"missing view": {answers{edition: 3, version: "10.50.1600.1"}, 208, "version 10.50.1600.1 of the server has no sys.dm_os_waiting_tasks"},
		"another":      {answers{edition: 3, version: "16.0.4165.4"}, 1222, "cannot read sys.dm_os_waiting_tasks in database d: error 1222"},
	} {
		c.server.err = func() error { return driver.ServerError{Number: c.number, Class: 14} }
		_, err := Open(t.Context(), &c.server, Options{Conditions: []string{"blocked_others"}})
		if err == nil || !strings.Contains(err.Error(), c.want) || c.server.closed != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFailuresCostANote takes an observer through what can go wrong while a run goes on.
func TestFailuresCostANote(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		opened int // connections in all
		notes  int
		back   bool // it reads again
	}{
		"an error of the server's": {driver.ServerError{Number: 1222}, 1, 2, true},
		"a lost connection":        {&driver.LostError{}, 2, 2, true},
		"an administrator's KILL":  {&driver.LostError{Number: 596}, 1, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var now error
				a := &answers{edition: 3, version: "16.0.4165.4", err: func() error { return now }}
				var notes []string
				o, err := Open(t.Context(), a, Options{Conditions: []string{"blocked_others"}, Note: func(s string) { notes = append(notes, s) }})
				if err != nil {
					t.Fatal(err)
				}
				now = c.err
				for range 2 {
					if s, err := o.Conditions(t.Context()); err == nil {
						t.Errorf("%v", s)
					}
				}
				now = nil
				time.Sleep(reopenAfter)
				s, err := o.Conditions(t.Context())
				if _, ok := s["blocked_others"]; ok != c.back || (err == nil) != c.back {
					t.Errorf("%v, %v", s, err)
				}
				if a.opened != c.opened || len(notes) != c.notes || !strings.Contains(notes[0], "cannot be read") {
					t.Errorf("%d connections, %q", a.opened, notes)
				}
				if err := o.Close(); err != nil || a.closed != a.opened {
					t.Errorf("%d of %d closed, %v", a.closed, a.opened, err)
				}
			})
		})
	}
}
