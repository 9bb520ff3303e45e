package fn

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

const (
	ticksPerDay    = types.TicksPerDay
	ticksPerSecond = types.TicksPerSecond
)

var dateFunctions = []Func{
	{Name: "DATEADD", MinArgs: 3, MaxArgs: 3, Part: true, Deterministic: true, Type: dateAddType, Eval: strict(evalDateAdd)},
	{Name: "DATEDIFF", MinArgs: 3, MaxArgs: 3, Part: true, Deterministic: true, Type: fixedType(types.Int), Eval: strict(evalDateDiff)},
	{Name: "DATEDIFF_BIG", MinArgs: 3, MaxArgs: 3, Part: true, Deterministic: true, Type: fixedType(types.BigInt), Eval: strict(evalDateDiffBig)},
	{Name: "DATEPART", MinArgs: 2, MaxArgs: 2, Part: true, Deterministic: true, Type: fixedType(types.Int), Eval: strict(evalDatePart)},
	{Name: "DATENAME", MinArgs: 2, MaxArgs: 2, Part: true, Deterministic: true, Type: fixedType(types.NVarChar(30)), Eval: strict(evalDateName)},
	{Name: "DATETRUNC", MinArgs: 2, MaxArgs: 2, Part: true, Deterministic: true, Type: dateTruncType, Eval: strict(evalDateTrunc)},
	{Name: "YEAR", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Int), Eval: partOf(Year)},
	{Name: "MONTH", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Int), Eval: partOf(Month)},
	{Name: "DAY", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Int), Eval: partOf(Day)},
	{Name: "EOMONTH", MinArgs: 1, MaxArgs: 2, Deterministic: true, Type: fixedType(types.Date), Eval: evalEOMonth},
	{Name: "DATEFROMPARTS", MinArgs: 3, MaxArgs: 3, Deterministic: true, Type: fixedType(types.Date), Eval: strict(evalDateFromParts)},
	{Name: "TIMEFROMPARTS", MinArgs: 5, MaxArgs: 5, Deterministic: true, Type: fixedType(types.Time(7)), Eval: strict(evalTimeFromParts)},
	{Name: "DATETIMEFROMPARTS", MinArgs: 7, MaxArgs: 7, Deterministic: true, Type: fixedType(types.DateTime), Eval: strict(evalDateTimeFromParts)},
	{Name: "SMALLDATETIMEFROMPARTS", MinArgs: 5, MaxArgs: 5, Deterministic: true, Type: fixedType(types.SmallDateTime), Eval: strict(evalSmallDateTimeFromParts)},
	{Name: "DATETIME2FROMPARTS", MinArgs: 8, MaxArgs: 8, Deterministic: true, Type: fixedType(types.DateTime2(7)), Eval: strict(evalDateTime2FromParts)},
	{Name: "DATETIMEOFFSETFROMPARTS", MinArgs: 10, MaxArgs: 10, Deterministic: true, Type: fixedType(types.DateTimeOffset(7)), Eval: strict(evalDateTimeOffsetFromParts)},
	{Name: "ISDATE", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Int), Eval: evalIsDate},
	{Name: "SWITCHOFFSET", MinArgs: 2, MaxArgs: 2, Deterministic: true, Type: fixedType(types.DateTimeOffset(7)), Eval: strict(evalSwitchOffset)},
	{Name: "TODATETIMEOFFSET", MinArgs: 2, MaxArgs: 2, Deterministic: true, Type: fixedType(types.DateTimeOffset(7)), Eval: strict(evalToDateTimeOffset)},
}

// instant is an argument as a date or time value: text becomes datetime2(7)
// (with its offset when it has one), numbers datetime.
func instant(v types.Value) (types.Value, error) {
	switch k := v.Kind(); {
	case k.IsTemporal():
		return v, nil
	case k.IsString():
		return types.Convert(v, types.DateTimeOffset(7), 0)
	}
	return types.Assign(v, types.DateTime)
}

func dateAddType(args []types.Type) (types.Type, error) {
	if args[2].Kind.IsTemporal() {
		return args[2], nil
	}
	return types.DateTime, nil
}

func dateTruncType(args []types.Type) (types.Type, error) {
	if args[1].Kind.IsTemporal() {
		return args[1], nil
	}
	return types.DateTime2(7), nil
}

