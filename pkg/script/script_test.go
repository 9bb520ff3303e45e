package script

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

func utf16Bytes(s string, big, bom bool) []byte {
	u := utf16.Encode([]rune(s))
	if bom {
		u = append([]uint16{0xFEFF}, u...)
	}
	out := make([]byte, 0, 2*len(u))
	for _, c := range u {
		if big {
			out = append(out, byte(c>>8), byte(c))
		} else {
			out = append(out, byte(c), byte(c>>8))
		}
	}
	return out
}

func TestDecode(t *testing.T) {
	t.Parallel()
	const text = "select N'größe – 漢字 𝄞'\nGO\n"
	const latin = "select 'größe'\nGO\n"
	tests := map[string]struct {
		in   []byte
		want string
		enc  Encoding
	}{
		"UTF-8":                {[]byte(text), text, UTF8},
		"UTF-8 with BOM":       {append([]byte{0xEF, 0xBB, 0xBF}, text...), text, UTF8BOM},
		"UTF-16LE with BOM":    {utf16Bytes(text, false, true), text, UTF16LE},
		"UTF-16BE with BOM":    {utf16Bytes(text, true, true), text, UTF16BE},
		"UTF-16LE without BOM": {utf16Bytes(latin, false, false), latin, UTF16LE},
		"UTF-16BE without BOM": {utf16Bytes(latin, true, false), latin, UTF16BE},
		"Windows-1252":         {[]byte("select 'gr\xf6\xdfe \x80 \x96'"), "select 'größe € –'", Windows1252},
		"empty":                {nil, "", UTF8},
		"BOM alone":            {[]byte{0xFF, 0xFE}, "", UTF16LE},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, enc, err := Decode(tt.in)
			if err != nil || got != tt.want || enc != tt.enc {
				t.Errorf("got %q, %s, %v; want %q, %s", got, enc, err, tt.want, tt.enc)
			}
		})
	}
}

func TestDecodeFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   []byte
		want string
	}{
		"NUL":              {[]byte("select 1\nselect \x00 2 as a_long_name_for_the_column"), "line 2"},
		"odd UTF-16":       {append(utf16Bytes("select 1", false, true), 'x'), "in the middle"},
		"UTF-8 BOM, Latin": {[]byte("\xEF\xBB\xBFselect 1\n\n'\xf6'"), "line 3"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := Decode(tt.in)
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it to say %q", err, tt.want)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	tests := map[string]struct {
		path string
		want string // of the error; "" = none
	}{
		"fine":        {write("a.sql", "select 1"), ""},
		"empty":       {write("empty.sql", ""), "nothing to run"},
		"only GO":     {write("go.sql", "GO\n\n go 5\n"), "nothing to run"},
		"missing":     {filepath.Join(dir, "none.sql"), "cannot read the input file: no such file"},
		"a directory": {dir, "cannot read the input file"},
		"bad count":   {write("bad.sql", "select 1\nGO x"), "bad.sql, line 2"},
		"bad rml":     {write("bad.rml", "<RML>\n<LANG><CMD>select 1</CMD></LANG"), "bad.rml, line 2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Load(tt.path)
			if tt.want == "" {
				if err != nil || len(s.Batches) != 1 {
					t.Errorf("got %+v, %v", s, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it to say %q", err, tt.want)
			}
		})
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, n := range []string{"selinto2.sql", "selinto1.sql", "selinto10.sql", "other.sql", "[x].sql", "s*.sql"} {
		if err := os.WriteFile(filepath.Join(dir, n), []byte("select 1"), 0o600); err != nil {
			t.Skip("this file system takes no such name:", err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "selintodir.sql"), 0o700); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		pattern string
		want    []string
		fails   bool
	}{
		"star":             {"selinto*.sql", []string{"selinto1.sql", "selinto10.sql", "selinto2.sql"}, false},
		"question mark":    {"selinto?.sql", []string{"selinto1.sql", "selinto2.sql"}, false},
		"plain":            {"other.sql", []string{"other.sql"}, false},
		"brackets":         {"[x].sql", []string{"[x].sql"}, false},
		"a name with star": {"s*.sql", []string{"s*.sql"}, false},
		"no match":         {"nothing*.sql", nil, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Expand(filepath.Join(dir, tt.pattern))
			if (err != nil) != tt.fails {
				t.Fatalf("error %v", err)
			}
			var base []string
			for _, p := range got {
				base = append(base, filepath.Base(p))
			}
			if d := cmp.Diff(tt.want, base); d != "" {
				t.Errorf("files (-want +got):\n%s", d)
			}
		})
	}
	if _, err := Expand(filepath.Join(dir, "none", "*.sql")); err == nil {
		t.Error("a missing directory is no error")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\xFF\xFEa\x00"))
	f.Add([]byte("\xEF\xBB\xBF\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		text, _, err := Decode(b)
		if err == nil && strings.IndexByte(text, 0) >= 0 {
			t.Error("a NUL came through")
		}
	})
}
