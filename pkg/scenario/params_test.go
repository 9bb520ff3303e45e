package scenario

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gostress/pkg/driver"
	"gostress/pkg/param"
)

func TestWithParams(t *testing.T) {
	t.Parallel()
	typ := driver.SQLType{Name: "int"}
	table := param.Table{Columns: []param.Column{{Name: "id", Type: typ}, {Name: "spare", Type: typ}}, Rows: [][]any{{int64(1), int64(10)}, {int64(2), int64(20)}}}
	text := "SELECT @id\nGO 2\nSELECT 1\nGO\nUPDATE t SET a = @id"
	for name, c := range map[string]struct {
		inline bool
		want   []driver.Request
	}{
		"typed": {false, []driver.Request{
			{Text: "SELECT @id", Params: []driver.Param{{Name: "@id", Type: typ, Value: int64(1)}}},
			{Text: "SELECT @id", Params: []driver.Param{{Name: "@id", Type: typ, Value: int64(1)}}},
			{Text: "SELECT 1"},
			{Text: "UPDATE t SET a = @id", Params: []driver.Param{{Name: "@id", Type: typ, Value: int64(1)}}},
			{Text: "SELECT @id", Params: []driver.Param{{Name: "@id", Type: typ, Value: int64(2)}}},
		}},
		"inline": {true, []driver.Request{{Text: "SELECT 1"}, {Text: "SELECT 1"}, {Text: "SELECT 1"}, {Text: "UPDATE t SET a = 1"}, {Text: "SELECT 2"}}},
	} {
		set, err := param.NewSet(table, param.Sequential, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		u, err := FromText(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		u, unused, err := WithParams(u, set, c.inline)
		if err != nil || len(unused) != 1 || unused[0] != "@spare" {
			t.Fatalf("%s: unused %v, %v", name, unused, err)
		}
		var got []driver.Request
		for i := int64(0); len(got) < len(c.want); i++ {
			for r := range u.Program.Iteration(driver.Worker{Connections: 1}, i) {
				own := *r
				own.Text, own.Source = strings.TrimSpace(own.Text), driver.Source{}
				if got = append(got, own); len(got) == len(c.want) {
					break
				}
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, _, err := WithParams(driver.Unit{}, nil, false); err == nil {
		t.Error("a program that has no batches")
	}
}

func TestUnused(t *testing.T) {
	t.Parallel()
	for want, in := range map[string][][]string{"": nil, "@a, @b": {{"@a", "@b"}}, "@b": {{"@a", "@b"}, {"@b"}}} {
		if got := Unused(in); got != want {
			t.Errorf("%v: %q, want %q", in, got, want)
		}
	}
}

// answer is a session that gives two result sets.
type answer struct{ failed bool }

func (a answer) Do(_ context.Context, r *driver.Request, sink driver.Sink) (driver.Outcome, error) {
	if a.failed {
		return driver.Outcome{Errors: []driver.ServerError{{Number: 208, Message: "no such table"}}}, nil
	}
	row := []any{int64(1), "one"}
	_ = sink.Event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: []driver.Column{{Name: "id", Type: driver.SQLType{Name: "int"}}, {Name: "name", Type: driver.SQLType{Name: "varchar", Len: 9}}}})
	_ = sink.Row(row)
	row[0] = int64(2) // a session uses its slice again
	_ = sink.Row(row)
	_ = sink.Event(driver.SinkEvent{Kind: driver.SinkDone})
	_ = sink.Event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: []driver.Column{{Name: "other"}}})
	_ = sink.Row([]any{"x"})
	return driver.Outcome{}, nil
}

func (answer) Close() error { return nil }

func TestReadParamsTakesTheFirstResultSet(t *testing.T) {
	t.Parallel()
	declared := []param.Column{{Name: "ID", Type: driver.SQLType{Name: "bigint"}}}
	table, err := ReadParams(t.Context(), answer{}, "SELECT", declared)
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Columns) != 2 || table.Columns[0].Type.Name != "bigint" || table.Columns[1].Type.Name != "varchar" {
		t.Errorf("%+v", table.Columns)
	}
	if len(table.Rows) != 2 || table.Rows[0][0] != int64(1) || table.Rows[1][0] != int64(2) || table.Rows[1][1] != "one" {
		t.Errorf("%v", table.Rows)
	}
	if _, err := ReadParams(t.Context(), answer{failed: true}, "SELECT", nil); err == nil || !strings.Contains(err.Error(), "208") {
		t.Errorf("%v", err)
	}
}
