package script

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func readRML(text string) ([]Command, error) {
	c, _, err := ReadRML("x.rml", strings.NewReader(text))
	return c, err
}

func TestReadRML(t *testing.T) {
	t.Parallel()
	lang := func(text string, line, col, textLine int, after time.Duration) Command {
		return Command{Kind: Lang, Text: text, Line: line, Col: col, TextLine: textLine, After: after}
	}
	tests := map[string]struct {
		in   string
		want []Command
	}{
		"wait after": {`<RML><LANG WAITAFTER="15sec"><CMD>select @@VERSION</CMD></LANG></RML>`,
			[]Command{lang("select @@VERSION", 1, 6, 1, 15*time.Second)}},
		"units": {`<?xml version="1.0" encoding="UTF-16"?>` + "\n<RML>\n<LANG WAITAFTER='250ms'><CMD>a</CMD></LANG>\n<LANG WAITAFTER='2 min'><CMD><![CDATA[b < c]]></CMD></LANG></RML>",
			[]Command{lang("a", 3, 1, 3, 250*time.Millisecond), lang("b < c", 4, 1, 4, 2*time.Minute)}},
		"fractions, blanks, case": {`<rml><lang waitafter=" 1.5 S "><cmd>a</cmd></lang><Lang WaitAfter="0.25Min"><Cmd>b</Cmd></Lang></rml>`,
			[]Command{lang("a", 1, 6, 1, 1500*time.Millisecond), lang("b", 1, 51, 1, 15*time.Second)}},
		"no wait":        {"<RML><LANG><CMD>select 1</CMD></LANG></RML>", []Command{lang("select 1", 1, 6, 1, 0)}},
		"an empty batch": {"<RML><LANG><CMD> \n </CMD></LANG></RML>", nil},
		"a column counts characters": {"<RML><LANG><CMD>größe</CMD></LANG><LANG>\n\n<CMD>漢字\n2</CMD></LANG></RML>",
			[]Command{lang("größe", 1, 6, 1, 0), lang("漢字\n2", 1, 35, 3, 0)}},
		"every line end counts once": {"<RML>\r\n\r<LANG>\n\r<CMD>a</CMD></LANG></RML>",
			[]Command{lang("a", 3, 1, 5, 0)}},
		"entities of XML": {"<RML><LANG><CMD>a &lt; b &amp;&amp; c &#39;d&#x27;</CMD></LANG></RML>",
			[]Command{lang("a < b && c 'd'", 1, 6, 1, 0)}},
		"text and CDATA in pieces": {"<RML><LANG><CMD>a<!-- not this --><![CDATA[ < ]]>b<![CDATA[]]></CMD></LANG></RML>",
			[]Command{lang("a < b", 1, 6, 1, 0)}},
		"as attributes": {`<RML>
<CONNECT SEQ="-1" NEXTSEQ="7"><CMD>-- network protocol: TCP/IP
set quoted_identifier off</CMD></CONNECT>
<LANG SEQ="12" NEXTSEQ="20" REPLAY_DURATION="1" DELTA="1700000"><CMD>IF @@TRANCOUNT &gt; 0 COMMIT TRAN</CMD></LANG>
<RPC SEQ="25" NEXTSEQ="26" DELTA="8000000"><CMD>{call sp_reset_connection}</CMD></RPC>
<DISCONNECT SEQ="30"/>
</RML>`, []Command{
			{Kind: Connect, Text: "-- network protocol: TCP/IP\nset quoted_identifier off", Line: 2, Col: 1, TextLine: 2, Ordered: true, Seq: -1, Next: 7},
			{Kind: Lang, Text: "IF @@TRANCOUNT > 0 COMMIT TRAN", Line: 4, Col: 1, TextLine: 4, Ordered: true, Seq: 12, Next: 20, Timed: true, At: 1700 * time.Millisecond},
			{Kind: RPC, Text: "{call sp_reset_connection}", Call: &Call{Proc: "sp_reset_connection"}, Line: 5, Col: 1, TextLine: 5, Ordered: true, Seq: 25, Next: 26, Timed: true, At: 8 * time.Second},
			{Kind: Disconnect, Line: 6, Col: 1, TextLine: 6, Ordered: true, Seq: 30, Next: 31},
		}},
		"as elements": {`<RML><CONNECT>
  <SEQ>1</SEQ> <NEXTSEQ> 2 </NEXTSEQ>
  <CMD><![CDATA[set datefirst 7]]></CMD>
  <USER>TestUser</USER><HOST>MyHost</HOST><APPNAME>an app</APPNAME>
  <NETWORK>TCP/IP</NETWORK><DBID>8</DBID><PACKETSIZE>4096</PACKETSIZE>
</CONNECT></RML>`, []Command{
			{Kind: Connect, Text: "set datefirst 7", Line: 1, Col: 6, TextLine: 3, Ordered: true, Seq: 1, Next: 2, User: "TestUser"},
		}},
		"an RPC that the server alone understands": {"<RML><RPC><CMD>declare @p int exec p @p output</CMD></RPC></RML>",
			[]Command{{Kind: RPC, Text: "declare @p int exec p @p output", Line: 1, Col: 6, TextLine: 1}}},
		"a namespace": {`<RML xmlns="urn:a" xmlns:b="urn:b"><DISCONNECT/></RML>`, []Command{{Kind: Disconnect, Line: 1, Col: 36, TextLine: 1}}},
		"a comment":   {"<!-- a --><RML><!-- b --><DISCONNECT><!-- c --></DISCONNECT></RML>\n<!-- d -->\n", []Command{{Kind: Disconnect, Line: 1, Col: 26, TextLine: 1}}},
		"the last number that there is": {`<RML><LANG SEQ="4611686018427387903"><CMD>a</CMD></LANG></RML>`,
			[]Command{{Kind: Lang, Text: "a", Line: 1, Col: 6, TextLine: 1, Ordered: true, Seq: 1<<62 - 1, Next: 1 << 62}}},
		"a DELTA that never comes": {`<RML><LANG DELTA="4611686018427387903"><CMD>a</CMD></LANG></RML>`,
			[]Command{{Kind: Lang, Text: "a", Line: 1, Col: 6, TextLine: 1, Timed: true, At: 9223372036854775 * time.Microsecond}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := readRML(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("commands (-want +got):\n%s", d)
			}
		})
	}
}

func TestReadRMLFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"unknown element":           {"<RML>\n  <BULK/></RML>", "x.rml, line 2, column 3: <BULK> is not supported"},
		"element in a command":      {"<RML><RPC>\n <PARAM/><CMD>p</CMD></RPC></RML>", "line 2, column 2: <PARAM> in <RPC> is not supported"},
		"unknown attribute":         {`<RML><LANG FOO="1"><CMD>a</CMD></LANG></RML>`, "line 1, column 6: attribute FOO of <LANG> is not supported"},
		"attribute of RML":          {`<RML FOO="1"/>`, "attribute FOO of <RML>"},
		"attribute of CMD":          {"<RML><LANG>\n<CMD FOO='1'>a</CMD></LANG></RML>", "line 2, column 1: attribute FOO of <CMD>"},
		"CMD as attribute":          {`<RML><LANG CMD="a"/></RML>`, "CMD is an element"},
		"user of a LANG":            {`<RML><LANG USER="a"><CMD>a</CMD></LANG></RML>`, "attribute USER of <LANG>"},
		"CMD of a DISCONNECT":       {"<RML><DISCONNECT><CMD>a</CMD></DISCONNECT></RML>", "<CMD> in <DISCONNECT> is not supported"},
		"bad time":                  {`<RML><LANG WAITAFTER="soon"><CMD>a</CMD></LANG></RML>`, `WAITAFTER="soon" is not a time`},
		"no unit":                   {`<RML><LANG WAITAFTER="15"><CMD>a</CMD></LANG></RML>`, "is not a time"},
		"unknown unit":              {`<RML><LANG WAITAFTER="15 h"><CMD>a</CMD></LANG></RML>`, "is not a time"},
		"negative time":             {`<RML><LANG WAITAFTER="-1s"><CMD>a</CMD></LANG></RML>`, "is not a time"},
		"time without end":          {`<RML><LANG WAITAFTER="99999999999999999999min"><CMD>a</CMD></LANG></RML>`, "is not a time"},
		"bad SEQ":                   {`<RML><LANG SEQ="1.5"><CMD>a</CMD></LANG></RML>`, `SEQ="1.5" is not a whole number`},
		"bad SEQ in an element":     {"<RML><LANG><CMD>a</CMD>\n<SEQ>x</SEQ></LANG></RML>", `line 2, column 6: SEQ="x"`},
		"negative DELTA":            {`<RML><LANG DELTA="-1"><CMD>a</CMD></LANG></RML>`, `DELTA="-1" is not a whole number from 0`},
		"end before the start":      {`<RML><LANG SEQ="5" NEXTSEQ="4"><CMD>a</CMD></LANG></RML>`, "NEXTSEQ=4 is less than SEQ=5"},
		"end without start":         {`<RML><LANG NEXTSEQ="4"><CMD>a</CMD></LANG></RML>`, "NEXTSEQ=4 without SEQ"},
		"attribute and element":     {`<RML><LANG SEQ="5"><SEQ>5</SEQ><CMD>a</CMD></LANG></RML>`, "<SEQ> in <LANG> stands twice"},
		"attribute twice":           {`<RML><LANG SEQ="5" seq="5"><CMD>a</CMD></LANG></RML>`, "attribute seq of <LANG> stands twice"},
		"two commands in one":       {"<RML><LANG><CMD>a</CMD><CMD>b</CMD></LANG></RML>", "<CMD> in <LANG> stands twice"},
		"not closed":                {"<RML>\n<LANG><CMD>a</CMD>", "cannot read the .rml file: the file ends inside <LANG> of line 2"},
		"RML not closed":            {"<RML><LANG><CMD>a</CMD></LANG>\n", "line 2, column 1: cannot read the .rml file: the file ends inside <RML> of line 1"},
		"closed by another":         {"<RML>\n<LANG><CMD>a</LANG></RML>", "line 2, column 13: cannot read the .rml file: element <CMD> closed by </LANG>"},
		"an end without start":      {"<RML>\n</RML> </RML>", "line 2, column 8: cannot read the .rml file: unexpected end element </RML>"},
		"CDATA not closed":          {"<RML><LANG><CMD><![CDATA[a</CMD>", "the file ends inside <CMD> of line 1"},
		"no RML":                    {"", "there is no <RML> element"},
		"another root":              {"<HTML/>", "<HTML> stands where one <RML> element is expected"},
		"no CMD":                    {"<RML>\n<LANG></LANG></RML>", "line 2, column 1: <LANG> has no <CMD>"},
		"an RPC that calls none":    {"<RML><RPC><CMD> </CMD></RPC></RML>", "<RPC> has an empty <CMD>"},
		"two roots":                 {"<RML/><RML/>", "one <RML> element"},
		"text outside":              {"<RML/> x", "text stands outside the <RML> element"},
		"text in RML":               {"<RML> x</RML>", "text stands outside a command"},
		"text beside CMD":           {"<RML><LANG>GO<CMD>a</CMD></LANG></RML>", "text stands in <LANG> outside <CMD>"},
		"markup in CMD":             {"<RML><LANG><CMD>a <b></CMD></LANG></RML>", "<b> stands inside <CMD>: write < as &lt;"},
		"a less-than sign":          {"<RML><LANG><CMD>a < 1</CMD></LANG></RML>", "line 1, column 20: cannot read the .rml file: expected element name after <"},
		"a document type":           {"<!DOCTYPE RML [<!ENTITY a 'b'>]>\n<RML/>", "line 1, column 1: <!DOCTYPE> is not supported"},
		"an entity":                 {"<RML><LANG><CMD>&a;</CMD></LANG></RML>", "invalid character entity &a;"},
		"a NUL":                     {"<RML>\n<LANG><CMD>\x00</CMD></LANG></RML>", "line 2"},
		"an encoding of its own":    {`<?xml version="1.0" encoding="shift_jis"?><RML/>`, `encoding "shift_jis" is not known: save the file as UTF-8 or UTF-16`},
		"another version of XML":    {`<?xml version="1.1"?><RML/>`, "unsupported version"},
		"a long name without end":   {"<RML><LANG>&" + strings.Repeat("a", 5000) + ";", "invalid character entity &aaa"},
		"an error line stays short": {"<RML><" + strings.Repeat("a", 5000) + "/></RML>", "aaa...> is not supported"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readRML(tt.in)
			var e *Error
			if !errors.As(err, &e) || e.Line == 0 || e.Col == 0 || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want a place and %q", err, tt.want)
			}
			if err != nil && len(err.Error()) > 300 {
				t.Errorf("the error is %d bytes long", len(err.Error()))
			}
		})
	}
}

