package target

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gostress/pkg/driver"
)

// preparing answers as a server with prepared statements does; handles count from 1.
// Those in lost are not known.
func preparing(lost map[int64]bool) func(called) [][]byte {
	known := map[int64]string{}
	return func(c called) [][]byte {
		switch c.name {
		case "sp_prepare":
			text := c.args[2].(string)
			if text == "wrong" {
				return [][]byte{serverError(102, 15, "Incorrect syntax"), failed(8180, "Statement(s) could not be prepared.")}
			}
			h := int64(len(known) + 1)
			known[h] = text
			return [][]byte{intColumns(1), info(0, 0, "prepared"), c.returns(h)}
		case "sp_execute":
			h := c.args[0].(int64)
			if lost[h] {
				delete(lost, h)
				return [][]byte{failed(8179, fmt.Sprintf("Could not find prepared statement with handle %d.", h))}
			}
			switch known[h] {
			case "8179":
				return [][]byte{intColumns(1), intRow(h), inProc(cmdSelect, 1), failed(8179, fmt.Sprintf("Could not find prepared statement with handle %d.", h))}
			case "insert":
				return [][]byte{inProc(cmdInsert, 3), c.returns()}
			}
			return [][]byte{intColumns(1), intRow(h), inProc(cmdSelect, 1), c.returns()}
		case "":
			return [][]byte{done(0)}
		}
		return [][]byte{c.returns()}
	}
}

func TestPrepare(t *testing.T) { overWires(t, testPrepare) }

func testPrepare(t *testing.T, w Wire) {
	one := text("select 1")
	with := func(n int64) *driver.Request {
		return &driver.Request{Text: "select @a", Params: []driver.Param{{Name: "@a", Type: driver.SQLType{Name: "int"}, Value: n},
			{Type: driver.SQLType{Name: "nvarchar", Len: 10}, Value: "x"}}}
	}
	type step struct {
		r     *driver.Request
		calls []string
		out   driver.Outcome
		log   []string
	}
	row := func(h int) []string { return []string{"columns c1", fmt.Sprint(h), "done 1", "done"} }
	first := func(h int) []string { return append([]string{"message 0/0 prepared"}, row(h)...) }
	rows := driver.Outcome{Rows: 1, ResultSets: 1}
	errorOf := func(number int32, class uint8, text string) driver.ServerError {
		return driver.ServerError{Number: number, State: 1, Class: class, Line: 3, Server: "srv", Message: text}
	}
	gone := "Could not find prepared statement with handle 1."
	for name, tt := range map[string]struct {
		lost  map[int64]bool
		steps []step
	}{
		"once for each text": {steps: []step{
			{one, []string{"sp_prepare NULL, NULL, select 1", "sp_execute 1"}, rows, first(1)},
			{one, []string{"sp_execute 1"}, rows, row(1)},
			{text("select 1"), []string{"sp_execute 1"}, rows, row(1)},
			{text("insert"), []string{"sp_prepare NULL, NULL, insert", "sp_execute 2"}, driver.Outcome{Affected: 3}, []string{"message 0/0 prepared", "done 3", "done"}},
			{one, []string{"sp_execute 1"}, rows, row(1)},
		}},
		"parameters": {steps: []step{
			{with(7), []string{"sp_prepare NULL, @a int,@p2 nvarchar(10), select @a", "sp_execute 1, 7, x"}, rows, first(1)},
			{with(8), []string{"sp_execute 1, 8, x"}, rows, row(1)},
			{text("select @a"), []string{"sp_prepare NULL, NULL, select @a", "sp_execute 2"}, rows, first(2)},
		}},
		"refused": {steps: []step{
			{text("wrong"), []string{"sp_prepare NULL, NULL, wrong"},
				driver.Outcome{Errors: []driver.ServerError{errorOf(102, 15, "Incorrect syntax"), errorOf(8180, 16, "Statement(s) could not be prepared.")}},
				[]string{"message 102/15 Incorrect syntax", "message 8180/16 Statement(s) could not be prepared."}},
			{text("wrong"), []string{"sp_prepare NULL, NULL, wrong"},
				driver.Outcome{Errors: []driver.ServerError{errorOf(102, 15, "Incorrect syntax"), errorOf(8180, 16, "Statement(s) could not be prepared.")}},
				[]string{"message 102/15 Incorrect syntax", "message 8180/16 Statement(s) could not be prepared."}},
		}},
		"handle lost": {lost: map[int64]bool{1: true}, steps: []step{
			{one, []string{"sp_prepare NULL, NULL, select 1", "sp_execute 1"}, driver.Outcome{Errors: []driver.ServerError{errorOf(8179, 16, gone)}},
				[]string{"message 0/0 prepared", "message 8179/16 " + gone, "done"}},
			{one, []string{"sp_execute 1"}, rows, row(1)},
		}},
		"handle lost later": {lost: map[int64]bool{}, steps: []step{
			{one, []string{"sp_prepare NULL, NULL, select 1", "sp_execute 1"}, rows, first(1)},
			{nil, nil, driver.Outcome{}, nil}, // the server loses it
			{one, []string{"sp_execute 1", "sp_prepare NULL, NULL, select 1", "sp_execute 2"}, rows, first(2)},
			{one, []string{"sp_execute 2"}, rows, row(2)},
		}},
		"an error that only looks so": {steps: []step{
			{text("8179"), []string{"sp_prepare NULL, NULL, 8179", "sp_execute 1"}, driver.Outcome{Rows: 1, ResultSets: 1, Errors: []driver.ServerError{errorOf(8179, 16, gone)}},
				[]string{"message 0/0 prepared", "columns c1", "1", "done 1", "message 8179/16 " + gone, "done"}},
			{text("8179"), []string{"sp_execute 1"}, driver.Outcome{Rows: 1, ResultSets: 1, Errors: []driver.ServerError{errorOf(8179, 16, gone)}},
				[]string{"columns c1", "1", "done 1", "message 8179/16 " + gone, "done"}},
		}},
		"plain": {steps: []step{
			{&driver.Request{Text: "select 1", Plain: true}, []string{"batch select 1"}, driver.Outcome{}, []string{"done"}},
		}},
		"calls stay calls": {steps: []step{
			{&driver.Request{Kind: driver.RPC, Proc: "p"}, []string{"p "}, driver.Outcome{}, []string{"done"}},
		}},
		"reset": {steps: []step{
			{one, []string{"sp_prepare NULL, NULL, select 1", "sp_execute 1"}, rows, first(1)},
			{&driver.Request{Kind: driver.RPC, Proc: "sys.[sp_reset_connection]"}, []string{"sys.[sp_reset_connection] "}, driver.Outcome{}, []string{"done"}},
			{&driver.Request{Kind: driver.RPC, Proc: "SP_RESET_CONNECTION"}, []string{"SP_RESET_CONNECTION "}, driver.Outcome{}, []string{"done"}},
			{one, []string{"batch SET ARITHABORT ON\n", "sp_prepare NULL, NULL, select 1", "sp_execute 2"}, rows, first(2)},
			{one, []string{"sp_execute 2"}, rows, row(2)},
		}},
	} {
		for _, quiet := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, quiet %t", name, quiet), func(t *testing.T) {
				t.Parallel()
				lost := map[int64]bool{}
				for h := range tt.lost {
					lost[h] = true
				}
				var got record
				lose := make(chan int64, 1)
				f := serve(t, func(p *peer) {
					answer := preparing(lost)
					system(p, &got, func(c called) [][]byte {
						select {
						case h := <-lose:
							lost[h] = true
						default:
						}
						return answer(c)
					})
				})
				o := options(w, f)
				o.Prepare, o.SSMS = true, true
				s, err := connectTo(t, o)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]string{"batch SET ARITHABORT ON\n"}, got.take()); diff != "" {
					t.Error(diff)
				}
				for i, st := range tt.steps {
					if st.r == nil {
						lose <- 1
						continue
					}
					l := &log{}
					var sink driver.Sink
					if !quiet {
						sink = l
					}
					out, err := do(t, s, context.Background(), st.r, sink)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(st.calls, got.take()); diff != "" {
						t.Errorf("step %d: calls: %s", i, diff)
					}
					if diff := cmp.Diff(st.out, out); diff != "" {
						t.Errorf("step %d: %s", i, diff)
					}
					if diff := cmp.Diff(st.log, l.lines); diff != "" && !quiet {
						t.Errorf("step %d: sink: %s", i, diff)
					}
				}
			})
		}
	}
}

