package target

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gostress/pkg/driver"
)

// cursorServer answers as a server with cursors does. The text of a statement
// says what it is to do.
func cursorServer() func(called) [][]byte {
	at, rows := int64(0), int64(0)
	status, failing := true, false
	return func(c called) [][]byte {
		switch c.name {
		case "sp_cursoropen":
			scroll, control := c.args[2].(int64), c.args[3].(int64)&^0x2000
			at, rows, status, failing = 0, 2, true, false
			switch text := c.args[1].(string); {
			case text == "insert":
				return [][]byte{inProc(cmdInsert, 3), c.returns(0, scroll, control, 0)}
			case text == "several":
				return [][]byte{intColumns(1), inProc(cmdSelect, 0), info(0, 0, "between"), intColumns(2), intRow(1, 2), intRow(3, 4), inProc(cmdSelect, 2), c.returns(0, scroll, control, 0)}
			case text == "no rows at all":
				return [][]byte{intColumns(1), inProc(cmdSelect, 0), info(0, 0, "behind"), c.returns(0, scroll, control, 0)}
			case text == "messages":
				return [][]byte{intColumns(1), inProc(cmdSelect, 0), messages(2 * maxKept), c.returns(0, scroll, control, 0)}
			case text == "refused":
				return [][]byte{serverError(16937, 16, "A server cursor cannot be opened."), failed(8180, "Statement(s) could not be prepared.")}
			case text == "opened with an error":
				return [][]byte{intColumns(1), serverError(3621, 16, "odd"), inProc(cmdSelect, 0), c.returns(7, scroll, control, 0)}
			case text == "empty":
				rows = 0
			case text == "without status":
				status = false
			case text == "fails":
				failing = true
			case text == "downgraded":
				scroll, control = 0x8, 0x1
			case text == "hangs" || text == "endless":
				rows = 1 << 40
			}
			return [][]byte{intColumns(1), info(5701, 10, "opened"), inProc(cmdSelect, 0), c.returns(180150003, scroll, control, rows)}
		case "sp_cursorfetch":
			if failing && at == 1 {
				return [][]byte{failed(1205, "deadlock")}
			}
			names := []string{"c1", "ROWSTAT"}
			row := []int64{at, 1}
			if at == 1 && rows == 3 {
				row[1] = 2
			}
			if !status {
				names, row = names[:1], row[:1]
			}
			if at >= rows {
				return [][]byte{namedColumns(names...), inProc(cmdSelect, 0), c.returns()}
			}
			at++
			return [][]byte{namedColumns(names...), intRow(row...), inProc(cmdSelect, 1), c.returns()}
		case "sp_cursorclose":
			if failing {
				return [][]byte{failed(16909, "The cursor handle is not valid.")}
			}
			return [][]byte{c.returns()}
		}
		return [][]byte{done(0)}
	}
}

func TestCursors(t *testing.T) { overWires(t, testCursors) }

