// Package screentest is a terminal's screen for tests: what is written to it can be looked at as a
// person would see it. It knows what this program sends and panics at anything else.
package screentest

import (
	"fmt"
	"strconv"
	"strings"
)

// Screen is a terminal of a fixed width and height. What scrolls off its top is kept.
type Screen struct {
	width, height int
	above         []string // scrolled off
	lines         [][]rune
	x, y          int
	hidden        bool
	rest          string // of an escape sequence or a character that is not whole yet
	// Wrapped counts the lines that went on behind the last column.
	Wrapped int
}

// New is an empty screen.
func New(width, height int) *Screen {
	return &Screen{width: width, height: height, lines: [][]rune{nil}}
}

// Cursor tells where the cursor is, from 0, and whether it is seen.
func (s *Screen) Cursor() (x, y int, visible bool) { return s.x, s.y, !s.hidden }

// Lines are all lines from the first that was written on, without blanks at their ends.
func (s *Screen) Lines() []string {
	out := append([]string{}, s.above...)
	for _, l := range s.lines {
		out = append(out, strings.TrimRight(string(l), " "))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// Write does what a terminal does.
func (s *Screen) Write(b []byte) (int, error) {
	in := s.rest + string(b)
	s.rest = ""
	for in != "" {
		if in[0] == '\x1b' {
			end := strings.IndexFunc(in, func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' })
			if end < 0 {
				s.rest = in
				break
			}
			s.escape(in[1:end], in[end])
			in = in[end+1:]
			continue
		}
		r := []rune(in)[0]
		if r == 0xFFFD && len(in) < 4 {
			s.rest = in
			break
		}
		s.put(r)
		in = in[len(string(r)):]
	}
	return len(b), nil
}

func (s *Screen) escape(parameters string, final byte) {
	n, err := strconv.Atoi(strings.TrimPrefix(parameters, "["))
	if err != nil {
		n = 1
	}
	switch {
	case final == 'm':
	case final == 'K' && parameters == "[":
		s.cutLine()
	case final == 'J' && parameters == "[":
		s.cutLine()
		s.lines = s.lines[:s.y+1]
	case final == 'A':
		s.y = max(s.y-n, 0)
	case parameters == "[?25" && final == 'l':
		s.hidden = true
	case parameters == "[?25" && final == 'h':
		s.hidden = false
	default:
		panic(fmt.Sprintf("escape sequence %q", parameters+string(final)))
	}
}

func (s *Screen) cutLine() {
	if l := s.lines[s.y]; len(l) > s.x {
		s.lines[s.y] = l[:s.x]
	}
}

func (s *Screen) put(r rune) {
	switch {
	case r == '\r':
		s.x = 0
		return
	case r == '\n':
		s.down()
		return
	case r < ' ':
		panic(fmt.Sprintf("control character %q", r))
	}
	if s.x == s.width {
		s.Wrapped++
		s.x = 0
		s.down()
	}
	for len(s.lines[s.y]) <= s.x {
		s.lines[s.y] = append(s.lines[s.y], ' ')
	}
	s.lines[s.y][s.x] = r
	s.x++
}

func (s *Screen) down() {
	if s.y++; s.y == len(s.lines) {
		s.lines = append(s.lines, nil)
	}
	if s.y == s.height {
		s.above = append(s.above, strings.TrimRight(string(s.lines[0]), " "))
		s.lines = s.lines[1:]
		s.y--
	}
}
