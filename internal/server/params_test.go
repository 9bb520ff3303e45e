package server

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	mssql "github.com/microsoft/go-mssqldb"

	"gostress/internal/engine/exec"
	"gostress/internal/engine/types"
)

// echo answers a call with a row of its parameters, changed by nothing but the wire.
func echo(_ context.Context, c *exec.Call, out exec.Output) error {
	params := c.Params
	if c.Proc == "sp_executesql" {
		params = params[2:]
	}
	cols := make([]exec.Column, 0, len(params))
	vals := make([]types.Value, 0, len(params))
	for _, p := range params {
		t := p.Type
		if t.Kind == types.KindNull {
			t = types.NVarChar(10)
		}
		cols = append(cols, exec.Column{Name: p.Name, Type: t, Nullable: true})
		vals = append(vals, p.Value)
	}
	if err := out.Event(&exec.Columns{Columns: cols}); err != nil {
		return err
	}
	if err := out.Row(vals); err != nil {
		return err
	}
	return events(out, &exec.Done{Kind: exec.DoneInProc, HasCount: true, Count: 1, Cmd: exec.CmdSelect, More: true},
		&exec.ReturnStatus{Value: 0}, &exec.Done{Kind: exec.DoneProc, Cmd: exec.CmdExecute})
}

func TestParameterTypes(t *testing.T) {
	t.Parallel()
	r := scripted(t, &script{call: echo})
	db := r.db(t)
	moment := time.Date(2024, 2, 29, 23, 59, 58, 123456700, time.FixedZone("", -5*3600))
	guid := mssql.UniqueIdentifier{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	for _, tc := range []struct {
		name     string
		in, want any
	}{
		{name: "int", in: int64(-42), want: int64(-42)},
		{name: "int64 min", in: int64(math.MinInt64), want: int64(math.MinInt64)},
		{name: "bit", in: true, want: true},
		{name: "float", in: 1.5e300, want: 1.5e300},
		{name: "nvarchar", in: "grün 🙂 日本", want: "grün 🙂 日本"},
		{name: "nvarchar, empty", in: "", want: ""},
		{name: "nvarchar(max)", in: strings.Repeat("é", 5000), want: strings.Repeat("é", 5000)},
		{name: "varchar", in: mssql.VarChar("plain"), want: "plain"},
		{name: "varchar(max)", in: mssql.VarCharMax(strings.Repeat("a", 9000)), want: strings.Repeat("a", 9000)},
		{name: "nchar", in: mssql.NChar("abc"), want: "abc"},
		{name: "varbinary", in: []byte{0, 1, 255}, want: []byte{0, 1, 255}},
		{name: "varbinary(max)", in: []byte(strings.Repeat("\x00\xff", 6000)), want: []byte(strings.Repeat("\x00\xff", 6000))},
		{name: "datetimeoffset", in: moment, want: moment},
		{name: "datetime", in: mssql.DateTime1(time.Date(1999, 12, 31, 23, 59, 59, 997000000, time.UTC)), want: time.Date(1999, 12, 31, 23, 59, 59, 997000000, time.UTC)},
		{name: "uniqueidentifier", in: guid, want: []byte{4, 3, 2, 1, 6, 5, 8, 7, 9, 10, 11, 12, 13, 14, 15, 16}},
		{name: "null", in: nil, want: nil},
		{name: "null string", in: sql.NullString{}, want: nil},
		{name: "null int", in: sql.NullInt64{}, want: nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got any
			if err := db.QueryRow("select @p1", tc.in).Scan(&got); err != nil {
				t.Fatal(err)
			}
			if w, ok := tc.want.(time.Time); ok {
				g, ok := got.(time.Time)
				if !ok || !g.Equal(w) {
					t.Fatalf("got %v, want %v", got, w)
				}
				return
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Fatal(d)
			}
		})
	}
}

