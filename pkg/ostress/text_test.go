package ostress

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"gostress/pkg/driver"
)

func fromUTF16(t testing.TB, b []byte) string {
	t.Helper()
	if len(b) < 2 || b[0] != 0xFF || b[1] != 0xFE || len(b)%2 != 0 {
		t.Fatalf("not UTF-16LE with a byte order mark: %d bytes, % x", len(b), b[:min(len(b), 40)])
	}
	u := make([]uint16, 0, len(b)/2)
	for i := 2; i < len(b); i += 2 {
		u = append(u, uint16(b[i])|uint16(b[i+1])<<8)
	}
	return string(utf16.Decode(u))
}

// rendered is the file of one result set with one column.
func rendered(t testing.TB, typ driver.SQLType, values ...any) string {
	t.Helper()
	var out bytes.Buffer
	l := newText(&out, Locale{})
	l.event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: []driver.Column{{Name: "c", Type: typ}, {Name: "z", Type: driver.SQLType{Name: "bit"}}}})
	for _, v := range values {
		l.row([]any{v, true})
	}
	if err := l.end(); err != nil {
		t.Fatal(err)
	}
	return fromUTF16(t, out.Bytes())
}

func TestTextCells(t *testing.T) {
	t.Parallel()
	six := driver.SQLType{Name: "nvarchar", Len: 6}
	at := time.Date(2026, 1, 2, 3, 4, 5, 123e6, time.UTC)
	tests := map[string]struct {
		typ   driver.SQLType
		value any
		want  string // the cell, then the next column
	}{
		"text":               {six, "ab", "ab     1"},
		"full":               {six, "abcdef", "abcdef 1"},
		"longer than it may": {six, "abcdefgh", "abcdefgh 1"},
		"NULL":               {six, nil, "NULL   1"},
		"empty":              {six, "", "       1"},
		"East Asian":         {six, "日本", "日本   1"},
		"fullwidth":          {six, "Ａb", "Ａb    1"},
		"halfwidth":          {six, "ｱb", "ｱb     1"},
		"combining":          {six, "e\u0301b", "e\u0301b     1"},
		"beyond the BMP":     {six, "𝄞", "𝄞      1"},
		"emoji":              {six, "😀", "😀     1"},
		"line end":           {six, "a\nb", "a\r\nb    1"},
		"CR LF":              {six, "a\r\nb", "a\r\nb   1"},
		"NUL":                {six, "a\x00b", "a\x00b    1"},
		"binary":             {driver.SQLType{Name: "varbinary", Len: 3}, []byte{1, 0xAB}, "0x01AB   1"},
		"binary, empty":      {driver.SQLType{Name: "varbinary", Len: 3}, []byte{}, "0x       1"},
		"binary, longer":     {driver.SQLType{Name: "binary", Len: 1}, []byte{1, 2, 3}, "0x010203 1"},
		"variant, time":      {driver.SQLType{Name: "sql_variant", Len: 4}, at, "2026-01-02 03:04:05.123 1"},
		"variant, text":      {driver.SQLType{Name: "sql_variant", Len: 4}, "a", "a    1"},
		"number":             {driver.SQLType{Name: "smallint"}, int64(-7), "    -7 1"},
		"decimal":            {driver.SQLType{Name: "decimal", Prec: 5, Scale: 2}, "-1.50", "  -1.50 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, row, _ := strings.Cut(rendered(t, tt.typ, tt.value), "-\r\n")
			if d := cmp.Diff(tt.want+"\r\n", row); d != "" {
				t.Errorf("row (-want +got):\n%s", d)
			}
		})
	}
}

// TestLongValues writes values of 10 MB: whole, and with a buffer that stays small.
func TestLongValues(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789 größe 日本\n", 10<<20/25)
	bin := bytes.Repeat([]byte{0, 0xFF, 0x10}, 3<<20)
	var out bytes.Buffer
	l := newText(&out, Locale{})
	l.event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: []driver.Column{{Name: "t", Type: driver.SQLType{Name: "nvarchar", Len: -1}}, {Name: "b", Type: driver.SQLType{Name: "varbinary", Len: -1}}}})
	l.row([]any{text, bin})
	if err := l.end(); err != nil {
		t.Fatal(err)
	}
	if cap(l.buf) > 4*flushAt {
		t.Errorf("the buffer has %d bytes", cap(l.buf))
	}
	got := fromUTF16(t, out.Bytes())
	if !strings.Contains(got, strings.ReplaceAll(text, "\n", "\r\n")) || !strings.Contains(got, "0x"+strings.Repeat("00FF10", 3<<20)+"\r\n") {
		t.Error("a value differs")
	}

	text, bin = text[:2<<20], bin[:1<<20]
	text = strings.ToValidUTF8(text, "")
	f := &memFile{room: 1 << 30}
	x := newXML(f, "a", 0)
	x.row([]any{text, bin})
	if err := x.end(); err != nil {
		t.Fatal(err)
	}
	if cap(x.buf) > 4*flushAt {
		t.Errorf("the buffer has %d bytes", cap(x.buf))
	}
	if vs := readXML(t, f.data).Nodes[0].Nodes; vs[0].value(t) != text || !bytes.Equal(vs[1].value(t).([]byte), bin) {
		t.Error("a value differs")
	}
}

