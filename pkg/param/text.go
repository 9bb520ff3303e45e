package param

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gostress/pkg/driver"
)

// mention is a place in a batch where @name stands.
type mention struct {
	from, to int    // bytes, the @ included
	name     string // without it
}

// mentions finds the @names of a batch outside of strings, quoted names and comments. @@names are
// the server's own.
func mentions(sql string) []mention {
	var out []mention
	for i := 0; i < len(sql); {
		switch c := sql[i]; {
		case c == '\'' || c == '"' || c == '[':
			i = closing(sql, i)
		case strings.HasPrefix(sql[i:], "--"):
			if n := strings.IndexByte(sql[i:], '\n'); n >= 0 {
				i += n + 1
			} else {
				i = len(sql)
			}
		case strings.HasPrefix(sql[i:], "/*"):
			i = comment(sql, i)
		case c == '@':
			end := i + 1
			for end < len(sql) {
				r, n := utf8.DecodeRuneInString(sql[end:])
				if !part(r) {
					break
				}
				end += n
			}
			if name := sql[i+1 : end]; name != "" && !strings.HasPrefix(name, "@") {
				out = append(out, mention{i, end, name})
			}
			i = max(end, i+1)
		default:
			r, n := utf8.DecodeRuneInString(sql[i:])
			if !part(r) {
				i += n
				continue
			}
			// A name such as a@b is one word.
			for i < len(sql) {
				r, n := utf8.DecodeRuneInString(sql[i:])
				if !part(r) {
					break
				}
				i += n
			}
		}
	}
	return out
}

