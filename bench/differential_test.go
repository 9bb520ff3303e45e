package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gostress/internal/engine/exec"
	"gostress/internal/server"
	"gostress/pkg/driver"
	"gostress/pkg/target"
)

// engine starts the embedded engine.
func engine(t *testing.T) *child {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- server.Serve(ctx, server.Options{Listener: ln, Engine: exec.New(exec.Options{Version: "test"}), Users: map[string]string{"sa": secret}})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return &child{clear: ln.Addr().String(), tls: ln.Addr().String()}
}

// both opens a session of either kind.
func both(t *testing.T, encrypt bool) map[string]driver.Session {
	t.Helper()
	srv := engine(t)
	out := map[string]driver.Session{}
	for _, w := range []target.Wire{target.WireTDS, target.WireMSSQL} {
		c, err := newTargets(w).open(t.Context(), srv, encrypt, request{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.close() })
		out[string(w)] = c.(*do).s
	}
	return out
}

// log is a driver.Sink that writes down what it is given.
type log struct{ lines []string }

func (l *log) Row(values []any) error {
	var b strings.Builder
	for _, v := range values {
		if d, ok := v.(time.Time); ok {
			v = d.Format(time.RFC3339Nano)
		}
		fmt.Fprintf(&b, " %T(%v)", v, v)
	}
	l.lines = append(l.lines, "row"+b.String())
	return nil
}

func (l *log) Event(e driver.SinkEvent) error {
	switch e.Kind {
	case driver.SinkColumns:
		for _, c := range e.Columns {
			// go-mssqldb knows no numeric, and tells lengths and scales of its own making.
			l.lines = append(l.lines, fmt.Sprintf("column %s %s %v", c.Name, strings.Replace(c.Type.Name, "numeric", "decimal", 1), c.Nullable))
		}
	case driver.SinkDone:
		l.lines = append(l.lines, fmt.Sprintf("done %d %v", e.Affected, e.HasCount))
	case driver.SinkMessage:
		l.lines = append(l.lines, fmt.Sprintf("message %+v", e.Message))
	}
	return nil
}

// gen makes requests.
type gen struct{ *rand.Rand }

func (g gen) pick(s ...string) string { return s[g.IntN(len(s))] }

func (g gen) value() string {
	return g.pick("NULL", "1", "-7", "CAST(200 AS tinyint)", "CAST(-3 AS smallint)", "CAST(9007199254740993 AS bigint)", "CAST(1 AS bit)", "1.5", "-0.05",
		"CAST(12345.678 AS decimal(38,10))", "CAST(-99.5 AS money)", "CAST(1.25 AS smallmoney)", "CAST(1e300 AS float)", "CAST(0.1 AS real)",
		"N'日本 😀'", "'caf'+CHAR(233)", "CAST('x' AS char(5))", "CAST(N'y' AS nchar(3))", "''", "CAST(0x0102 AS varbinary(8))", "CAST(0x FF AS binary(3))",
		"CAST('2024-02-29' AS date)", "CAST('23:59:59.9999999' AS time(7))", "CAST('12:00' AS time(0))", "CAST('2024-02-29T12:34:56.789' AS datetime)",
		"CAST('1999-12-31T23:59:59.1234567' AS datetime2(7))", "CAST('1999-12-31T23:59:59.123' AS datetime2(3))", "CAST('2001-02-03T04:05:00' AS smalldatetime)",
		"CAST('2024-02-29T12:34:56.5 +05:30' AS datetimeoffset(3))", "CAST('6F9619FF-8B86-D011-B42D-00C04FC964FF' AS uniqueidentifier)",
		"REPLICATE(CAST(N'ab' AS nvarchar(max)), 3000)", "REPLICATE('z', 5000)", "CAST('m' AS varchar(max))", "CAST(NULL AS nvarchar(max))", "CAST(0x01 AS varbinary(max))",
		"CAST(NULL AS int)", "CAST(NULL AS decimal(9,2))", "CAST(NULL AS datetime)", "CAST(NULL AS uniqueidentifier)", "@@TRANCOUNT", "DB_NAME()")
}

