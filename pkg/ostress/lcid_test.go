package ostress

import (
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"

	"gostress/pkg/driver"
)

func TestLocales(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 3, 16, 4, 5, 123456700, time.UTC)
	tests := map[string]struct{ tag, datetime2, date, money string }{
		"0":      {"neutral", "2026-02-03 16:04:05.1234567", "2026-02-03", "-1234.5600"},
		"127":    {"invariant", "2026-02-03 16:04:05.1234567", "2026-02-03", "-1234.5600"},
		"1024":   {"neutral", "2026-02-03 16:04:05.1234567", "2026-02-03", "-1234.5600"},
		"1033":   {"en-US", "02/03/2026 04:04:05.1234567 PM", "02/03/2026", "-1234.5600"},
		"0x0409": {"en-US", "02/03/2026 04:04:05.1234567 PM", "02/03/2026", "-1234.5600"},
		"9":      {"en", "02/03/2026 04:04:05.1234567 PM", "02/03/2026", "-1234.5600"},
		"2057":   {"en-GB", "03/02/2026 16:04:05.1234567", "03/02/2026", "-1234.5600"},
		"1031":   {"de-DE", "03.02.2026 16:04:05,1234567", "03.02.2026", "-1234,5600"},
		"7":      {"de", "03.02.2026 16:04:05,1234567", "03.02.2026", "-1234,5600"},
		"1036":   {"fr-FR", "03/02/2026 16:04:05,1234567", "03/02/2026", "-1234,5600"},
		"1040":   {"it-IT", "03/02/2026 16:04:05,1234567", "03/02/2026", "-1234,5600"},
		"1041":   {"ja-JP", "2026/02/03 16:04:05.1234567", "2026/02/03", "-1234.5600"},
		"1043":   {"nl-NL", "03-02-2026 16:04:05,1234567", "03-02-2026", "-1234,5600"},
		"1046":   {"pt-BR", "03/02/2026 16:04:05,1234567", "03/02/2026", "-1234,5600"},
		"1049":   {"ru-RU", "03.02.2026 16:04:05,1234567", "03.02.2026", "-1234,5600"},
		"1053":   {"sv-SE", "2026-02-03 16:04:05,1234567", "2026-02-03", "-1234,5600"},
		"1035":   {"fi-FI", "03.02.2026 16.04.05,1234567", "03.02.2026", "-1234,5600"},
		"2052":   {"zh-CN", "2026/02/03 16:04:05.1234567", "2026/02/03", "-1234.5600"},
		"4":      {"zh-Hans", "2026/02/03 16:04:05.1234567", "2026/02/03", "-1234.5600"},
		"2070":   {"pt-PT", "03/02/2026 16:04:05,1234567", "03/02/2026", "-1234,5600"},
		"3082":   {"es-ES", "03/02/2026 16:04:05,1234567", "03/02/2026", "-1234,5600"},
		"66567":  {"de-DE", "03.02.2026 16:04:05,1234567", "03.02.2026", "-1234,5600"},
	}
	for id, tt := range tests {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			l, err := ParseLCID(id)
			if err != nil {
				t.Fatal(err)
			}
			if l.Tag() != tt.tag || !strings.Contains(l.LogLine(), " ["+tt.tag+"] for character formatting with NLS: ") {
				t.Errorf("tag %s, line %s", l.Tag(), l.LogLine())
			}
			for _, v := range []struct {
				typ   driver.SQLType
				value any
				want  string
			}{
				{driver.SQLType{Name: "datetime2", Scale: 7}, at, tt.datetime2},
				{driver.SQLType{Name: "date"}, at, tt.date},
				{driver.SQLType{Name: "money"}, "-1234.5600", tt.money},
				{driver.SQLType{Name: "varchar"}, "-1234.5600", "-1234.5600"},
				{driver.SQLType{Name: "float"}, -1234.5, strings.TrimSuffix(tt.money, "600")},
				{driver.SQLType{Name: "int"}, int64(-1234567), "-1234567"},
			} {
				if got := newValueForm(v.typ, l).text(v.value); got != v.want {
					t.Errorf("%s: %q, want %q", v.typ.Name, got, v.want)
				}
			}
		})
	}
}

func TestUnknownLCIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"1", "german", "-1", "99999999999", "4096", "3072", "0x", "0xZZ", "", "1033.5", " 1033", "77777"} {
		_, err := ParseLCID(id)
		var ae *ArgError
		if id == "1" { // Arabic, of its main country
			if err != nil {
				t.Error(err)
			}
		} else if !errors.As(err, &ae) || !strings.Contains(err.Error(), "-L"+id+": ") {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestEveryLocaleIsExact reads back what each locale writes: dates, times and
// numbers keep all they have. The decimal separator is held against the tables
// of golang.org/x/text, where those know the language.
func TestEveryLocaleIsExact(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 2, 23, 4, 5, 123456700, time.UTC)
	held := 0
	for id, f := range lcids() {
		l := Locale{ID: id, forms: f}
		typ := driver.SQLType{Name: "datetime2", Scale: 7}
		form := newValueForm(typ, l)
		text := form.text(at)
		if back, err := time.Parse(form.layout, text); err != nil || !back.Equal(at) {
			t.Errorf("%s: %s is read as %v, %v", f.tag, text, back, err)
		}
		if w, _ := form.columnWidth(); w < len(text) {
			t.Errorf("%s: %s is wider than its column, %d", f.tag, text, w)
		}
		typ = driver.SQLType{Name: "decimal", Prec: 38, Scale: 10}
		const n = "-1234567890123456789012345678.0123456789"
		if got := newValueForm(typ, l).text(n); strings.Replace(got, f.decimal, ".", 1) != n {
			t.Errorf("%s: %s", f.tag, got)
		}
		tag, err := language.Parse(f.tag + "-u-nu-latn")
		if err != nil {
			t.Errorf("%s is no tag: %v", f.tag, err)
			continue
		}
		if want := message.NewPrinter(tag).Sprint(number.Decimal(1.5)); want == "1"+f.decimal+"5" {
			held++
		}
	}
	if held < 180 {
		t.Errorf("only %d separators are as in golang.org/x/text", held)
	}
}