func part(r rune) bool {
	return r == '_' || r == '@' || r == '$' || r == '#' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// closing is the place behind the string or quoted name that begins at i.
func closing(sql string, i int) int {
	end := sql[i]
	if end == '[' {
		end = ']'
	}
	for i++; i < len(sql); i++ {
		if sql[i] != end {
			continue
		}
		if i+1 < len(sql) && sql[i+1] == end {
			i++
			continue
		}
		return i + 1
	}
	return len(sql)
}

// comment is the place behind the comment that begins at i; T-SQL's nest.
func comment(sql string, i int) int {
	depth := 0
	for i < len(sql) {
		switch {
		case strings.HasPrefix(sql[i:], "/*"):
			depth++
			i += 2
		case strings.HasPrefix(sql[i:], "*/"):
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return i
}

// declared are the names that DECLARE brings into a batch: such a name is the batch's own.
func declared(sql string, at []mention) map[string]bool {
	out := map[string]bool{}
	for i, m := range at {
		before := behind(sql, m)
		if strings.HasSuffix(before, "DECLARE") {
			out[strings.ToLower(m.name)] = true
			continue
		}
		// DECLARE @a int, @b int: a comma and a type make the next one declared too.
		if i > 0 && out[strings.ToLower(at[i-1].name)] && strings.HasSuffix(before, ",") && looksDeclared(sql[m.to:]) &&
			!strings.Contains(sql[at[i-1].to:m.from], ";") {
			out[strings.ToLower(m.name)] = true
		}
	}
	return out
}

// behind is what stands before a mention, in capitals: as far as a statement's words may reach, so
// that a long script costs no more than its length.
func behind(sql string, m mention) string {
	const far = 2048
	return strings.ToUpper(strings.TrimRight(sql[max(0, m.from-far):m.from], " \t\r\n"))
}

// looksDeclared says that a type's name follows.
func looksDeclared(rest string) bool {
	const far = 300
	word := strings.FieldsFunc(strings.TrimLeft(rest[:min(len(rest), far)], " \t\r\n"), func(r rune) bool { return !part(r) && r != '.' })
	if len(word) == 0 {
		return false
	}
	name := strings.ToLower(word[0])
	_, known := sizes()[name]
	return known || name == "as" || name == "table" || name == "sysname" || name == "xml" || name == "sql_variant"
}

// Binding is how a batch uses the parameters of a set.
type Binding struct {
	sql     string
	at      []mention
	columns []Column
	used    []int // indexes into columns
}

// Bind finds what a batch uses of the columns.
func Bind(sql string, columns []Column) Binding {
	b := Binding{sql: sql, columns: columns}
	all := mentions(sql)
	own := declared(sql, all)
	for _, m := range all {
		i := slices.IndexFunc(columns, func(c Column) bool { return strings.EqualFold(c.Name, m.name) })
		if i < 0 || own[strings.ToLower(m.name)] || assigned(sql, m) {
			continue
		}
		b.at = append(b.at, m)
		if !slices.Contains(b.used, i) {
			b.used = append(b.used, i)
		}
	}
	return b
}

// assigned says that a mention is the name of a procedure's own parameter: EXEC p @id = ...
func assigned(sql string, m mention) bool {
	rest := strings.TrimLeft(sql[m.to:], " \t\r\n")
	if !strings.HasPrefix(rest, "=") {
		return false
	}
	before := behind(sql, m)
	if strings.HasSuffix(before, ",") || before == "" {
		// In a list: of an EXEC's arguments, or of a SELECT's or SET's, where it is a variable.
		before = before[strings.LastIndexByte(before, ';')+1:]
		for _, word := range []string{"EXEC ", "EXECUTE "} {
			if i := strings.LastIndex(before, word); i >= 0 && i > strings.LastIndex(before, "SELECT ") && i > strings.LastIndex(before, "SET ") {
				return true
			}
		}
		return false
	}
	words := strings.Fields(before)
	n := len(words)
	return n >= 2 && (words[n-2] == "EXEC" || words[n-2] == "EXECUTE")
}

// Used are the columns that the batch uses.
func (b Binding) Used() []Column {
	out := make([]Column, len(b.used))
	for i, u := range b.used {
		out[i] = b.columns[u]
	}
	return out
}

// Params are the parameters for the batch of a row of values in the order of the columns.
func (b Binding) Params(values []any) []driver.Param {
	out := make([]driver.Param, len(b.used))
	for i, u := range b.used {
		out[i] = driver.Param{Name: "@" + b.columns[u].Name, Type: b.columns[u].Type, Value: values[u]}
	}
	return out
}

// Inline is the batch with literals in place of the names. Each row makes a text, and so a plan, of
// its own.
func (b Binding) Inline(values []any) string {
	var out strings.Builder
	last := 0
	for _, m := range b.at {
		i := slices.IndexFunc(b.columns, func(c Column) bool { return strings.EqualFold(c.Name, m.name) })
		out.WriteString(b.sql[last:m.from])
		out.WriteString(literal(values[i], b.columns[i].Type))
		last = m.to
	}
	out.WriteString(b.sql[last:])
	return out.String()
}

// literal is a value as T-SQL spells it.
func literal(v any, t driver.SQLType) string {
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	switch v := v.(type) {
	case nil:
		return "NULL"
	case bool:
		if v {
			return "1"
		}
		return "0"
	case int64:
		if v < 0 {
			return fmt.Sprintf("(%d)", v) // a - before it would make a comment
		}
		return strconv.FormatInt(v, 10)
	case float64:
		return "(" + strconv.FormatFloat(v, 'E', -1, 64) + ")"
	case []byte:
		return fmt.Sprintf("0x%x", v)
	case time.Time:
		switch t.Name {
		case "date":
			return quoted(v.Format("2006-01-02"))
		case "time":
			return quoted(v.Format("15:04:05.0000000"))
		case "datetime", "smalldatetime":
			return quoted(v.Format("2006-01-02T15:04:05.000"))
		case "datetimeoffset":
			return quoted(v.Format("2006-01-02T15:04:05.0000000Z07:00"))
		}
		return quoted(v.Format("2006-01-02T15:04:05.0000000"))
	case string:
		switch t.Name {
		case "decimal", "numeric", "money", "smallmoney":
			return "(" + v + ")"
		case "char", "varchar", "uniqueidentifier":
			return quoted(v)
		}
		return "N" + quoted(v)
	}
	return "N" + quoted(fmt.Sprint(v))
}

// Sqlcmd replaces sqlcmd's $(name), wherever it stands, by what lookup knows of it. A name that it
// does not know is an error with its line.
func Sqlcmd(sql string, lookup func(name string) (string, bool)) (string, error) {
	var out strings.Builder
	line := 1
	for {
		i := strings.Index(sql, "$(")
		if i < 0 {
			out.WriteString(sql)
			return out.String(), nil
		}
		out.WriteString(sql[:i])
		line += strings.Count(sql[:i], "\n")
		end := strings.IndexByte(sql[i:], ')')
		name := ""
		if end > 0 {
			name = sql[i+2 : i+end]
		}
		if end < 0 || !variableName(name) {
			out.WriteString("$(")
			sql = sql[i+2:]
			continue
		}
		value, ok := lookup(name)
		if !ok {
			return "", &VariableError{Name: name, Line: line}
		}
		out.WriteString(value)
		sql = sql[i+end+1:]
	}
}

func variableName(s string) bool {
	for _, r := range s {
		if r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return s != ""
}

// VariableError is a $(name) without a value.
type VariableError struct {
	Name string
	Line int // from 1
}

func (e *VariableError) Error() string {
	return fmt.Sprintf("line %d: $(%s) has no value: --sqlcmd-vars %s=... gives it one", e.Line, e.Name, e.Name)
}
