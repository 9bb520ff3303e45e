package ostress

import (
	"bytes"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gostress/pkg/driver"
)

// node is an element as encoding/xml reads it.
type node struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Nodes   []node     `xml:",any"`
}

func (n node) attr(name string) string {
	for _, a := range n.Attrs {
		if a.Name.Local == name {
			return unescaped(a.Value)
		}
	}
	return ""
}

func (n node) all(name string) []node {
	var out []node
	for _, c := range n.Nodes {
		if c.XMLName.Local == name {
			out = append(out, c)
		}
	}
	return out
}

// value is what the element v stands for.
func (n node) value(t testing.TB) any {
	t.Helper()
	switch {
	case n.attr("null") == "true":
		return nil
	case n.attr("encoding") == "hex":
		b, err := hex.DecodeString(n.Text)
		if err != nil {
			t.Fatal(err)
		}
		return b
	case n.attr("encoding") != "":
		t.Fatalf("encoding %q", n.attr("encoding"))
	}
	return unescaped(n.Text)
}

var escape = regexp.MustCompile(`_x([0-9A-F]{4})_`)

// unescaped reads the escapes as docs/results.md describes them.
func unescaped(s string) string {
	return escape.ReplaceAllStringFunc(s, func(e string) string {
		n, _ := strconv.ParseUint(e[2:6], 16, 16)
		if n>>8 == 0xDC {
			return string([]byte{byte(n)})
		}
		return string(rune(n))
	})
}

func readXML(t testing.TB, b []byte) node {
	t.Helper()
	var n node
	d := xml.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(&n); err != nil {
		t.Fatalf("not well-formed: %v\n%s", err, b)
	}
	if rest := strings.TrimSpace(string(b[d.InputOffset():])); rest != "" {
		t.Fatalf("behind the document stands %q", rest)
	}
	if n.XMLName.Local != "results" || n.attr("version") != "1" {
		t.Fatalf("the document is %s version %q", n.XMLName.Local, n.attr("version"))
	}
	return n
}

// memFile is a file on a disk with so much room.
type memFile struct {
	data []byte
	room int
}

