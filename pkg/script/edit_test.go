package script

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoadEdited(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sql, rml := filepath.Join(dir, "a.sql"), filepath.Join(dir, "a.rml")
	for _, path := range []string{sql, rml} {
		if err := os.WriteFile(path, []byte("SELECT x\nSELECT x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The edit comes before the split: what it puts in can separate batches.
	s, err := CodePage(0).LoadEdited(sql, func(text string) (string, error) { return strings.ReplaceAll(text, "\n", "\nGO\n"), nil })
	if err != nil || len(s.Batches) != 2 || s.Batches[1].Text != "SELECT x" || s.Batches[1].Line != 3 {
		t.Errorf("%+v, %v", s.Batches, err)
	}
	_, err = CodePage(0).LoadEdited(sql, func(string) (string, error) { return "", &Error{Line: 2, Text: "no"} })
	var e *Error
	if !errors.As(err, &e) || e.Path != sql || e.Line != 2 {
		t.Errorf("%v", err)
	}
	if _, err := CodePage(0).LoadEdited(rml, func(text string) (string, error) { return text, nil }); err == nil || !strings.Contains(err.Error(), "recording") {
		t.Errorf("%v", err)
	}
}
