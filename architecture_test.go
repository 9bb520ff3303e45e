package gostress_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestImportsPointOneWay holds the tree to docs/architecture.md: what a package
// may import is a matter of the room it is in.
func TestImportsPointOneWay(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for dec := json.NewDecoder(out); ; seen++ {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		from := strings.TrimPrefix(p.ImportPath, "gostress/")
		for _, imp := range p.Imports {
			to, own := strings.CutPrefix(imp, "gostress/")
			if why := forbidden(from, to, own); why != "" {
				t.Errorf("%s imports %s: %s", from, imp, why)
			}
		}
	}
	if err := cmd.Wait(); err != nil || seen < 20 {
		t.Fatalf("go list: %d packages, %v", seen, err)
	}
}

// engineOrder lists the engine's packages from the bottom up: each may import
// those before it.
var engineOrder = []string{"sqlerr", "types", "fn", "storage", "tsql", "catalog", "dmv", "expr", "plan", "exec"}

func forbidden(from, to string, own bool) string {
	in := func(s, room string) bool { return s == room || strings.HasPrefix(s, room+"/") }
	if from == "pkg/result" && strings.Contains(to, ".") {
		return "the result is plain structs over the standard library"
	}
	if !own {
		return ""
	}
	switch {
	case in(to, "cmd"):
		return "nothing imports a command"
	case in(from, "cmd"):
		return ""
	case in(from, "internal"):
		switch {
		case in(to, "pkg") || in(to, "workloads"):
			return "internal knows nothing of pkg"
		case from == "internal/tds":
			return "the wire format stands alone"
		case in(from, "internal/engine"):
			if !in(to, "internal/engine") {
				return "the engine knows nothing of what is around it"
			}
			a := slices.Index(engineOrder, strings.TrimPrefix(from, "internal/engine/"))
			b := slices.Index(engineOrder, strings.TrimPrefix(to, "internal/engine/"))
			if a < 0 || b < 0 || b >= a {
				return "the engine's packages import upwards: " + strings.Join(engineOrder, ", ")
			}
		}
	case in(from, "pkg"):
		switch {
		case in(to, "internal/engine") || in(to, "internal/server"):
			return "the load generator reaches the engine through a socket alone"
		case from == "pkg/result":
			return "the result is plain structs over the standard library"
		case from == "pkg/driver" && in(to, "pkg/report"):
			return "what measures knows nothing of reports"
		}
	case in(from, "workloads"):
		return "the workloads are data"
	}
	return ""
}