func (g gen) statement() string {
	switch g.IntN(13) {
	case 0, 1, 2, 3:
		n := 1 + g.IntN(6)
		cols := make([]string, n)
		for i := range cols {
			cols[i] = fmt.Sprintf("%s AS c%d", g.value(), i)
		}
		return "SELECT " + strings.Join(cols, ", ")
	case 4:
		return fmt.Sprintf("SELECT i, s, d FROM #t WHERE i > %d", g.IntN(20))
	case 5:
		return fmt.Sprintf("INSERT INTO #t (i, s, d) VALUES (%d, N'%s', %s)", g.IntN(20), g.pick("a", "ü", ""), g.pick("NULL", "1.5"))
	case 6:
		return fmt.Sprintf("UPDATE #t SET s = %s WHERE i < %d", g.pick("N'new'", "NULL"), g.IntN(20))
	case 7:
		return fmt.Sprintf("DELETE FROM #t WHERE i = %d", g.IntN(20))
	case 8:
		return g.pick("PRINT N'hello'", "PRINT ''", "RAISERROR(N'mild', 5, 2)", "RAISERROR(N'wild', 16, 3)")
	case 9:
		return g.pick("SELECT 1/0", "SELECT * FROM nowhere", "SELECT CAST('x' AS int)", "INSERT INTO #t (i) VALUES (NULL)")
	case 10:
		return g.pick("BEGIN TRAN", "IF @@TRANCOUNT > 0 COMMIT", "IF @@TRANCOUNT > 0 ROLLBACK")
	case 11:
		return g.pick("SET NOCOUNT ON", "SET NOCOUNT OFF", "DECLARE @x int; SELECT @x = 5")
	}
	return "EXEC #nothing"
}

func (g gen) request() *driver.Request {
	if g.IntN(4) == 0 {
		typ := func(n string) driver.SQLType { return driver.SQLType{Name: n} }
		return &driver.Request{Text: "SELECT @a AS a, @b AS b, @c AS c, @d AS d; PRINT @b", Params: []driver.Param{
			{Name: "@a", Type: typ("int"), Value: int64(g.IntN(1000))},
			{Name: "@b", Type: driver.SQLType{Name: "nvarchar", Len: -1}, Value: g.pick("", "ä", strings.Repeat("long ", 1000))},
			{Name: "@c", Type: typ("float"), Value: g.Float64()},
			{Name: "@d", Type: driver.SQLType{Name: "datetime2", Scale: 7}, Value: time.Unix(g.Int64N(4e9), g.Int64N(1e9)).UTC()},
		}}
	}
	n := 1 + g.IntN(4)
	parts := make([]string, n)
	for i := range parts {
		parts[i] = g.statement()
	}
	return &driver.Request{Text: strings.Join(parts, ";\n") + "\n"}
}

// The same random requests through go-mssqldb and through our own wire give the
// same columns, rows, counts, messages and errors in the same order.
func TestSessionsAgree(t *testing.T) {
	t.Parallel()
	for _, encrypt := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS %v", encrypt), func(t *testing.T) {
			t.Parallel()
			agree(t, both(t, encrypt), gen{rand.New(rand.NewPCG(1, 2))}, 400)
		})
	}
}

// FuzzSessionsAgree does so with requests of any seed.
func FuzzSessionsAgree(f *testing.F) {
	f.Add(uint64(1), false)
	f.Add(uint64(2), true)
	f.Fuzz(func(t *testing.T, seed uint64, encrypt bool) {
		agree(t, both(t, encrypt), gen{rand.New(rand.NewPCG(seed, seed))}, 50)
	})
}

// agree sends n random requests over either session and compares what comes back.
func agree(t *testing.T, sessions map[string]driver.Session, g gen, n int) {
	t.Helper()
	names := []string{"go-mssqldb", "tds"}
	r := &driver.Request{Text: "CREATE TABLE #t (i int NOT NULL, s nvarchar(20) NULL, d decimal(9,2) NULL)\n"}
	for i := range n {
		var outs, counted []driver.Outcome
		var logs []string
		for _, name := range names {
			l := &log{}
			out, err := sessions[name].Do(t.Context(), r, l)
			if err != nil {
				t.Fatalf("request %d through %s: %v\n%s", i, name, err, r.Text)
			}
			outs, logs = append(outs, out), append(logs, strings.Join(l.lines, "\n"))
		}
		if d := cmp.Diff(outs[0], outs[1]) + cmp.Diff(logs[0], logs[1]); d != "" {
			t.Fatalf("request %d:\n%s\n%s", i, r.Text, d)
		}
		if strings.HasPrefix(r.Text, "SELECT") {
			for _, name := range names {
				out, err := sessions[name].Do(t.Context(), r, nil)
				if err != nil {
					t.Fatalf("request %d through %s: %v\n%s", i, name, err, r.Text)
				}
				counted = append(counted, out)
			}
			if d := cmp.Diff(counted[0], counted[1]); d != "" {
				t.Fatalf("request %d, counted:\n%s\n%s", i, r.Text, d)
			}
		}
		r = g.request()
	}
}

