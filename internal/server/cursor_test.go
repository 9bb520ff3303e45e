package server

import (
	"strings"
	"testing"

	"gostress/internal/engine/exec"
	"gostress/internal/tds"
)

// call sends an RPC by number. An int is a parameter, a *int an OUTPUT one, a
// string is of nvarchar; nil is an OUTPUT parameter without a value.
func (c *raw) call(proc uint16, args ...any) tokens {
	c.tb.Helper()
	intn := tds.TypeInfo{ID: tds.TypeIntN, Size: 4}
	c.wr.Begin(tds.PacketRPC, 0)
	b := tds.AppendHeaders(c.wr.Buf, c.ver, 0)
	b = tds.AppendRPC(b, &tds.RPC{ProcID: proc})
	for _, a := range args {
		switch v := a.(type) {
		case nil:
			b = tds.AppendNull(tds.AppendParam(b, "", tds.ParamOutput, &intn), &intn)
		case *int:
			b = tds.AppendInt(tds.AppendParam(b, "", tds.ParamOutput, &intn), &intn, int64(*v))
		case int:
			b = tds.AppendInt(tds.AppendParam(b, "", 0, &intn), &intn, int64(v))
		case string:
			str := tds.TypeInfo{ID: tds.TypeNVarChar, Size: 8000, Collation: tds.DefaultCollation}
			b = tds.AppendString(tds.AppendParam(b, "", 0, &str), &str, v)
		}
	}
	c.wr.Buf = b
	c.end()
	return c.answer()
}

// returned are the values of the OUTPUT parameters.
func (t tokens) returned() (v []int64) {
	for i := range t.list {
		if t.list[i].ID == tds.TokenReturnValue {
			v = append(v, tds.Int(t.list[i].Return.Value.Data))
		}
	}
	return v
}

// TestCursorTokens looks at what a server cursor sends, in TDS 7.4 and 7.1: the
// columns, ROWSTAT hidden among them, and COLINFO that says so.
func TestCursorTokens(t *testing.T) {
	t.Parallel()
	for _, version := range []tds.Version{tds.V74, tds.V71} {
		r := start(t, Options{Engine: exec.New(exec.Options{ServerName: "TEST"})}, nil)
		c := dialVersion(t, r, version)
		typ, control := 8, 1
		open := c.call(tds.ProcCursorOpen, nil, "select n from (values (1), (2), (3)) t (n)", &typ, &control, nil)
		got := open.returned()
		if len(got) != 4 || got[1] != 8 || got[2] != 1 || got[3] != 3 || len(open.errorNumbers()) > 0 {
			t.Fatalf("opening gives %v, errors %v", got, open.errorNumbers())
		}
		handle := int(got[0])
		fetch := c.call(tds.ProcCursorFetch, handle, 2, 0, 2)
		if fetch.rows != 2 || fetch.last().Token != tds.TokenDoneProc {
			t.Errorf("a fetch of two gives %d rows", fetch.rows)
		}
		cols := c.toks.Columns
		if len(cols) != 2 || cols[0].Flags&tds.ColHidden != 0 || cols[1].Name != "ROWSTAT" || cols[1].Flags&tds.ColHidden == 0 {
			t.Errorf("columns %+v", cols)
		}
		var ids []string
		for i := range fetch.list {
			switch k := fetch.list[i]; k.ID {
			case tds.TokenColMetadata:
				ids = append(ids, "columns")
			case tds.TokenColInfo:
				ids = append(ids, "info")
				if want := "\x01\x00\x04\x02\x00\x14"; string(k.Data) != want {
					t.Errorf("COLINFO % x, want % x", k.Data, want)
				}
			case tds.TokenDoneInProc:
				ids = append(ids, "done")
			case tds.TokenReturnStatus:
				ids = append(ids, "status")
			case tds.TokenDoneProc:
				ids = append(ids, "end")
			}
		}
		if got := strings.Join(ids, " "); got != "columns info done status end" {
			t.Errorf("tokens: %s", got)
		}
		if n := c.call(9, handle).errorNumbers(); len(n) > 0 {
			t.Errorf("closing: %v", n)
		}
		if n := c.call(tds.ProcCursorFetch, handle).errorNumbers(); len(n) != 1 || n[0] != 16909 {
			t.Errorf("after closing: %v", n)
		}
	}
}
