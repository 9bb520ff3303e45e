package param

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gostress/pkg/driver"
	"gostress/pkg/script"
)

// Table is rows of values, one for each column.
type Table struct {
	Columns []Column
	Rows    [][]any
}

// text is the type of a column of which nothing is said: one for all its values, so that plans do
// not multiply.
var text = driver.SQLType{Name: "nvarchar", Len: 4000}

// Load reads a .csv or .jsonl file. Of CSV the first line names the columns, with or without types
// (id:int,name:nvarchar(40)); a line of JSON is an object. Declared columns (@id:int) take
// precedence over types in the file. Untyped CSV columns are nvarchar(4000); JSON columns are bigint, float,
// bit or nvarchar(4000) by their values. An empty CSV field is NULL but for strings, and \N is NULL
// for those. Errors name the file and the line.
func Load(path string, declared []Column) (Table, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return Table{}, fmt.Errorf("read the parameters of %s: %w", path, err)
	}
	content, _, err := script.Decode(raw)
	if err != nil {
		return Table{}, fmt.Errorf("%s: %w", path, err)
	}
	var t Table
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		t, err = readCSV(content, declared)
	case ".jsonl", ".ndjson":
		t, err = readJSONL(content, declared)
	default:
		return Table{}, fmt.Errorf("%s: the file's ending must be .csv or .jsonl", path)
	}
	if err != nil {
		return Table{}, fmt.Errorf("%s%w", path, err)
	}
	if len(t.Rows) == 0 {
		return Table{}, fmt.Errorf("%s: there is no row of parameters in it", path)
	}
	return t, nil
}

// at is an error with its line; the file's name comes before it.
func at(line int, format string, args ...any) error {
	return fmt.Errorf("(%d): %w", line, fmt.Errorf(format, args...))
}

// declare gives columns their declared types, and finds what is declared and missing, or named twice.
func declare(columns []Column, declared []Column) ([]Column, error) {
	seen := map[string]bool{}
	for i := range columns {
		key := strings.ToLower(columns[i].Name)
		if seen[key] {
			return nil, at(1, "the column %s is there twice", columns[i].Name)
		}
		seen[key] = true
		for _, d := range declared {
			if strings.EqualFold(d.Name, columns[i].Name) {
				columns[i].Type = d.Type
			}
		}
	}
	for _, d := range declared {
		if !seen[strings.ToLower(d.Name)] {
			return nil, at(1, "@%s is declared, and there is no such column", d.Name)
		}
	}
	return columns, nil
}

func readCSV(content string, declared []Column) (Table, error) {
	r := csv.NewReader(strings.NewReader(content))
	r.TrimLeadingSpace = false
	fail := func(err error) (Table, error) {
		var pe *csv.ParseError
		if errors.As(err, &pe) {
			return Table{}, at(pe.Line, "column %d: %w", pe.Column, pe.Err)
		}
		return Table{}, at(1, "%w", err)
	}
	// A type with a comma, such as decimal(10,2), is in quotes or in two fields of the first line.
	r.FieldsPerRecord = -1
	head, err := r.Read()
	if err == io.EOF {
		return Table{}, at(1, "there is no line with the columns' names")
	}
	if err != nil {
		return fail(err)
	}
	var t Table
	for _, h := range joinTypes(head) {
		c, err := ParseColumn(h, text)
		if err != nil {
			return Table{}, at(1, "%w", err)
		}
		t.Columns = append(t.Columns, c)
	}
	if t.Columns, err = declare(t.Columns, declared); err != nil {
		return Table{}, err
	}
	for {
		record, err := r.Read()
		if err == io.EOF {
			return t, nil
		}
		if err != nil {
			return fail(err)
		}
		line, _ := r.FieldPos(0)
		if len(record) != len(t.Columns) {
			return Table{}, at(line, "there are %d fields, and %d columns", len(record), len(t.Columns))
		}
		row := make([]any, len(record))
		for i, field := range record {
			c := t.Columns[i]
			if field == `\N` || field == "" && !isText(c.Type) {
				continue
			}
			if row[i], err = Convert(field, c.Type); err != nil {
				return Table{}, at(line, "@%s: %w", c.Name, err)
			}
		}
		t.Rows = append(t.Rows, row)
	}
}

// joinTypes puts a type that the comma in it cut in two together again.
func joinTypes(head []string) []string {
	var out []string
	for _, h := range head {
		if n := len(out); n > 0 && strings.Count(out[n-1], "(") > strings.Count(out[n-1], ")") {
			out[n-1] += "," + h
			continue
		}
		out = append(out, h)
	}
	return out
}

func isText(t driver.SQLType) bool {
	return slices.Contains([]string{"char", "varchar", "nchar", "nvarchar"}, t.Name)
}

