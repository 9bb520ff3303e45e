package types

import (
	"time"

	"gostress/internal/engine/sqlerr"
)

// Units and bounds of time. Ticks are of 100 ns.
const (
	TicksPerSecond = 10_000_000
	TicksPerMinute = 60 * TicksPerSecond
	TicksPerDay    = 86400 * TicksPerSecond

	ticks300PerDay = 24 * 60 * 60 * 300
	unixEpochDays  = 719162  // 1970-01-01 in days since 0001-01-01
	epoch1900      = 693595  // 1900-01-01 likewise
	maxDays        = 3652058 // 9999-12-31 likewise

	minDateTime      = -53690 * ticks300PerDay    // 1753-01-01
	maxDateTime      = 2958464*ticks300PerDay - 1 // the end of 9999-12-31
	maxSmallDateTime = 65536*1440 - 1             // the end of 2079-06-06
)

// TicksOf is the wall clock time of t in ticks of 100 ns since 0001-01-01.
func TicksOf(t time.Time) int64 {
	_, off := t.Zone()
	sec := t.Unix() + int64(off) + unixEpochDays*86400
	return sec*TicksPerSecond + int64(t.Nanosecond())/100
}

// DaysOf is a date of the proleptic Gregorian calendar in days since
// 0001-01-01. The date need not be valid: day 0 is the day before the first.
func DaysOf(year, month, day int) int64 {
	y, m := int64(year), int64(month)
	if m <= 2 {
		y--
	}
	era := floorDiv(y, 400)
	yoe := y - era*400
	mp := (m + 9) % 12
	doy := (153*mp+2)/5 + int64(day) - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 306
}

// CivilOf is the inverse of DaysOf.
func CivilOf(days int64) (year, month, day int) {
	z := days + 306
	era := floorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d := doy - (153*mp+2)/5 + 1
	m := mp + 3
	if m > 12 {
		m -= 12
	}
	y := yoe + era*400
	if m <= 2 {
		y++
	}
	return int(y), int(m), int(d)
}

// DaysInMonth is the number of days of a month.
func DaysInMonth(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// LocalTicks is any date or time value as datetime2 ticks: a datetimeoffset in
// its own zone, a time on 1900-01-01.
func (v Value) LocalTicks() int64 {
	switch v.kind {
	case KindDate:
		return v.n * TicksPerDay
	case KindTime:
		return epoch1900*TicksPerDay + v.n
	case KindDateTimeOffset:
		return v.n + int64(v.off)*TicksPerMinute
	case KindDateTime:
		return epoch1900*TicksPerDay + ticksOf300(v.n)
	case KindSmallDateTime:
		return epoch1900*TicksPerDay + v.n*TicksPerMinute
	}
	return v.n
}

// ticksOf300 turns 1/300 s into ticks, rounded.
func ticksOf300(n int64) int64 { return quoRound(n*100000, 3) }

// roundTicks rounds half up to the places of a scale.
func roundTicks(ticks int64, scale uint8) int64 {
	if scale >= 7 {
		return ticks
	}
	u := pow10[7-scale]
	return floorDiv(ticks+u/2, u) * u
}

// Temporal makes a value of a date or time type from local datetime2 ticks and
// an offset, which counts for datetimeoffset only. from names the type it
// came from in error 242.
func Temporal(t Type, ticks int64, offset int, from string) (Value, error) {
	const maxTicks = (maxDays+1)*TicksPerDay - 1
	if ticks < 0 || ticks > maxTicks {
		return Value{}, sqlerr.DateOutOfRange(from, t.Name())
	}
	switch t.Kind {
	case KindDate:
		return NewDate(ticks / TicksPerDay), nil
	case KindTime:
		r := roundTicks(ticks%TicksPerDay, t.Scale)
		return NewTime(r%TicksPerDay, t.Scale), nil
	case KindDateTime2:
		r := roundTicks(ticks, t.Scale)
		if r > maxTicks {
			r -= pow10[7-t.Scale]
		}
		return NewDateTime2(r, t.Scale), nil
	case KindDateTimeOffset:
		r := roundTicks(ticks, t.Scale)
		if r > maxTicks {
			r -= pow10[7-t.Scale]
		}
		utc := r - int64(offset)*TicksPerMinute
		if utc < 0 || utc > maxTicks {
			return Value{}, sqlerr.DateOutOfRange(from, t.Name())
		}
		return NewDateTimeOffset(utc, offset, t.Scale), nil
	case KindDateTime:
		n := quoRound((ticks-epoch1900*TicksPerDay)*3, 100000)
		if n < minDateTime || n > maxDateTime {
			return Value{}, sqlerr.DateOutOfRange(from, "datetime")
		}
		return Value{kind: KindDateTime, n: n}, nil
	case KindSmallDateTime:
		// 29.999 s and more go up: to the millisecond first, then to the minute.
		n := floorDiv(ticks-epoch1900*TicksPerDay+300_010_000, TicksPerMinute)
		if n < 0 || n > maxSmallDateTime {
			return Value{}, sqlerr.DateOutOfRange(from, "smalldatetime")
		}
		return Value{kind: KindSmallDateTime, n: n}, nil
	}
	return Value{}, sqlerr.TypeClash(from, t.Name())
}

// toTemporal converts between date and time kinds.
func (v Value) toTemporal(t Type) (Value, error) {
	if v.kind == t.Kind {
		switch t.Kind {
		case KindTime, KindDateTime2, KindDateTimeOffset:
			if v.scale <= t.Scale {
				v.scale = t.Scale
				return v, nil
			}
		default:
			return v, nil
		}
	}
	if (v.kind == KindDate && t.Kind == KindTime) || (v.kind == KindTime && t.Kind == KindDate) {
		return Value{}, sqlerr.TypeClash(v.kind.String(), t.Name())
	}
	return Temporal(t, v.LocalTicks(), int(v.off), v.kind.String())
}

// SwitchOffset is the same instant in another zone. ok is false when the
// offset is beyond 14 hours.
func (v Value) SwitchOffset(minutes int) (Value, bool) {
	if minutes < -840 || minutes > 840 {
		return Value{}, false
	}
	v.off = int16(minutes)
	return v, true
}
