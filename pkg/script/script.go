// Package script reads input files as sqlcmd and SSMS do: it finds the
// encoding, and splits the text into batches at GO lines.
package script

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Batch is the text between two GO lines, sent to the server in one request.
type Batch struct {
	Text  string // without the GO line
	Line  int    // the line of the input on which Text begins, from 1
	Count int64  // how often it runs: the number behind GO, else 1
}

// Script is one input, read and split.
type Script struct {
	Path     string   // as opened; "" for text from the command line
	Encoding Encoding // how its bytes were read
	Batches  []Batch  // never empty, all with a Count of at least 0; nil for an .rml file
	// Commands are what an .rml file holds in place of batches, never empty.
	Commands []Command
}

// Error is a fault in an input, with its place.
type Error struct {
	Path string // "" for text from the command line
	Line int    // from 1; 0 when the whole input is meant
	Col  int    // from 1, in characters; 0 when unknown
	Text string
	Err  error // the cause, if the fault came from the system
}

func (e *Error) Error() string {
	where := e.Path
	if where == "" {
		where = "-Q"
	}
	if e.Line > 0 {
		where = fmt.Sprintf("%s, line %d", where, e.Line)
	}
	if e.Col > 0 {
		where = fmt.Sprintf("%s, column %d", where, e.Col)
	}
	return where + ": " + e.Text
}

func (e *Error) Unwrap() error { return e.Err }

// Load reads one file. A file that holds nothing to run is an error, and so is
// one that cannot be read; both are *Error.
func Load(path string) (Script, error) { return CodePage(0).Load(path) }

// Load is the function Load for a file whose code page is known.
func (p CodePage) Load(path string) (Script, error) { return p.LoadEdited(path, nil) }

// LoadEdited is Load with a change of the text, edit, before it is split into batches. An *Error of
// edit's gets the file's name. An .rml file is a recording, which cannot be edited.
func (p CodePage) LoadEdited(path string, edit func(text string) (string, error)) (Script, error) {
	if strings.EqualFold(filepath.Ext(path), ".rml") {
		if edit != nil {
			return Script{}, &Error{Path: path, Text: "the text of an .rml file is a recording: nothing in it is replaced"}
		}
		return p.loadRML(path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return Script{}, unreadable(path, err)
	}
	text, enc, err := p.Decode(b)
	if err == nil && edit != nil {
		text, err = edit(text)
	}
	if err != nil {
		var e *Error
		if errors.As(err, &e) {
			e.Path = path
		}
		return Script{}, err
	}
	s := Script{Path: path, Encoding: enc}
	if s.Batches, err = Split(path, text); err != nil {
		return Script{}, err
	}
	if len(s.Batches) == 0 {
		return Script{}, &Error{Path: path, Text: "nothing to run: the file holds no batch"}
	}
	return s, nil
}

// loadRML reads an .rml file without holding more of it than its commands, unless its
// code page is given or it is no regular file.
func (p CodePage) loadRML(path string) (Script, error) {
	f, err := os.Open(path)
	if err != nil {
		return Script{}, unreadable(path, err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return Script{}, unreadable(path, err)
	}
	s := Script{Path: path}
	if p == 0 && st.Mode().IsRegular() {
		s.Commands, s.Encoding, err = ReadRML(path, f)
	} else {
		s.Commands, s.Encoding, err = p.readRML(path, f)
	}
	if err != nil {
		return Script{}, err
	}
	if len(s.Commands) == 0 {
		return Script{}, &Error{Path: path, Text: "nothing to run: the file holds no command"}
	}
	return s, nil
}

func unreadable(path string, err error) error {
	return &Error{Path: path, Text: "cannot read the input file: " + cause(err), Err: err}
}

// FromText splits a query given on the command line.
func FromText(text string) (Script, error) {
	if i := strings.IndexByte(text, 0); i >= 0 {
		return Script{}, &Error{Line: 1 + lineBreaks(text[:i]), Text: "the query holds a NUL character"}
	}
	b, err := Split("", text)
	if err != nil {
		return Script{}, err
	}
	if len(b) == 0 {
		return Script{}, &Error{Text: "nothing to run: the query is empty"}
	}
	return Script{Encoding: UTF8, Batches: b}, nil
}

// Expand turns the value of -i into files: a name as it stands, or one with *
// and ? in its last part, which matches as on Windows and comes back sorted.
func Expand(pattern string) ([]string, error) {
	if _, err := os.Stat(pattern); err == nil {
		return []string{pattern}, nil
	}
	dir, name := filepath.Split(pattern)
	if !strings.ContainsAny(name, "*?") {
		// Load says why it cannot be read, in the words of the system.
		return []string{pattern}, nil
	}
	list := dir
	if list == "" {
		list = "."
	}
	entries, err := os.ReadDir(list)
	if err != nil {
		return nil, &Error{Path: pattern, Text: "cannot look for input files: " + cause(err), Err: err}
	}
	var out []string
	for _, e := range entries {
		if !match(name, e.Name()) {
			continue
		}
		p := dir + e.Name()
		if st, err := os.Stat(p); err != nil || st.IsDir() {
			continue
		}
		out = append(out, p)
	}
	if len(out) == 0 {
		return nil, &Error{Path: pattern, Text: "no input file matches"}
	}
	slices.Sort(out)
	return out, nil
}

// match knows * and ? alone; brackets are ordinary characters in file names.
func match(pattern, name string) bool {
	p, n := []rune(pattern), []rune(name)
	var pi, ni int
	star, mark := -1, 0
	for ni < len(n) {
		switch {
		case pi < len(p) && p[pi] == '*':
			star, mark = pi, ni
			pi++
		case pi < len(p) && (p[pi] == '?' || p[pi] == n[ni]):
			pi++
			ni++
		case star >= 0:
			mark++
			pi, ni = star+1, mark
		default:
			return false
		}
	}
	for pi < len(p) && p[pi] == '*' {
		pi++
	}
	return pi == len(p)
}

func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
