package script

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// ReadRML reads an .rml file in stress mode: <RML> with <LANG> elements, each
// of one <CMD>, and the attribute WAITAFTER (a number of s, sec, ms or min).
// Known of the format is what published files show; an element or attribute
// beyond that is an *Error that names it, before anything runs.
func ReadRML(path, text string) ([]Batch, error) {
	r := rmlReader{path: path, text: text, dec: xml.NewDecoder(strings.NewReader(text))}
	// The text is already Unicode, whatever its declaration says.
	r.dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	return r.read()
}

type rmlReader struct {
	path, text string
	dec        *xml.Decoder
	out        []Batch
}

func (r *rmlReader) read() ([]Batch, error) {
	seen := false
	for {
		at := r.dec.InputOffset()
		tok, err := r.dec.Token()
		if errors.Is(err, io.EOF) {
			if !seen {
				return nil, r.fault(0, "not an .rml file: there is no <RML> element")
			}
			return r.out, nil
		}
		if err != nil {
			return nil, r.syntax(err)
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if !strings.EqualFold(t.Name.Local, "RML") || seen {
				return nil, r.fault(at, fmt.Sprintf("<%s> stands where one <RML> element is expected", t.Name.Local))
			}
			seen = true
			if err := r.body(); err != nil {
				return nil, err
			}
		case xml.CharData:
			if strings.TrimSpace(strings.Trim(string(t), "\ufeff")) != "" {
				return nil, r.fault(at, "text stands outside the <RML> element")
			}
		}
	}
}

func (r *rmlReader) body() error {
	for {
		at := r.dec.InputOffset()
		tok, err := r.dec.Token()
		if err != nil {
			return r.syntax(err)
		}
		switch t := tok.(type) {
		case xml.EndElement:
			return nil
		case xml.CharData:
			if strings.TrimSpace(string(t)) != "" {
				return r.fault(at, "text stands outside a command")
			}
		case xml.StartElement:
			if !strings.EqualFold(t.Name.Local, "LANG") {
				return r.fault(at, fmt.Sprintf("<%s> is not supported: of .rml files gostress runs <LANG> with <CMD>", t.Name.Local))
			}
			if err := r.lang(t, at); err != nil {
				return err
			}
		}
	}
}

func (r *rmlReader) lang(el xml.StartElement, at int64) error {
	b := Batch{Count: 1}
	for _, a := range el.Attr {
		if !strings.EqualFold(a.Name.Local, "WAITAFTER") {
			return r.fault(at, fmt.Sprintf("attribute %s of <LANG> is not supported", a.Name.Local))
		}
		d, err := waitAfter(a.Value)
		if err != nil {
			return r.fault(at, err.Error())
		}
		b.After = d
	}
	found := false
	for {
		at := r.dec.InputOffset()
		tok, err := r.dec.Token()
		if err != nil {
			return r.syntax(err)
		}
		switch t := tok.(type) {
		case xml.EndElement:
			if !found {
				return r.fault(at, "<LANG> has no <CMD>")
			}
			if strings.TrimSpace(b.Text) != "" {
				r.out = append(r.out, b)
			}
			return nil
		case xml.CharData:
			if strings.TrimSpace(string(t)) != "" {
				return r.fault(at, "text stands outside <CMD>")
			}
		case xml.StartElement:
			if !strings.EqualFold(t.Name.Local, "CMD") || found {
				return r.fault(at, fmt.Sprintf("<%s> stands where one <CMD> is expected", t.Name.Local))
			}
			found = true
			b.Line, _ = r.place(r.dec.InputOffset())
			if b.Text, err = r.cmd(); err != nil {
				return err
			}
		}
	}
}

func (r *rmlReader) cmd() (string, error) {
	var sb strings.Builder
	for {
		at := r.dec.InputOffset()
		tok, err := r.dec.Token()
		if err != nil {
			return "", r.syntax(err)
		}
		switch t := tok.(type) {
		case xml.CharData:
			sb.Write(t)
		case xml.EndElement:
			return sb.String(), nil
		case xml.StartElement:
			return "", r.fault(at, fmt.Sprintf("<%s> stands inside <CMD>: write < as &lt; or use CDATA", t.Name.Local))
		}
	}
}

func waitAfter(v string) (time.Duration, error) {
	s := strings.ToLower(strings.TrimSpace(v))
	n := strings.IndexFunc(s, func(c rune) bool { return (c < '0' || c > '9') && c != '.' })
	num, unit := s, ""
	if n >= 0 {
		num, unit = s[:n], strings.TrimSpace(s[n:])
	}
	f, err := strconv.ParseFloat(num, 64)
	var scale time.Duration
	switch unit {
	case "ms":
		scale = time.Millisecond
	case "s", "sec":
		scale = time.Second
	case "min":
		scale = time.Minute
	}
	if err != nil || scale == 0 || f*float64(scale) > math.MaxInt64/2 {
		return 0, fmt.Errorf("WAITAFTER=%q is not a time: write a number and s, sec, ms or min", v)
	}
	return time.Duration(f * float64(scale)), nil
}

func (r *rmlReader) syntax(err error) error {
	line, col := r.place(r.dec.InputOffset())
	text := err.Error()
	var se *xml.SyntaxError
	if errors.As(err, &se) {
		text = se.Msg
	}
	return &Error{Path: r.path, Line: line, Col: col, Text: "cannot read the .rml file: " + text, Err: err}
}

func (r *rmlReader) fault(at int64, text string) error {
	// A token's offset is where the one before it ended; the line counts from its "<".
	if i := strings.IndexByte(r.text[min(int(at), len(r.text)):], '<'); i >= 0 && strings.TrimSpace(r.text[at:int(at)+i]) == "" {
		at += int64(i)
	}
	line, col := r.place(at)
	return &Error{Path: r.path, Line: line, Col: col, Text: text}
}

func (r *rmlReader) place(at int64) (line, col int) {
	before := r.text[:min(int(at), len(r.text))]
	nl := strings.LastIndexByte(before, '\n')
	return 1 + lineBreaks(before), 1 + len([]rune(before[nl+1:]))
}