// TestPreparedIsBounded: a session does not keep a handle for each of any number
// of texts, and tells the server which it gives up.
func TestPreparedIsBounded(t *testing.T) { overWires(t, testPreparedIsBounded) }

func testPreparedIsBounded(t *testing.T, w Wire) {
	var got record
	f := serve(t, func(p *peer) { system(p, &got, preparing(nil)) })
	o := options(w, f)
	o.Prepare = true
	s, err := connectTo(t, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxStatements + 1 {
		if i == maxStatements {
			got.take()
			// The first is used again, so the second is the one to go.
			if _, err := do(t, s, context.Background(), text("select 0"), nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := do(t, s, context.Background(), text(fmt.Sprint("select ", i)), nil); err != nil {
			t.Fatal(err)
		}
	}
	last := fmt.Sprint(maxStatements + 1)
	want := []string{"sp_execute 1", "sp_prepare NULL, NULL, select " + fmt.Sprint(maxStatements), "sp_unprepare 2", "sp_execute " + last}
	if diff := cmp.Diff(want, got.take()); diff != "" {
		t.Error(diff)
	}
}

// TestEnginePrepare: what the embedded engine makes of prepared requests is what
// it makes of batches.
func TestEnginePrepare(t *testing.T) { overWires(t, testEnginePrepare) }

func testEnginePrepare(t *testing.T, w Wire) {
	addr := serveEngine(t, newCert(t))
	o := Options{Server: addr, User: "sa", Password: "p;={}%#@'\"w", Database: "tempdb", Wire: w, Prepare: true}
	s, err := connectTo(t, o)
	if err != nil {
		t.Fatal(err)
	}
	after := func(n int64) *driver.Request {
		return &driver.Request{Text: "select * from t where a > @a", Params: []driver.Param{{Name: "@a", Type: driver.SQLType{Name: "int"}, Value: n}}}
	}
	insert := text("insert t values (1), (2)")
	for _, tt := range []struct {
		r   *driver.Request
		out driver.Outcome
	}{
		{text("create table t(a int)"), driver.Outcome{}},
		{insert, driver.Outcome{Affected: 2}},
		{insert, driver.Outcome{Affected: 2}},
		{after(0), driver.Outcome{Rows: 4, ResultSets: 1}},
		{after(1), driver.Outcome{Rows: 2, ResultSets: 1}},
		{text("begin tran; insert t values (3); commit"), driver.Outcome{Affected: 1}},
		{after(2), driver.Outcome{Rows: 1, ResultSets: 1}},
	} {
		out, err := do(t, s, context.Background(), tt.r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.out, out); diff != "" {
			t.Errorf("%s: %s", tt.r.Text, diff)
		}
	}
	out, err := do(t, s, context.Background(), text("selec 1"), nil)
	if err != nil || len(out.Errors) == 0 || out.Errors[0].Class < 11 {
		t.Errorf("got %+v, %v", out, err)
	}
}
