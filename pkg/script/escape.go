package script

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// maxEscapes is how deep escapes may stand in one another; T-SQL itself takes
// fewer calls in one another.
const maxEscapes = 64

// Statement is a batch whose ODBC escapes are resolved.
type Statement struct {
	Text string // the batch; empty when Proc is set
	Proc string // a procedure to be called by its name, without parameters
}

// Escapes resolves the ODBC escapes of a batch, as an ODBC driver does before it
// sends one. An escape in a string, a quoted name or a comment is none.
//
//   - {call p} and {call p()}, when they are the whole batch, are a call by name,
//     which alone reaches procedures such as sp_reset_connection. With literals, or
//     among other statements, {call p(1)} is EXEC p 1. {?=call p} is the same; the
//     return status goes nowhere.
//   - {fn f(x)} is the T-SQL that does the same; a function of ODBC's list without
//     a twin is refused by name.
//   - {d '...'}, {t '...'}, {ts '...'}, {guid '...'}, {oj ...} and {escape '...'} are
//     T-SQL already: they are checked and left as they stand, but in the arguments of a
//     call, where T-SQL takes constants alone, literals become strings that mean the
//     same in every language.
//   - Braces that begin no escape are left alone.
//
// A broken escape is an *Error with its line in text; its Path is empty.
// Escapes of a Text that it returned changes nothing.
func Escapes(text string) (Statement, error) {
	if strings.IndexByte(text, '{') < 0 {
		return Statement{Text: text}, nil
	}
	if proc := byName(text); proc != "" {
		return Statement{Proc: proc}, nil
	}
	p := escapes{text: text}
	var sb strings.Builder
	if err := p.copy(&sb, 0, nothing, plain); err != nil {
		return Statement{}, err
	}
	return Statement{Text: sb.String()}, nil
}

// byName is the procedure of a text that is one {call p} without arguments, apart
// from comments and a semicolon.
func byName(text string) string {
	p := escapes{text: text}
	if p.blank(); !strings.HasPrefix(p.text[p.pos:], "{") {
		return ""
	}
	c, err := p.call(0)
	if err != nil || c == nil || c.args != "" {
		return ""
	}
	if p.blank(); p.take(";") {
		p.blank()
	}
	if p.pos < len(text) {
		return ""
	}
	return c.proc
}

const (
	blanks  = " \t\r\n\f\v\u00a0\ufeff"
	nothing = byte(0)
)

// place is where text stands: it decides what an escape becomes.
type place uint8

const (
	plain  place = iota
	inCall       // in the arguments of a call
)

// escapes reads text and never goes back beyond what it has written.
type escapes struct {
	text string
	pos  int
}

// copy writes text up to the byte end that closes the escape at hand, outside
// parentheses when end is one, and resolves what stands before it. It stops in front
// of end, or at the text's end.
func (p *escapes) copy(sb *strings.Builder, depth int, end byte, where place) error {
	from, parens := p.pos, 0
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		if n := quotedLen(p.text[p.pos:]); n > 0 {
			p.pos += n
			continue
		}
		switch {
		case end == ')' && parens == 0 && (c == ')' || c == ','), end == '}' && c == '}':
			sb.WriteString(p.text[from:p.pos])
			return nil
		case c == '(':
			parens++
		case c == ')':
			parens--
		case c == '?' && where == inCall:
			return p.fault(p.pos, "the ODBC escape {call ...} has a parameter marker ?, and no parameters are given")
		case c == '{':
			sb.WriteString(p.text[from:p.pos])
			if err := p.escape(sb, depth+1, where); err != nil {
				return err
			}
			from = p.pos
			continue
		}
		p.pos++
	}
	sb.WriteString(p.text[from:p.pos])
	return nil
}

// escape resolves what begins with the brace at hand.
func (p *escapes) escape(sb *strings.Builder, depth int, where place) error {
	start := p.pos
	if depth > maxEscapes {
		return p.fault(start, fmt.Sprintf("ODBC escapes stand more than %d deep in one another", maxEscapes))
	}
	word, after := p.keyword()
	switch word {
	case "call", "?":
		if where == inCall {
			return p.fault(start, "an ODBC escape {call ...} cannot be the argument of another")
		}
		call, err := p.call(depth)
		if err != nil {
			return err
		}
		p.join(sb, start, "EXEC "+strings.TrimRight(call.proc+" "+call.args, blanks))
		return nil
	case "fn":
		if where == inCall {
			return p.fault(start, "an ODBC escape {fn ...} cannot be the argument of a {call ...}: T-SQL takes constants and variables there")
		}
		p.pos = after
		return p.function(sb, start, depth)
	case "d", "t", "ts", "guid":
		return p.literal(sb, word, after, where)
	case "escape":
		p.pos = after
		if _, err := p.constant(start, word); err != nil {
			return err
		}
		sb.WriteString(p.text[start:p.pos])
		return nil
	case "oj":
		sb.WriteString(p.text[start:after])
		p.pos = after
		if err := p.copy(sb, depth, '}', where); err != nil {
			return err
		}
		if err := p.brace(start, word); err != nil {
			return err
		}
		sb.WriteByte('}')
		return nil
	case "interval":
		return p.fault(start, "the ODBC escape {interval ...} is not supported: T-SQL has no intervals")
	}
	sb.WriteByte('{')
	p.pos++
	return nil
}

