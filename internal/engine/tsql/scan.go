package tsql

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"gostress/internal/engine/sqlerr"
)

// tokenKind tells tokens apart as far as the checks need it.
type tokenKind uint8

const (
	tokEOF      tokenKind = iota
	tokWord               // a bare identifier or keyword
	tokQuoted             // [name] or "name"
	tokVariable           // @name or @@name
	tokString             // 'text' or N'text'
	tokNumber             // 1, 1.5, 1e3, 0xFF, $1
	tokPunct              // an operator or punctuation mark
)

// token is a token of a batch; pos and end are byte offsets.
type token struct {
	kind     tokenKind
	word     string // a word's or variable's upper-case form, a mark as it is; else ""
	pos, end int
	line     int
}

func (t token) text(src string) string { return src[t.pos:t.end] }

// maxIdentifier is the longest name, in characters.
const maxIdentifier = 128

// scanner cuts a batch into tokens by T-SQL's rules, which differ from teesql's:
// comments nest, and what is not closed is an error.
type scanner struct {
	src    string
	pos    int
	line   int
	tokens []token
	nested []span // comments that contain comments
	// strings tells that text in quotation marks is a string at this point.
	dquotes bool
	marks   []span // the strings in quotation marks
}

type span struct{ lo, hi int }

// scan returns the tokens of src, the last of kind tokEOF, under SET
// QUOTED_IDENTIFIER ON or OFF.
func scan(src string, quotedIdentifier bool) (*scanner, error) {
	s := &scanner{src: src, line: 1, tokens: make([]token, 0, len(src)/4+8), dquotes: !quotedIdentifier}
	for {
		if err := s.space(); err != nil {
			return s, err
		}
		if s.pos >= len(src) {
			s.tokens = append(s.tokens, token{kind: tokEOF, pos: len(src), end: len(src), line: s.line})
			return s, nil
		}
		t, err := s.next()
		if err != nil {
			return s, err
		}
		s.tokens = append(s.tokens, t)
		if t.word == "ON" || t.word == "OFF" {
			s.option(t.word == "ON")
		}
	}
}

func at(err *sqlerr.Error, line int) *sqlerr.Error {
	err.Line = int32(line)
	return err
}

// advance moves to byte offset to, counting lines.
func (s *scanner) advance(to int) {
	s.line += newlines(s.src[s.pos:to], to < len(s.src) && s.src[to] == '\n')
	s.pos = to
}

// newlines counts line ends as teesql does: LF, CRLF and a lone CR. lf says that
// an LF follows text.
func newlines(text string, lf bool) int {
	n := strings.Count(text, "\n")
	for i := strings.IndexByte(text, '\r'); i >= 0; {
		if i+1 < len(text) && text[i+1] != '\n' || i+1 == len(text) && !lf {
			n++
		}
		j := strings.IndexByte(text[i+1:], '\r')
		if j < 0 {
			break
		}
		i += j + 1
	}
	return n
}

// space skips white space and comments.
func (s *scanner) space() error {
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		switch {
		case c == 0:
			return at(sqlerr.New(102, 15, 1, "Syntax error near a character of value 0."), s.line)
		case c <= ' ':
			s.advance(s.pos + 1)
		case c == '-' && strings.HasPrefix(s.src[s.pos:], "--"):
			if i := strings.IndexByte(s.src[s.pos:], '\n'); i >= 0 {
				s.advance(s.pos + i)
			} else {
				s.advance(len(s.src))
			}
		case c == '/' && strings.HasPrefix(s.src[s.pos:], "/*"):
			if err := s.comment(); err != nil {
				return err
			}
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s.src[s.pos:])
			if !unicode.IsSpace(r) && r != 0x200B {
				return nil
			}
			s.advance(s.pos + size)
		default:
			return nil
		}
	}
	return nil
}

// comment skips a block comment; they nest.
func (s *scanner) comment() error {
	depth, inner, line := 0, false, s.line
	for i := s.pos; i < len(s.src); {
		switch {
		case strings.HasPrefix(s.src[i:], "/*"):
			depth++
			inner = inner || depth > 1
			i += 2
		case strings.HasPrefix(s.src[i:], "*/"):
			depth--
			i += 2
			if depth == 0 {
				if inner {
					s.nested = append(s.nested, span{s.pos, i})
				}
				s.advance(i)
				return nil
			}
		default:
			i++
		}
	}
	return at(sqlerr.UnclosedComment(), line)
}