func testCursors(t *testing.T, w Wire) {
	errorOf := func(number int32, text string) driver.ServerError {
		return driver.ServerError{Number: number, State: 1, Class: 16, Line: 3, Server: "srv", Message: text}
	}
	static := Cursor{CursorStatic, ConcurrencyReadOnly}
	const fetch, closed = "sp_cursorfetch 180150003, 2, 0, 1", "sp_cursorclose 180150003"
	for name, tt := range map[string]struct {
		cursor Cursor
		r      *driver.Request
		calls  []string
		out    driver.Outcome
		log    []string
		note   string
	}{
		"rows": {static, text("rows"), []string{"sp_cursoropen NULL, rows, 8, 8193, 1", fetch, fetch, fetch, closed},
			driver.Outcome{Rows: 2, ResultSets: 1}, []string{"columns c1", "message 5701/10 opened", "0", "1", "done 2"}, ""},
		"without status": {Cursor{CursorFastForward, ConcurrencyReadOnly}, text("without status"), []string{"sp_cursoropen NULL, without status, 16, 8193, 1", fetch, fetch, fetch, closed},
			driver.Outcome{Rows: 2, ResultSets: 1}, []string{"columns c1", "message 5701/10 opened", "0", "1", "done 2"}, ""},
		"empty": {Cursor{CursorDynamic, ConcurrencyLock}, text("empty"), []string{"sp_cursoropen NULL, empty, 2, 8194, 1", fetch, closed},
			driver.Outcome{ResultSets: 1}, []string{"columns c1", "message 5701/10 opened", "done 0"}, ""},
		"parameters": {Cursor{CursorForwardOnly, ConcurrencyOptimisticVal},
			&driver.Request{Text: "rows", Params: []driver.Param{{Name: "@a", Type: driver.SQLType{Name: "int"}, Value: int64(5)}}},
			[]string{"sp_cursoropen NULL, rows, 4100, 8200, 1, @a int, 5", fetch, fetch, fetch, closed},
			driver.Outcome{Rows: 2, ResultSets: 1}, []string{"columns c1", "message 5701/10 opened", "0", "1", "done 2"}, ""},
		"downgraded": {Cursor{CursorKeyset, ConcurrencyOptimisticVer}, text("downgraded"), []string{"sp_cursoropen NULL, downgraded, 1, 8196, 1", fetch, fetch, fetch, closed},
			driver.Outcome{Rows: 2, ResultSets: 1}, []string{"columns c1", "message 5701/10 opened", "0", "1", "done 2"},
			"cursors: the server opens static, read only where keyset, optimistic ver was asked for"},
		"insert": {static, text("insert"), []string{"sp_cursoropen NULL, insert, 8, 8193, 1"},
			driver.Outcome{Affected: 3}, []string{"done 3", "done"}, ""},
		"several": {static, text("several"), []string{"sp_cursoropen NULL, several, 8, 8193, 1"},
			driver.Outcome{Rows: 2, ResultSets: 2}, []string{"columns c1", "done 0", "message 0/0 between", "columns c1 c2", "1 2", "3 4", "done 2", "done"}, ""},
		"no rows at all": {static, text("no rows at all"), []string{"sp_cursoropen NULL, no rows at all, 8, 8193, 1"},
			driver.Outcome{ResultSets: 1}, []string{"columns c1", "done 0", "message 0/0 behind", "done"}, ""},
		"messages": {static, text("messages"), []string{"sp_cursoropen NULL, messages, 8, 8193, 1"},
			driver.Outcome{ResultSets: 1}, append(append([]string{"columns c1", "done 0"}, numbered(2*maxKept)...), "done"), ""},
		"refused": {static, text("refused"), []string{"sp_cursoropen NULL, refused, 8, 8193, 1"},
			driver.Outcome{Errors: []driver.ServerError{errorOf(16937, "A server cursor cannot be opened."), errorOf(8180, "Statement(s) could not be prepared.")}},
			[]string{"message 16937/16 A server cursor cannot be opened.", "message 8180/16 Statement(s) could not be prepared.", "done"}, ""},
		"opened with an error": {static, text("opened with an error"), []string{"sp_cursoropen NULL, opened with an error, 8, 8193, 1", "sp_cursorclose 7"},
			driver.Outcome{ResultSets: 1, Errors: []driver.ServerError{errorOf(3621, "odd")}}, []string{"columns c1", "message 3621/16 odd"}, ""},
		"fails": {static, text("fails"), []string{"sp_cursoropen NULL, fails, 8, 8193, 1", fetch, fetch, closed},
			driver.Outcome{Rows: 1, ResultSets: 1, Errors: []driver.ServerError{errorOf(1205, "deadlock")}},
			[]string{"columns c1", "message 5701/10 opened", "0", "message 1205/16 deadlock"}, ""},
		"plain":            {static, &driver.Request{Text: "select rows", Plain: true}, []string{"batch select rows"}, driver.Outcome{}, []string{"done"}, ""},
		"calls stay calls": {static, &driver.Request{Kind: driver.RPC, Proc: "p"}, []string{"p "}, driver.Outcome{}, []string{"done"}, ""},
	} {
		for _, quiet := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, quiet %t", name, quiet), func(t *testing.T) {
				t.Parallel()
				var got record
				f := serve(t, func(p *peer) { system(p, &got, cursorServer()) })
				o := options(w, f)
				o.Cursor = tt.cursor
				var notes []string
				o.Note = func(s string) { notes = append(notes, s) }
				s, err := connectTo(t, o)
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					l := &log{}
					var sink driver.Sink
					if !quiet {
						sink = l
					}
					out, err := do(t, s, context.Background(), tt.r, sink)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(tt.calls, got.take()); diff != "" {
						t.Errorf("calls: %s", diff)
					}
					if diff := cmp.Diff(tt.out, out); diff != "" {
						t.Error(diff)
					}
					if diff := cmp.Diff(tt.log, l.lines); diff != "" && !quiet {
						t.Errorf("sink: %s", diff)
					}
				}
				if note := strings.Join(notes, "\n"); note != tt.note {
					t.Errorf("the notes are %q", notes)
				}
			})
		}
	}
}

