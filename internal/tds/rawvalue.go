package tds

import (
	"encoding/binary"
	"math"
)

// Raw is a value as it came: its bytes without lengths, chunks joined.
type Raw struct {
	Null bool
	Data []byte
}

// plpNull and plpUnknown are the special total lengths of a chunked value.
const (
	plpNull    = math.MaxUint64
	plpUnknown = math.MaxUint64 - 1
)

// ParamValue reads a value as it stands in an RPC or a table-valued parameter.
func (d *Decoder) ParamValue(t *TypeInfo) Raw { return d.value(t, false) }

// ColumnValue reads a value as it stands in a row.
func (d *Decoder) ColumnValue(t *TypeInfo) Raw { return d.value(t, true) }

func (d *Decoder) value(t *TypeInfo, row bool) Raw {
	if d.err != nil {
		return Raw{}
	}
	switch t.lengthKind() {
	case lenFixed:
		if t.ID == TypeNull {
			return Raw{Null: true}
		}
		return Raw{Data: d.Take(t.Size)}
	case lenByte:
		n := int(d.Byte())
		if n == 0 {
			return Raw{Null: true}
		}
		if d.err == nil && !t.fits(n) {
			d.fail("value", "%s of %d bytes", t.Name(), n)
		}
		return Raw{Data: d.Take(n)}
	case lenByteFF:
		n := int(d.Byte())
		if n == 0xFF {
			return Raw{Null: true}
		}
		return Raw{Data: d.Take(n)}
	case lenShort:
		n := int(d.Uint16())
		if n == 0xFFFF {
			return Raw{Null: true}
		}
		if n > t.Size {
			d.fail("value", "%s of %d bytes", t.Name(), n)
		}
		return Raw{Data: d.Take(n)}
	case lenLong:
		if row {
			if n := int(d.Byte()); n == 0 {
				return Raw{Null: true}
			} else {
				d.Skip(n + 8) // text pointer and timestamp
			}
		}
		n := d.Uint32()
		if n == math.MaxUint32 {
			return Raw{Null: true}
		}
		if n > math.MaxInt32 {
			d.fail("value", "%s of %d bytes", t.Name(), n)
		}
		return Raw{Data: d.Take(int(n))}
	case lenVariant:
		n := d.Uint32()
		if n == 0 {
			return Raw{Null: d.err == nil}
		}
		if n > 8016+64 {
			d.fail("value", "sql_variant of %d bytes", n)
		}
		return Raw{Data: d.Take(int(n))}
	case lenPLP:
		return d.plp()
	}
	d.fail("value", "no value of %s is possible here", t.Name())
	return Raw{}
}

// fits reports whether a value of n bytes, lengths of one byte, is one of t.
func (t *TypeInfo) fits(n int) bool {
	switch t.ID {
	case TypeIntN, TypeFloatN, TypeMoneyN, TypeDateTimeN, TypeBitN, TypeGUID:
		return n <= t.Size && validSize(t.ID, n)
	case TypeDecimal, TypeDecimalN, TypeNumeric, TypeNumericN:
		return n == 5 || n == 9 || n == 13 || n == 17
	case TypeDateN, TypeTimeN, TypeDateTime2N, TypeDateTimeOffN:
		return n == t.Size
	}
	return true
}

// plp joins the chunks of a MAX value. A value of one chunk is not copied.
func (d *Decoder) plp() Raw {
	total := d.Uint64()
	if total == plpNull {
		return Raw{Null: true}
	}
	var first, joined []byte
	for chunks := 0; ; chunks++ {
		n := d.Uint32()
		if d.err != nil {
			return Raw{}
		}
		if n == 0 {
			break
		}
		if uint64(n) > uint64(d.Len()) {
			d.err = ErrShort
			return Raw{}
		}
		c := d.Take(int(n))
		if chunks == 0 {
			first = c
			continue
		}
		if chunks == 1 {
			joined = append(joined, first...)
		}
		joined = append(joined, c...)
		first = joined
	}
	if total != plpUnknown && uint64(len(first)) != total {
		d.fail("value", "chunks of %d bytes where %d were announced", len(first), total)
	}
	if first == nil {
		first = []byte{}
	}
	return Raw{Data: first}
}

// skip passes over a value of a row and reports whether it was NULL.
func (d *Decoder) skip(t *TypeInfo, row bool) (null bool) {
	if t.lengthKind() != lenPLP {
		return d.value(t, row).Null
	}
	total, sum := d.Uint64(), uint64(0)
	if total == plpNull {
		return true
	}
	for d.err == nil {
		n := d.Uint32()
		if n == 0 {
			break
		}
		if uint64(n) > uint64(d.Len()) {
			d.err = ErrShort
			return false
		}
		d.off += int(n)
		sum += uint64(n)
	}
	if total != plpUnknown && sum != total {
		d.fail("value", "chunks of %d bytes where %d were announced", sum, total)
	}
	return false
}

