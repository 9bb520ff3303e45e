package types

import (
	"math"
	"math/big"
	"unsafe"
)

// Value is one SQL value in 24 bytes; the zero Value is NULL. It knows its
// kind, and the scale of decimal, time, datetime2 and datetimeoffset values,
// but not a declared length or precision. Values are immutable.
type Value struct {
	p     unsafe.Pointer // text, bytes, GUID, or the magnitude of a wide decimal; else nil
	n     int64          // integer, ten-thousandths, float bits, ticks, days, length of p
	kind  Kind
	scale uint8
	off   int16 // datetimeoffset: minutes east of UTC
}

// NULL is SQL's NULL, the zero Value.
func NULL() Value { return Value{} }

// NewBit makes a bit.
func NewBit(b bool) Value {
	if b {
		return Value{kind: KindBit, n: 1}
	}
	return Value{kind: KindBit}
}

// NewInt makes a value of an integer kind or bit. The caller has checked the range.
func NewInt(kind Kind, n int64) Value { return Value{kind: kind, n: n} }

// NewMoney makes money from ten-thousandths.
func NewMoney(tenThousandths int64) Value { return Value{kind: KindMoney, n: tenThousandths} }

// NewSmallMoney makes smallmoney from ten-thousandths.
func NewSmallMoney(tenThousandths int32) Value {
	return Value{kind: KindSmallMoney, n: int64(tenThousandths)}
}

// NewFloat makes a float.
func NewFloat(f float64) Value { return Value{kind: KindFloat, n: int64(math.Float64bits(f))} }

// NewReal makes a real.
func NewReal(f float32) Value {
	return Value{kind: KindReal, n: int64(math.Float64bits(float64(f)))}
}

// NewString makes a value of a character kind from UTF-8 text. The text is
// shared, not copied; a char or nchar value is padded by its caller.
func NewString(kind Kind, s string) Value {
	return Value{kind: kind, p: unsafe.Pointer(unsafe.StringData(s)), n: int64(len(s))}
}

// NewBytes makes a value of a binary kind. The bytes are shared and must not
// change afterwards.
func NewBytes(kind Kind, b []byte) Value {
	return Value{kind: kind, p: unsafe.Pointer(unsafe.SliceData(b)), n: int64(len(b))}
}

// NewGUID makes a uniqueidentifier from its 16 bytes in the order of storage
// and wire: the first three groups of the text are little-endian.
func NewGUID(g [16]byte) Value {
	return Value{kind: KindUniqueIdentifier, p: unsafe.Pointer(&g), n: 16}
}

// NewDecimal64 makes a decimal of coef x 10^-scale.
func NewDecimal64(coef int64, scale uint8) Value {
	return Value{kind: KindDecimal, n: coef, scale: scale}
}

// NewDecimal makes a decimal of coef x 10^-scale. coef must have at most 38
// digits; it is not kept.
func NewDecimal(coef *big.Int, scale uint8) Value {
	if coef.IsInt64() {
		return NewDecimal64(coef.Int64(), scale)
	}
	var buf [16]byte
	new(big.Int).Abs(coef).FillBytes(buf[:])
	w := new(wide)
	for i := range 8 {
		w.hi = w.hi<<8 | uint64(buf[i])
		w.lo = w.lo<<8 | uint64(buf[8+i])
	}
	return newWide(w, coef.Sign() < 0, scale)
}

// NewDate makes a date from days since 0001-01-01.
func NewDate(days int64) Value { return Value{kind: KindDate, n: days} }

// NewTime makes a time of day from ticks of 100 ns.
func NewTime(ticks int64, scale uint8) Value { return Value{kind: KindTime, n: ticks, scale: scale} }

// NewDateTime2 makes a datetime2 from ticks of 100 ns since 0001-01-01.
func NewDateTime2(ticks int64, scale uint8) Value {
	return Value{kind: KindDateTime2, n: ticks, scale: scale}
}

// NewDateTimeOffset makes a datetimeoffset from the UTC instant in ticks of
// 100 ns since 0001-01-01 and the offset in minutes east of UTC.
func NewDateTimeOffset(utcTicks int64, offsetMinutes int, scale uint8) Value {
	return Value{kind: KindDateTimeOffset, n: utcTicks, off: int16(offsetMinutes), scale: scale}
}

// NewDateTime makes a datetime from days since 1900-01-01 and ticks of 1/300 s.
func NewDateTime(days int64, ticks300 int64) Value {
	return Value{kind: KindDateTime, n: days*ticks300PerDay + ticks300}
}

