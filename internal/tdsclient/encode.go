package tdsclient

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"time"

	"gostress/internal/tds"
)

// appendValue appends v as a parameter of type t carries it. What does not fit
// is an error: nothing is cut or rounded but fractions of a second.
func appendValue(b []byte, t *tds.TypeInfo, v any) ([]byte, error) {
	if v == nil {
		return tds.AppendParamNull(b, t), nil
	}
	switch t.ID {
	case tds.TypeIntN, tds.TypeBitN:
		return appendInteger(b, t, v)
	case tds.TypeFloatN:
		switch v := v.(type) {
		case float64:
			if math.IsNaN(v) || math.IsInf(v, 0) || t.Size == 4 && math.IsInf(float64(float32(v)), 0) {
				return b, fmt.Errorf("%v does not fit a %s", v, t.Name())
			}
			return tds.AppendFloat(b, t, v), nil
		case int64:
			return tds.AppendFloat(b, t, float64(v)), nil
		}
	case tds.TypeDecimalN, tds.TypeNumericN, tds.TypeMoneyN:
		return appendNumber(b, t, v)
	case tds.TypeDateN, tds.TypeTimeN, tds.TypeDateTime2N, tds.TypeDateTimeOffN, tds.TypeDateTimeN:
		if d, ok := v.(time.Time); ok {
			return appendTime(b, t, d)
		}
	case tds.TypeGUID:
		switch v := v.(type) {
		case string:
			g, ok := parseGUID(v)
			if !ok {
				return b, fmt.Errorf("%q is no uniqueidentifier", v)
			}
			return tds.AppendGUID(b, g), nil
		case []byte:
			if len(v) == 16 {
				return tds.AppendGUID(b, [16]byte(v)), nil
			}
		}
	case tds.TypeVarBinary, tds.TypeBinary, tds.TypeImage:
		if d, ok := v.([]byte); ok {
			if t.Size >= 0 && len(d) > t.Size {
				return b, fmt.Errorf("%d bytes do not fit a %s", len(d), t.Name())
			}
			return tds.AppendParamBytes(b, t, d), nil
		}
	case tds.TypeVarChar, tds.TypeChar, tds.TypeNVarChar, tds.TypeNChar, tds.TypeText, tds.TypeNText, tds.TypeXML:
		if s, ok := v.(string); ok {
			return appendText(b, t, s)
		}
	case tds.TypeVariant:
		return appendVariant(b, v)
	}
	return b, fmt.Errorf("a %T cannot be sent as %s", v, t.Name())
}

func appendInteger(b []byte, t *tds.TypeInfo, v any) ([]byte, error) {
	var n int64
	switch v := v.(type) {
	case int64:
		n = v
	case bool:
		if v {
			n = 1
		}
	default:
		return b, fmt.Errorf("a %T cannot be sent as %s", v, t.Name())
	}
	fits := true
	switch {
	case t.ID == tds.TypeBitN:
		fits = n == 0 || n == 1
	case t.Size == 1:
		fits = n == int64(uint8(n))
	case t.Size == 2:
		fits = n == int64(int16(n))
	case t.Size == 4:
		fits = n == int64(int32(n))
	}
	if !fits {
		return b, fmt.Errorf("%d does not fit a %s", n, t.Name())
	}
	return tds.AppendInt(b, t, n), nil
}

func appendText(b []byte, t *tds.TypeInfo, s string) ([]byte, error) {
	switch t.ID {
	case tds.TypeNText:
		return tds.AppendParamBytes(b, t, tds.AppendUTF16(nil, s)), nil
	case tds.TypeText:
		return tds.AppendParamBytes(b, t, tds.AppendChar(nil, s, t.Collation)), nil
	}
	at := len(b)
	if t.Size >= 0 {
		n := 0
		if t.ID == tds.TypeNVarChar || t.ID == tds.TypeNChar {
			n = 2 * tds.UTF16Len(s)
		} else {
			for range s {
				n++ // one byte a character in the code page sent
			}
		}
		if n > t.Size {
			return b[:at], fmt.Errorf("a string of %d bytes does not fit a %s", n, t.Name())
		}
	}
	return tds.AppendString(b, t, s), nil
}

func appendNumber(b []byte, t *tds.TypeInfo, v any) ([]byte, error) {
	var neg bool
	var hi, lo uint64
	scale := int(t.Scale)
	if t.ID == tds.TypeMoneyN {
		scale = 4
	}
	ok := true
	switch v := v.(type) {
	case string:
		neg, hi, lo, ok = parseDecimal(v, scale)
	case int64:
		if neg = v < 0; neg {
			lo = -uint64(v)
		} else {
			lo = uint64(v)
		}
		for range scale {
			if hi, lo, ok = times10(hi, lo, 0); !ok {
				break
			}
		}
	default:
		return b, fmt.Errorf("a %T cannot be sent as %s", v, t.Name())
	}
	if t.ID == tds.TypeMoneyN {
		limit := uint64(math.MaxInt64)
		if t.Size == 4 {
			limit = math.MaxInt32
		}
		n := int64(lo)
		if neg {
			n, limit = -n, limit+1
		}
		if !ok || hi != 0 || lo > limit {
			return b, fmt.Errorf("%v is no %s", v, t.Name())
		}
		return tds.AppendMoney(b, t, n), nil
	}
	if ok {
		mh, ml := uint64(0), uint64(1)
		for range t.Prec {
			mh, ml, _ = times10(mh, ml, 0)
		}
		ok = hi < mh || hi == mh && lo < ml
	}
	if !ok {
		return b, fmt.Errorf("%v is no %s", v, t.Name())
	}
	return tds.AppendDecimal(b, t, neg, lo, hi), nil
}

