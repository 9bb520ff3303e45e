package fn

import (
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// fields reads whole numbers out of arguments.
func fields(args []types.Value) ([]int64, error) {
	out := make([]int64, len(args))
	for i, a := range args {
		n, err := integer(a)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

func civilTicks(y, m, d int64) (int64, bool) {
	if y < 1 || y > 9999 || m < 1 || m > 12 || d < 1 || d > int64(types.DaysInMonth(int(y), int(m))) {
		return 0, false
	}
	return types.DaysOf(int(y), int(m), int(d)) * ticksPerDay, true
}

func clockTicks(h, mi, s, frac, places int64) (int64, bool) {
	if h < 0 || h > 23 || mi < 0 || mi > 59 || s < 0 || s > 59 || frac < 0 || places < 0 || places > 7 {
		return 0, false
	}
	u := int64(ticksPerSecond)
	for range places {
		u /= 10
	}
	if frac*u >= ticksPerSecond {
		return 0, false
	}
	return (h*3600+mi*60+s)*ticksPerSecond + frac*u, true
}

func evalDateFromParts(args []types.Value) (types.Value, error) {
	n, err := fields(args)
	if err != nil {
		return types.Value{}, err
	}
	t, ok := civilTicks(n[0], n[1], n[2])
	if !ok {
		return types.Value{}, sqlerr.BadDateParts("date")
	}
	return types.NewDate(t / ticksPerDay), nil
}

func evalTimeFromParts(args []types.Value) (types.Value, error) {
	n, err := fields(args)
	if err != nil {
		return types.Value{}, err
	}
	t, ok := clockTicks(n[0], n[1], n[2], n[3], n[4])
	if !ok {
		return types.Value{}, sqlerr.BadDateParts("time")
	}
	return types.NewTime(t, uint8(n[4])), nil
}

// assembled makes a value of date and clock fields.
func assembled(t types.Type, date, clock []int64, offset int64) (types.Value, error) {
	d, ok1 := civilTicks(date[0], date[1], date[2])
	c, ok2 := clockTicks(clock[0], clock[1], clock[2], clock[3], clock[4])
	if !ok1 || !ok2 || offset < -840 || offset > 840 {
		return types.Value{}, sqlerr.BadDateParts(t.Name())
	}
	v, err := types.Temporal(t, d+c, int(offset), t.Name())
	if err != nil {
		return types.Value{}, sqlerr.BadDateParts(t.Name())
	}
	return v, nil
}

func evalDateTimeFromParts(args []types.Value) (types.Value, error) {
	n, err := fields(args)
	if err != nil {
		return types.Value{}, err
	}
	return assembled(types.DateTime, n[:3], append(n[3:7:7], 3), 0)
}

func evalSmallDateTimeFromParts(args []types.Value) (types.Value, error) {
	n, err := fields(args)
	if err != nil {
		return types.Value{}, err
	}
	return assembled(types.SmallDateTime, n[:3], []int64{n[3], n[4], 0, 0, 0}, 0)
}

func evalDateTime2FromParts(args []types.Value) (types.Value, error) {
	n, err := fields(args)
	if err != nil {
		return types.Value{}, err
	}
	if n[7] < 0 || n[7] > 7 {
		return types.Value{}, sqlerr.BadDateParts("datetime2")
	}
	return assembled(types.DateTime2(int(n[7])), n[:3], n[3:8], 0)
}

func evalDateTimeOffsetFromParts(args []types.Value) (types.Value, error) {
	n, err := fields(args)
	if err != nil {
		return types.Value{}, err
	}
	if n[9] < 0 || n[9] > 7 {
		return types.Value{}, sqlerr.BadDateParts("datetimeoffset")
	}
	return assembled(types.DateTimeOffset(int(n[9])), n[:3], []int64{n[3], n[4], n[5], n[6], n[9]}, n[7]*60+n[8])
}
