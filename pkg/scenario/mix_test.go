package scenario

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gostress/pkg/driver"
)

const sampleMix = `name: orders
target: {server: "db,1433", session: ssms}
load:
  connections: 20
  duration: 30s
  rate: 500/s
  seed: 7
params:
  vars: ["id:int=uniform(1,9)", "x=choice(a,b)"]
setup:
  once: ["CREATE TABLE t (a int)"]
  connection: [SET NOCOUNT ON]
  iteration: [SELECT 1]
teardown:
  iteration: ["SELECT 2"]
statements:
  - name: read
    weight: 70
    sql: |
      SELECT @id
      GO 2
      SELECT 3
  - {name: write, weight: 29.5, sql: UPDATE t SET a = @id}
  - {weight: 0.5, sql: DELETE t}
  - {name: report, own_connections: true, sql: SELECT COUNT(*) FROM t}
thresholds: ["read.p99<20ms", "errors<1%"]
output: {json: out.json}
`

func units(t *testing.T, content string) []driver.Unit {
	t.Helper()
	m, err := ParseMix("mix.yaml", []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	u, err := m.Units(t.Context(), 7, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestSwitchesOfAMix(t *testing.T) {
	t.Parallel()
	m, err := ParseMix("mix.yaml", []byte(sampleMix))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"--server=db,1433", "--session=ssms", "--connections=20", "--duration=30s", "--rate=500/s", "--seed=7",
		"--var=id:int=uniform(1,9)", "--var=x=choice(a,b)", "--threshold=read.p99<20ms", "--threshold=errors<1%", "--json=out.json"}
	var got []string
	for _, s := range m.Switches {
		got = append(got, s.String())
	}
	if last := m.Switches[len(m.Switches)-1]; last.Line != 27 || last.Col != 16 {
		t.Errorf("%s is at %d, %d", last, last.Line, last.Col)
	}
	if diff := cmp.Diff(want, got); diff != "" || m.Name != "orders" {
		t.Errorf("%s %s", m.Name, diff)
	}
}

func TestUnitsOfAMix(t *testing.T) {
	t.Parallel()
	u := units(t, sampleMix)
	if len(u) != 2 || u[0].Name != "orders" || u[1].Name != "report" ||
		!slices.Equal(u[0].Statements, []string{"read", "write", "3", "iteration setup", "iteration teardown"}) ||
		!slices.Equal(u[1].Statements, []string{"report", "iteration setup", "iteration teardown"}) {
		t.Fatalf("%+v", u)
	}
	bodies := map[int][]string{0: {"SELECT @id", "SELECT @id", "SELECT 3"}, 1: {"UPDATE t SET a = @id"}, 2: {"DELETE t"}}
	seen := map[int]int{}
	const iterations = 20_000
	for i := range int64(iterations) {
		var names []int
		var texts []string
		for r := range u[0].Program.Iteration(driver.Worker{ID: 3}, i) {
			names, texts = append(names, r.Statement), append(texts, strings.TrimSpace(r.Text))
		}
		n := len(names)
		if names[0] != 3 || texts[0] != "SELECT 1" || names[n-1] != 4 || texts[n-1] != "SELECT 2" {
			t.Fatalf("%v %q", names, texts)
		}
		body := names[1]
		if !slices.Equal(texts[1:n-1], bodies[body]) || !slices.Equal(names[1:n-1], slices.Repeat([]int{body}, n-2)) {
			t.Fatalf("%v %q", names, texts)
		}
		seen[body]++
	}
	// Chi-square with two degrees of freedom: 13.8 is exceeded once in a thousand.
	chi := 0.0
	for i, share := range []float64{0.7, 0.295, 0.005} {
		expected := share * iterations
		chi += math.Pow(float64(seen[i])-expected, 2) / expected
	}
	if chi > 13.8 {
		t.Errorf("drawn %v, chi-square %v", seen, chi)
	}
	// The draws are the seed's, the worker's and the iteration's alone.
	for i := range int64(100) {
		first := func(u []driver.Unit, id int) *driver.Request {
			for r := range u[0].Program.Iteration(driver.Worker{ID: id}, i) {
				if r.Statement < 3 {
					return r
				}
			}
			return nil
		}
		if a, b := first(u, 5), first(units(t, sampleMix), 5); a.Text != b.Text {
			t.Fatalf("iteration %d: %q and %q", i, a.Text, b.Text)
		}
	}
}

func TestPlacesInAMix(t *testing.T) {
	t.Parallel()
	u := units(t, sampleMix)
	lines := map[string]int{}
	for i := range int64(2000) {
		for r := range u[0].Program.Iteration(driver.Worker{}, i) {
			lines[strings.TrimSpace(r.Text)] = r.Source.Line
			if !strings.HasSuffix(r.Source.File, "mix.yaml") {
				t.Fatalf("%+v", r.Source)
			}
		}
	}
	want := map[string]int{"SELECT @id": 20, "SELECT 3": 22, "UPDATE t SET a = @id": 23, "DELETE t": 24, "SELECT 1": 13, "SELECT 2": 15}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

func TestMixErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ content, want string }{
		"empty":       {"", "mix.yaml: a scenario is one YAML document"},
		"two":         {"statements: [{sql: a}]\n---\nb: 1\n", "one YAML document"},
		"syntax":      {"statements:\n  - {sql: a\n", "mix.yaml, line "},
		"unknown":     {"statements:\n  - sql: a\n    wieght: 3\n", `mix.yaml, line 3, column 5: unknown field "wieght"`},
		"type":        {"statements: 3\n", "mix.yaml, line 1, column 13: "},
		"nothing":     {"name: x\n", "there are no statements"},
		"no text":     {"statements:\n  - name: a\n", "line 2, column 9: statement a has nothing to run"},
		"two texts":   {"statements:\n  - {name: a, sql: x, file: y}\n", "more than one of sql, file and workload"},
		"twice":       {"statements:\n  - {name: a, sql: x}\n  - {name: a, sql: y}\n", `the name "a" is there twice`},
		"weight":      {"statements:\n  - sql: x\n    weight: -1\n", "line 3, column 13: a weight is a number above zero"},
		"zero":        {"statements:\n  - sql: x\n    weight: 0\n", "leave the statement out instead"},
		"own weight":  {"statements:\n  - {sql: x, own_connections: true, weight: 3}\n", "it has no weight"},
		"mode":        {"statements:\n  - {workload: inmem-oltp/inmem, mode: fast}\n", `"fast" is no mode`},
		"mode of sql": {"statements:\n  - {sql: x, mode: tvp}\n", "a mode is for a workload"},
		"password":    {"target:\n  password: secret\nstatements: [{sql: a}]\n", "line 2, column 3: a password does not belong in a file"},
		"PWD":         {"UserPWD: secret\nstatements: [{sql: a}]\n", "line 1, column 1: a password does not belong in a file"},
		"a text":      {"target: secret\nstatements: [{sql: a}]\n", "line 1, column 9: "},
		"a list":      {"load: {connections: [1, 2]}\nstatements: [{sql: a}]\n", "line 1, column 21: this must be one value, text or a number"},
		"a word":      {"statements: [{sql: a, weight: heavy}]\n", "line 1, column 31: this must be a number"},
		"half":        {"statements: [{sql: a, connections: 1.5}]\n", "mix.yaml, line 1, column 36: a number of connections is a whole number"},
		"maybe":       {"target: {integrated: perhaps}\nstatements: [{sql: a}]\n", "line 1, column 22: this must be true or false"},
		"flow":        {"name: " + strings.Repeat("[", 100_000), "line 1, column 39: the values nest deeper"},
		"flow, whole": {"name: " + strings.Repeat("{a: ", 50_000) + strings.Repeat("}", 50_000), "the values nest deeper"},
		"entries":     {strings.Repeat("- ", 100_000), "line 1, column 201: the values nest deeper"},
		"questions":   {strings.Repeat("? ", 100_000), "the values nest deeper"},
		"sizes":       {"statements: [{sql: x, connections: 0}]\n", "line 1, column 36: a number of connections is a whole number from 1"},
		"size below":  {"statements: [{sql: x, connections: -3}]\n", "a number of connections is a whole number from 1"},
		"own twice":   {"statements: [{sql: x, connections: 3, own_connections: true}]\n", "leave one of the two out"},
		"sized":       {"statements: [{sql: x, connections: 3, weight: 3}]\n", "it has no weight"},
		"params":      {"statements: [{workload: inmem-oltp/inmem, params: {file: a.csv}}]\n", "a workload makes its own parameters"},
		"name":        {"statements: [{sql: x, name: \"a\\nb\"}]\n", "line 1, column 29: a name has at most 128 characters"},
		"many":        {"thresholds: [" + strings.Repeat("a,", 1001) + "]\nstatements: [{sql: x}]\n", "there are 1001 thresholds"},
		"tags":        {"name: " + strings.Repeat("!!a ", 50_000), "tags and directives are not supported"},
		"tokens":      {strings.Repeat("- a\n", 60_000), "more than a scenario has"},
		"alias":       {"a: &x 1\nstatements: [{sql: *x}]\n", "anchors and aliases are not supported"},
		"GO":          {"statements:\n  - sql: |\n      SELECT 1\n      GO -1\n", "mix.yaml, line 4"},
		"hook":        {"setup:\n  once: ['{call }']\nstatements: [{sql: a}]\n", "line 2"},
		"NUL":         {"statements: [{sql: \"a\x00b\"}]\n", "mix.yaml, line 1"},
	} {
		_, err := ParseMix("mix.yaml", []byte(c.content))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s shows a password: %v", name, err)
		}
	}
	if _, err := LoadMix(filepath.Join(t.TempDir(), "none.yaml")); err == nil || !strings.Contains(err.Error(), "none.yaml: it cannot be read: no such file") {
		t.Errorf("%v", err)
	}
	big := filepath.Join(t.TempDir(), "big.yaml")
	if err := os.WriteFile(big, make([]byte, mostYAML+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadMix(big); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("%v", err)
	}
}

func TestTheSchemaHasEveryKey(t *testing.T) {
	t.Parallel()
	var schema map[string]any
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	var look func(path string, s map[string]any, typ reflect.Type)
	look = func(path string, s map[string]any, typ reflect.Type) {
		for typ.Kind() == reflect.Slice {
			s, typ = s["items"].(map[string]any), typ.Elem()
		}
		if typ.Kind() != reflect.Struct {
			return
		}
		properties := s["properties"].(map[string]any)
		if len(properties) != typ.NumField() || s["additionalProperties"] != false {
			t.Errorf("%s: %d keys, %d fields", path, len(properties), typ.NumField())
		}
		for i := range typ.NumField() {
			name := typ.Field(i).Tag.Get("yaml")
			p, ok := properties[name].(map[string]any)
			if !ok {
				t.Errorf("%s has no %s", path, name)
				continue
			}
			look(path+"."+name, p, typ.Field(i).Type)
		}
	}
	look("$", schema, reflect.TypeOf(mixFile{}))
}

// recorded is a Session that keeps what it is sent.
type recorded struct {
	mu    *sync.Mutex
	sent  *[]string
	plain *int
}

func (r recorded) Do(_ context.Context, q *driver.Request, _ driver.Sink) (driver.Outcome, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*r.sent = append(*r.sent, q.Text)
	if q.Plain {
		*r.plain++
	}
	switch {
	case strings.Contains(q.Text, "fail"):
		return driver.Outcome{Errors: []driver.ServerError{{Number: 208, Class: 16, Line: 2, Message: "no"}}}, nil
	case strings.Contains(q.Text, "lose"):
		return driver.Outcome{}, &driver.LostError{}
	}
	return driver.Outcome{}, nil
}

func (r recorded) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	*r.sent = append(*r.sent, "close")
	return nil
}

