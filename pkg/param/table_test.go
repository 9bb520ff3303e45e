package param

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gostress/pkg/driver"
)

func load(t *testing.T, name, content string, declared ...string) (Table, error) {
	t.Helper()
	var columns []Column
	for _, d := range declared {
		c, err := ParseColumn(d, text)
		if err != nil {
			t.Fatal(err)
		}
		columns = append(columns, c)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(path, columns)
}

func TestCSV(t *testing.T) {
	t.Parallel()
	got, err := load(t, "p.csv", "id:int,@name,price:decimal(10,2),note:nvarchar(20)\r\n1,\"a, \"\"b\"\"\",1.5,\r\n2,größe,,\\N\r\n", "@name:nvarchar(40)")
	want := Table{
		Columns: []Column{{"id", driver.SQLType{Name: "int"}}, {"name", driver.SQLType{Name: "nvarchar", Len: 40}}, {"price", driver.SQLType{Name: "decimal", Prec: 10, Scale: 2}}, {"note", driver.SQLType{Name: "nvarchar", Len: 20}}},
		Rows:    [][]any{{int64(1), `a, "b"`, "1.50", ""}, {int64(2), "größe", nil, nil}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestJSONL(t *testing.T) {
	t.Parallel()
	got, err := load(t, "p.jsonl", `{"id": 9007199254740993, "f": 1, "on": true, "mix": 1, "gone": null}
{"id": -1, "f": 2.5, "on": false, "mix": "x", "late": "y"}

{"id": 3}
`, "@late:varchar(10)")
	want := Table{
		Columns: []Column{{"id", driver.SQLType{Name: "bigint"}}, {"f", driver.SQLType{Name: "float"}}, {"on", driver.SQLType{Name: "bit"}}, {"mix", text}, {"gone", text}, {"late", driver.SQLType{Name: "varchar", Len: 10}}},
		Rows: [][]any{
			{int64(9007199254740993), 1.0, true, "1", nil, nil},
			{int64(-1), 2.5, false, "x", nil, "y"},
			{int64(3), nil, nil, nil, nil, nil},
		},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, content string
		declared      []string
		part          string
	}{
		"no row":          {"p.csv", "id\n", nil, "there is no row"},
		"empty":           {"p.csv", "", nil, "(1): there is no line with the columns' names"},
		"fields":          {"p.csv", "a,b\n1,2\n1\n", nil, "(3): there are 1 fields, and 2 columns"},
		"value":           {"p.csv", "id:int\n1\nx\n", nil, `(3): @id: "x" is no int`},
		"quote":           {"p.csv", "id\n\"x\n", nil, "(2): column"},
		"twice":           {"p.csv", "id,ID\n1,2\n", nil, "the column ID is there twice"},
		"no such column":  {"p.csv", "id\n1\n", []string{"@name:int"}, "@name is declared, and there is no such column"},
		"bad name":        {"p.csv", "a b\n1\n", nil, `"a b" is no parameter's name`},
		"bad type":        {"p.csv", "a:blob\n1\n", nil, `"blob" is no type`},
		"ending":          {"p.txt", "id\n1\n", nil, "the file's ending must be .csv or .jsonl"},
		"not json":        {"p.jsonl", "{\"a\":1}\n{a}\n", nil, "(2): it is no JSON object"},
		"array":           {"p.jsonl", "[1]\n", nil, "(1): it is no JSON object"},
		"nested":          {"p.jsonl", `{"a":{"b":1}}`, nil, "(1): @a: it is an array or an object"},
		"two on a line":   {"p.jsonl", `{"a":1} {"a":2}`, nil, "(1): there is more on it"},
		"number too wide": {"p.jsonl", `{"a":300}`, []string{"@a:tinyint"}, `(1): @a: "300" is no tinyint`},
	} {
		_, err := load(t, c.file, c.content, c.declared...)
		if err == nil || !strings.Contains(err.Error(), c.part) || !strings.Contains(err.Error(), c.file) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.csv"), nil); err == nil || !strings.Contains(err.Error(), "none.csv") {
		t.Errorf("missing: %v", err)
	}
}

func TestFromRows(t *testing.T) {
	t.Parallel()
	columns := []driver.Column{{Name: "id", Type: driver.SQLType{Name: "int"}}, {Name: "at", Type: driver.SQLType{Name: "datetime"}}, {Name: "b", Type: driver.SQLType{Name: "varbinary", Len: 4}}}
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	kept := []byte{1, 2}
	got, err := FromRows(columns, [][]any{{int64(1), at, kept}, {int64(2), nil, nil}}, []Column{{"id", driver.SQLType{Name: "nvarchar", Len: 10}}})
	kept[0] = 9 // the session's again
	want := Table{
		Columns: []Column{{"id", driver.SQLType{Name: "nvarchar", Len: 10}}, {"at", driver.SQLType{Name: "datetime"}}, {"b", driver.SQLType{Name: "varbinary", Len: 4}}},
		Rows:    [][]any{{"1", at, []byte{1, 2}}, {"2", nil, nil}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for name, c := range map[string]struct {
		columns []driver.Column
		rows    [][]any
		part    string
	}{
		"no name": {[]driver.Column{{}}, [][]any{{int64(1)}}, "column 1 of the parameters has no name"},
		"no row":  {columns, nil, "gave no row"},
		"twice":   {[]driver.Column{{Name: "a"}, {Name: "A"}}, [][]any{{int64(1), int64(2)}}, "there twice"},
	} {
		if _, err := FromRows(c.columns, c.rows, nil); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("id:int,b:decimal(10,2)\n1,2\n")
	f.Add(`{"a":1,"b":[{"c":"x"}],"d":null}` + "\n{}")
	f.Add("\"")
	f.Fuzz(func(t *testing.T, content string) {
		for _, read := range []func(string, []Column) (Table, error){readCSV, readJSONL} {
			table, err := read(content, nil)
			if err != nil {
				continue
			}
			for _, row := range table.Rows {
				if len(row) != len(table.Columns) {
					t.Fatalf("%d values for %d columns", len(row), len(table.Columns))
				}
			}
		}
	})
}
