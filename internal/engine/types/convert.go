package types

import (
	"encoding/binary"
	"math"
	"strings"

	"gostress/internal/engine/sqlerr"
)

// Convert is CAST and CONVERT: it cuts off what is too long for a char or
// binary type. style is CONVERT's, 0 for CAST. Errors: 206, 220, 232, 234, 235,
// 241, 242, 244, 245, 248, 281, 529, 8114, 8115, 8169.
func Convert(v Value, to Type, style int) (Value, error) {
	if r, ok := same(v, to); ok {
		return r, nil
	}
	if conversionOf(v.kind, to.Kind) == convNone {
		return Value{}, sqlerr.NoExplicitConversion(errKind(v.kind), to.errName())
	}
	return convert(v, to, style)
}

// Assign is the implicit conversion of an assignment to a variable or a
// parameter: what is too long is cut off without a word. Errors: those of
// Convert, and 206 and 257 for what is not converted implicitly.
func Assign(v Value, to Type) (Value, error) {
	if r, ok := same(v, to); ok {
		return r, nil
	}
	if err := CheckConversion(Type{Kind: v.kind}, to, false); err != nil {
		return Value{}, err
	}
	return convert(v, to, 0)
}

// AssignColumn is the implicit conversion of an INSERT or UPDATE: what is too
// long is error 2628, which names table and column (8152 when table is "").
func AssignColumn(v Value, to Type, table, column string) (Value, error) {
	if r, ok := same(v, to); ok {
		return r, nil
	}
	if err := CheckConversion(Type{Kind: v.kind}, to, false); err != nil {
		return Value{}, err
	}
	if err := checkLength(v, to, table, column); err != nil {
		return Value{}, err
	}
	return convert(v, to, 0)
}

func errKind(k Kind) string { return Type{Kind: k}.errName() }

// same handles what needs no conversion.
func same(v Value, to Type) (Value, bool) {
	if v.kind == KindNull {
		return v, true
	}
	if v.kind != to.Kind {
		return v, false
	}
	switch v.kind {
	case KindBit, KindTinyInt, KindSmallInt, KindInt, KindBigInt, KindMoney, KindSmallMoney, KindFloat, KindReal,
		KindDate, KindDateTime, KindSmallDateTime, KindUniqueIdentifier, KindText, KindNText, KindImage:
		return v, true
	case KindTime, KindDateTime2, KindDateTimeOffset:
		if v.scale <= to.Scale {
			v.scale = to.Scale
			return v, true
		}
	case KindVarChar, KindNVarChar, KindVarBinary:
		return v, to.Len == Max || v.n <= int64(to.Len)
	case KindDecimal:
		return v, v.scale == to.Scale && v.fits(to.Prec)
	}
	return v, false
}

// checkLength refuses text and bytes too long for a column; blanks and zero
// bytes at the end do not count.
func checkLength(v Value, to Type, table, column string) error {
	if to.Len == Max || to.Len == 0 {
		return nil
	}
	tooLong := func(shown string) error {
		if table == "" {
			return sqlerr.TruncatedBare()
		}
		return sqlerr.Truncated(table, column, shown)
	}
	switch {
	case v.kind.IsString() && to.Kind.IsString():
		if v.n <= int64(to.Len) {
			return nil
		}
		s := strings.TrimRight(v.Str(), " ")
		if units(to.Kind, s) > int(to.Len) {
			return tooLong(cutUnits(to.Kind, s, int(to.Len)))
		}
	case v.kind.IsBinary() && to.Kind.IsBinary():
		b := v.Bytes()
		for len(b) > int(to.Len) {
			if b[len(b)-1] != 0 {
				return tooLong("")
			}
			b = b[:len(b)-1]
		}
	case v.kind == KindUniqueIdentifier && to.Kind.IsString():
		if to.Len < 36 {
			return tooLong(Format(v))
		}
	case v.kind.IsTemporal() && to.Kind.IsString():
		if s := Format(v); len(s) > int(to.Len) {
			return tooLong(s[:to.Len])
		}
	}
	return nil
}

