package ostress

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// manifest names, one a line, the files of a result directory that are
// gostress's to remove.
const manifest = ".gostress-files"

// LogName is the log's name in the result directory.
const LogName = "ostress.log"

// Dir is a result directory. Files in it are made for their owner alone; a file
// that stands there and is not in the manifest is never touched.
type Dir struct {
	Path    string
	Removed []string // full paths of what an earlier run left and OpenDir removed
	claimed map[string]bool
	list    *os.File
}

// ErrBusy is what OpenDir fails with while another run writes to the directory.
var ErrBusy = errors.New("another run writes to it at this moment")

// OpenDir makes the directory, or takes an existing one after checking that it
// is the user's own and no link, and removes what an earlier run left there. The
// directory is this run's alone until Close.
func OpenDir(path string) (*Dir, error) {
	fail := func(err error) (*Dir, error) {
		return nil, fmt.Errorf("cannot use the result directory %s: %w", path, plain(err))
	}
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(path, 0o700); err != nil {
			return fail(err)
		}
	case err != nil:
		return fail(err)
	case st.Mode()&fs.ModeSymlink != 0:
		return fail(errors.New("it is a symbolic link; name the directory itself"))
	case !st.IsDir():
		return fail(errors.New("it is a file"))
	case !ownedByUser(st):
		return fail(errors.New("it belongs to another user"))
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return fail(err)
	}
	d := &Dir{Path: abs, claimed: map[string]bool{}}
	d.list, err = os.OpenFile(filepath.Join(abs, manifest), os.O_CREATE|os.O_RDWR|noFollow, 0o600)
	if err != nil {
		return fail(err)
	}
	if err := d.take(); err != nil {
		_ = d.list.Close()
		return fail(err)
	}
	return d, nil
}

// take locks the manifest, so that no other run removes this one's files or
// loses its own, and begins it anew.
func (d *Dir) take() error {
	if err := lock(d.list); err != nil {
		return err
	}
	if err := d.clean(); err != nil {
		return err
	}
	there, err := os.ReadDir(d.Path)
	if err != nil {
		return err
	}
	for _, e := range there {
		d.claimed[strings.ToLower(e.Name())] = true
	}
	if err := d.list.Truncate(0); err != nil {
		return err
	}
	_, err = d.list.Seek(0, io.SeekStart)
	return err
}

func (d *Dir) clean() error {
	sc := bufio.NewScanner(d.list)
	for sc.Scan() {
		name := sc.Text()
		if name == "" || name != filepath.Base(name) || strings.ContainsAny(name, `/\`) || name == "." || name == ".." {
			continue
		}
		p := filepath.Join(d.Path, name)
		st, err := os.Lstat(p)
		if err != nil || !st.Mode().IsRegular() {
			continue
		}
		if err := os.Remove(p); err != nil {
			return err
		}
		if name != LogName {
			d.Removed = append(d.Removed, p)
		}
	}
	slices.Sort(d.Removed)
	return sc.Err()
}

// Create makes base+ext, or, where that name is taken in this run or by a file
// that is not ours, the first free base~2+ext and so on. Names are compared
// without regard to case, as some file systems do.
func (d *Dir) Create(base, ext string) (*os.File, error) {
	// The manifest is of lines.
	base = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '_'
		}
		return r
	}, base)
	for i := 1; ; i++ {
		name := base + ext
		if i > 1 {
			name = fmt.Sprintf("%s~%d%s", base, i, ext)
		}
		if d.claimed[strings.ToLower(name)] {
			continue
		}
		f, err := os.OpenFile(filepath.Join(d.Path, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			d.claimed[strings.ToLower(name)] = true
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot write to the result directory: %w", err)
		}
		d.claimed[strings.ToLower(name)] = true
		if _, err := fmt.Fprintln(d.list, name); err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("cannot write to the result directory: %w", err)
		}
		return f, nil
	}
}

// Close ends the manifest and lets other runs have the directory; the files stay open.
func (d *Dir) Close() error { return d.list.Close() }

func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
