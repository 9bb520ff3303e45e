package target

import (
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/golang-sql/civil"
	mssql "github.com/microsoft/go-mssqldb"

	"gostress/internal/tds"
	"gostress/pkg/driver"
)

// paramCache keeps the struct types made for table-valued parameters.
type paramCache struct{ rows map[string]reflect.Type }

// build gives the text and the arguments that make go-mssqldb send r.
func (p *paramCache) build(r *driver.Request) (string, []sqldriver.NamedValue, error) {
	text := r.Text
	switch {
	case r.Kind == driver.RPC:
		var err error
		if text, err = procedureName(r.Proc); err != nil {
			return "", nil, err
		}
	case mayBeProcedure(text):
		// go-mssqldb would call it, or copy rows into it. A blank in front moves no
		// line number.
		text = " " + text
	}
	args, err := p.args(text, r.Params)
	if err != nil {
		return "", nil, err
	}
	return text, args, nil
}

// args are the parameters of text as go-mssqldb takes them.
func (p *paramCache) args(text string, params []driver.Param) ([]sqldriver.NamedValue, error) {
	if len(params) == 0 {
		return nil, nil
	}
	args := make([]sqldriver.NamedValue, len(params))
	for i, q := range params {
		v, err := p.value(q)
		if err != nil {
			return nil, fmt.Errorf("parameter %d of %s: %w", i+1, text, err)
		}
		if q.Output {
			v = sql.Out{Dest: v}
		}
		args[i] = sqldriver.NamedValue{Name: strings.TrimPrefix(q.Name, "@"), Ordinal: i + 1, Value: v}
	}
	return args, nil
}

// commands are the words that go-mssqldb sends as a batch.
var commands = []string{"RECONFIGURE", "SHUTDOWN", "CHECKPOINT", "COMMIT", "ROLLBACK", "REVERT"}

// mayBeProcedure says whether go-mssqldb might take a batch for the name of a
// procedure, or for a command of its own.
func mayBeProcedure(text string) bool {
	return strings.Contains(text, "[") || !strings.ContainsAny(text, " \n;") || isBulk(text)
}

// isBulk says that go-mssqldb takes the text for its own bulk copy.
func isBulk(text string) bool {
	const bulk = "INSERTBULK"
	return len(text) > len(bulk) && strings.EqualFold(text[:len(bulk)], bulk)
}

// procedureName checks a procedure's name of one to four parts, and spells it so
// that go-mssqldb takes it for one.
func procedureName(name string) (string, error) {
	bad := func() (string, error) { return "", fmt.Errorf("%q is not a procedure's name", name) }
	rest, parts := name, 0
	for {
		if parts++; parts > 4 {
			return bad()
		}
		n, ok := namePart(rest)
		if !ok || n == 0 && (parts == 1 || n == len(rest)) {
			return bad()
		}
		if n == len(rest) {
			break
		}
		if rest[n] != '.' {
			return bad()
		}
		rest = rest[n+1:]
	}
	if parts == 1 && (isBulk(name) || slices.Contains(commands, strings.ToUpper(name))) {
		name = "[" + name + "]"
	}
	return name, nil
}

// checkProcedure is procedureName's check alone.
func checkProcedure(name string) error {
	_, err := procedureName(name)
	return err
}

// namePart is the length of the identifier that s begins with: in brackets,
// regular, or empty as the schema in "db..name".
func namePart(s string) (int, bool) {
	if strings.HasPrefix(s, "[") {
		for i := 1; i < len(s); i++ {
			if s[i] != ']' {
				continue
			}
			if i+1 < len(s) && s[i+1] == ']' {
				i++
				continue
			}
			return i + 1, i > 1
		}
		return 0, false
	}
	for i, r := range s {
		switch {
		case r == '.':
			return i, true
		case r == '_' || r == '#' || unicode.IsLetter(r):
		case i > 0 && (r == '@' || r == '$' || unicode.IsDigit(r)):
		default:
			return 0, false
		}
	}
	return len(s), true
}

