package script

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxCount is the largest count accepted behind GO, that of sqlcmd.
const MaxCount = 2147483647

// Split cuts T-SQL text at its GO lines, as sqlcmd and SSMS do. GO separates
// only on a line of its own, in any case, outside strings, bracketed and quoted
// identifiers and comments (block comments nest); a count and a comment may
// follow it. Batches of white space alone are left out. A byte order mark outside
// quotes and comments, where another file was appended, is no text: it is left out where
// it begins a line, else read as a blank. path names the input in errors, which are *Error.
func Split(path, text string) ([]Batch, error) {
	sp := splitter{path: path, text: text, line: 1}
	if err := sp.run(); err != nil {
		return nil, err
	}
	return sp.out, nil
}

type splitter struct {
	path, text string
	pos, line  int // where the scan stands
	start      int // where the current batch begins
	startLine  int
	marks      []int // where byte order marks stand in the current batch
	out        []Batch
}

const (
	mark       = "\ufeff"
	lineBlanks = " \t\f\v" + mark
)

func (s *splitter) run() error {
	s.start, s.startLine = 0, 1
	atLineStart := true
	for s.pos < len(s.text) {
		if atLineStart {
			done, err := s.separator()
			if err != nil {
				return err
			}
			if done {
				continue
			}
		}
		atLineStart = false
		switch c := s.text[s.pos]; {
		case c == '\n' || c == '\r':
			s.newline()
			atLineStart = true
		case c == '\'' || c == '"':
			s.quoted(c)
		case c == '[':
			s.quoted(']')
		case c == '-' && strings.HasPrefix(s.text[s.pos:], "--"):
			s.toLineEnd()
		case c == '/' && strings.HasPrefix(s.text[s.pos:], "/*"):
			s.blockComment()
		case c == mark[0] && strings.HasPrefix(s.text[s.pos:], mark):
			s.marks = append(s.marks, s.pos)
			s.pos += len(mark)
		default:
			s.pos++
		}
	}
	s.add(len(s.text), 1)
	return nil
}

// newline steps over one line break: \n, \r\n or \r.
func (s *splitter) newline() {
	if strings.HasPrefix(s.text[s.pos:], "\r\n") {
		s.pos++
	}
	s.pos++
	s.line++
}

func (s *splitter) toLineEnd() {
	n := strings.IndexAny(s.text[s.pos:], "\r\n")
	if n < 0 {
		n = len(s.text) - s.pos
	}
	s.pos += n
}

// quoted steps over a string or identifier that ends at end, where a doubled
// end stands for itself.
func (s *splitter) quoted(end byte) {
	s.pos++
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == end:
			s.pos++
			if s.pos >= len(s.text) || s.text[s.pos] != end {
				return
			}
			s.pos++
		case c == '\n' || c == '\r':
			s.newline()
		default:
			s.pos++
		}
	}
}

func (s *splitter) blockComment() {
	depth := 0
	for s.pos < len(s.text) {
		switch rest := s.text[s.pos:]; {
		case strings.HasPrefix(rest, "/*"):
			depth++
			s.pos += 2
		case strings.HasPrefix(rest, "*/"):
			depth--
			s.pos += 2
			if depth == 0 {
				return
			}
		case rest[0] == '\n' || rest[0] == '\r':
			s.newline()
		default:
			s.pos++
		}
	}
}

// separator ends the batch if the line that begins here is a GO line. The scan
// then stands at the start of the next line, or at a block comment that goes on
// beyond the GO line, which belongs to the next batch.
func (s *splitter) separator() (bool, error) {
	end := strings.IndexAny(s.text[s.pos:], "\r\n")
	if end < 0 {
		end = len(s.text)
	} else {
		end += s.pos
	}
	line := strings.TrimLeft(s.text[s.pos:end], lineBlanks+"\u00a0")
	if len(line) < 2 || !strings.EqualFold(line[:2], "GO") {
		return false, nil
	}
	rest := line[2:]
	if rest == ";" {
		return false, s.fault("GO takes no semicolon: it must stand alone on its line, with at most a count and a comment")
	}
	if rest != "" && !strings.ContainsAny(rest[:1], "-/") && strings.TrimLeft(rest, lineBlanks) == rest {
		return false, nil
	}
	rest = strings.TrimLeft(rest, lineBlanks)
	count := int64(1)
	tail := rest
	if rest != "" && !isComment(rest) {
		word := rest
		if n := strings.IndexAny(rest, lineBlanks+"/"); n >= 0 {
			word = rest[:n]
		}
		if n := strings.Index(word, "--"); n > 0 {
			word = word[:n]
		}
		n, err := strconv.ParseInt(word, 10, 64)
		switch {
		case err != nil || word[0] == '+':
			return false, s.fault(fmt.Sprintf("GO must be followed by a count or nothing, not by %q", word))
		case n < 0:
			return false, s.fault(fmt.Sprintf("the count behind GO is negative: %d", n))
		case n > MaxCount:
			return false, s.fault(fmt.Sprintf("the count behind GO is above %d: %d", MaxCount, n))
		}
		count = n
		tail = strings.TrimLeft(rest[len(word):], lineBlanks)
	}
	for strings.HasPrefix(tail, "/*") {
		n := commentEnd(tail)
		if n < 0 {
			break
		}
		tail = strings.TrimLeft(tail[n:], lineBlanks)
	}
	if tail != "" && !isComment(tail) {
		return false, s.fault(fmt.Sprintf("only a comment may follow GO and its count, not %q", tail))
	}
	s.add(s.pos, count)
	if strings.HasPrefix(tail, "/*") {
		s.pos = end - len(tail)
		s.start, s.startLine = s.pos, s.line
		s.blockComment()
		return true, nil
	}
	s.pos = end
	if s.pos < len(s.text) {
		s.newline()
	}
	s.start, s.startLine = s.pos, s.line
	return true, nil
}

func isComment(s string) bool { return strings.HasPrefix(s, "--") || strings.HasPrefix(s, "/*") }

// commentEnd is the length of the nested block comment that s begins with, or
// -1 when it goes on beyond s.
func commentEnd(s string) int {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

func (s *splitter) add(end int, count int64) {
	text := s.unmarked(end)
	text = strings.TrimSuffix(text, "\n")
	text = strings.TrimSuffix(text, "\r")
	if strings.TrimSpace(strings.Trim(text, "\ufeff")) == "" {
		return
	}
	s.out = append(s.out, Batch{Text: text, Line: s.startLine, Count: count})
}

// unmarked is the current batch without its byte order marks.
func (s *splitter) unmarked(end int) string {
	if len(s.marks) == 0 {
		return s.text[s.start:end]
	}
	out := make([]byte, 0, end-s.start)
	from := s.start
	for _, at := range s.marks {
		out = append(out, s.text[from:at]...)
		if n := len(out); n > 0 && out[n-1] != '\n' && out[n-1] != '\r' {
			out = append(out, ' ')
		}
		from = at + len(mark)
	}
	s.marks = s.marks[:0]
	return string(append(out, s.text[from:end]...))
}

func (s *splitter) fault(text string) error {
	return &Error{Path: s.path, Line: s.line, Text: text}
}

func lineBreaks(text string) int {
	n := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n':
			n++
		case '\r':
			if i+1 >= len(text) || text[i+1] != '\n' {
				n++
			}
		}
	}
	return n
}
