package result

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// full is a run with something in every field.
func full() Run {
	p := Percentiles{P50US: 1000.5, P90US: 2000, P95US: 2500, P99US: 4000, P99_9US: 9000, MaxUS: 12000.25, MeanUS: 1100.125, Count: 490, Clamped: 1}
	counts := Counts{Attempted: 500, Batches: 490, FailedBatches: 4, InDoubt: 3, Cancelled: 2, Skipped: 1}
	return Run{
		Thresholds: []Threshold{{Expr: "p99<20ms", Value: 4000, Limit: 20_000, Unit: "us", OK: true, Note: "-"}}, Verdict: Void, Aborted: "blocked_others>0",
		Observer: &Observer{Samples: 60, FailedSamples: 1, LateSamples: 2, IntervalS: 1, MeanUS: 900, MaxUS: 4000, Share: 0.0009,
			Conditions: map[string]Observed{"blocked_others": {Last: 1, Max: 3}}},
		Schema: Schema, Tool: "gostress", Version: "0.1.0", RunID: "1f3a", StartedAt: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
		Args:  []string{"-S.", "-Usa", "-P********", "-n10", "-r50", "-QSELECT 1"},
		Units: []Unit{{Name: "query", Connections: 10, Iterations: 50}},
		Server: &Server{Address: "127.0.0.1,1433", Name: "DB1", Product: "SQL Server 2022", Version: "16.0.4165.4", Edition: "Developer",
			Database: "AdventureWorks2022", Login: "sa", Encryption: "all", TLS: "TLS 1.3 TLS_AES_128_GCM_SHA256", Wire: "tds", SetOptions: "odbc", CPUUserS: 3.5, CPUSystemS: 1.25},
		Load: Load{
			Iterations: 490, Batches: 490, FailedIterations: 4, FailedBatches: 4, InDoubt: 3, Cancelled: 2, Skipped: 1, Attempted: 500,
			PlannedIterations: 510, AttemptedIterations: 500, InDoubtIterations: 3, CancelledIterations: 2, SkippedIterations: 1,
			Rows: 490, ErrorsByNumber: map[int32]int64{1205: 3, 8134: 2, 50000: 1}, Deadlocks: 3, Timeouts: 2, OpenTran: 1,
			Retries: 2, Throttled: 1, RolledBack: 1, InjectedCancels: 1, InjectedDisconnects: 1, Disconnects: 1, EndedByErrors: 1,
			Connections: 10, Connected: 9, ConnectFailed: 1, LateConnections: 1, LostConnections: 2, Reconnects: 1, GivenUp: 1, Abandoned: 1, Interrupted: true,
			ElapsedS: 1.5, ConnectS: 0.25, RunS: 1.25, BatchesPerS: 392, IterationsPerS: 392, CPUUserS: 0.5, CPUSystemS: 0.125, ConnectCPUS: 0.0625,
			Latency: Latency{Batch: p, Iteration: p}, FailedLatency: Latency{Batch: p, Iteration: p}, ClockResolutionUS: 0.04,
			Series:      []Point{{AtS: 1, Batches: 400, Failed: 7, BatchesPerS: 400, P50US: 1000, P99US: 4000, MaxUS: 12000, Connections: 9}},
			SeriesStepS: 1,
			Loop:        "open", RatePerS: 400, EndedBy: "duration", Late: 6, SkippedLate: 1, GeneratorBound: true, WarmupS: 30, RampUpS: 20,
			Service: &Latency{Batch: p, Iteration: p},
			Statements: []Statement{{Name: "query", Counts: counts, BatchesPerS: 392, Rows: 490, Latency: p, Service: &p,
				FailedBy: map[Class]Percentiles{ClassDeadlock: p, ClassTimeout: p}}},
			Stages: []Stage{{Name: "1", Connections: 10, RatePerS: 400, FromS: 0.5, ForS: 0.75, Counts: counts, BatchesPerS: 392, Latency: p, Service: &p}},
			Health: &Health{CPUShare: 0.25, GCPauses: 3, GCPauseMaxUS: 80, GCPauseTotalUS: 120, SchedDelayP50US: 1, SchedDelayP99US: 50,
				LongestStallUS: 900, StartError: &p, Warnings: []string{"the generator used 25 % of the processors"}},
		},
	}
}

