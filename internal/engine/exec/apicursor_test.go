package exec

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"gostress/internal/engine/types"
)

// out marks an OUTPUT parameter and its value on the way in.
type out struct{ v any }

// rpc calls a procedure with positional parameters and returns the transcript
// on one line: rows as {..}, errors and infos by number.
func rpc(t testing.TB, s *Session, proc string, args ...any) string {
	t.Helper()
	c := Call{Proc: proc}
	for _, a := range args {
		p := Param{Type: types.Int}
		if o, ok := a.(out); ok {
			p.Output, a = true, o.v
		}
		switch v := a.(type) {
		case int:
			p.Value = types.NewInt(types.KindInt, int64(v))
		case string:
			p.Type = types.NVarChar(4000)
			p.Value = types.NewString(types.KindNVarChar, v)
		case nil:
		default:
			t.Fatalf("an argument of type %T", a)
		}
		c.Params = append(c.Params, p)
	}
	var o transcript
	if err := s.Call(context.Background(), &c, &o); err != nil {
		fmt.Fprintf(&o.b, "fatal %v\n", err)
	}
	var parts []string
	for _, l := range strings.Split(strings.TrimSpace(o.b.String()), "\n") {
		f := strings.Fields(l)
		switch f[0] {
		case "row":
			l = "{" + strings.TrimPrefix(l, "row ") + "}"
		case "error", "info":
			l = f[0] + " " + f[1]
		case "out":
			l = "@" + f[1] + "=" + f[len(f)-1]
		case "status":
			l = "=" + f[1]
		case "doneinproc":
			l = ""
			if len(f) > 2 && f[2] != "more" {
				l = "(" + f[2] + ")"
			}
		case "doneproc":
			l = ""
		}
		if l != "" {
			parts = append(parts, l)
		}
	}
	return strings.Join(parts, " ")
}

type rpcCase struct {
	name string
	proc string
	args []any
	want string
}

func runRPC(t *testing.T, s *Session, cases []rpcCase) {
	t.Helper()
	for _, c := range cases {
		if got := rpc(t, s, c.proc, c.args...); got != c.want {
			t.Errorf("%s: %s%v\n got: %s\nwant: %s", c.name, c.proc, c.args, got, c.want)
		}
	}
}

func args(a ...any) []any { return a }

func cursorDB(t *testing.T) *Session {
	t.Helper()
	_, s := testDB(t)
	run(t, s, `CREATE TABLE k (id int NOT NULL PRIMARY KEY, v nvarchar(5))`, `INSERT k VALUES (1,'a'),(2,'b'),(3,'c'),(4,'d'),(5,'e')`,
		`CREATE TABLE heap (id int)`, `INSERT heap VALUES (1)`,
		`CREATE TABLE mem (id int NOT NULL PRIMARY KEY NONCLUSTERED) WITH (MEMORY_OPTIMIZED = ON)`, `INSERT mem VALUES (7)`,
		`CREATE PROCEDURE one @i int AS SELECT id FROM k WHERE id > @i ORDER BY id`, `CREATE PROCEDURE two AS SELECT 1 AS a SELECT 2 AS b`)
	return s
}

const query = "SELECT id, v FROM k ORDER BY id"

