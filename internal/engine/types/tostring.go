package types

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"gostress/internal/engine/sqlerr"
)

// toString converts to the character kinds.
func (v Value) toString(to Type, style int) (Value, error) {
	var s string
	switch v.kind.info().class {
	case classString:
		s = v.Str()
		if v.kind.IsUnicode() && !to.Kind.IsUnicode() {
			s = narrowed(s)
		}
	case classBinary:
		var err error
		if s, err = binaryString(v.Bytes(), to, style); err != nil {
			return Value{}, err
		}
	case classTemporal:
		var err error
		if s, err = v.temporalString(style, to); err != nil {
			return Value{}, err
		}
	case classGUID:
		s = guidString(v.GUID())
		if to.Len != Max && maxLen(to.Kind) > 0 && to.Len < 36 {
			return Value{}, sqlerr.New(8170, 16, 2, "There is no room for the uniqueidentifier in the char value.")
		}
	default:
		var err error
		if s, err = v.numberString(to, style); err != nil {
			return Value{}, err
		}
	}
	return fitString(to, s), nil
}

// fitString cuts and pads a text to a character type.
func fitString(to Type, s string) Value {
	if to.Len != Max && to.Len > 0 {
		s = cutUnits(to.Kind, s, int(to.Len))
		if fixed(to.Kind) {
			s = pad(to.Kind, s, int(to.Len))
		}
	}
	return NewString(to.Kind, s)
}

// numberString writes a number for a character type. A number that does not
// fit is no text cut short: it is * (small integers into char and varchar) or
// an error.
func (v Value) numberString(to Type, style int) (string, error) {
	var s string
	switch v.kind.info().class {
	case classMoney:
		s = moneyString(v.n, style)
	case classFloat:
		s = floatString(v.Float(), v.kind == KindReal, style)
	case classDecimal:
		s = v.decimalString()
	default:
		s = strconv.FormatInt(v.n, 10)
	}
	if to.Len == Max || maxLen(to.Kind) == 0 || len(s) <= int(to.Len) {
		return s, nil
	}
	switch {
	case v.kind.IsMoney():
		return "", sqlerr.ShortTarget(to.Name())
	case v.kind.IsInt() && v.kind != KindBigInt && !to.Kind.IsUnicode():
		return "*", nil
	case v.kind.IsInt():
		return "", sqlerr.Overflow(to.Name())
	}
	return "", sqlerr.OverflowFrom(errKind(v.kind), to.Name())
}

// moneyString writes money: two places, with commas in style 1, four places in
// style 2.
func moneyString(n int64, style int) string {
	var buf [32]byte
	if style == 2 || style == 126 {
		return string(Value{kind: KindDecimal, n: n, scale: 4}.appendDecimal(buf[:0]))
	}
	s := string(Value{kind: KindDecimal, n: quoRound(n, 100), scale: 2}.appendDecimal(buf[:0]))
	if style != 1 {
		return s
	}
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	whole, rest := s[:len(s)-3], s[len(s)-3:]
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + whole + rest
}