func (f *memFile) WriteAt(p []byte, at int64) (int, error) {
	n := min(len(p), max(f.room-int(at), 0))
	if end := int(at) + n; end > len(f.data) {
		f.data = append(f.data, make([]byte, end-len(f.data))...)
	}
	copy(f.data[at:], p[:n])
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (f *memFile) Truncate(size int64) error {
	f.data = f.data[:size]
	return nil
}

func TestXMLHoldsEveryType(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 123456700, time.FixedZone("", -(3*3600+30*60)))
	utc := time.Date(2026, 1, 2, 3, 4, 5, 123456700, time.UTC)
	tests := map[string]struct {
		typ   driver.SQLType
		value any
		want  any
		attrs string // of its column, after name and type
	}{
		"int":              {driver.SQLType{Name: "int"}, int64(-7), "-7", ""},
		"bigint":           {driver.SQLType{Name: "bigint"}, int64(-1 << 63), "-9223372036854775808", ""},
		"bit":              {driver.SQLType{Name: "bit"}, true, "1", ""},
		"float":            {driver.SQLType{Name: "float"}, 0.1, "0.1", ""},
		"float, large":     {driver.SQLType{Name: "float"}, 1e300, "1e+300", ""},
		"real":             {driver.SQLType{Name: "real"}, float64(float32(0.1)), "0.1", ""},
		"decimal":          {driver.SQLType{Name: "decimal", Prec: 38, Scale: 4}, "1234567890123456789012345678901234.5678", "1234567890123456789012345678901234.5678", "precision=38 scale=4"},
		"money":            {driver.SQLType{Name: "money"}, "-922337203685477.5808", "-922337203685477.5808", ""},
		"date":             {driver.SQLType{Name: "date"}, utc, "2026-01-02", ""},
		"time":             {driver.SQLType{Name: "time", Scale: 7}, utc, "03:04:05.1234567", "scale=7"},
		"smalldatetime":    {driver.SQLType{Name: "smalldatetime"}, utc, "2026-01-02T03:04:05", ""},
		"datetime":         {driver.SQLType{Name: "datetime"}, utc, "2026-01-02T03:04:05.123", ""},
		"datetime2":        {driver.SQLType{Name: "datetime2", Scale: 7}, utc, "2026-01-02T03:04:05.1234567", "scale=7"},
		"datetimeoffset":   {driver.SQLType{Name: "datetimeoffset", Scale: 3}, at, "2026-01-02T03:04:05.123-03:30", "scale=3"},
		"variant of time":  {driver.SQLType{Name: "sql_variant"}, utc, "2026-01-02T03:04:05.1234567", ""},
		"binary":           {driver.SQLType{Name: "varbinary", Len: 4}, []byte{0xAB, 0}, []byte{0xAB, 0}, "length=4"},
		"binary, empty":    {driver.SQLType{Name: "varbinary", Len: -1}, []byte{}, []byte{}, "length=max"},
		"empty":            {driver.SQLType{Name: "nvarchar", Len: 10}, "", "", "length=10"},
		"NULL":             {driver.SQLType{Name: "nvarchar", Len: 10}, nil, nil, "length=10"},
		"the word NULL":    {driver.SQLType{Name: "nvarchar", Len: 10}, "NULL", "NULL", "length=10"},
		"markup":           {driver.SQLType{Name: "xml"}, `<a b="c">&amp;]]></a>`, `<a b="c">&amp;]]></a>`, ""},
		"blanks":           {driver.SQLType{Name: "char", Len: 9}, " \t\r\n\r\n \r", " \t\r\n\r\n \r", "length=9"},
		"controls":         {driver.SQLType{Name: "varchar", Len: 9}, "\x00\x01\x1f\x7f\u0085\ufffe\uffff", "\x00\x01\x1f\x7f\u0085\ufffe\uffff", "length=9"},
		"like an escape":   {driver.SQLType{Name: "varchar", Len: 9}, "_x0041_x0042_x00_", "_x0041_x0042_x00_", "length=9"},
		"half an escape":   {driver.SQLType{Name: "varchar", Len: 9}, "_x0041\x00_x", "_x0041\x00_x", "length=9"},
		"beyond the BMP":   {driver.SQLType{Name: "nvarchar", Len: 9}, "größe 𝄞 日本", "größe 𝄞 日本", "length=9"},
		"no type's name":   {driver.SQLType{}, "x", "x", ""},
		"uniqueidentifier": {driver.SQLType{Name: "uniqueidentifier"}, "6F9619FF-8B86-D011-B42D-00C04FC964FF", "6F9619FF-8B86-D011-B42D-00C04FC964FF", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &memFile{room: 1 << 20}
			x := newXML(f, "a", 1)
			x.event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: []driver.Column{{Name: "c", Type: tt.typ, Nullable: true}}})
			x.row([]any{tt.value})
			x.event(driver.SinkEvent{Kind: driver.SinkDone, Affected: 1, HasCount: true})
			if err := x.end(); err != nil {
				t.Fatal(err)
			}
			set := readXML(t, f.data).Nodes[0]
			if d := cmp.Diff(tt.want, set.all("row")[0].Nodes[0].value(t)); d != "" {
				t.Errorf("value (-want +got):\n%s\n%s", d, f.data)
			}
			var attrs []string
			for _, a := range set.Nodes[0].Nodes[0].Attrs[2:] {
				attrs = append(attrs, a.Name.Local+"="+a.Value)
			}
			if want := strings.TrimSpace(tt.attrs + " nullable=true"); strings.Join(attrs, " ") != want {
				t.Errorf("column %q, want %q", attrs, want)
			}
		})
	}
}

