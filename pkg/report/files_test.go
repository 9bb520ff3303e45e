package report

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"gostress/pkg/latency"
	"gostress/pkg/result"
)

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func drawn(seed uint64, n int) *latency.Histogram {
	r := rand.New(rand.NewPCG(seed, 1))
	h := latency.New()
	for range n {
		h.Record(time.Duration(r.ExpFloat64() * 2e6))
	}
	return h
}

func TestIntervalLogReadsBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.hlog")
	start := time.Date(2026, 3, 4, 5, 6, 7, 250e6, time.UTC)
	log, err := NewHistogramLog(path, start, "gostress 1.2")
	if err != nil {
		t.Fatal(err)
	}
	type key struct {
		tag string
		at  int64
	}
	want := map[key]*latency.Histogram{}
	for i := range 5 {
		at := time.Duration(i) * time.Second
		in := latency.Interval{Start: at, End: at + time.Second, StartedAt: start.Add(at)}
		for j, name := range []string{"insert", "a, b"} {
			s := latency.StatementInterval{Name: name, Latency: drawn(uint64(10*i+j), 1000), Service: drawn(uint64(100+10*i+j), 900)}
			tag := strings.NewReplacer(",", "_", " ", "_").Replace(name)
			want[key{tag, in.StartedAt.UnixMilli()}], want[key{tag + ".service", in.StartedAt.UnixMilli()}] = s.Latency.Clone(), s.Service.Clone()
			if i == 2 {
				s.Failed = map[result.Class]*latency.Histogram{result.ClassDeadlock: drawn(7, 10)}
				want[key{tag + ".failed.deadlock", in.StartedAt.UnixMilli()}] = drawn(7, 10)
			}
			in.Statements = append(in.Statements, s)
		}
		log.Write(in)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is there before it is whole")
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	text := content(t, path)
	for _, line := range []string{"#[gostress 1.2]", "#[Histogram log format version 1.3]", "#[StartTime: 1772600767.250 (seconds since epoch), 2026-03-04T05:06:07Z]"} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s in\n%.400s", line, text)
		}
	}
	r := hdr.NewHistogramLogReader(strings.NewReader(text))
	for {
		got, err := r.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if got == nil {
			break
		}
		k := key{got.Tag(), got.StartTimeMs()}
		w := want[k]
		if w == nil {
			t.Fatalf("an interval %v that was not written", k)
		}
		delete(want, k)
		if !got.Equals(w.HDR()) || got.EndTimeMs()-got.StartTimeMs() != 1000 {
			t.Errorf("%v: %d values to %d, want %d to %d", k, got.TotalCount(), got.Max(), w.Count(), w.HDR().Max())
		}
	}
	if len(want) > 0 {
		t.Errorf("%d intervals are missing: %v", len(want), want)
	}
	// Interval_Max is in milliseconds, the ratio that HdrHistogram's other tools take for granted.
	line := regexp.MustCompile(`(?m)^Tag=insert,0\.000000,1\.000000,([0-9.]+),`).FindStringSubmatch(text)
	if line == nil {
		t.Fatalf("no first line of insert in\n%.600s", text)
	}
	if got, _ := strconv.ParseFloat(line[1], 64); math.Abs(got-float64(drawn(0, 1000).HDR().Max())/1e6) > 1e-6 {
		t.Errorf("Interval_Max %s, want %v ns in ms", line[1], drawn(0, 1000).HDR().Max())
	}
}