func evalDateAdd(args []types.Value) (types.Value, error) {
	p := Part(args[0].Int())
	var n int64
	if args[1].Kind().IsNumeric() || args[1].Kind().IsString() {
		c, err := types.Convert(args[1], types.Int, 0)
		if err != nil {
			return types.Value{}, err
		}
		n = c.Int()
	}
	v := args[2]
	if !v.Kind().IsTemporal() {
		var err error
		if v, err = types.Assign(v, types.DateTime); err != nil {
			return types.Value{}, err
		}
	}
	k := v.Kind()
	t := types.Type{Kind: k, Scale: v.Scale()}
	unsupported := p == TZOffset || p == ISOWeek ||
		(k == types.KindDate && p >= Hour) || (k == types.KindTime && p < Hour) ||
		((k == types.KindDateTime || k == types.KindSmallDateTime) && p >= Microsecond)
	if unsupported {
		return types.Value{}, sqlerr.DatepartUnsupported(p.String(), "dateadd", t.Name())
	}
	ticks := v.LocalTicks()
	switch p {
	case Year, Quarter, Month:
		months := n
		if p == Year {
			months *= 12
		} else if p == Quarter {
			months *= 3
		}
		var ok bool
		if ticks, ok = addMonths(ticks, months); !ok {
			return types.Value{}, sqlerr.DateAddOverflow(t.Name())
		}
	case Nanosecond:
		ticks += int64(math.Round(float64(n) / 100))
	default:
		u := p.ticks()
		if n > math.MaxInt64/8/u || n < -math.MaxInt64/8/u {
			return types.Value{}, sqlerr.DateAddOverflow(t.Name())
		}
		ticks += n * u
	}
	if k == types.KindTime {
		day := ticks % ticksPerDay
		if day < 0 {
			day += ticksPerDay
		}
		return types.NewTime(day, v.Scale()), nil
	}
	r, err := types.Temporal(t, ticks, v.OffsetMinutes(), t.Name())
	if err != nil {
		return types.Value{}, sqlerr.DateAddOverflow(t.Name())
	}
	return r, nil
}

// addMonths keeps the day of the month, or takes the month's last day.
func addMonths(ticks, months int64) (int64, bool) {
	days, rest := ticks/ticksPerDay, ticks%ticksPerDay
	y, m, d := types.CivilOf(days)
	total := int64(y)*12 + int64(m-1) + months
	if total < 12 || total >= 120000 {
		return 0, false
	}
	y, m = int(total/12), int(total%12)+1
	d = min(d, types.DaysInMonth(y, m))
	return types.DaysOf(y, m, d)*ticksPerDay + rest, true
}

// diff counts the boundaries of a datepart between two instants.
func diff(p Part, a, b types.Value) (int64, error) {
	a, err := instant(a)
	if err != nil {
		return 0, err
	}
	if b, err = instant(b); err != nil {
		return 0, err
	}
	x, y := a.LocalTicks(), b.LocalTicks()
	if a.Kind() == types.KindDateTimeOffset && b.Kind() == types.KindDateTimeOffset {
		x, y = a.Ticks(), b.Ticks()
	}
	switch p {
	case Year, Quarter, Month:
		y1, m1, _ := types.CivilOf(x / ticksPerDay)
		y2, m2, _ := types.CivilOf(y / ticksPerDay)
		switch p {
		case Year:
			return int64(y2 - y1), nil
		case Quarter:
			return int64((y2*4 + (m2-1)/3) - (y1*4 + (m1-1)/3)), nil
		}
		return int64((y2*12 + m2) - (y1*12 + m1)), nil
	case Week:
		// Weeks begin on Sunday; 0001-01-01 was a Monday.
		return (y/ticksPerDay+1)/7 - (x/ticksPerDay+1)/7, nil
	case Nanosecond:
		d := y - x
		if d > math.MaxInt64/100 || d < math.MinInt64/100 {
			return 0, sqlerr.DateDiffOverflow()
		}
		return d * 100, nil
	case TZOffset, ISOWeek:
		return 0, sqlerr.DatepartUnsupported(p.String(), "datediff", a.Kind().String())
	}
	u := p.ticks()
	return y/u - x/u, nil
}

