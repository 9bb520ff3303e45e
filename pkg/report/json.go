package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// CheckJSON finds out, before a long run, whether WriteJSON can write to path. It leaves nothing there.
func CheckJSON(path string) error {
	t, err := openJSON(path)
	if err != nil {
		return err
	}
	return t.discard()
}

// WriteJSON writes v, a result.Run or result.Demo, to a file that only its owner can read. The
// file is there whole or not at all: what stood at path stays until the new content is on disk.
// A symbolic link stays one. What is no file, such as /dev/stdout, is written to as it is.
func WriteJSON(path string, v any) error {
	content, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	t, err := openJSON(path)
	if err != nil {
		return err
	}
	if _, err = t.file.Write(append(content, '\n')); err == nil && t.dest != "" {
		err = t.file.Sync()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), t.discard())
	}
	if err := t.keep(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// jsonTarget is a file that becomes dest, or, without dest, what is written to as it is.
type jsonTarget struct {
	file *os.File
	dest string
}

func openJSON(path string) (*jsonTarget, error) {
	fail := func(err error) (*jsonTarget, error) { return nil, fmt.Errorf("write %s: %w", path, err) }
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
		return &jsonTarget{file: f}, nil
	default:
		if dest, err = filepath.EvalSymlinks(path); err != nil {
			return fail(err)
		}
	}
	// os.CreateTemp makes files of mode 0600.
	f, err := os.CreateTemp(filepath.Dir(dest), "."+filepath.Base(dest)+".*")
	if err != nil {
		// The name of the file that was tried means nothing to the reader.
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return fail(err)
	}
	return &jsonTarget{file: f, dest: dest}, nil
}

func (t *jsonTarget) keep() error {
	err := t.file.Close()
	if t.dest == "" {
		return err
	}
	if err == nil {
		err = os.Rename(t.file.Name(), t.dest)
	}
	if err != nil {
		return errors.Join(err, os.Remove(t.file.Name()))
	}
	return nil
}

func (t *jsonTarget) discard() error {
	err := t.file.Close()
	if t.dest == "" {
		return nil // it has been said
	}
	return errors.Join(err, os.Remove(t.file.Name()))
}
