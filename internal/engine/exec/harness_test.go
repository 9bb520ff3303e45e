package exec

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gostress/internal/engine/types"
)

// transcript writes the tokens of a request, one a line:
//
//	columns a int, b nvarchar(5)
//	row 1 | x
//	done SELECT 1
//	error 8134 16 1 line 2: ...
type transcript struct{ b strings.Builder }

func (t *transcript) Row(v []types.Value) error {
	parts := make([]string, len(v))
	for i := range v {
		parts[i] = "NULL"
		switch {
		case v[i].Kind().IsBinary():
			parts[i] = fmt.Sprintf("0x%X", v[i].Bytes())
		case !v[i].IsNull():
			parts[i] = types.Format(v[i])
		}
	}
	fmt.Fprintf(&t.b, "row %s\n", strings.Join(parts, " | "))
	return nil
}

var cmdNames = map[uint16]string{CmdSelect: "SELECT", CmdInsert: "INSERT", CmdDelete: "DELETE", CmdUpdate: "UPDATE", CmdMerge: "MERGE", CmdExecute: "EXECUTE", CmdOther: "other"}

func (t *transcript) Event(e Event) error {
	switch e := e.(type) {
	case *Columns:
		var parts []string
		for _, c := range e.Columns {
			parts = append(parts, strings.TrimSpace(c.Name+" "+c.Type.String()))
		}
		fmt.Fprintf(&t.b, "columns %s\n", strings.Join(parts, ", "))
	case *Done:
		fmt.Fprint(&t.b, [...]string{"done", "doneinproc", "doneproc"}[e.Kind], " ", cmdNames[e.Cmd])
		if e.HasCount {
			fmt.Fprint(&t.b, " ", e.Count)
		}
		for _, f := range []struct {
			on   bool
			name string
		}{{e.Error, "error"}, {e.InTran, "tran"}, {e.More, "more"}} {
			if f.on {
				fmt.Fprint(&t.b, " ", f.name)
			}
		}
		fmt.Fprintln(&t.b)
	case *Message:
		m := e.Err
		kind := "error"
		if m.Class <= 10 {
			kind = "info"
		}
		proc := ""
		if m.Proc != "" {
			proc = " in " + m.Proc
		}
		fmt.Fprintf(&t.b, "%s %d %d %d line %d%s: %s\n", kind, m.Number, m.Class, m.State, m.Line, proc, m.Text)
	case *ReturnStatus:
		fmt.Fprintf(&t.b, "status %d\n", e.Value)
	case *OutParam:
		v := "NULL"
		if !e.Value.IsNull() {
			v = types.Format(e.Value)
		}
		fmt.Fprintf(&t.b, "out %d %s %s = %s\n", e.Ordinal, e.Name, e.Type, v)
	case *EnvChange:
		fmt.Fprintf(&t.b, "env %s %s\n", [...]string{"", "database", "language", "begin", "commit", "rollback", "reset"}[e.Kind], e.New)
	case *Flush:
		fmt.Fprintln(&t.b, "flush")
	}
	return nil
}

// newTestEngine makes an engine with a fixed clock and seed.
func newTestEngine(t testing.TB) *Engine {
	t.Helper()
	clock := time.Date(2024, 5, 6, 7, 8, 9, 123456700, time.UTC)
	return New(Options{Version: "test", ServerName: "testserver", Seed: 42, Now: func() time.Time { return clock }})
}

func openSession(t testing.TB, e *Engine, db string) *Session {
	t.Helper()
	s, err := e.Open(SessionOptions{Login: "sa", App: "test", Host: "client", Database: db})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// testDB makes an engine with a database named d and a session in it. It has a
// memory-optimized filegroup.
func testDB(t testing.TB) (*Engine, *Session) {
	t.Helper()
	e := newTestEngine(t)
	s := openSession(t, e, "")
	run(t, s, `CREATE DATABASE d`)
	run(t, s, `ALTER DATABASE d ADD FILEGROUP m CONTAINS MEMORY_OPTIMIZED_DATA`)
	run(t, s, `ALTER DATABASE d ADD FILE (NAME = 'm1', FILENAME = '/m/m1') TO FILEGROUP m`)
	run(t, s, `USE d`)
	return e, s
}

// batch runs a batch and returns its transcript.
func batch(t testing.TB, s *Session, text string) string {
	t.Helper()
	var out transcript
	if err := s.Batch(context.Background(), text, &out); err != nil {
		fmt.Fprintf(&out.b, "fatal %v\n", err)
	}
	return out.b.String()
}

// run runs batches that must succeed.
func run(t testing.TB, s *Session, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if got := batch(t, s, text); strings.Contains(got, "error ") || strings.Contains(got, "fatal ") {
			t.Fatalf("%s\n%s", text, got)
		}
	}
}

// brief drops what most tests do not look at: Dones and column headers.
func brief(transcript string) string {
	var out []string
	for _, l := range strings.Split(strings.TrimSpace(transcript), "\n") {
		if strings.HasPrefix(l, "done") || strings.HasPrefix(l, "columns") || strings.HasPrefix(l, "env ") || strings.HasPrefix(l, "status ") || l == "" {
			continue
		}
		if strings.HasPrefix(l, "error ") || strings.HasPrefix(l, "info ") {
			// our wording is no part of what is tested
			if i := strings.Index(l, ": "); i > 0 && !strings.HasPrefix(l, "info 0 ") && !strings.HasPrefix(l, "error 50000 ") {
				l = l[:i]
			}
		}
		out = append(out, l)
	}
	return strings.Join(out, "\n")
}