func (p *paramCache) value(q driver.Param) (any, error) {
	if t, ok := q.Value.(*driver.Table); ok {
		return p.table(t)
	}
	v, err := scalar(q.Type, q.Value)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// scalar is the Go value that go-mssqldb sends as exactly the type t. A NULL
// keeps its type.
func scalar(t driver.SQLType, v any) (any, error) {
	switch t.Name {
	case "int", "bigint", "smallint", "tinyint":
		return integer(t.Name, v)
	case "bit":
		if b, ok := v.(bool); ok || v == nil {
			if v == nil {
				return sql.NullBool{}, nil
			}
			return b, nil
		}
	case "float":
		if v == nil {
			return sql.NullFloat64{}, nil
		}
		if f, ok := v.(float64); ok {
			return f, nil
		}
	case "nvarchar", "sysname":
		if v == nil {
			return sql.NullString{}, nil
		}
		if s, ok := v.(string); ok {
			if t.Len < 0 {
				return mssql.NVarCharMax(s), nil
			}
			return s, nil
		}
	case "varchar":
		if s, ok := v.(string); ok {
			if t.Len < 0 {
				return mssql.VarCharMax(tds.AppendChar(nil, s, tds.DefaultCollation)), nil
			}
			// go-mssqldb would send UTF-8 and call it code page 1252.
			return mssql.VarChar(tds.AppendChar(nil, s, tds.DefaultCollation)), nil
		}
	case "varbinary":
		if b, ok := v.([]byte); ok {
			return b, nil
		}
	case "datetime2":
		if v == nil {
			return mssql.NullDateTime{}, nil
		}
		if d, ok := v.(time.Time); ok && t.Scale == 7 {
			return civil.DateTimeOf(d), nil
		}
	case "date":
		if v == nil {
			return mssql.NullDate{}, nil
		}
		if d, ok := v.(time.Time); ok {
			return civil.DateOf(d), nil
		}
	case "datetime":
		if d, ok := v.(time.Time); ok {
			return mssql.DateTime1(d), nil
		}
	case "uniqueidentifier":
		if v == nil {
			return mssql.NullUniqueIdentifier{}, nil
		}
		if s, ok := v.(string); ok {
			var u mssql.UniqueIdentifier
			if err := u.Scan(s); err != nil {
				return nil, fmt.Errorf("%q is not a uniqueidentifier", s)
			}
			return u, nil
		}
	case "datetimeoffset":
		if d, ok := v.(time.Time); ok && t.Scale == 7 {
			return d, nil
		}
	}
	return nil, fmt.Errorf("a %T cannot be sent as %s through go-mssqldb", v, t.Name)
}

func integer(name string, v any) (any, error) {
	n, ok := v.(int64)
	if !ok && v != nil {
		return nil, fmt.Errorf("a %T cannot be sent as %s", v, name)
	}
	var fits bool
	var out any
	switch name {
	case "tinyint":
		fits, out = n == int64(byte(n)), byte(n)
		if v == nil {
			out = sql.NullByte{}
		}
	case "smallint":
		fits, out = n == int64(int16(n)), int16(n)
		if v == nil {
			out = sql.NullInt16{}
		}
	case "int":
		fits, out = n == int64(int32(n)), int32(n)
		if v == nil {
			out = sql.NullInt32{}
		}
	default:
		fits, out = true, n
		if v == nil {
			out = sql.NullInt64{}
		}
	}
	if !fits {
		return nil, fmt.Errorf("%d does not fit a %s", n, name)
	}
	return out, nil
}

// table makes a slice of structs, which is what go-mssqldb takes for a
// table-valued parameter: the fields' types give the columns' types.
func (p *paramCache) table(t *driver.Table) (any, error) {
	name := t.Schema + "." + t.Name
	row, ok := p.rows[name]
	if !ok {
		var fields []reflect.StructField
		for i, c := range t.Columns {
			sample, err := integer(c.Name, int64(0))
			if err != nil || !strings.HasSuffix(c.Name, "int") {
				return nil, fmt.Errorf("column %d of table type %s: %s cannot be sent through go-mssqldb", i+1, name, c.Name)
			}
			fields = append(fields, reflect.StructField{Name: fmt.Sprintf("C%d", i), Type: reflect.TypeOf(sample)})
		}
		row = reflect.StructOf(fields)
		if p.rows == nil {
			p.rows = map[string]reflect.Type{}
		}
		p.rows[name] = row
	}
	out := reflect.MakeSlice(reflect.SliceOf(row), len(t.Rows), len(t.Rows))
	for i, r := range t.Rows {
		if len(r) != len(t.Columns) {
			return nil, fmt.Errorf("row %d of table type %s has %d values for %d columns", i+1, name, len(r), len(t.Columns))
		}
		for j, v := range r {
			if v == nil {
				return nil, fmt.Errorf("row %d of table type %s: a NULL cannot be sent through go-mssqldb", i+1, name)
			}
			x, err := integer(t.Columns[j].Name, v)
			if err != nil {
				return nil, fmt.Errorf("row %d of table type %s: %w", i+1, name, err)
			}
			out.Index(i).Field(j).Set(reflect.ValueOf(x))
		}
	}
	return mssql.TVP{TypeName: name, Value: out.Interface()}, nil
}

// converter turns go-mssqldb's value of one column into the driver's.
type converter struct{ kind byte }

const (
	asIs   = 0
	asText = 't' // decimals come as the bytes of their digits
	asGUID = 'g'
)

func (c converter) value(v any) any {
	b, ok := v.([]byte)
	if !ok {
		return v
	}
	switch c.kind {
	case asText:
		return string(b)
	case asGUID:
		var u mssql.UniqueIdentifier
		if u.Scan(b) == nil {
			return u.String()
		}
	}
	return v
}

// column describes column i of a result set, and how its values are read.
func column(rows *mssql.Rowsq, i int, name string) (driver.Column, converter) {
	c := converter{kind: asIs}
	t := columnType(rows, i)
	switch t.Name {
	case "decimal", "numeric", "money", "smallmoney":
		c.kind = asText
	case "uniqueidentifier":
		c.kind = asGUID
	}
	nullable, _ := rows.ColumnTypeNullable(i)
	return driver.Column{Name: name, Type: t, Nullable: nullable}, c
}

// columnType is what go-mssqldb tells of a column's type. It panics on types
// that it can read and has no name for, such as users' CLR types.
func columnType(rows *mssql.Rowsq, i int) (t driver.SQLType) {
	defer func() {
		if recover() != nil && t.Name == "" {
			t.Name = "udt"
		}
	}()
	t.Name = strings.ToLower(rows.ColumnTypeDatabaseTypeName(i))
	if n, ok := rows.ColumnTypeLength(i); ok {
		t.Len = int32(min(n, 1<<30))
		if n > 8000 {
			t.Len = -1
		}
	}
	if p, s, ok := rows.ColumnTypePrecisionScale(i); ok {
		t.Prec, t.Scale = uint8(p), uint8(s)
	}
	return t
}
