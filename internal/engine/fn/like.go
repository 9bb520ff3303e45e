package fn

import (
	"unicode/utf8"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// Like is a compiled LIKE pattern. It may be used by many goroutines.
type Like struct {
	items []likeItem
	coll  types.Collation
}

type likeOp uint8

const (
	likeRune likeOp = iota
	likeAny         // _
	likeMany        // %
	likeSet         // [...]
)

type likeItem struct {
	op     likeOp
	r      rune
	negate bool
	ranges []runeRange
}

type runeRange struct{ lo, hi rune }

// CompileLike compiles a pattern of %, _, [set] and [^set]. escape is empty or
// one character; anything else is error 506. A set that is not closed matches
// nothing.
func CompileLike(pattern, escape string, coll types.Collation) (*Like, error) {
	esc := rune(-1)
	if escape != "" {
		r, n := utf8.DecodeRuneInString(escape)
		if n != len(escape) {
			return nil, sqlerr.InvalidEscape(escape, "LIKE")
		}
		esc = r
	}
	m := &Like{coll: coll}
	p := []rune(pattern)
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == esc && i+1 < len(p):
			i++
			m.items = append(m.items, likeItem{op: likeRune, r: p[i]})
		case c == '%':
			if n := len(m.items); n == 0 || m.items[n-1].op != likeMany {
				m.items = append(m.items, likeItem{op: likeMany})
			}
		case c == '_':
			m.items = append(m.items, likeItem{op: likeAny})
		case c == '[':
			it, next := likeSetAt(p, i+1, esc)
			m.items = append(m.items, it)
			i = next
		default:
			m.items = append(m.items, likeItem{op: likeRune, r: c})
		}
	}
	return m, nil
}

// likeSetAt reads a set that begins after its bracket and returns where it
// ends. Within a set only ^ at its start, - between two characters and the
// escape character mean something.
func likeSetAt(p []rune, i int, esc rune) (likeItem, int) {
	it := likeItem{op: likeSet}
	if i < len(p) && p[i] == '^' {
		it.negate = true
		i++
	}
	for first := true; i < len(p); first = false {
		c := p[i]
		if c == ']' && !first {
			return it, i
		}
		if c == ']' {
			// [] matches nothing, [^] anything.
			return it, i
		}
		if c == esc && i+1 < len(p) {
			i++
			c = p[i]
		}
		hi := c
		if i+2 < len(p) && p[i+1] == '-' && p[i+2] != ']' {
			i += 2
			hi = p[i]
			if hi == esc && i+1 < len(p) {
				i++
				hi = p[i]
			}
		}
		it.ranges = append(it.ranges, runeRange{c, hi})
		i++
	}
	// Not closed: nothing matches.
	return likeItem{op: likeSet}, i
}

func (it *likeItem) matches(r rune, c types.Collation) bool {
	switch it.op {
	case likeAny:
		return true
	case likeRune:
		return types.EqualRune(r, it.r, c)
	}
	for _, x := range it.ranges {
		if x.lo == x.hi {
			if types.EqualRune(r, x.lo, c) {
				return !it.negate
			}
			continue
		}
		if types.CompareRune(r, x.lo, c) >= 0 && types.CompareRune(r, x.hi, c) <= 0 {
			return !it.negate
		}
	}
	return it.negate
}

// Match reports whether the whole text fits the pattern. Blanks at the end of
// the text need not be matched.
func (m *Like) Match(s string) bool {
	// Wildcards are few: remember the last % and go on from there.
	i, k := 0, 0
	starItem, starAt := -1, 0
	for i < len(s) {
		if k < len(m.items) {
			it := &m.items[k]
			if it.op == likeMany {
				starItem, starAt = k, i
				k++
				continue
			}
			r, n := utf8.DecodeRuneInString(s[i:])
			if it.matches(r, m.coll) {
				i += n
				k++
				continue
			}
		} else if blanks(s[i:]) {
			return true
		}
		if starItem < 0 {
			return false
		}
		_, n := utf8.DecodeRuneInString(s[starAt:])
		starAt += n
		i, k = starAt, starItem+1
	}
	for k < len(m.items) && m.items[k].op == likeMany {
		k++
	}
	return k == len(m.items)
}

func blanks(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != ' ' {
			return false
		}
	}
	return true
}

// find is the offset of the first place in s where the pattern fits what
// follows, as PATINDEX wants it; -1 when there is none.
func (m *Like) find(s string) int {
	anchored := len(m.items) == 0 || m.items[0].op != likeMany
	if anchored {
		if m.Match(s) {
			return 0
		}
		return -1
	}
	rest := Like{items: m.items[1:], coll: m.coll}
	for i := 0; ; {
		if rest.Match(s[i:]) {
			return i
		}
		if i >= len(s) {
			return -1
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
	}
}