func TestCountsAddUp(t *testing.T) {
	t.Parallel()
	c := full().Statements[0].Counts
	if !c.Sound() {
		t.Errorf("%+v", c)
	}
	for _, off := range []func(*Counts){func(c *Counts) { c.Attempted++ }, func(c *Counts) { c.Batches++ }, func(c *Counts) { c.FailedBatches++ },
		func(c *Counts) { c.InDoubt++ }, func(c *Counts) { c.Cancelled++ }, func(c *Counts) { c.Skipped++ }} {
		wrong := c
		off(&wrong)
		if wrong.Sound() {
			t.Errorf("%+v", wrong)
		}
	}
}

func fullSet() Set {
	return Set{Schema: Schema, Tool: "gostress", Kind: "sweep", Runs: []Run{full()}, USL: &USL{Lambda: 995, Sigma: 0.02, Kappa: 0.0001, Peak: 99, R2: 0.99, Knee: 32}}
}

func fullDemo() Demo {
	run := DemoRun{Orders: 2000, Lines: 10_000, Errors: 1, OrdersPerS: 1600, Verified: true, EngineCPUUserS: 2.5, EngineCPUSystemS: 0.5, Load: full().Load}
	return Demo{Schema: Schema, Tool: "gostress", Version: "0.1.0", StartedAt: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
		Runs: map[string]DemoRun{"inmem": run, "ondisk": run}}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]any{"run": full(), "demo": fullDemo(), "set": fullSet()} {
		got, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name+".json")
		if *update {
			if err := os.WriteFile(golden, append(got, '\n'), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), string(got)+"\n"); diff != "" {
			t.Errorf("%s (-want +got):\n%s", golden, diff)
		}
		back := reflect.New(reflect.TypeOf(v))
		if err := json.Unmarshal(got, back.Interface()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(v, back.Elem().Interface()); diff != "" {
			t.Errorf("%s does not come back (-want +got):\n%s", name, diff)
		}
	}
}

// The keys that scripts rely on.
func TestPromisedKeys(t *testing.T) {
	t.Parallel()
	content, err := json.Marshal(full())
	if err != nil {
		t.Fatal(err)
	}
	var run map[string]any
	if err := json.Unmarshal(content, &run); err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields(`schema iterations batches failed_iterations failed_batches in_doubt cancelled skipped attempted rows
		errors_by_number deadlocks timeouts elapsed_s connect_s run_s batches_per_s iterations_per_s cpu_user_s cpu_system_s server args units series`) {
		if _, ok := run[key]; !ok {
			t.Errorf("no key %s", key)
		}
	}
	for _, kind := range []string{"batch", "iteration"} {
		times, ok := run["latency"].(map[string]any)[kind].(map[string]any)
		if !ok {
			t.Fatalf("no latency.%s", kind)
		}
		for _, key := range strings.Fields("p50_us p90_us p95_us p99_us p99_9_us max_us mean_us count") {
			if _, ok := times[key]; !ok {
				t.Errorf("no key latency.%s.%s", kind, key)
			}
		}
	}
}

// The golden files hold every field only if the sample does.
func TestTheSampleLeavesNoFieldEmpty(t *testing.T) {
	t.Parallel()
	var look func(path string, v reflect.Value)
	look = func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			look(path, v.Elem())
		case reflect.Struct:
			if _, ok := v.Interface().(time.Time); ok {
				return
			}
			for i := range v.NumField() {
				look(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
		default:
			if v.IsZero() {
				t.Errorf("%s is zero", path)
			}
		}
	}
	look("Run", reflect.ValueOf(full()))
	look("Set", reflect.ValueOf(*fullSet().USL))
	look("DemoRun", reflect.ValueOf(fullDemo().Runs["inmem"]))
}