func TestServerCursorStatic(t *testing.T) {
	t.Parallel()
	s := cursorDB(t)
	head := "columns id int, v nvarchar(5), ROWSTAT int "
	const h = 180150003
	fetch := func(name string, want string, a ...any) rpcCase {
		return rpcCase{name, "sp_cursorfetch", append([]any{h}, a...), head + want}
	}
	runRPC(t, s, []rpcCase{
		{"open", "sp_cursoropen", args(out{}, query, out{8}, out{1}, out{2}), head + "(0) =0 @0=180150003 @2=8 @3=1 @4=5"},
		{"info before the first row", "sp_cursorfetch", args(h, 0x100, out{}, out{}), "=0 @2=0 @3=5"},
		fetch("next", "{1 | a | 1} {2 | b | 1} (2) =0", 2, 0, 2),
		fetch("next again", "{3 | c | 1} {4 | d | 1} (2) =0", 2, 0, 2),
		{"info", "sp_cursorfetch", args(h, 0x100, out{}, out{}), "=0 @2=3 @3=5"},
		fetch("refresh", "{3 | c | 1} {4 | d | 1} (2) =0", 0x80, 0, 0),
		fetch("the rest", "{5 | e | 1} (1) =0", 2, 0, 2),
		fetch("after the last", "(0) =0", 2, 0, 2),
		{"info after the last row", "sp_cursorfetch", args(h, 0x100, out{}, out{}), "=0 @2=-1 @3=5"},
		fetch("previous", "{4 | d | 1} {5 | e | 1} (2) =0", 4, 0, 2),
		fetch("previous is adjusted", "{1 | a | 1} {2 | b | 1} {3 | c | 1} {4 | d | 1} {5 | e | 1} (5) =2", 4, 0, 5),
		fetch("before the first", "(0) =0", 4, 0, 2),
		fetch("absolute", "{4 | d | 1} {5 | e | 1} (2) =0", 16, 4, 3),
		fetch("previous without adjusting", "{1 | a | 1} {2 | b | 1} {3 | c | 1} (3) =0", 0x200, 6, 5),
		fetch("absolute from the end", "{4 | d | 1} {5 | e | 1} (2) =0", 16, -2, 5),
		fetch("absolute beyond", "(0) =0", 16, 9, 1),
		fetch("relative", "{4 | d | 1} (1) =0", 32, -2, 1),
		fetch("relative on", "{5 | e | 1} (1) =0", 32, 1, 1),
		fetch("last", "{3 | c | 1} {4 | d | 1} {5 | e | 1} (3) =0", 8, 0, 3),
		fetch("first", "{1 | a | 1} (1) =0", 1, 0, 1),
		fetch("first of none", "(0) =0", 1, 0, 0),
		fetch("next is the first", "{1 | a | 1} (1) =0", 2, 0, 1),
		fetch("skip the row version", "{2 | b | 1} (1) =0", 0x402, 0, 1),
		fetch("twenty by default", "{3 | c | 1} {4 | d | 1} {5 | e | 1} (3) =0"),
		{"wrong type", "sp_cursorfetch", args(h, 3), "error 16902"},
		{"no rows of next", "sp_cursorfetch", args(h, 2, 0, 0), "error 16902"},
		{"negative rows", "sp_cursorfetch", args(h, 1, 0, -1), "error 16902"},
		{"update", "sp_cursor", args(h, 1, 1, "k", 5), "error 16929"},
		{"position", "sp_cursor", args(h, 0x20, 2), "=0"},
		{"position outside", "sp_cursor", args(h, 0x20, 4), "error 16930"},
		{"option type", "sp_cursoroption", args(h, 4, out{}), "=0 @2=8"},
		{"option rows", "sp_cursoroption", args(h, 6, out{}), "=0 @2=5"},
		{"option text", "sp_cursoroption", args(h, 1, 0), "error 40517"},
		{"name", "sp_cursoroption", args(h, 2, "crs"), "=0"},
		{"close", "sp_cursorclose", args(h), "=0"},
		{"closed", "sp_cursorclose", args(h), "error 16909"},
		{"fetch of the closed", "sp_cursorfetch", args(h), "error 16909"},
		{"no handle", "sp_cursorfetch", nil, "error 16903"},
	})
}

func TestServerCursorKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text      string
		scroll, control any
		want            string // the options that came out, or the error
	}{
		{"static", query, 8, 1, "@2=8 @3=1 @4=5"},
		{"static by default read-only", query, 8, nil, "@2=8 @3=1 @4=5"},
		{"forward-only", query, 4, 1, "@2=4 @3=1 @4=-1"},
		{"fast forward", query, 16, 1, "@2=16 @3=1 @4=-1"},
		{"static with locks", query, 8, 2, "error 16966"},
		{"fast forward optimistic", query, 16, 4, "error 16966"},
		{"forward-only with locks", query, 4, 2, "error 16955"},
		{"keyset", query, 1, 1, "error 16955"},
		{"dynamic", query, 2, 1, "error 16955"},
		{"nothing said is keyset", query, nil, nil, "error 16955"},
		{"keyset where static is acceptable", query, 1 | 0x8000 | 0x80000, 1, "@2=8 @3=1 @4=5"},
		{"keyset of groups", "SELECT v, COUNT(*) AS n FROM k GROUP BY v", 1, 4, "@2=8 @3=1 @4=5"},
		{"dynamic of a total", "SELECT COUNT(*) AS n FROM k", 2, 2, "@2=8 @3=1 @4=1"},
		{"keyset without a table", "SELECT 1 AS n", 1, 4, "@2=8 @3=1 @4=1"},
		{"keyset of a union", "SELECT id FROM k UNION SELECT 9", 1, 4, "@2=8 @3=1 @4=6"},
		{"keyset over a heap", "SELECT id FROM heap", 1, 4, "@2=8 @3=1 @4=1"},
		{"keyset over a memory-optimized table", "SELECT id FROM mem", 1, 4, "@2=8 @3=1 @4=1"},
		{"keyset over a system view", "SELECT TOP 2 name FROM sys.databases", 1, 4, "@2=8 @3=1 @4=2"},
		{"two types", query, 12, 1, "error 16902"},
		{"two concurrencies", query, 8, 3, "error 16902"},
		{"auto fetch of another type", query, 8 | 0x2000, 1, "error 16902"},
		{"procedure", "EXEC one 3", 8, 1, "@2=8 @3=1 @4=2"},
		{"procedure of two queries", "EXEC two", 8, 1, "error 16937"},
		{"two queries", "SELECT 1 SELECT 2", 8, 1, "error 16938"},
		{"no query", "DELETE FROM heap WHERE id = 99", 8, 1, "error 16938"},
		{"assignment", "DECLARE @x int SELECT @x = 1", 8, 1, "error 16938"},
		{"run as it is", "DELETE FROM heap WHERE id = 99", 8, 0x2001, "info 16954 (0) =0 @0=0 @2=8 @3=1 @4=0"},
		{"queries run as they are", "SELECT 1 AS a SELECT 2 AS b", 8, 0x2001, "info 16954 columns a int {1} (1) columns b int {2} (1) =0 @0=0 @2=8 @3=1 @4=0"},
		{"procedure run as it is", "EXEC two", 8, 0x2001, "info 16954 columns a int {1} (1) columns b int {2} (1) =0 @0=0 @2=8 @3=1 @4=0"},
		{"direct allowed and a query", query, 8, 0x2001, "@2=8 @3=1 @4=5"},
		{"no table", "SELECT * FROM nope", 8, 1, "error 208 error 16945"},
		{"no syntax", "SELECT FROM", 8, 1, "error 156 error 16945"},
		{"a row fails", "SELECT 1 / (id - 3) AS x FROM k", 8, 1, "error 8134"},
	} {
		s := cursorDB(t)
		got := rpc(t, s, "sp_cursoropen", out{}, c.text, out{c.scroll}, out{c.control}, out{})
		if i := strings.Index(got, "@2="); i > 0 && strings.HasPrefix(c.want, "@2=") {
			got = got[i:]
		}
		if got != c.want {
			t.Errorf("%s\n got: %s\nwant: %s", c.name, got, c.want)
		}
		if n := len(s.apiCursors); n != 0 != strings.HasPrefix(c.want, "@2=") {
			t.Errorf("%s: %d cursors", c.name, n)
		}
		s.Close()
		if n := s.e.cursorBytes.Load(); n != 0 {
			t.Errorf("%s: %d bytes are still counted", c.name, n)
		}
	}
}

