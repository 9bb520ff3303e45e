package scenario

import (
	"context"
	"iter"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"gostress/pkg/driver"
	"gostress/pkg/script"
)

func collect(seq iter.Seq[*driver.Request]) []*driver.Request {
	var out []*driver.Request
	for r := range seq {
		out = append(out, r)
	}
	return out
}

func TestFromText(t *testing.T) {
	t.Parallel()
	u, err := FromText(context.Background(), "SELECT 1\nGO 2\nSELECT 2\nGO 0\nSELECT 3")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := range u.Program.Iteration(driver.Worker{}, 0) {
		got = append(got, strings.TrimSpace(r.Text))
	}
	if diff := cmp.Diff([]string{"SELECT 1", "SELECT 1", "SELECT 3"}, got); diff != "" || u.Name != "query" {
		t.Errorf("unit %s: %s", u.Name, diff)
	}
}

func TestFromScriptNamesItsSource(t *testing.T) {
	t.Parallel()
	s := script.Script{Path: "dir/a.sql", Batches: []script.Batch{{Text: "SELECT 1", Line: 1, Count: 1}, {Text: "SELECT 2", Line: 7, Count: 1}}}
	u, err := FromScript(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs("dir/a.sql")
	if err != nil {
		t.Fatal(err)
	}
	got := collect(u.Program.Iteration(driver.Worker{}, 3))
	want := driver.Source{File: abs, Line: 7, Batch: 2}
	if len(got) != 2 || got[1].Source != want || u.Name != "a.sql" {
		t.Errorf("unit %s, source %+v", u.Name, got[1].Source)
	}
}

// TestRepeatCostsNoMemory: a large count holds no copies and is never made into a list.
func TestRepeatCostsNoMemory(t *testing.T) {
	u, err := FromScript(context.Background(), script.Script{Batches: []script.Batch{{Text: "SELECT 1", Line: 1, Count: 1 << 50}}})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 0
	for range u.Program.Iteration(driver.Worker{}, 0) {
		if n++; n == 1_000_000 {
			break
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("a million repetitions allocated %d bytes", grown)
	}
}

// TestWaitAfter runs in simulated time: the pause is the script's, and ends with ctx.
func TestWaitAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		u, err := FromScript(ctx, script.Script{Commands: []script.Command{
			{Kind: script.Lang, Text: "SELECT 1", After: 15 * time.Second}, {Kind: script.Lang, Text: "SELECT 2", After: time.Hour}}})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var at []time.Duration
		for range u.Program.Iteration(driver.Worker{}, 0) {
			at = append(at, time.Since(start))
		}
		if diff := cmp.Diff([]time.Duration{0, 15 * time.Second}, at); diff != "" || time.Since(start) != 20*time.Second {
			t.Errorf("batches at %v, end after %v", at, time.Since(start))
		}
		// With more to do, the driver is shown that the iteration was cut short, and sends nothing.
		u, err = FromScript(ctx, script.Script{Commands: []script.Command{
			{Kind: script.Lang, Text: "SELECT 1", After: time.Hour}, {Kind: script.Lang, Text: "SELECT 2"}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := sends(collect(u.Program.Iteration(driver.Worker{}, 0))); got != "SELECT 1,|" {
			t.Errorf("sends %s", got)
		}
	})
}

func TestRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, proc, sent, fault string }{
		{name: "by name", text: " { CALL dbo.p } ", proc: "dbo.p"},
		{name: "with literals", text: "{call p(1, N'a)b''c', (2))}", sent: "EXEC p 1, N'a)b''c', (2)"},
		{name: "plain", text: "EXEC p 4", sent: "EXEC p 4"},
		{name: "function", text: "SELECT {fn UCASE('a')}", sent: "SELECT UPPER('a')"},
		{name: "broken", text: "SELECT 1;\n\nSELECT {fn UCASE('a'", fault: "/dir/f.sql, line 9: the ODBC escape {fn UCASE(...)} has no closing parenthesis"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := request(c.text, driver.Source{File: "/dir/f.sql", Line: 7})
			if c.fault != "" {
				if err == nil || err.Error() != c.fault {
					t.Fatalf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.Proc != c.proc || r.Text != c.sent || (r.Kind == driver.RPC) != (c.proc != "") {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestFindRun(t *testing.T) {
	t.Parallel()
	r, err := FindRun("inmem-oltp/INMEM")
	if err != nil || r.String() != "inmem-oltp/inmem" || r.Orders != 20 {
		t.Errorf("%v, %v", r, err)
	}
	for _, name := range []string{"", "inmem-oltp", "inmem-oltp/", "x/inmem", "inmem-oltp/inmem/x"} {
		if _, err := FindRun(name); err == nil || !strings.Contains(err.Error(), "inmem-oltp/ondisk") {
			t.Errorf("%q: error %v", name, err)
		}
	}
}

func TestBatchMode(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"inmem", "ondisk"} {
		r, err := FindRun("inmem-oltp/" + form)
		if err != nil {
			t.Fatal(err)
		}
		u, err := r.Unit(context.Background(), nil, RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := collect(u.Program.Iteration(driver.Worker{}, 0))
		if len(got) != 1 || strings.Count(got[0].Text, "_"+form) != 2 || strings.Contains(got[0].Text, "$(") {
			t.Errorf("%s: %+v", form, got)
		}
	}
}

// seedServer answers the query for seeds with orders of five lines.
func seedServer(t *testing.T, change func(rows [][]any) [][]any) *fake {
	var rows [][]any
	for i := range 530 {
		rows = append(rows, []any{int64(1 + i/5), int64(1 + i%4), int64(1 + i%504), int64(1 + i%16)})
	}
	if change != nil {
		rows = change(rows)
	}
	return &fake{t: t, row: facts(), answer: func(text string) ([][]any, *driver.ServerError, bool) {
		return rows, nil, strings.Contains(text, "DemoSalesOrderDetailSeed")
	}}
}

func tvpUnit(t *testing.T, seed uint64) driver.Unit {
	t.Helper()
	r, err := FindRun("inmem-oltp/ondisk")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	u, err := r.Unit(context.Background(), seedServer(t, nil), RunOptions{Mode: TVP, Seed: seed, Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestTVPModeIsRepeatable(t *testing.T) {
	t.Parallel()
	run := func(seed uint64, worker int, i int64) []*driver.Request {
		return collect(tvpUnit(t, seed).Program.Iteration(driver.Worker{ID: worker}, i))
	}
	first := run(7, 3, 11)
	if diff := cmp.Diff(first, run(7, 3, 11)); diff != "" {
		t.Errorf("the same seed, worker and iteration differ:\n%s", diff)
	}
	for name, other := range map[string][]*driver.Request{"seed": run(8, 3, 11), "worker": run(7, 4, 11), "iteration": run(7, 3, 12)} {
		if cmp.Equal(first, other) {
			t.Errorf("another %s gives the same orders", name)
		}
	}
}

func TestTVPModeRequests(t *testing.T) {
	t.Parallel()
	u := tvpUnit(t, 1)
	customers := map[any]bool{}
	for worker := range 10 {
		got := collect(u.Program.Iteration(driver.Worker{ID: worker}, 0))
		if len(got) != 20 {
			t.Fatalf("%d orders an iteration", len(got))
		}
		for _, r := range got {
			types := make([]string, len(r.Params))
			for i, p := range r.Params {
				types[i] = p.Type.Name
				if p.Name != "" {
					t.Fatalf("parameter %d is named %s", i, p.Name)
				}
			}
			want := []string{"int", "datetime2", "int", "int", "int", "int", "SalesOrderDetailType_ondisk"}
			if diff := cmp.Diff(want, types); diff != "" || r.Kind != driver.RPC || r.Proc != "Sales.usp_InsertSalesOrder_ondisk" {
				t.Fatalf("%s %s", r.Proc, diff)
			}
			if !r.Params[0].Output || r.Params[1].Type.Scale != 7 {
				t.Fatalf("%+v", r.Params)
			}
			for i, limits := range map[int][2]int64{2: {0, 7999}, 3: {0, 9999}, 4: {0, 9999}, 5: {1, 5}} {
				if v := r.Params[i].Value.(int64); v < limits[0] || v > limits[1] {
					t.Errorf("parameter %d is %d", i, v)
				}
			}
			customers[r.Params[2].Value] = true
			lines := r.Params[6].Value.(*driver.Table)
			if len(lines.Rows) != 5 || len(lines.Columns) != 3 {
				t.Errorf("%d lines", len(lines.Rows))
			}
		}
	}
	if len(customers) < 150 {
		t.Errorf("200 orders have %d customers", len(customers))
	}
}

func TestTVPModeNeedsWholeSeeds(t *testing.T) {
	t.Parallel()
	r, err := FindRun("inmem-oltp/inmem")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func([][]any) [][]any{
		"none":        func([][]any) [][]any { return nil },
		"a line less": func(rows [][]any) [][]any { return rows[1:] },
		"a line more": func(rows [][]any) [][]any { return append(rows, []any{int64(4), int64(1), int64(1), int64(1)}) },
		"order 0":     func(rows [][]any) [][]any { return append(rows, []any{int64(0), int64(1), int64(1), int64(1)}) },
		"order 107":   func(rows [][]any) [][]any { return append(rows, []any{int64(107), int64(1), int64(1), int64(1)}) },
		"a NULL":      func(rows [][]any) [][]any { return append(rows, []any{int64(1), nil, int64(1), int64(1)}) },
	} {
		if _, err := r.Unit(context.Background(), seedServer(t, change), RunOptions{Mode: TVP}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := r.Unit(context.Background(), nil, RunOptions{Mode: TVP}); err == nil {
		t.Error("no session: no error")
	}
	if _, err := r.Unit(context.Background(), nil, RunOptions{Mode: "rpc"}); err == nil || !strings.Contains(err.Error(), "tvp") {
		t.Errorf("an unknown mode: error %v", err)
	}
}