func (s *scanner) next() (token, error) {
	t := token{pos: s.pos, line: s.line}
	c := s.src[s.pos]
	switch {
	case c == '\'':
		t.kind = tokString
		return s.quoted(t, s.pos, '\'')
	case (c == 'N' || c == 'n') && s.peek(1) == '\'':
		t.kind = tokString
		return s.quoted(t, s.pos+1, '\'')
	case c == '[':
		t.kind = tokQuoted
		return s.quoted(t, s.pos, ']')
	case c == '"':
		if s.dquotes {
			t.kind = tokString
			t, err := s.quoted(t, s.pos, '"')
			s.marks = append(s.marks, span{t.pos, t.end})
			return t, err
		}
		t.kind = tokQuoted
		return s.quoted(t, s.pos, '"')
	case digit(c) || c == '.' && digit(s.peek(1)):
		t.kind = tokNumber
		s.pos = s.number()
	case c == '$' && !letter(s.peek(1)):
		t.kind = tokNumber
		s.pos = s.money()
	case identStart(s.src[s.pos:]):
		end := s.pos
		for end < len(s.src) {
			r, size := utf8.DecodeRuneInString(s.src[end:])
			if !identPart(r) {
				break
			}
			end += size
		}
		s.pos = end
		t.kind = tokWord
		if c == '@' {
			t.kind = tokVariable
		}
		t.word = strings.ToUpper(s.src[t.pos:end])
		if utf8.RuneCountInString(s.src[t.pos:end]) > maxIdentifier {
			return t, at(tooLong(s.src[t.pos:end]), t.line)
		}
	default:
		t.kind = tokPunct
		s.pos = s.mark()
		t.word = s.src[t.pos:s.pos]
	}
	t.end = s.pos
	return t, nil
}

// option follows SET QUOTED_IDENTIFIER and SET ANSI_DEFAULTS, of which ON or OFF
// has just been read. A module keeps what it was made under.
func (s *scanner) option(on bool) {
	t := s.tokens
	if len(t) > 1 && (t[0].word == "CREATE" || t[0].word == "ALTER") {
		i := 1
		if t[1].word == "OR" {
			i = 3
		}
		if i < len(t) {
			switch t[i].word {
			case "PROC", "PROCEDURE", "FUNCTION", "VIEW", "TRIGGER":
				return
			}
		}
	}
	found := false
	for i := len(t) - 1; i >= 0; i-- {
		switch t[i].word {
		case "QUOTED_IDENTIFIER", "ANSI_DEFAULTS":
			found = true
		case "SET":
			if found {
				s.dquotes = !on
			}
			return
		case ",":
		default:
			if t[i].kind != tokWord || len(t)-i > 64 {
				return
			}
		}
	}
}

func (s *scanner) peek(n int) byte {
	if s.pos+n < len(s.src) {
		return s.src[s.pos+n]
	}
	return 0
}

// quoted reads to the closing mark, which is doubled where it is meant; from is
// the offset of the opening one.
func (s *scanner) quoted(t token, from int, closing byte) (token, error) {
	for i := from + 1; i < len(s.src); i++ {
		if s.src[i] != closing {
			continue
		}
		if i+1 < len(s.src) && s.src[i+1] == closing {
			i++
			continue
		}
		s.advance(i + 1)
		t.end = s.pos
		if t.kind == tokQuoted {
			name := strings.ReplaceAll(s.src[t.pos+1:t.end-1], string([]byte{closing, closing}), string(closing))
			switch n := utf8.RuneCountInString(name); {
			case n > maxIdentifier && closing == ']':
				return t, at(tooLong(name), t.line)
			case n == 0:
				return t, at(sqlerr.New(1038, 15, 4, "An object or column name is missing or empty. A name in brackets or quotation marks must have at least one character, and every column of SELECT INTO needs a name."), t.line)
			}
		}
		return t, nil
	}
	text := []rune(s.src[from+1:])
	if len(text) > 128 {
		text = text[:128]
	}
	return t, at(sqlerr.UnclosedString(string(text)), t.line)
}

func tooLong(name string) *sqlerr.Error {
	r := []rune(name)
	return sqlerr.New(103, 15, 4, "The identifier that starts with '%s' is too long. The maximum length is %d.", string(r[:min(len(r), maxIdentifier)]), maxIdentifier)
}

func (s *scanner) number() int {
	i, src := s.pos, s.src
	if src[i] == '0' && i+1 < len(src) && (src[i+1] == 'x' || src[i+1] == 'X') {
		for i += 2; i < len(src) && hex(src[i]); i++ {
		}
		return i
	}
	for ; i < len(src) && digit(src[i]); i++ {
	}
	if i < len(src) && src[i] == '.' {
		for i++; i < len(src) && digit(src[i]); i++ {
		}
	}
	if i < len(src) && (src[i] == 'e' || src[i] == 'E') {
		i++
		if i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		for ; i < len(src) && digit(src[i]); i++ {
		}
	}
	return i
}

func (s *scanner) money() int {
	i := s.pos + 1
	for i < len(s.src) && (digit(s.src[i]) || s.src[i] == '.') {
		i++
	}
	return i
}

// marks of two and three characters, the longest first.
var marks = []string{"||=", "<>", "<=", ">=", "!=", "!<", "!>", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::", "||", "<<", ">>"}

func (s *scanner) mark() int {
	rest := s.src[s.pos:]
	for _, m := range marks {
		if strings.HasPrefix(rest, m) {
			return s.pos + len(m)
		}
	}
	_, size := utf8.DecodeRuneInString(rest)
	return s.pos + size
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func hex(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func identStart(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r == '_' || r == '@' || r == '#' || r == '$' || unicode.IsLetter(r)
}

func identPart(r rune) bool {
	return r == '_' || r == '@' || r == '#' || r == '$' || unicode.IsLetter(r) || r < utf8.RuneSelf && digit(byte(r))
}
