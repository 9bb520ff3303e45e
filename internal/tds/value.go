package tds

import (
	"encoding/binary"
	"math"
)

// AppendNull appends a NULL of type t, as a row or a parameter carries it.
func AppendNull(b []byte, t *TypeInfo) []byte {
	switch t.lengthKind() {
	case lenByte:
		return append(b, 0)
	case lenByteFF:
		return append(b, 0xFF)
	case lenShort:
		return append(b, 0xFF, 0xFF)
	case lenPLP:
		return binary.LittleEndian.AppendUint64(b, plpNull)
	case lenLong:
		return append(b, 0) // in a row: no text pointer
	case lenVariant:
		return append(b, 0, 0, 0, 0)
	}
	return b
}

// AppendInt appends an IntN or BitN value of t.Size bytes.
func AppendInt(b []byte, t *TypeInfo, v int64) []byte {
	switch t.Size {
	case 1:
		return append(b, 1, byte(v))
	case 2:
		return append(b, 2, byte(v), byte(v>>8))
	case 4:
		return append(b, 4, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return binary.LittleEndian.AppendUint64(append(b, 8), uint64(v))
}

// AppendFloat appends a FloatN value of t.Size bytes.
func AppendFloat(b []byte, t *TypeInfo, v float64) []byte {
	if t.Size == 4 {
		return binary.LittleEndian.AppendUint32(append(b, 4), math.Float32bits(float32(v)))
	}
	return binary.LittleEndian.AppendUint64(append(b, 8), math.Float64bits(v))
}

// AppendMoney appends a MoneyN value of t.Size bytes, v in ten-thousandths.
func AppendMoney(b []byte, t *TypeInfo, v int64) []byte {
	if t.Size == 4 {
		return binary.LittleEndian.AppendUint32(append(b, 4), uint32(v))
	}
	b = binary.LittleEndian.AppendUint32(append(b, 8), uint32(uint64(v)>>32))
	return binary.LittleEndian.AppendUint32(b, uint32(v))
}

// AppendDecimal appends a decimal of t's precision; lo and hi are the halves of
// its coefficient, which must be below 10^38.
func AppendDecimal(b []byte, t *TypeInfo, negative bool, lo, hi uint64) []byte {
	n := DecimalSize(t.Prec)
	b = append(b, byte(n))
	sign := byte(1)
	if negative {
		sign = 0
	}
	b = append(b, sign)
	var w [16]byte
	binary.LittleEndian.PutUint64(w[:], lo)
	binary.LittleEndian.PutUint64(w[8:], hi)
	return append(b, w[:n-1]...)
}

// AppendDateTime appends a datetime: days since 1900-01-01 and 1/300 seconds.
func AppendDateTime(b []byte, days int32, ticks uint32) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, 8), uint32(days))
	return binary.LittleEndian.AppendUint32(b, ticks)
}

// AppendSmallDateTime appends a smalldatetime: days since 1900-01-01 and minutes.
func AppendSmallDateTime(b []byte, days, minutes uint16) []byte {
	return append(b, 4, byte(days), byte(days>>8), byte(minutes), byte(minutes>>8))
}

// AppendDate appends a date: days since 0001-01-01.
func AppendDate(b []byte, days int32) []byte {
	return append(b, 3, byte(days), byte(days>>8), byte(days>>16))
}

func appendTicks(b []byte, t *TypeInfo, ticks int64) []byte {
	v := uint64(ticks / scaleFactor[t.Scale&7])
	b = append(b, byte(v), byte(v>>8), byte(v>>16))
	switch scaleBytes(t.Scale) {
	case 4:
		return append(b, byte(v>>24))
	case 5:
		return append(b, byte(v>>24), byte(v>>32))
	}
	return b
}

// AppendTime appends a time: 100 ns since midnight, cut to t's scale.
func AppendTime(b []byte, t *TypeInfo, ticks int64) []byte {
	return appendTicks(append(b, byte(scaleBytes(t.Scale))), t, ticks)
}

// AppendDateTime2 appends a datetime2: days since 0001-01-01 and 100 ns since midnight.
func AppendDateTime2(b []byte, t *TypeInfo, days int32, ticks int64) []byte {
	b = appendTicks(append(b, byte(scaleBytes(t.Scale)+3)), t, ticks)
	return append(b, byte(days), byte(days>>8), byte(days>>16))
}

// AppendDateTimeOffset appends a datetimeoffset: date and time in UTC, and the offset in minutes.
func AppendDateTimeOffset(b []byte, t *TypeInfo, days int32, ticks int64, offset int16) []byte {
	b = appendTicks(append(b, byte(scaleBytes(t.Scale)+5)), t, ticks)
	return append(b, byte(days), byte(days>>8), byte(days>>16), byte(offset), byte(offset>>8))
}

// AppendGUID appends a uniqueidentifier, bytes in SQL Server's order.
func AppendGUID(b []byte, g [16]byte) []byte { return append(append(b, 16), g[:]...) }