func convert(v Value, to Type, style int) (Value, error) {
	switch to.Kind.info().class {
	case classInt:
		return v.toInt(to)
	case classMoney:
		return v.toMoney(to)
	case classFloat:
		return v.toFloat(to)
	case classDecimal:
		return v.toNumeric(to)
	case classString:
		return v.toString(to, style)
	case classBinary:
		return v.toBinary(to, style)
	case classTemporal:
		return v.toDate(to, style)
	case classGUID:
		return v.toGUID(style)
	}
	if to.Kind == KindSQLVariant {
		return v, nil
	}
	return Value{}, sqlerr.TypeClash(errKind(v.kind), to.errName())
}

// toInt converts to bit and the integer kinds.
func (v Value) toInt(to Type) (Value, error) {
	var n int64
	ok := true
	switch v.kind.info().class {
	case classInt:
		n = v.n
	case classMoney:
		n = quoRound(v.n, 10000)
		if to.Kind == KindBit && v.n != 0 {
			n = 1
		}
	case classDecimal:
		n, ok = v.decimalInt()
		if to.Kind == KindBit {
			return NewBit(v.p != nil || v.n != 0), nil
		}
	case classFloat:
		f := v.Float()
		if to.Kind == KindBit {
			return NewBit(f != 0), nil
		}
		ok = f > -9.3e18 && f < 9223372036854775808
		if ok {
			n = int64(f)
		}
		if lo, hi := IntRange(to.Kind); !ok || n < lo || n > hi {
			if to.Kind == KindBigInt {
				return Value{}, sqlerr.Overflow("bigint")
			}
			return Value{}, sqlerr.OverflowFloat(to.Name(), f)
		}
	case classString:
		return stringInt(v.Str(), v.kind, to.Kind)
	case classBinary:
		b := v.Bytes()
		for _, c := range b[max(0, len(b)-8):] {
			n = n<<8 | int64(c)
		}
		switch to.Kind {
		case KindInt:
			n = int64(int32(n))
		case KindSmallInt:
			n = int64(int16(n))
		case KindTinyInt:
			n &= 255
		}
	case classTemporal:
		if v.kind == KindDateTime {
			n = quoRound(v.n, ticks300PerDay)
		} else {
			n = quoRound(v.n, 1440)
		}
	}
	if to.Kind == KindBit {
		return NewBit(n != 0), nil
	}
	if lo, hi := IntRange(to.Kind); !ok || n < lo || n > hi {
		switch {
		case v.kind.IsInt() && (to.Kind == KindTinyInt || to.Kind == KindSmallInt):
			return Value{}, sqlerr.OverflowValue(to.Name(), n)
		case v.kind.IsInt():
			return Value{}, sqlerr.Overflow(to.Name())
		}
		return Value{}, sqlerr.OverflowFrom(errKind(v.kind), to.Name())
	}
	return Value{kind: to.Kind, n: n}, nil
}

