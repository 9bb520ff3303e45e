package threshold

import (
	"strings"
	"testing"

	"gostress/pkg/result"
)

func sample() *result.Load {
	times := func(p99 float64) result.Percentiles {
		return result.Percentiles{P50US: p99 / 10, P90US: p99 / 4, P95US: p99 / 2, P99US: p99, P99_9US: p99 * 2, MaxUS: p99 * 3, MeanUS: p99 / 8, Count: 100}
	}
	service, start := times(8000), times(100)
	return &result.Load{
		Attempted: 1000, Batches: 990, FailedBatches: 6, InDoubt: 2, Cancelled: 1, Skipped: 1,
		Deadlocks: 5, Timeouts: 1, LostConnections: 3, Late: 7, Rows: 1234, BatchesPerS: 5000, IterationsPerS: 2500,
		ErrorsByNumber: map[int32]int64{1205: 5, 8134: 2},
		Latency:        result.Latency{Batch: times(20_000), Iteration: times(40_000)},
		Service:        &result.Latency{Batch: service, Iteration: service},
		Statements: []result.Statement{
			{Name: "insert", Counts: result.Counts{Attempted: 500, Batches: 500}, BatchesPerS: 2400, Latency: times(4000), Service: &service},
			{Name: "a.b <c>", Counts: result.Counts{Attempted: 10, FailedBatches: 10}},
		},
		Health: &result.Health{StartError: &start},
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	server := Server{"blocked_others": 2, "log_used": 81.5, "log_send_queue_mb": 12}
	for expr, want := range map[string]result.Threshold{
		"p99<20ms":               {Value: 20_000, Limit: 20_000, Unit: "us"},
		" p99 <= 20ms ":          {Value: 20_000, Limit: 20_000, Unit: "us", OK: true},
		"p99.9<50ms":             {Value: 40_000, Limit: 50_000, Unit: "us", OK: true},
		"max>1s":                 {Value: 60_000, Limit: 1e6, Unit: "us"},
		"mean!=0s":               {Value: 2500, Unit: "us", OK: true},
		"service.p99<=8ms":       {Value: 8000, Limit: 8000, Unit: "us", OK: true},
		"iteration.p50<1ms":      {Value: 4000, Limit: 1000, Unit: "us"},
		"iteration.rate>2000":    {Value: 2500, Limit: 2000, Unit: "/s", OK: true},
		"start_error.p99<1ms":    {Value: 100, Limit: 1000, Unit: "us", OK: true},
		"rate>=5000/s":           {Value: 5000, Limit: 5000, Unit: "/s", OK: true},
		"rate>=360000/min":       {Value: 5000, Limit: 6000, Unit: "/s"},
		"errors<0.1%":            {Value: 0.8, Limit: 0.1, Unit: "%"},
		"errors<=0.8%":           {Value: 0.8, Limit: 0.8, Unit: "%", OK: true},
		"errors==8":              {Value: 8, Limit: 8, OK: true},
		"errors[1205]==0":        {Value: 5},
		"errors[2627]==0":        {OK: true},
		"errors[1205]<1%":        {Value: 0.5, Limit: 1, Unit: "%", OK: true},
		"failed<7":               {Value: 6, Limit: 7, OK: true},
		"in_doubt==0":            {Value: 2},
		"cancelled==1":           {Value: 1, Limit: 1, OK: true},
		"skipped==1":             {Value: 1, Limit: 1, OK: true},
		"deadlocks<10":           {Value: 5, Limit: 10, OK: true},
		"timeouts==0":            {Value: 1},
		"lost==3":                {Value: 3, Limit: 3, OK: true},
		"late<7":                 {Value: 7, Limit: 7},
		"rows>=1234":             {Value: 1234, Limit: 1234, OK: true},
		"batches>=990":           {Value: 990, Limit: 990, OK: true},
		"attempted>1000":         {Value: 1000, Limit: 1000},
		"insert.p95<5ms":         {Value: 2000, Limit: 5000, Unit: "us", OK: true},
		"insert.service.p99<5ms": {Value: 8000, Limit: 5000, Unit: "us"},
		"insert.rate>2000":       {Value: 2400, Limit: 2000, Unit: "/s", OK: true},
		"insert.errors==0":       {OK: true},
		`"a.b <c>".errors<1%`:    {Value: 100, Limit: 1, Unit: "%"},
		`"a.b <c>".p99<1s`:       {Limit: 1e6, Unit: "us", Note: "no batch succeeded"},
		"delete.p99<1s":          {Limit: 1e6, Unit: "us", Note: "there is no statement delete"},
		"blocked_others>0":       {Value: 2, OK: true},
		"log_used>80%":           {Value: 81.5, Limit: 80, Unit: "%", OK: true},
		"log_used>80":            {Value: 81.5, Limit: 80, Unit: "%", OK: true},
		"server_cpu>95%":         {Limit: 95, Unit: "%", Note: "the server could not be asked"},
		"log_send_queue_mb>1000": {Value: 12, Limit: 1000, Unit: "MB"},
	} {
		c, err := Parse(expr)
		if err != nil {
			t.Error(err)
			continue
		}
		want.Expr = strings.TrimSpace(expr)
		if got := c.Check(sample(), server); got != want {
			t.Errorf("%s: %+v, want %+v", expr, got, want)
		}
		if c.OnServer() != (strings.Contains(expr, "blocked") || strings.Contains(expr, "log_") || strings.Contains(expr, "cpu")) {
			t.Errorf("%s: OnServer %v", expr, c.OnServer())
		}
	}
}

func TestNothingToHold(t *testing.T) {
	t.Parallel()
	for expr, note := range map[string]string{"p99<1s": "no batch succeeded", "errors<1%": "no batch was attempted", "start_error.max<1s": "a closed loop has no start error"} {
		c, err := Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Check(&result.Load{}, nil); got.OK || got.Note != note {
			t.Errorf("%s: %+v", expr, got)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for expr, part := range map[string]string{
		"":                   "the comparison is missing",
		"p99":                "the comparison is missing",
		"p99=20ms":           `"=" is no comparison`,
		"p99<":               "the limit is missing",
		"<20ms":              "a name is missing",
		"p98<20ms":           `"p98" is no metric: there are p50,`,
		"p99<20":             `"20" is no time`,
		"p99<-1ms":           `"-1ms" is no time`,
		"rate>5000/d":        `"5000/d" is no rate`,
		"errors<x":           `"x" is no number`,
		"errors<-1":          `"-1" is no number`,
		"rows<1%":            "rows has no per cents",
		"errors[x]==0":       "write errors[NUMBER]",
		"p99[1205]<1ms":      "write errors[NUMBER]",
		"insert.errors[1]<1": "known of the whole run alone",
		"insert.deadlocks<1": "known of the whole run alone",
		"a.log_used>1%":      "known of the whole run alone",
		"service.errors<1":   "errors has no service time of its own",
		"iteration.errors<1": "errors has no iteration of its own",
		`"insert.p99<1ms`:    "the comparison is missing",
		"a..p99<1ms":         "a name is missing",
	} {
		_, err := Parse(expr)
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v, want %q in it", expr, err, part)
		}
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	good, bad := result.Threshold{OK: true}, result.Threshold{}
	for name, c := range map[string]struct {
		load    result.Load
		checked []result.Threshold
		want    result.Verdict
	}{
		"none":            {result.Load{}, nil, ""},
		"all hold":        {result.Load{}, []result.Threshold{good, good}, result.Passed},
		"one does not":    {result.Load{}, []result.Threshold{good, bad}, result.Failed},
		"generator bound": {result.Load{GeneratorBound: true}, []result.Threshold{bad}, result.Void},
	} {
		if got := Verdict(&c.load, c.checked); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"p99<20ms", "errors<0.1%", "rate>=5000/s", "errors[1205]==0", "insert.p95<5ms", `"a.b".service.p99.9!=1h`, "log_used>80%", "errors[", ".<"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := Parse(s)
		if err != nil {
			return
		}
		if _, err := Parse(c.String()); err != nil {
			t.Errorf("%q does not read back: %v", c, err)
		}
		c.Check(sample(), Server{"log_used": 1})
	})
}