func TestServerCursorForward(t *testing.T) {
	t.Parallel()
	s := cursorDB(t)
	head := "columns id int, ROWSTAT int "
	const text = "SELECT id FROM k WHERE id > @i ORDER BY id"
	runRPC(t, s, []rpcCase{
		{"open with parameters and rows", "sp_cursoropen", args(out{}, text, out{0x1000 | 0x2000 | 16}, out{1}, out{2}, "@i int", 2), head + "{3 | 1} {4 | 1} (2) =0 @0=180150003 @2=16 @3=1 @4=2"},
		{"the rest", "sp_cursorfetch", args(180150003, 2, 0, 2), head + "{5 | 1} (1) =0"},
		{"the end", "sp_cursorfetch", args(180150003, 2, 0, 2), head + "(0) =0"},
		{"back", "sp_cursorfetch", args(180150003, 4, 0, 2), "error 16911"},
		{"last", "sp_cursorfetch", args(180150003, 8, 0, 2), "error 16911"},
		{"absolute", "sp_cursorfetch", args(180150003, 16, 1, 2), "error 16911"},
		{"close", "sp_cursorclose", args(180150003), "=0"},
		{"all at once closes", "sp_cursoropen", args(out{}, text, out{0x1000 | 0x6000 | 16}, out{1}, out{20}, "@i int", 2), head + "{3 | 1} {4 | 1} {5 | 1} (3) =16 @0=0 @2=16 @3=1 @4=3"},
		{"some at once", "sp_cursoropen", args(out{}, text, out{0x1000 | 0x6000 | 16}, out{1}, out{2}, "@i int", 2), head + "{3 | 1} {4 | 1} (2) =0 @0=180150005 @2=16 @3=1 @4=2"},
		{"the end closes", "sp_cursorfetch", args(180150005, 2, 0, 2), head + "{5 | 1} (1) =16"},
		{"closed", "sp_cursorfetch", args(180150005, 2, 0, 2), "error 16909"},
		{"parameters without the flag", "sp_cursoropen", args(out{}, text, out{16}, out{1}, out{2}, "@i int", 2), "error 16914"},
		{"a parameter is missing", "sp_cursoropen", args(out{}, text, out{0x1000 | 16}, out{1}, out{2}, "@i int"), "error 8178"},
	})
}

func TestServerCursorPrepared(t *testing.T) {
	t.Parallel()
	s := cursorDB(t)
	head := "columns id int, ROWSTAT int "
	const text = "SELECT id FROM k WHERE id > @i ORDER BY id"
	runRPC(t, s, []rpcCase{
		{"prepare", "sp_cursorprepare", args(out{}, "@i int", text, 1, out{8}, out{1}), "columns id int (0) =0 @0=1 @4=8 @5=1"},
		{"execute", "sp_cursorexecute", args(1, out{}, out{8}, out{1}, out{}, 3), head + "(0) =0 @1=180150003 @2=8 @3=1 @4=2"},
		{"fetch", "sp_cursorfetch", args(180150003, 2, 0, 9), head + "{4 | 1} {5 | 1} (2) =0"},
		{"no plain statement", "sp_execute", args(1, 3), "error 8179"},
		{"not that one either", "sp_unprepare", args(1), "error 8179"},
		{"unprepare", "sp_cursorunprepare", args(1), "=0"},
		{"the cursor stays", "sp_cursorfetch", args(180150003, 1, 0, 1), head + "{4 | 1} (1) =0"},
		{"no handle", "sp_cursorexecute", args(1, out{}, out{8}, out{1}, out{}, 3), "error 8179"},
		{"prepexec", "sp_cursorprepexec", args(out{}, out{}, "@i int", text, out{0x1000 | 0x2000 | 16}, out{0x2001}, out{1}, 3), head + "{4 | 1} (1) =0 @0=2 @1=180150005 @4=16 @5=1 @6=1"},
		{"keyset", "sp_cursorprepexec", args(out{}, out{}, "@i int", text, out{1}, out{1}, out{}, 3), "error 16955"},
		{"its handle went", "sp_cursorunprepare", args(3), "error 8179"},
		{"not prepared", "sp_cursorprepexec", args(out{}, out{}, nil, "SELECT * FROM nope", out{8}, out{1}, out{}), "error 208 error 8180"},
		{"no query", "sp_cursorprepare", args(out{}, nil, "DELETE FROM heap", 1, out{8}, out{1}), "error 16938 error 8180"},
		{"no query is fine", "sp_cursorprepare", args(out{}, nil, "DELETE FROM heap WHERE id = 99", 1, out{8}, out{0x2001}), "=8182 @0=4 @4=8 @5=1"},
		{"and runs", "sp_cursorexecute", args(4, out{}, out{8}, out{0x2001}, out{}), "info 16954 (0) =0 @1=0 @2=8 @3=1 @4=0"},
	})
}

