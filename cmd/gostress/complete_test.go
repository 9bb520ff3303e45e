package main

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"gostress/pkg/ini"
	"gostress/pkg/ostress"
)

// TestEverySwitchIsDocumented holds the usage text and docs/switches.md to the
// switches there are.
func TestEverySwitchIsDocumented(t *testing.T) {
	t.Parallel()
	c, err := newCLI(io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/switches.md")
	if err != nil {
		t.Fatal(err)
	}
	var usage bytes.Buffer
	ostress.Usage(&usage)
	n := 0
	for _, cmd := range c.parser.Model.Children {
		if cmd.Name != "stress" {
			continue
		}
		for _, f := range cmd.Flags {
			if f.Name == "help" || f.Hidden {
				continue
			}
			n++
			whole := regexp.MustCompile(`--` + regexp.QuoteMeta(f.Name) + `\b[^-]`)
			if !whole.Match(page) {
				t.Errorf("docs/switches.md does not tell --%s", f.Name)
			}
			if !whole.Match(usage.Bytes()) {
				t.Errorf("the usage does not tell --%s", f.Name)
			}
			for _, env := range f.Envs {
				if !bytes.Contains(page, []byte(env)) || !strings.Contains(usage.String(), env) {
					t.Errorf("the page or the usage does not tell %s", env)
				}
			}
		}
	}
	if n < 30 {
		t.Fatalf("only %d switches", n)
	}
	for _, cmd := range c.parser.Model.Children {
		if !cmd.Hidden && !strings.Contains(usage.String(), cmd.Name) {
			t.Errorf("the usage does not tell the command %s", cmd.Name)
		}
	}
}

// TestEveryControlKeyIsDocumented holds docs/control-file.md to the keys there
// are, and their defaults.
func TestEveryControlKeyIsDocumented(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/control-file.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	var text bytes.Buffer
	if err := ostress.WriteControl(&text, ostress.DefaultControl()); err != nil {
		t.Fatal(err)
	}
	file, _ := ini.Parse(text.String())
	for _, s := range file.Sections {
		_, after, ok := strings.Cut(page, "## ["+s.Name+"]")
		if !ok {
			t.Errorf("no heading for [%s]", s.Name)
			continue
		}
		section, _, _ := strings.Cut(after, "\n## ")
		for _, e := range s.Entries {
			row := ""
			for line := range strings.SplitSeq(section, "\n") {
				if strings.Contains(line, "`"+e.Key+"`") && strings.HasPrefix(line, "|") {
					row = line
				}
			}
			if row == "" {
				t.Errorf("[%s] does not tell %s", s.Name, e.Key)
				continue
			}
			if cells := strings.Split(row, "|"); len(cells) != 5 || !strings.Contains(cells[2], e.Value) {
				t.Errorf("the default of %s is %q, and the row is %s", e.Key, e.Value, row)
			}
		}
	}
}
