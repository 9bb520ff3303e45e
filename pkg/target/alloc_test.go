package target

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"gostress/internal/tds"
	"gostress/internal/tdsclient"
	"gostress/pkg/driver"
)

// canned is a server in process that answers every write with the same packet.
type canned struct {
	net.Conn // nil
	answer   []byte
	left     []byte
}

func (c *canned) Write(b []byte) (int, error) { c.left = c.answer; return len(b), nil }

func (c *canned) Read(b []byte) (int, error) {
	if len(c.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b, c.left)
	c.left = c.left[n:]
	return n, nil
}

func (c *canned) Close() error                     { return nil }
func (c *canned) SetDeadline(time.Time) error      { return nil }
func (c *canned) SetWriteDeadline(time.Time) error { return nil }

// orders are two calls of one order, with other values and tables.
func orders() [2]*driver.Request {
	var out [2]*driver.Request
	integer := driver.SQLType{Name: "int"}
	for k := range out {
		t := &driver.Table{Schema: "Sales", Name: "SalesOrderDetailType_inmem", Columns: []driver.SQLType{{Name: "smallint"}, integer, integer}}
		for i := range int64(5) {
			t.Rows = append(t.Rows, []any{i, 700 + i + int64(k), int64(1)})
		}
		id := any(1000 * int64(k+1))
		out[k] = &driver.Request{Kind: driver.RPC, Proc: "Sales.usp_InsertSalesOrder_inmem", Params: []driver.Param{
			{Type: integer, Output: true},
			{Type: driver.SQLType{Name: "datetime2", Scale: 7}, Value: time.Date(2026, 1, 2, 3, 4, 5+k, 0, time.UTC)},
			{Type: integer, Value: id}, {Type: integer, Value: id}, {Type: integer, Value: id}, {Type: integer, Value: id},
			{Value: t},
		}}
	}
	return out
}

// TestAllocations: requests over the tds wire allocate nothing once they are known.
// It is not parallel, since it counts the process's allocations.
func TestAllocations(t *testing.T) {
	answer := done(0)
	packet := append(tds.Header{Type: tds.PacketResponse, Status: tds.StatusEOM, Length: tds.HeaderSize + len(answer), ID: 1}.Append(nil), answer...)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	batch := text(orderBatch())
	for name, tt := range map[string]struct {
		requests [2]*driver.Request
		prepared bool
	}{
		"batch":    {requests: [2]*driver.Request{batch, batch}},
		"order":    {requests: orders()},
		"prepared": {requests: [2]*driver.Request{batch, batch}, prepared: true},
	} {
		direct := newDirect(tdsclient.NewConn(&canned{answer: packet}, defaultPacketSize), facts{}, &encodings{})
		var s driver.Session = direct
		if tt.prepared {
			m := &modal{wired: direct, prepare: newStatements(direct)}
			m.prepare.known[batch.Text] = &statement{handle: 1, execute: procedure{id: tds.ProcExecute, params: []driver.Param{input("", 1)}, first: 1}}
			s = m
		}
		i := 0
		call := func() {
			i++
			if out, err := s.Do(ctx, tt.requests[i&1], nil); err != nil || len(out.Errors) > 0 {
				t.Fatal(out, err)
			}
		}
		call()
		call()
		if n := testing.AllocsPerRun(200, call); n != 0 {
			t.Errorf("%s: %v allocations a request", name, n)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestEncodingsAreBounded: a program that makes each request anew is not kept
// alive, and one that changes a request's text gets what it wrote.
func TestEncodingsAreBounded(t *testing.T) {
	t.Parallel()
	var e encodings
	for range 2 * maxEncodings {
		e.text(text("x"))
	}
	n := 0
	e.texts.Range(func(any, any) bool { n++; return true })
	if n > maxEncodings {
		t.Errorf("%d texts are kept", n)
	}
	enc := encoder{shared: &encodings{}}
	r := text("one")
	a, err := enc.encode(r)
	if err != nil {
		t.Fatal(err)
	}
	r.Text = "another"
	b, err := enc.encode(r)
	if err != nil || a.Len(defaultPacketSize) == b.Len(defaultPacketSize) {
		t.Errorf("the old text went out: %v", err)
	}
}
