package script

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CommandKind says what a Command of an .rml file is.
type CommandKind uint8

// The kinds of commands, named after their elements.
const (
	Connect CommandKind = iota
	Lang
	RPC
	Disconnect
)

func (k CommandKind) String() string {
	return [...]string{"<CONNECT>", "<LANG>", "<RPC>", "<DISCONNECT>"}[k]
}

// Command is one command of an .rml file. What is known of the format comes from
// files that Microsoft published, see docs/rml.md.
type Command struct {
	Kind CommandKind
	// Text is the batch of <CMD>: what a Lang or RPC sends, and what sets the
	// options of a session after a Connect, "" when there is none.
	Text string
	// Call is what an RPC calls when its text is one call with literals; else nil.
	Call *Call
	// Line and Col are the place of the element, TextLine the line on which Text
	// begins, all from 1.
	Line, Col, TextLine int
	// After is the pause behind the command (WAITAFTER).
	After time.Duration
	// Ordered says that SEQ is given. Seq is the number of the command's start in
	// the recording, negative when it began before; Next (NEXTSEQ) is the number at
	// its end, Seq+1 when it is not given.
	Ordered   bool
	Seq, Next int64
	// Timed says that DELTA is given; At is its time since the recording's start.
	Timed bool
	At    time.Duration
	// User is the login name of a Connect, "" when not given.
	User string
}

// ReadRML reads an .rml file from its beginning, in any encoding that Decode
// knows and that its XML declaration names. The error is an *Error with line and
// column. Elements and attributes that are not known are errors; entities beyond
// XML's five and document types are too, so a small file never becomes a large one.
func ReadRML(path string, r io.ReadSeeker) ([]Command, Encoding, error) {
	src, err := newRMLSource(r)
	if err != nil {
		return nil, "", unreadable(path, err)
	}
	return src.commands(path)
}

// readRML reads an .rml file from a code page, or from what can be read once.
func (p CodePage) readRML(path string, r io.Reader) ([]Command, Encoding, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, "", unreadable(path, err)
	}
	if p == 0 {
		return ReadRML(path, bytes.NewReader(b))
	}
	text, enc, err := p.Decode(b)
	if err != nil {
		var e *Error
		if errors.As(err, &e) {
			e.Path = path
		}
		return nil, enc, err
	}
	return newRMLText(text, enc).commands(path)
}

// commands reads all that the file holds.
func (s *rmlSource) commands(path string) ([]Command, Encoding, error) {
	p := rmlReader{path: path, src: s, dec: xml.NewDecoder(s)}
	p.dec.CharsetReader = func(name string, _ io.Reader) (io.Reader, error) { return s, s.declare(name) }
	err := p.read()
	return p.out, s.enc, err
}

type rmlReader struct {
	path string
	src  *rmlSource
	dec  *xml.Decoder
	out  []Command
	open []string // the elements that are open, with their lines
}

// token gives the next token and the place where it begins. The io.EOF behind the
// last one is not an error of the file's.
func (p *rmlReader) token() (xml.Token, position, error) {
	at := p.src.place(p.dec.InputOffset())
	t, err := p.dec.Token()
	switch {
	case errors.Is(err, io.EOF) && p.src.err == nil:
		return nil, at, io.EOF
	case err != nil:
		return nil, at, p.syntax(err, at)
	}
	switch t := t.(type) {
	case xml.Directive:
		word, _, _ := strings.Cut(strings.TrimSpace(string(t)), " ")
		return nil, at, p.fault(at, "<!"+clip(word)+"> is not supported in an .rml file")
	case xml.StartElement:
		p.open = append(p.open, fmt.Sprintf("<%s> of line %d", clip(t.Name.Local), at.line))
	case xml.EndElement:
		p.open = p.open[:len(p.open)-1]
	}
	return t, at, nil
}