func TestRMLEncodings(t *testing.T) {
	t.Parallel()
	const wide = "select N'größe – 漢字 𝄞'"
	const latin = "select 'größe'"
	file := func(decl, text string) string {
		return decl + "\n<RML>\n<LANG><CMD>" + text + "</CMD></LANG></RML>\n"
	}
	const decl16 = `<?xml version="1.0" encoding="utf-16"?>`
	long := "-- " + strings.Repeat("größe ", 100_000) // characters are cut at buffers' ends
	tests := map[string]struct {
		in   []byte
		want string
		enc  Encoding
	}{
		"UTF-8":                          {[]byte(file("", wide)), wide, UTF8},
		"UTF-8 with BOM":                 {[]byte("\xEF\xBB\xBF" + file(`<?xml version="1.0" encoding="utf-8"?>`, wide)), wide, UTF8BOM},
		"UTF-16LE with BOM, declared":    {utf16Bytes(file(decl16, wide), false, true), wide, UTF16LE},
		"UTF-16BE with BOM, declared":    {utf16Bytes(file(decl16, wide), true, true), wide, UTF16BE},
		"UTF-16LE without BOM, declared": {utf16Bytes(file(decl16, latin), false, false), latin, UTF16LE},
		"UTF-16BE without BOM, declared": {utf16Bytes(file(decl16, latin), true, false), latin, UTF16BE},
		"UTF-16LE without BOM":           {utf16Bytes(file("", latin), false, false), latin, UTF16LE},
		"declared UTF-16, kept as UTF-8": {[]byte(file(decl16, wide)), wide, UTF8},
		"Windows-1252":                   {[]byte(file("", "select 'gr\xf6\xdfe'")), latin, Windows1252},
		"Windows-1252, declared":         {[]byte(file(`<?xml version="1.0" encoding="windows-1252"?>`, "select '\xc3\xa9'")), "select 'Ã©'", Windows1252},
		"long UTF-8":                     {[]byte(file("", long)), long, UTF8},
		"long UTF-16":                    {utf16Bytes(file("", long), true, false), long, UTF16BE},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, enc, err := ReadRML("x.rml", bytes.NewReader(tt.in))
			if err != nil || len(got) != 1 || got[0].Text != tt.want || enc != tt.enc || got[0].Line != 3 || got[0].Col != 1 {
				t.Errorf("got %.200v, %s, %v; want %.100q, %s at line 3", got, enc, err, tt.want, tt.enc)
			}
		})
	}
	if _, _, err := ReadRML("x.rml", bytes.NewReader(append(utf16Bytes(file("", latin), false, true), 'x'))); err == nil || !strings.Contains(err.Error(), "in the middle") {
		t.Errorf("an odd byte: %v", err)
	}
}