// TestMissingRows: a row of a keyset that somebody deleted is no row.
func TestMissingRows(t *testing.T) {
	t.Parallel()
	f := &fetched{}
	l := &log{}
	f.to = l
	for range 2 {
		f.begin()
		if err := f.Event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: []driver.Column{{Name: "a"}, {Name: "ROWSTAT", Type: driver.SQLType{Name: "int"}}}}); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Row([]any{int64(1), int64(1)}), f.Row([]any{nil, int64(2)})); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.end(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"columns a", "1", "1", "done"}, l.lines); diff != "" || f.rows != 2 || f.inFetch != 2 {
		t.Error(diff, f.rows, f.inFetch)
	}
}

// TestCursorCancel: a cancelled cursor is closed, whether the cancel came while a
// fetch was under way or between two, and the session goes on.
func TestCursorCancel(t *testing.T) { overWires(t, testCursorCancel) }

func testCursorCancel(t *testing.T, w Wire) {
	for _, text := range []string{"hangs", "endless"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			var got record
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			f := serve(t, func(p *peer) {
				answer, fetches := cursorServer(), 0
				system(p, &got, func(c called) [][]byte {
					if fetches++; c.name == "sp_cursorfetch" && text == "hangs" && fetches == 4 {
						cancel()
						return nil
					}
					return answer(c)
				})
			})
			o := options(w, f)
			o.Cursor = Cursor{CursorKeyset, ConcurrencyLock}
			s, err := connectTo(t, o)
			if err != nil {
				t.Fatal(err)
			}
			rows := 0
			out, err := do(t, s, ctx, &driver.Request{Text: text}, rowFunc(func() error {
				if rows++; rows == 5 {
					cancel()
				}
				return nil
			}))
			if !errors.Is(err, context.Canceled) || int(out.Rows) != rows || rows < 2 || out.ResultSets != 1 {
				t.Errorf("got %+v, %v after %d rows", out, err, rows)
			}
			calls := got.take()
			if last := calls[len(calls)-1]; last != "sp_cursorclose 180150003" {
				t.Errorf("the last call is %q", last)
			}
			out, err = do(t, s, context.Background(), &driver.Request{Text: "rows"}, nil)
			if err != nil || out.Rows != 2 {
				t.Errorf("then %+v, %v", out, err)
			}
		})
	}
}

// TestCursorCancelledAtItsEnd: a cursor is closed also when the request's time ends
// behind its last row.
func TestCursorCancelledAtItsEnd(t *testing.T) { overWires(t, testCursorCancelledAtItsEnd) }

