package types

import (
	"math/big"
	"testing"
	"time"
	"unsafe"

	"gostress/internal/engine/sqlerr"
)

func TestValueTakes24Bytes(t *testing.T) {
	t.Parallel()
	if n := unsafe.Sizeof(Value{}); n != 24 {
		t.Errorf("a Value takes %d bytes", n)
	}
}

func TestTypeNames(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []int
		want string
		err  int32
	}{
		{"int", nil, "int", 0},
		{"INTEGER", nil, "int", 0},
		{"sys.int", nil, "int", 0},
		{"nvarchar", nil, "nvarchar(1)", 0},
		{"nvarchar", []int{25}, "nvarchar(25)", 0},
		{"varchar", []int{Max}, "varchar(max)", 0},
		{"sysname", nil, "nvarchar(128)", 0},
		{"decimal", nil, "decimal(18,0)", 0},
		{"numeric", []int{10}, "decimal(10,0)", 0},
		{"dec", []int{10, 4}, "decimal(10,4)", 0},
		{"float", []int{24}, "real", 0},
		{"float", []int{25}, "float", 0},
		{"datetime2", nil, "datetime2(7)", 0},
		{"time", []int{0}, "time(0)", 0},
		{"nvarchar", []int{4001}, "", 131},
		{"varchar", []int{0}, "", 131},
		{"char", []int{Max}, "", 131},
		{"decimal", []int{39}, "", 2750},
		{"decimal", []int{5, 6}, "", 192},
		{"datetime2", []int{8}, "", 1002},
		{"int", []int{4}, "", 2716},
		{"nosuch", nil, "", 2715},
		{"xml", nil, "", 40514},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseTypeName(tt.name, tt.args)
			if sqlerr.Number(err) != tt.err || (tt.err == 0 && got.String() != tt.want) {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

func TestCalendar(t *testing.T) {
	t.Parallel()
	tests := []struct {
		y, m, d int
		days    int64
	}{
		{1, 1, 1, 0}, {1900, 1, 1, epoch1900}, {1970, 1, 1, unixEpochDays}, {2000, 2, 29, 730178}, {9999, 12, 31, maxDays},
	}
	for _, tt := range tests {
		if got := DaysOf(tt.y, tt.m, tt.d); got != tt.days {
			t.Errorf("DaysOf(%d, %d, %d) = %d, want %d", tt.y, tt.m, tt.d, got, tt.days)
		}
	}
	for days := int64(0); days <= maxDays; days += 97 {
		y, m, d := CivilOf(days)
		if got := DaysOf(y, m, d); got != days {
			t.Fatalf("%d-%d-%d comes back as %d, not %d", y, m, d, got, days)
		}
	}
	at := time.Date(2024, 2, 29, 13, 14, 15, 600, time.FixedZone("", -7200))
	want := DaysOf(2024, 2, 29)*TicksPerDay + (13*3600+14*60+15)*TicksPerSecond + 6
	if got := TicksOf(at); got != want {
		t.Errorf("TicksOf is %d, want %d", got, want)
	}
}

func TestWideDecimals(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0", "-1.5", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
		"99999999999999999999999999999999999999", "-0.00000000000000000000000000000000000001", "12345678901234567890.123456"} {
		v, _, scale, ok := ParseDecimal(text)
		if !ok {
			t.Fatal(text)
		}
		if got := Format(v); got != text {
			t.Errorf("%s comes back as %s", text, got)
		}
		if got := NewDecimal(v.Coefficient(), uint8(scale)); Compare(got, v) != 0 || Hash(got) != Hash(v) {
			t.Errorf("%s is not equal to its copy", text)
		}
		neg, hi, lo, s := v.DecimalParts()
		if got := NewDecimalParts(neg, hi, lo, s); Compare(got, v) != 0 {
			t.Errorf("%s is not equal to its parts", text)
		}
	}
	if _, _, _, ok := ParseDecimal("100000000000000000000000000000000000000"); ok {
		t.Error("39 digits are taken")
	}
	big38 := NewDecimal(new(big.Int).Sub(bigPow10(38), big.NewInt(1)), 0)
	if _, err := Arith(OpAdd, Decimal(38, 0), big38, NewDecimal64(1, 0)); sqlerr.Number(err) != 8115 {
		t.Errorf("got %v, want 8115", err)
	}
}

func TestDecimalResultTypes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		op   Op
		a, b Type
		want Type
	}{
		{OpAdd, Decimal(10, 2), Decimal(10, 2), Decimal(11, 2)},
		{OpAdd, Decimal(5, 2), Decimal(10, 4), Decimal(11, 4)},
		{OpMul, Decimal(10, 2), Decimal(10, 2), Decimal(21, 4)},
		{OpDiv, Decimal(10, 2), Decimal(10, 2), Decimal(23, 13)},
		{OpMod, Decimal(10, 2), Decimal(5, 3), Decimal(5, 3)},
		{OpMul, Decimal(38, 10), Decimal(38, 10), Decimal(38, 6)},
		{OpMul, Decimal(30, 20), Decimal(30, 20), Decimal(38, 17)},
		{OpDiv, Decimal(38, 10), Decimal(38, 10), Decimal(38, 6)},
		{OpAdd, Decimal(38, 10), Decimal(38, 2), Decimal(38, 2)},
		{OpAdd, Decimal(10, 2), Int, Decimal(13, 2)},
		{OpMul, Decimal(5, 2), Money, Decimal(25, 6)},
		{OpAdd, Money, Int, Money},
		{OpMul, Money, Float, Float},
		{OpAdd, SmallMoney, Money, Money},
		{OpAdd, TinyInt, SmallInt, SmallInt},
		{OpAdd, Real, Int, Real},
		{OpAdd, Float, Decimal(5, 2), Float},
		{OpBitAnd, TinyInt, BigInt, BigInt},
	}
	for _, tt := range tests {
		if got, err := ArithType(tt.op, tt.a, tt.b); err != nil || got != tt.want {
			t.Errorf("%s %s %s is %s, want %s (%v)", tt.a, tt.op, tt.b, got, tt.want, err)
		}
	}
}

