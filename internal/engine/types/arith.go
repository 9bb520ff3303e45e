package types

import (
	"math"
	"math/bits"
	"strings"

	"gostress/internal/engine/sqlerr"
)

// Op is a binary operator of values.
type Op uint8

// The operators.
const (
	OpAdd Op = iota
	OpSub
	OpMul
	OpDiv
	OpMod
	OpBitAnd
	OpBitOr
	OpBitXor
)

var opNames = [...]string{"add", "subtract", "multiply", "divide", "modulo", "'&'", "'|'", "'^'"}

// String is how error messages call the operator.
func (o Op) String() string { return opNames[o] }

func (o Op) bitwise() bool { return o >= OpBitAnd }

// Arith computes a op b; t is what ArithType said, and the operands are
// converted to it as needed. NULL in, NULL out. Errors: 8115, 8134, and those
// of the conversion.
func Arith(op Op, t Type, a, b Value) (Value, error) {
	if a.kind == KindNull || b.kind == KindNull {
		return Value{}, nil
	}
	switch t.Kind.info().class {
	case classInt:
		x, y := a.n, b.n
		if !a.kind.IsInt() || !b.kind.IsInt() {
			var err error
			if x, err = intOperand(a, t); err != nil {
				return Value{}, err
			}
			if y, err = intOperand(b, t); err != nil {
				return Value{}, err
			}
		}
		return arithInt(op, t.Kind, x, y)
	case classMoney:
		x, err := moneyOperand(a, t)
		if err != nil {
			return Value{}, err
		}
		y, err := moneyOperand(b, t)
		if err != nil {
			return Value{}, err
		}
		return arithMoney(op, t.Kind, x, y)
	case classFloat:
		x, err := floatOperand(a)
		if err != nil {
			return Value{}, err
		}
		y, err := floatOperand(b)
		if err != nil {
			return Value{}, err
		}
		return arithFloat(op, t.Kind, x, y)
	case classDecimal:
		x, err := decimalOperand(a, t)
		if err != nil {
			return Value{}, err
		}
		y, err := decimalOperand(b, t)
		if err != nil {
			return Value{}, err
		}
		return arithDecimal(op, t, x, y)
	case classString:
		return concat(t, a, b)
	case classBinary:
		if err := Fits(len(a.Bytes()) + len(b.Bytes())); err != nil {
			return Value{}, err
		}
		out := make([]byte, 0, len(a.Bytes())+len(b.Bytes()))
		out = append(append(out, a.Bytes()...), b.Bytes()...)
		if t.Len != Max && len(out) > maxLen(t.Kind) {
			out = out[:maxLen(t.Kind)]
		}
		return NewBytes(t.Kind, out), nil
	case classTemporal:
		return arithTemporal(op, t, a, b)
	}
	return Value{}, sqlerr.InvalidOperand(t.errName(), op.String())
}

func intOperand(v Value, t Type) (int64, error) {
	if v.kind.IsInt() {
		return v.n, nil
	}
	c, err := Convert(v, t, 0)
	return c.n, err
}

func moneyOperand(v Value, t Type) (int64, error) {
	switch v.kind.info().class {
	case classMoney:
		return v.n, nil
	case classInt:
		if n, ok := mul64(v.n, 10000); ok {
			return n, nil
		}
	}
	c, err := Convert(v, t, 0)
	return c.n, err
}

func floatOperand(v Value) (float64, error) {
	if v.kind.IsFloat() {
		return v.Float(), nil
	}
	c, err := Convert(v, Float, 0)
	return c.Float(), err
}

// decimalOperand brings a number to a decimal without losing places.
func decimalOperand(v Value, t Type) (Value, error) {
	switch v.kind.info().class {
	case classDecimal:
		return v, nil
	case classInt:
		return NewDecimal64(v.n, 0), nil
	case classMoney:
		return NewDecimal64(v.n, 4), nil
	}
	return Convert(v, Decimal(maxPrec, int(t.Scale)), 0)
}

