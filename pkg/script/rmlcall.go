package script

import (
	"encoding/hex"
	"strings"
)

// Call is a procedure call whose arguments are literals.
type Call struct {
	Proc string // as written, parts and quotes included
	Args []Arg
}

// LiteralKind is the kind of a literal of T-SQL.
type LiteralKind uint8

// The kinds of literals.
const (
	Null     LiteralKind = iota
	Integer              // 5, -5
	Decimal              // 1.50
	Float                // 1.5e3
	Varchar              // 'a'
	NVarchar             // N'a'
	Binary               // 0x0A
)

// Arg is one argument of a Call.
type Arg struct {
	Name string // with its @; "" when it stands by position
	Kind LiteralKind
	// Text is the number as written without blanks, the string without quotes, or
	// the bytes.
	Text string
}

// parseCall reads text that is one call and nothing else: {call p(1, 'x')},
// {?=call p}, EXEC p 1, @b = N'x'. ok is false for any other text, such as one with
// variables or output parameters, which the server alone can make sense of.
func parseCall(text string) (c *Call, ok bool) {
	p := callParser{s: strings.TrimSpace(text)}
	c = &Call{}
	if p.take("{") {
		if p.take("?") && !p.take("=") {
			return nil, false
		}
		if !p.word("call") || !p.name(c) {
			return nil, false
		}
		if p.take("(") && !p.take(")") {
			if !p.args(c) || !p.take(")") {
				return nil, false
			}
		}
		return c, p.take("}") && p.s == ""
	}
	if !p.word("execute") && !p.word("exec") || !p.name(c) {
		return nil, false
	}
	if strings.EqualFold(c.Proc, "as") { // EXECUTE AS is another statement
		return nil, false
	}
	if p.s != "" && p.s != ";" && !p.args(c) {
		return nil, false
	}
	p.take(";")
	return c, p.s == ""
}

// callParser consumes s from its left, blanks included.
type callParser struct{ s string }

func (p *callParser) blanks() { p.s = strings.TrimLeft(p.s, " \t\r\n") }

func (p *callParser) take(sign string) bool {
	rest, ok := strings.CutPrefix(p.s, sign)
	if ok {
		p.s = rest
		p.blanks()
	}
	return ok
}

// word takes a keyword that a blank or quoted name follows.
func (p *callParser) word(w string) bool {
	if len(p.s) <= len(w) || !strings.EqualFold(p.s[:len(w)], w) || !strings.ContainsRune(" \t\r\n[\"", rune(p.s[len(w)])) {
		return false
	}
	p.s = p.s[len(w):]
	p.blanks()
	return true
}

// name takes a name of up to four parts.
func (p *callParser) name(c *Call) bool {
	all := p.s
	for parts := 1; ; parts++ {
		if !p.part() || parts > 4 {
			return false
		}
		if !strings.HasPrefix(p.s, ".") {
			break
		}
		p.s = strings.TrimLeft(p.s, ".") // server..proc leaves parts out
	}
	c.Proc = all[:len(all)-len(p.s)]
	p.blanks()
	return true
}

func (p *callParser) part() bool {
	if p.s == "" {
		return false
	}
	if end, quoted := map[byte]byte{'[': ']', '"': '"'}[p.s[0]]; quoted {
		n := quoteEnd(p.s[1:], end)
		if n <= 1 {
			return false
		}
		p.s = p.s[1+n:]
		return true
	}
	n := identLen(p.s)
	if n == 0 || p.s[0] >= '0' && p.s[0] <= '9' || p.s[0] == '@' {
		return false
	}
	p.s = p.s[n:]
	return true
}

// quoteEnd is the length of s up to and with the end sign, a doubled one being
// part of the text; 0 when there is none.
func quoteEnd(s string, end byte) int {
	for i := 0; i < len(s); i++ {
		if s[i] != end {
			continue
		}
		if i+1 < len(s) && s[i+1] == end {
			i++
			continue
		}
		return i + 1
	}
	return 0
}

func identLen(s string) int {
	i := 0
	for i < len(s) {
		b := s[i]
		if b != '_' && b != '#' && b != '$' && b != '@' && b < 0x80 && (b|0x20 < 'a' || b|0x20 > 'z') && (b < '0' || b > '9') {
			break
		}
		i++
	}
	return i
}

func (p *callParser) args(c *Call) bool {
	for {
		var a Arg
		if n := identLen(p.s); n > 1 && p.s[0] == '@' {
			a.Name, p.s = p.s[:n], p.s[n:]
			p.blanks()
			if !p.take("=") {
				return false
			}
		} else if len(c.Args) > 0 && c.Args[len(c.Args)-1].Name != "" {
			return false // error 119: once named, all that follow are named
		}
		if !p.literal(&a) {
			return false
		}
		c.Args = append(c.Args, a)
		if !p.take(",") {
			return true
		}
	}
}

func (p *callParser) literal(a *Arg) bool {
	defer p.blanks()
	s := p.s
	national := len(s) > 1 && (s[0] == 'N' || s[0] == 'n') && s[1] == '\''
	if national {
		s = s[1:]
	}
	switch {
	case s == "":
		return false
	case s[0] == '\'':
		n := quoteEnd(s[1:], '\'')
		if n == 0 {
			return false
		}
		a.Kind, a.Text, p.s = Varchar, strings.ReplaceAll(s[1:n], "''", "'"), s[1+n:]
		if national {
			a.Kind = NVarchar
		}
		return true
	case len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x':
		n := 2
		for n < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[n]) >= 0 {
			n++
		}
		digits := s[2:n]
		if len(digits)%2 != 0 {
			digits = "0" + digits
		}
		b, err := hex.DecodeString(digits)
		a.Kind, a.Text, p.s = Binary, string(b), s[n:]
		return err == nil && p.ends()
	case len(s) >= 4 && strings.EqualFold(s[:4], "null"):
		a.Kind, p.s = Null, s[4:]
		return p.ends()
	}
	return p.number(a)
}

// number takes an integer, decimal or float with an optional sign.
func (p *callParser) number(a *Arg) bool {
	sign := ""
	if p.take("-") {
		sign = "-"
	} else {
		p.take("+")
	}
	s := p.s
	digits := func(i int) int {
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i
	}
	n := digits(0)
	whole := n
	a.Kind = Integer
	if n < len(s) && s[n] == '.' {
		a.Kind = Decimal
		after := digits(n + 1)
		if whole == 0 && after == n+1 {
			return false
		}
		n = after
	}
	if n == 0 {
		return false
	}
	if n < len(s) && s[n]|0x20 == 'e' {
		exp := n + 1
		if exp < len(s) && (s[exp] == '-' || s[exp] == '+') {
			exp++
		}
		if end := digits(exp); end > exp {
			a.Kind, n = Float, end
		}
	}
	a.Text, p.s = sign+s[:n], s[n:]
	return p.ends()
}

// ends says that no further part of a word follows.
func (p *callParser) ends() bool { return identLen(p.s) == 0 }