// keyword is the word behind the brace at hand, in lower case, and where the text
// goes on behind it. It is empty when no escape of ODBC begins so.
func (p *escapes) keyword() (word string, after int) {
	rest := p.text[p.pos+1:]
	s := strings.TrimLeft(rest, blanks)
	at := p.pos + 1 + len(rest) - len(s)
	if strings.HasPrefix(s, "?") {
		return "?", at + 1
	}
	n := 0
	for n < len(s) && nameByte(s[n]) {
		n++
	}
	switch w := strings.ToLower(s[:n]); w {
	case "call", "fn", "d", "t", "ts", "guid", "escape", "oj", "interval":
		return w, at + n
	}
	return "", at
}

// join writes a statement or expression in place of an escape, apart from the words
// beside it. The scan stands behind the escape.
func (p *escapes) join(sb *strings.Builder, start int, s string) {
	if start > 0 && (nameByte(p.text[start-1]) || p.text[start-1] == '}') {
		sb.WriteByte(' ')
	}
	sb.WriteString(s)
	if p.pos < len(p.text) && nameByte(p.text[p.pos]) {
		sb.WriteByte(' ')
	}
}

// call is {call proc} or {call proc(args)}.
type call struct{ proc, args string }

// call reads {call name}, {call name(args)} and {?=call name...}. It is nil when
// another escape begins here.
func (p *escapes) call(depth int) (*call, error) {
	start := p.pos
	word, after := p.keyword()
	p.pos = after
	if word == "?" {
		p.blank()
		if !p.take("=") {
			return nil, p.fault(start, "an ODBC escape {? ...} that is not {?=call ...}")
		}
		p.pos-- // keyword looks behind one byte
		if word, after = p.keyword(); word != "call" {
			return nil, p.fault(start, "an ODBC escape {?= ...} that is not a call")
		}
		p.pos = after
	}
	if word != "call" {
		p.pos = start
		return nil, nil
	}
	p.blank()
	c := &call{}
	n := procLen(p.text[p.pos:])
	if c.proc = p.text[p.pos : p.pos+n]; c.proc == "" {
		return nil, p.fault(start, "the ODBC escape {call ...} names no procedure")
	}
	p.pos += n
	p.blank()
	if p.take("(") {
		var args []string
		for {
			var sb strings.Builder
			if err := p.copy(&sb, depth, ')', inCall); err != nil {
				return nil, err
			}
			args = append(args, trimmed(sb.String()))
			if p.take(",") {
				continue
			}
			if !p.take(")") {
				return nil, p.fault(start, "the ODBC escape {call "+c.proc+"(...)} has no closing parenthesis")
			}
			break
		}
		c.args = strings.Join(args, ", ")
		p.blank()
	}
	if !p.take("}") {
		return nil, p.fault(start, "the ODBC escape {call "+c.proc+" has no closing brace")
	}
	return c, nil
}

// function is {fn name(args)}.
func (p *escapes) function(sb *strings.Builder, start, depth int) error {
	p.blank()
	n := 0
	for p.pos+n < len(p.text) && nameByte(p.text[p.pos+n]) {
		n++
	}
	name := strings.ToUpper(p.text[p.pos : p.pos+n])
	if name == "" {
		return p.fault(start, "the ODBC escape {fn ...} names no function")
	}
	p.pos += n
	p.blank()
	var args []string
	parens := p.take("(")
	for parens {
		var arg strings.Builder
		if err := p.copy(&arg, depth, ')', plain); err != nil {
			return err
		}
		args = append(args, trimmed(arg.String()))
		if p.take(",") {
			continue
		}
		if !p.take(")") {
			return p.fault(start, "the ODBC escape {fn "+name+"(...)} has no closing parenthesis")
		}
		break
	}
	p.blank()
	if err := p.brace(start, "fn "+name); err != nil {
		return err
	}
	if len(args) == 1 && args[0] == "" {
		args = nil
	}
	out, err := twinOf(name, args, parens)
	if err != nil {
		return p.fault(start, err.Error())
	}
	p.join(sb, start, out)
	return nil
}

