package ostress

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"gostress/pkg/driver"
)

// TestNamesAreValidEverywhere makes the names of files out of names that some
// system has not.
func TestNamesAreValidEverywhere(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 200)
	tests := map[string]struct {
		unit string
		conn int
		want string
	}{
		"plain":            {"a.sql", 0, "a.out"},
		"several points":   {"a.b.sql", 3, "a.b_3.out"},
		"no ending":        {"a", 0, "a.out"},
		"hidden":           {".sql", 0, ".sql.out"},
		"-Q":               {"query", 1, "query_1.out"},
		"characters":       {"a<b>c:d\"e|f?g*h.sql", 0, "a_b_c_d_e_f_g_h.out"},
		"line end":         {"a\nb\t.sql", 0, "a_b_.out"},
		"device":           {"CON.sql", 0, "_CON.out"},
		"device, numbered": {"con.sql", 7, "_con_7.out"},
		"device, blanks":   {"Aux  .x.sql", 0, "_Aux  .x.out"},
		"device, port":     {"lpt9.sql", 0, "_lpt9.out"},
		"device, digit":    {"COM².sql", 0, "_COM².out"},
		"device, console":  {"conin$.sql", 0, "_conin$.out"},
		"no device":        {"COM10.sql", 0, "COM10.out"},
		"no device either": {"CONSOLE.sql", 0, "CONSOLE.out"},
		"points at end":    {"a...sql", 0, "a...out"},
		"blank at end":     {"a .sql", 0, "a .out"},
		"not UTF-8":        {"a\xff.sql", 0, "a\uFFFD.out"},
		"Windows path":     {`C:\in\a.sql`, 0, "a.out"},
		"points alone":     {"..", 0, "query.out"},
		"empty":            {"", 0, "query.out"},
		"too long":         {long + ".sql", 12, strings.Repeat("é", 124) + "_12.out"},
		"workload":         {"inmem-oltp/inmem", 0, "inmem.out"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := OpenDir(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			if err := NewResults(d, Format{}).Empty(Base(tt.unit), tt.conn); err != nil {
				t.Fatal(err)
			}
			got := listed(t, d.Path)
			if !slices.Equal(got, []string{tt.want}) || len(tt.want) > nameMost || !utf8.ValidString(tt.want) {
				t.Errorf("made %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"a.sql", "CON", "a\nb", "nul.txt", strings.Repeat("日", 100), "..", "~2"} {
		f.Add(s, 1)
	}
	f.Fuzz(func(t *testing.T, unit string, conn int) {
		end := fmt.Sprintf("_%d~2.out", conn)
		name := portable(Base(unit), len(end)) + end
		stem, _, _ := strings.Cut(name, ".")
		if len(name) > nameMost || !utf8.ValidString(name) || strings.ContainsAny(name, "/\\<>:\"|?*\n\x00") || isDevice(strings.TrimRight(stem, " ")) {
			t.Errorf("%q becomes %q", unit, name)
		}
	})
}

// TestNamesThatMeet makes the files of several inputs, for several connections,
// in every order: no two meet, by case or number, and what stood there stays.
func TestNamesThatMeet(t *testing.T) {
	t.Parallel()
	units := []string{"a.sql", "sub/a.sql", "A.rml", "a_1.sql", "A_1_1.sql", "a~2.sql", "a_1~2.sql", "ostress.sql"}
	for first := range units {
		order := append(slices.Clone(units[first:]), units[:first]...)
		t.Run(order[0], func(t *testing.T) {
			t.Parallel()
			for _, format := range []Format{{}, {XML: true}} {
				dir := t.TempDir()
				foreign := []string{"a.out", "A_2.XML", "a~3.out", "ostress.out"}
				for _, n := range foreign {
					if err := os.WriteFile(filepath.Join(dir, n), []byte("mine"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				d, err := OpenDir(dir)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := d.Create("ostress", ".log"); err != nil {
					t.Fatal(err)
				}
				r := NewResults(d, format)
				const n = 4
				for _, u := range order {
					for conn := range n {
						s, err := r.Sink(Base(u), conn)
						if err != nil {
							t.Fatal(err)
						}
						_ = s.Event(driver.SinkEvent{Kind: driver.SinkMessage, Message: driver.ServerError{Message: fmt.Sprintf("[%s %d]", u, conn)}})
						if err := s.(*fileSink).Close(); err != nil {
							t.Fatal(err)
						}
					}
				}
				seen := map[string]bool{}
				var text strings.Builder
				for _, n := range listed(t, dir) {
					if seen[strings.ToLower(n)] {
						t.Errorf("%s differs from another name by case alone", n)
					}
					seen[strings.ToLower(n)] = true
					b, _ := os.ReadFile(filepath.Join(dir, n))
					text.WriteString(strings.ReplaceAll(string(b), "\x00", ""))
					if slices.Contains(foreign, n) && string(b) != "mine" {
						t.Errorf("%s is not gostress's and was changed", n)
					}
				}
				if len(seen) != len(order)*n+len(foreign)+1 {
					t.Errorf("%d files", len(seen))
				}
				for _, u := range order {
					for conn := range n {
						if strings.Count(text.String(), fmt.Sprintf("[%s %d]", u, conn)) != 1 {
							t.Errorf("the results of %s, connection %d, are not there once", u, conn)
						}
					}
				}
				if err := errors.Join(d.Check(), d.Close()); err != nil {
					t.Error(err)
				}
				// The next run removes all of them, and what is not gostress's stays.
				if d, err = OpenDir(dir); err != nil {
					t.Fatal(err)
				}
				if got := listed(t, dir); len(got) != len(foreign) || len(d.Removed) != len(order)*n {
					t.Errorf("left %q, removed %d", got, len(d.Removed))
				}
				_ = d.Close()
			}
		})
	}
}

// TestLinksInTheDirectory plants links where files are to be made and removed:
// nothing outside the directory changes.
func TestLinksInTheDirectory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	dir, outside := t.TempDir(), t.TempDir()
	victim := filepath.Join(outside, "victim")
	if err := os.WriteFile(victim, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Symlink(victim, filepath.Join(dir, "query.out")))
	must(os.Symlink(filepath.Join(outside, "new"), filepath.Join(dir, "query~2.out")))
	must(os.Symlink(outside, filepath.Join(dir, "query~3.out")))
	must(os.Link(victim, filepath.Join(dir, "query~4.out")))
	d, err := OpenDir(dir)
	must(err)
	must(NewResults(d, Format{}).Empty("query", 0))
	must(d.Close())
	if _, err := os.Lstat(filepath.Join(dir, "query~5.out")); err != nil {
		t.Error(err)
	}
	// A manifest that names links and directories.
	must(os.WriteFile(filepath.Join(dir, manifest), []byte("query.out\nquery~2.out\nquery~3.out\nquery~4.out\n../"+filepath.Base(outside)+"/victim\n"+victim+"\n.\n..\n"), 0o600))
	d, err = OpenDir(dir)
	must(err)
	must(d.Close())
	if want := []string{filepath.Join(dir, "query~4.out")}; !slices.Equal(d.Removed, want) {
		t.Errorf("removed %q, want %q: a name in the directory, not the file behind it", d.Removed, want)
	}
	if b, err := os.ReadFile(victim); string(b) != "keep" {
		t.Errorf("%q, %v", b, err)
	}
	if es, _ := os.ReadDir(outside); len(es) != 1 {
		t.Errorf("outside stand %v", es)
	}
}

// TestForeignManifests have the manifest's name be another file's.
func TestForeignManifests(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	tests := map[string]func(victim, manifest string) error{
		"symbolic link": os.Symlink,
		"hard link":     os.Link,
		"directory":     func(_, m string) error { return os.Mkdir(m, 0o700) },
		"link within":   func(_, m string) error { return os.Symlink("own", m) },
	}
	for name, plant := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
			for _, f := range []string{victim, filepath.Join(dir, "own")} {
				if err := os.WriteFile(f, []byte("keep\nown\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := plant(victim, filepath.Join(dir, manifest)); err != nil {
				t.Fatal(err)
			}
			_, err := OpenDir(dir)
			if err == nil || !strings.Contains(err.Error(), manifest+" in it is not a file of gostress's own") {
				t.Errorf("got %v", err)
			}
			for _, f := range []string{victim, filepath.Join(dir, "own")} {
				if b, _ := os.ReadFile(f); string(b) != "keep\nown\n" {
					t.Errorf("%s holds %q", f, b)
				}
			}
		})
	}
}

// TestADirectoryThatGoes removes or replaces it while a run writes to it.
func TestADirectoryThatGoes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("what is open cannot be removed")
	}
	tests := map[string]struct {
		do      func(dir string) error
		check   bool // Check finds it
		created bool // the next file can be made
	}{
		"removed": {func(dir string) error { return os.RemoveAll(dir) }, true, false},
		"moved":   {func(dir string) error { return os.Rename(dir, dir+"-away") }, true, true},
		"replaced by a link": {func(dir string) error {
			return errors.Join(os.Rename(dir, dir+"-away"), os.Mkdir(dir+"-other", 0o700), os.Symlink(dir+"-other", dir))
		}, true, true},
		"a file removed": {func(dir string) error { return os.Remove(filepath.Join(dir, "query.out")) }, false, true},
		"a file replaced": {func(dir string) error {
			p := filepath.Join(dir, "query.out")
			return errors.Join(os.Remove(p), os.WriteFile(p, []byte("mine"), 0o600))
		}, false, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "out")
			d, err := OpenDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			r := NewResults(d, Format{})
			s, err := r.Sink("query", 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Check(); err != nil {
				t.Fatal(err)
			}
			if err := tt.do(dir); err != nil {
				t.Fatal(err)
			}
			if err := s.(*fileSink).Close(); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "query.out")+": it was removed or replaced") {
				t.Errorf("the file: %v", err)
			}
			if err := d.Check(); (err != nil) != tt.check || err != nil && !strings.Contains(err.Error(), dir) {
				t.Errorf("the directory: %v", err)
			}
			if err := r.Empty("next", 0); (err == nil) != tt.created {
				t.Errorf("the next file: %v", err)
			}
			if es, _ := os.ReadDir(dir + "-other"); len(es) != 0 {
				t.Errorf("the link was followed: %v", es)
			}
		})
	}
}

