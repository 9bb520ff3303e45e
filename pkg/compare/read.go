// Package compare puts results side by side: each figure's median and spread, and whether the
// difference is there.
package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gostress/pkg/result"
)

// Input is a column of a comparison: runs that were the same but for chance.
type Input struct {
	Name string
	Runs []result.Run
}

// Read reads a JSON report: of a run, of repetitions, or of a sweep, which gives an input for each
// number of connections. Its error names the file.
func Read(path string) ([]Input, error) {
	fail := func(err error) ([]Input, error) { return nil, fmt.Errorf("read %s: %w", path, err) }
	content, err := os.ReadFile(path)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return fail(err)
	}
	var head struct {
		Schema int              `json:"schema"`
		Tool   string           `json:"tool"`
		Kind   string           `json:"kind"`
		Runs   *json.RawMessage `json:"runs"`
	}
	if err := json.Unmarshal(content, &head); err != nil {
		return fail(fmt.Errorf("it is no JSON report of gostress: %w", err))
	}
	name := strings.TrimSuffix(filepath.Base(path), ".json")
	switch {
	case head.Tool != "gostress" || head.Schema == 0:
		return fail(errors.New("it is no JSON report of gostress: the keys tool and schema are missing"))
	case head.Schema > result.Schema:
		return fail(fmt.Errorf("its schema is %d, and this program knows those up to %d: a newer gostress reads it", head.Schema, result.Schema))
	case head.Runs == nil:
		var run result.Run
		if err := json.Unmarshal(content, &run); err != nil {
			return fail(err)
		}
		return []Input{{Name: name, Runs: []result.Run{run}}}, nil
	case head.Kind == "":
		return fail(errors.New("it is the report of a demo, which compares its own two runs"))
	}
	var set result.Set
	if err := json.Unmarshal(content, &set); err != nil {
		return fail(err)
	}
	if len(set.Runs) == 0 {
		return fail(errors.New("it holds no run"))
	}
	if set.Kind != "sweep" {
		return []Input{{Name: name, Runs: set.Runs}}, nil
	}
	var out []Input
	for _, run := range set.Runs {
		point := fmt.Sprintf("%s n=%d", name, run.Connections)
		if n := len(out); n > 0 && out[n-1].Name == point {
			out[n-1].Runs = append(out[n-1].Runs, run)
			continue
		}
		out = append(out, Input{Name: point, Runs: []result.Run{run}})
	}
	return out, nil
}