// Int reads an integer or bit of 1, 2, 4 or 8 bytes.
func Int(b []byte) int64 {
	switch len(b) {
	case 1:
		return int64(b[0])
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	case 8:
		return int64(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// Float reads a real or float.
func Float(b []byte) float64 {
	switch len(b) {
	case 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case 8:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// Money reads a money or smallmoney, in ten-thousandths.
func Money(b []byte) int64 {
	switch len(b) {
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	case 8:
		return int64(uint64(binary.LittleEndian.Uint32(b))<<32 | uint64(binary.LittleEndian.Uint32(b[4:])))
	}
	return 0
}

// Decimal reads a decimal: its sign, and its coefficient as little-endian bytes.
func Decimal(b []byte) (negative bool, coefficient []byte) {
	if len(b) == 0 {
		return false, nil
	}
	return b[0] == 0, b[1:]
}

// DateTime reads a datetime: days since 1900-01-01 and 1/300 seconds.
func DateTime(b []byte) (days int32, ticks uint32) {
	if len(b) != 8 {
		return 0, 0
	}
	return int32(binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint32(b[4:])
}

// SmallDateTime reads a smalldatetime: days since 1900-01-01 and minutes.
func SmallDateTime(b []byte) (days, minutes uint16) {
	if len(b) != 4 {
		return 0, 0
	}
	return binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[2:])
}

// Date reads a date: days since 0001-01-01.
func Date(b []byte) int32 {
	if len(b) != 3 {
		return 0
	}
	return int32(b[0]) | int32(b[1])<<8 | int32(b[2])<<16
}

// scaleFactor is 100 ns per unit of a time of that scale; read only.
var scaleFactor = [8]int64{10_000_000, 1_000_000, 100_000, 10_000, 1_000, 100, 10, 1}

// Time reads a time in units of 100 ns since midnight.
func Time(b []byte, scale uint8) int64 {
	var v uint64
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return int64(v) * scaleFactor[scale&7]
}

// DateTime2 reads a datetime2: days since 0001-01-01 and 100 ns since midnight.
func DateTime2(b []byte, scale uint8) (days int32, ticks int64) {
	if len(b) < 3 {
		return 0, 0
	}
	n := len(b) - 3
	return Date(b[n:]), Time(b[:n], scale)
}

// DateTimeOffset reads a datetimeoffset: UTC date and time, and its offset in minutes.
func DateTimeOffset(b []byte, scale uint8) (days int32, ticks int64, offset int16) {
	if len(b) < 5 {
		return 0, 0, 0
	}
	n := len(b) - 2
	days, ticks = DateTime2(b[:n], scale)
	return days, ticks, int16(binary.LittleEndian.Uint16(b[n:]))
}

// String reads text of any character type.
func (t *TypeInfo) String(b []byte) string {
	switch t.ID {
	case TypeNVarChar, TypeNChar, TypeNText, TypeXML:
		return DecodeUTF16(b)
	}
	return DecodeChar(b, t.Collation)
}

// Variant splits the bytes of a sql_variant into the type they are of and the value.
func Variant(b []byte) (TypeInfo, Raw, error) {
	d := NewDecoder(b)
	t := TypeInfo{ID: TypeID(d.Byte())}
	props := NewDecoder(d.Take(int(d.Byte())))
	switch t.ID {
	case TypeVarChar, TypeChar, TypeNVarChar, TypeNChar:
		copy(t.Collation[:], props.Take(5))
		t.Size = int(props.Uint16())
	case TypeVarBinary, TypeBinary:
		t.Size = int(props.Uint16())
	case TypeDecimalN, TypeNumericN:
		t.Prec, t.Scale = props.Byte(), props.Byte()
		t.Size = DecimalSize(t.Prec)
	case TypeTimeN, TypeDateTime2N, TypeDateTimeOffN:
		t.Scale = props.Byte()
	}
	if d.err == nil {
		d.err = props.err
	}
	if d.err != nil {
		return t, Raw{}, complete("sql_variant", d)
	}
	data := d.Rest()
	switch t.ID {
	case TypeVarChar, TypeChar, TypeNVarChar, TypeNChar, TypeVarBinary, TypeBinary, TypeDecimalN, TypeNumericN:
	case TypeTimeN, TypeDateTime2N, TypeDateTimeOffN, TypeDateN:
		if t.Scale > 7 || len(data) == 0 {
			d.fail("sql_variant", "a malformed value of %s", t.Name())
		}
		t.Size = len(data)
	case TypeGUID:
		t.Size = 16
	default:
		n, ok := fixedSizes[t.ID]
		if !ok {
			d.fail("sql_variant", "base type 0x%02X", byte(t.ID))
		}
		t.Size = n
	}
	if _, fixed := fixedSizes[t.ID]; (fixed || t.ID == TypeGUID) && len(data) != t.Size {
		d.fail("sql_variant", "%s of %d bytes", t.Name(), len(data))
	}
	return t, Raw{Data: data}, d.err
}