func testCursorCancelledAtItsEnd(t *testing.T, w Wire) {
	var got record
	f := serve(t, func(p *peer) { system(p, &got, cursorServer()) })
	o := options(w, f)
	o.Cursor = Cursor{CursorStatic, ConcurrencyReadOnly}
	s, err := connectTo(t, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out, err := do(t, s, ctx, text("rows"), doneFunc(cancel))
	if err != nil || out.Rows != 2 {
		t.Errorf("got %+v, %v", out, err)
	}
	if calls := got.take(); len(calls) != 5 || calls[4] != "sp_cursorclose 180150003" {
		t.Errorf("the calls are %q", calls)
	}
}

// TestCursorCancelledWhileClosing: a server that closed the cursor before it saw the
// cancel knows no such cursor afterwards. That is no error of the batch.
func TestCursorCancelledWhileClosing(t *testing.T) { overWires(t, testCursorCancelledWhileClosing) }

func testCursorCancelledWhileClosing(t *testing.T, w Wire) {
	var got record
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f := serve(t, func(p *peer) {
		answer, closes := cursorServer(), 0
		system(p, &got, func(c called) [][]byte {
			if c.name != "sp_cursorclose" {
				return answer(c)
			}
			if closes++; closes == 1 {
				cancel()
				return nil
			}
			return [][]byte{failed(16909, "The cursor handle is not valid.")}
		})
	})
	o := options(w, f)
	o.Cursor = Cursor{CursorStatic, ConcurrencyReadOnly}
	s, err := connectTo(t, o)
	if err != nil {
		t.Fatal(err)
	}
	l := &log{}
	out, err := do(t, s, ctx, text("rows"), l)
	if err != nil || out.Rows != 2 || len(out.Errors) != 0 {
		t.Errorf("got %+v, %v", out, err)
	}
	if shown := strings.Join(l.lines, "\n"); strings.Contains(shown, "16909") {
		t.Errorf("the sink was given %s", shown)
	}
	if calls := got.take(); len(calls) < 2 || calls[len(calls)-2] != calls[len(calls)-1] {
		t.Errorf("the calls are %q", calls)
	}
}

// doneFunc is a sink that is called at the end of each statement.
type doneFunc func()

func (f doneFunc) Row([]any) error { return nil }

func (f doneFunc) Event(e driver.SinkEvent) error {
	if e.Kind == driver.SinkDone {
		f()
	}
	return nil
}

// rowFunc is a sink that is called at each row.
type rowFunc func() error

func (f rowFunc) Row([]any) error              { return f() }
func (f rowFunc) Event(driver.SinkEvent) error { return nil }

// TestCursorSinkRefuses: a sink that refuses ends the session on either wire.
func TestCursorSinkRefuses(t *testing.T) { overWires(t, testCursorSinkRefuses) }

func testCursorSinkRefuses(t *testing.T, w Wire) {
	var got record
	f := serve(t, func(p *peer) { system(p, &got, cursorServer()) })
	o := options(w, f)
	o.Cursor = Cursor{CursorStatic, ConcurrencyReadOnly}
	s, err := connectTo(t, o)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	_, err = do(t, s, context.Background(), text("rows"), rowFunc(func() error { return full }))
	var refused *driver.SinkError
	if !errors.As(err, &refused) || !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	var lost *driver.LostError
	if _, err = do(t, s, context.Background(), text("rows"), nil); !errors.As(err, &lost) {
		t.Errorf("then %v", err)
	}
}

// TestModesRefused: what does not go together is said before anything is sent.
func TestModesRefused(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]Options{
		"do not go together":    {Prepare: true, Cursor: Cursor{CursorStatic, ConcurrencyReadOnly}},
		"no server cursor":      {Cursor: Cursor{Type: "odd", Concurrency: ConcurrencyLock}},
		"fast forward cursor":   {Cursor: Cursor{CursorFastForward, ConcurrencyLock}},
		"it cannot be negative": {FetchDelay: -time.Second},
	} {
		o.Server, o.User = "localhost", "sa"
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

// TestEngineCursors: the rows of the embedded engine's cursors are those of its
// batches, on either wire.
func TestEngineCursors(t *testing.T) { overWires(t, testEngineCursors) }

func testEngineCursors(t *testing.T, w Wire) {
	addr := serveEngine(t, newCert(t))
	o := Options{Server: addr, User: "sa", Password: "p;={}%#@'\"w", Database: "tempdb", Wire: w}
	plain, err := connectTo(t, o)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := do(t, plain, context.Background(), text("create table t(a int not null, b nvarchar(10)); insert t values (1, N'x'), (2, null), (3, N'z')"), nil); err != nil || len(out.Errors) > 0 {
		t.Fatal(out, err)
	}
	for _, c := range []Cursor{{CursorFastForward, ConcurrencyReadOnly}, {CursorForwardOnly, ConcurrencyReadOnly}, {CursorStatic, ConcurrencyReadOnly}} {
		o.Cursor = c
		s, err := connectTo(t, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []*driver.Request{
			text("select a, b from t order by a"),
			text("select a from t where a > 100"),
			{Text: "select b, a from t where a > @a order by a", Params: []driver.Param{{Name: "@a", Type: driver.SQLType{Name: "int"}, Value: int64(1)}}},
		} {
			want, got := &log{}, &log{}
			wantOut, err := do(t, plain, context.Background(), r, want)
			if err != nil {
				t.Fatal(err)
			}
			out, err := do(t, s, context.Background(), r, got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(wantOut, out); diff != "" {
				t.Errorf("%s, %s: %s", c, r.Text, diff)
			}
			if diff := cmp.Diff(want.rows, got.rows); diff != "" {
				t.Errorf("%s, %s: %s", c, r.Text, diff)
			}
			if got.lines[0] != want.lines[0] {
				t.Errorf("%s, %s: %q", c, r.Text, got.lines)
			}
		}
		for _, r := range []string{"insert t values (200, N'n')", "update t set b = N'u' where a = 1", "declare @a int = 1; select @a as a; select @a + 1 as b"} {
			wantOut, err := do(t, plain, context.Background(), text(r), nil)
			if err != nil {
				t.Fatal(err)
			}
			out, err := do(t, s, context.Background(), text(r), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(wantOut, out); diff != "" {
				t.Errorf("%s, %s: %s", c, r, diff)
			}
		}
	}
}

// TestEngineCursorKinds: a kind of cursor that the server exchanges is noted, one
// that it refuses is its error.
func TestEngineCursorKinds(t *testing.T) { overWires(t, testEngineCursorKinds) }

func testEngineCursorKinds(t *testing.T, w Wire) {
	var notes []string
	o := Options{Server: serveEngine(t, newCert(t)), User: "sa", Password: "p;={}%#@'\"w", Database: "tempdb", Wire: w,
		Encrypt: EncryptDisable, Cursor: Cursor{CursorKeyset, ConcurrencyReadOnly}, Note: func(s string) { notes = append(notes, s) }}
	s, err := connectTo(t, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []string{"create table heap(a int); insert heap values (1), (2)", "create table keyed(a int primary key)"} {
		if out, err := do(t, s, context.Background(), text(r), nil); err != nil || len(out.Errors) > 0 {
			t.Fatal(out, err)
		}
	}
	for range 2 {
		if out, err := do(t, s, context.Background(), text("select a from heap"), nil); err != nil || len(out.Errors) > 0 || out.Rows != 2 {
			t.Errorf("got %+v, %v", out, err)
		}
	}
	if want := []string{"cursors: the server opens static, read only where keyset, read only was asked for"}; !slices.Equal(notes, want) {
		t.Errorf("the notes are %q", notes)
	}
	if out, err := do(t, s, context.Background(), text("select a from keyed"), nil); err != nil || len(out.Errors) != 1 || out.Errors[0].Number != 16955 {
		t.Errorf("got %+v, %v", out, err)
	}
}