func TestServerCursorLife(t *testing.T) {
	t.Parallel()
	s := cursorDB(t)
	open := func(scroll int) string {
		got := rpc(t, s, "sp_cursoropen", out{}, query, out{scroll}, out{1}, out{})
		i := strings.Index(got, "@0=")
		if i < 0 {
			t.Fatal(got)
		}
		return strings.Fields(got[i+3:])[0]
	}
	state := func() string {
		var parts []string
		for h := int32(180150003); h <= 180150001+2*s.nextCursor; h += 2 {
			got := rpc(t, s, "sp_cursorfetch", int(h), 1, 0, 1)
			switch {
			case strings.Contains(got, "{1"):
				got = "open"
			case got == "error 16917":
				got = "closed"
			}
			parts = append(parts, got)
		}
		return strings.Join(parts, " ")
	}
	open(8)
	open(4)
	run(t, s, `BEGIN TRAN`, `COMMIT`)
	if got := state(); got != "open open" {
		t.Errorf("after a commit: %s", got)
	}
	run(t, s, `BEGIN TRAN`, `ROLLBACK`)
	if got := state(); got != "open closed" {
		t.Errorf("after a rollback: %s", got)
	}
	run(t, s, `SET CURSOR_CLOSE_ON_COMMIT ON`, `BEGIN TRAN`, `COMMIT`)
	if got := state(); got != "closed closed" {
		t.Errorf("after a commit that closes: %s", got)
	}
	if got := rpc(t, s, "sp_cursorclose", 180150003); got != "=0" {
		t.Errorf("closing a closed cursor: %s", got)
	}
	// T-SQL sees a cursor that has a name.
	run(t, s, `SET CURSOR_CLOSE_ON_COMMIT OFF`)
	h := open(8)
	if h != "180150007" {
		t.Fatal(h)
	}
	if got := rpc(t, s, "sp_cursoroption", 180150007, 2, "crs"); got != "=0" {
		t.Error(got)
	}
	if got := brief(batch(t, s, `FETCH NEXT FROM crs`)); !strings.HasPrefix(got, "row 1 | a") {
		t.Error(got)
	}
	s.Reset(false)
	if got := rpc(t, s, "sp_cursorfetch", 180150007); got != "error 16909" {
		t.Errorf("after a reset: %s", got)
	}
	if n := s.e.cursorBytes.Load(); n != 0 {
		t.Errorf("%d bytes are still counted", n)
	}
}