func TestParseCall(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   string
		want *Call
	}{
		"escape":             {"{call sp_reset_connection}", &Call{Proc: "sp_reset_connection"}},
		"escape, brackets":   {" { CALL [my proc] ( ) } ", &Call{Proc: "[my proc]"}},
		"escape with result": {"{? = call dbo.p(1)}", &Call{"dbo.p", []Arg{{"", Integer, "1"}}}},
		"escape, arguments":  {"{call p(-1, 'it''s', N'ä', 0x0aF, NULL, 1.50, .5, 2., 1e-3)}", &Call{"p", []Arg{{"", Integer, "-1"}, {"", Varchar, "it's"}, {"", NVarchar, "ä"}, {"", Binary, "\x00\xaf"}, {"", Null, ""}, {"", Decimal, "1.50"}, {"", Decimal, ".5"}, {"", Decimal, "2."}, {"", Float, "1e-3"}}}},
		"exec":               {"exec p", &Call{Proc: "p"}},
		"exec, named":        {"EXECUTE db..p 5, @a = 1 ,@b=N'x';", &Call{"db..p", []Arg{{"", Integer, "5"}, {"@a", Integer, "1"}, {"@b", NVarchar, "x"}}}},
		"sp_executesql":      {"exec sp_executesql N'select @a',N'@a int',@a=5", &Call{"sp_executesql", []Arg{{"", NVarchar, "select @a"}, {"", NVarchar, "@a int"}, {"@a", Integer, "5"}}}},
		"empty bytes":        {"exec p 0x", &Call{"p", []Arg{{"", Binary, ""}}}},
		"a quoted name":      {`exec "a""b".[c]]d]`, &Call{Proc: `"a""b".[c]]d]`}},
		"a plus sign":        {"exec p + 3", &Call{"p", []Arg{{"", Integer, "3"}}}},

		"a batch":                   {"select 1", nil},
		"variables":                 {"exec p @a", nil},
		"output":                    {"exec p @a=1 output", nil},
		"default":                   {"exec p default", nil},
		"a result":                  {"exec @r = p", nil},
		"two statements":            {"exec p 1; select 2", nil},
		"a string":                  {"exec ('select 1')", nil},
		"as":                        {"EXECUTE AS USER = 'x'", nil},
		"position behind a name":    {"exec p @a=1, 2", nil},
		"a marker":                  {"{call p(?)}", nil},
		"no closing brace":          {"{call p(1)", nil},
		"text behind the escape":    {"{call p} select", nil},
		"a string without end":      {"exec p 'a", nil},
		"half a number":             {"exec p 1x", nil},
		"a sign alone":              {"exec p -", nil},
		"a point alone":             {"exec p .", nil},
		"no name":                   {"exec ", nil},
		"a comma at the end":        {"exec p 1,", nil},
		"money":                     {"exec p $1", nil},
		"a comment":                 {"exec p 1 -- one", nil},
		"five parts":                {"exec a.b.c.d.e", nil},
		"a date escape":             {"{call p({d '2020-01-01'})}", nil},
		"brackets that never end":   {"exec [p", nil},
		"a bracket of no length":    {"exec []", nil},
		"an option behind the name": {"exec p with recompile", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := parseCall(tt.in)
			if !ok {
				got = nil
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("call (-want +got):\n%s", d)
			}
		})
	}
}

