package script

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	one := func(text string) []Batch { return []Batch{{Text: text, Line: 1, Count: 1}} }
	tests := map[string]struct {
		in   string
		want []Batch
	}{
		"one batch":                     {"select 1", one("select 1")},
		"two batches":                   {"select 1\nGO\nselect 2\n", []Batch{{"select 1", 1, 1}, {"select 2", 3, 1}}},
		"any case and blanks":           {"select 1\n \t gO \t\nselect 2", []Batch{{"select 1", 1, 1}, {"select 2", 3, 1}}},
		"last newline is optional":      {"select 1\nGO", one("select 1")},
		"windows line ends":             {"select 1\r\nGO\r\nselect 2\r\n", []Batch{{"select 1", 1, 1}, {"select 2", 3, 1}}},
		"old mac line ends":             {"select 1\rGO\rselect 2", []Batch{{"select 1", 1, 1}, {"select 2", 3, 1}}},
		"count":                         {"insert t default values\nGO 500000\n", []Batch{{"insert t default values", 1, 500000}}},
		"count at the end of the file":  {"select 1\nGO 3", []Batch{{"select 1", 1, 3}}},
		"count of zero":                 {"select 1\nGO 0\nselect 2", []Batch{{"select 1", 1, 0}, {"select 2", 3, 1}}},
		"comment behind GO":             {"select 1\nGO -- note\nselect 2", []Batch{{"select 1", 1, 1}, {"select 2", 3, 1}}},
		"comment glued to GO":           {"select 1\nGO--note", one("select 1")},
		"comment behind the count":      {"select 1\nGO 2--twice", []Batch{{"select 1", 1, 2}}},
		"block comment behind GO":       {"select 1\nGO /* a */ 	-- b\nselect 2", []Batch{{"select 1", 1, 1}, {"select 2", 3, 1}}},
		"block comment that goes on":    {"select 1\nGO /* a\nGO\n*/ select 2", []Batch{{"select 1", 1, 1}, {"/* a\nGO\n*/ select 2", 2, 1}}},
		"in a string":                   {"select 'a\nGO\nb'", one("select 'a\nGO\nb'")},
		"in a string with quotes":       {"select 'it''s\nGO\n'\nGO", one("select 'it''s\nGO\n'")},
		"in brackets":                   {"select 1 as [a\nGO\nb]", one("select 1 as [a\nGO\nb]")},
		"in brackets with a bracket":    {"select 1 as [a]]\nGO\nb]", one("select 1 as [a]]\nGO\nb]")},
		"in a quoted identifier":        {"select 1 as \"a\nGO\n\"", one("select 1 as \"a\nGO\n\"")},
		"in a block comment":            {"/* a\nGO\n*/ select 1", one("/* a\nGO\n*/ select 1")},
		"in a nested comment":           {"/* a /* b\n*/\nGO\n*/ select 1", one("/* a /* b\n*/\nGO\n*/ select 1")},
		"quote in a line comment":       {"-- it's\nGO\nselect 1", []Batch{{"-- it's", 1, 1}, {"select 1", 3, 1}}},
		"column that begins with go":    {"select\nGO_col from t", one("select\nGO_col from t")},
		"alias gone":                    {"select 1\ngone", one("select 1\ngone")},
		"GO behind text":                {"select 1 GO\n", one("select 1 GO")},
		"goto":                          {"a:\ngoto a", one("a:\ngoto a")},
		"empty batches are left out":    {"GO\n\nGO\nselect 1\nGO\n  \nGO", []Batch{{"select 1", 4, 1}}},
		"only GO":                       {"GO\n", nil},
		"nothing":                       {"", nil},
		"lines count through strings":   {"select 'a\nb'\nGO\nselect 2", []Batch{{"select 'a\nb'", 1, 1}, {"select 2", 4, 1}}},
		"text is kept to the letter":    {"\n\n  select 1  \n\nGO", []Batch{{"\n\n  select 1  \n", 1, 1}}},
		"mark at the beginning":         {"\ufeffselect 1", one("select 1")},
		"mark before GO":                {"select 1\n\ufeffGO\n\ufeffselect 2", []Batch{{"select 1", 1, 1}, {"select 2", 3, 1}}},
		"mark behind GO":                {"select 1\nGO\ufeff\nselect 2", []Batch{{"select 1", 1, 1}, {"select 2", 3, 1}}},
		"marks between files":           {"select 1\r\n\ufeff\ufeffselect 2\ufeffselect 3\nGO 2", []Batch{{"select 1\r\nselect 2 select 3", 1, 2}}},
		"mark in quotes and comments":   {"select '\ufeff', [\ufeff]\n-- \ufeff\n/* \ufeff */", one("select '\ufeff', [\ufeff]\n-- \ufeff\n/* \ufeff */")},
		"only marks":                    {"\ufeff\n\ufeff", nil},
		"unclosed string takes the end": {"select 'a\nGO\n", one("select 'a\nGO")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Split("f.sql", tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("batches (-want +got):\n%s", d)
			}
		})
	}
}

func TestSplitFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"negative count":   {"select 1\nGO -3", "f.sql, line 2: the count behind GO is negative: -3"},
		"unreadable count": {"select 1\n\nGO now", `f.sql, line 3: GO must be followed by a count or nothing, not by "now"`},
		"signed count":     {"select 1\nGO +3", `f.sql, line 2: GO must be followed by a count or nothing, not by "+3"`},
		"huge count":       {"select 1\nGO 2147483648", "f.sql, line 2: the count behind GO is above 2147483647: 2147483648"},
		"text behind it":   {"select 1\nGO 3 select 2", `f.sql, line 2: only a comment may follow GO and its count, not "select 2"`},
		"file glued to GO": {"select 1\nGO\ufeffselect 2", `f.sql, line 2: GO must be followed by a count or nothing, not by "select"`},
		"semicolon":        {"select 1\nGO;", "f.sql, line 2: GO takes no semicolon: it must stand alone on its line, with at most a count and a comment"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Split("f.sql", tt.in)
			var e *Error
			if !errors.As(err, &e) || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("select 1\nGO 2\nselect '\nGO\n'")
	f.Add("/* /* */ */\r\nGO /* x\n*/ select [a]]b]")
	f.Add("GO\rGO 3--\n\"")
	f.Add("\ufeffselect 1\ufeff\nGO\ufeff/*\n*/\n\ufeff'\ufeff'")
	f.Fuzz(func(t *testing.T, text string) {
		batches, err := Split("f", text)
		if err != nil {
			return
		}
		rest, line := text, 1
		for _, b := range batches {
			i := strings.Index(rest, b.Text)
			if strings.Contains(text, mark) {
				i, rest = 0, b.Text // marks are left out
			}
			if i < 0 {
				t.Fatalf("batch %q is not text of the input, in order", b.Text)
			}
			if b.Count < 0 || b.Count > MaxCount {
				t.Fatalf("count %d", b.Count)
			}
			if b.Line < line || b.Line > 1+lineBreaks(text) {
				t.Fatalf("batch begins on line %d of %d, after line %d", b.Line, 1+lineBreaks(text), line)
			}
			line = b.Line
			rest = rest[i+len(b.Text):]
		}
	})
}
