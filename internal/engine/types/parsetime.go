package types

import (
	"strings"

	"gostress/internal/engine/sqlerr"
)

// dateOrder is how three numbers with separators make a date.
type dateOrder uint8

const (
	orderMDY dateOrder = iota
	orderDMY
	orderYMD
)

var months = [...]string{"january", "february", "march", "april", "may", "june",
	"july", "august", "september", "october", "november", "december"}

// MonthNames and DayNames are us_english's; a week begins with Sunday.
var (
	MonthNames = [...]string{"January", "February", "March", "April", "May", "June",
		"July", "August", "September", "October", "November", "December"}
	DayNames = [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)

// timeParser reads dates and times as us_english writes them.
type timeParser struct {
	s     string
	i     int
	order dateOrder

	year, month, day int
	ticks            int64 // of the day
	places           int   // digits of the fraction of a second
	offset           int
	hasDate, hasTime bool
	hasOffset        bool
	legacyFraction   bool // hh:mm:ss:mmm
}

// parseTime reads the whole of s. ok is false when it is no date or time at
// all; a date such as February 30 is ok with valid false.
func parseTime(s string, order dateOrder) (p timeParser, ok, valid bool) {
	p = timeParser{s: strings.TrimSpace(s), order: order, year: 1900, month: 1, day: 1}
	if p.s == "" {
		return p, true, true
	}
	if !p.date() {
		return p, false, false
	}
	if p.hasDate {
		if p.peek() == 'T' || p.peek() == 't' {
			p.i++
			if !p.time() {
				return p, false, false
			}
		} else if n := p.spaces(); n > 0 && p.i < len(p.s) && p.peek() != '+' && p.peek() != '-' && p.peek() != 'Z' {
			if !p.time() {
				return p, false, false
			}
		}
	} else if !p.time() {
		return p, false, false
	}
	if !p.zone() || p.i != len(p.s) {
		return p, false, false
	}
	valid = p.year >= 1 && p.year <= 9999 && p.month >= 1 && p.month <= 12 && p.day >= 1 &&
		p.day <= DaysInMonth(p.year, p.month)
	return p, true, valid
}

func (p *timeParser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *timeParser) spaces() int {
	n := 0
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t') {
		p.i++
		n++
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// digits reads a number of at most nine digits.
func (p *timeParser) digits() (n, count int) {
	for p.i < len(p.s) && isDigit(p.s[p.i]) && count < 9 {
		n = n*10 + int(p.s[p.i]-'0')
		p.i++
		count++
	}
	return n, count
}

func (p *timeParser) monthName() int {
	j := p.i
	for j < len(p.s) && isLetter(p.s[j]) {
		j++
	}
	w := strings.ToLower(p.s[p.i:j])
	for m, name := range months {
		if w == name || (len(w) == 3 && w == name[:3]) {
			p.i = j
			return m + 1
		}
	}
	return 0
}

func fullYear(y, count int) int {
	if count > 2 {
		return y
	}
	if y < 50 {
		return 2000 + y
	}
	return 1900 + y
}

// date reads a date if there is one; a time alone is left where it is.
func (p *timeParser) date() bool {
	if isLetter(p.peek()) {
		return p.dateFromMonth()
	}
	start := p.i
	a, na := p.digits()
	if na == 0 {
		return false
	}
	switch c := p.peek(); {
	case c == ':':
		p.i = start
		return true
	case c == '-' || c == '/' || c == '.':
		return p.dateWithSeparators(a, na)
	case na == 8:
		p.year, p.month, p.day = a/10000, a/100%100, a%100
		p.hasDate = true
		return true
	case na == 6:
		p.year, p.month, p.day = fullYear(a/10000, 2), a/100%100, a%100
		p.hasDate = true
		return true
	}
	end := p.i
	p.spaces()
	if isLetter(p.peek()) {
		if m := p.monthName(); m > 0 {
			return p.dateAfterDay(a, na, m)
		}
		// 3 PM is a time.
		p.i = start
		return na <= 2
	}
	p.i = end
	if na == 4 {
		p.year, p.hasDate = a, true
		return true
	}
	return false
}

func (p *timeParser) dateWithSeparators(a, na int) bool {
	sep := p.peek()
	p.i++
	if isLetter(p.peek()) {
		m := p.monthName()
		if m == 0 || p.peek() != sep {
			return false
		}
		p.i++
		y, ny := p.digits()
		if ny == 0 {
			return false
		}
		if na == 4 {
			p.year, p.month, p.day = a, m, y
		} else {
			p.year, p.month, p.day = fullYear(y, ny), m, a
		}
		p.hasDate = true
		return ny == 2 || ny == 4 || na == 4
	}
	b, nb := p.digits()
	if nb == 0 || nb > 4 || p.peek() != sep {
		return false
	}
	p.i++
	c, nc := p.digits()
	if nc == 0 || nc > 4 || na > 4 {
		return false
	}
	p.hasDate = true
	switch {
	case na == 4:
		p.year, p.month, p.day = a, b, c
		return nb <= 2 && nc <= 2
	case nc == 4 && p.order == orderDMY:
		p.year, p.month, p.day = c, b, a
	case nc == 4:
		p.year, p.month, p.day = c, a, b
	case nc == 3 || na == 3 || nb > 2:
		return false
	case p.order == orderYMD:
		p.year, p.month, p.day = fullYear(a, na), b, c
	case p.order == orderDMY:
		p.year, p.month, p.day = fullYear(c, nc), b, a
	default:
		p.year, p.month, p.day = fullYear(c, nc), a, b
	}
	return na <= 2 && nb <= 2
}

// dateFromMonth reads Jan 2 2006, January 2, 2006 and Jan 2006.
func (p *timeParser) dateFromMonth() bool {
	m := p.monthName()
	if m == 0 {
		return false
	}
	p.spaces()
	d, nd := p.digits()
	if nd == 0 {
		return false
	}
	p.hasDate = true
	if nd == 4 {
		p.year, p.month, p.day = d, m, 1
		return true
	}
	if p.peek() == ',' {
		p.i++
	}
	p.spaces()
	y, ny := p.digits()
	if ny != 2 && ny != 4 {
		return false
	}
	p.year, p.month, p.day = fullYear(y, ny), m, d
	return nd <= 2
}

// dateAfterDay reads the rest of 2 Jan 2006 and 2006 Jan 2.
func (p *timeParser) dateAfterDay(a, na, m int) bool {
	if p.peek() == ',' {
		p.i++
	}
	p.spaces()
	b, nb := p.digits()
	p.hasDate = true
	switch {
	case na == 4 && nb > 0 && nb <= 2:
		p.year, p.month, p.day = a, m, b
	case na == 4 && nb == 0:
		p.year, p.month, p.day = a, m, 1
	case na <= 2 && (nb == 2 || nb == 4):
		p.year, p.month, p.day = fullYear(b, nb), m, a
	default:
		return false
	}
	return true
}

func (p *timeParser) time() bool {
	h, nh := p.digits()
	if nh == 0 || nh > 2 {
		return false
	}
	var min, sec int
	var frac int64
	colon := p.peek() == ':'
	if colon {
		p.i++
		var n int
		if min, n = p.digits(); n == 0 || n > 2 {
			return false
		}
		if p.peek() == ':' {
			p.i++
			if sec, n = p.digits(); n == 0 || n > 2 {
				return false
			}
			if c := p.peek(); c == '.' || c == ':' {
				p.i++
				f, n := p.digits()
				if n == 0 || (c == ':' && n > 3) {
					return false
				}
				p.places = n
				p.legacyFraction = c == ':'
				frac = int64(f)
				if c == ':' {
					frac *= TicksPerSecond / 1000
				} else {
					for ; n < 7; n++ {
						frac *= 10
					}
					for ; n > 7; n-- {
						frac = quoRound(frac, 10)
					}
				}
			}
		}
	}
	mark := p.i
	p.spaces()
	if p.i+2 <= len(p.s) {
		switch strings.ToUpper(p.s[p.i : p.i+2]) {
		case "AM":
			if h < 1 || h > 12 {
				return false
			}
			h %= 12
			p.i += 2
			mark, colon = p.i, true
		case "PM":
			if h > 12 {
				// 13:00 PM is taken as it is written.
				h -= 12
			}
			h = h%12 + 12
			p.i += 2
			mark, colon = p.i, true
		}
	}
	p.i = mark
	if !colon || h > 23 || min > 59 || sec > 59 {
		return false
	}
	p.hasTime = true
	p.ticks = int64(h*3600+min*60+sec)*TicksPerSecond + frac
	return true
}

func (p *timeParser) zone() bool {
	p.spaces()
	switch c := p.peek(); c {
	case 0:
		return true
	case 'Z', 'z':
		p.i++
		p.hasOffset = true
		return true
	case '+', '-':
		p.i++
		h, nh := p.digits()
		if nh == 0 || nh > 2 || p.peek() != ':' {
			return false
		}
		p.i++
		m, nm := p.digits()
		if nm != 2 || m > 59 || h*60+m > 840 {
			return false
		}
		p.offset = h*60 + m
		if c == '-' {
			p.offset = -p.offset
		}
		p.hasOffset = true
		return true
	}
	return false
}

// styleOrder is the order of a date's parts under a CONVERT style.
func styleOrder(style int) dateOrder {
	switch style % 100 {
	case 3, 4, 5, 13, 31:
		return orderDMY
	case 2, 11:
		return orderYMD
	}
	return orderMDY
}

// stringTemporal converts text to a date or time type.
func stringTemporal(s string, from Kind, t Type, style int) (Value, error) {
	bad := func() error {
		if t.Kind == KindSmallDateTime {
			return sqlerr.BadSmallDateString()
		}
		return sqlerr.BadDateString()
	}
	p, ok, valid := parseTime(s, styleOrder(style))
	if !ok {
		return Value{}, bad()
	}
	legacy := t.Kind == KindDateTime || t.Kind == KindSmallDateTime
	if !valid {
		if legacy {
			return Value{}, sqlerr.DateOutOfRange(from.String(), t.Name())
		}
		return Value{}, bad()
	}
	if legacy && (p.places > 3 || (p.hasOffset && !strings.HasSuffix(p.s, "Z"))) {
		return Value{}, bad()
	}
	if p.places > 7 {
		return Value{}, bad()
	}
	ticks := DaysOf(p.year, p.month, p.day)*TicksPerDay + p.ticks
	v, err := Temporal(t, ticks, p.offset, from.String())
	if err != nil && !legacy {
		return Value{}, bad()
	}
	return v, err
}