// The forms of date and time literals, as wide as SQL Server's own reading of them.
var (
	dateForm  = regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2}$`)
	timeForm  = regexp.MustCompile(`^\d{1,2}:\d{1,2}(:\d{1,2}(\.\d{1,9})?)?$`)
	stampForm = regexp.MustCompile(`^(\d{4}-\d{1,2}-\d{1,2})(?:[ T](\d{1,2}:\d{1,2}(?::\d{1,2}(?:\.\d{1,9})?)?))?$`)
	guidForm  = regexp.MustCompile(`^\{?[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}?$`)
)

// literal is {d '...'}, {t '...'}, {ts '...'} or {guid '...'}.
func (p *escapes) literal(sb *strings.Builder, word string, after int, where place) error {
	start := p.pos
	p.pos = after
	value, err := p.constant(start, word)
	if err != nil {
		return err
	}
	neutral := value // of every language
	ok := false
	switch word {
	case "d":
		neutral, ok = date(value, "20060102")
	case "t":
		ok = clock(value)
	case "ts":
		if m := stampForm.FindStringSubmatch(value); m != nil {
			neutral, ok = date(m[1], "2006-01-02")
			if m[2] != "" {
				neutral, ok = neutral+"T"+m[2], ok && clock(m[2])
			}
		}
	default:
		ok = guidForm.MatchString(value)
	}
	if !ok {
		what := map[string]string{"d": "a date, as in {d '2024-12-31'}", "t": "a time, as in {t '23:59:59'}",
			"ts": "a date and time, as in {ts '2024-12-31 23:59:59'}", "guid": "a uniqueidentifier"}[word]
		return p.fault(start, fmt.Sprintf("the ODBC escape {%s '%s'} does not hold %s", word, value, what))
	}
	if where == inCall {
		if p.text[start-1] == '\'' {
			sb.WriteByte(' ') // two strings must not become one
		}
		sb.WriteString("'" + neutral + "'")
	} else {
		sb.WriteString(p.text[start:p.pos])
	}
	return nil
}

func date(s, form string) (string, bool) {
	t, err := time.Parse("2006-1-2", s)
	return t.Format(form), err == nil && dateForm.MatchString(s)
}

func clock(s string) bool {
	if !timeForm.MatchString(s) {
		return false
	}
	for _, form := range []string{"15:4:5", "15:4"} { // a fraction is taken behind seconds
		if _, err := time.Parse(form, s); err == nil {
			return true
		}
	}
	return false
}

// constant reads a string and the closing brace behind it.
func (p *escapes) constant(start int, word string) (string, error) {
	p.blank()
	if strings.HasPrefix(p.text[p.pos:], "N'") {
		p.pos++
	}
	n := 0
	if strings.HasPrefix(p.text[p.pos:], "'") {
		n = quotedLen(p.text[p.pos:])
	}
	if n < 2 || p.text[p.pos+n-1] != '\'' {
		return "", p.fault(start, "the ODBC escape {"+word+" ...} holds no string in quotes")
	}
	s := p.text[p.pos+1 : p.pos+n-1]
	p.pos += n
	p.blank()
	return s, p.brace(start, word)
}

func (p *escapes) brace(start int, word string) error {
	if p.take("}") {
		return nil
	}
	return p.fault(start, "the ODBC escape {"+word+" ...} has no closing brace")
}

// blank steps over blanks and comments.
func (p *escapes) blank() {
	for {
		rest := strings.TrimLeft(p.text[p.pos:], blanks)
		p.pos = len(p.text) - len(rest)
		if !isComment(rest) {
			return
		}
		p.pos += quotedLen(rest)
	}
}

func (p *escapes) take(s string) bool {
	if strings.HasPrefix(p.text[p.pos:], s) {
		p.pos += len(s)
		return true
	}
	return false
}

func (p *escapes) fault(at int, text string) error {
	return &Error{Line: 1 + lineBreaks(p.text[:at]), Text: text}
}

// nameByte says whether c can be part of a name; beyond ASCII everything is.
func nameByte(c byte) bool {
	return c == '_' || c == '@' || c == '#' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// quotedLen is the length of the string, quoted name or comment that s begins
// with, to the end of s when it is not closed; 0 when there is none.
func quotedLen(s string) int {
	switch {
	case s == "":
		return 0
	case strings.HasPrefix(s, "--"):
		if n := strings.IndexAny(s, "\r\n"); n >= 0 {
			return n
		}
		return len(s)
	case strings.HasPrefix(s, "/*"):
		if n := commentEnd(s); n >= 0 {
			return n
		}
		return len(s)
	}
	end := s[0]
	switch end {
	case '\'', '"':
	case '[':
		end = ']'
	default:
		return 0
	}
	for i := 1; ; {
		n := strings.IndexByte(s[i:], end)
		if n < 0 {
			return len(s)
		}
		if i += n + 1; i >= len(s) || s[i] != end {
			return i
		}
		i++
	}
}

// trimmed is s without blanks at its ends, but for the line break that ends a
// comment.
func trimmed(s string) string {
	s = strings.Trim(s, blanks)
	for i := 0; i < len(s); {
		n := quotedLen(s[i:])
		if n > 0 && i+n == len(s) && strings.HasPrefix(s[i:], "--") {
			return s + "\n"
		}
		i += max(n, 1)
	}
	return s
}

// procLen is the length of a procedure's name, parts and quotes included.
func procLen(s string) int {
	i := 0
	for i < len(s) {
		if s[i] == '[' || s[i] == '"' {
			i += quotedLen(s[i:])
			continue
		}
		if strings.IndexByte("(){} \t\r\n\f\v,'", s[i]) >= 0 {
			return i
		}
		i++
	}
	return i
}
