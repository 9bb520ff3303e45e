package types

import (
	"math"
	"testing"
	"unicode/utf8"
)

// FuzzStringConversions: a text that becomes a value of any type must not
// panic, must have that type, and its own text must become the same value.
func FuzzStringConversions(f *testing.F) {
	for _, s := range []string{"", "1", "-1.5", "1e5", "$1,234.56", "true", "2024-02-29", "20240229", "2024-02-29T13:14:15.1234567",
		"Feb 29 2024  1:14PM", "29 Feb 24", "2/29/2024 1 PM", "13:14:15.123", "2024-02-29 13:14 +02:00", "2024-02-29T00:00:00Z",
		"6F9619FF-8B86-D011-B42D-00C04FC964FF", "99999999999999999999999999999999999999", " + 5", "żółw 😀", "\xff\xfe", "1.7e308"} {
		f.Add(s)
	}
	targets := []Type{Bit, TinyInt, SmallInt, Int, BigInt, Decimal(38, 10), Decimal(5, 2), Money, SmallMoney, Float, Real,
		Date, Time(7), Time(0), DateTime2(7), DateTime2(3), DateTimeOffset(7), DateTime, SmallDateTime, UniqueIdentifier,
		Char(5), VarChar(3), NChar(4), NVarChar(3), NVarChar(Max), VarBinary(4), Binary(4)}
	f.Fuzz(func(t *testing.T, s string) {
		for _, k := range []Kind{KindVarChar, KindNVarChar} {
			in := NewString(k, s)
			for _, to := range targets {
				v, err := Convert(in, to, 0)
				if err != nil {
					continue
				}
				if v.Kind() != to.Kind {
					t.Fatalf("%q as %s has kind %s", s, to, v.Kind())
				}
				if to.Kind.IsString() && to.Len != Max && units(to.Kind, v.Str()) > int(to.Len) {
					t.Fatalf("%q as %s is %q", s, to, v.Str())
				}
				if Compare(v, v) != 0 {
					t.Fatalf("%q as %s is not equal to itself", s, to)
				}
				style := 0
				switch {
				case to.Kind.IsString() || to.Kind.IsBinary():
					continue
				case to.Kind.IsMoney():
					style = 2
				case to.Kind.IsTemporal():
					style = 121
				case to.Kind.IsFloat():
					style = 3
				}
				text, err := Convert(v, NVarChar(Max), style)
				if err != nil {
					t.Fatalf("%q as %s has no text: %v", s, to, err)
				}
				back, err := Convert(text, to, 0)
				if err != nil || Compare(back, v) != 0 {
					if to.Kind.IsFloat() && math.Abs(v.Float()) > 1e307 {
						continue
					}
					t.Fatalf("%q as %s is %q, which is %q again (%v)", s, to, text.Str(), Format(back), err)
				}
			}
		}
	})
}

// FuzzCompareText: the order of text is total and equal texts hash alike.
func FuzzCompareText(f *testing.F) {
	f.Add("abc", "ABC ", "abd")
	f.Add("", " ", "\t")
	f.Add("é", "É", "e")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) || !utf8.ValidString(c) {
			t.Skip()
		}
		x, y, z := NewString(KindNVarChar, a), NewString(KindNVarChar, b), NewString(KindNVarChar, c)
		for _, coll := range []Collation{CollDefault, CollCS, CollBIN2} {
			xy, yx := CompareColl(x, y, coll), CompareColl(y, x, coll)
			if xy != -yx {
				t.Fatalf("%q and %q compare as %d and %d", a, b, xy, yx)
			}
			if xy <= 0 && CompareColl(y, z, coll) <= 0 && CompareColl(x, z, coll) > 0 {
				t.Fatalf("%q <= %q <= %q but not %q <= %q", a, b, c, a, c)
			}
			if xy == 0 && Hash(x) != Hash(y) {
				t.Fatalf("%q and %q are equal and hash differently", a, b)
			}
		}
	})
}