// NewSmallDateTime makes a smalldatetime from days since 1900-01-01 and minutes.
func NewSmallDateTime(days, minutes int64) Value {
	return Value{kind: KindSmallDateTime, n: days*1440 + minutes}
}

// IsNull reports whether v is NULL.
func (v Value) IsNull() bool { return v.kind == KindNull }

// Kind is the value's kind; KindNull for NULL.
func (v Value) Kind() Kind { return v.kind }

// Scale is the scale of a decimal or a time kind.
func (v Value) Scale() uint8 { return v.scale }

// Int is the number of an integer kind or bit, and the ten-thousandths of money.
func (v Value) Int() int64 { return v.n }

// Bool reports whether a bit is 1.
func (v Value) Bool() bool { return v.n != 0 }

// Float is the number of a float or real.
func (v Value) Float() float64 { return math.Float64frombits(uint64(v.n)) }

// Str is the text of a character kind, as UTF-8.
func (v Value) Str() string {
	if v.p == nil {
		return ""
	}
	return unsafe.String((*byte)(v.p), int(v.n))
}

// Bytes are the bytes of a binary kind. They must not be changed.
func (v Value) Bytes() []byte {
	if v.p == nil {
		return nil
	}
	return unsafe.Slice((*byte)(v.p), int(v.n))
}

// GUID is the 16 bytes of a uniqueidentifier, in NewGUID's order.
func (v Value) GUID() [16]byte {
	if v.p == nil {
		return [16]byte{}
	}
	return *(*[16]byte)(v.p)
}

// Decimal64 is the coefficient of a decimal that fits an int64.
func (v Value) Decimal64() (coef int64, ok bool) {
	return v.n, v.p == nil
}

// DecimalParts is a decimal as sign, magnitude in two 64-bit halves and
// scale: (-1)^neg x (hi x 2^64 + lo) x 10^-scale.
func (v Value) DecimalParts() (neg bool, hi, lo uint64, scale uint8) {
	if v.p == nil {
		if v.n < 0 {
			return true, 0, uint64(-v.n), v.scale
		}
		return false, 0, uint64(v.n), v.scale
	}
	w := (*wide)(v.p)
	return v.n < 0, w.hi, w.lo, v.scale
}

// NewDecimalParts is the inverse of DecimalParts.
func NewDecimalParts(neg bool, hi, lo uint64, scale uint8) Value {
	if hi == 0 && lo <= math.MaxInt64 {
		if neg {
			return NewDecimal64(-int64(lo), scale)
		}
		return NewDecimal64(int64(lo), scale)
	}
	return newWide(&wide{hi: hi, lo: lo}, neg, scale)
}

// Coefficient is a decimal's coefficient as a new big.Int.
func (v Value) Coefficient() *big.Int {
	if v.p == nil {
		return big.NewInt(v.n)
	}
	w := (*wide)(v.p)
	b := new(big.Int).SetUint64(w.hi)
	b.Lsh(b, 64)
	b.Or(b, new(big.Int).SetUint64(w.lo))
	if v.n < 0 {
		b.Neg(b)
	}
	return b
}

// Days is a date's days since 0001-01-01.
func (v Value) Days() int64 { return v.n }

// Ticks is, in units of 100 ns, a time's time of day, a datetime2's time since
// 0001-01-01, and a datetimeoffset's UTC instant since 0001-01-01.
func (v Value) Ticks() int64 { return v.n }

// OffsetMinutes is a datetimeoffset's offset east of UTC.
func (v Value) OffsetMinutes() int { return int(v.off) }

// DateTimeParts is a datetime's days since 1900-01-01 and ticks of 1/300 s.
func (v Value) DateTimeParts() (days, ticks300 int64) {
	return floorDiv(v.n, ticks300PerDay), floorMod(v.n, ticks300PerDay)
}

// SmallDateTimeParts is a smalldatetime's days since 1900-01-01 and minutes.
func (v Value) SmallDateTimeParts() (days, minutes int64) {
	return floorDiv(v.n, 1440), floorMod(v.n, 1440)
}

// wide is the magnitude of a decimal whose coefficient fits no int64.
type wide struct{ lo, hi uint64 }

func newWide(w *wide, neg bool, scale uint8) Value {
	v := Value{kind: KindDecimal, p: unsafe.Pointer(w), n: 1, scale: scale}
	if neg {
		v.n = -1
	}
	return v
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}