// endless is a file of one thing after the other that stands nowhere. Reading it
// looks at the memory that is in use.
type endless struct {
	head, body string
	size, at   int64
	looked     int64  // where memory was looked at last
	most       uint64 // bytes in use
}

func (e *endless) Read(p []byte) (int, error) {
	if e.at >= e.size {
		return 0, io.EOF
	}
	if e.at-e.looked >= 1<<19 {
		e.looked, e.most = e.at, max(e.most, inUse())
	}
	n := 0
	for n < len(p) && e.at < e.size {
		if e.at < int64(len(e.head)) {
			p[n] = e.head[e.at]
		} else {
			p[n] = e.body[(e.at-int64(len(e.head)))%int64(len(e.body))]
		}
		n, e.at = n+1, e.at+1
	}
	return n, nil
}

func (e *endless) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekEnd {
		offset += e.size
	}
	e.at, e.looked = offset, 0
	return offset, nil
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestRMLMemory reads large files whose content is not kept: little memory is in use
// at any time.
func TestRMLMemory(t *testing.T) {
	const size = 4 << 20
	for name, in := range map[string]*endless{
		"comments": {head: "<RML>", body: "<!-- nothing to run -->\n", size: size},
		"batches":  {head: "<RML>", body: "<LANG><CMD> </CMD></LANG>", size: size},
		"nesting":  {head: "<RML>", body: "<LANG>", size: size},
		"one text": {head: "<RML>", body: "  \n", size: size / 8}, // which the decoder holds
	} {
		before := inUse()
		if _, _, err := ReadRML("x.rml", in); err == nil {
			t.Errorf("%s: the file has no end, and nobody minds", name)
		}
		if used := int64(in.most) - int64(before); used > size/2 {
			t.Errorf("%s: %d KB in use", name, used>>10)
		}
	}
}

