package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCodePage(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		page string
		in   string
		want string
		enc  Encoding
	}{
		"Cyrillic":            {"1251", "select N'\xef\xf0\xe8'", "select N'при'", "code page 1251"},
		"DOS Cyrillic":        {"866", "select N'\xaf\xe0\xa8'", "select N'при'", "code page 866"},
		"Japanese":            {"932", "select N'\x93\xfa\x96\x7b'", "select N'日本'", "code page 932"},
		"Korean":              {"949", "select N'\xc7\xd1'", "select N'한'", "code page 949"},
		"Chinese":             {"936", "select N'\xd6\xd0'", "select N'中'", "code page 936"},
		"Latin text as 1252":  {"1252", "select 'gr\xc3\xb6'", "select 'grÃ¶'", "code page 1252"},
		"UTF-8":               {"65001", "select N'größe'", "select N'größe'", UTF8},
		"UTF-16 without mark": {"1200", "1\x00 \x00\x16\x04", "1 Ж", UTF16LE},
		"UTF-16BE":            {"1201", "\x00\x31\x04\x16", "1Ж", UTF16BE},
		"a mark wins":         {"1251", "\xef\xbb\xbfselect N'при'", "select N'при'", UTF8BOM},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := ParseCodePage(tt.page)
			if err != nil {
				t.Fatal(err)
			}
			got, enc, err := p.Decode([]byte(tt.in))
			if err != nil || got != tt.want || enc != tt.enc {
				t.Errorf("got %q, %s, %v; want %q, %s", got, enc, err, tt.want, tt.enc)
			}
		})
	}
}

func TestCodePageFaults(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "x", "0", "-1", "1259", "65000"} {
		if _, err := ParseCodePage(s); err == nil || !strings.Contains(err.Error(), "1251 1252") {
			t.Errorf("%q: error %v", s, err)
		}
	}
	tests := map[string]struct {
		page CodePage
		in   string
		want string
	}{
		"half a character": {932, "select 1\r\nselect '\x93'", "line 2: the bytes are not text of code page 932"},
		"not UTF-8":        {65001, "select 1\nselect '\xf6'", "line 2: byte 0xF6 is not valid UTF-8"},
		"odd UTF-16":       {1200, "1\x002", "in the middle of a UTF-16LE character"},
		"NUL":              {1251, "1\n\x00", "line 2: a NUL character"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, _, err := tt.page.Decode([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it to say %q", err, tt.want)
			}
		})
	}
}

// TestFilesOfShells: what the shells' ways of writing a file leave.
func TestFilesOfShells(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := "SELECT '" + strings.Repeat("x", 10<<20) + "'"
	le := func(s string) string { return string(utf16Bytes(s, false, false)) }
	tests := map[string]struct {
		in   string
		want []string
		err  string
	}{
		"PowerShell 5, >":            {"\xff\xfe" + le("SELECT 1\r\nGO\r\nSELECT N'ё'\r\n"), []string{"SELECT 1", "SELECT N'ё'"}, ""},
		"PowerShell 5, > and >>":     {"\xff\xfe" + le("SELECT 1\r\n"+"GO\r\n"+"SELECT 2\r\n"), []string{"SELECT 1", "SELECT 2"}, ""},
		"PowerShell 7, >":            {"SELECT N'ё'\r\nGO\r\n", []string{"SELECT N'ё'"}, ""},
		"Set-Content -Encoding utf8": {"\xef\xbb\xbfSELECT N'ё'\r\n", []string{"SELECT N'ё'"}, ""},
		"cmd, copy /b of two":        {"\xef\xbb\xbfSELECT 1\r\nGO\r\n\xef\xbb\xbfSELECT 2\r\nGO\r\n", []string{"SELECT 1", "SELECT 2"}, ""},
		"UTF-16 copy /b of two":      {"\xff\xfe" + le("SELECT 1\r\nGO\r\n") + "\xff\xfe" + le("SELECT 2\r\nGO\r\n"), []string{"SELECT 1", "SELECT 2"}, ""},
		"cmd, copy with its ^Z":      {"SELECT 1\r\nGO\r\n\x1a", []string{"SELECT 1"}, ""},
		"bash, cat of two":           {"SELECT 1\nGO\n\xef\xbb\xbfSELECT 2", []string{"SELECT 1", "SELECT 2"}, ""},
		"a line of 10 MB":            {long + "\nGO\nSELECT 1\n", []string{long, "SELECT 1"}, ""},
		"UTF-16 behind UTF-8":        {"SELECT 1\nGO\n\xff\xfe" + le("SELECT 2"), nil, "line 3: a NUL character"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := filepath.Join(dir, strings.Map(func(r rune) rune {
				if strings.ContainsRune(`\/:*?"<>|`, r) {
					return '_'
				}
				return r
			}, name)+".sql")
			if err := os.WriteFile(p, []byte(tt.in), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Load(p)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want it to say %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, b := range s.Batches {
				got = append(got, b.Text)
			}
			if !cmp.Equal(tt.want, got) {
				t.Errorf("got %.200q", got)
			}
		})
	}
}
