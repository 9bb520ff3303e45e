package server

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"gostress/internal/engine/exec"
	"gostress/internal/engine/types"
	"gostress/internal/tds"
)

func TestCancelOnTheWire(t *testing.T) {
	t.Parallel()
	s := &script{batch: func(ctx context.Context, text string, out exec.Output) error {
		if text == "wait" {
			if err := rows(out, true, 1); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		}
		return rows(out, false, 7)
	}}
	r := scripted(t, s)
	c := dialRaw(t, r)

	isAck := func(tk tokens) bool { return len(tk.list) == 1 && tk.last().Status == tds.DoneAttn }

	t.Run("while the request runs", func(t *testing.T) {
		c.batch("wait")
		time.Sleep(20 * time.Millisecond) // so that the sentry is the one to see it
		c.attention()
		if a := c.answer(); a.rows != 1 || a.last().Status != tds.DoneError {
			t.Fatalf("the request's own message: %d rows, %+v", a.rows, a.last())
		}
		if a := c.answer(); !isAck(a) {
			t.Fatalf("the acknowledgement: %+v", a.list)
		}
	})
	t.Run("together with the request", func(t *testing.T) {
		c.wr.Begin(tds.PacketSQLBatch, 0)
		c.wr.Buf = tds.AppendUTF16(tds.AppendHeaders(c.wr.Buf, c.ver, 0), "wait")
		c.wr.Close()
		c.wr.Begin(tds.PacketAttention, 0)
		c.end()
		c.answer()
		if a := c.answer(); !isAck(a) {
			t.Fatalf("the acknowledgement: %+v", a.list)
		}
	})
	t.Run("when nothing runs", func(t *testing.T) {
		c.attention()
		if a := c.answer(); !isAck(a) {
			t.Fatalf("the acknowledgement: %+v", a.list)
		}
	})
	t.Run("in the middle of a request", func(t *testing.T) {
		var buf bytes.Buffer
		buf.Write(tds.Header{Type: tds.PacketSQLBatch, Length: 12, ID: 1}.Append(nil))
		buf.Write([]byte{22, 0, 0, 0})
		buf.Write(tds.Header{Type: tds.PacketAttention, Status: tds.StatusEOM, Length: 8, ID: 1}.Append(nil))
		if _, err := c.nc.Write(buf.Bytes()); err != nil {
			t.Fatal(err)
		}
		if a := c.answer(); !isAck(a) {
			t.Fatalf("the acknowledgement: %+v", a.list)
		}
	})
	t.Run("an ignored request", func(t *testing.T) {
		h := tds.Header{Type: tds.PacketSQLBatch, Status: tds.StatusEOM | tds.StatusIgnore, Length: 8, ID: 1}
		if _, err := c.nc.Write(h.Append(nil)); err != nil {
			t.Fatal(err)
		}
		if a := c.answer(); len(a.list) != 1 || a.last().Status != tds.DoneError {
			t.Fatalf("answer %+v", a.list)
		}
	})
	c.batch("after")
	if a := c.answer(); a.rows != 1 || a.last().Status != tds.DoneCount {
		t.Fatalf("after the cancels: %d rows, %+v", a.rows, a.last())
	}
}

