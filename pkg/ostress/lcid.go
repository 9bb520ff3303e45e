package ostress

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gostress/pkg/driver"
)

// forms are how a language writes: its tag, its decimal separator, and Go layouts
// of a date and of a time of day.
type forms struct{ tag, decimal, date, clock string }

// Locale says how dates and numbers look in result files of text (-L). The zero
// Locale is the neutral one: 2006-01-02 15:04:05.000 and 1234.56. None groups
// digits, and none leaves a digit out.
type Locale struct {
	ID uint32 // the LCID
	forms
}

// neutralLCIDs are those that name no language: none given, the user's default,
// the invariant one, the system's default.
var neutralLCIDs = map[uint32]string{0: "neutral", 0x400: "neutral", 0x7F: "invariant", 0x800: "neutral"}

// ParseLCID reads a language id, decimal or hexadecimal (0x0407). The error is an *ArgError.
func ParseLCID(text string) (Locale, error) {
	bad := func(why string) (Locale, error) {
		return Locale{}, &ArgError{fmt.Sprintf("-L%s: %s; 1033 is en-US, 1024 the neutral one", text, why)}
	}
	digits, base := text, 10
	if rest, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		digits, base = rest, 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil {
		return bad("not a language id (LCID), which is a whole number")
	}
	id := uint32(n)
	if _, ok := neutralLCIDs[id]; ok {
		return Locale{ID: id}, nil
	}
	known := lcids()
	f, ok := known[id]
	if !ok && id < 0x400 {
		// A language of no country has the forms of its main one.
		if f, ok = known[id|0x400]; ok {
			f.tag = withoutRegion(f.tag)
		}
	}
	if !ok {
		return bad("no language with this id (LCID) is known")
	}
	return Locale{ID: id, forms: f}, nil
}

func withoutRegion(tag string) string {
	if i := strings.LastIndexByte(tag, '-'); i >= 0 && strings.ToUpper(tag[i+1:]) == tag[i+1:] {
		return tag[:i]
	}
	return tag
}

// Neutral says that l is no language's.
func (l Locale) Neutral() bool { return l.tag == "" }

// Tag is the language's tag, such as en-US.
func (l Locale) Tag() string { return cmp.Or(l.tag, neutralLCIDs[l.ID]) }

// LogLine is what ostress says of the language in its log. NLS is the release of
// the forms, Defined that of the characters.
func (l Locale) LogLine() string {
	nls, defined := "none", "none"
	if !l.Neutral() {
		nls, defined = "CLDR 48", "Unicode "+unicode.Version
	}
	return fmt.Sprintf("Using language id (LCID): %d [%s] for character formatting with NLS: %s and Defined: %s", l.ID, l.Tag(), nls, defined)
}

// number writes a number given with a decimal point.
func (l Locale) number(s string) string {
	if l.decimal == "" || l.decimal == "." {
		return s
	}
	return strings.Replace(s, ".", l.decimal, 1)
}

// timeLayout is the Go layout of a column's values.
func (l Locale) timeLayout(t driver.SQLType) string {
	date, clock, point := l.date, l.clock, l.decimal
	if l.Neutral() {
		date, clock, point = time.DateOnly, time.TimeOnly, "."
	}
	switch t.Name {
	case "datetime":
		clock += point + "000"
	case "time", "datetime2", "datetimeoffset":
		if t.Scale > 0 {
			clock += point + strings.Repeat("0", min(int(t.Scale), 9))
		}
	case "date", "smalldatetime":
	default: // a value in a sql_variant
		clock += point + "9999999"
	}
	if strings.HasPrefix(clock, "03") {
		clock += " PM"
	}
	switch t.Name {
	case "date":
		return date
	case "time":
		return clock
	case "datetimeoffset":
		return date + " " + clock + " -07:00"
	}
	return date + " " + clock
}
