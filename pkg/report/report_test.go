package report

import (
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gostress/pkg/result"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func percentiles(base float64, n int64) result.Percentiles {
	return result.Percentiles{P50US: base, P90US: 2 * base, P95US: 3 * base, P99US: 4 * base, P99_9US: 9 * base, MaxUS: 20 * base, MeanUS: 1.1 * base, Count: n}
}

func good() result.Run {
	return result.Run{
		Server: &result.Server{Address: "127.0.0.1,1433", Version: "16.0.4165.4", Database: "AdventureWorks2022", Encryption: "all", TLS: "TLS 1.3 TLS_AES_128_GCM_SHA256", Wire: "tds"},
		Load: result.Load{
			Iterations: 500_000, Batches: 500_000, Attempted: 500_000, AttemptedIterations: 500_000, PlannedIterations: 500_000,
			Rows: 0, Connections: 100, Connected: 100, ElapsedS: 82.637, ConnectS: 0.412, RunS: 82.225, BatchesPerS: 6080.875, IterationsPerS: 6080.875,
			CPUUserS: 12.25, CPUSystemS: 3.125, Latency: result.Latency{Batch: percentiles(1234.5, 500_000), Iteration: percentiles(1235, 500_000)},
		},
	}
}

func bad() result.Run {
	run := good()
	l := &run.Load
	run.Server = nil
	l.Batches, l.FailedBatches, l.InDoubt, l.Cancelled, l.Skipped = 400_000, 90_000, 9000, 990, 10
	l.Iterations, l.FailedIterations, l.InDoubtIterations, l.CancelledIterations = 400_000, 90_000, 9000, 990
	l.AttemptedIterations = 499_990
	l.ErrorsByNumber = map[int32]int64{8134: 5, 1205: 89_995, 50000: 5}
	l.Timeouts, l.OpenTran, l.Interrupted = 12, 3, true
	l.Connected, l.ConnectFailed, l.LateConnections, l.LostConnections, l.Reconnects, l.GivenUp, l.Abandoned = 98, 2, 1, 40, 39, 1, 1
	l.FailedLatency.Batch = percentiles(99, 99_000)
	l.FailedLatency.Batch.Clamped = 2
	return run
}

// staged is an open loop with stages, several statements, and a verdict.
func staged() result.Run {
	run := good()
	l := &run.Load
	p, start := percentiles(700, 250_000), percentiles(90, 400_000)
	l.Loop, l.RatePerS, l.EndedBy, l.Late, l.SkippedLate, l.WarmupS, l.RampUpS, l.PlannedIterations = "open", 5000, "duration", 1200, 7, 30, 1.5, 600_000
	l.Service = &result.Latency{Batch: p, Iteration: p}
	counts := result.Counts{Attempted: 250_010, Batches: 250_000, FailedBatches: 9, InDoubt: 1}
	none := result.Percentiles{}
	l.Statements = []result.Statement{
		{Name: "insert", Counts: counts, BatchesPerS: 3000, Latency: percentiles(900, 250_000), Service: &p},
		{Name: "a report with a name that is much too long for a table", Counts: result.Counts{Attempted: 3, FailedBatches: 3}, Service: &none},
	}
	l.Stages = []result.Stage{
		{Name: "1000/s:30s", RatePerS: 1000, ForS: 30, Counts: counts, BatchesPerS: 1000, Latency: percentiles(400, 30_000), Service: &p},
		{Name: "9000/s:30s", RatePerS: 9000, FromS: 30, ForS: 30, Counts: counts, BatchesPerS: 8123, Latency: percentiles(40_000, 30_000), Service: &p},
	}
	l.Health = &result.Health{StartError: &start, Warnings: []string{"this process stood still for 250 ms"}}
	run.Thresholds = []result.Threshold{
		{Expr: "p99<20ms", Value: 4938, Limit: 20_000, Unit: "us", OK: true}, {Expr: "errors==0", Value: 10},
	}
	run.Verdict, run.Aborted = result.Failed, "p99>1s"
	return run
}

func TestText(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]result.Run{"good.txt": good(), "bad.txt": bad(), "staged.txt": staged(), "empty.txt": {}} {
		var b strings.Builder
		if err := Text(&b, run); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.String())
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	in := result.DemoRun{Orders: 2000, Lines: 10_000, OrdersPerS: 12_345.6, Verified: true, EngineCPUUserS: 1.5, EngineCPUSystemS: 0.25, Load: good().Load}
	on := result.DemoRun{Orders: 1990, Lines: 9950, OrdersPerS: 99.5, Errors: 10, Load: bad().Load}
	on.Latency.Batch = result.Percentiles{}
	var b strings.Builder
	if err := Compare(&b, []Column{{"memory-optimized", in}, {"disk-based", on}}); err != nil {
		t.Fatal(err)
	}
	golden(t, "compare.txt", b.String())
}

func TestTooManyErrorNumbersAreCutShort(t *testing.T) {
	t.Parallel()
	l := result.Load{ErrorsByNumber: map[int32]int64{}}
	for i := range int32(50) {
		l.ErrorsByNumber[50_000+i] = 1
	}
	got := errorCounts(&l)
	if !strings.HasPrefix(got, "error 50000: 1, error 50001: 1, ") || !strings.HasSuffix(got, ", and 30 more numbers") {
		t.Errorf("%s", got)
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]string{0: "00:00:00.000", 82.637: "00:01:22.637", 3599.9996: "01:00:00.000", 360_000: "100:00:00.000"} {
		if got := Clock(seconds); got != want {
			t.Errorf("Clock(%v) = %s, want %s", seconds, got, want)
		}
	}
}

func TestWriteJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "run.json")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	// What cannot be written leaves what was there, and nothing beside it.
	if err := WriteJSON(path, map[string]any{"no": func() {}}); err == nil {
		t.Error("no error for what JSON cannot hold")
	}
	if content, _ := os.ReadFile(path); string(content) != "old" {
		t.Errorf("the old file now holds %q", content)
	}
	if err := WriteJSON(path, good()); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var back result.Run
	if err := json.Unmarshal(content, &back); err != nil || back.Batches != 500_000 {
		t.Errorf("read back: %v, %d batches", err, back.Batches)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	// A directory stands where the file should go.
	if err := WriteJSON(dir, good()); err == nil {
		t.Error("no error for a directory")
	}
	if err := WriteJSON(filepath.Join(dir, "none", "run.json"), good()); err == nil || !strings.Contains(err.Error(), "run.json") {
		t.Errorf("no such directory: %v", err)
	}
	for name, want := range map[string]bool{path: true, filepath.Join(dir, "new.json"): true, dir: false, filepath.Join(dir, "none", "run.json"): false, filepath.Join(path, "x.json"): false} {
		if err := Check(name); (err == nil) != want {
			t.Errorf("Check(%s): %v", name, err)
		}
	}
	entries, err := fs.Glob(os.DirFS(dir), "*")
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestWriteJSONElsewhere writes through a symbolic link and to what is no file: neither is replaced.
func TestWriteJSONElsewhere(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no symbolic links and no /dev")
	}
	dir := t.TempDir()
	path, link := filepath.Join(dir, "run.json"), filepath.Join(dir, "last.json")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	null := filepath.Join(dir, "null")
	for to, from := range map[string]string{path: link, os.DevNull: null} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
		if err := WriteJSON(from, good()); err != nil {
			t.Error(err)
		}
		if got, err := os.Readlink(from); err != nil || got != to {
			t.Errorf("the link is now %q, %v", got, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Errorf("the link's file: %v, %v", info, err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s was replaced: %v, %v", os.DevNull, info, err)
	}
}
