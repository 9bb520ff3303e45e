package types

import "time"

func Convert(v Value, to Type, style int) (Value, error)                 { return v, nil }
func Assign(v Value, to Type) (Value, error)                             { return v, nil }
func AssignColumn(v Value, to Type, table, column string) (Value, error) { return v, nil }
func Compare(a, b Value) int                                             { return 0 }
func CompareColl(a, b Value, c Collation) int                            { return 0 }
func CommonType(a, b Type) (Type, error)                                 { return a, nil }
func Hash(v Value) uint64                                                { return 0 }
func Format(v Value) string                                              { return "" }
func cutUnits(k Kind, s string, n int) string                            { return s }

// TicksOf is the wall clock time of t in ticks of 100 ns since 0001-01-01.
func TicksOf(t time.Time) int64 {
	_, off := t.Zone()
	sec := t.Unix() + int64(off) + unixEpochDays*86400
	return sec*10_000_000 + int64(t.Nanosecond())/100
}

const (
	maxPrec        = 38
	ticks300PerDay = 24 * 60 * 60 * 300
	unixEpochDays  = 719162                     // 1970-01-01 in days since 0001-01-01
	epoch1900      = 693595                     // 1900-01-01 likewise
	minDateTime    = -53690 * ticks300PerDay    // 1753-01-01
	maxDateTime    = 2958464*ticks300PerDay - 1 // the end of 9999-12-31
)