func evalDateDiffBig(args []types.Value) (types.Value, error) {
	n, err := diff(Part(args[0].Int()), args[1], args[2])
	if err != nil {
		return types.Value{}, err
	}
	return types.NewInt(types.KindBigInt, n), nil
}

func evalDateDiff(args []types.Value) (types.Value, error) {
	n, err := diff(Part(args[0].Int()), args[1], args[2])
	if err != nil {
		return types.Value{}, err
	}
	if n != int64(int32(n)) {
		return types.Value{}, sqlerr.DateDiffOverflow()
	}
	return types.NewInt(types.KindInt, n), nil
}

// part is the number of a datepart.
func part(p Part, v types.Value, function string) (int64, error) {
	v, err := instant(v)
	if err != nil {
		return 0, err
	}
	if (v.Kind() == types.KindTime && p < Hour) || (v.Kind() == types.KindDate && p >= Hour && p != ISOWeek) {
		return 0, sqlerr.DatepartUnsupported(p.String(), function, v.Kind().String())
	}
	ticks := v.LocalTicks()
	days, rest := ticks/ticksPerDay, ticks%ticksPerDay
	y, m, d := types.CivilOf(days)
	sub := rest % ticksPerSecond
	if v.Kind() == types.KindDateTime {
		sub = (sub + 5000) / 10000 * 10000
	}
	switch p {
	case Year:
		return int64(y), nil
	case Quarter:
		return int64((m-1)/3 + 1), nil
	case Month:
		return int64(m), nil
	case DayOfYear:
		return days - types.DaysOf(y, 1, 1) + 1, nil
	case Day:
		return int64(d), nil
	case Week:
		first := types.DaysOf(y, 1, 1)
		return (days+1)/7 - (first+1)/7 + 1, nil
	case Weekday:
		return (days+1)%7 + 1, nil
	case Hour:
		return rest / (3600 * ticksPerSecond), nil
	case Minute:
		return rest / (60 * ticksPerSecond) % 60, nil
	case Second:
		return rest / ticksPerSecond % 60, nil
	case Millisecond:
		return sub / 10000, nil
	case Microsecond:
		return sub / 10, nil
	case Nanosecond:
		return sub * 100, nil
	case ISOWeek:
		// The ISO week belongs to the year of its Thursday.
		thursday := days - days%7 + 3
		ty, _, _ := types.CivilOf(thursday)
		return (thursday-types.DaysOf(ty, 1, 1))/7 + 1, nil
	}
	if v.Kind() != types.KindDateTimeOffset && v.Kind() != types.KindDateTime2 {
		return 0, sqlerr.DatepartUnsupported(p.String(), function, v.Kind().String())
	}
	return int64(v.OffsetMinutes()), nil
}

func partOf(p Part) func([]types.Value) (types.Value, error) {
	return strict(func(args []types.Value) (types.Value, error) {
		n, err := part(p, args[0], p.String())
		return types.NewInt(types.KindInt, n), err
	})
}

func evalDatePart(args []types.Value) (types.Value, error) {
	n, err := part(Part(args[0].Int()), args[1], "datepart")
	if err != nil {
		return types.Value{}, err
	}
	return types.NewInt(types.KindInt, n), nil
}

func evalDateName(args []types.Value) (types.Value, error) {
	p := Part(args[0].Int())
	n, err := part(p, args[1], "datename")
	if err != nil {
		return types.Value{}, err
	}
	s := strconv.FormatInt(n, 10)
	switch p {
	case Month:
		s = types.MonthNames[n-1]
	case Weekday:
		s = types.DayNames[n-1]
	case TZOffset:
		sign := '+'
		if n < 0 {
			sign, n = '-', -n
		}
		s = fmt.Sprintf("%c%02d:%02d", sign, n/60, n%60)
	}
	return types.NewString(types.KindNVarChar, s), nil
}

