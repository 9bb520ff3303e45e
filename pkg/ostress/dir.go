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
)

// manifest names, one a line, the files of a result directory that are
// gostress's to remove.
const manifest = ".gostress-files"

// LogName is the log's name in the result directory.
const LogName = "ostress.log"

// Dir is a result directory. Files in it are made for their owner alone; a file
// that stands there and is not in the manifest is never touched. All is done
// relative to the open directory, so that nothing outside it is, whatever becomes
// of its path.
type Dir struct {
	Path    string
	Removed []string // full paths of what an earlier run left and OpenDir removed
	root    *os.Root
	claimed map[string]bool
	list    *os.File
	listed  int64 // the manifest's length
}

// ErrBusy is what OpenDir fails with while another run writes to the directory.
var ErrBusy = errors.New("another run writes to it at this moment")

var errRemoved = errors.New("it was removed or replaced while the run wrote to it: what it held is lost")

// OpenDir makes the directory, or takes an existing one after checking that it
// is the user's own and no link, and removes what an earlier run left there. The
// directory is this run's alone until Close.
func OpenDir(path string) (*Dir, error) {
	d, err := openDir(path)
	if err != nil {
		return nil, fmt.Errorf("cannot use the result directory %s: %w", path, plain(err))
	}
	return d, nil
}

func openDir(path string) (*Dir, error) {
	st, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
		st, err = os.Lstat(path)
	}
	switch {
	case err != nil:
		return nil, err
	case st.Mode()&fs.ModeSymlink != 0:
		return nil, errors.New("it is a symbolic link; name the directory itself")
	case !st.IsDir():
		return nil, errors.New("it is a file")
	case !ownedByUser(st):
		return nil, errors.New("it belongs to another user")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	d := &Dir{Path: abs, root: root, claimed: map[string]bool{}}
	if now, err := root.Stat("."); err != nil || !os.SameFile(now, st) {
		_ = root.Close()
		return nil, errors.New("it was replaced at this moment")
	}
	if err := d.open(); err != nil {
		_ = root.Close()
		return nil, err
	}
	return d, nil
}

// open opens the manifest: a file, and no other name of one that stands elsewhere.
func (d *Dir) open() (err error) {
	const foreign = "%s in it is not a file of gostress's own; remove it"
	if st, err := d.root.Lstat(manifest); err == nil && !st.Mode().IsRegular() {
		return fmt.Errorf(foreign, manifest)
	}
	if d.list, err = d.root.OpenFile(manifest, os.O_CREATE|os.O_RDWR|noFollow, 0o600); err != nil {
		return err
	}
	switch st, serr := d.list.Stat(); {
	case serr != nil:
		err = serr
	case !st.Mode().IsRegular() || hardLinks(st) > 1:
		err = fmt.Errorf(foreign, manifest)
	default:
		err = d.take()
	}
	if err != nil {
		_ = d.list.Close()
	}
	return err
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
	there, err := fs.ReadDir(d.root.FS(), ".")
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
		st, err := d.root.Lstat(name)
		if err != nil || !st.Mode().IsRegular() {
			continue
		}
		if err := d.root.Remove(name); err != nil {
			return fmt.Errorf("an earlier run's file %s cannot be removed: %w", name, plain(err))
		}
		if name != LogName {
			d.Removed = append(d.Removed, filepath.Join(d.Path, name))
		}
	}
	slices.Sort(d.Removed)
	return sc.Err()
}

// Create makes base+ext, or, where that name is taken in this run or by a file
// that is not ours, the first free base~2+ext and so on. Names are compared
// without regard to case, as some file systems do. A base that is no name on
// some system is changed to one, see portable.
func (d *Dir) Create(base, ext string) (*os.File, error) { return d.create(base, "", ext) }

// create puts suffix between the two; it is not cut off a name that is too long.
func (d *Dir) create(base, suffix, ext string) (*os.File, error) {
	fail := func(err error) (*os.File, error) {
		return nil, fmt.Errorf("cannot write to the result directory %s: %w", d.Path, plain(err))
	}
	for i := 1; ; i++ {
		end := suffix + ext
		if i > 1 {
			end = fmt.Sprintf("%s~%d%s", suffix, i, ext)
		}
		name := portable(base, len(end)) + end
		key := strings.ToLower(name)
		if d.claimed[key] {
			continue
		}
		f, err := d.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			d.claimed[key] = true
			continue
		}
		if err != nil {
			return fail(err)
		}
		if err := d.record(name); err != nil {
			// Nobody would remove it later.
			_ = f.Close()
			_ = d.root.Remove(name)
			return fail(err)
		}
		d.claimed[key] = true
		return f, nil
	}
}

// record adds a name to the manifest, as a whole or not at all: a part might be
// another file's name.
func (d *Dir) record(name string) error {
	line := name + "\n"
	if _, err := io.WriteString(d.list, line); err != nil {
		return errors.Join(err, d.list.Truncate(d.listed))
	}
	d.listed += int64(len(line))
	return nil
}

// Check fails when the directory, its manifest or its log is no longer there.
func (d *Dir) Check() error {
	open, err := d.root.Stat(".")
	if err == nil {
		var named fs.FileInfo
		if named, err = os.Lstat(d.Path); err == nil && !os.SameFile(open, named) {
			err = errRemoved
		}
	}
	if err == nil {
		err = stands(filepath.Join(d.Path, manifest), d.list)
	}
	if err != nil {
		return fmt.Errorf("the result directory %s: %w", d.Path, errRemoved)
	}
	return nil
}

// Close ends the manifest and lets other runs have the directory; the files stay open.
func (d *Dir) Close() error { return errors.Join(d.list.Close(), d.root.Close()) }

func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
