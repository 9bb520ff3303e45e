package tdsclient_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"gostress/internal/tds"
	"gostress/internal/tdsclient"
)

var due = time.Date(2026, 3, 4, 5, 6, 7, 890123456, time.UTC)

func typ(name string) tdsclient.SQLType { return tdsclient.SQLType{Name: name} }

// orderLines is the table of one order of the sample workload.
func orderLines(t testing.TB, product int64) *tdsclient.Table {
	t.Helper()
	rows := make([][]any, 5)
	for i := range rows {
		rows[i] = []any{int64(i + 1), product + int64(i), int64(1)}
	}
	table, err := tdsclient.NewTable("Sales", "SalesOrderDetailType_inmem", []tdsclient.SQLType{typ("smallint"), typ("int"), typ("int")}, rows)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// order is the call that makes an order: by position, of exact types.
func order(t testing.TB) *tdsclient.Request {
	t.Helper()
	r, err := tdsclient.Call("Sales.usp_InsertSalesOrder_inmem", []tdsclient.Param{
		{Type: typ("int"), Output: true},
		{Type: tdsclient.SQLType{Name: "datetime2", Scale: 7}, Value: due},
		{Type: typ("int"), Value: int64(4711)},
		{Type: typ("int"), Value: int64(1)},
		{Type: typ("int"), Value: int64(2)},
		{Type: typ("int"), Value: int64(3)},
		{Value: orderLines(t, 700)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sent is what goes to the server for r.
func sent(t *testing.T, r *tdsclient.Request, size int) []byte {
	t.Helper()
	peer := &canned{answer: packets(tds.AppendDone(nil, tds.V74, tds.Done{Token: tds.TokenDone})), keep: true}
	if _, err := tdsclient.NewConn(peer, size).Do(context.Background(), r, nil); err != nil {
		t.Fatal(err)
	}
	return peer.sent
}

func TestGoldenRequests(t *testing.T) {
	t.Parallel()
	named, err := tdsclient.ExecuteSQL("SELECT @n, @p2", []tdsclient.Param{
		{Name: "@n", Type: tdsclient.SQLType{Name: "decimal", Prec: 9, Scale: 2}, Value: "-12.5", Output: true},
		{Type: tdsclient.SQLType{Name: "nvarchar", Len: 10}, Value: "zwölf"},
	})
	if err != nil {
		t.Fatal(err)
	}
	ping, err := tdsclient.Call("sp_reset_connection", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		r    *tdsclient.Request
	}{
		{"batch", tdsclient.Batch("SELECT 'é😀'")},
		{"order", order(t)},
		{"executesql", named},
		{"call", ping},
	} {
		got := sent(t, tc.r, tds.DefaultPacketSize)
		golden(t, tc.name+".golden", hex.Dump(got))
		if len(got) != tc.r.Len(tds.DefaultPacketSize) {
			t.Errorf("%s: %d bytes, Len says %d", tc.name, len(got), tc.r.Len(tds.DefaultPacketSize))
		}
	}
}

// What is sent is what internal/tds reads, in packets of every size.
func TestPacketsOfRequests(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 240, 241, 242, 243, 1000, 40_000, 200_000} {
		text := strings.Repeat("x", n)
		for _, size := range []int{512, 513, 4096, 32767} {
			r := tdsclient.Batch(text)
			b := sent(t, r, size)
			if len(b) != r.Len(size) {
				t.Fatalf("%d characters in packets of %d: %d bytes, Len says %d", n, size, len(b), r.Len(size))
			}
			var in tds.Reader
			m, err := in.ReadMessage(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			h, got, err := tds.ParseBatch(m.Data, tds.V74)
			if err != nil || got != text || h.Transaction != 0 || h.Requests != 1 || in.Buffered() != 0 {
				t.Fatalf("%d characters in packets of %d: %v, %d characters, %+v", n, size, err, len(got), h)
			}
		}
	}
}

// Values set in place give the same bytes as a request made with them.
func TestSet(t *testing.T) {
	t.Parallel()
	params := func(values ...any) []tdsclient.Param {
		types := []tdsclient.SQLType{typ("int"), {Name: "nvarchar", Len: 20}, {Name: "datetime2", Scale: 3}, {}, {Name: "varbinary", Len: -1}, {Name: "money"}}
		out := make([]tdsclient.Param, len(values))
		for i, v := range values {
			out[i] = tdsclient.Param{Type: types[i], Value: v}
		}
		return out
	}
	rows := [][]any{
		{int64(1), "a", due, orderLines(t, 1), []byte{1}, "1.5"},
		{nil, "a longer one", nil, orderLines(t, 2), nil, "-922337203685477.5808"},
		{int64(-5), nil, due.Add(time.Hour), orderLines(t, 3), []byte("many bytes"), nil},
		{int64(7), "", due, orderLines(t, 4), []byte{}, int64(3)},
	}
	r, err := tdsclient.Call("p", params(rows[0]...))
	if err != nil {
		t.Fatal(err)
	}
	for _, values := range rows {
		for i, v := range values {
			if err := r.Set(i, v); err != nil {
				t.Fatal(err)
			}
		}
		want, err := tdsclient.Call("p", params(values...))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sent(t, r, 4096), sent(t, want, 4096); !bytes.Equal(got, want) {
			t.Errorf("%v:\n%swant\n%s", values, hex.Dump(got), hex.Dump(want))
		}
	}
	for i, v := range []any{"x", int64(1), "now", int64(1), "x", "1.23456"} {
		if err := r.Set(i, v); err == nil {
			t.Errorf("parameter %d takes %v", i, v)
		}
	}
}

func TestValuesThatDoNotFit(t *testing.T) {
	t.Parallel()
	for _, p := range []tdsclient.Param{
		{Type: typ("tinyint"), Value: int64(-1)},
		{Type: typ("smallint"), Value: int64(40000)},
		{Type: typ("int"), Value: int64(1) << 31},
		{Type: typ("int"), Value: "1"},
		{Type: typ("bit"), Value: int64(2)},
		{Type: typ("real"), Value: 1e300},
		{Type: typ("smallmoney"), Value: "214748.3648"},
		{Type: typ("money"), Value: "1e5"},
		{Type: tdsclient.SQLType{Name: "decimal", Prec: 4, Scale: 2}, Value: "100"},
		{Type: tdsclient.SQLType{Name: "decimal", Prec: 4, Scale: 2}, Value: "1.234"},
		{Type: tdsclient.SQLType{Name: "decimal", Prec: 39}, Value: "1"},
		{Type: tdsclient.SQLType{Name: "nvarchar", Len: 2}, Value: "abc"},
		{Type: tdsclient.SQLType{Name: "varchar", Len: 2}, Value: "abc"},
		{Type: tdsclient.SQLType{Name: "varbinary", Len: 2}, Value: []byte("abc")},
		{Type: tdsclient.SQLType{Name: "varchar", Len: 9000}, Value: "x"},
		{Type: tdsclient.SQLType{Name: "time", Scale: 8}, Value: due},
		{Type: typ("datetime"), Value: time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC)},
		{Type: typ("smalldatetime"), Value: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)},
		{Type: typ("date"), Value: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		{Type: typ("uniqueidentifier"), Value: "not one"},
		{Type: typ("geography"), Value: []byte{1}},
		{Value: orderLines(t, 1), Output: true},
	} {
		if _, err := tdsclient.Call("p", []tdsclient.Param{p}); err == nil {
			t.Errorf("%+v is taken", p)
		}
	}
	if _, err := tdsclient.NewTable("dbo", "t", []tdsclient.SQLType{typ("int")}, [][]any{{int64(1), int64(2)}}); err == nil {
		t.Error("a row with too many values is taken")
	}
}