// textPointer stands in rows before a text, ntext or image value: 16 bytes of
// pointer and 8 of timestamp, which nobody may look into.
const textPointer = "\x10gostress-pointer\x00\x00\x00\x00\x00\x00\x00\x00"

// AppendBytes appends a value of a binary type, or text that is encoded already,
// as a row carries it. A value longer than the type is cut.
func AppendBytes(b []byte, t *TypeInfo, v []byte) []byte {
	at, b := beginValue(b, t)
	return endValue(append(b, v...), at, t)
}

// AppendString appends s as a value of a character type, encoded as the type
// wants it. A value longer than the type is cut.
func AppendString(b []byte, t *TypeInfo, s string) []byte {
	at, b := beginValue(b, t)
	switch t.ID {
	case TypeNVarChar, TypeNChar, TypeNText, TypeXML:
		b = AppendUTF16(b, s)
	default:
		b = AppendChar(b, s, t.Collation)
	}
	return endValue(b, at, t)
}

func beginValue(b []byte, t *TypeInfo) (int, []byte) {
	switch t.lengthKind() {
	case lenShort:
		b = append(b, 0, 0)
	case lenByte, lenByteFF:
		b = append(b, 0)
	case lenLong:
		b = append(append(b, textPointer...), 0, 0, 0, 0)
	case lenPLP: // total, then one chunk
		b = append(b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	return len(b), b
}

func endValue(b []byte, at int, t *TypeInfo) []byte {
	n := len(b) - at
	switch t.lengthKind() {
	case lenShort:
		if n > t.Size {
			n = t.Size
			b = b[:at+n]
		}
		binary.LittleEndian.PutUint16(b[at-2:], uint16(n))
	case lenByte, lenByteFF:
		if n > t.Size {
			n = t.Size
			b = b[:at+n]
		}
		b[at-1] = byte(n)
	case lenLong:
		binary.LittleEndian.PutUint32(b[at-4:], uint32(n))
	case lenPLP:
		binary.LittleEndian.PutUint64(b[at-12:], uint64(n))
		if n == 0 { // the chunk's length is the terminator
			return b
		}
		binary.LittleEndian.PutUint32(b[at-4:], uint32(n))
		b = append(b, 0, 0, 0, 0)
	}
	return b
}

// AppendParamBytes is AppendBytes for RPC parameters, where text, ntext and
// image have a length but no text pointer.
func AppendParamBytes(b []byte, t *TypeInfo, v []byte) []byte {
	if t.lengthKind() == lenLong {
		return append(binary.LittleEndian.AppendUint32(b, uint32(len(v))), v...)
	}
	return AppendBytes(b, t, v)
}

// AppendParamNull is AppendNull for RPC parameters.
func AppendParamNull(b []byte, t *TypeInfo) []byte {
	if t.lengthKind() == lenLong {
		return append(b, 0xFF, 0xFF, 0xFF, 0xFF)
	}
	return AppendNull(b, t)
}

// variantBase turns a nullable type into the one a sql_variant names: the fixed
// types have ids of their own there.
func variantBase(t *TypeInfo) TypeID {
	switch t.ID {
	case TypeIntN:
		switch t.Size {
		case 1:
			return TypeInt1
		case 2:
			return TypeInt2
		case 4:
			return TypeInt4
		}
		return TypeInt8
	case TypeBitN:
		return TypeBit
	case TypeFloatN:
		if t.Size == 4 {
			return TypeFloat4
		}
		return TypeFloat8
	case TypeMoneyN:
		if t.Size == 4 {
			return TypeMoney4
		}
		return TypeMoney
	case TypeDateTimeN:
		if t.Size == 4 {
			return TypeDateTime4
		}
		return TypeDateTime
	}
	return t.ID
}

// AppendVariant appends a sql_variant holding a value of type t; value appends
// it as a row would carry it.
func AppendVariant(b []byte, t *TypeInfo, value func([]byte) []byte) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0, byte(variantBase(t)), 0)
	switch t.ID {
	case TypeVarChar, TypeChar, TypeNVarChar, TypeNChar:
		b = append(b, t.Collation[:]...)
		b = binary.LittleEndian.AppendUint16(b, uint16(t.Size))
	case TypeVarBinary, TypeBinary:
		b = binary.LittleEndian.AppendUint16(b, uint16(t.Size))
	case TypeDecimalN, TypeNumericN:
		b = append(b, t.Prec, t.Scale)
	case TypeTimeN, TypeDateTime2N, TypeDateTimeOffN:
		b = append(b, t.Scale)
	}
	b[at+5] = byte(len(b) - at - 6)
	data := len(b)
	b = value(b)
	prefix := 1
	if t.lengthKind() == lenShort {
		prefix = 2
	}
	b = append(b[:data], b[data+prefix:]...)
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}
