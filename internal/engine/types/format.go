package types

import (
	"fmt"
	"strconv"
	"strings"

	"gostress/internal/engine/sqlerr"
)

// Format is the text of CAST(v AS nvarchar(max)); NULL for NULL.
func Format(v Value) string {
	switch v.kind.info().class {
	case classNull:
		return "NULL"
	case classInt:
		return strconv.FormatInt(v.n, 10)
	case classString:
		return v.Str()
	}
	s, err := v.toString(NVarChar(Max), 0)
	if err != nil {
		return ""
	}
	return s.Str()
}

// clock is a local time taken apart.
type clock struct {
	year, month, day  int
	hour, min, sec    int
	frac              int64 // ticks of 100 ns
	scale             int   // places of the fraction the type has
	offset            int
	hasDate, hasClock bool
}

func (v Value) clock() clock {
	ticks := v.LocalTicks()
	days := floorDiv(ticks, TicksPerDay)
	rest := floorMod(ticks, TicksPerDay)
	c := clock{offset: int(v.off), scale: int(v.scale), hasDate: v.kind != KindTime, hasClock: v.kind != KindDate}
	c.year, c.month, c.day = CivilOf(days)
	c.hour, c.min = int(rest/(60*TicksPerMinute)), int(rest/TicksPerMinute%60)
	c.sec, c.frac = int(rest/TicksPerSecond%60), rest%TicksPerSecond
	if v.kind == KindDateTime {
		// A datetime shows thousandths: 0, 3 and 7.
		c.scale = 3
		c.frac = quoRound(c.frac, 10000) * 10000
		if c.frac == TicksPerSecond {
			return NewDateTime2(ticks-ticks%TicksPerSecond+TicksPerSecond, 3).clock()
		}
	}
	return c
}

func (c clock) date() string { return fmt.Sprintf("%04d-%02d-%02d", c.year, c.month, c.day) }

func (c clock) hms() string { return fmt.Sprintf("%02d:%02d:%02d", c.hour, c.min, c.sec) }

// fraction is sep and the places of the type, nothing for none.
func (c clock) fraction(sep string) string {
	if c.scale == 0 {
		return ""
	}
	return sep + fmt.Sprintf("%07d", c.frac)[:c.scale]
}

// ampm is the hour of a 12-hour clock and AM or PM.
func (c clock) ampm() (int, string) {
	h := c.hour % 12
	if h == 0 {
		h = 12
	}
	if c.hour < 12 {
		return h, "AM"
	}
	return h, "PM"
}

func (c clock) zone() string {
	sign, m := '+', c.offset
	if m < 0 {
		sign, m = '-', -m
	}
	return fmt.Sprintf("%c%02d:%02d", sign, m/60, m%60)
}

// temporalString writes a date or time as CONVERT's style says; style 0 means
// the type's own: 0 for datetime and smalldatetime, 121 for the others.
func (v Value) temporalString(style int, to Type) (string, error) {
	c := v.clock()
	legacy := v.kind == KindDateTime || v.kind == KindSmallDateTime
	if style == 0 && !legacy {
		style = 121
	}
	join := func(date, clock string) string {
		switch {
		case !c.hasDate:
			return clock
		case !c.hasClock:
			return date
		}
		return date + " " + clock
	}
	withZone := func(s string) string {
		if v.kind == KindDateTimeOffset {
			return s + " " + c.zone()
		}
		return s
	}
	mon := types3(c.month)
	h12, half := c.ampm()
	var date string
	switch style {
	case 0, 100:
		return withZone(join(fmt.Sprintf("%s %2d %04d", mon, c.day, c.year), fmt.Sprintf("%2d:%02d%s", h12, c.min, half))), nil
	case 9, 109:
		return withZone(join(fmt.Sprintf("%s %2d %04d", mon, c.day, c.year),
			fmt.Sprintf("%2d:%02d:%02d%s%s", h12, c.min, c.sec, c.fraction(legacySep(legacy)), half))), nil
	case 13, 113:
		return withZone(join(fmt.Sprintf("%02d %s %04d", c.day, mon, c.year), c.hms()+c.fraction(legacySep(legacy)))), nil
	case 20, 120:
		return withZone(join(c.date(), c.hms())), nil
	case 21, 25, 121:
		return withZone(join(c.date(), c.hms()+c.fraction("."))), nil
	case 126, 127:
		frac := c.fraction(".")
		if legacy && c.frac == 0 {
			frac = ""
		}
		s := join(c.date(), c.hms()+frac)
		s = strings.Replace(s, " ", "T", 1)
		if v.kind == KindDateTimeOffset {
			if style == 127 {
				u := v
				u.off = 0
				z, err := NewDateTime2(u.n, v.scale).temporalString(126, to)
				return z + "Z", err
			}
			s += c.zone()
		}
		return s, nil
	case 8, 24, 108:
		if !c.hasClock {
			return "", sqlerr.InvalidStyle(style, v.kind.String(), to.Name())
		}
		return c.hms(), nil
	case 14, 114:
		if !c.hasClock {
			return "", sqlerr.InvalidStyle(style, v.kind.String(), to.Name())
		}
		return c.hms() + c.fraction(legacySep(legacy)), nil
	case 22:
		return join(fmt.Sprintf("%02d/%02d/%02d", c.month, c.day, c.year%100), fmt.Sprintf("%2d:%02d:%02d %s", h12, c.min, c.sec, half)), nil
	case 23:
		date = c.date()
	default:
		var ok bool
		if date, ok = c.dateStyle(style); !ok {
			if style == 130 || style == 131 {
				return "", sqlerr.Unsupported(fmt.Sprintf("CONVERT style %d", style))
			}
			return "", sqlerr.InvalidStyle(style, v.kind.String(), to.Name())
		}
	}
	if !c.hasDate {
		return "", sqlerr.InvalidStyle(style, v.kind.String(), to.Name())
	}
	return date, nil
}

func legacySep(legacy bool) string {
	if legacy {
		return ":"
	}
	return "."
}

func types3(month int) string { return MonthNames[month-1][:3] }

// dateStyle writes the date alone; 100 and more have the century.
func (c clock) dateStyle(style int) (string, bool) {
	y := fmt.Sprintf("%04d", c.year)
	if style < 100 {
		y = y[2:]
	}
	switch style % 100 {
	case 1:
		return fmt.Sprintf("%02d/%02d/%s", c.month, c.day, y), true
	case 2:
		return fmt.Sprintf("%s.%02d.%02d", y, c.month, c.day), true
	case 3:
		return fmt.Sprintf("%02d/%02d/%s", c.day, c.month, y), true
	case 4:
		return fmt.Sprintf("%02d.%02d.%s", c.day, c.month, y), true
	case 5:
		return fmt.Sprintf("%02d-%02d-%s", c.day, c.month, y), true
	case 6:
		return fmt.Sprintf("%02d %s %s", c.day, types3(c.month), y), true
	case 7:
		return fmt.Sprintf("%s %02d, %s", types3(c.month), c.day, y), true
	case 10:
		return fmt.Sprintf("%02d-%02d-%s", c.month, c.day, y), true
	case 11:
		return fmt.Sprintf("%s/%02d/%02d", y, c.month, c.day), true
	case 12:
		return fmt.Sprintf("%s%02d%02d", y, c.month, c.day), true
	}
	return "", false
}
