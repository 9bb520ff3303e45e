package compare

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gostress/pkg/result"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// runs are n runs whose rate and times lie around the given ones.
func runs(seed uint64, n int, rate, p99 float64) []result.Run {
	r := rand.New(rand.NewPCG(seed, 9))
	out := make([]result.Run, n)
	for i := range out {
		noise := 1 + 0.02*r.NormFloat64()
		times := result.Percentiles{P50US: p99 / 4 * noise, P90US: p99 / 2 * noise, P95US: p99 * 0.7 * noise, P99US: p99 * noise, P99_9US: p99 * 2 * noise, MaxUS: p99 * 3, MeanUS: p99 / 3, Count: 1000}
		out[i] = result.Run{Schema: 1, Tool: "gostress", Version: "1", Args: []string{"-S.", "-QSELECT 1", "-n10"}, Server: &result.Server{Address: "db,1433", Version: "16.0"},
			Load: result.Load{Connections: 10, Loop: "closed", Attempted: 1000, Batches: 1000, BatchesPerS: rate * noise, IterationsPerS: rate * noise, RunS: 1000 / rate,
				CPUUserS: 0.01, Latency: result.Latency{Batch: times}, Statements: []result.Statement{{Name: "query", BatchesPerS: rate, Latency: times}}}}
	}
	return out
}

func row(t *testing.T, c Comparison, name string) Row {
	t.Helper()
	for _, r := range c.Rows {
		if r.Figure == name {
			return r
		}
	}
	t.Fatalf("no row %s in %+v", name, c.Rows)
	return Row{}
}