func TestCommonType(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b, want Type
		err        int32
	}{
		{Null, Int, Int, 0},
		{Int, BigInt, BigInt, 0},
		{Int, Decimal(5, 2), Decimal(12, 2), 0},
		{Decimal(5, 4), Decimal(10, 1), Decimal(13, 4), 0},
		{Money, Decimal(5, 2), Decimal(19, 4), 0},
		{VarChar(5), NVarChar(3), NVarChar(5), 0},
		{Char(5), VarChar(3), VarChar(5), 0},
		{VarChar(5), VarChar(Max), VarChar(Max), 0},
		{VarChar(5), Int, Int, 0},
		{VarChar(5), DateTime, DateTime, 0},
		{Date, DateTime2(3), DateTime2(3), 0},
		{DateTime, DateTime2(0), DateTime2(3), 0},
		{Int, DateTime, DateTime, 0},
		{Int, Date, Null, 206},
		{Int, UniqueIdentifier, Null, 206},
		{Date, Time(0), Null, 206},
	}
	for _, tt := range tests {
		for _, p := range [][2]Type{{tt.a, tt.b}, {tt.b, tt.a}} {
			got, err := CommonType(p[0], p[1])
			if sqlerr.Number(err) != tt.err || (tt.err == 0 && got != tt.want) {
				t.Errorf("%s and %s make %s, want %s (%v)", p[0], p[1], got, tt.want, err)
			}
		}
	}
}

func TestImplicitConversions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		from Type
		to   Type
		err  int32
	}{
		{"money to text needs CONVERT", Money, VarChar(20), 257},
		{"datetime to int needs CONVERT", DateTime, Int, 257},
		{"text to binary needs CONVERT", VarChar(5), VarBinary(5), 257},
		{"date to int never", Date, Int, 206},
		{"int to date never", Int, Date, 206},
		{"int to datetime", Int, DateTime, 0},
		{"float to int", Float, Int, 0},
		{"int to text", Int, NVarChar(10), 0},
		{"text to money", VarChar(10), Money, 0},
		{"anything to sql_variant", Int, SQLVariant, 0},
		{"sql_variant to int needs CONVERT", SQLVariant, Int, 257},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sqlerr.Number(CheckConversion(tt.from, tt.to, false)); got != tt.err {
				t.Errorf("error %d, want %d", got, tt.err)
			}
		})
	}
}

func TestAssign(t *testing.T) {
	t.Parallel()
	str := func(s string) Value { return NewString(KindVarChar, s) }
	tests := []struct {
		name   string
		v      Value
		to     Type
		want   string
		err    int32 // of AssignColumn
		silent string
	}{
		{"float to int is cut", NewFloat(7999.9), Int, "7999", 0, "7999"},
		{"text too long", str("abcdef"), VarChar(3), "", 2628, "abc"},
		{"blanks at the end", str("abc   "), VarChar(3), "abc", 0, "abc"},
		{"national text counts units", NewString(KindNVarChar, "a😀"), NVarChar(2), "", 2628, "a"},
		{"accents are one byte in varchar", NewString(KindNVarChar, "żéé"), VarChar(3), "?éé", 0, "?éé"},
		{"padding", str("a"), NChar(3), "a  ", 0, "a  "},
		{"scale is rounded", NewDateTime2(15_000, 7), DateTime2(3), "0001-01-01 00:00:00.002", 0, "0001-01-01 00:00:00.002"},
		{"scale is raised", NewDateTime2(10_000, 3), DateTime2(7), "0001-01-01 00:00:00.0010000", 0, "0001-01-01 00:00:00.0010000"},
		{"NULL stays", NULL(), Int, "NULL", 0, "NULL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := AssignColumn(tt.v, tt.to, "dbo.t", "c")
			if sqlerr.Number(err) != tt.err || (tt.err == 0 && Format(v) != tt.want) {
				t.Errorf("a column takes %q, %v; want %q, %d", Format(v), err, tt.want, tt.err)
			}
			v, err = Assign(tt.v, tt.to)
			if err != nil || Format(v) != tt.silent {
				t.Errorf("a variable takes %q, %v; want %q", Format(v), err, tt.silent)
			}
			if !v.IsNull() && v.Kind() != tt.to.Kind {
				t.Errorf("the kind is %s", v.Kind())
			}
		})
	}
}

