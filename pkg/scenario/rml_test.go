package scenario

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gostress/pkg/driver"
	"gostress/pkg/script"
)

func rml(t *testing.T, name, text string) script.Script {
	t.Helper()
	cmds, enc, err := script.ReadRML(name, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return script.Script{Path: name, Encoding: enc, Commands: cmds}
}

// sends tells requests in a word each.
func sends(reqs []*driver.Request) string {
	var out []string
	for _, r := range reqs {
		switch r.Kind {
		case driver.Disconnect:
			out = append(out, "|")
		case driver.RPC:
			out = append(out, "rpc "+r.Proc)
		default:
			out = append(out, r.Text)
		}
	}
	return strings.Join(out, ",")
}

func TestRMLInStressMode(t *testing.T) {
	t.Parallel()
	const connect = "<CONNECT><CMD>set</CMD></CONNECT>"
	const lang, disconnect = "<LANG><CMD>a</CMD></LANG>", "<DISCONNECT/>"
	tests := map[string]struct{ in, first, later string }{
		"batches alone":              {lang + lang, "a,a", "a,a"},
		"a connection left open":     {connect + lang, "set,a", "|,set,a"},
		"a connection that is ended": {connect + lang + disconnect, "set,a,|", "set,a,|"},
		"two connections":            {connect + lang + disconnect + connect + lang, "set,a,|,set,a", "|,set,a,|,set,a"},
		"a connection over another":  {lang + connect + lang, "a,|,set,a", "a,|,set,a"},
		"a connection without batch": {"<CONNECT/>" + lang + "<CONNECT/>" + lang, "a,|,a", "|,a,|,a"},
		"ended twice":                {lang + disconnect + disconnect, "a,|", "a,|"},
		"ended at once":              {disconnect + lang, "a", "a"},
		"calls": {"<RPC><CMD>{call sp_reset_connection}</CMD></RPC><RPC><CMD>exec p 1</CMD></RPC><RPC><CMD>exec p @v</CMD></RPC><LANG><CMD>{call q}</CMD></LANG><LANG><CMD>exec q 1</CMD></LANG>",
			"rpc sp_reset_connection,rpc p,exec p @v,rpc q,exec q 1", "rpc sp_reset_connection,rpc p,exec p @v,rpc q,exec q 1"},
		"the order is the file's": {`<LANG SEQ="9"><CMD>a</CMD></LANG><LANG SEQ="3"><CMD>b</CMD></LANG>`, "a,b", "a,b"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, err := FromScript(context.Background(), rml(t, "dir/x.rml", "<RML>"+tt.in+"</RML>"))
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []string{tt.first, tt.later, tt.later} {
				if got := sends(collect(u.Program.Iteration(driver.Worker{}, int64(i)))); got != want {
					t.Errorf("iteration %d sends %s, want %s", i, got, want)
				}
			}
			for range u.Program.Iteration(driver.Worker{}, 1) {
				break // a program that is stopped yields no more
			}
		})
	}
}

func TestRMLNamesItsSource(t *testing.T) {
	t.Parallel()
	u, err := FromScript(context.Background(), rml(t, "dir/x.rml", "<RML><CONNECT/>\n<LANG>\n<CMD>a</CMD></LANG>\n<DISCONNECT/></RML>"))
	if err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs("dir/x.rml")
	if err != nil {
		t.Fatal(err)
	}
	got := collect(u.Program.Iteration(driver.Worker{}, 0))
	want := []driver.Source{{File: abs, Line: 3, Batch: 2}, {File: abs, Line: 4, Batch: 3}}
	if len(got) != 2 || got[0].Source != want[0] || got[1].Source != want[1] || u.Name != "x.rml" {
		t.Errorf("unit %s: %+v", u.Name, got)
	}
	if _, err := FromScript(context.Background(), rml(t, "x.rml", "<RML>\n<RPC><CMD>{call p(?)}</CMD></RPC></RML>")); err == nil || !strings.Contains(err.Error(), "x.rml, line 2: ") {
		t.Errorf("a marker: %v", err)
	}
}

func TestCallParams(t *testing.T) {
	t.Parallel()
	exact := func(name string, prec, scale uint8, value any) driver.Param {
		return driver.Param{Type: driver.SQLType{Name: name, Prec: prec, Scale: scale}, Value: value}
	}
	sized := func(name string, n int32, value any) driver.Param {
		return driver.Param{Type: driver.SQLType{Name: name, Len: n}, Value: value}
	}
	long := strings.Repeat("a", 8001)
	tests := map[string]struct {
		in   script.Arg
		want driver.Param
	}{
		"int":                  {script.Arg{Kind: script.Integer, Text: "-2147483648"}, exact("int", 0, 0, int64(-2147483648))},
		"bigint":               {script.Arg{Kind: script.Integer, Text: "2147483648"}, exact("bigint", 0, 0, int64(2147483648))},
		"beyond bigint":        {script.Arg{Kind: script.Integer, Text: "-9223372036854775809"}, exact("numeric", 19, 0, "-9223372036854775809")},
		"decimal":              {script.Arg{Kind: script.Decimal, Text: "0012.340"}, exact("numeric", 5, 3, "12.340")},
		"decimal without zero": {script.Arg{Kind: script.Decimal, Text: "-.05"}, exact("numeric", 2, 2, "-0.05")},
		"decimal with a point": {script.Arg{Kind: script.Decimal, Text: "2."}, exact("numeric", 1, 0, "2")},
		"decimal zero":         {script.Arg{Kind: script.Decimal, Text: "0."}, exact("numeric", 1, 0, "0")},
		"float":                {script.Arg{Kind: script.Float, Text: "-1.5e3"}, exact("float", 0, 0, -1500.0)},
		"varchar":              {script.Arg{Kind: script.Varchar, Text: "a"}, sized("varchar", 8000, "a")},
		"long varchar":         {script.Arg{Kind: script.Varchar, Text: long}, sized("varchar", -1, long)},
		"varchar beyond ASCII": {script.Arg{Kind: script.Varchar, Text: "ä"}, sized("nvarchar", 4000, "ä")},
		"nvarchar":             {script.Arg{Kind: script.NVarchar, Text: "ä"}, sized("nvarchar", 4000, "ä")},
		"long nvarchar":        {script.Arg{Kind: script.NVarchar, Text: strings.Repeat("𝄞", 2001)}, sized("nvarchar", -1, strings.Repeat("𝄞", 2001))},
		"bytes":                {script.Arg{Kind: script.Binary, Text: "\x00\x01"}, sized("varbinary", 8000, []byte{0, 1})},
		"NULL":                 {script.Arg{Kind: script.Null}, sized("nvarchar", 4000, nil)},
		"a name":               {script.Arg{Name: "@a", Kind: script.Integer, Text: "1"}, driver.Param{Name: "@a", Type: driver.SQLType{Name: "int"}, Value: int64(1)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := callParams([]script.Arg{tt.in})
			if d := cmp.Diff([]driver.Param{tt.want}, got); !ok || d != "" {
				t.Errorf("parameters (-want +got):\n%s", d)
			}
		})
	}
	for _, bad := range []script.Arg{{Kind: script.Integer, Text: strings.Repeat("9", 39)}, {Kind: script.Float, Text: "1e999"}} {
		if got, ok := callParams([]script.Arg{bad}); ok {
			t.Errorf("%s became %+v", bad.Text, got)
		}
	}
}