func TestADifferenceIsFoundWhereItIs(t *testing.T) {
	t.Parallel()
	c := Compare([]Input{{"before", runs(1, 10, 5000, 8000)}, {"same", runs(2, 10, 5000, 8000)}, {"after", runs(3, 10, 6000, 4000)}})
	p99 := row(t, c, "p99").Cells
	if p99[1].Differs || p99[1].P < 0.05 {
		t.Errorf("chance alone: %+v", p99[1])
	}
	if !p99[2].Differs || p99[2].P > 0.001 || math.Abs(p99[2].Ratio-0.5) > 0.02 || p99[2].N != 10 || p99[2].Lo >= p99[2].Median || p99[2].Hi <= p99[2].Median {
		t.Errorf("half: %+v", p99[2])
	}
	if rate := row(t, c, "batches").Cells[2]; !rate.Differs || math.Abs(rate.Ratio-1.2) > 0.02 {
		t.Errorf("rate: %+v", rate)
	}
	if len(c.Warnings) > 0 {
		t.Errorf("%q", c.Warnings)
	}
	for _, r := range c.Rows {
		if r.Figure == "deadlocks" || strings.HasPrefix(r.Figure, "service") || strings.HasPrefix(r.Figure, "query") {
			t.Errorf("row %s says nothing", r.Figure)
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	other := runs(2, 6, 5000, 8000)
	for i := range other {
		other[i].Connections, other[i].Loop = 20, "open"
		other[i].Stages = []result.Stage{{RatePerS: 500}}
		other[i].Args = []string{"--query", "SELECT 2", "-n20"}
		other[i].Server = &result.Server{Address: "db,1433", Version: "15.0"}
	}
	other[0].GeneratorBound, other[1].Interrupted = true, true
	c := Compare([]Input{{"a", runs(1, 1, 5000, 8000)}, {"b", other}})
	want := []string{
		"different connections (-n): 10 | 20",
		"different loops: closed | open",
		"different rates asked for: unknown | 500/s",
		"different input: SELECT 1 | SELECT 2",
		"different versions of the server: 16.0 | 15.0",
		"b: the generator could not hold the rate asked for, so its figures are not the server's",
		"b: a run ended early",
		"a has 1 run: 4 are needed to find a difference, 6 for an interval; --repeat 10 makes enough",
	}
	if diff := cmp.Diff(want, c.Warnings); diff != "" {
		t.Error(diff)
	}
	if cell := row(t, c, "batches").Cells[1]; cell.Differs || cell.P != 1 {
		t.Errorf("a single run proves %+v", cell)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	mixed := runs(5, 10, 6000, 4000)
	for i := range mixed {
		mixed[i].FailedBatches = 3
		mixed[i].Statements = append(mixed[i].Statements, result.Statement{Name: "insert", BatchesPerS: 12.5, Latency: result.Percentiles{P50US: 10, Count: 1}})
	}
	for name, inputs := range map[string][]Input{
		"repeated": {{"before", runs(1, 10, 5000, 8000)}, {"after", mixed}, {"same", runs(2, 8, 5000, 8000)}},
		"single":   {{"one", runs(1, 1, 5000, 8000)}, {"two", runs(2, 1, 50_000, 80)}},
	} {
		var b strings.Builder
		if err := Compare(inputs).Text(&b); err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(golden, []byte(b.String()), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", golden, diff)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string, v any) string {
		content, err := json.Marshal(v)
		if text, ok := v.(string); ok {
			content = []byte(text)
		}
		path := filepath.Join(dir, name)
		if err != nil || os.WriteFile(path, content, 0o600) != nil {
			t.Fatal(err)
		}
		return path
	}
	sweep := append(runs(1, 2, 1000, 100), runs(2, 2, 2000, 100)...)
	sweep[2].Connections, sweep[3].Connections = 20, 20
	for name, c := range map[string]struct {
		path, names string
	}{
		"run":    {file("a.json", runs(1, 1, 10, 10)[0]), "a:1"},
		"repeat": {file("b.json", result.Set{Schema: 1, Tool: "gostress", Kind: "repeat", Runs: runs(1, 3, 10, 10)}), "b:3"},
		"sweep":  {file("c.json", result.Set{Schema: 1, Tool: "gostress", Kind: "sweep", Runs: sweep}), "c n=10:2 c n=20:2"},
	} {
		got, err := Read(c.path)
		var names []string
		for _, in := range got {
			names = append(names, fmt.Sprintf("%s:%d", in.Name, len(in.Runs)))
		}
		if err != nil || strings.Join(names, " ") != c.names {
			t.Errorf("%s: %v, %v", name, names, err)
		}
	}
	for name, c := range map[string]struct{ path, part string }{
		"missing": {filepath.Join(dir, "none.json"), "none.json"},
		"text":    {file("t.json", "hello"), "it is no JSON report"},
		"foreign": {file("f.json", `{"tool":"k6","schema":1}`), "it is no JSON report of gostress"},
		"newer":   {file("n.json", `{"tool":"gostress","schema":99}`), "its schema is 99"},
		"demo":    {file("d.json", `{"tool":"gostress","schema":1,"runs":{}}`), "the report of a demo"},
		"empty":   {file("e.json", `{"tool":"gostress","schema":1,"kind":"repeat","runs":[]}`), "it holds no run"},
		"mangled": {file("m.json", `{"tool":"gostress","schema":1,"args":3}`), "m.json"},
	} {
		if _, err := Read(c.path); err == nil || !strings.Contains(err.Error(), c.part) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFitFindsTheLaw(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]result.USL{
		"contention and coherency": {Lambda: 995, Sigma: 0.02, Kappa: 0.0005},
		"contention":               {Lambda: 100, Sigma: 0.1},
		"linear":                   {Lambda: 10},
		"coherency":                {Lambda: 10, Kappa: 0.01},
	} {
		var points []Scale
		for _, n := range []int{1, 2, 4, 8, 16, 32, 64, 128} {
			points = append(points, Scale{n, Rate(&want, float64(n))})
		}
		got := Fit(points)
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(1, math.Abs(b)) }
		if got == nil || !near(got.Lambda, want.Lambda) || !near(got.Sigma, want.Sigma) || !near(got.Kappa, want.Kappa) || !near(got.R2, 1) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestFitOfNoisyPointsIsNeverNegative(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	law := result.USL{Lambda: 1000, Sigma: 0.05, Kappa: 0.0002}
	for range 200 {
		var points []Scale
		for _, n := range []int{1, 2, 4, 8, 16, 32, 64} {
			points = append(points, Scale{n, Rate(&law, float64(n)) * (1 + 0.1*r.NormFloat64())})
		}
		u := Fit(points)
		if u == nil || u.Lambda <= 0 || u.Sigma < 0 || u.Kappa < 0 {
			t.Fatalf("%v: %+v", points, u)
		}
	}
}

func TestKnee(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rates []float64
		want  int
	}{
		"saturates at 8": {[]float64{100, 199, 395, 780, 800, 805}, 8},
		"falls":          {[]float64{100, 190, 300, 200, 100, 50}, 4},
		"still rising":   {[]float64{100, 200, 400, 800, 1600, 3200}, 0},
	} {
		var points []Scale
		for i, r := range c.rates {
			points = append(points, Scale{1 << i, r})
		}
		if got := Fit(points).Knee; got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if u := Fit([]Scale{{1, 10}, {2, 20}, {2, 21}, {4, 0}}); u != nil {
		t.Errorf("two points give %+v", u)
	}
}