// TestXMLKeepsTheOrder writes everything that a session can tell, in order.
func TestXMLKeepsTheOrder(t *testing.T) {
	t.Parallel()
	d, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, err := NewResults(d, Format{XML: true}).Sink("a", 2)
	if err != nil {
		t.Fatal(err)
	}
	id := driver.SQLType{Name: "int"}
	two := []driver.Column{{Name: "", Type: id}, {Name: "x", Type: id}, {Name: "x", Type: id, Nullable: true}}
	err = errors.Join(
		s.Event(driver.SinkEvent{Kind: driver.SinkMessage, Message: driver.ServerError{Line: 1, State: 1, Message: "printed"}}),
		s.Event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: two}),
		s.Row([]any{int64(1), int64(2), nil}),
		s.Event(driver.SinkEvent{Kind: driver.SinkMessage, Message: driver.ServerError{Number: 8134, Class: 16, State: 1, Line: 3, Proc: "p", Server: "s", Message: "division"}}),
		s.Event(driver.SinkEvent{Kind: driver.SinkDone}),
		s.Event(driver.SinkEvent{Kind: driver.SinkDone, Affected: 5, HasCount: true}),
		s.Event(driver.SinkEvent{Kind: driver.SinkDone}),
		s.Event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: two[:1]}),
		s.Event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: two[:1]}),
	)
	s.(driver.Breaker).Broke(errors.New("lost <it>"))
	s.(driver.Breaker).Broke(errors.New("cancelled"))
	err = errors.Join(err, s.Event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: two[:1]}), s.(*fileSink).Close())
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(d.Path, "a_2.xml"))
	if err != nil {
		t.Fatal(err)
	}
	readXML(t, got)
	want := `<?xml version="1.0" encoding="UTF-8"?>
<results version="1" name="a" connection="2" xml:space="preserve">
<message number="0" severity="0" state="1" line="1">printed</message>
<resultset>
<columns>
<column name="" type="int" nullable="false"/>
<column name="x" type="int" nullable="false"/>
<column name="x" type="int" nullable="true"/>
</columns>
<row><v>1</v><v>2</v><v null="true"/></row>
<error number="8134" severity="16" state="1" line="3" procedure="p" server="s">division</error>
<done/>
</resultset>
<done rows="5"/>
<resultset>
<columns>
<column name="" type="int" nullable="false"/>
</columns>
<incomplete/>
</resultset>
<resultset>
<columns>
<column name="" type="int" nullable="false"/>
</columns>
<incomplete reason="lost &lt;it&gt;"/>
</resultset>
<incomplete reason="cancelled"/>
<resultset>
<columns>
<column name="" type="int" nullable="false"/>
</columns>
<incomplete/>
</resultset>
</results>
`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("file (-want +got):\n%s", d)
	}
}

// TestXMLIsWellFormedAllTheTime looks at the file after each step, in the middle
// of long values too, as a reader does after the program was killed.
func TestXMLIsWellFormedAllTheTime(t *testing.T) {
	t.Parallel()
	f := &memFile{room: 10 << 20}
	looks := 0
	look := lookingFile{f, func() {
		looks++
		if n := readXML(t, f.data); len(n.all("incomplete")) != 1 {
			t.Fatalf("the file does not say that it is incomplete: %s", f.data)
		}
	}}
	x := newXML(look, "a", 0)
	x.event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: []driver.Column{{Name: "t"}, {Name: "b"}}})
	text, bin := strings.Repeat("_x0041_\x00日&", 5_000), bytes.Repeat([]byte{1, 2, 3}, 15_000)
	for range 3 {
		x.row([]any{text, bin})
	}
	x.event(driver.SinkEvent{Kind: driver.SinkDone, Affected: 3, HasCount: true})
	if err := x.flush(); err != nil {
		t.Fatal(err)
	}
	if looks < 8 {
		t.Errorf("the file was written %d times for %d bytes", looks, len(f.data))
	}
	x.f = f
	if err := x.end(); err != nil {
		t.Fatal(err)
	}
	n := readXML(t, f.data)
	if len(n.all("incomplete")) != 0 {
		t.Error("a complete file says that it is not")
	}
	for _, row := range n.Nodes[0].all("row") {
		if row.Nodes[0].value(t) != text || !bytes.Equal(row.Nodes[1].value(t).([]byte), bin) {
			t.Error("a value differs")
		}
	}
}

type lookingFile struct {
	*memFile
	look func()
}

func (f lookingFile) WriteAt(p []byte, at int64) (int, error) {
	n, err := f.memFile.WriteAt(p, at)
	if err == nil && int(at)+n == len(f.data) {
		f.look()
	}
	return n, err
}