// A client may send its next request before the answer to the long one is out.
func TestPipelined(t *testing.T) {
	t.Parallel()
	s := &script{batch: func(ctx context.Context, text string, out exec.Output) error {
		if text == "slow" {
			time.Sleep(40 * time.Millisecond)
		}
		return rows(out, false, 7)
	}}
	r := scripted(t, s)
	for _, enc := range []tds.Encryption{tds.EncryptNotSupported, tds.EncryptOn} {
		c := dial(t, r, tds.V74, enc)
		for range 3 {
			c.batch("slow")
			time.Sleep(20 * time.Millisecond)
			c.batch("fast")
			c.batch("fast")
			for i := range 3 {
				if a := c.answer(); a.rows != 1 {
					t.Fatalf("answer %d: %+v", i, a.list)
				}
			}
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	ticks := int64(ticksPerDay) * 738000
	s := &script{batch: func(ctx context.Context, text string, out exec.Output) error {
		cols := []exec.Column{
			{Name: "d", Type: types.Date}, {Name: "s", Type: types.VarChar(types.Max)}, {Name: "n", Type: types.Int},
		}
		if err := out.Event(&exec.Columns{Columns: cols}); err != nil {
			return err
		}
		if err := out.Row([]types.Value{types.NewDate(ticks / ticksPerDay), types.NewString(types.KindVarChar, "abc"), types.NULL()}); err != nil {
			return err
		}
		return events(out, message(50000, 16, "oops"), &exec.Done{HasCount: true, Count: 1, Cmd: exec.CmdSelect})
	}}
	r := scripted(t, s)
	for _, v := range []tds.Version{tds.V71, tds.V72, tds.V73A, tds.V73B, tds.V74} {
		t.Run(v.String(), func(t *testing.T) {
			c := dialVersion(t, r, v)
			c.toks.Rows = true
			c.batch("select")
			a := c.answer()
			if a.rows != 1 || a.last().Count != 1 || len(a.errorNumbers()) != 1 {
				t.Fatalf("answer %+v", a.list)
			}
			if id := c.toks.Columns[0].Type.ID; (id == tds.TypeDateN) != v.Has73() {
				t.Errorf("date goes out as %02X", byte(id))
			}
			if id := c.toks.Columns[1].Type.ID; (id == tds.TypeVarChar) != v.Has72() {
				t.Errorf("varchar(max) goes out as %02X", byte(id))
			}
			if got := string(c.toks.Values[1].Data); got != "abc" {
				t.Errorf("text %q", got)
			}
		})
	}
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	r := scripted(t, &script{})
	for _, tc := range []struct {
		name string
		typ  tds.PacketType
		body []byte
	}{
		{"headers too long", tds.PacketSQLBatch, []byte{255, 255, 0, 0}},
		{"odd text", tds.PacketSQLBatch, append(tds.AppendHeaders(nil, tds.V74, 0), 'x')},
		{"empty RPC", tds.PacketRPC, tds.AppendHeaders(nil, tds.V74, 0)},
		{"RPC cut short", tds.PacketRPC, append(tds.AppendHeaders(nil, tds.V74, 0), 0xFF, 0xFF, 10, 0, 0, 0, 5)},
		{"transaction cut short", tds.PacketTransaction, append(tds.AppendHeaders(nil, tds.V74, 0), 5, 0, 1)},
		{"unknown type", 0x55, nil},
		{"second login", tds.PacketLogin7, make([]byte, 200)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := dialRaw(t, r)
			c.wr.Begin(tc.typ, 0)
			c.wr.Buf = append(c.wr.Buf, tc.body...)
			c.end()
			if n := c.answer().errorNumbers(); len(n) != 1 || n[0] != 4002 {
				t.Fatalf("errors %v", n)
			}
			if _, err := c.nc.Read(make([]byte, 1)); err == nil {
				t.Fatal("the connection goes on")
			}
		})
	}
}

// TestIdleMemory measures what a connection costs that has nothing to do.
func TestIdleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("opens many connections")
	}
	const n = 400
	for _, tc := range []struct {
		name string
		enc  tds.Encryption
		most int64 // bytes; the bare client's side is part of it
	}{{"in clear", tds.EncryptNotSupported, 24 << 10}, {"TLS, both sides", tds.EncryptOn, 96 << 10}} {
		t.Run(tc.name, func(t *testing.T) {
			r := start(t, Options{}, func(o exec.SessionOptions) (session, error) { return &script{opts: o}, nil })
			use := func() int64 {
				debug.FreeOSMemory()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return int64(m.HeapAlloc + m.StackInuse)
			}
			before := use()
			conns := make([]*raw, n)
			for i := range conns {
				conns[i] = dial(t, r, tds.V74, tc.enc)
				conns[i].batch("select 1")
				conns[i].answer()
				conns[i].rd.Release()
				conns[i].wr.Buf = nil
			}
			each := (use() - before) / n
			t.Logf("%d bytes a connection", each)
			if each > tc.most {
				t.Errorf("an idle connection takes %d bytes", each)
			}
			runtime.KeepAlive(conns)
		})
	}
}

// BenchmarkRoundTrip sends a batch of 1.2 kB to a session that does nothing.
func BenchmarkRoundTrip(b *testing.B) {
	r := scripted(b, &script{})
	c := dialRaw(b, r)
	text := fmt.Sprintf("%-600s", "exec Sales.usp_InsertSalesOrder_inmem")
	c.wr.Begin(tds.PacketSQLBatch, 0)
	c.wr.Buf = tds.AppendUTF16(tds.AppendHeaders(c.wr.Buf, c.ver, 0), text)
	c.wr.Close()
	msg := bytes.Clone(c.wr.Buf)
	buf := make([]byte, 4096)
	b.SetBytes(int64(len(msg)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.nc.Write(msg); err != nil {
			b.Fatal(err)
		}
		if _, err := c.nc.Read(buf); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRows reads 100 rows of two columns, about 9 kB, from a scripted session.
func BenchmarkRows(b *testing.B) {
	cols := &exec.Columns{Columns: []exec.Column{{Name: "n", Type: types.Int}, {Name: "s", Type: types.NVarChar(40)}}}
	done := &exec.Done{Cmd: exec.CmdSelect, HasCount: true, Count: 100}
	row := []types.Value{types.NewInt(types.KindInt, 1), types.NewString(types.KindNVarChar, "forty characters or so of wide text in it")}
	r := scripted(b, &script{batch: func(_ context.Context, _ string, out exec.Output) error {
		if err := out.Event(cols); err != nil {
			return err
		}
		for range 100 {
			if err := out.Row(row); err != nil {
				return err
			}
		}
		return out.Event(done)
	}})
	c := dialRaw(b, r)
	b.ReportAllocs()
	for b.Loop() {
		c.batch("select")
		if m, err := c.rd.ReadMessage(c.nc); err != nil || len(m.Data) < 8000 {
			b.Fatal(err)
		}
	}
}
