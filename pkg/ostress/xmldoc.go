package ostress

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// documentFile is what a document needs of its file.
type documentFile interface {
	io.WriterAt
	Truncate(size int64) error
}

// document is an XML file that is well-formed whenever it is not being written:
// behind what has been written stands a tail that closes the open elements, and
// the next write begins on it. After its first error it drops what comes.
type document struct {
	f    documentFile
	at   int64    // where the tail begins
	tail []byte   // that stands in the file
	buf  []byte   // comes next
	open []string // elements, the outermost first
	err  error
}

// raw takes text that is XML already.
func (d *document) raw(s string) {
	d.buf = append(d.buf, s...)
	d.spill()
}

// spill keeps the buffer small.
func (d *document) spill() {
	if len(d.buf) >= flushAt {
		_ = d.flush()
	}
}

// start opens an element. Its attributes come in pairs of name and value.
func (d *document) start(name string, attrs ...string) {
	d.tag(name, attrs)
	d.buf = append(d.buf, '>')
	d.open = append(d.open, name)
}

// empty writes an element without content.
func (d *document) empty(name string, attrs ...string) {
	d.tag(name, attrs)
	d.raw("/>")
}

func (d *document) tag(name string, attrs []string) {
	d.buf = append(append(d.buf, '<'), name...)
	for i := 0; i+1 < len(attrs); i += 2 {
		d.buf = append(append(append(d.buf, ' '), attrs[i]...), `="`...)
		d.buf, _ = appendXML(d.buf, attrs[i+1], len(attrs[i+1]))
		d.buf = append(d.buf, '"')
	}
}

// finish closes the innermost element.
func (d *document) finish() {
	last := len(d.open) - 1
	name := d.open[last]
	d.open = d.open[:last]
	d.raw("</" + name + ">")
}

// text writes character data. What it holds of it in memory has an upper bound.
func (d *document) text(s string) {
	for len(s) > 0 {
		var n int
		d.buf, n = appendXML(d.buf, s, flushAt)
		s = s[n:]
		d.spill()
	}
}

// hex does the same with bytes.
func (d *document) hex(b []byte) {
	for len(b) > 0 {
		n := min(len(b), flushAt/2)
		d.raw(strings.ToUpper(hex.EncodeToString(b[:n])))
		b = b[n:]
	}
}

// flush writes what is buffered, and gives the first error.
func (d *document) flush() error {
	if len(d.buf) == 0 && len(d.tail) > 0 {
		return d.err
	}
	var tail []byte
	for i := len(d.open) - 1; i >= 0; i-- {
		if i == 0 {
			tail = append(tail, "\n<incomplete/>\n"...)
		}
		tail = append(append(append(tail, "</"...), d.open[i]...), ">\n"...)
	}
	return d.put(tail)
}

// end closes what is open and writes the rest.
func (d *document) end() error {
	for len(d.open) > 0 {
		d.finish()
	}
	return d.put([]byte("\n"))
}

func (d *document) put(tail []byte) error {
	n := len(d.buf)
	data := append(d.buf, tail...)
	d.buf = d.buf[:0]
	if d.err != nil {
		return d.err
	}
	_, err := d.f.WriteAt(data, d.at)
	if err == nil && len(data) < len(d.tail) {
		err = d.f.Truncate(d.at + int64(len(data)))
	}
	if err != nil {
		d.err = err
		// The old tail has its place on the disk.
		_, werr := d.f.WriteAt(d.tail, d.at)
		terr := d.f.Truncate(d.at + int64(len(d.tail)))
		if werr != nil || terr != nil {
			d.err = fmt.Errorf("%w; the document in it is broken off", err)
		}
		return d.err
	}
	d.at += int64(n)
	d.tail = append(d.tail[:0], tail...)
	return nil
}

// appendXML appends s as character data or the value of an attribute, until at
// least most bytes of s are read; it says how many it read. A character that XML
// 1.0 has no place for becomes _xHHHH_, its UTF-16 code unit in hexadecimal, as
// .NET's XmlConvert and SQL Server's FOR XML have it in names; so does the _ of
// text that looks like such an escape. A byte that is not UTF-8 becomes _xDCHH_.
func appendXML(b []byte, s string, most int) ([]byte, int) {
	i := 0
	for i < len(s) && i < most {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case c == '&':
				b = append(b, "&amp;"...)
			case c == '<':
				b = append(b, "&lt;"...)
			case c == '>':
				b = append(b, "&gt;"...)
			case c == '"':
				b = append(b, "&quot;"...)
			case c == '\t' || c == '\n' || c == '\r':
				// A reader changes these when they stand there as they are.
				b = fmt.Appendf(b, "&#x%X;", c)
			case c < ' ' || c == '_' && looksEscaped(s[i:]):
				b = fmt.Appendf(b, "_x%04X_", c)
			default:
				b = append(b, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = fmt.Appendf(b, "_xDC%02X_", c)
		case r == 0xFFFE || r == 0xFFFF:
			b = fmt.Appendf(b, "_x%04X_", r)
		default:
			b = append(b, s[i:i+n]...)
		}
		i += n
	}
	return b, i
}

// looksEscaped says that s begins like an escape. Its end is not asked for: it
// might be the beginning of a true escape.
func looksEscaped(s string) bool {
	if len(s) < 6 || s[1] != 'x' {
		return false
	}
	for _, c := range []byte(s[2:6]) {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}
