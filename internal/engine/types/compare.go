package types

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Compare orders two values of a common type; NULL comes first. Text compares
// as Latin1_General_CI_AS does: case and blanks at the end do not matter,
// accents do.
func Compare(a, b Value) int { return CompareColl(a, b, CollDefault) }

// CompareColl is Compare under a collation.
func CompareColl(a, b Value, c Collation) int {
	if a.kind == b.kind {
		switch a.kind.info().class {
		case classInt, classMoney:
			return cmp.Compare(a.n, b.n)
		case classTemporal:
			return cmp.Compare(a.n, b.n)
		case classFloat:
			return cmp.Compare(a.Float(), b.Float())
		}
	}
	if a.kind == KindNull || b.kind == KindNull {
		return cmp.Compare(boolInt(a.kind != KindNull), boolInt(b.kind != KindNull))
	}
	ca, cb := a.kind.info().class, b.kind.info().class
	if ca != cb {
		return compareMixed(a, b, c)
	}
	switch ca {
	case classInt, classMoney:
		return cmp.Compare(a.n, b.n)
	case classFloat:
		return cmp.Compare(a.Float(), b.Float())
	case classDecimal:
		return compareDecimal(a, b)
	case classString:
		return compareText(a.Str(), b.Str(), c)
	case classBinary:
		return bytes.Compare(trimZeros(a.Bytes()), trimZeros(b.Bytes()))
	case classTemporal:
		return cmp.Compare(a.instant(), b.instant())
	case classGUID:
		return compareGUID(a.GUID(), b.GUID())
	}
	return 0
}

// instant is what temporal kinds compare by: UTC for datetimeoffset.
func (v Value) instant() int64 {
	if v.kind == KindDateTimeOffset {
		return v.n
	}
	return v.LocalTicks()
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// compareMixed compares values whose kinds differ in class, as happens within
// sql_variant: numbers by value, all else by precedence of the kinds.
func compareMixed(a, b Value, c Collation) int {
	if a.kind.IsNumeric() && b.kind.IsNumeric() {
		if a.kind.IsFloat() || b.kind.IsFloat() {
			x, _ := a.toFloat(Float)
			y, _ := b.toFloat(Float)
			return cmp.Compare(x.Float(), y.Float())
		}
		x, _ := decimalOperand(a, Type{})
		y, _ := decimalOperand(b, Type{})
		return compareDecimal(x, y)
	}
	t, err := CommonType(Type{Kind: a.kind, Len: Max, Prec: maxPrec, Scale: a.scale}, Type{Kind: b.kind, Len: Max, Prec: maxPrec, Scale: b.scale})
	if err == nil {
		x, err1 := Convert(a, t, 0)
		y, err2 := Convert(b, t, 0)
		if err1 == nil && err2 == nil && x.kind == y.kind {
			return CompareColl(x, y, c)
		}
	}
	return cmp.Compare(a.kind.info().rank, b.kind.info().rank)
}

func compareDecimal(a, b Value) int {
	if a.scale == b.scale && a.p == nil && b.p == nil {
		return cmp.Compare(a.n, b.n)
	}
	s := max(a.scale, b.scale)
	x, y := bigRescale(a.Coefficient(), int(a.scale), int(s)), bigRescale(b.Coefficient(), int(b.scale), int(s))
	return x.Cmp(y)
}

func trimZeros(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return b
}

// compareGUID has SQL Server's order: the last six bytes count first.
func compareGUID(a, b [16]byte) int {
	for _, i := range [16]uint8{10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3} {
		if a[i] != b[i] {
			return cmp.Compare(a[i], b[i])
		}
	}
	return 0
}

// weights order the first 256 code points without regard to case: blanks and
// punctuation, digits, letters. A weight is a primary one and, in its last six
// bits, an accent, which only counts where all the primary ones are equal.
var weights = makeWeights()

const accentBits = 6

// bases are the plain letters of À to ÿ, upper and lower case alike.
const bases = "aaaaaaaceeeeiiiidnooooo\x00ouuuuytsaaaaaaaceeeeiiiidnooooo\x00ouuuuyty"

func makeWeights() (w [256]uint16) {
	for c := range w {
		lower := byte(c)
		if c >= 'A' && c <= 'Z' || c >= 0xC0 && c <= 0xDE && c != 0xD7 {
			lower += 32
		}
		switch {
		case lower >= 'a' && lower <= 'z':
			w[c] = (0x200 + uint16(lower)) << accentBits
		case lower >= 0xDF && lower != 0xF7:
			w[c] = (0x200+uint16(bases[lower-0xC0]))<<accentBits + uint16(lower-0xDE)
		case c >= '0' && c <= '9':
			w[c] = (0x100 + uint16(c)) << accentBits
		default:
			w[c] = uint16(c) << accentBits
		}
	}
	return w
}

// weight is the sort weight of a rune without regard to case.
func weight(r rune) uint32 {
	if r < 256 {
		return uint32(weights[r])
	}
	if r = unicode.ToLower(unicode.ToUpper(r)); r < 256 {
		return uint32(weights[r])
	}
	return (0x400 + uint32(r)) << accentBits
}

// compareText compares text under a collation; blanks at the end do not count.
func compareText(a, b string, c Collation) int {
	if a == b {
		return 0
	}
	switch c {
	case CollBIN2:
		return compareBinary(a, b)
	case CollCS:
		if r := foldCompare(a, b); r != 0 {
			return r
		}
		// Lower case sorts before upper case.
		return -strings.Compare(strings.TrimRight(a, " "), strings.TrimRight(b, " "))
	}
	return foldCompare(a, b)
}

// compareBinary compares by code point, the shorter text filled with blanks.
func compareBinary(a, b string) int {
	return strings.Compare(strings.TrimRight(a, " "), strings.TrimRight(b, " "))
}

func foldCompare(a, b string) int {
	i, j, accents := 0, 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		if x < utf8.RuneSelf && y < utf8.RuneSelf {
			if x != y {
				if p, q := weights[x], weights[y]; p != q {
					return cmp.Compare(p, q)
				}
			}
			i++
			j++
			continue
		}
		r, n := utf8.DecodeRuneInString(a[i:])
		s, m := utf8.DecodeRuneInString(b[j:])
		if p, q := weight(r), weight(s); p != q {
			if c := cmp.Compare(p>>accentBits, q>>accentBits); c != 0 {
				return c
			}
			if accents == 0 {
				accents = cmp.Compare(p, q)
			}
		}
		i += n
		j += m
	}
	if c := compareRest(a[i:]) - compareRest(b[j:]); c != 0 {
		return c
	}
	return accents
}

