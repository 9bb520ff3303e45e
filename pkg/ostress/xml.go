package ostress

import (
	"encoding/xml"
	"strconv"
	"time"

	"gostress/pkg/driver"
)

// xmlLayout writes a document of result sets and messages; docs/results.md
// describes it.
type xmlLayout struct {
	document
	forms []valueForm // of the open result set's columns
	set   bool        // one is open
}

func newXML(f documentFile, base string, conn int) *xmlLayout {
	x := &xmlLayout{document: document{f: f}}
	x.buf = append(x.buf, xml.Header...)
	x.start("results", "version", "1", "name", base, "connection", strconv.Itoa(conn), "xml:space", "preserve")
	x.raw("\n")
	return x
}

func (x *xmlLayout) event(e driver.SinkEvent) {
	switch e.Kind {
	case driver.SinkColumns:
		x.breakOff("")
		x.columns(e.Columns)
	case driver.SinkDone:
		x.done(e)
	case driver.SinkMessage:
		x.message(e.Message)
	}
}

func (x *xmlLayout) columns(cols []driver.Column) {
	x.set = true
	x.forms = make([]valueForm, len(cols))
	x.start("resultset")
	x.raw("\n")
	x.start("columns")
	x.raw("\n")
	for i, c := range cols {
		x.forms[i] = newValueForm(c.Type, Locale{})
		if x.forms[i].layout = isoLayout(c.Type); c.Type.Name == "" {
			c.Type.Name = "unknown"
		}
		attrs := []string{"name", c.Name, "type", c.Type.Name}
		switch c.Type.Name {
		case "decimal", "numeric":
			attrs = append(attrs, "precision", strconv.Itoa(int(c.Type.Prec)), "scale", strconv.Itoa(int(c.Type.Scale)))
		case "time", "datetime2", "datetimeoffset":
			attrs = append(attrs, "scale", strconv.Itoa(int(c.Type.Scale)))
		case "char", "varchar", "nchar", "nvarchar", "binary", "varbinary":
			length := "max"
			if c.Type.Len >= 0 {
				length = strconv.Itoa(int(c.Type.Len))
			}
			attrs = append(attrs, "length", length)
		}
		x.empty("column", append(attrs, "nullable", strconv.FormatBool(c.Nullable))...)
		x.raw("\n")
	}
	x.finish()
	x.raw("\n")
}

func (x *xmlLayout) row(values []any) {
	x.start("row")
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			x.empty("v", "null", "true")
		case []byte:
			x.start("v", "encoding", "hex")
			x.hex(v)
			x.finish()
		default:
			x.start("v")
			if i < len(x.forms) {
				x.text(x.forms[i].text(v))
			} else {
				x.text(valueForm{layout: isoLayout(driver.SQLType{})}.text(v))
			}
			x.finish()
		}
	}
	x.finish()
	x.raw("\n")
}

// done ends the open result set, or is a statement's without one; of the latter,
// one without a count says nothing.
func (x *xmlLayout) done(e driver.SinkEvent) {
	if e.HasCount {
		x.empty("done", "rows", strconv.FormatInt(e.Affected, 10))
		x.raw("\n")
	} else if x.set {
		x.empty("done")
		x.raw("\n")
	}
	x.closeSet()
}

func (x *xmlLayout) broke(err error) {
	if !x.set {
		x.empty("incomplete", "reason", err.Error())
		x.raw("\n")
	}
	x.breakOff(err.Error())
}

// breakOff ends a result set that came to no end of its own.
func (x *xmlLayout) breakOff(reason string) {
	if !x.set {
		return
	}
	if reason == "" {
		x.empty("incomplete")
	} else {
		x.empty("incomplete", "reason", reason)
	}
	x.raw("\n")
	x.closeSet()
}

func (x *xmlLayout) closeSet() {
	if x.set {
		x.finish()
		x.raw("\n")
	}
	x.set, x.forms = false, nil
}

func (x *xmlLayout) message(m driver.ServerError) {
	name := "message"
	if m.Class >= 11 {
		name = "error"
	}
	attrs := []string{"number", strconv.Itoa(int(m.Number)), "severity", strconv.Itoa(int(m.Class)),
		"state", strconv.Itoa(int(m.State)), "line", strconv.Itoa(int(m.Line))}
	if m.Proc != "" {
		attrs = append(attrs, "procedure", m.Proc)
	}
	if m.Server != "" {
		attrs = append(attrs, "server", m.Server)
	}
	x.start(name, attrs...)
	x.text(m.Message)
	x.finish()
	x.raw("\n")
}

func (x *xmlLayout) end() error {
	x.breakOff("")
	return x.document.end()
}

// isoLayout is the layout of XML Schema's dates and times.
func isoLayout(t driver.SQLType) string {
	neutral := Locale{}.timeLayout(t)
	switch t.Name {
	case "date", "time":
		return neutral
	case "datetimeoffset":
		const zone = " -07:00"
		return isoLayout(driver.SQLType{Name: "datetime2", Scale: t.Scale}) + zone[1:]
	}
	return time.DateOnly + "T" + neutral[len(time.DateOnly)+1:]
}