// floatString writes a float: at most six digits in style 0, scientific with
// 8, 16 and 17 digits in styles 1, 2 and 3. Exponents have three digits.
func floatString(f float64, real bool, style int) string {
	switch style {
	case 1:
		return exponent3(strconv.FormatFloat(f, 'e', 7, 64))
	case 2:
		if real {
			return exponent3(strconv.FormatFloat(f, 'e', 7, 64))
		}
		return exponent3(strconv.FormatFloat(f, 'e', 15, 64))
	case 3, 126, 128, 129:
		return exponent3(strconv.FormatFloat(f, 'e', 16, 64))
	}
	if f == 0 {
		return "0"
	}
	s := strconv.FormatFloat(f, 'e', 5, 64)
	i := strings.IndexByte(s, 'e')
	exp, _ := strconv.Atoi(s[i+1:])
	if exp < -4 || exp >= 6 {
		m := strings.TrimRight(strings.TrimRight(s[:i], "0"), ".")
		return exponent3(m + s[i:])
	}
	s = strconv.FormatFloat(f, 'f', 5-exp, 64)
	if strings.IndexByte(s, '.') >= 0 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// exponent3 writes the exponent with three digits.
func exponent3(s string) string {
	i := strings.IndexByte(s, 'e')
	if i < 0 || len(s)-i-2 >= 3 {
		return s
	}
	return s[:i+2] + strings.Repeat("0", 3-(len(s)-i-2)) + s[i+2:]
}

// parseFloat reads a number with an optional exponent; an empty text is 0.
func parseFloat(s string) (float64, bool) {
	if s == "" {
		return 0, true
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case isDigit(c), c == '+', c == '-', c == '.':
		case (c == 'e' || c == 'E' || c == 'd' || c == 'D') && i > 0:
		default:
			return 0, false
		}
	}
	s = strings.NewReplacer("d", "e", "D", "e").Replace(s)
	if c := s[len(s)-1]; c == 'e' || c == 'E' {
		s += "0"
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

func guidString(g [16]byte) string {
	var b [36]byte
	o := [16]byte{g[3], g[2], g[1], g[0], g[5], g[4], g[7], g[6]}
	copy(o[8:], g[8:])
	hex.Encode(b[:8], o[:4])
	hex.Encode(b[9:13], o[4:6])
	hex.Encode(b[14:18], o[6:8])
	hex.Encode(b[19:23], o[8:10])
	hex.Encode(b[24:], o[10:])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return strings.ToUpper(string(b[:]))
}

// toGUID converts to uniqueidentifier.
func (v Value) toGUID(int) (Value, error) {
	var g [16]byte
	switch v.kind.info().class {
	case classGUID:
		return v, nil
	case classBinary:
		copy(g[:], v.Bytes())
		return NewGUID(g), nil
	case classString:
		s := v.Str()
		if strings.HasPrefix(s, "{") {
			if len(s) < 38 || s[37] != '}' {
				return Value{}, sqlerr.BadGUIDString()
			}
			s = s[1:37]
		}
		if len(s) < 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
			return Value{}, sqlerr.BadGUIDString()
		}
		s = s[:36]
		if _, err := hex.Decode(g[:], []byte(strings.ReplaceAll(s, "-", ""))); err != nil || strings.Count(s, "-") != 4 {
			return Value{}, sqlerr.BadGUIDString()
		}
		g[0], g[1], g[2], g[3] = g[3], g[2], g[1], g[0]
		g[4], g[5] = g[5], g[4]
		g[6], g[7] = g[7], g[6]
		return NewGUID(g), nil
	}
	return Value{}, sqlerr.TypeClash(errKind(v.kind), "uniqueidentifier")
}

// binaryString writes bytes as characters, or as hexadecimal digits in styles
// 1 (with 0x) and 2 (without).
func binaryString(b []byte, to Type, style int) (string, error) {
	switch style {
	case 0:
		if to.Kind.IsUnicode() {
			return fromUTF16Bytes(b), nil
		}
		return Decode1252(b), nil
	case 1:
		s := "0x" + strings.ToUpper(hex.EncodeToString(b))
		return s, nil
	case 2:
		return strings.ToUpper(hex.EncodeToString(b)), nil
	}
	return "", sqlerr.InvalidStyle(style, "varbinary", to.Name())
}

// toBinary converts to binary, varbinary and image.
func (v Value) toBinary(to Type, style int) (Value, error) {
	var b []byte
	left := true // numbers keep their last bytes, all else its first
	switch v.kind.info().class {
	case classBinary:
		b = v.Bytes()
	case classString:
		var err error
		if b, err = stringBytes(v, to, style); err != nil {
			return Value{}, err
		}
	case classGUID:
		g := v.GUID()
		b = g[:]
	case classInt, classMoney:
		var buf [8]byte
		binary.BigEndian.PutUint64(buf[:], uint64(v.n))
		n := 8
		switch v.kind {
		case KindBit, KindTinyInt:
			n = 1
		case KindSmallInt:
			n = 2
		case KindInt, KindSmallMoney:
			n = 4
		}
		b, left = append([]byte(nil), buf[8-n:]...), false
	case classFloat:
		var buf [8]byte
		b, left = buf[:], false
		if v.kind == KindReal {
			b = buf[:4]
			binary.BigEndian.PutUint32(b, math.Float32bits(float32(v.Float())))
		} else {
			binary.BigEndian.PutUint64(b, uint64(v.n))
		}
	case classDecimal:
		b = decimalBytes(v)
	case classTemporal:
		switch v.kind {
		case KindDateTime:
			d, t := v.DateTimeParts()
			b = binary.BigEndian.AppendUint32(nil, uint32(d))
			b, left = binary.BigEndian.AppendUint32(b, uint32(t)), false
		case KindSmallDateTime:
			d, m := v.SmallDateTimeParts()
			b = binary.BigEndian.AppendUint16(nil, uint16(d))
			b, left = binary.BigEndian.AppendUint16(b, uint16(m)), false
		default:
			return Value{}, sqlerr.Unsupported("conversion of " + v.kind.String() + " to " + to.Name())
		}
	default:
		return Value{}, sqlerr.TypeClash(errKind(v.kind), to.errName())
	}
	if to.Len != Max && to.Len > 0 {
		n := int(to.Len)
		switch {
		case len(b) > n && left:
			b = b[:n]
		case len(b) > n:
			b = b[len(b)-n:]
		case len(b) < n && to.Kind == KindBinary && left:
			b = append(b[:len(b):len(b)], make([]byte, n-len(b))...)
		case len(b) < n && to.Kind == KindBinary:
			b = append(make([]byte, n-len(b)), b...)
		}
	}
	return NewBytes(to.Kind, b), nil
}

func stringBytes(v Value, to Type, style int) ([]byte, error) {
	s := v.Str()
	switch style {
	case 0:
		if v.kind.IsUnicode() {
			return utf16Bytes(s), nil
		}
		return Encode1252(s), nil
	case 1, 2:
		if style == 1 {
			if len(s) < 2 || !strings.EqualFold(s[:2], "0x") {
				return nil, sqlerr.ErrorConverting(v.kind.String(), to.Name())
			}
			s = s[2:]
		}
		b, err := hex.DecodeString(s)
		if err != nil {
			return nil, sqlerr.ErrorConverting(v.kind.String(), to.Name())
		}
		return b, nil
	}
	return nil, sqlerr.InvalidStyle(style, v.kind.String(), to.Name())
}

// decimalBytes is precision, scale, a zero, the sign (1 = positive) and the
// magnitude, little-endian.
func decimalBytes(v Value) []byte {
	neg, hi, lo, scale := v.DecimalParts()
	prec := len(strings.TrimLeft(v.Coefficient().String(), "-"))
	b := []byte{byte(max(prec, int(scale))), scale, 0, 1}
	if neg {
		b[3] = 0
	}
	switch {
	case hi > math.MaxUint32:
		b = binary.LittleEndian.AppendUint64(b, lo)
		return binary.LittleEndian.AppendUint64(b, hi)
	case hi > 0:
		b = binary.LittleEndian.AppendUint64(b, lo)
		return binary.LittleEndian.AppendUint32(b, uint32(hi))
	case lo > math.MaxUint32:
		return binary.LittleEndian.AppendUint64(b, lo)
	}
	return binary.LittleEndian.AppendUint32(b, uint32(lo))
}

func binaryDecimal(b []byte, to Type) (Value, error) {
	bad := func() (Value, error) { return Value{}, sqlerr.ErrorConverting("varbinary", "numeric") }
	if len(b) < 5 || len(b) > 20 || b[1] > maxPrec || b[3] > 1 {
		return bad()
	}
	var buf [16]byte
	copy(buf[:], b[4:])
	v := NewDecimalParts(b[3] == 0, binary.LittleEndian.Uint64(buf[8:]), binary.LittleEndian.Uint64(buf[:8]), b[1])
	if !v.fits(maxPrec) {
		return bad()
	}
	return v.toDecimal(to, "varbinary")
}