func TestPercentileSpectrum(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.hgrm")
	h := latency.New()
	for i := range 1000 {
		h.Record(time.Duration(i+1) * time.Millisecond)
	}
	if err := WriteHGRM(path, h); err != nil {
		t.Fatal(err)
	}
	text := content(t, path)
	rows, last := 0, int64(0)
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) != 4 || strings.HasPrefix(line, "#") || f[0] == "Value" {
			continue
		}
		value, _ := strconv.ParseFloat(f[0], 64)
		share, _ := strconv.ParseFloat(f[1], 64)
		n, _ := strconv.ParseInt(f[2], 10, 64)
		// By definition, at least this share of the values is no larger than value.
		if exact := math.Ceil(share*1000 - 1e-9); math.Abs(value-max(exact, 1)) > max(exact, 1)/500+1 {
			t.Errorf("%s: the %v is %v", line, share, exact)
		}
		if n < last {
			t.Errorf("%s: the counts fall", line)
		}
		rows, last = rows+1, n
	}
	if rows < 20 || last != 1000 {
		t.Errorf("%d rows that end at %d in\n%s", rows, last, text)
	}
	for _, part := range []string{"#[Mean    =      500.", "Total count    =         1000]"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

func TestCSV(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.csv")
	l := result.Load{Series: []result.Point{{AtS: 1, Batches: 10, Failed: 1, BatchesPerS: 10, P50US: 0.25, P99US: 1e7, MaxUS: 12345678.5, Connections: 3}, {AtS: 1.5}}}
	if err := WriteCSV(path, &l); err != nil {
		t.Fatal(err)
	}
	got, err := csv.NewReader(strings.NewReader(content(t, path))).ReadAll()
	want := [][]string{
		{"at_s", "batches", "failed", "batches_per_s", "p50_us", "p99_us", "max_us", "connections"},
		{"1", "10", "1", "10", "0.25", "10000000", "12345678.5", "3"},
		{"1.5", "0", "0", "0", "0", "0", "0", "0"},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func judged() result.Run {
	return result.Run{Tool: "gostress", StartedAt: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Aborted: `blocked_others>0`, Verdict: result.Failed,
		Load: result.Load{ElapsedS: 1.5},
		Thresholds: []result.Threshold{
			{Expr: "p99<20ms", Value: 4000, Limit: 20_000, Unit: "us", OK: true},
			{Expr: `"a<b & c".p99<1s`, Unit: "us", Note: "no batch succeeded"},
			{Expr: "errors<0.1%", Value: 0.8123, Limit: 0.1, Unit: "%"},
		}}
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.xml")
	if err := WriteJUnit(path, judged()); err != nil {
		t.Fatal(err)
	}
	var got junitSuite
	if err := xml.Unmarshal([]byte(content(t, path)), &got); err != nil {
		t.Fatal(err)
	}
	want := junitSuite{XMLName: xml.Name{Local: "testsuite"}, Name: "gostress", Tests: 4, Failures: 3, Time: "1.500", At: "2026-03-04T05:06:07", Cases: []junitCase{
		{Class: "gostress.threshold", Name: "p99<20ms", Time: "1.500"},
		{Class: "gostress.threshold", Name: `"a<b & c".p99<1s`, Time: "1.500", Failure: &junitMessage{"no batch succeeded"}},
		{Class: "gostress.threshold", Name: "errors<0.1%", Time: "1.500", Failure: &junitMessage{"found 0.8123 %"}},
		{Class: "gostress.abort-on", Name: "blocked_others>0", Time: "1.500", Failure: &junitMessage{"the condition came true and ended the run"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	void := judged()
	void.Verdict, void.Aborted = result.Void, ""
	if err := WriteJUnit(path, void); err != nil {
		t.Fatal(err)
	}
	got = junitSuite{}
	if err := xml.Unmarshal([]byte(content(t, path)), &got); err != nil || got.Errors != 3 || got.Failures != 0 {
		t.Errorf("%d errors, %d failures, %v", got.Errors, got.Failures, err)
	}
}

func TestThresholdTable(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	thresholds(&b, judged())
	want := `  Aborted      the condition blocked_others>0 came true and ended the run
  Thresholds   p99<20ms          passed  found 4.000 ms
               "a<b & c".p99<1s  FAILED  no batch succeeded
               errors<0.1%       FAILED  found 0.8123 %
  Verdict      failed
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}
