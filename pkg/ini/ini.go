// Package ini reads the line format that control files, odbc.ini and
// freetds.conf share: [section], key = value, and comments behind ; or # at the
// beginning of a line.
package ini

import (
	"fmt"
	"strings"
)

// File is a text that was read. Names keep the case they are written in; Find and
// Get compare without it.
type File struct{ Sections []Section }

// Section is what stands below a [name]. One without a name holds what stands
// before the first.
type Section struct {
	Name    string
	Line    int // of its head, from 1
	Entries []Entry
}

// Entry is a line "key = value". The spaces around both are not part of them.
type Entry struct {
	Key, Value string
	Line       int
}

// Fault is a line that is neither a section, nor an entry, nor a comment. Its
// text does not show the line, which may hold a password.
type Fault struct {
	Line int
	Text string
}

func (f Fault) Error() string { return fmt.Sprintf("line %d: %s", f.Line, f.Text) }

// Parse reads text, whatever its line ends, and goes on behind a fault.
func Parse(text string) (File, []Fault) {
	var f File
	var faults []Fault
	fault := func(line int, text string) { faults = append(faults, Fault{line, text}) }
	text = strings.TrimPrefix(text, "\uFEFF")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == ';' || line[0] == '#':
		case line[0] == '[':
			name, rest, closed := strings.Cut(line[1:], "]")
			name = strings.TrimSpace(name)
			switch rest = strings.TrimSpace(rest); {
			case !closed:
				fault(n, "the section's bracket is not closed")
			case name == "":
				fault(n, "the section has no name")
			case rest != "" && rest[0] != ';' && rest[0] != '#':
				fault(n, "something stands behind the section's bracket")
			default:
				f.Sections = append(f.Sections, Section{Name: name, Line: n})
			}
		default:
			key, value, has := strings.Cut(line, "=")
			key = strings.TrimSpace(key)
			if !has || key == "" {
				fault(n, "it is neither [section] nor key=value")
				continue
			}
			if len(f.Sections) == 0 {
				f.Sections = append(f.Sections, Section{Line: 1})
			}
			s := &f.Sections[len(f.Sections)-1]
			s.Entries = append(s.Entries, Entry{key, strings.TrimSpace(value), n})
		}
	}
	return f, faults
}

// Find is the first section with a name.
func (f File) Find(name string) (Section, bool) {
	for _, s := range f.Sections {
		if strings.EqualFold(s.Name, name) {
			return s, true
		}
	}
	return Section{}, false
}

// Get is the first entry with a key.
func (s Section) Get(key string) (Entry, bool) {
	for _, e := range s.Entries {
		if strings.EqualFold(e.Key, key) {
			return e, true
		}
	}
	return Entry{}, false
}

// Bare is a value without the comment behind it: what follows a ; or # that
// stands first or behind a space.
func Bare(value string) string {
	for i, c := range value {
		if (c == ';' || c == '#') && (i == 0 || value[i-1] == ' ' || value[i-1] == '\t') {
			return strings.TrimSpace(value[:i])
		}
	}
	return value
}

// Switch reads a value of two states: On and Off, yes and no, true and false, 1
// and 0, in any case.
func Switch(value string) (on, ok bool) {
	switch strings.ToLower(value) {
	case "on", "yes", "true", "1":
		return true, true
	case "off", "no", "false", "0":
		return false, true
	}
	return false, false
}