// readJSONL reads objects, one a line. What no line has is NULL.
func readJSONL(content string, declared []Column) (Table, error) {
	type record struct {
		line   int
		values map[string]any
	}
	var records []record
	var columns []Column
	for i, line := range strings.Split(content, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		d := json.NewDecoder(bytes.NewReader([]byte(line)))
		d.UseNumber()
		var values map[string]any
		if err := d.Decode(&values); err != nil || values == nil {
			if err == nil {
				err = errors.New("null")
			}
			return Table{}, at(i+1, "it is no JSON object: %w", err)
		}
		if d.More() {
			return Table{}, at(i+1, "there is more on it than one JSON object")
		}
		records = append(records, record{i + 1, values})
		for _, name := range names(line, values) {
			if slices.ContainsFunc(columns, func(c Column) bool { return strings.EqualFold(c.Name, strings.TrimPrefix(name, "@")) }) {
				continue
			}
			c, err := ParseColumn(name, driver.SQLType{})
			if err != nil {
				return Table{}, at(i+1, "%w", err)
			}
			columns = append(columns, c)
		}
	}
	columns, err := declare(columns, declared)
	if err != nil {
		return Table{}, err
	}
	rows := make([][]any, len(records))
	for i := range rows {
		rows[i] = make([]any, len(columns))
	}
	for ci, c := range columns {
		kind := c.Type
		if kind.Name == "" {
			for _, r := range records {
				kind = wider(kind, lookup(r.values, c.Name))
			}
			if kind.Name == "" {
				kind = text // NULL everywhere
			}
			columns[ci].Type = kind
		}
		for ri, r := range records {
			v := lookup(r.values, c.Name)
			if v == nil {
				continue
			}
			s, err := scalar(v)
			if err == nil {
				rows[ri][ci], err = Convert(s, kind)
			}
			if err != nil {
				return Table{}, at(r.line, "@%s: %w", c.Name, err)
			}
		}
	}
	return Table{Columns: columns, Rows: rows}, nil
}

// names are an object's keys in the order in which they stand on its line.
func names(line string, values map[string]any) []string {
	var out []string
	d := json.NewDecoder(strings.NewReader(line))
	depth, key := 0, true
	for {
		tok, err := d.Token()
		if err != nil {
			return out
		}
		switch tok := tok.(type) {
		case json.Delim:
			if tok == '{' || tok == '[' {
				depth++
			} else {
				depth--
			}
			key = depth == 1 && (tok == '{' || tok == '}' || tok == ']')
			continue
		case string:
			if depth == 1 && key {
				if _, ok := values[tok]; ok && !slices.Contains(out, tok) {
					out = append(out, tok)
				}
				key = false
				continue
			}
		}
		if depth == 1 {
			key = true
		}
	}
}

func lookup(values map[string]any, name string) any {
	for k, v := range values {
		if strings.EqualFold(strings.TrimPrefix(strings.SplitN(k, ":", 2)[0], "@"), name) {
			return v
		}
	}
	return nil
}

// wider is a type that holds v and what t holds.
func wider(t driver.SQLType, v any) driver.SQLType {
	var of driver.SQLType
	switch v := v.(type) {
	case nil:
		return t
	case bool:
		of.Name = "bit"
	case json.Number:
		of.Name = "bigint"
		if _, err := v.Int64(); err != nil {
			of.Name = "float"
		}
	default:
		of = text
	}
	switch {
	case t.Name == "" || t == of:
		return of
	case t.Name == "float" && of.Name == "bigint" || t.Name == "bigint" && of.Name == "float":
		return driver.SQLType{Name: "float"}
	}
	return text
}

func scalar(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		if v {
			return "true", nil
		}
		return "false", nil
	case json.Number:
		return v.String(), nil
	}
	return "", errors.New("it is an array or an object, and a parameter is a single value")
}

// FromRows makes a table of a query's answer: the columns with their own types, the values as a
// session gives them.
func FromRows(columns []driver.Column, rows [][]any, declared []Column) (Table, error) {
	var t Table
	for i, c := range columns {
		if c.Name == "" {
			return t, fmt.Errorf("column %d of the parameters has no name: write AS name", i+1)
		}
		if !isName(c.Name) {
			return t, fmt.Errorf("the column %q cannot be a parameter's name", c.Name)
		}
		t.Columns = append(t.Columns, Column{Name: c.Name, Type: c.Type})
	}
	own := slices.Clone(t.Columns)
	var err error
	if t.Columns, err = declare(t.Columns, declared); err != nil {
		return t, errors.Unwrap(err)
	}
	for i, row := range rows {
		out := make([]any, len(row))
		for j, v := range row {
			switch v := v.(type) {
			case nil:
			case []byte:
				out[j] = slices.Clone(v)
			default:
				out[j] = v
			}
			if v != nil && t.Columns[j].Type != own[j].Type {
				if out[j], err = Convert(plain(v), t.Columns[j].Type); err != nil {
					return t, fmt.Errorf("row %d of the parameters, @%s: %w", i+1, t.Columns[j].Name, err)
				}
			}
		}
		t.Rows = append(t.Rows, out)
	}
	if len(t.Rows) == 0 {
		return t, errors.New("the query for parameters gave no row")
	}
	return t, nil
}

// plain is a value as Convert reads it.
func plain(v any) string {
	switch v := v.(type) {
	case []byte:
		return fmt.Sprintf("0x%x", v)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return fmt.Sprintf("%.0f", v)
		}
	case interface{ Format(string) string }:
		return v.Format("2006-01-02T15:04:05.999999999")
	}
	return fmt.Sprint(v)
}
