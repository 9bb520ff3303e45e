package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSON writes v, a result.Run, result.Set or result.Demo, to a file as Create makes it.
func WriteJSON(path string, v any) error {
	content, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return write(path, func(w io.Writer) error {
		_, err := w.Write(append(content, '\n'))
		return err
	})
}
