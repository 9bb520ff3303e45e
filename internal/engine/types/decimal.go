package types

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"gostress/internal/engine/sqlerr"
)

// pow10 are the powers of ten that fit an int64.
var pow10 = [19]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// bigPow10 is 10^n as a new big.Int.
func bigPow10(n int) *big.Int {
	if n < len(pow10) {
		return big.NewInt(pow10[n])
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// quoRound divides and rounds half away from zero. den is positive.
func quoRound(num, den int64) int64 {
	q, r := num/den, num%den
	if r < 0 {
		if -r >= den-(-r) {
			q--
		}
	} else if r >= den-r {
		q++
	}
	return q
}

func bigQuoRound(num, den *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(num, den, new(big.Int))
	r.Abs(r).Lsh(r, 1)
	if r.Cmp(den) >= 0 {
		q.Add(q, big.NewInt(int64(num.Sign())))
	}
	return q
}

// rescaled returns a decimal's value at another scale, rounded half away from
// zero, and whether it fits 38 digits.
func (v Value) rescaled(scale uint8) (Value, bool) {
	if v.scale == scale {
		return v, true
	}
	if v.p == nil {
		if scale < v.scale {
			d := int(v.scale - scale)
			if d >= len(pow10) {
				return Value{kind: KindDecimal, scale: scale}, true
			}
			return NewDecimal64(quoRound(v.n, pow10[d]), scale), true
		}
		if d := int(scale - v.scale); d < len(pow10) {
			if n, ok := mul64(v.n, pow10[d]); ok {
				return NewDecimal64(n, scale), true
			}
		}
	}
	return decimalOf(bigRescale(v.Coefficient(), int(v.scale), int(scale)), scale)
}

func bigRescale(b *big.Int, from, to int) *big.Int {
	switch {
	case to > from:
		return b.Mul(b, bigPow10(to-from))
	case to < from:
		return bigQuoRound(b, bigPow10(from-to))
	}
	return b
}

// decimalOf makes a decimal of a coefficient that may be too large.
func decimalOf(b *big.Int, scale uint8) (Value, bool) {
	if b.IsInt64() {
		return NewDecimal64(b.Int64(), scale), true
	}
	if b.CmpAbs(bigPow10(maxPrec)) >= 0 {
		return Value{}, false
	}
	return NewDecimal(b, scale), true
}

// fits reports whether a decimal has at most prec digits.
func (v Value) fits(prec uint8) bool {
	if v.p == nil {
		if int(prec) >= len(pow10) {
			return true
		}
		p := pow10[prec]
		return v.n < p && v.n > -p
	}
	if prec < 19 {
		return false
	}
	return v.Coefficient().CmpAbs(bigPow10(int(prec))) < 0
}

// toDecimal rounds to the scale of t and checks its precision; from names the
// type the value came from, "" for an expression.
func (v Value) toDecimal(t Type, from string) (Value, error) {
	r, ok := v.rescaled(t.Scale)
	if ok && r.fits(t.Prec) {
		return r, nil
	}
	if from == "" {
		return Value{}, sqlerr.Overflow("numeric")
	}
	return Value{}, sqlerr.OverflowFrom(from, "numeric")
}

// add64, sub64 and mul64 report whether the result fits.
func add64(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

func sub64(a, b int64) (int64, bool) {
	s := a - b
	return s, (s < a) == (b > 0)
}

func mul64(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(abs64(a), abs64(b))
	neg := (a < 0) != (b < 0)
	if hi != 0 || lo > math.MaxInt64 {
		if neg && hi == 0 && lo == 1<<63 {
			return math.MinInt64, true
		}
		return 0, false
	}
	if neg {
		return -int64(lo), true
	}
	return int64(lo), true
}

func abs64(n int64) uint64 {
	if n < 0 {
		return uint64(-n)
	}
	return uint64(n)
}

// arithDecimal computes with two decimals; t is the type of the result.
func arithDecimal(op Op, t Type, a, b Value) (Value, error) {
	switch op {
	case OpAdd, OpSub, OpMod:
		s := max(a.scale, b.scale)
		x, ok1 := a.rescaled(s)
		y, ok2 := b.rescaled(s)
		if ok1 && ok2 && x.p == nil && y.p == nil {
			var n int64
			ok := true
			switch op {
			case OpAdd:
				n, ok = add64(x.n, y.n)
			case OpSub:
				n, ok = sub64(x.n, y.n)
			default:
				if y.n == 0 {
					return Value{}, sqlerr.DivideByZero()
				}
				if y.n != -1 {
					n = x.n % y.n
				}
			}
			if ok {
				return NewDecimal64(n, s).toDecimal(t, "")
			}
		}
		p, q := bigRescale(a.Coefficient(), int(a.scale), int(s)), bigRescale(b.Coefficient(), int(b.scale), int(s))
		switch op {
		case OpAdd:
			p.Add(p, q)
		case OpSub:
			p.Sub(p, q)
		default:
			if q.Sign() == 0 {
				return Value{}, sqlerr.DivideByZero()
			}
			p.Rem(p, q)
		}
		return bigToDecimal(p, int(s), t)
	case OpMul:
		if a.p == nil && b.p == nil {
			if n, ok := mul64(a.n, b.n); ok && a.scale+b.scale < 128 {
				return NewDecimal64(n, a.scale+b.scale).toDecimal(t, "")
			}
		}
		p := a.Coefficient()
		p.Mul(p, b.Coefficient())
		return bigToDecimal(p, int(a.scale)+int(b.scale), t)
	case OpDiv:
		if b.p == nil && b.n == 0 {
			return Value{}, sqlerr.DivideByZero()
		}
		shift := int(t.Scale) + int(b.scale) - int(a.scale)
		if a.p == nil && b.p == nil && shift >= 0 && shift < len(pow10) && b.n != -1 {
			if n, ok := mul64(a.n, pow10[shift]); ok {
				return NewDecimal64(n/b.n, t.Scale).toDecimal(t, "")
			}
		}
		p, q := a.Coefficient(), b.Coefficient()
		if shift >= 0 {
			p.Mul(p, bigPow10(shift))
		} else {
			q.Mul(q, bigPow10(-shift))
		}
		p.Quo(p, q)
		return bigToDecimal(p, int(t.Scale), t)
	}
	return Value{}, sqlerr.InvalidOperand("numeric", op.String())
}

func bigToDecimal(b *big.Int, scale int, t Type) (Value, error) {
	b = bigRescale(b, scale, int(t.Scale))
	v, ok := decimalOf(b, t.Scale)
	if !ok || !v.fits(t.Prec) {
		return Value{}, sqlerr.Overflow("numeric")
	}
	return v, nil
}

// decimalString writes a decimal in plain digits with its whole scale.
func (v Value) decimalString() string {
	var buf [48]byte
	return string(v.appendDecimal(buf[:0]))
}

func (v Value) appendDecimal(dst []byte) []byte {
	var digits []byte
	neg := v.n < 0
	if v.p == nil {
		var buf [24]byte
		digits = strconv.AppendUint(buf[:0], abs64(v.n), 10)
	} else {
		b := v.Coefficient()
		digits = b.Abs(b).Append(nil, 10)
	}
	if neg {
		dst = append(dst, '-')
	}
	s := int(v.scale)
	if s == 0 {
		return append(dst, digits...)
	}
	if len(digits) <= s {
		dst = append(dst, '0', '.')
		for range s - len(digits) {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	dst = append(dst, digits[:len(digits)-s]...)
	dst = append(dst, '.')
	return append(dst, digits[len(digits)-s:]...)
}

// decimalFloat is the nearest float64.
func (v Value) decimalFloat() float64 {
	if v.p == nil && v.scale == 0 {
		return float64(v.n)
	}
	if n := abs64(v.n); v.p == nil && n < 1<<53 && v.scale < 19 {
		return float64(v.n) / float64(pow10[v.scale])
	}
	f, _ := strconv.ParseFloat(v.decimalString(), 64)
	return f
}

// floatDecimal rounds a float to a decimal of type t. As on SQL Server, about
// 17 digits of the float count.
func floatDecimal(f float64, t Type, from string) (Value, error) {
	if math.Abs(f) >= 1e38 {
		return Value{}, sqlerr.OverflowFrom(from, "numeric")
	}
	s := strconv.FormatFloat(f, 'f', int(t.Scale), 64)
	v, ok := parseDecimal(s)
	if !ok {
		return Value{}, sqlerr.OverflowFrom(from, "numeric")
	}
	return v.toDecimal(t, from)
}

// decimalInt drops the fraction of a decimal.
func (v Value) decimalInt() (int64, bool) {
	if v.p == nil {
		if int(v.scale) >= len(pow10) {
			return 0, true
		}
		return v.n / pow10[v.scale], true
	}
	b := v.Coefficient()
	b.Quo(b, bigPow10(int(v.scale)))
	return b.Int64(), b.IsInt64()
}

// ParseDecimal reads a decimal literal: sign, digits, one point. ok is false
// when it is none or has more than 38 digits. Digits are those that count for
// the precision of the literal.
func ParseDecimal(s string) (v Value, prec, scale int, ok bool) {
	v, ok = parseDecimal(s)
	if !ok {
		return Value{}, 0, 0, false
	}
	scale = int(v.scale)
	d := strings.TrimLeft(strings.Replace(strings.TrimLeft(s, "+-"), ".", "", 1), "0")
	prec = max(len(d), scale, 1)
	return v, prec, scale, prec <= maxPrec
}

func parseDecimal(s string) (Value, bool) {
	i, neg := 0, false
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		neg = s[i] == '-'
		i++
	}
	var n uint64
	digits, scale, sig := 0, -1, 0
	start := i
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
			if sig > 0 || c != '0' {
				sig++
			}
			if sig <= 18 {
				n = n*10 + uint64(c-'0')
			}
			if scale >= 0 {
				scale++
			}
		case c == '.' && scale < 0:
			scale = 0
		default:
			return Value{}, false
		}
	}
	if digits == 0 {
		return Value{}, false
	}
	scale = max(scale, 0)
	if scale > maxPrec {
		// More places than a decimal has: the rest is rounded away.
		b, _ := new(big.Int).SetString(strings.Replace(s[start:], ".", "", 1), 10)
		b = bigRescale(b, scale, maxPrec)
		if neg {
			b.Neg(b)
		}
		return decimalOf(b, maxPrec)
	}
	if sig > 18 {
		b, ok := new(big.Int).SetString(strings.Replace(s[start:], ".", "", 1), 10)
		if !ok {
			return Value{}, false
		}
		if neg {
			b.Neg(b)
		}
		return decimalOf(b, uint8(scale))
	}
	c := int64(n)
	if neg {
		c = -c
	}
	return NewDecimal64(c, uint8(scale)), true
}

// Rounded is a decimal at a scale, rounded half away from zero or cut off. It
// is NULL when the value does not fit 38 digits at that scale.
func (v Value) Rounded(scale uint8, cut bool) Value {
	if cut && scale < v.scale {
		b := v.Coefficient()
		b.Quo(b, bigPow10(int(v.scale-scale)))
		r, _ := decimalOf(b, scale)
		return r
	}
	r, ok := v.rescaled(scale)
	if !ok {
		return Value{}
	}
	return r
}

// RoundedTo rounds or cuts a decimal to places after the point, before it when
// places is negative, and keeps its scale. It is NULL when the result does not
// fit 38 digits.
func (v Value) RoundedTo(places int, cut bool) Value {
	drop := int(v.scale) - places
	if drop <= 0 {
		return v
	}
	if v.p == nil && drop < len(pow10) {
		u := pow10[drop]
		if cut {
			return NewDecimal64(v.n-v.n%u, v.scale)
		}
		if q, ok := mul64(quoRound(v.n, u), u); ok {
			return NewDecimal64(q, v.scale)
		}
	}
	if drop > 2*maxPrec {
		return NewDecimal64(0, v.scale)
	}
	b, u := v.Coefficient(), bigPow10(drop)
	if cut {
		b.Quo(b, u)
	} else {
		b = bigQuoRound(b, u)
	}
	r, ok := decimalOf(b.Mul(b, u), v.scale)
	if !ok {
		return Value{}
	}
	return r
}
