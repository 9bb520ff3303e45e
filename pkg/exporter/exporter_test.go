package exporter

import (
	"bufio"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"gostress/pkg/latency"
	"gostress/pkg/result"
)

func recorded(times ...time.Duration) *latency.Histogram {
	h := latency.New()
	for _, d := range times {
		h.Record(d)
	}
	return h
}

func serving(t *testing.T) *Exporter {
	t.Helper()
	e, err := Listen("127.0.0.1:0", Info{Version: "1.2", RunID: "ab12", Loop: "open"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	for i := range 2 {
		e.Interval(latency.Interval{Statements: []latency.StatementInterval{
			{Name: "insert", Latency: recorded(time.Millisecond, 3*time.Millisecond), Service: recorded(time.Millisecond),
				Failed: map[result.Class]*latency.Histogram{result.ClassDeadlock: recorded(time.Second)}},
			{Name: "a \"b\"\n\xff", Latency: recorded(time.Duration(i+1) * time.Hour)},
		}})
	}
	e.Load(result.Load{Rows: 77, LostConnections: 2, ErrorsByNumber: map[int32]int64{1205: 2},
		Series:     []result.Point{{Connections: 9}, {Connections: 10}},
		Statements: []result.Statement{{Name: "insert", Counts: result.Counts{Attempted: 6, Batches: 4, FailedBatches: 2}}}})
	return e
}

func get(t *testing.T, e *Exporter, accept string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+e.Address()+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %v\n%s", resp.Status, err, body)
	}
	return resp, body
}

func TestText(t *testing.T) {
	t.Parallel()
	e := serving(t)
	_, body := get(t, e, "text/plain")
	lines := map[string]bool{}
	for s := bufio.NewScanner(strings.NewReader(string(body))); s.Scan(); {
		lines[s.Text()] = true
	}
	for _, want := range []string{
		`gostress_run_info{loop="open",run_id="ab12",version="1.2"} 1`,
		`gostress_connections 10`, `gostress_rows_total 77`, `gostress_lost_connections_total 2`,
		`gostress_errors_total{number="1205"} 2`,
		`gostress_batches_total{outcome="good",statement="insert"} 4`,
		`gostress_batches_total{outcome="failed",statement="insert"} 2`,
		`gostress_batch_duration_seconds_bucket{statement="insert",le="0.0005"} 0`,
		`gostress_batch_duration_seconds_bucket{statement="insert",le="0.001"} 2`,
		`gostress_batch_duration_seconds_bucket{statement="insert",le="0.005"} 4`,
		`gostress_batch_duration_seconds_bucket{statement="insert",le="+Inf"} 4`,
		`gostress_batch_duration_seconds_sum{statement="insert"} 0.008`,
		`gostress_batch_duration_seconds_count{statement="insert"} 4`,
		`gostress_batch_service_seconds_count{statement="insert"} 2`,
		`gostress_failed_batch_duration_seconds_count{class="deadlock",statement="insert"} 2`,
		"gostress_batch_duration_seconds_count{statement=\"a \\\"b\\\"\\n\uFFFD\"} 2",
	} {
		if !lines[want] {
			t.Errorf("no line %s in\n%s", want, body)
		}
	}
}

func TestNativeHistogram(t *testing.T) {
	t.Parallel()
	e := serving(t)
	resp, body := get(t, e, string(expfmt.NewFormat(expfmt.TypeProtoDelim)))
	decoder := expfmt.NewDecoder(strings.NewReader(string(body)), expfmt.ResponseFormat(resp.Header))
	for {
		var family dto.MetricFamily
		if err := decoder.Decode(&family); err == io.EOF {
			t.Fatal("no gostress_batch_duration_seconds")
		} else if err != nil {
			t.Fatal(err)
		}
		if family.GetName() != "gostress_batch_duration_seconds" {
			continue
		}
		for _, m := range family.GetMetric() {
			if m.GetLabel()[0].GetValue() != "insert" {
				continue
			}
			h := m.GetHistogram()
			if h.GetSchema() != schema || h.GetSampleCount() != 4 || len(h.GetBucket()) == 0 {
				t.Errorf("%v", h)
			}
			// Two buckets, of 1 ms and of 3 ms, with two values each.
			index, at, n := int32(0), 0, int64(0)
			var found []float64
			for _, span := range h.GetPositiveSpan() {
				index += span.GetOffset()
				for range span.GetLength() {
					n += h.GetPositiveDelta()[at]
					at++
					if n != 0 {
						found = append(found, math.Exp2(float64(index)/(1<<schema)), float64(n))
					}
					index++
				}
			}
			if len(found) != 4 || found[1] != 2 || found[3] != 2 || found[0] < 0.001 || found[0] > 0.00103 || found[2] < 0.003 || found[2] > 0.0031 {
				t.Errorf("buckets %v", found)
			}
			return
		}
	}
}

func TestTakenAddress(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Listen(l.Addr().String(), Info{}); err == nil || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("%v", err)
	}
}