// TestXMLOnAFullDisk fills the disk at every place.
func TestXMLOnAFullDisk(t *testing.T) {
	t.Parallel()
	full := 0
	for room := 150; room < 1200; room += 7 {
		f := &memFile{room: room}
		s := &fileSink{results: &Results{}, name: "query.xml", queue: newQueue(), done: make(chan struct{})}
		x := newXML(f, "query", 0)
		if err := x.flush(); err != nil {
			continue // not even the first element: the run does not begin
		}
		go s.write(x, openFile{t})
		for i := range 10 {
			_ = s.Event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: []driver.Column{{Name: "c"}}})
			_ = s.Row([]any{strings.Repeat("<", i)})
			_ = s.Event(driver.SinkEvent{Kind: driver.SinkDone, HasCount: true})
		}
		err := s.Close()
		n := readXML(t, f.data)
		switch {
		case err == nil || !strings.Contains(err.Error(), "query.xml: no space left"):
			t.Fatalf("room for %d: %v", room, err)
		case len(n.all("incomplete")) != 1:
			t.Fatalf("room for %d: the file does not say that it is incomplete:\n%s", room, f.data)
		}
		full++
	}
	if full < 100 {
		t.Errorf("the disk was full %d times", full)
	}
}

// openFile is a file that stands nowhere.
type openFile struct{ t *testing.T }

func (f openFile) Stat() (os.FileInfo, error) { return os.Lstat(f.t.TempDir()) }
func (openFile) Close() error                 { return nil }

func FuzzXML(f *testing.F) {
	f.Add("id", "text", []byte{1}, 0.5, int64(1), uint16(300))
	f.Add("a&\"<>\n", "\x00_x0000_\r\n\xff\xed\xa0\x80", []byte{}, -1e-300, int64(-1), uint16(0))
	f.Fuzz(func(t *testing.T, name, text string, bin []byte, x float64, n int64, room uint16) {
		write := func(f documentFile) error {
			l := newXML(f, name, 3)
			l.event(driver.SinkEvent{Kind: driver.SinkMessage, Message: driver.ServerError{Number: 50000, Class: 16, Proc: name, Server: text, Message: text}})
			l.event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: []driver.Column{{Name: name}, {Name: text}, {}, {}, {}}})
			l.row([]any{text, bin, x, n, nil})
			if err := l.flush(); err != nil {
				return err
			}
			l.row([]any{name, bin, -x, -n, nil})
			l.event(driver.SinkEvent{Kind: driver.SinkDone, HasCount: true, Affected: n})
			return l.end()
		}
		file := &memFile{room: 64 << 20}
		if err := write(file); err != nil {
			t.Fatal(err)
		}
		doc := readXML(t, file.data)
		if doc.attr("name") != name {
			t.Errorf("name %q, want %q", doc.attr("name"), name)
		}
		e := doc.all("error")[0]
		if unescaped(e.Text) != text || e.attr("procedure") != name || e.attr("server") != text {
			t.Errorf("error %q, procedure %q, server %q", unescaped(e.Text), e.attr("procedure"), e.attr("server"))
		}
		set := doc.all("resultset")[0]
		cols := set.all("columns")[0].Nodes
		if cols[0].attr("name") != name || cols[1].attr("name") != text {
			t.Errorf("columns %q, %q", cols[0].attr("name"), cols[1].attr("name"))
		}
		vs := set.all("row")[0].Nodes
		if got := vs[0].value(t); got != text {
			t.Errorf("text %q, want %q", got, text)
		}
		if got := vs[1].value(t); bin != nil && !bytes.Equal(got.([]byte), bin) {
			t.Errorf("binary %x, want %x", got, bin)
		}
		if got, err := strconv.ParseFloat(vs[2].value(t).(string), 64); err != nil || got != x && x == x {
			t.Errorf("float %v, %v, want %v", got, err, x)
		}
		if got := vs[3].value(t); got != strconv.FormatInt(n, 10) || vs[4].value(t) != nil {
			t.Errorf("integer %v, NULL %v", got, vs[4].value(t))
		}

		small := &memFile{room: int(room)}
		if err := write(small); err == nil {
			readXML(t, small.data)
		} else if len(small.data) > 0 {
			readXML(t, small.data)
		}
	})
}
