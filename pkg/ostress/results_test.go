package ostress

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"gostress/pkg/driver"
)

func readUTF16(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) < 2 || b[0] != 0xFF || b[1] != 0xFE || len(b)%2 != 0 {
		t.Fatalf("%s is not UTF-16LE with a byte order mark: % x", path, b)
	}
	var u []uint16
	for i := 2; i < len(b); i += 2 {
		u = append(u, uint16(b[i])|uint16(b[i+1])<<8)
	}
	return string(utf16.Decode(u))
}

func listed(t *testing.T, dir string) []string {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range es {
		if e.Name() != manifest {
			out = append(out, e.Name())
		}
	}
	return out
}

func TestResultsAreRendered(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewResults(d, Format{}).Sink("query", 0)
	if err != nil {
		t.Fatal(err)
	}
	when := time.Date(2026, 1, 2, 3, 4, 5, 123456700, time.UTC)
	cols := []driver.Column{
		{Name: "id", Type: driver.SQLType{Name: "int"}},
		{Name: "name", Type: driver.SQLType{Name: "nvarchar", Len: 8}},
		{Name: "at", Type: driver.SQLType{Name: "datetime2", Scale: 7}},
		{Name: "on", Type: driver.SQLType{Name: "bit"}},
		{Name: "sum", Type: driver.SQLType{Name: "money"}},
		{Name: "raw", Type: driver.SQLType{Name: "varbinary", Len: 2}},
	}
	raw := []byte{0xAB, 1}
	steps := []error{
		s.Event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: cols}),
		s.Row([]any{int64(1), "größe 𝄞", when, true, "12.5000", raw}),
		s.Row([]any{int64(-2), nil, nil, nil, nil, nil}),
		s.Event(driver.SinkEvent{Kind: driver.SinkDone, Affected: 2, HasCount: true}),
		s.Event(driver.SinkEvent{Kind: driver.SinkMessage, Message: driver.ServerError{Message: "printed"}}),
		s.Event(driver.SinkEvent{Kind: driver.SinkMessage, Message: driver.ServerError{Number: 8134, Class: 16, State: 1, Line: 3, Server: "srv", Message: "division"}}),
	}
	raw[0] = 0 // the session's again once Row has returned
	if err := errors.Join(append(steps, s.(*fileSink).Close())...); err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(readUTF16(t, filepath.Join(dir, "query.out")), "\r\n", "\n")
	want := strings.Join([]string{
		"id          name     at                          on sum                   raw   ",
		"----------- -------- --------------------------- -- --------------------- ------",
		"          1 größe 𝄞  2026-01-02 03:04:05.1234567  1               12.5000 0xAB01",
		"         -2 NULL     NULL                        NULL                  NULL NULL  ",
		"",
		"(2 row(s) affected)",
		"",
		"printed",
		"Msg 8134, Level 16, State 1, Server srv, Line 3",
		"division",
		"",
	}, "\n")
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("file (-want +got):\n%s", d)
	}
}

func TestOpenDirRemovesItsOwnFilesAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := NewResults(d, Format{}).Empty("query", 0); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "query_1.out")
	if err := os.WriteFile(foreign, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A manifest that names files elsewhere is not believed.
	outside := filepath.Join(filepath.Dir(dir), filepath.Base(dir)+"-outside")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(outside)
	f, _ := os.OpenFile(filepath.Join(dir, manifest), os.O_APPEND|os.O_WRONLY, 0)
	_, _ = f.WriteString("../" + filepath.Base(outside) + "\n..\n\n")
	_ = f.Close()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}

	d, err = OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if want := []string{filepath.Join(d.Path, "query.out")}; !slices.Equal(d.Removed, want) {
		t.Errorf("removed %q, want %q", d.Removed, want)
	}
	if got := listed(t, dir); !slices.Equal(got, []string{"query_1.out"}) {
		t.Errorf("left %q", got)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error("a file outside the directory was removed")
	}
}

// TestOpenDirIsOneRunsAlone opens a directory that a run has open: its files stay.
func TestOpenDirIsOneRunsAlone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	dir := t.TempDir()
	first, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := NewResults(first, Format{}).Empty("query", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenDir(dir); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), dir) {
		t.Errorf("the second run: %v", err)
	}
	if got := listed(t, dir); !slices.Equal(got, []string{"query.out"}) {
		t.Errorf("left %q", got)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if len(second.Removed) != 1 {
		t.Errorf("removed %q", second.Removed)
	}
}

func TestOpenDirRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ path, want string }{
		"a file":          {file, "it is a file"},
		"below a file":    {filepath.Join(file, "x"), "not a directory"},
		"a NUL in a name": {"a\x00b", "invalid"},
	}
	if runtime.GOOS != "windows" {
		link, dangling := filepath.Join(dir, "link"), filepath.Join(dir, "dangling")
		if err := errors.Join(os.Symlink(dir, link), os.Symlink("nowhere", dangling)); err != nil {
			t.Fatal(err)
		}
		tests["a dangling link"] = struct{ path, want string }{dangling, "it is a symbolic link"}
		tests["a link"] = struct{ path, want string }{link, "it is a symbolic link"}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := OpenDir(tt.path)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestDirIsPrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := NewResults(d, Format{}).Empty("query", 0); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, "query.out"): 0o600, filepath.Join(dir, manifest): 0o600} {
		st, err := os.Stat(path)
		if err != nil || st.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, st.Mode(), err, want)
		}
	}
}

func TestAFullDiskIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &fileSink{results: &Results{}, name: "query.out", queue: newQueue(), done: make(chan struct{})}
	go s.write(newText(f, Locale{}), f)
	_ = s.Event(driver.SinkEvent{Kind: driver.SinkMessage, Message: driver.ServerError{Message: "x"}})
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "query.out: no space left") {
		t.Errorf("got %v", err)
	}
}
