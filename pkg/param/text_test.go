package param

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gostress/pkg/driver"
)

func TestBind(t *testing.T) {
	t.Parallel()
	columns := []Column{{"id", driver.SQLType{Name: "int"}}, {"name", driver.SQLType{Name: "nvarchar", Len: 40}}, {"größe", driver.SQLType{Name: "int"}}}
	for sql, want := range map[string]string{
		"SELECT * FROM t WHERE id = @id":                    "id",
		"SELECT @ID, @id, @name":                            "id name",
		"SELECT '@id', \"@id\", [@id], @@ROWCOUNT -- @id\n": "",
		"SELECT /* @id /* @id */ @id */ @name":              "name",
		"SELECT 'it''s @id', @name":                         "name",
		"SELECT @größe":                                     "größe",
		"SELECT @id2, @other":                               "",
		"DECLARE @id int = 3; SELECT @id, @name":            "name",
		"DECLARE @x int, @id int; SELECT @id":               "",
		"DECLARE @x int = @id, @y int; SELECT @x":           "id",
		"declare @id AS int SELECT @id":                     "",
		"EXEC p @id = 5, @name = @name":                     "name",
		"EXEC p @id, @name":                                 "id name",
		"EXEC dbo.p @id = @id":                              "id",
		"UPDATE t SET x = @id WHERE @name = name":           "id name",
		"INSERT t VALUES (@id,@name)":                       "id name",
		"SELECT a@id FROM t":                                "",
		"":                                                  "",
		"SELECT '@id":                                       "",
		"/* @id":                                            "",
	} {
		var got []string
		for _, c := range Bind(sql, columns).Used() {
			got = append(got, c.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", sql, got, want)
		}
	}
	b := Bind("SELECT @name, @id, @name", columns)
	want := []driver.Param{{Name: "@name", Type: columns[1].Type, Value: "x"}, {Name: "@id", Type: columns[0].Type, Value: int64(1)}}
	if diff := cmp.Diff(want, b.Params([]any{int64(1), "x", nil})); diff != "" {
		t.Error(diff)
	}
}

func TestInline(t *testing.T) {
	t.Parallel()
	columns := []Column{{"id", driver.SQLType{Name: "int"}}, {"s", driver.SQLType{Name: "nvarchar", Len: 40}}, {"v", driver.SQLType{Name: "varchar", Len: 40}}, {"b", driver.SQLType{Name: "varbinary", Len: 4}}, {"d", driver.SQLType{Name: "date"}}, {"m", driver.SQLType{Name: "money"}}}
	b := Bind("SELECT 1-@id, @s, @v, @b, @d, @m, '@id', @S -- @s", columns)
	day, err := Convert("2026-03-04", columns[4].Type)
	if err != nil {
		t.Fatal(err)
	}
	got := b.Inline([]any{int64(-5), "O'Hara", "x'y", []byte{0xde, 0xad}, day, "-1.5000"})
	want := "SELECT 1-(-5), N'O''Hara', 'x''y', 0xdead, '2026-03-04', (-1.5000), '@id', N'O''Hara' -- @s"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := b.Inline(make([]any, 6)); got != "SELECT 1-NULL, NULL, NULL, NULL, NULL, NULL, '@id', NULL -- @s" {
		t.Error(got)
	}
}

func TestSqlcmd(t *testing.T) {
	t.Parallel()
	vars := map[string]string{"db": "Sales", "n": "$(db)"}
	lookup := func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
	for in, want := range map[string]string{
		"USE $(db)\nSELECT '$(db)' -- $(db)": "USE Sales\nSELECT 'Sales' -- Sales",
		"$(n)":                               "$(db)",
		"no variable":                        "no variable",
		"$( x) $() $(":                       "$( x) $() $(",
		"SELECT $1":                          "SELECT $1",
	} {
		if got, err := Sqlcmd(in, lookup); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
	_, err := Sqlcmd("USE $(db)\n\nSELECT $(none)", lookup)
	var ve *VariableError
	if !errors.As(err, &ve) || ve.Name != "none" || ve.Line != 3 {
		t.Errorf("%v", err)
	}
}

func FuzzBind(f *testing.F) {
	for _, s := range []string{"SELECT @id", "DECLARE @id int, @x int = @id", "EXEC p @id = @id", "'@id", "[@id]]", "/*/**/", "@@id@", "$(x)"} {
		f.Add(s)
	}
	columns := []Column{{"id", driver.SQLType{Name: "int"}}, {"x", text}}
	f.Fuzz(func(t *testing.T, sql string) {
		b := Bind(sql, columns)
		out := b.Inline([]any{int64(1), "y"})
		if len(b.Used()) == 0 && out != sql {
			t.Errorf("%q became %q", sql, out)
		}
		if len(b.Params([]any{int64(1), "y"})) != len(b.Used()) {
			t.Error("parameters and columns differ in number")
		}
		_, _ = Sqlcmd(sql, func(name string) (string, bool) { return fmt.Sprint(len(name)), len(name)%2 == 0 })
	})
}