// TestQueueIsBoundedByBytes fills a queue that nobody empties: a row more than
// the limit is let in, and the next one waits until what was taken is written.
func TestQueueIsBoundedByBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		big := item{row: []any{strings.Repeat("x", 1000)}}
		n := big.size()
		for range 3 {
			if q.put(big, 2*n+1) != 0 {
				t.Fatal("it waited too early")
			}
		}
		waited := make(chan time.Duration, 1)
		go func() { waited <- q.put(big, 2*n+1) }()
		time.Sleep(time.Second)
		items, more := q.take(nil)
		if len(items) != 3 || !more {
			t.Fatalf("%d items", len(items))
		}
		synctest.Wait()
		select {
		case <-waited:
			t.Fatal("what is being written does not count")
		default:
		}
		time.Sleep(time.Second)
		if items, more = q.take(items); len(items) != 1 || !more {
			t.Fatalf("%d items", len(items))
		}
		if d := <-waited; d != 2*time.Second {
			t.Errorf("waited %v", d)
		}
		q.close()
		if items, more = q.take(items); len(items) != 0 || more {
			t.Error("more items after the last")
		}
		if q.bytes != 0 {
			t.Errorf("%d bytes are left", q.bytes)
		}
	})
}

// TestQueueLimits share the memory among connections.
func TestQueueLimits(t *testing.T) {
	t.Parallel()
	for open, want := range map[int64]int64{0: queueMost, 1: queueMost, 16: queueMost, 64: 1 << 20, 10_000: queueLeast} {
		r := &Results{}
		r.open.Store(open)
		if got := r.limit(); got != want {
			t.Errorf("%d connections: %d, want %d", open, got, want)
		}
	}
}

// TestSizesOfItems hold the count against what is held: large values decide.
func TestSizesOfItems(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	text := strings.Repeat("x", mb)
	for _, it := range []item{
		{row: []any{text}}, {row: []any{[]byte(text)}}, {row: make([]any, mb/16)},
		{event: &driver.SinkEvent{Message: driver.ServerError{Message: text}}},
	} {
		if n := it.size(); n < mb || n > 3*mb {
			t.Errorf("%d bytes", n)
		}
	}
}

// TestAnswersThatBreakOff are told where they do.
func TestAnswersThatBreakOff(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := newText(&out, Locale{})
	l.broke(&driver.LostError{Number: 596})
	if err := l.end(); err != nil {
		t.Fatal(err)
	}
	if got := fromUTF16(t, out.Bytes()); !strings.HasPrefix(got, "\r\n(the answer broke off: ") || !strings.Contains(got, "the connection was lost") {
		t.Errorf("%q", got)
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\r\nb", "日本", []byte{1}, uint8(6))
	f.Fuzz(func(t *testing.T, name, text string, bin []byte, n uint8) {
		var out bytes.Buffer
		l := newText(&out, Locale{})
		l.event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: []driver.Column{{Name: name, Type: driver.SQLType{Name: "nvarchar", Len: int32(n)}}, {Name: text}}})
		l.row([]any{text, bin})
		l.event(driver.SinkEvent{Kind: driver.SinkMessage, Message: driver.ServerError{Number: 1, Class: 16, Proc: name, Message: text}})
		if err := l.end(); err != nil {
			t.Fatal(err)
		}
		want := strings.ToValidUTF8(text, "\uFFFD")
		if got := strings.ReplaceAll(fromUTF16(t, out.Bytes()), "\r\n", "\n"); strings.ContainsRune(want, '\uFFFD') || strings.Contains(want, "\r") {
			return
		} else if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	})
}

func BenchmarkText(b *testing.B) {
	row := []any{int64(1), "some words", "12.5000", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), nil}
	cols := []driver.Column{{Name: "a", Type: driver.SQLType{Name: "int"}}, {Name: "b", Type: driver.SQLType{Name: "nvarchar", Len: 40}},
		{Name: "c", Type: driver.SQLType{Name: "money"}}, {Name: "d", Type: driver.SQLType{Name: "datetime2", Scale: 7}}, {Name: "e", Type: driver.SQLType{Name: "int"}}}
	for name, l := range map[string]layout{"text": newText(discard{}, Locale{}), "xml": newXML(discard{}, "a", 0)} {
		b.Run(name, func(b *testing.B) {
			l.event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: cols})
			b.ReportAllocs()
			for b.Loop() {
				l.row(row)
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error)            { return len(p), nil }
func (discard) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (discard) Truncate(int64) error                   { return nil }
