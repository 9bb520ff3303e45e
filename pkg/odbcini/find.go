// Package odbcini finds ODBC data sources (-D): in odbc.ini files as unixODBC
// and FreeTDS read them, and in the registry of Windows.
package odbcini

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gostress/pkg/ini"
	"gostress/pkg/script"
)

// Places are where data sources are looked for. The zero value looks where the
// system's own ODBC does.
type Places struct {
	Getenv func(string) string // nil is os.Getenv
	// System are the system's odbc.ini and freetds.conf files; nil are those of the
	// operating system.
	System, SystemFreeTDS []string
	// registry are the stores that are no files; nil are those of the system.
	registry func() []store
}

// store holds data sources by name.
type store interface {
	place() string // for messages
	// read returns the sections; no store is no error but there is none.
	read() (ini.File, []ini.Fault, error)
}

// NotFoundError is a data source that is nowhere.
type NotFoundError struct {
	Name   string
	Looked []string // where, in order
	Known  []string // the names there are
}

func (e *NotFoundError) Error() string {
	known := "there is none at all"
	if len(e.Known) > 0 {
		known = "there are " + strings.Join(e.Known, ", ")
		if len(e.Known) == 1 {
			known = "there is " + e.Known[0]
		}
	}
	return fmt.Sprintf("-D%s: there is no ODBC data source of this name; %s; looked in %s", e.Name, known, strings.Join(e.Looked, ", "))
}

// Find reads the data source of a name, in any case. The first place that has it
// tells all of it. An unknown name is a *NotFoundError.
func (p Places) Find(name string) (Source, error) {
	missing := &NotFoundError{Name: name}
	for _, st := range p.stores() {
		file, faults, err := st.read()
		if errors.Is(err, fs.ErrNotExist) {
			missing.Looked = append(missing.Looked, st.place()+" (not there)")
			continue
		}
		if err != nil {
			return Source{}, fmt.Errorf("-D%s: cannot read %s: %w", name, st.place(), cause(err))
		}
		missing.Looked = append(missing.Looked, st.place())
		for i, s := range file.Sections {
			if reserved(s.Name) {
				continue
			}
			if !slices.ContainsFunc(missing.Known, func(k string) bool { return strings.EqualFold(k, s.Name) }) {
				missing.Known = append(missing.Known, s.Name)
			}
			if !strings.EqualFold(s.Name, strings.TrimSpace(name)) {
				continue
			}
			end := 1 << 30
			if i+1 < len(file.Sections) {
				end = file.Sections[i+1].Line
			}
			for _, f := range faults {
				if f.Line > s.Line && f.Line < end {
					return Source{}, fmt.Errorf("-D%s: %s, %w", name, st.place(), f)
				}
			}
			return p.source(st.place(), s)
		}
	}
	return Source{}, missing
}

// reserved are the sections of odbc.ini that are no data source.
func reserved(section string) bool {
	switch strings.ToLower(section) {
	case "", "odbc", "odbc data sources", "odbc file dsn":
		return true
	}
	return false
}

func (p Places) stores() []store {
	registry := p.registry
	if registry == nil {
		registry = registryStores
	}
	out := registry()
	system := p.System
	if system == nil {
		system = systemFiles()
	}
	var paths []string
	if f := p.env("ODBCINI"); f != "" {
		paths = append(paths, f)
	}
	if home := p.home(); home != "" {
		paths = append(paths, filepath.Join(home, ".odbc.ini"))
	}
	if dir := p.env("ODBCSYSINI"); dir != "" {
		paths = append(paths, filepath.Join(dir, "odbc.ini"))
	}
	paths = append(paths, system...)
	for i, path := range paths {
		if !slices.Contains(paths[:i], path) {
			out = append(out, fileStore(path))
		}
	}
	return out
}

func (p Places) env(name string) string {
	if p.Getenv == nil {
		return os.Getenv(name)
	}
	return p.Getenv(name)
}

func (p Places) home() string {
	if h := p.env("HOME"); h != "" {
		return h
	}
	return p.env("USERPROFILE")
}

// fileStore is an odbc.ini by its path.
type fileStore string

func (f fileStore) place() string { return string(f) }

func (f fileStore) read() (ini.File, []ini.Fault, error) {
	b, err := os.ReadFile(string(f))
	if err != nil {
		return ini.File{}, nil, err
	}
	text, _, err := script.Decode(b)
	if err != nil {
		return ini.File{}, nil, err
	}
	file, faults := ini.Parse(text)
	return file, faults, nil
}

// cause is an error without the path, which the message has.
func cause(err error) error {
	var pe *fs.PathError
	var se *script.Error
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case errors.As(err, &se):
		return fmt.Errorf("line %d: %s", se.Line, se.Text)
	}
	return err
}