func TestEqualValuesHashAlike(t *testing.T) {
	t.Parallel()
	s := func(x string) Value { return NewString(KindNVarChar, x) }
	tests := []struct {
		name string
		a, b Value
	}{
		{"case", s("Straße"), s("STRAßE")},
		{"blanks", s("a"), NewString(KindChar, "a   ")},
		{"only blanks", s(""), s("  ")},
		{"beyond Latin", s("Żółw"), s("żóŁW")},
		{"Ÿ", s("Ÿ"), s("ÿ")},
		{"scales", NewDecimal64(150, 2), NewDecimal64(15, 1)},
		{"wide scales", NewDecimal(new(big.Int).Mul(bigPow10(30), big.NewInt(3)), 5), NewDecimal(new(big.Int).Mul(bigPow10(26), big.NewInt(3)), 1)},
		{"zeros", NewBytes(KindBinary, []byte{1, 0}), NewBytes(KindVarBinary, []byte{1})},
		{"minus zero", NewFloat(0), Value{kind: KindFloat, n: -1 << 63}},
		{"int kinds", NewInt(KindTinyInt, 5), NewInt(KindBigInt, 5)},
		{"zones", NewDateTimeOffset(1e15, 60, 7), NewDateTimeOffset(1e15, -60, 0)},
		{"date and datetime2", NewDate(700000), NewDateTime2(700000*TicksPerDay, 3)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if Compare(tt.a, tt.b) != 0 || Compare(tt.b, tt.a) != 0 {
				t.Error("they are not equal")
			}
			if Hash(tt.a) != Hash(tt.b) {
				t.Error("they hash differently")
			}
		})
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	g := func(s string) Value {
		v, err := Convert(NewString(KindVarChar, s), UniqueIdentifier, 0)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	tests := []struct {
		name string
		list []Value
	}{
		{"NULL first", []Value{NULL(), NewInt(KindInt, -5), NewInt(KindInt, 3)}},
		{"text", texts("", "-", "_", "1", "10", "2", "a", "á", "Ab", "B", "z", "Ω")},
		{"decimals", []Value{NewDecimal64(-15, 1), NewDecimal64(1, 2), NewDecimal64(1, 1), NewDecimal(bigPow10(30), 3)}},
		{"uniqueidentifier by its last group", []Value{g("FFFFFFFF-0000-0000-0000-000000000001"), g("00000000-0000-0000-0000-000000000002")}},
		{"a prefix is less", texts("ab", "abc")},
		{"but for control characters, which sort before blanks", texts("ab\t", "ab")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i := range tt.list {
				for j := range tt.list {
					want := 0
					if i < j {
						want = -1
					} else if i > j {
						want = 1
					}
					if got := Compare(tt.list[i], tt.list[j]); got != want {
						t.Errorf("%q and %q compare as %d, want %d", Format(tt.list[i]), Format(tt.list[j]), got, want)
					}
				}
			}
		})
	}
}

func texts(list ...string) []Value {
	out := make([]Value, len(list))
	for i, s := range list {
		out[i] = NewString(KindNVarChar, s)
	}
	return out
}

func TestConversionsDoNotAllocate(t *testing.T) {
	v := NewInt(KindInt, 5)
	m := NewMoney(12345)
	d := NewDateTime2(1e15, 7)
	s := NewString(KindNVarChar, "Widget")
	if n := testing.AllocsPerRun(100, func() {
		_, _ = Assign(v, Int)
		_, _ = AssignColumn(v, BigInt, "t", "c")
		_, _ = AssignColumn(m, Money, "t", "c")
		_, _ = AssignColumn(d, DateTime2(3), "t", "c")
		_, _ = AssignColumn(s, NVarChar(25), "t", "c")
		_, _ = Convert(NewFloat(12.5), Int, 0)
		_, _ = Arith(OpMul, Money, m, v)
		_ = Hash(s)
		_ = Compare(s, s)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