// times10 is ten times a number of 128 bits, plus d; false if it is too large.
func times10(hi, lo, d uint64) (uint64, uint64, bool) {
	over, h := bits.Mul64(hi, 10)
	c, l := bits.Mul64(lo, 10)
	l, carry := bits.Add64(l, d, 0)
	h, carry = bits.Add64(h, c, carry)
	return h, l, over == 0 && carry == 0
}

// parseDecimal reads digits with an optional sign and point as a coefficient of
// that scale. More digits behind the point must be zeros.
func parseDecimal(s string, scale int) (neg bool, hi, lo uint64, ok bool) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	whole, frac, _ := strings.Cut(s, ".")
	if whole == "" && frac == "" {
		return
	}
	for len(frac) > scale && frac[len(frac)-1] == '0' {
		frac = frac[:len(frac)-1]
	}
	if len(frac) > scale {
		return
	}
	ok = true
	digit := func(c byte) {
		if c < '0' || c > '9' {
			ok = false
		}
		if ok {
			hi, lo, ok = times10(hi, lo, uint64(c-'0'))
		}
	}
	for i := range len(whole) {
		digit(whole[i])
	}
	for i := range scale {
		if i < len(frac) {
			digit(frac[i])
		} else {
			digit('0')
		}
	}
	return
}

const (
	secondsPerDay = 86400
	unixDay       = 719162 // 1970-01-01 in days since 0001-01-01
	day1900       = 693595
	maxDay        = 3652058 // 9999-12-31
)

// split gives the date, in days since 0001-01-01, and the time of day in
// nanoseconds that a clock in d's place shows, or UTC's.
func split(d time.Time, utc bool) (days, ns int64) {
	sec := d.Unix()
	if !utc {
		_, off := d.Zone()
		sec += int64(off)
	}
	days = sec / secondsPerDay
	if sec %= secondsPerDay; sec < 0 {
		sec += secondsPerDay
		days--
	}
	return days + unixDay, sec*1e9 + int64(d.Nanosecond())
}

func appendTime(b []byte, t *tds.TypeInfo, d time.Time) ([]byte, error) {
	days, ns := split(d, t.ID == tds.TypeDateTimeOffN)
	if t.ID != tds.TypeTimeN && (days < 0 || days > maxDay) {
		return b, fmt.Errorf("%s does not fit a %s", d.Format(time.DateTime), t.Name())
	}
	switch t.ID {
	case tds.TypeDateN:
		return tds.AppendDate(b, int32(days)), nil
	case tds.TypeTimeN:
		return tds.AppendTime(b, t, ns/100), nil
	case tds.TypeDateTime2N:
		return tds.AppendDateTime2(b, t, int32(days), ns/100), nil
	case tds.TypeDateTimeOffN:
		_, off := d.Zone()
		return tds.AppendDateTimeOffset(b, t, int32(days), ns/100, int16(off/60)), nil
	}
	days -= day1900
	if t.Size == 4 {
		minutes := (ns + 30e9) / 60e9
		if minutes == 24*60 {
			minutes, days = 0, days+1
		}
		if days < 0 || days > math.MaxUint16 {
			return b, fmt.Errorf("%s does not fit a smalldatetime", d.Format(time.DateTime))
		}
		return tds.AppendSmallDateTime(b, uint16(days), uint16(minutes)), nil
	}
	ticks := (ns*3 + 5e6) / 1e7
	if ticks == 300*secondsPerDay {
		ticks, days = 0, days+1
	}
	if days < -53690 || days > maxDay-day1900 { // 1753-01-01 and later
		return b, fmt.Errorf("%s does not fit a datetime", d.Format(time.DateTime))
	}
	return tds.AppendDateTime(b, int32(days), uint32(ticks)), nil
}

// parseGUID reads the text of a uniqueidentifier, braces allowed, into SQL
// Server's order of bytes.
func parseGUID(s string) (g [16]byte, ok bool) {
	if len(s) == 38 && s[0] == '{' && s[37] == '}' {
		s = s[1:37]
	}
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return g, false
	}
	var text [32]byte
	n := copy(text[:], s[:8])
	n += copy(text[n:], s[9:13])
	n += copy(text[n:], s[14:18])
	n += copy(text[n:], s[19:23])
	copy(text[n:], s[24:])
	if _, err := hex.Decode(g[:], text[:]); err != nil {
		return g, false
	}
	swapGUID(&g)
	return g, true
}

// swapGUID changes between the text's order of bytes and SQL Server's.
func swapGUID(g *[16]byte) {
	g[0], g[1], g[2], g[3] = g[3], g[2], g[1], g[0]
	g[4], g[5] = g[5], g[4]
	g[6], g[7] = g[7], g[6]
}

// appendVariant sends v as a sql_variant of the type that is nearest to it.
func appendVariant(b []byte, v any) ([]byte, error) {
	var t SQLType
	switch v := v.(type) {
	case int64:
		t.Name = "bigint"
	case float64:
		t.Name = "float"
	case bool:
		t.Name = "bit"
	case string:
		t.Name = "nvarchar"
	case []byte:
		t.Name = "varbinary"
	case time.Time:
		t.Name, t.Scale = "datetime2", 7
	default:
		return b, fmt.Errorf("a %T cannot be sent as sql_variant", v)
	}
	i, err := t.info()
	if err != nil {
		return b, err
	}
	b = tds.AppendVariant(b, &i, func(b []byte) []byte {
		b, err = appendValue(b, &i, v)
		if err != nil {
			b = tds.AppendParamNull(b, &i)
		}
		return b
	})
	return b, err
}
