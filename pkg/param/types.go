// Package param gives statements their parameters: rows of a file or a query, and generators, bound
// to the @names of a batch as typed parameters or, when asked, as text.
package param

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/google/uuid"

	"gostress/pkg/driver"
)

// Column is a parameter: its name without the @, and its type.
type Column struct {
	Name string
	Type driver.SQLType
}

// ParseColumn reads a declaration: @id:int, @name:nvarchar(40), @price:decimal(10,2). The @ may be
// missing; without a type it is fallback.
func ParseColumn(s string, fallback driver.SQLType) (Column, error) {
	name, typ, typed := strings.Cut(strings.TrimSpace(s), ":")
	c := Column{Name: strings.TrimPrefix(strings.TrimSpace(name), "@"), Type: fallback}
	if !isName(c.Name) {
		return Column{}, fmt.Errorf("%q is no parameter's name: write letters, digits and _, as in @id:int", name)
	}
	if !typed {
		return c, nil
	}
	var err error
	if c.Type, err = ParseType(typ); err != nil {
		return Column{}, fmt.Errorf("parameter @%s: %w", c.Name, err)
	}
	return c, nil
}

// ParseColumns reads declarations with commas between them: @id:int,@price:decimal(10,2).
func ParseColumns(s string) ([]Column, error) {
	var out []Column
	for _, part := range joinTypes(strings.Split(s, ",")) {
		c, err := ParseColumn(part, text)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func isName(s string) bool {
	for i, r := range s {
		if r != '_' && r != '$' && r != '#' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != "" && len(utf16.Encode([]rune(s))) <= 127
}

// size is what stands in parentheses behind a type's name.
type size uint8

const (
	noSize size = iota
	length
	scale
	precision
)

func sizes() map[string]size {
	return map[string]size{
		"bit": noSize, "tinyint": noSize, "smallint": noSize, "int": noSize, "bigint": noSize, "real": noSize, "float": noSize,
		"money": noSize, "smallmoney": noSize, "date": noSize, "datetime": noSize, "smalldatetime": noSize, "uniqueidentifier": noSize,
		"decimal": precision, "numeric": precision, "time": scale, "datetime2": scale, "datetimeoffset": scale,
		"char": length, "varchar": length, "nchar": length, "nvarchar": length, "binary": length, "varbinary": length,
	}
}

// ParseType reads a type as T-SQL spells it. As in T-SQL, a length that is missing is 1, decimal is
// decimal(18,0), and the scale of times is 7.
func ParseType(s string) (driver.SQLType, error) {
	name, rest, sized := strings.Cut(strings.ToLower(strings.TrimSpace(s)), "(")
	t := driver.SQLType{Name: strings.TrimSpace(name)}
	kind, known := sizes()[t.Name]
	if !known {
		return t, fmt.Errorf("%q is no type that a parameter can have", s)
	}
	var numbers []int
	if sized {
		inside, closed := strings.CutSuffix(strings.TrimSpace(rest), ")")
		if !closed || kind == noSize {
			return t, fmt.Errorf("%q is no type: write it as in T-SQL", s)
		}
		for _, part := range strings.Split(inside, ",") {
			part = strings.TrimSpace(part)
			if part == "max" && kind == length && strings.HasPrefix(strings.TrimPrefix(t.Name, "n"), "var") {
				numbers = append(numbers, -1)
				continue
			}
			n, err := strconv.Atoi(part)
			if err != nil || n < 0 {
				return t, fmt.Errorf("%q is no type: %q is no size", s, part)
			}
			numbers = append(numbers, n)
		}
	}
	most := map[size]int{noSize: 0, length: 1, scale: 1, precision: 2}[kind]
	if len(numbers) > most {
		return t, fmt.Errorf("%q is no type: it has too many sizes", s)
	}
	switch kind {
	case length:
		limit := 8000
		if t.Name == "nchar" || t.Name == "nvarchar" {
			limit = 4000
		}
		t.Len = 1
		if len(numbers) == 1 {
			t.Len = int32(min(numbers[0], limit+1))
		}
		if t.Len == 0 || int(t.Len) > limit {
			return t, fmt.Errorf("%q is no type: its length lies between 1 and %d", s, limit)
		}
	case scale:
		t.Scale = 7
		if len(numbers) == 1 {
			t.Scale = uint8(min(numbers[0], 8))
		}
		if t.Scale > 7 {
			return t, fmt.Errorf("%q is no type: its scale lies between 0 and 7", s)
		}
	case precision:
		t.Prec = 18
		if len(numbers) > 0 {
			t.Prec = uint8(min(numbers[0], 39))
		}
		if len(numbers) == 2 {
			t.Scale = uint8(min(numbers[1], 39))
		}
		if t.Prec < 1 || t.Prec > 38 || t.Scale > t.Prec {
			return t, fmt.Errorf("%q is no type: its precision lies between 1 and 38, its scale between 0 and that", s)
		}
	}
	return t, nil
}

// TypeName is a type as T-SQL spells it.
func TypeName(t driver.SQLType) string {
	switch sizes()[t.Name] {
	case length:
		if t.Len < 0 {
			return t.Name + "(max)"
		}
		return fmt.Sprintf("%s(%d)", t.Name, t.Len)
	case scale:
		return fmt.Sprintf("%s(%d)", t.Name, t.Scale)
	case precision:
		return fmt.Sprintf("%s(%d,%d)", t.Name, t.Prec, t.Scale)
	}
	return t.Name
}

// layouts are the forms of dates and times that are read.
var layouts = []string{
	"2006-01-02", "2006-01-02 15:04", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999",
	"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999 Z07:00", "20060102", "15:04", "15:04:05.999999999",
}

// Convert makes the value of a parameter of type t from text.
func Convert(s string, t driver.SQLType) (any, error) {
	bad := func() (any, error) { return nil, fmt.Errorf("%q is no %s", short(s), TypeName(t)) }
	trimmed := strings.TrimSpace(s)
	switch t.Name {
	case "bit":
		switch strings.ToLower(trimmed) {
		case "1", "true":
			return true, nil
		case "0", "false":
			return false, nil
		}
		return bad()
	case "tinyint", "smallint", "int", "bigint":
		n, err := strconv.ParseInt(trimmed, 10, 64)
		if lo, hi := integerRange(t.Name); err != nil || n < lo || n > hi {
			return bad()
		}
		return n, nil
	case "real", "float":
		f, err := strconv.ParseFloat(trimmed, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || t.Name == "real" && math.Abs(f) > math.MaxFloat32 {
			return bad()
		}
		return f, nil
	case "decimal", "numeric":
		return decimal(trimmed, t, int(t.Prec), int(t.Scale))
	case "money":
		return decimal(trimmed, t, 19, 4)
	case "smallmoney":
		return decimal(trimmed, t, 10, 4)
	case "uniqueidentifier":
		u, err := uuid.Parse(trimmed)
		if err != nil {
			return bad()
		}
		return u.String(), nil
	case "binary", "varbinary":
		digits, ok := strings.CutPrefix(strings.ToLower(trimmed), "0x")
		b, err := hex.DecodeString(digits)
		if !ok || err != nil || t.Len >= 0 && len(b) > int(t.Len) {
			return bad()
		}
		return b, nil
	case "date", "time", "datetime", "smalldatetime", "datetime2", "datetimeoffset":
		for _, layout := range layouts {
			if d, err := time.Parse(layout, trimmed); err == nil {
				return d, nil
			}
		}
		return bad()
	}
	if t.Len >= 0 && len(utf16.Encode([]rune(s))) > int(t.Len) {
		return nil, fmt.Errorf("%q is too long for %s", short(s), TypeName(t))
	}
	return s, nil
}

func integerRange(name string) (lo, hi int64) {
	switch name {
	case "tinyint":
		return 0, math.MaxUint8
	case "smallint":
		return math.MinInt16, math.MaxInt16
	case "int":
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

// decimal checks a number and writes it with its type's scale; a digit more is an error, as rounding
// would change what was asked for.
func decimal(s string, t driver.SQLType, prec, scale int) (any, error) {
	r, ok := new(big.Rat).SetString(s)
	if !ok || strings.ContainsAny(s, "/xXpP_") || len(s) > 100 {
		return nil, fmt.Errorf("%q is no %s", short(s), TypeName(t))
	}
	text := r.FloatString(scale)
	back, _ := new(big.Rat).SetString(text)
	digits := strings.TrimLeft(strings.Map(func(c rune) rune {
		if c < '0' || c > '9' {
			return -1
		}
		return c
	}, text), "0")
	if back.Cmp(r) != 0 || len(digits) > prec {
		return nil, fmt.Errorf("%q does not fit %s", short(s), TypeName(t))
	}
	return text, nil
}

func short(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
