package ostress

import (
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"gostress/pkg/driver"
)

// textLayout lays rows out in columns: a header, a rule, the rows, and the count.
// The layout of ostress's own files is not published; this one is osql's.
type textLayout struct {
	*utf16Writer
	locale Locale
	cols   []textColumn
}

// textColumn is a column of the result set at hand.
type textColumn struct {
	form  valueForm
	width int
	right bool // numbers stand at the right
}

func newText(w io.Writer, l Locale) *textLayout {
	return &textLayout{utf16Writer: &utf16Writer{w: w, buf: []byte{0xFF, 0xFE}}, locale: l}
}

func (r *textLayout) end() error { return r.flush() }

func (r *textLayout) event(e driver.SinkEvent) {
	switch e.Kind {
	case driver.SinkColumns:
		r.columns(e.Columns)
	case driver.SinkDone:
		if e.HasCount {
			r.WriteString(fmt.Sprintf("\n(%d row(s) affected)\n\n", e.Affected))
		}
	case driver.SinkMessage:
		r.message(e.Message)
	}
}

func (r *textLayout) broke(err error) {
	r.WriteString(fmt.Sprintf("\n(the answer broke off: %v)\n\n", err))
}

func (r *textLayout) message(m driver.ServerError) {
	if m.Class >= 11 || m.Number != 0 && m.Class > 0 {
		head := fmt.Sprintf("Msg %d, Level %d, State %d", m.Number, m.Class, m.State)
		if m.Server != "" {
			head += ", Server " + m.Server
		}
		if m.Proc != "" {
			head += ", Procedure " + m.Proc
		}
		r.WriteString(fmt.Sprintf("%s, Line %d\n", head, m.Line))
	}
	r.WriteString(strings.TrimRight(m.Message, "\r\n"))
	r.WriteString("\n")
}

func (r *textLayout) columns(cols []driver.Column) {
	r.cols = make([]textColumn, len(cols))
	for i, c := range cols {
		form := newValueForm(c.Type, r.locale)
		w, right := form.columnWidth()
		r.cols[i] = textColumn{form: form, width: max(w, displayWidth(c.Name, widest), 1), right: right}
		r.cell(i, c.Name, false)
	}
	r.WriteString("\n")
	for i := range cols {
		r.cell(i, strings.Repeat("-", r.cols[i].width), false)
	}
	r.WriteString("\n")
}

func (r *textLayout) row(values []any) {
	for i, v := range values {
		if i >= len(r.cols) {
			break
		}
		if b, ok := v.([]byte); ok {
			r.binary(i, b)
			continue
		}
		r.cell(i, r.cols[i].form.text(v), r.cols[i].right)
	}
	r.WriteString("\n")
}

func (r *textLayout) cell(i int, text string, right bool) {
	if i > 0 {
		r.WriteString(" ")
	}
	pad := strings.Repeat(" ", r.cols[i].width-displayWidth(text, r.cols[i].width))
	if right {
		r.WriteString(pad)
	}
	r.WriteString(text)
	if !right {
		r.WriteString(pad)
	}
}

// binary writes a value that may be long in parts.
func (r *textLayout) binary(i int, b []byte) {
	if i > 0 {
		r.WriteString(" ")
	}
	r.WriteString("0x")
	pad := r.cols[i].width - 2 - 2*len(b)
	for len(b) > 0 {
		n := min(len(b), flushAt/8)
		r.WriteString(strings.ToUpper(hex.EncodeToString(b[:n])))
		b = b[n:]
	}
	r.WriteString(strings.Repeat(" ", max(pad, 0)))
}

// displayWidth is how many columns s takes on a terminal, and most when it takes
// more: East Asian wide characters take two, combining ones none.
func displayWidth(s string, most int) int {
	w := 0
	for i := 0; i < len(s) && w < most; {
		if s[i] < utf8.RuneSelf {
			w++
			i++
			continue
		}
		c, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch k := width.LookupRune(c).Kind(); {
		case unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf):
		case k == width.EastAsianWide || k == width.EastAsianFullwidth:
			w += 2
		default:
			w++
		}
	}
	return min(w, most)
}

// widest is where a text column stops to be padded.
const widest = 256

// valueForm is how the values of a column are written.
type valueForm struct {
	typ    driver.SQLType
	locale Locale
	layout string // of dates and times
}

func newValueForm(t driver.SQLType, l Locale) valueForm {
	return valueForm{typ: t, locale: l, layout: l.timeLayout(t)}
}

func (f valueForm) columnWidth() (width int, right bool) {
	switch t := f.typ; t.Name {
	case "bit":
		return 1, true
	case "tinyint":
		return 3, true
	case "smallint":
		return 6, true
	case "int":
		return 11, true
	case "bigint":
		return 20, true
	case "real":
		return 14, true
	case "float":
		return 22, true
	case "money":
		return 21, true
	case "smallmoney":
		return 12, true
	case "decimal", "numeric":
		return int(t.Prec) + 2, true
	case "date", "smalldatetime", "datetime":
		return len(f.layout), false
	case "time", "datetime2", "datetimeoffset":
		// As wide as with seven digits behind the point.
		if f.typ.Scale == 0 {
			return len(f.layout) + 8, false
		}
		return len(f.layout) + 7 - int(f.typ.Scale), false
	case "uniqueidentifier":
		return 36, false
	case "binary", "varbinary", "image", "timestamp":
		if t.Len < 0 {
			return widest, false
		}
		return min(2*int(t.Len)+2, widest), false
	}
	if f.typ.Len <= 0 {
		return widest, false
	}
	return min(int(f.typ.Len), widest), false
}

// text writes a value other than binary.
func (f valueForm) text(v any) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case bool:
		if x {
			return "1"
		}
		return "0"
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		if f.typ.Name == "real" {
			return f.locale.number(strconv.FormatFloat(x, 'g', -1, 32))
		}
		return f.locale.number(strconv.FormatFloat(x, 'g', -1, 64))
	case time.Time:
		return x.Format(f.layout)
	case string:
		switch f.typ.Name {
		case "decimal", "numeric", "money", "smallmoney":
			return f.locale.number(x)
		}
		return x
	}
	return fmt.Sprint(v)
}