func TestColumnTypes(t *testing.T) {
	t.Parallel()
	bytes16 := [16]byte{4, 3, 2, 1, 6, 5, 8, 7, 9, 10, 11, 12, 13, 14, 15, 16}
	day := int64(738000)
	for _, tc := range []struct {
		typ  types.Type
		val  types.Value
		name string
		want any
	}{
		{types.Bit, types.NewBit(true), "BIT", true},
		{types.TinyInt, types.NewInt(types.KindTinyInt, 200), "TINYINT", int64(200)},
		{types.SmallInt, types.NewInt(types.KindSmallInt, -300), "SMALLINT", int64(-300)},
		{types.Int, types.NewInt(types.KindInt, -70000), "INT", int64(-70000)},
		{types.BigInt, types.NewInt(types.KindBigInt, 1<<60), "BIGINT", int64(1 << 60)},
		{types.Real, types.NewReal(1.5), "REAL", 1.5},
		{types.Float, types.NewFloat(-2.25), "FLOAT", -2.25},
		{types.Money, types.NewMoney(-123456789012), "MONEY", []byte("-12345678.9012")},
		{types.SmallMoney, types.NewSmallMoney(12345), "SMALLMONEY", []byte("1.2345")},
		{types.Decimal(9, 2), types.NewDecimal64(-12345, 2), "DECIMAL", []byte("-123.45")},
		{types.Decimal(18, 4), types.NewDecimal64(1, 4), "DECIMAL", []byte("0.0001")},
		{types.Decimal(38, 0), types.NewDecimalParts(false, 0x4B3B4CA85A86C47A, 0x098A223FFFFFFFFF, 0), "DECIMAL", []byte(strings.Repeat("9", 38))},
		{types.Char(5), types.NewString(types.KindChar, "ab   "), "CHAR", "ab   "},
		{types.VarChar(20), types.NewString(types.KindVarChar, "über €"), "VARCHAR", "über €"},
		{types.VarChar(types.Max), types.NewString(types.KindVarChar, ""), "VARCHAR", ""},
		{types.NVarChar(20), types.NewString(types.KindNVarChar, "日本🙂"), "NVARCHAR", "日本🙂"},
		{types.NVarChar(types.Max), types.NewString(types.KindNVarChar, "日本🙂"), "NVARCHAR", "日本🙂"},
		{types.NChar(3), types.NewString(types.KindNChar, "a  "), "NCHAR", "a  "},
		{types.Type{Kind: types.KindText}, types.NewString(types.KindText, "old"), "TEXT", "old"},
		{types.Type{Kind: types.KindNText}, types.NewString(types.KindNText, "old €"), "NTEXT", "old €"},
		{types.Type{Kind: types.KindImage}, types.NewBytes(types.KindImage, []byte{1, 2}), "IMAGE", []byte{1, 2}},
		{types.Binary(4), types.NewBytes(types.KindBinary, []byte{1, 2, 0, 0}), "BINARY", []byte{1, 2, 0, 0}},
		{types.VarBinary(types.Max), types.NewBytes(types.KindVarBinary, []byte{9}), "VARBINARY", []byte{9}},
		{types.Date, types.NewDate(day), "DATE", time.Date(2021, 7, 30, 0, 0, 0, 0, time.UTC)},
		{types.Time(3), types.NewTime(12345*10000, 3), "TIME", time.Date(1, 1, 1, 0, 0, 12, 345000000, time.UTC)},
		{types.DateTime2(7), types.NewDateTime2(day*ticksPerDay+1, 7), "DATETIME2", time.Date(2021, 7, 30, 0, 0, 0, 100, time.UTC)},
		{types.DateTime2(0), types.NewDateTime2(day*ticksPerDay+10_000_000, 0), "DATETIME2", time.Date(2021, 7, 30, 0, 0, 1, 0, time.UTC)},
		{types.DateTimeOffset(7), types.NewDateTimeOffset(day*ticksPerDay, 120, 7), "DATETIMEOFFSET", time.Date(2021, 7, 30, 0, 0, 0, 0, time.UTC)},
		{types.DateTime, types.NewDateTime(-1, 300), "DATETIME", time.Date(1899, 12, 31, 0, 0, 1, 0, time.UTC)},
		{types.SmallDateTime, types.NewSmallDateTime(1, 61), "SMALLDATETIME", time.Date(1900, 1, 2, 1, 1, 0, 0, time.UTC)},
		{types.UniqueIdentifier, types.NewGUID(bytes16), "UNIQUEIDENTIFIER", bytes16[:]},
		{types.SQLVariant, types.NewInt(types.KindInt, 7), "SQL_VARIANT", int64(7)},
		{types.SQLVariant, types.NewString(types.KindNVarChar, "v"), "SQL_VARIANT", "v"},
		{types.SQLVariant, types.NewDecimal64(15, 1), "SQL_VARIANT", []byte("1.5")},
	} {
		t.Run(fmt.Sprint(tc.typ, " ", tc.want), func(t *testing.T) {
			t.Parallel()
			r := scripted(t, &script{batch: func(_ context.Context, _ string, out exec.Output) error {
				if err := out.Event(&exec.Columns{Columns: []exec.Column{{Name: "v", Type: tc.typ, Nullable: true}, {Name: "after", Type: types.Int}}}); err != nil {
					return err
				}
				for _, v := range []types.Value{tc.val, types.NULL()} {
					if err := out.Row([]types.Value{v, types.NewInt(types.KindInt, 1)}); err != nil {
						return err
					}
				}
				return out.Event(&exec.Done{HasCount: true, Count: 2})
			}})
			q, err := r.db(t).Query("select v")
			if err != nil {
				t.Fatal(err)
			}
			defer q.Close()
			ct, err := q.ColumnTypes()
			if err != nil || ct[0].DatabaseTypeName() != tc.name {
				t.Errorf("type %s, %v, want %s", ct[0].DatabaseTypeName(), err, tc.name)
			}
			var got [2]any
			var after int
			for i := 0; q.Next(); i++ {
				if err := q.Scan(&got[i], &after); err != nil {
					t.Fatal(err)
				}
			}
			if q.Err() != nil || after != 1 || got[1] != nil {
				t.Fatalf("NULL came as %v, error %v", got[1], q.Err())
			}
			if w, ok := tc.want.(time.Time); ok {
				if g, ok := got[0].(time.Time); !ok || !g.Equal(w) {
					t.Fatalf("got %v, want %v", got[0], w)
				}
				return
			}
			if d := cmp.Diff(tc.want, got[0]); d != "" {
				t.Fatal(d)
			}
		})
	}
}

