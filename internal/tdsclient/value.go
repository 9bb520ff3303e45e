package tdsclient

import (
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"math/bits"
	"strconv"
	"time"

	"gostress/internal/tds"
)

// goValue is the value of type t that data encodes; data is not kept.
func goValue(t *tds.TypeInfo, data []byte) (any, error) {
	switch t.ID {
	case tds.TypeNull:
		return nil, nil
	case tds.TypeIntN, tds.TypeInt1, tds.TypeInt2, tds.TypeInt4, tds.TypeInt8:
		return tds.Int(data), nil
	case tds.TypeBit, tds.TypeBitN:
		return len(data) > 0 && data[0] != 0, nil
	case tds.TypeFloat4, tds.TypeFloat8, tds.TypeFloatN:
		return tds.Float(data), nil
	case tds.TypeMoney, tds.TypeMoney4, tds.TypeMoneyN:
		n := tds.Money(data)
		u := uint64(n)
		if n < 0 {
			u = -u
		}
		return decimalText(n < 0, 0, u, 4), nil
	case tds.TypeDecimal, tds.TypeDecimalN, tds.TypeNumeric, tds.TypeNumericN:
		neg, c := tds.Decimal(data)
		if len(c) > 16 {
			return nil, protocol("a decimal of %d bytes", len(c))
		}
		var w [16]byte
		copy(w[:], c)
		return decimalText(neg, binary.LittleEndian.Uint64(w[8:]), binary.LittleEndian.Uint64(w[:]), int(t.Scale)), nil
	case tds.TypeGUID:
		return guidText(data), nil
	case tds.TypeDateN:
		return date(int64(tds.Date(data)), 0), nil
	case tds.TypeTimeN:
		return date(0, tds.Time(data, t.Scale)*100), nil
	case tds.TypeDateTime2N:
		d, n := tds.DateTime2(data, t.Scale)
		return date(int64(d), n*100), nil
	case tds.TypeDateTimeOffN:
		d, n, off := tds.DateTimeOffset(data, t.Scale)
		return date(int64(d), n*100).In(time.FixedZone("", int(off)*60)), nil
	case tds.TypeDateTime, tds.TypeDateTime4, tds.TypeDateTimeN:
		if len(data) == 4 {
			d, m := tds.SmallDateTime(data)
			return date(day1900+int64(d), int64(m)*60e9), nil
		}
		d, n := tds.DateTime(data)
		// A tick is 1/300 s; SQL Server shows it rounded to the millisecond.
		ms := (int64(n)*10 + 1) / 3
		return date(day1900+int64(d), ms*1e6), nil
	case tds.TypeVarChar, tds.TypeChar, tds.TypeText, tds.TypeVarChar1, tds.TypeChar1:
		return charText(data, t.Collation), nil
	case tds.TypeNVarChar, tds.TypeNChar, tds.TypeNText, tds.TypeXML:
		return tds.DecodeUTF16(data), nil
	case tds.TypeVarBinary, tds.TypeBinary, tds.TypeImage, tds.TypeVarBinary1, tds.TypeBinary1, tds.TypeUDT:
		return append(make([]byte, 0, len(data)), data...), nil
	case tds.TypeVariant:
		base, raw, err := tds.Variant(data)
		if err != nil {
			return nil, err
		}
		return goValue(&base, raw.Data)
	}
	return nil, protocol("a value of type 0x%02X", byte(t.ID))
}

// date is a point in time by its day since 0001-01-01 and nanoseconds, in UTC.
func date(days, ns int64) time.Time {
	return time.Unix((days-unixDay)*secondsPerDay+ns/1e9, ns%1e9).UTC()
}

func guidText(data []byte) string {
	var g [16]byte
	copy(g[:], data)
	swapGUID(&g)
	var text [36]byte
	hex.Encode(text[:], g[:4])
	hex.Encode(text[9:], g[4:6])
	hex.Encode(text[14:], g[6:8])
	hex.Encode(text[19:], g[8:10])
	hex.Encode(text[24:], g[10:])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	for i, c := range text {
		if c >= 'a' {
			text[i] = c - 'a' + 'A'
		}
	}
	return string(text[:])
}

// decimalText writes a coefficient of 128 bits with its decimal point.
func decimalText(neg bool, hi, lo uint64, scale int) string {
	var digits []byte
	if hi == 0 {
		digits = strconv.AppendUint(make([]byte, 0, 24), lo, 10)
	} else {
		const e19 = 10_000_000_000_000_000_000
		var q, rest uint64
		if hi < e19 {
			q, rest = bits.Div64(hi, lo, e19)
			digits = strconv.AppendUint(make([]byte, 0, 48), q, 10)
			tail := strconv.AppendUint(make([]byte, 0, 24), rest, 10)
			for range 19 - len(tail) {
				digits = append(digits, '0')
			}
			digits = append(digits, tail...)
		} else { // beyond 38 digits: no decimal has them, but the bytes may
			n := new(big.Int).Lsh(new(big.Int).SetUint64(hi), 64)
			digits = n.Or(n, new(big.Int).SetUint64(lo)).Append(nil, 10)
		}
	}
	out := make([]byte, 0, len(digits)+scale+3)
	if neg && (hi|lo) != 0 {
		out = append(out, '-')
	}
	at := len(digits) - scale
	if at <= 0 {
		out = append(out, '0')
	} else {
		out = append(out, digits[:at]...)
		digits = digits[at:]
	}
	if scale > 0 {
		out = append(out, '.')
		for ; at < 0; at++ {
			out = append(out, '0')
		}
		out = append(out, digits...)
	}
	return string(out)
}
