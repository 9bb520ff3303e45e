package workloads

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/sqlc-dev/teesql/ast"
	"github.com/sqlc-dev/teesql/parser"

	"gostress/internal/engine/tsql"
)

var (
	goLine = regexp.MustCompile(`(?m)^GO[ \t]*$`)
	token  = regexp.MustCompile(`\$\(([a-z_]+)\)`)
	// dynamic finds the text of EXEC (N'...').
	dynamic = regexp.MustCompile(`EXEC \(N'((?:[^']|'')*)'\)`)
)

// vars are values for every variable, as good as any.
func vars() map[string]string {
	return map[string]string{
		"gs_order_buckets": "1024", "gs_line_buckets": "8192", "gs_key_buckets": "1024",
		"gs_form": "inmem", "gs_hint": "WITH (SNAPSHOT)", "gs_header": "Demo.h", "gs_detail": "Demo.d", "gs_new": "1 = 1",
	}
}

func scripts(w Workload) []Script {
	return append(append([]Script{}, w.Install...), w.Reset, w.Verify, w.Uninstall)
}

// TestScriptsParse holds every batch of every script, and the statements in its EXEC strings, to
// a grammar that the embedded engine reads too.
func TestScriptsParse(t *testing.T) {
	t.Parallel()
	for _, w := range All() {
		for _, s := range scripts(w) {
			text := Expand(s.Text, s.Vars, vars())
			for i, batch := range goLine.Split(text, -1) {
				if strings.TrimSpace(batch) == "" {
					continue
				}
				parse(t, s.File, i+1, batch)
				for _, m := range dynamic.FindAllStringSubmatch(batch, -1) {
					parse(t, s.File, i+1, strings.ReplaceAll(m[1], "''", "'"))
				}
			}
		}
		for _, r := range w.Runs {
			parse(t, w.Name+"/"+r.Name, 1, r.Batch)
		}
	}
}

func parse(t *testing.T, file string, n int, batch string) {
	t.Helper()
	script, err := parser.Parse(context.Background(), strings.NewReader(batch))
	if err != nil {
		t.Errorf("%s batch %d: %v\n%s", file, n, err, batch)
		return
	}
	if _, err := tsql.Parse(batch); err != nil {
		t.Errorf("%s batch %d: the engine's parser says %v", file, n, err)
	}
	if len(script.Batches) != 1 {
		t.Errorf("%s batch %d: parsed as %d batches", file, n, len(script.Batches))
		return
	}
	// The parser reads an unknown first word as the name of a procedure, as the server does: a
	// misspelt statement would pass.
	for _, st := range script.Batches[0].Statements {
		if e, ok := st.(*ast.ExecuteStatement); ok && !strings.Contains(strings.ToUpper(batch), "EXEC") {
			t.Errorf("%s batch %d: %T without EXEC", file, n, e)
		}
	}
}

// TestVarsAreDocumented: every $(name) in a script is in the workload's list, and the other way
// round.
func TestVarsAreDocumented(t *testing.T) {
	t.Parallel()
	for _, w := range All() {
		known, used := map[string]bool{"gs_orders": true, "gs_lines": true, "gs_name": true}, map[string]bool{}
		for _, v := range w.Vars {
			known[v.Name] = true
		}
		for _, s := range scripts(w) {
			for _, m := range token.FindAllStringSubmatch(s.Text, -1) {
				used[m[1]] = true
				if !known[m[1]] {
					t.Errorf("%s uses $(%s), which Vars does not name", s.File, m[1])
				}
			}
		}
		for _, v := range w.Vars {
			if !used[v.Name] {
				t.Errorf("%s: no script uses $(%s)", w.Name, v.Name)
			}
		}
		for _, r := range w.Runs {
			if left := token.FindString(r.Batch); left != "" {
				t.Errorf("%s/%s: %s is left in the batch", w.Name, r.Name, left)
			}
			if strings.HasPrefix(r.Batch, "--") {
				t.Errorf("%s/%s: the batch carries its comment", w.Name, r.Name)
			}
		}
	}
}