func TestProcedureCall(t *testing.T) {
	t.Parallel()
	var seen *exec.Call
	r := scripted(t, &script{call: func(_ context.Context, c *exec.Call, out exec.Output) error {
		seen = c
		return events(out,
			&exec.OutParam{Ordinal: 1, Name: "@out", Type: types.Int, Value: types.NewInt(types.KindInt, 99)},
			&exec.OutParam{Ordinal: 2, Name: "@text", Type: types.NVarChar(types.Max), Value: types.NewString(types.KindNVarChar, "back")},
			&exec.ReturnStatus{Value: 5},
			&exec.Done{Kind: exec.DoneProc, Cmd: exec.CmdExecute})
	}})
	db := r.db(t)
	var n int64
	var s string
	var rs mssql.ReturnStatus
	_, err := db.Exec("Sales.usp_Do", sql.Named("in", int64(3)), sql.Named("out", sql.Out{Dest: &n}), sql.Named("text", sql.Out{Dest: &s}), &rs)
	if err != nil {
		t.Fatal(err)
	}
	if n != 99 || s != "back" || rs != 5 {
		t.Fatalf("out %d, text %q, status %d", n, s, rs)
	}
	if seen.Proc != "Sales.usp_Do" || len(seen.Params) != 3 || seen.Params[0].Name != "@in" || !seen.Params[1].Output || seen.Params[0].Output {
		t.Fatalf("call %+v", seen)
	}
}

type orderLine struct {
	Product int32
	Qty     int16
	Note    *string
	Price   float64
	When    time.Time
	Raw     []byte
}

func TestTableParameter(t *testing.T) {
	t.Parallel()
	var seen *exec.TableValue
	r := scripted(t, &script{call: func(_ context.Context, c *exec.Call, out exec.Output) error {
		seen = c.Params[len(c.Params)-1].Table
		return events(out, &exec.ReturnStatus{}, &exec.Done{Kind: exec.DoneProc, Cmd: exec.CmdExecute})
	}})
	db := r.db(t)
	note := "first"
	when := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	tvp := mssql.TVP{TypeName: "Sales.LineType", Value: []orderLine{
		{1, 2, &note, 1.25, when, []byte{7}}, {3, 4, nil, -1, when, nil},
	}}
	if _, err := db.Exec("Sales.usp_Insert", sql.Named("lines", tvp)); err != nil {
		t.Fatal(err)
	}
	if seen == nil || seen.Schema != "Sales" || seen.Name != "LineType" || len(seen.Rows) != 2 || len(seen.Columns) != 6 {
		t.Fatalf("table %+v", seen)
	}
	row := seen.Rows[0]
	if row[0].Int() != 1 || row[1].Int() != 2 || row[2].Str() != "first" || row[3].Float() != 1.25 || row[5].Bytes()[0] != 7 {
		t.Fatalf("row %v", row)
	}
	if row = seen.Rows[1]; row[0].Int() != 3 || !row[2].IsNull() || row[3].Float() != -1 || !row[5].IsNull() {
		t.Fatalf("row %v", row)
	}
	if _, err := db.Exec("Sales.usp_Insert", sql.Named("lines", mssql.TVP{TypeName: "T", Value: []orderLine{}})); err != nil {
		t.Fatal(err)
	}
	if seen.Schema != "" || seen.Name != "T" || len(seen.Rows) != 0 {
		t.Fatalf("empty table %+v", seen)
	}
}
