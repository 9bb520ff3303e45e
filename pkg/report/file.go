package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Check finds out, before a long run, whether a file can be written to path. It leaves nothing there.
func Check(path string) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	return f.Discard()
}

// File is a file that only its owner can read and that is there whole or not at all: what stood at
// its path stays until Keep. A symbolic link stays one. What is no file, such as /dev/stdout, is
// written to as it is.
type File struct {
	path string
	file *os.File
	dest string // where it goes; "" for what is no file
}

// Create begins the file at path. Keep or Discard ends it.
func Create(path string) (*File, error) {
	fail := func(err error) (*File, error) { return nil, fmt.Errorf("write %s: %w", path, err) }
	dest := path
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fail(err)
	case info.IsDir():
		return fail(errors.New("it is a directory"))
	case !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return fail(err)
		}
		return &File{path: path, file: f}, nil
	default:
		if dest, err = filepath.EvalSymlinks(path); err != nil {
			return fail(err)
		}
	}
	// os.CreateTemp makes files of mode 0600.
	f, err := os.CreateTemp(filepath.Dir(dest), "."+filepath.Base(dest)+".*")
	if err != nil {
		return fail(plain(err))
	}
	return &File{path: path, file: f, dest: dest}, nil
}

// Write implements io.Writer.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	if err != nil {
		err = fmt.Errorf("write %s: %w", f.path, plain(err))
	}
	return n, err
}

// Keep puts the file in its place once its content is on disk.
func (f *File) Keep() error {
	if f.dest == "" {
		if err := f.file.Close(); err != nil {
			return fmt.Errorf("write %s: %w", f.path, plain(err))
		}
		return nil
	}
	err := f.file.Sync()
	if cerr := f.file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.file.Name(), f.dest)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", f.path, plain(err)), os.Remove(f.file.Name()))
	}
	return nil
}

// Discard leaves no trace of the file.
func (f *File) Discard() error {
	err := f.file.Close()
	if f.dest == "" {
		return nil // it has been said
	}
	return errors.Join(err, os.Remove(f.file.Name()))
}

// plain is an error without the temporary name, which means nothing to the reader.
func plain(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case errors.As(err, &le):
		return le.Err
	}
	return err
}

// write fills a file by f and keeps it, or discards it when f fails.
func write(path string, f func(io.Writer) error) error {
	t, err := Create(path)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(t)
	if err = f(b); err == nil {
		err = b.Flush()
	}
	if err != nil {
		return errors.Join(err, t.Discard())
	}
	return t.Keep()
}
