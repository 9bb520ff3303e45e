package ini

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	text := "\uFEFFearly=1\r\n[ One ] ; note\r\n; comment\r\n  # comment\r\n Key = a = b ; c \r\n\r\nempty=\r\n[Two]\rx y=2\n[]\n[open\n[three] x\n=5\nword\n"
	f, faults := Parse(text)
	want := File{Sections: []Section{
		{Line: 1, Entries: []Entry{{"early", "1", 1}}},
		{Name: "One", Line: 2, Entries: []Entry{{"Key", "a = b ; c", 5}, {"empty", "", 7}}},
		{Name: "Two", Line: 8, Entries: []Entry{{"x y", "2", 9}}},
	}}
	if d := cmp.Diff(want, f); d != "" {
		t.Errorf("file (-want +got):\n%s", d)
	}
	var lines []int
	for _, e := range faults {
		lines = append(lines, e.Line)
	}
	if d := cmp.Diff([]int{10, 11, 12, 13, 14}, lines); d != "" {
		t.Errorf("faults (-want +got):\n%s", d)
	}
	s, ok := f.Find("oNE")
	if !ok {
		t.Fatal("no section oNE")
	}
	if e, ok := s.Get("KEY"); !ok || e.Value != "a = b ; c" {
		t.Errorf("KEY is %q, %v", e.Value, ok)
	}
	if _, ok := s.Get("nothing"); ok {
		t.Error("there is a key nothing")
	}
	if _, ok := f.Find("nothing"); ok {
		t.Error("there is a section nothing")
	}
}

func TestBare(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"5": "5", "5 ; five": "5", "5\t# five": "5", "; none": "", "a;b": "a;b", "": "", "a#b c": "a#b c",
	} {
		if got := Bare(in); got != want {
			t.Errorf("Bare(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSwitch(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{"On": true, "YES": true, "true": true, "1": true, "oFF": false, "No": false, "False": false, "0": false} {
		if on, ok := Switch(in); !ok || on != want {
			t.Errorf("Switch(%q) = %v, %v", in, on, ok)
		}
	}
	for _, in := range []string{"", "2", "onn", "enabled"} {
		if _, ok := Switch(in); ok {
			t.Errorf("Switch(%q) is taken", in)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("[a]\nb=c\n;d\n[e]\r\nf = g\r")
	f.Add("=\n[\n]\n\uFEFF[x]\x00=\xff")
	f.Fuzz(func(t *testing.T, text string) {
		file, faults := Parse(text)
		lines := 1 + strings.Count(text, "\n") + strings.Count(text, "\r")
		last := 0
		for i, s := range file.Sections {
			if s.Name == "" && i > 0 {
				t.Fatal("a later section has no name")
			}
			for _, e := range s.Entries {
				if e.Key == "" || e.Line <= last || e.Line > lines {
					t.Fatalf("entry %+v behind line %d of %d", e, last, lines)
				}
				last = e.Line
			}
		}
		for _, e := range faults {
			if e.Line < 1 || e.Line > lines || e.Text == "" {
				t.Fatalf("fault %+v of %d lines", e, lines)
			}
		}
	})
}