func TestLoadRML(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	s, err := Load(write("fine.RML", "<RML><LANG><CMD>a</CMD></LANG></RML>"))
	if err != nil || len(s.Commands) != 1 || s.Batches != nil || s.Encoding != UTF8 {
		t.Errorf("got %+v, %v", s, err)
	}
	page := write("page.rml", `<?xml version="1.0" encoding="windows-1252"?>`+"<RML><LANG><CMD>gr\x94\xe1e</CMD></LANG></RML>\x1a")
	if s, err := CodePage(850).Load(page); err != nil || s.Commands[0].Text != "größe" {
		t.Errorf("code page 850: %+v, %v", s, err)
	}
	if s, err := Load(page); err != nil || s.Commands[0].Text != "gr”áe" {
		t.Errorf("the declared page: %+v, %v", s, err)
	}
	for path, want := range map[string]string{
		write("none.rml", "<RML/>"):       "none.rml: nothing to run: the file holds no command",
		write("bad.rml", "<RML>\n<X"):     "bad.rml, line 2",
		filepath.Join(dir, "missing.rml"): "missing.rml: cannot read the input file: no such file",
		t.TempDir() + ".rml":              "cannot read the input file",
	} {
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want it to say %q", path, err, want)
		}
	}
}

func FuzzReadRML(f *testing.F) {
	for _, s := range []string{
		`<RML><LANG WAITAFTER="1.5s"><CMD><![CDATA[a]]></CMD></LANG></RML>`,
		"<RML>\n<x", "\xFF\xFE<\x00R\x00", "<?xml version='1.0' encoding='latin1'?><RML>\r\n<RPC SEQ='1' NEXTSEQ='2'><CMD>{call p(1,'\xe4')}</CMD></RPC></RML>",
		"<RML><CONNECT><SEQ>-1</SEQ><USER>a</USER></CONNECT><DISCONNECT DELTA='5'/></RML>",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		commands, _, err := ReadRML("f", bytes.NewReader(b))
		if err != nil {
			if err.Error() == "" || len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		lines := 1 + bytes.Count(b, []byte{'\n'}) + bytes.Count(b, []byte{'\r'})
		last := position{}
		for _, c := range commands {
			here := position{c.Line, c.Col}
			if here.line < last.line || here.line == last.line && here.col <= last.col {
				t.Errorf("%v stands behind %v", last, here)
			}
			if c.Line > lines || c.TextLine < c.Line || c.Ordered && c.Next <= c.Seq {
				t.Errorf("%+v in %d lines", c, lines)
			}
			last = here
		}
	})
}

func FuzzParseCall(f *testing.F) {
	f.Add("exec dbo.p -1.5e3, @a = N'it''s', @b=0x0, @c=null;")
	f.Add("{?=call [a]]b](1)}")
	f.Fuzz(func(t *testing.T, s string) {
		c, ok := parseCall(s)
		if !ok {
			return
		}
		if c.Proc == "" || !strings.Contains(s, c.Proc) {
			t.Errorf("%q calls %q", s, c.Proc)
		}
		// What was read, written again, reads as the same.
		var args []string
		for _, a := range c.Args {
			text := a.Text
			switch a.Kind {
			case Null:
				text = "NULL"
			case Varchar, NVarchar:
				text = "'" + strings.ReplaceAll(text, "'", "''") + "'"
				if a.Kind == NVarchar {
					text = "N" + text
				}
			case Binary:
				text = fmt.Sprintf("0x%x", text)
			}
			if a.Name != "" {
				text = a.Name + "=" + text
			}
			args = append(args, text)
		}
		again, ok := parseCall("EXEC " + c.Proc + " " + strings.Join(args, ", "))
		if d := cmp.Diff(c, again); !ok || d != "" {
			t.Errorf("%q (-first +again):\n%s", s, d)
		}
	})
}
