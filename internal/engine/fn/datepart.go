package fn

import (
	"strings"

	"gostress/internal/engine/sqlerr"
)

// Part is a datepart of DATEADD and its like.
type Part uint8

// The dateparts.
const (
	Year Part = iota
	Quarter
	Month
	DayOfYear
	Day
	Week
	Weekday
	Hour
	Minute
	Second
	Millisecond
	Microsecond
	Nanosecond
	TZOffset
	ISOWeek
)

var parts = map[string]Part{
	"year": Year, "yy": Year, "yyyy": Year,
	"quarter": Quarter, "qq": Quarter, "q": Quarter,
	"month": Month, "mm": Month, "m": Month,
	"dayofyear": DayOfYear, "dy": DayOfYear, "y": DayOfYear,
	"day": Day, "dd": Day, "d": Day,
	"week": Week, "wk": Week, "ww": Week,
	"weekday": Weekday, "dw": Weekday, "w": Weekday,
	"hour": Hour, "hh": Hour,
	"minute": Minute, "mi": Minute, "n": Minute,
	"second": Second, "ss": Second, "s": Second,
	"millisecond": Millisecond, "ms": Millisecond,
	"microsecond": Microsecond, "mcs": Microsecond,
	"nanosecond": Nanosecond, "ns": Nanosecond,
	"tzoffset": TZOffset, "tz": TZOffset,
	"iso_week": ISOWeek, "isowk": ISOWeek, "isoww": ISOWeek,
}

var partNames = [...]string{"year", "quarter", "month", "dayofyear", "day", "week", "weekday", "hour", "minute",
	"second", "millisecond", "microsecond", "nanosecond", "tzoffset", "iso_week"}

// String is the datepart's full name.
func (p Part) String() string { return partNames[p] }

// ParsePart reads the name or abbreviation of a datepart; function is for the
// message of error 155.
func ParsePart(word, function string) (Part, error) {
	p, ok := parts[strings.ToLower(word)]
	if !ok {
		return 0, sqlerr.UnknownOption(word, function)
	}
	return p, nil
}

// ticksOf is the length of a datepart in ticks of 100 ns; 0 for those of
// uneven length and for nanoseconds.
func (p Part) ticks() int64 {
	switch p {
	case DayOfYear, Day, Weekday:
		return ticksPerDay
	case Week:
		return 7 * ticksPerDay
	case Hour:
		return 3600 * ticksPerSecond
	case Minute:
		return 60 * ticksPerSecond
	case Second:
		return ticksPerSecond
	case Millisecond:
		return 10_000
	case Microsecond:
		return 10
	}
	return 0
}