func evalDateTrunc(args []types.Value) (types.Value, error) {
	p := Part(args[0].Int())
	v := args[1]
	if !v.Kind().IsTemporal() {
		var err error
		if v, err = types.Convert(v, types.DateTime2(7), 0); err != nil {
			return types.Value{}, err
		}
	}
	t := types.Type{Kind: v.Kind(), Scale: v.Scale()}
	if p == Weekday || p == TZOffset || p == Nanosecond || (v.Kind() == types.KindDate && p >= Hour && p != ISOWeek) || (v.Kind() == types.KindTime && p < Hour) {
		return types.Value{}, sqlerr.DatepartUnsupported(p.String(), "datetrunc", t.Name())
	}
	ticks := v.LocalTicks()
	days := ticks / ticksPerDay
	y, m, _ := types.CivilOf(days)
	switch p {
	case Year:
		ticks = types.DaysOf(y, 1, 1) * ticksPerDay
	case Quarter:
		ticks = types.DaysOf(y, (m-1)/3*3+1, 1) * ticksPerDay
	case Month:
		ticks = types.DaysOf(y, m, 1) * ticksPerDay
	case Week:
		ticks = (days - (days+1)%7) * ticksPerDay
	case ISOWeek:
		ticks = (days - days%7) * ticksPerDay
	default:
		ticks -= ticks % p.ticks()
	}
	if v.Kind() == types.KindTime {
		return types.NewTime(ticks%ticksPerDay, v.Scale()), nil
	}
	return types.Temporal(t, ticks, v.OffsetMinutes(), t.Name())
}

func evalEOMonth(args []types.Value) (types.Value, error) {
	if args[0].IsNull() {
		return types.Value{}, nil
	}
	v, err := instant(args[0])
	if err != nil {
		return types.Value{}, err
	}
	var n int64
	if len(args) == 2 && !args[1].IsNull() {
		if n, err = integer(args[1]); err != nil {
			return types.Value{}, err
		}
	}
	ticks, ok := addMonths(v.LocalTicks(), n)
	if !ok {
		return types.Value{}, sqlerr.DateAddOverflow("date")
	}
	y, m, _ := types.CivilOf(ticks / ticksPerDay)
	return types.NewDate(types.DaysOf(y, m, types.DaysInMonth(y, m))), nil
}

// evalIsDate is 1 for text that a datetime can be made of.
func evalIsDate(args []types.Value) (types.Value, error) {
	v := args[0]
	if !v.Kind().IsString() {
		if v.Kind() == types.KindDateTime || v.Kind() == types.KindSmallDateTime {
			return count(1), nil
		}
		return count(0), nil
	}
	if strings.TrimSpace(v.Str()) == "" {
		return count(0), nil
	}
	if _, err := types.Convert(v, types.DateTime, 0); err != nil {
		return count(0), nil
	}
	return count(1), nil
}

// offset reads a time zone: text such as +02:00, or minutes.
func offset(v types.Value) (int, bool) {
	if !v.Kind().IsString() {
		n, err := integer(v)
		return int(n), err == nil && n >= -840 && n <= 840
	}
	s := strings.TrimSpace(v.Str())
	if len(s) != 6 || (s[0] != '+' && s[0] != '-') || s[3] != ':' {
		return 0, false
	}
	h, err1 := strconv.Atoi(s[1:3])
	m, err2 := strconv.Atoi(s[4:])
	n := h*60 + m
	if s[0] == '-' {
		n = -n
	}
	return n, err1 == nil && err2 == nil && m < 60 && n >= -840 && n <= 840
}

func badOffset(function string) error {
	return sqlerr.New(9812, 16, 0, "The time zone given to the function %s is not valid.", function)
}

func evalSwitchOffset(args []types.Value) (types.Value, error) {
	v, err := types.Convert(args[0], types.DateTimeOffset(7), 0)
	if err != nil {
		return types.Value{}, err
	}
	n, ok := offset(args[1])
	if !ok {
		return types.Value{}, badOffset("switchoffset")
	}
	r, _ := v.SwitchOffset(n)
	return r, nil
}

func evalToDateTimeOffset(args []types.Value) (types.Value, error) {
	v, err := types.Convert(args[0], types.DateTime2(7), 0)
	if err != nil {
		return types.Value{}, err
	}
	n, ok := offset(args[1])
	if !ok {
		return types.Value{}, badOffset("todatetimeoffset")
	}
	return types.Temporal(types.DateTimeOffset(7), v.Ticks(), n, "datetime2")
}
