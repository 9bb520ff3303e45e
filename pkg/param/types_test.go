package param

import (
	"reflect"
	"testing"
	"time"

	"gostress/pkg/driver"
)

func TestParseType(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]driver.SQLType{
		"int": {Name: "int"}, " BigInt ": {Name: "bigint"}, "nvarchar(40)": {Name: "nvarchar", Len: 40}, "NVARCHAR( MAX )": {Name: "nvarchar", Len: -1},
		"varchar": {Name: "varchar", Len: 1}, "char(10)": {Name: "char", Len: 10}, "decimal": {Name: "decimal", Prec: 18}, "numeric(10,2)": {Name: "numeric", Prec: 10, Scale: 2},
		"datetime2": {Name: "datetime2", Scale: 7}, "time(0)": {Name: "time"}, "varbinary(8000)": {Name: "varbinary", Len: 8000}, "uniqueidentifier": {Name: "uniqueidentifier"},
	} {
		got, err := ParseType(in)
		if err != nil || got != want {
			t.Errorf("ParseType(%q) = %+v, %v", in, got, err)
		}
		if again, err := ParseType(TypeName(got)); err != nil || again != got {
			t.Errorf("%s reads back as %+v, %v", TypeName(got), again, err)
		}
	}
	for _, in := range []string{"", "text", "int(4)", "nvarchar(4001)", "nvarchar(0)", "char(max)", "varchar(8001)", "decimal(39)", "decimal(5,6)", "decimal(1,1,1)", "datetime2(8)", "varchar(x)", "varchar(10", "varchar(-1)", "xml"} {
		if got, err := ParseType(in); err == nil {
			t.Errorf("ParseType(%q) = %+v", in, got)
		}
	}
}

func TestConvert(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		in, typ string
		want    any // nil: an error
	}{
		{"1", "bit", true}, {"False", "bit", false}, {"2", "bit", nil},
		{" 255 ", "tinyint", int64(255)}, {"256", "tinyint", nil}, {"-1", "tinyint", nil}, {"-32768", "smallint", int64(-32768)}, {"2147483648", "int", nil},
		{"9223372036854775807", "bigint", int64(9223372036854775807)}, {"1.0", "int", nil}, {"x", "int", nil},
		{"1.5e3", "float", 1500.0}, {"NaN", "float", nil}, {"1e39", "real", nil},
		{"12.3", "decimal(10,2)", "12.30"}, {"12.345", "decimal(10,2)", nil}, {"123456789.1", "decimal(10,2)", nil}, {"-0.5", "money", "-0.5000"}, {"1/3", "decimal(10,2)", nil}, {"1e2", "decimal(10,2)", "100.00"},
		{"{6F9619FF-8B86-D011-B42D-00C04FC964FF}", "uniqueidentifier", "6f9619ff-8b86-d011-b42d-00c04fc964ff"}, {"6F96", "uniqueidentifier", nil},
		{"0xDEad", "varbinary(2)", []byte{0xde, 0xad}}, {"0xDEadBE", "varbinary(2)", nil}, {"dead", "varbinary(2)", nil},
		{"2026-03-04", "date", day}, {"2026-03-04T05:06:07.5", "datetime2", day.Add(5*time.Hour + 6*time.Minute + 7500*time.Millisecond)}, {"20260304", "datetime", day}, {"4 March", "date", nil},
		{"größe", "nvarchar(5)", "größe"}, {"größer", "nvarchar(5)", nil}, {"😀", "nvarchar(1)", nil}, {" as it is ", "varchar(max)", " as it is "},
	} {
		typ, err := ParseType(c.typ)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Convert(c.in, typ)
		if d, ok := got.(time.Time); ok {
			got = d.UTC()
		}
		if (err != nil) != (c.want == nil) || !reflect.DeepEqual(got, c.want) {
			t.Errorf("Convert(%q, %s) = %#v, %v; want %#v", c.in, c.typ, got, err, c.want)
		}
	}
}

func FuzzConvert(f *testing.F) {
	for _, s := range []string{"1", "12.30", "0xdead", "2026-03-04", "1e400", "-"} {
		for _, typ := range []string{"int", "decimal(10,2)", "varbinary(8)", "datetime2", "nvarchar(3)", "float"} {
			f.Add(s, typ)
		}
	}
	f.Fuzz(func(t *testing.T, s, typ string) {
		st, err := ParseType(typ)
		if err != nil {
			return
		}
		v, err := Convert(s, st)
		if err != nil {
			return
		}
		if out := literal(v, st); len(out) == 0 {
			t.Errorf("%q as %s has no literal", s, typ)
		}
	})
}