type connectTo struct{ s driver.Session }

func (c connectTo) Connect(context.Context) (driver.Session, error) { return c.s, nil }

func TestHooksOfAConnection(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hooks string
		do    string
		want  []string
		fails string
	}{
		"around":             {"setup: {connection: [A, B]}\nteardown: {connection: [Z]}\n", "x", []string{"A", "B", "x", "Z", "close"}, ""},
		"a lost one":         {"teardown: {connection: [Z]}\n", "lose", []string{"lose", "close"}, ""},
		"a setup that fails": {"setup: {connection: [\"fail\", B]}\n", "", []string{"fail", "close"}, "the setup of a connection failed"},
		"none":               {"", "x", []string{"x", "close"}, ""},
	} {
		m, err := ParseMix("mix.yaml", []byte(c.hooks+"statements: [{sql: a}]\n"))
		if err != nil {
			t.Fatal(err)
		}
		var sent []string
		plain := 0
		connector, err := m.Connector(connectTo{recorded{mu: new(sync.Mutex), sent: &sent, plain: &plain}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := connector.Connect(t.Context())
		if c.fails == "" {
			if err != nil {
				t.Fatal(err)
			}
			_, _ = s.Do(t.Context(), &driver.Request{Text: c.do}, nil)
			for range 2 {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
			if name == "none" {
				sent = sent[:2] // a second close of the session itself
			}
		} else if err == nil || !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, sent); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestWhatIsRunOnce(t *testing.T) {
	t.Parallel()
	m, err := ParseMix("mix.yaml", []byte("setup:\n  once:\n    - SELECT 1\n    - |\n      SELECT 2\n      fail\nteardown: {once: [END]}\nstatements: [{sql: a}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	var sent []string
	plain := 0
	s := recorded{mu: new(sync.Mutex), sent: &sent, plain: &plain}
	err = m.Setup(t.Context(), s)
	var se *ScriptError
	if err == nil || !strings.Contains(err.Error(), "mix.yaml") || !asScript(err, &se) || se.Line != 6 {
		t.Errorf("%v", err)
	}
	if err := m.Teardown(t.Context(), s); err != nil || plain != 3 || sent[2] != "END" {
		t.Errorf("%v, %d plain, %q", err, plain, sent)
	}
}

func asScript(err error, to **ScriptError) bool {
	e, ok := err.(*ScriptError)
	*to = e
	return ok
}

// What a statement has of its own: a number of connections, parameters, texts that are edited.
func TestStatementsOfTheirOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "mix.yaml")
	if err := os.WriteFile(filepath.Join(dir, "b.sql"), []byte("SELECT '$(x)'"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := ParseMix(path, []byte(`params: {file: p.csv}
statements:
  - {name: a, sql: "SELECT '$(x)'"}
  - {name: b, file: b.sql, connections: 5}
  - {name: c, sql: SELECT @n, own_connections: true, params: {file: sub/q.csv, vars: ["n=seq(1)"]}}
`))
	if err != nil {
		t.Fatal(err)
	}
	m.Edit = func(text string) (string, error) { return strings.ReplaceAll(text, "$(x)", "y"), nil }
	var bound []int
	u, err := m.Units(t.Context(), 1, nil, func(i int, u driver.Unit) (driver.Unit, error) {
		bound = append(bound, i)
		return u, nil
	})
	if err != nil || len(u) != 3 || !slices.Equal(bound, []int{0, 1, 2}) {
		t.Fatalf("%+v, %v, %v", u, bound, err)
	}
	if got := []int{u[0].Connections, u[1].Connections, u[2].Connections}; !slices.Equal(got, []int{0, 5, 0}) {
		t.Errorf("connections %v", got)
	}
	for i := range 2 {
		for r := range u[i].Program.Iteration(driver.Worker{}, 0) {
			if r.Text != "SELECT 'y'" {
				t.Errorf("unit %d runs %q", i, r.Text)
			}
		}
	}
	want := []Switch{{"params", filepath.Join(dir, "sub", "q.csv"), 5, 69}, {"var", "n=seq(1)", 5, 87}}
	if diff := cmp.Diff(want, m.Params(2)); diff != "" || len(m.Params(0))+len(m.Params(1)) > 0 {
		t.Error(diff)
	}
	if m.Switches[0].Value != filepath.Join(dir, "p.csv") {
		t.Errorf("%+v", m.Switches)
	}
	if err := m.Check(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(dir, "b.sql")); err != nil {
		t.Fatal(err)
	}
	if err := m.Check(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "b.sql") {
		t.Errorf("%v", err)
	}
}

func FuzzMix(f *testing.F) {
	f.Add([]byte(sampleMix))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("statements: [{sql: !!binary x}]"))
	f.Add([]byte("name: [[{a: [}]]\n- - ? x\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		m, err := ParseMix("mix.yaml", content)
		if err != nil {
			return
		}
		if len(m.file.Statements) == 0 {
			t.Error("a mix of nothing")
		}
		for _, s := range m.Switches {
			if s.Name == "" || s.Line < 1 || s.Col < 1 {
				t.Errorf("switch %+v", s)
			}
		}
	})
}
