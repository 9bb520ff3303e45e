package tsql

import (
	"reflect"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/sqlc-dev/teesql/ast"
)

// Source is the text of a batch. Node positions count UTF-16 units, as
// ScriptDom's do; Source translates them to its UTF-8 text. It is immutable
// after Parse and safe for concurrent use.
type Source struct {
	Text string
	// wide lists the byte offset after each character whose UTF-16 length is
	// not its UTF-8 length, with the difference that has added up by then; it
	// is empty for ASCII text.
	wide []shift
}

type shift struct {
	units int // UTF-16 offset from which on delta holds
	delta int // bytes minus units
}

func newSource(text string) Source {
	s := Source{Text: text}
	units := 0
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			units++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		units++
		if r > 0xFFFF {
			units++
		}
		s.wide = append(s.wide, shift{units, i - units})
	}
	return s
}

// byteOffset translates a UTF-16 offset to a byte offset of Text.
func (s *Source) byteOffset(units int) int {
	i := sort.Search(len(s.wide), func(i int) bool { return s.wide[i].units > units })
	if i > 0 {
		units += s.wide[i-1].delta
	}
	return min(max(units, 0), len(s.Text))
}

// unitOffset translates a byte offset of Text to a UTF-16 offset.
func (s *Source) unitOffset(bytes int) int {
	i := sort.Search(len(s.wide), func(i int) bool { return s.wide[i].units+s.wide[i].delta > bytes })
	if i > 0 {
		bytes -= s.wide[i-1].delta
	}
	return bytes
}

// Slice returns the source text of a node, without the semicolon and white space
// that may end its span; "" when the node has no position.
func (s *Source) Slice(n any) string {
	f := fragment(n)
	if f == nil || !f.HasSpan() {
		return ""
	}
	lo, hi := s.byteOffset(f.StartOffset), s.byteOffset(f.EndOffset())
	if lo > hi {
		return ""
	}
	return strings.TrimRight(s.Text[lo:hi], "; \t\r\n")
}

// Range returns the source text from the beginning of one node to the end of another.
func (s *Source) Range(first, last any) string {
	f, l := fragment(first), fragment(last)
	if f == nil || l == nil || !f.HasSpan() || !l.HasSpan() {
		return ""
	}
	lo, hi := s.byteOffset(f.StartOffset), s.byteOffset(l.EndOffset())
	if lo > hi {
		return ""
	}
	return strings.TrimRight(s.Text[lo:hi], "; \t\r\n")
}

type positioned interface{ Frag() *ast.Fragment }

// fragment returns a node's position, or nil when there is no node.
func fragment(n any) *ast.Fragment {
	p, ok := n.(positioned)
	if !ok {
		return nil
	}
	if v := reflect.ValueOf(n); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return p.Frag()
}

// Offset returns the byte offset in Text at which a node begins.
func (s *Source) Offset(n any) int {
	f := fragment(n)
	if f == nil {
		return 0
	}
	return s.byteOffset(f.StartOffset)
}
