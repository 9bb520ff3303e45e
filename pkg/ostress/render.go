package ostress

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gostress/pkg/driver"
)

// renderer lays rows out in columns: a header, a rule, the rows, and the count.
// The layout of ostress's own files is not published; this one is osql's.
type renderer struct {
	w     *utf16Writer
	cols  []driver.Column
	width []int
	right []bool // numbers stand at the right
	sb    strings.Builder
}

func (r *renderer) event(e driver.SinkEvent) {
	switch e.Kind {
	case driver.SinkColumns:
		r.columns(e.Columns)
	case driver.SinkDone:
		if e.HasCount {
			r.w.WriteString(fmt.Sprintf("\n(%d row(s) affected)\n\n", e.Affected))
		}
	case driver.SinkMessage:
		r.message(e.Message)
	}
}

func (r *renderer) message(m driver.ServerError) {
	if m.Class >= 11 || m.Number != 0 && m.Class > 0 {
		head := fmt.Sprintf("Msg %d, Level %d, State %d", m.Number, m.Class, m.State)
		if m.Server != "" {
			head += ", Server " + m.Server
		}
		if m.Proc != "" {
			head += ", Procedure " + m.Proc
		}
		r.w.WriteString(fmt.Sprintf("%s, Line %d\n", head, m.Line))
	}
	r.w.WriteString(strings.TrimRight(m.Message, "\r\n") + "\n")
}

func (r *renderer) columns(cols []driver.Column) {
	r.cols = cols
	r.width, r.right = make([]int, len(cols)), make([]bool, len(cols))
	r.sb.Reset()
	for i, c := range cols {
		w, right := displayWidth(c.Type)
		r.width[i], r.right[i] = max(w, utf8.RuneCountInString(c.Name), 1), right
		r.cell(i, c.Name, false)
	}
	r.line()
	for i := range cols {
		r.cell(i, strings.Repeat("-", r.width[i]), false)
	}
	r.line()
}

func (r *renderer) row(values []any) {
	for i, v := range values {
		if i >= len(r.cols) {
			break
		}
		r.cell(i, format(r.cols[i].Type, v), r.right[i])
	}
	r.line()
}

func (r *renderer) cell(i int, text string, right bool) {
	if i > 0 {
		r.sb.WriteByte(' ')
	}
	pad := r.width[i] - utf8.RuneCountInString(text)
	if right && pad > 0 {
		r.sb.WriteString(strings.Repeat(" ", pad))
	}
	r.sb.WriteString(text)
	if !right && pad > 0 {
		r.sb.WriteString(strings.Repeat(" ", pad))
	}
}

func (r *renderer) line() {
	r.sb.WriteByte('\n')
	r.w.WriteString(r.sb.String())
	r.sb.Reset()
}

// widest is where a text column stops to be padded.
const widest = 256

func displayWidth(t driver.SQLType) (width int, right bool) {
	switch t.Name {
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
	case "date":
		return 10, false
	case "time":
		return 16, false
	case "smalldatetime":
		return 19, false
	case "datetime":
		return 23, false
	case "datetime2":
		return 27, false
	case "datetimeoffset":
		return 34, false
	case "uniqueidentifier":
		return 36, false
	case "binary", "varbinary", "image", "timestamp":
		if t.Len < 0 {
			return widest, false
		}
		return min(2*int(t.Len)+2, widest), false
	}
	if t.Len <= 0 {
		return widest, false
	}
	return min(int(t.Len), widest), false
}

func format(t driver.SQLType, v any) string {
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
		if t.Name == "real" {
			return strconv.FormatFloat(x, 'g', -1, 32)
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	case []byte:
		return "0x" + strings.ToUpper(hex.EncodeToString(x))
	case time.Time:
		return x.Format(timeLayout(t))
	case string:
		return x
	}
	return fmt.Sprint(v)
}

func timeLayout(t driver.SQLType) string {
	frac := ""
	if t.Scale > 0 {
		frac = "." + strings.Repeat("0", int(t.Scale))
	}
	switch t.Name {
	case "date":
		return time.DateOnly
	case "time":
		return "15:04:05" + frac
	case "smalldatetime":
		return time.DateTime
	case "datetime":
		return "2006-01-02 15:04:05.000"
	case "datetimeoffset":
		return "2006-01-02 15:04:05" + frac + " -07:00"
	}
	return "2006-01-02 15:04:05" + frac
}
