package examples_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestExamples runs the bash scripts: with the embedded engine that they start,
// and against a server that the environment names.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("the scripts start engines of their own; go test without -short runs them")
	}
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no bash")
	}
	program := filepath.Join(t.TempDir(), "gostress")
	if out, err := exec.Command("go", "build", "-o", program, "../cmd/gostress").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	password := `a b'c"d$e`
	server := serve(t, program, password)

	// run gives a script's output and whether it ended with status 0.
	run := func(t *testing.T, dir string, env []string, script string, args ...string) (string, bool) {
		t.Helper()
		path, err := filepath.Abs(script)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("bash", append([]string{path}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(environ(), append([]string{"GOSTRESS=" + program, "N=2", "R=3", "P99_MS=600000"}, env...)...)
		out, err := cmd.CombinedOutput()
		var ee *exec.ExitError
		if err != nil && !errors.As(err, &ee) {
			t.Fatal(err)
		}
		if strings.Contains(string(out), password) {
			t.Errorf("the password is shown:\n%s", out)
		}
		return string(out), err == nil
	}
	places := map[string][]string{
		"embedded": nil,
		"server":   {"GOSTRESS_SERVER=" + server, "GOSTRESS_USER=sa", "GOSTRESS_PASSWORD=" + password, "GOSTRESS_OUTPUT=my results"},
	}
	for place, env := range places {
		t.Run("inmem-compare/"+place, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			out, ok := run(t, dir, env, "inmem-compare.sh")
			if !ok || !strings.Contains(out, "batches, /s") || !strings.Contains(out, "workload inmem-oltp is removed") {
				t.Fatalf("%s", out)
			}
			results := "results"
			if env != nil {
				results = "my results"
			}
			for _, form := range []string{"inmem", "ondisk"} {
				if n := batches(t, filepath.Join(dir, results, form+".json")); n != 6 {
					t.Errorf("%s: %d batches", form, n)
				}
			}
		})
		t.Run("sql-dir/"+place, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			out, ok := run(t, dir, env, "sql-dir.sh")
			if !ok || !strings.Contains(out, "ran without an error.") {
				t.Fatalf("%s", out)
			}
			// One bad file among good ones: all run, and the script fails.
			sql := filepath.Join(dir, "my sql")
			if err := os.Mkdir(sql, 0o700); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"1.sql": "SELECT 1", "2.sql": "SELECT 1/0\nGO\nPRINT 'never'", "3.sql": "PRINT 'the last'"} {
				if err := os.WriteFile(filepath.Join(sql, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			out, ok = run(t, dir, env, "sql-dir.sh", sql)
			if ok || strings.Count(out, "FAILED: ") != 1 || !strings.Contains(out, "FAILED: "+filepath.Join(sql, "2.sql")) || strings.Count(out, "OSTRESS exiting") != 3 {
				t.Errorf("%s", out)
			}
			if out, ok := run(t, dir, env, "sql-dir.sh", filepath.Join(dir, "none")); ok || !strings.Contains(out, "there is no .sql file in ") {
				t.Errorf("%s", out)
			}
		})
		t.Run("nightly/"+place, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("jq"); err != nil {
				t.Skip("there is no jq")
			}
			dir := t.TempDir()
			out, ok := run(t, dir, env, "nightly.sh")
			last := filepath.Join(dir, "nightly", "last.json")
			if !ok || batches(t, last) != 6 || !strings.Contains(out, "6 batches, 0 failed, ") {
				t.Fatalf("%s", out)
			}
			out, ok = run(t, dir, append([]string{"P99_MS=0"}, env...), "nightly.sh")
			if ok || !strings.Contains(out, "FAILED: the 99th percentile is above 0 ms") || !strings.Contains(out, "batches, /s") {
				t.Errorf("%s", out)
			}
			// A night before that was much faster than any machine is.
			b, err := os.ReadFile(last)
			if err != nil {
				t.Fatal(err)
			}
			var m map[string]any
			if err := json.Unmarshal(b, &m); err != nil {
				t.Fatal(err)
			}
			m["batches_per_s"] = 1e12
			if b, err = json.Marshal(m); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(last, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if out, ok = run(t, dir, env, "nightly.sh"); ok || !strings.Contains(out, "FAILED: the rate fell") {
				t.Errorf("%s", out)
			}
		})
	}
	t.Run("mix", func(t *testing.T) {
		t.Parallel()
		scenario, err := filepath.Abs("mix.yaml")
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, "run", scenario, "-S"+server, "-Usa", "-q", "-oout", "--json", "mix.json")
		cmd.Dir = t.TempDir()
		cmd.Env = append(environ(), "SQLCMDPASSWORD="+password)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		b, err := os.ReadFile(filepath.Join(cmd.Dir, "mix.json"))
		if err != nil {
			t.Fatal(err)
		}
		var run struct {
			Verdict    string
			Statements []struct {
				Name    string
				Batches int64
			}
		}
		if err := json.Unmarshal(b, &run); err != nil {
			t.Fatal(err)
		}
		// Four connections of 50 iterations share reads and writes, one has the reports.
		n := map[string]int64{}
		for _, s := range run.Statements {
			n[s.Name] = s.Batches
		}
		if run.Verdict != "passed" || len(n) != 3 || n["read"]+n["write"] != 200 || n["write"] == 0 || n["read"] < 2*n["write"] || n["report"] != 50 {
			t.Errorf("%s %v", run.Verdict, n)
		}
	})
	t.Run("no program", func(t *testing.T) {
		t.Parallel()
		if out, ok := run(t, t.TempDir(), []string{"GOSTRESS=/no/such/program"}, "sql-dir.sh"); ok || !strings.Contains(out, "/no/such/program") {
			t.Errorf("%s", out)
		}
	})
}

// environ is the environment without what the examples read.
func environ() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GOSTRESS_") || strings.HasPrefix(v, "STATE=") || strings.HasPrefix(v, "SQLCMDPASSWORD=")
	})
}

// serve starts an engine until the test ends, and gives its address as -S takes it.
func serve(t *testing.T, program, password string) string {
	t.Helper()
	cmd := exec.Command(program, "serve", "--listen", "127.0.0.1:0")
	cmd.Env = append(environ(), "GOSTRESS_SERVE_PASSWORD="+password)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		t.Fatalf("the engine said %q, %v", line, err)
	}
	return strings.ReplaceAll(address, ":", ",")
}

func batches(t *testing.T, file string) int64 {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Batches int64 `json:"batches"`
	}
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r.Batches
}
