package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestDocs runs every command that the README and the pages under docs show, in
// the order of each page, against an engine of its own. A command that a page
// shows to fail ends in "# exits N".
func TestDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("the pages' commands take minutes; go test without -short runs them")
	}
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, "../../README.md")
	dir := t.TempDir()
	var files []string
	for _, page := range pages {
		script, err := pageScript(page)
		if err != nil {
			t.Fatal(err)
		}
		if script == "" {
			continue
		}
		f := filepath.Join(dir, strings.TrimSuffix(filepath.Base(page), ".md")+".txtar")
		if err := os.WriteFile(f, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	if len(files) < 3 {
		t.Fatalf("only %d pages show commands", len(files))
	}
	p := scriptParams(startServer)
	p.Dir, p.Files = "", files
	testscript.Run(t, p)
}

// pageScript makes a script of the lines in a page's fences marked sh. A fence
// marked with a language and a name shows a file, which the commands find.
func pageScript(page string) (string, error) {
	f, err := os.Open(page)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var sb, shown strings.Builder
	in, file := false, false
	for sc, n := bufio.NewScanner(f), 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		switch {
		case strings.HasPrefix(line, "```"):
			_, name, has := strings.Cut(line, " ")
			in, file = line == "```sh", has
			if has {
				fmt.Fprintf(&shown, "-- %s --\n", name)
			}
		case file:
			fmt.Fprintln(&shown, sc.Text())
		case in && line != "" && !strings.HasPrefix(line, "#"):
			args, code, err := commandLine(line)
			if err != nil {
				return "", fmt.Errorf("%s, line %d: %w", page, n, err)
			}
			if args == nil {
				continue
			}
			fmt.Fprintf(&sb, "exitcode %s", code)
			for _, a := range args {
				fmt.Fprintf(&sb, " '%s'", strings.ReplaceAll(a, "'", "''"))
			}
			sb.WriteByte('\n')
		}
	}
	if sb.Len() == 0 {
		return "", nil
	}
	sb.WriteString(shown.String())
	return strings.ReplaceAll(sb.String(), "'-S127.0.0.1,@PORT@'", "-S127.0.0.1,$PORT"), nil
}

// commandLine reads a line as a shell does, as far as the pages need it, and
// turns the address and the login shown into the test server's.
func commandLine(line string) (args []string, code string, err error) {
	words, err := shellWords(line)
	if err != nil {
		return nil, "", err
	}
	code = "0"
	for i, w := range words {
		if w == "#" {
			if rest := words[i+1:]; len(rest) == 2 && rest[0] == "exits" {
				code = rest[1]
			}
			words = words[:i]
			break
		}
	}
	if rest, ok := cutPrefixWords(words, "go", "run", "./cmd/gostress"); ok {
		words = append([]string{"gostress"}, rest...)
	}
	switch {
	case len(words) == 0 || words[0] == "go" || words[0] == "git":
		return nil, "", nil // the tests' own command, and how to get here
	case words[0] == "gostress" && len(words) > 1 && words[1] == "serve":
		return nil, "", nil // runs until it is stopped; scripts of its own test it
	case words[0] != "gostress" && words[0] != "ostress":
		return nil, "", fmt.Errorf("%q is no command that this test can run", words[0])
	}
	for _, w := range words {
		switch w {
		case "-S.", "-S127.0.0.1,1433":
			args = append(args, "-S127.0.0.1,@PORT@")
		case "-E":
			args = append(args, "-Usa", "-P"+testPassword)
		default:
			args = append(args, w)
		}
	}
	return args, code, nil
}

func cutPrefixWords(words []string, prefix ...string) ([]string, bool) {
	if len(words) < len(prefix) {
		return nil, false
	}
	for i, p := range prefix {
		if words[i] != p {
			return nil, false
		}
	}
	return words[len(prefix):], true
}

func shellWords(line string) ([]string, error) {
	var words []string
	var cur strings.Builder
	var quote rune
	have := false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			cur.WriteRune(c)
		case c == '\'' || c == '"':
			quote, have = c, true
		case c == ' ' || c == '\t':
			if have {
				words = append(words, cur.String())
				cur.Reset()
				have = false
			}
		default:
			cur.WriteRune(c)
			have = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote is not closed: %s", line)
	}
	if have {
		words = append(words, cur.String())
	}
	return words, nil
}