func (p *rmlReader) read() error {
	seen := false
	for {
		tok, at, err := p.token()
		if errors.Is(err, io.EOF) {
			if !seen {
				return p.fault(at, "not an .rml file: there is no <RML> element")
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if !strings.EqualFold(t.Name.Local, "RML") || seen {
				return p.fault(at, fmt.Sprintf("<%s> stands where one <RML> element is expected", clip(t.Name.Local)))
			}
			seen = true
			for _, a := range t.Attr {
				if !namespace(a.Name) {
					return p.fault(at, fmt.Sprintf("attribute %s of <RML> is not supported", clip(a.Name.Local)))
				}
			}
			if err := p.body(); err != nil {
				return err
			}
		case xml.CharData:
			if strings.TrimSpace(string(t)) != "" {
				return p.fault(at, "text stands outside the <RML> element")
			}
		}
	}
}

// namespace says that an attribute only declares a namespace.
func namespace(n xml.Name) bool { return n.Space == "xmlns" || n.Space == "" && n.Local == "xmlns" }

func (p *rmlReader) body() error {
	kinds := map[string]CommandKind{"CONNECT": Connect, "LANG": Lang, "RPC": RPC, "DISCONNECT": Disconnect}
	for {
		tok, at, err := p.token()
		if err != nil {
			return err
		}
		switch t := tok.(type) {
		case xml.EndElement:
			return nil
		case xml.CharData:
			if strings.TrimSpace(string(t)) != "" {
				return p.fault(at, "text stands outside a command")
			}
		case xml.StartElement:
			kind, known := kinds[strings.ToUpper(t.Name.Local)]
			if !known {
				return p.fault(at, fmt.Sprintf("<%s> is not supported: gostress runs <CONNECT>, <LANG>, <RPC> and <DISCONNECT>", clip(t.Name.Local)))
			}
			if err := p.command(kind, t, at); err != nil {
				return err
			}
		}
	}
}

// The fields of a command, which stand as attributes in newer files and as
// elements in older ones.
const (
	fieldSeq       = "SEQ"
	fieldNext      = "NEXTSEQ"
	fieldDelta     = "DELTA"
	fieldWaitAfter = "WAITAFTER"
	fieldUser      = "USER"
	fieldText      = "CMD"
)

// recorded are the fields that say what was seen when the file was recorded, and
// ask for nothing.
func recorded() []string {
	return []string{
		"REPLAY_DURATION", "DURATION", "STARTTIME", "ENDTIME", "CPU", "READS", "WRITES", "SPID",
		"HOST", "APPNAME", "NETWORK", "DBID", "PACKETSIZE",
	}
}

func (p *rmlReader) command(kind CommandKind, el xml.StartElement, at position) error {
	f := rmlFields{kind: kind, values: map[string]rmlValue{}}
	for _, a := range el.Attr {
		if namespace(a.Name) {
			continue
		}
		name := strings.ToUpper(a.Name.Local)
		if name == fieldText {
			return p.fault(at, fmt.Sprintf("%s is an element, not an attribute of %s", fieldText, kind))
		}
		if err := f.put(name, rmlValue{a.Value, at}); err != nil {
			return p.fault(at, fmt.Sprintf("attribute %s of %s %s", clip(a.Name.Local), kind, err))
		}
	}
	for {
		tok, inner, err := p.token()
		if err != nil {
			return err
		}
		switch t := tok.(type) {
		case xml.EndElement:
			return p.finish(f, at)
		case xml.CharData:
			if strings.TrimSpace(string(t)) != "" {
				return p.fault(inner, fmt.Sprintf("text stands in %s outside <CMD>", kind))
			}
		case xml.StartElement:
			name := strings.ToUpper(t.Name.Local)
			for _, a := range t.Attr {
				if !namespace(a.Name) {
					return p.fault(inner, fmt.Sprintf("attribute %s of <%s> is not supported", clip(a.Name.Local), clip(t.Name.Local)))
				}
			}
			if err := f.may(name); err != nil {
				return p.fault(inner, fmt.Sprintf("<%s> in %s %s", clip(t.Name.Local), kind, err))
			}
			start := p.src.place(p.dec.InputOffset())
			text, err := p.content(t.Name.Local)
			if err != nil {
				return err
			}
			if err := f.put(name, rmlValue{text, start}); err != nil {
				return p.fault(inner, fmt.Sprintf("<%s> in %s %s", clip(t.Name.Local), kind, err))
			}
		}
	}
}

// content reads an element that holds text alone.
func (p *rmlReader) content(name string) (string, error) {
	var sb strings.Builder
	for {
		tok, at, err := p.token()
		if err != nil {
			return "", err
		}
		switch t := tok.(type) {
		case xml.CharData:
			sb.Write(t)
		case xml.EndElement:
			return sb.String(), nil
		case xml.StartElement:
			return "", p.fault(at, fmt.Sprintf("<%s> stands inside <%s>: write < as &lt; or use CDATA", clip(t.Name.Local), clip(name)))
		}
	}
}

// rmlValue is a field's text and where it begins.
type rmlValue struct {
	text string
	at   position
}

// rmlFields are the fields of a command that have been read.
type rmlFields struct {
	kind   CommandKind
	values map[string]rmlValue
}

// may says whether the command can have the field.
func (f *rmlFields) may(name string) error {
	switch name {
	case fieldSeq, fieldNext, fieldDelta, fieldWaitAfter:
		return nil
	case fieldUser:
		if f.kind == Connect {
			return nil
		}
	case fieldText:
		if f.kind != Disconnect {
			return nil
		}
	default:
		if slices.Contains(recorded(), name) {
			return nil
		}
	}
	return errors.New("is not supported")
}

func (f *rmlFields) put(name string, v rmlValue) error {
	if err := f.may(name); err != nil {
		return err
	}
	if _, twice := f.values[name]; twice {
		return errors.New("stands twice")
	}
	f.values[name] = v
	return nil
}

// finish makes the command of its fields.
func (p *rmlReader) finish(f rmlFields, at position) error {
	c := Command{Kind: f.kind, Line: at.line, Col: at.col, TextLine: at.line, User: strings.TrimSpace(f.values[fieldUser].text)}
	text, hasText := f.values[fieldText]
	switch {
	case hasText:
		c.Text, c.TextLine = text.text, text.at.line
	case c.Kind == Lang || c.Kind == RPC:
		return p.fault(at, fmt.Sprintf("%s has no <CMD>", c.Kind))
	}
	blank := strings.TrimSpace(c.Text) == ""
	switch {
	case blank && c.Kind == Lang:
		return nil // as an empty batch between two GO lines
	case blank && c.Kind == RPC:
		return p.fault(at, "<RPC> has an empty <CMD>, and so calls nothing")
	case blank:
		c.Text = ""
	case c.Kind == RPC:
		c.Call, _ = parseCall(c.Text)
	}
	var err error
	if v, ok := f.values[fieldWaitAfter]; ok {
		if c.After, err = waitAfter(v.text); err != nil {
			return p.fault(v.at, err.Error())
		}
	}
	if v, ok := f.values[fieldDelta]; ok {
		n, err := rmlNumber(fieldDelta, v.text, 0)
		if err != nil {
			return p.fault(v.at, err.Error())
		}
		c.Timed, c.At = true, time.Duration(min(n, math.MaxInt64/int64(time.Microsecond)))*time.Microsecond
	}
	if v, ok := f.values[fieldSeq]; ok {
		if c.Seq, err = rmlNumber(fieldSeq, v.text, -mostSeq); err != nil {
			return p.fault(v.at, err.Error())
		}
		c.Ordered, c.Next = true, c.Seq+1
	}
	if v, ok := f.values[fieldNext]; ok {
		n, err := rmlNumber(fieldNext, v.text, -mostSeq)
		switch {
		case err != nil:
			return p.fault(v.at, err.Error())
		case !c.Ordered:
			return p.fault(v.at, fmt.Sprintf("NEXTSEQ=%d without SEQ", n))
		case n < c.Seq:
			return p.fault(v.at, fmt.Sprintf("NEXTSEQ=%d is less than SEQ=%d: a command cannot end before it begins", n, c.Seq))
		}
		c.Next = max(n, c.Seq+1)
	}
	p.out = append(p.out, c)
	return nil
}

// mostSeq leaves room above a sequence number.
const mostSeq = math.MaxInt64 / 2

func rmlNumber(name, text string, least int64) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < least || n > mostSeq {
		return 0, fmt.Errorf("%s=%q is not a whole number from %d to %d", name, clip(text), least, int64(mostSeq))
	}
	return n, nil
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
		return 0, fmt.Errorf("WAITAFTER=%q is not a time: write a number and s, sec, ms or min", clip(v))
	}
	return time.Duration(f * float64(scale)), nil
}

// syntax makes the error of a token that began at the given place: it is where the
// decoder stopped, but for an end tag that is whole and wrong.
func (p *rmlReader) syntax(err error, token position) error {
	at := p.src.place(p.dec.InputOffset())
	text := err.Error()
	var se *xml.SyntaxError
	switch {
	case p.src.err != nil:
		text, err = p.src.err.Error(), p.src.err
	case errors.As(err, &se):
		text = se.Msg
		if strings.Contains(text, " closed by ") || strings.HasPrefix(text, "unexpected end element") {
			at = token
		}
		if strings.HasPrefix(text, "unexpected EOF") && len(p.open) > 0 {
			text = "the file ends inside " + p.open[len(p.open)-1]
		}
	}
	return &Error{Path: p.path, Line: at.line, Col: at.col, Text: "cannot read the .rml file: " + shorten(text, 200), Err: err}
}

func (p *rmlReader) fault(at position, text string) error {
	return &Error{Path: p.path, Line: at.line, Col: at.col, Text: text}
}

// clip keeps a message short whatever name or value stands in the file.
func clip(s string) string { return shorten(s, 60) }

func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