// stringInt reads an integer: blanks around it, a sign, digits. An empty text is 0.
func stringInt(text string, from, to Kind) (Value, error) {
	s := strings.Trim(text, " \t\r\n")
	if to == KindBit {
		switch {
		case strings.EqualFold(s, "true"):
			return NewBit(true), nil
		case strings.EqualFold(s, "false"):
			return NewBit(false), nil
		}
	}
	i, neg := 0, false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		i = 1
		for i < len(s) && s[i] == ' ' {
			i++
		}
	}
	bad := func() error {
		if to == KindBigInt {
			return sqlerr.ErrorConverting(from.String(), "bigint")
		}
		return sqlerr.ConversionFailed(from.String(), text, to.String())
	}
	if i > 0 && i == len(s) {
		// A sign alone is zero.
		return Value{kind: to}, nil
	}
	var n uint64
	over := false
	for ; i < len(s); i++ {
		d := s[i] - '0'
		if d > 9 {
			return Value{}, bad()
		}
		if n > (math.MaxUint64-9)/10 {
			over = true
			continue
		}
		n = n*10 + uint64(d)
	}
	if to == KindBit {
		return NewBit(n != 0 || over), nil
	}
	lo, hi := IntRange(to)
	r := int64(n)
	if neg {
		r = -r
		over = over || n > 1<<63 || r < lo
	} else {
		over = over || n > math.MaxInt64 || r > hi
	}
	if !over {
		return Value{kind: to, n: r}, nil
	}
	switch to {
	case KindBigInt:
		return Value{}, sqlerr.Overflow("bigint")
	case KindInt:
		return Value{}, sqlerr.StringOverflowsInt(from.String(), text)
	case KindSmallInt:
		return Value{}, sqlerr.StringOverflowsSmall(from.String(), text, "INT2")
	}
	return Value{}, sqlerr.StringOverflowsSmall(from.String(), text, "INT1")
}

// toMoney converts to money and smallmoney.
func (v Value) toMoney(to Type) (Value, error) {
	var n int64
	ok := true
	switch v.kind.info().class {
	case classInt:
		n, ok = mul64(v.n, 10000)
	case classMoney:
		n = v.n
	case classDecimal:
		n, ok = v.tenThousandths(false)
	case classFloat:
		f := v.Float() * 10000
		ok = math.Abs(f) < 9.2233720368547758e18
		if ok {
			n = int64(math.Round(f))
		}
	case classString:
		r, err := stringMoney(v.Str())
		if err != nil {
			return Value{}, err
		}
		n = r
	case classBinary:
		b := v.Bytes()
		for _, c := range b[max(0, len(b)-8):] {
			n = n<<8 | int64(c)
		}
	case classTemporal:
		f, _ := v.toFloat(Float)
		n = int64(math.Round(f.Float() * 10000))
	}
	if !ok || (to.Kind == KindSmallMoney && (n < math.MinInt32 || n > math.MaxInt32)) {
		if v.kind.IsInt() || v.kind.IsMoney() {
			return Value{}, sqlerr.Overflow(to.Name())
		}
		return Value{}, sqlerr.OverflowFrom(errKind(v.kind), to.Name())
	}
	return Value{kind: to.Kind, n: n}, nil
}

// stringMoney reads an amount: sign, currency sign, digits with commas, a point.
func stringMoney(text string) (int64, error) {
	s := strings.TrimSpace(text)
	neg := false
	for {
		switch {
		case s != "" && (s[0] == '-' || s[0] == '+'):
			neg = neg != (s[0] == '-')
			s = strings.TrimSpace(s[1:])
			continue
		case strings.HasPrefix(s, "$"), strings.HasPrefix(s, "£"), strings.HasPrefix(s, "€"), strings.HasPrefix(s, "¥"):
			_, s, _ = cutRune(s)
			s = strings.TrimSpace(s)
			continue
		}
		break
	}
	if s == "" {
		return 0, nil
	}
	if i := strings.IndexByte(s, '.'); i >= 0 && strings.IndexByte(s[i:], ',') >= 0 {
		return 0, sqlerr.BadMoneyString()
	}
	d, ok := parseDecimal(strings.ReplaceAll(s, ",", ""))
	if !ok || s[0] == ',' || !isDigit(s[0]) && s[0] != '.' {
		return 0, sqlerr.BadMoneyString()
	}
	n, ok := d.tenThousandths(neg)
	if !ok {
		return 0, sqlerr.OverflowFrom("varchar", "money")
	}
	return n, nil
}

// tenThousandths is a decimal, or what it is with the other sign, in the unit of
// money, whose range has one more value below zero than above.
func (v Value) tenThousandths(negate bool) (int64, bool) {
	r, ok := v.rescaled(4)
	if !ok {
		return 0, false
	}
	neg, hi, lo, _ := r.DecimalParts()
	neg = neg != negate
	switch {
	case hi != 0 || lo > 1<<63 || lo == 1<<63 && !neg:
		return 0, false
	case neg:
		return -int64(lo), true // -(1<<63) is its own negative
	}
	return int64(lo), true
}