func TestServerCursorMemory(t *testing.T) {
	t.Parallel()
	e := New(Options{ServerName: "testserver", CursorMemory: 100_000})
	s := openSession(t, e, "")
	run(t, s, `CREATE TABLE #n (n int)`, `INSERT #n VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10)`)
	const large = "SELECT a.n, REPLICATE('x', 1000) AS x FROM #n a CROSS JOIN #n b CROSS JOIN #n c"
	if got := rpc(t, s, "sp_cursoropen", out{}, large, out{8}, out{1}, out{}); got != "error 1105" {
		t.Error(got)
	}
	if got := brief(batch(t, s, "DECLARE c CURSOR FOR "+large+" OPEN c")); !strings.HasPrefix(got, "error 1105") {
		t.Error(got)
	}
	if got := e.cursorBytes.Load(); got != 0 {
		t.Errorf("%d bytes are still counted", got)
	}
	if got := rpc(t, s, "sp_cursoropen", out{}, "SELECT n FROM #n", out{8}, out{1}, out{}); !strings.HasSuffix(got, "@4=10") {
		t.Error(got)
	}
}

func TestServerCursorFromTSQL(t *testing.T) {
	t.Parallel()
	s := cursorDB(t)
	got := brief(batch(t, s, `DECLARE @c int, @s int = 8, @o int = 1, @r int
EXEC sp_cursoropen @c OUTPUT, N'SELECT id FROM k ORDER BY id', @s OUTPUT, @o OUTPUT, @r OUTPUT
SELECT @s, @o, @r
EXEC sp_cursorfetch @c, 2, 0, 2
EXEC sp_cursorclose @c
EXEC sp_cursorfetch @c`))
	if want := "row 8 | 1 | 5\nrow 1 | 1\nrow 2 | 1\nerror 16909 16 1 line 6"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestPreparedHandles(t *testing.T) {
	t.Parallel()
	s := cursorDB(t)
	run(t, s, `CREATE DATABASE other`)
	runRPC(t, s, []rpcCase{
		{"syntax", "sp_prepare", args(out{}, nil, "SELECT FROM"), "error 156 error 8180"},
		{"column", "sp_prepare", args(out{}, nil, "SELECT nope FROM k"), "error 207 error 8180"},
		{"table", "sp_prepare", args(out{}, nil, "SELECT * FROM nope"), "error 208 error 8180"},
		{"table of two statements", "sp_prepare", args(out{}, nil, "CREATE TABLE #x (i int) SELECT i FROM #x"), "=0 @0=1"},
		{"runs", "sp_execute", args(1), "columns i int (0) =0"},
		{"parameters", "sp_prepare", args(out{}, "@i int, @o int OUTPUT", "SET @o = @i + 1"), "=0 @0=2"},
		{"columns", "sp_prepare", args(out{}, "@i int", "SELECT id, v FROM k WHERE id = @i", 1), "columns id int, v nvarchar(5) (0) =0 @0=3"},
		{"no columns", "sp_prepare", args(out{}, nil, "DELETE FROM heap", 1), "=0 @0=4"},
		{"output", "sp_execute", args(2, 4, out{}), "=0 @2=5"},
		{"too few", "sp_execute", args(2, 4), "error 8178"},
		{"too many", "sp_execute", args(2, 4, 5, 6), "error 8144"},
		{"prepexec gives the old handle up", "sp_prepexec", args(out{2}, nil, "SELECT 1 AS a"), "columns a int {1} (1) =0 @0=5"},
		{"given up", "sp_execute", args(2, 4, out{}), "error 8179"},
		{"a failing row keeps the handle", "sp_prepexec", args(out{}, nil, "SELECT 1/0 AS a"), "columns a int error 8134 (error) =0 @0=6"},
		{"no handle", "sp_unprepare", args(99), "error 8179"},
		{"NULL handle", "sp_execute", args(nil), "error 214"},
		{"call", "sp_prepexecrpc", args(out{}, "{call one(?)}", 3), "columns id int {4} {5} (2) =0 @0=7"},
		{"call again", "sp_execute", args(7, 4), "columns id int {5} (1) =0"},
		{"exec", "sp_prepexecrpc", args(out{}, "exec dbo.one ?", 4), "columns id int {5} (1) =0 @0=8"},
		{"no procedure", "sp_prepexecrpc", args(out{}, "{call nope(?)}", 3), "error 2812 error 8180"},
		{"no marker", "sp_prepexecrpc", args(out{}, "{call one(3)}"), "error 40514 error 8180"},
		{"too few markers", "sp_prepexecrpc", args(out{}, "{call one(?)}"), "error 8178 error 8180"},
	})
	run(t, s, `USE other`)
	if got := rpc(t, s, "sp_execute", 5); got != "error 586" {
		t.Errorf("in another database: %s", got)
	}
	run(t, s, `USE d`, `SET QUOTED_IDENTIFIER OFF`)
	if got := rpc(t, s, "sp_execute", 5); got != "error 586" {
		t.Errorf("under other options: %s", got)
	}
	s.Reset(false)
	if got := rpc(t, s, "sp_execute", 5); got != "error 8179" {
		t.Errorf("after a reset: %s", got)
	}
	run(t, s, `USE d`)
	if got := brief(batch(t, s, `DECLARE @h int EXEC sp_prepare @h OUTPUT, N'@i int', N'SELECT @i AS i' EXEC sp_execute @h, 8 EXEC sp_unprepare @h EXEC sp_execute @h, 8`)); got != "row 8\nerror 8179 16 4 line 1" {
		t.Error(got)
	}
	if got := brief(batch(t, s, `DECLARE @h int EXEC sp_prepare @h OUTPUT, NULL, N'SELECT * FROM nope'`)); got != "error 208 16 1 line 1\nerror 8180 16 1 line 1" {
		t.Error(got)
	}
}

func TestPreparedBound(t *testing.T) {
	t.Parallel()
	s := cursorDB(t)
	for range maxPrepared {
		if _, err := s.keep(prepared{text: "SELECT 1"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := rpc(t, s, "sp_prepare", out{}, nil, "SELECT 1"); got != "error 701" {
		t.Error(got)
	}
	if got := rpc(t, s, "sp_unprepare", 7); got != "=0" {
		t.Error(got)
	}
	if got := rpc(t, s, "sp_prepare", out{}, nil, "SELECT 1"); got != fmt.Sprintf("=0 @0=%d", maxPrepared+1) {
		t.Error(got)
	}
}

func FuzzProcedureCall(f *testing.F) {
	for _, text := range []string{"{call p(?, ?)}", "{? = call dbo.p(?)}", "exec p ?, ?", "EXECUTE [a b].[c]", "{call p(3)}", "call", "{}", "?=", "exec (", "call p)(", "exec p (?"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		proc, markers, err := procedureCall(text)
		if err != nil {
			return
		}
		if proc == "" || markers < 0 || markers > len(text) {
			t.Fatalf("%q: procedure %q, %d markers", text, proc, markers)
		}
	})
}

// FuzzCursorFetch moves a fetch buffer about: it stays within the rows.
func FuzzCursorFetch(f *testing.F) {
	f.Add(uint8(5), []byte{2, 0, 2, 4, 0, 5, 16, 0xFE, 3, 8, 0, 0, 32, 1, 1})
	ways := []int32{fetchFirst, fetchNext, fetchPrev, fetchLast, fetchAbsolute, fetchRelative, fetchRefresh, fetchPrevStrict}
	f.Fuzz(func(t *testing.T, rows uint8, moves []byte) {
		c := &apiCursor{cursor: &cursor{rows: make([][]types.Value, rows)}, start: -1}
		for ; len(moves) >= 3; moves = moves[3:] {
			c.fetch(ways[int(moves[0])%len(ways)], int(int8(moves[1]))*1000003, int(moves[2]))
			if c.start < -1 || c.start > int(rows) || c.size < 0 || c.size > 0 && (c.start < 0 || c.start+c.size > int(rows)) {
				t.Fatalf("%d rows from %d of %d", c.size, c.start, rows)
			}
		}
	})
}