// IntRange is the smallest and the largest number of an integer kind.
func IntRange(k Kind) (lo, hi int64) {
	switch k {
	case KindBit:
		return 0, 1
	case KindTinyInt:
		return 0, math.MaxUint8
	case KindSmallInt:
		return math.MinInt16, math.MaxInt16
	case KindInt:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

func arithInt(op Op, k Kind, x, y int64) (Value, error) {
	var n int64
	ok := true
	switch op {
	case OpAdd:
		n, ok = add64(x, y)
	case OpSub:
		n, ok = sub64(x, y)
	case OpMul:
		n, ok = mul64(x, y)
	case OpDiv, OpMod:
		if y == 0 {
			return Value{}, sqlerr.DivideByZero()
		}
		switch {
		case op == OpMod && y == -1:
			n = 0
		case op == OpMod:
			n = x % y
		case y == -1:
			n, ok = -x, x != math.MinInt64
		default:
			n = x / y
		}
	case OpBitAnd:
		n = x & y
	case OpBitOr:
		n = x | y
	case OpBitXor:
		n = x ^ y
	}
	if lo, hi := IntRange(k); !ok || n < lo || n > hi {
		return Value{}, sqlerr.Overflow(k.String())
	}
	return Value{kind: k, n: n}, nil
}

func arithMoney(op Op, k Kind, x, y int64) (Value, error) {
	var n int64
	ok := true
	switch op {
	case OpAdd:
		n, ok = add64(x, y)
	case OpSub:
		n, ok = sub64(x, y)
	case OpMul:
		n, ok = mulDiv(x, y, 10000, true)
	case OpDiv:
		if y == 0 {
			return Value{}, sqlerr.DivideByZero()
		}
		n, ok = mulDiv(x, 10000, y, false)
	case OpMod:
		if y == 0 {
			return Value{}, sqlerr.DivideByZero()
		}
		if y != -1 {
			n = x % y
		}
	default:
		return Value{}, sqlerr.InvalidOperand(k.String(), op.String())
	}
	if !ok || (k == KindSmallMoney && (n < math.MinInt32 || n > math.MaxInt32)) {
		return Value{}, sqlerr.Overflow(k.String())
	}
	return Value{kind: k, n: n}, nil
}

// mulDiv is x*y/z by way of 128 bits, rounded half away from zero or cut off.
func mulDiv(x, y, z int64, round bool) (int64, bool) {
	hi, lo := bits.Mul64(abs64(x), abs64(y))
	d := abs64(z)
	if hi >= d {
		return 0, false
	}
	q, r := bits.Div64(hi, lo, d)
	if round && r >= d-r {
		q++
	}
	neg := ((x < 0) != (y < 0)) != (z < 0)
	if q > math.MaxInt64 {
		return 0, false
	}
	if neg {
		return -int64(q), true
	}
	return int64(q), true
}

func arithFloat(op Op, k Kind, x, y float64) (Value, error) {
	var f float64
	switch op {
	case OpAdd:
		f = x + y
	case OpSub:
		f = x - y
	case OpMul:
		f = x * y
	case OpDiv:
		if y == 0 {
			return Value{}, sqlerr.DivideByZero()
		}
		f = x / y
	default:
		return Value{}, sqlerr.InvalidOperand(k.String(), op.String())
	}
	return floatResult(k, f)
}

// floatResult checks the range of a computed float.
func floatResult(k Kind, f float64) (Value, error) {
	if k == KindReal {
		r := float32(f)
		if math.IsInf(float64(r), 0) || math.IsNaN(f) {
			return Value{}, sqlerr.Overflow("real")
		}
		return NewReal(r), nil
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return Value{}, sqlerr.Overflow("float")
	}
	return NewFloat(f), nil
}

// MaxValueBytes is the size of the largest value. SQL Server's is 2 GB; a few of
// those would take all of a machine's memory, which is all this engine has.
const MaxValueBytes = 256 << 20

// Fits refuses to make a value of n bytes that is too large. Error 7119.
func Fits(n int) error {
	if n > MaxValueBytes {
		return sqlerr.ValueTooLong(MaxValueBytes)
	}
	return nil
}

func concat(t Type, a, b Value) (Value, error) {
	if !a.kind.IsString() || !b.kind.IsString() {
		return Value{}, sqlerr.InvalidOperand(t.errName(), "add")
	}
	x, y := a.Str(), b.Str()
	k := t.Kind
	if y == "" {
		return NewString(k, x), nil
	}
	if x == "" {
		return NewString(k, y), nil
	}
	if err := Fits(len(x) + len(y)); err != nil {
		return Value{}, err
	}
	var sb strings.Builder
	sb.Grow(len(x) + len(y))
	sb.WriteString(x)
	sb.WriteString(y)
	s := sb.String()
	if limit := maxLen(k); t.Len != Max && len(s) > limit {
		s = cutUnits(k, s, limit)
	}
	return NewString(k, s), nil
}

// arithTemporal adds days to a datetime or smalldatetime, or another one of
// them, which counts from 1900-01-01.
func arithTemporal(op Op, t Type, a, b Value) (Value, error) {
	x, err := datetimeOperand(a)
	if err != nil {
		return Value{}, err
	}
	y, err := datetimeOperand(b)
	if err != nil {
		return Value{}, err
	}
	n := x + y
	if op == OpSub {
		n = x - y
	}
	if n < minDateTime || n > maxDateTime {
		return Value{}, sqlerr.Overflow(t.Name())
	}
	return Convert(Value{kind: KindDateTime, n: n}, t, 0)
}

// datetimeOperand is an operand in 1/300 s since 1900-01-01.
func datetimeOperand(v Value) (int64, error) {
	switch {
	case v.kind == KindDateTime:
		return v.n, nil
	case v.kind.IsInt():
		if v.n > maxDateTime/ticks300PerDay || v.n < -maxDateTime/ticks300PerDay {
			return 0, sqlerr.OverflowFrom("expression", "datetime")
		}
		return v.n * ticks300PerDay, nil
	case v.kind.IsNumeric():
		f, err := floatOperand(v)
		if err != nil {
			return 0, err
		}
		if math.Abs(f) > 3e6 {
			return 0, sqlerr.OverflowFrom("expression", "datetime")
		}
		return int64(math.Round(f * ticks300PerDay)), nil
	}
	c, err := Convert(v, DateTime, 0)
	return c.n, err
}

// NegType is the type of -x. Error: 8117.
func NegType(t Type) (Type, error) {
	switch {
	case t.Kind == KindNull:
		return Int, nil
	case t.Kind == KindBit || !t.Kind.IsNumeric():
		return Null, sqlerr.InvalidOperand(t.errName(), "minus")
	case t.Kind == KindTinyInt:
		return SmallInt, nil
	}
	return t, nil
}

// Neg is -v; t is what NegType said. Error: 8115.
func Neg(t Type, v Value) (Value, error) {
	if v.kind == KindNull {
		return v, nil
	}
	switch v.kind.info().class {
	case classInt:
		return arithInt(OpSub, t.Kind, 0, v.n)
	case classMoney:
		return arithMoney(OpSub, t.Kind, 0, v.n)
	case classFloat:
		return Value{kind: v.kind, n: int64(math.Float64bits(-v.Float()))}, nil
	case classDecimal:
		v.n = -v.n
		return v, nil
	}
	return Value{}, sqlerr.InvalidOperand(t.errName(), "minus")
}

// BitNotType is the type of ~x. Error: 8117.
func BitNotType(t Type) (Type, error) {
	if t.Kind == KindNull {
		return Int, nil
	}
	if !t.Kind.IsInt() {
		return Null, sqlerr.InvalidOperand(t.errName(), "'~'")
	}
	return t, nil
}

// BitNot is ~v.
func BitNot(v Value) Value {
	switch v.kind {
	case KindNull:
		return v
	case KindBit:
		return NewBit(v.n == 0)
	case KindTinyInt:
		return NewInt(KindTinyInt, 255&^v.n)
	}
	v.n = ^v.n
	return v
}
