package param

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gostress/pkg/driver"
)

func TestParseColumns(t *testing.T) {
	t.Parallel()
	got, err := ParseColumns("@id:int, name:nvarchar(40),@price:decimal(10,2),@other")
	want := []Column{
		{"id", driver.SQLType{Name: "int"}}, {"name", driver.SQLType{Name: "nvarchar", Len: 40}},
		{"price", driver.SQLType{Name: "decimal", Prec: 10, Scale: 2}}, {"other", text},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, wrong := range []string{"", "@id:int,", "@id:in", "@price:decimal(10,2", "@a b:int"} {
		if got, err := ParseColumns(wrong); err == nil {
			t.Errorf("%q: %v", wrong, got)
		}
	}
}

func FuzzColumns(f *testing.F) {
	for _, seed := range []string{"@id:int,@name:nvarchar(40)", "p:decimal(10,2)", "(,)", "@a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		columns, err := ParseColumns(s)
		if err != nil {
			return
		}
		for _, c := range columns {
			if c.Name == "" {
				t.Fatalf("%q: %v", s, columns)
			}
			again, err := ParseColumns("@" + c.Name + ":" + TypeName(c.Type))
			if err != nil || len(again) != 1 || again[0] != c {
				t.Fatalf("%q: %v comes back as %v, %v", s, c, again, err)
			}
		}
	})
}
