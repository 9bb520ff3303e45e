// Package workloads holds the bundled workloads: their scripts, embedded, and a list of what each
// can run. It knows nothing of servers; package scenario carries the scripts out.
package workloads

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

//go:embed inmem-oltp/*.sql
var files embed.FS

// Workload is a bundled workload.
type Workload struct {
	Name  string // as on the command line
	Title string // one line
	// About is what `workload show` prints: a few short paragraphs.
	About string
	// Parts can be installed alone (--only).
	Parts []Part
	// Runs are what connections can run: Name/Run on the command line.
	Runs []Run
	// Install are the scripts of an installation in their order.
	Install                  []Script
	Reset, Verify, Uninstall Script
	// Vars documents the values that scripts take in the form $(name).
	Vars []Var
}

// Part is a part of a workload that can be installed without the others.
type Part struct {
	Name, Title string
}

// Base is the part that every installation has.
const Base = "base"

// Script is one script file of a workload.
type Script struct {
	File string // such as inmem-oltp/10-base.sql
	// Part is the part that needs the script; Base and "" are needed by all.
	Part string
	Text string
	// Vars are the values that this use of the script has beyond those of the installation.
	Vars map[string]string
}

// Run is what one connection runs.
type Run struct {
	Name, Title string
	// Part is the part that must be installed.
	Part string
	// Batch is the text of one iteration.
	Batch string
	// Orders is the number of orders that one iteration inserts.
	Orders int
}

// Var is a value that scripts take.
type Var struct {
	Name, Title string
}

// All returns the bundled workloads by name.
func All() []Workload {
	return []Workload{inmemOLTP()}
}

// Lookup finds a workload by its name, in any case.
func Lookup(name string) (Workload, bool) {
	all := All()
	i := slices.IndexFunc(all, func(w Workload) bool { return strings.EqualFold(w.Name, name) })
	if i < 0 {
		return Workload{}, false
	}
	return all[i], true
}

// FindRun finds one of the workload's runs by its name, in any case.
func (w Workload) FindRun(name string) (Run, bool) {
	i := slices.IndexFunc(w.Runs, func(r Run) bool { return strings.EqualFold(r.Name, name) })
	if i < 0 {
		return Run{}, false
	}
	return w.Runs[i], true
}

// HasPart says whether name is one of the parts that can be installed alone.
func (w Workload) HasPart(name string) bool {
	return slices.ContainsFunc(w.Parts, func(p Part) bool { return p.Name == name })
}

// Expand puts values in the place of $(name). A name without a value stays as it is, to be
// refused by the server rather than to vanish.
func Expand(text string, vars ...map[string]string) string {
	var pairs []string
	for _, m := range vars {
		for k, v := range m {
			pairs = append(pairs, "$("+k+")", v)
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// text reads an embedded file. The files are part of the program, so that one which is missing
// is a fault of the program.
func text(name string) string {
	b, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// body is a script without the comment lines and blank lines it begins with: a batch that is
// sent thousands of times does not carry its explanation.
func body(script string) string {
	for {
		line, rest, more := strings.Cut(script, "\n")
		if !more || (strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "--")) {
			return strings.TrimRight(script, "\n")
		}
		script = rest
	}
}