// TestGrammarLevel keeps out what SQL Server 2016 does not know, what Azure SQL Database does not
// allow, and what would make the data differ from server to server.
func TestGrammarLevel(t *testing.T) {
	t.Parallel()
	comment := regexp.MustCompile(`(?m)--.*$`)
	banned := regexp.MustCompile(`(?i)\b(CREATE OR ALTER|STRING_AGG|TRIM\(|CONCAT_WS|GENERATE_SERIES|NEWID|USE \w|MERGE|GREATEST|LEAST|DATETRUNC|IS DISTINCT)`)
	native := regexp.MustCompile(`(?i)\b(CASE|MERGE|TRUNCATE|sp_executesql|OUTPUT INSERTED|COALESCE|CHARINDEX)\b`)
	for _, w := range All() {
		for _, s := range scripts(w) {
			for i, batch := range goLine.Split(s.Text, -1) {
				code := comment.ReplaceAllString(batch, "")
				if m := banned.FindString(code); m != "" {
					t.Errorf("%s batch %d: %s", s.File, i+1, m)
				}
				if strings.Contains(code, "NATIVE_COMPILATION") {
					if m := native.FindString(code); m != "" {
						t.Errorf("%s batch %d: %s in a natively compiled procedure", s.File, i+1, m)
					}
				}
			}
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	w, ok := Lookup("InMem-OLTP")
	if !ok {
		t.Fatal("inmem-oltp is not found")
	}
	for _, name := range []string{"inmem", "ONDISK"} {
		r, ok := w.FindRun(name)
		if !ok || !w.HasPart(r.Part) {
			t.Errorf("run %s: %v, part %q", name, ok, r.Part)
		}
	}
	if _, ok := Lookup("nothing"); ok {
		t.Error("a workload named nothing")
	}
	if _, ok := w.FindRun("nothing"); ok {
		t.Error("a run named nothing")
	}
}

// TestNativeInsertsNameEveryColumn: in a natively compiled procedure only identity columns may be
// left out of an INSERT, and those with a default; all others are named here.
func TestNativeInsertsNameEveryColumn(t *testing.T) {
	t.Parallel()
	table := regexp.MustCompile(`(?s)CREATE TABLE ([\w.]+)\s*\(\n(.*?)\n    \)`)
	column := regexp.MustCompile(`(?m)^        \[?(\w+)\]? (?:tinyint|smallint|int|bigint|bit|money|smallmoney|decimal|datetime2|nvarchar|nchar|varchar)\b(.*)$`)
	insert := regexp.MustCompile(`(?s)INSERT INTO ([\w.]+)\s*\(([^)]*)\)`)
	for _, w := range All() {
		columns := map[string][]string{}
		for _, s := range w.Install {
			for _, m := range table.FindAllStringSubmatch(s.Text, -1) {
				for _, c := range column.FindAllStringSubmatch(m[2], -1) {
					if !strings.Contains(c[2], "IDENTITY") {
						columns[m[1]] = append(columns[m[1]], c[1])
					}
				}
			}
		}
		seen := 0
		for _, s := range w.Install {
			for _, batch := range goLine.Split(s.Text, -1) {
				if !strings.Contains(batch, "NATIVE_COMPILATION") {
					continue
				}
				for _, m := range insert.FindAllStringSubmatch(batch, -1) {
					seen++
					named := map[string]bool{}
					for name := range strings.FieldsFuncSeq(m[2], func(r rune) bool { return strings.ContainsRune(" ,\n[]", r) }) {
						named[name] = true
					}
					if len(columns[m[1]]) == 0 {
						t.Errorf("%s: no columns of %s were found", s.File, m[1])
					}
					for _, c := range columns[m[1]] {
						if !named[c] {
							t.Errorf("%s: the INSERT into %s leaves out %s", s.File, m[1], c)
						}
					}
				}
			}
		}
		if seen < 5 {
			t.Errorf("%s: %d INSERT statements in natively compiled procedures were found", w.Name, seen)
		}
	}
}