// TestAFullDiskLeavesNoStranger fails to write the manifest: the file just made
// would never be removed, so it goes.
func TestAFullDiskLeavesNoStranger(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	d, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	own := d.list
	defer own.Close()
	d.list = full
	if err := NewResults(d, Format{}).Empty("query", 0); err == nil || !strings.Contains(err.Error(), d.Path) {
		t.Errorf("got %v", err)
	}
	if got := listed(t, d.Path); len(got) != 0 {
		t.Errorf("left %q", got)
	}
}

func TestPathsOfResultDirectories(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		path, want string // the error's words; none is success
	}{
		"blanks and letters": {"out put/größe 日本/.", ""},
		"trailing slash":     {"a/b/", ""},
		"deep":               {strings.Repeat("d/", 50), ""},
		"a name too long":    {strings.Repeat("n", 300), "name too long"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := t.TempDir() + "/" + tt.path
			d, err := OpenDir(path)
			switch {
			case tt.want == "":
				if err != nil {
					t.Fatal(err)
				}
				defer d.Close()
				if err := errors.Join(NewResults(d, Format{}).Empty("query", 0), d.Check()); err != nil {
					t.Error(err)
				}
			case runtime.GOOS == "windows":
			case err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path):
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestReadOnlyDirectory needs a user whom permissions hold back.
func TestReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("no permission keeps this user from writing")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenDir(dir); err == nil || !strings.Contains(err.Error(), dir+": permission denied") {
		t.Errorf("got %v", err)
	}
}