func cutRune(s string) (r rune, rest string, ok bool) {
	for i, c := range s {
		if i > 0 {
			return r, s[i:], true
		}
		r, ok = c, true
	}
	return r, "", ok
}

// toFloat converts to float and real.
func (v Value) toFloat(to Type) (Value, error) {
	var f float64
	switch v.kind.info().class {
	case classInt:
		f = float64(v.n)
	case classMoney:
		f = float64(v.n) / 10000
	case classDecimal:
		f = v.decimalFloat()
	case classFloat:
		f = v.Float()
	case classString:
		s := strings.TrimSpace(v.Str())
		var ok bool
		if f, ok = parseFloat(s); !ok {
			return Value{}, sqlerr.ErrorConverting(v.kind.String(), to.Name())
		}
	case classTemporal:
		if v.kind == KindDateTime {
			f = float64(v.n) / ticks300PerDay
		} else {
			f = float64(v.n) / 1440
		}
	}
	if math.IsInf(f, 0) || (to.Kind == KindReal && math.IsInf(float64(float32(f)), 0)) {
		return Value{}, sqlerr.OverflowFrom(errKind(v.kind), to.Name())
	}
	if to.Kind == KindReal {
		return NewReal(float32(f)), nil
	}
	return NewFloat(f), nil
}

// toNumeric converts to decimal.
func (v Value) toNumeric(to Type) (Value, error) {
	switch v.kind.info().class {
	case classInt:
		return NewDecimal64(v.n, 0).toDecimal(to, v.kind.String())
	case classMoney:
		return NewDecimal64(v.n, 4).toDecimal(to, v.kind.String())
	case classDecimal:
		return v.toDecimal(to, "numeric")
	case classFloat:
		return floatDecimal(v.Float(), to, v.kind.String())
	case classString:
		d, ok := parseDecimal(strings.TrimSpace(v.Str()))
		if !ok {
			return Value{}, sqlerr.ErrorConverting(v.kind.String(), "numeric")
		}
		return d.toDecimal(to, v.kind.String())
	case classTemporal:
		f, err := v.toFloat(Float)
		if err != nil {
			return Value{}, err
		}
		return floatDecimal(f.Float(), to, v.kind.String())
	case classBinary:
		return binaryDecimal(v.Bytes(), to)
	}
	return Value{}, sqlerr.NoExplicitConversion(errKind(v.kind), "numeric")
}

// toDate converts to the date and time kinds.
func (v Value) toDate(to Type, style int) (Value, error) {
	switch v.kind.info().class {
	case classTemporal:
		return v.toTemporal(to)
	case classString:
		return stringTemporal(v.Str(), v.kind, to, style)
	case classBinary:
		if to.Kind == KindDateTime {
			var buf [8]byte
			b := v.Bytes()
			b = b[max(0, len(b)-8):]
			copy(buf[8-len(b):], b)
			n := int64(int32(binary.BigEndian.Uint32(buf[:4])))*ticks300PerDay + int64(binary.BigEndian.Uint32(buf[4:]))
			if n < minDateTime || n > maxDateTime {
				return Value{}, sqlerr.DateOutOfRange(v.kind.String(), "datetime")
			}
			return Value{kind: KindDateTime, n: n}, nil
		}
		return Value{}, sqlerr.Unsupported("conversion of " + v.kind.String() + " to " + to.Name())
	}
	n, err := datetimeOperand(v)
	if err != nil {
		return Value{}, err
	}
	if n < minDateTime || n > maxDateTime {
		return Value{}, sqlerr.OverflowFrom("expression", to.Name())
	}
	return Value{kind: KindDateTime, n: n}.toTemporal(to)
}