// compareRest compares what is left of the longer text with blanks.
func compareRest(s string) int {
	for _, r := range s {
		if r != ' ' {
			return cmp.Compare(weight(r), weight(' '))
		}
	}
	return 0
}

// EqualRune reports whether two characters are equal under a collation.
func EqualRune(a, b rune, c Collation) bool {
	return a == b || c == CollDefault && weight(a) == weight(b)
}

// CompareRune orders two characters under a collation.
func CompareRune(a, b rune, c Collation) int {
	if c != CollBIN2 {
		if r := cmp.Compare(weight(a), weight(b)); r != 0 || c == CollDefault {
			return r
		}
	}
	return cmp.Compare(a, b)
}

// Hash is equal for values of one type that Compare finds equal.
func Hash(v Value) uint64 {
	switch v.kind.info().class {
	case classNull:
		return 0x9E3779B97F4A7C15
	case classInt, classMoney:
		return mix(uint64(v.n))
	case classFloat:
		f := v.Float()
		if f == 0 {
			f = 0 // -0
		}
		return mix(math.Float64bits(f))
	case classTemporal:
		return mix(uint64(v.instant()))
	case classDecimal:
		return hashDecimal(v)
	case classString:
		return hashText(v.Str())
	case classGUID, classBinary:
		h := uint64(fnvOffset)
		for _, c := range trimZeros(v.Bytes()) {
			h = (h ^ uint64(c)) * fnvPrime
		}
		return mix(h)
	}
	return 0
}

const (
	fnvOffset = 0xcbf29ce484222325
	fnvPrime  = 0x100000001b3
)

// mix spreads the bits of an integer.
func mix(x uint64) uint64 {
	hi, lo := bits.Mul64(x^0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93)
	x = hi ^ lo
	x ^= x >> 32
	x *= 0xD6E8FEB86659FD93
	return x ^ x>>29
}

func hashText(s string) uint64 {
	for len(s) > 0 && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	h := uint64(fnvOffset)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < utf8.RuneSelf {
			h = (h ^ uint64(weights[c])) * fnvPrime
			continue
		}
		for _, r := range s[i:] {
			h = (h ^ uint64(weight(r))) * fnvPrime
		}
		break
	}
	return mix(h)
}

// hashDecimal does not depend on the scale: 1.0 and 1.00 are equal.
func hashDecimal(v Value) uint64 {
	if v.p == nil {
		n, s := v.n, v.scale
		for s > 0 && n%10 == 0 {
			n /= 10
			s--
		}
		return mix(uint64(n) + uint64(s)<<56)
	}
	b := v.Coefficient()
	s := int(v.scale)
	ten := bigPow10(1)
	for s > 0 {
		q, r := bigPow10(0).QuoRem(b, ten, bigPow10(0))
		if r.Sign() != 0 {
			break
		}
		b, s = q, s-1
	}
	if b.IsInt64() {
		return mix(uint64(b.Int64()) + uint64(s)<<56)
	}
	h := uint64(s)
	for _, w := range b.Bits() {
		h = mix(h ^ uint64(w))
	}
	return h
}