// Procedure calls with tables and output parameters reach the server alike.
func TestCallsAgree(t *testing.T) {
	t.Parallel()
	sessions := both(t, false)
	one := sessions["tds"]
	for _, text := range []string{
		"CREATE TYPE dbo.Line AS TABLE (q smallint, p int, o int)",
		"CREATE TABLE dbo.Seen (n int, d datetime2(7), q smallint, p int, o int)",
		"CREATE PROCEDURE dbo.take @id int OUTPUT, @d datetime2(7), @c int, @l dbo.Line READONLY AS BEGIN SET @id = 5; INSERT INTO dbo.Seen SELECT @c, @d, q, p, o FROM @l; RETURN 3 END",
	} {
		out, err := one.Do(t.Context(), &driver.Request{Text: text}, nil)
		if err != nil || len(out.Errors) > 0 {
			t.Fatalf("%s: %v %v", text, err, out.Errors)
		}
	}
	lines := []*driver.Table{}
	for k := range int64(3) {
		tb := &driver.Table{Schema: "dbo", Name: "Line", Columns: []driver.SQLType{{Name: "smallint"}, {Name: "int"}, {Name: "int"}}}
		for i := range k {
			tb.Rows = append(tb.Rows, []any{i, 100 * k, i})
		}
		lines = append(lines, tb)
	}
	for i := range 12 {
		r := &driver.Request{Kind: driver.RPC, Proc: "dbo.take", Params: []driver.Param{
			{Type: driver.SQLType{Name: "int"}, Output: true},
			{Type: driver.SQLType{Name: "datetime2", Scale: 7}, Value: time.Unix(int64(i)*1e8, 123456700).UTC()},
			{Type: driver.SQLType{Name: "int"}, Value: int64(i)},
			{Type: driver.SQLType{Schema: "dbo", Name: "Line"}, Value: lines[i%3]},
		}}
		var outs []driver.Outcome
		var logs [][]string
		for _, name := range []string{"go-mssqldb", "tds"} {
			l := &log{}
			out, err := sessions[name].Do(t.Context(), r, l)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			outs, logs = append(outs, out), append(logs, l.lines)
			if out.Affected != int64(len(lines[i%3].Rows)) {
				t.Errorf("%s: %+v", name, out)
			}
		}
		if d := cmp.Diff(outs[0], outs[1]) + cmp.Diff(logs[0], logs[1]); d != "" {
			t.Error(d)
		}
	}
	l := &log{}
	out, err := one.Do(t.Context(), &driver.Request{Text: "SELECT n, d, q, p, o, COUNT(*) FROM dbo.Seen GROUP BY n, d, q, p, o HAVING COUNT(*) <> 2"}, l)
	if err != nil || out.Rows != 0 || len(out.Errors) > 0 {
		t.Errorf("%v %+v\n%s", err, out, strings.Join(l.lines, "\n"))
	}
}

// A cancelled request leaves either session fit for use.
func TestCancelsAgree(t *testing.T) {
	t.Parallel()
	for name, s := range both(t, true) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		out, err := s.Do(ctx, &driver.Request{Text: "SELECT 1; WAITFOR DELAY '00:01:00'"}, nil)
		if !errors.Is(err, context.Canceled) || name == "tds" && out.Rows != 1 { // go-mssqldb may drop the row
			t.Errorf("%s: %+v %v", name, out, err)
		}
		if out, err := s.Do(t.Context(), &driver.Request{Text: "SELECT 1 AS n"}, nil); err != nil || out.Rows != 1 {
			t.Errorf("%s: %+v %v", name, out, err)
		}
		_ = s.Close()
		var lost *driver.LostError
		if _, err := s.Do(t.Context(), &driver.Request{Text: "SELECT 1 AS n"}, nil); !errors.As(err, &lost) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
