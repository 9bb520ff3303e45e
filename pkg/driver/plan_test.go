package driver

import (
	"context"
	"math"
	"testing"
	"time"
)

func TestPlansThatAreNone(t *testing.T) {
	t.Parallel()
	good := plan(always(takes(0)), 1, 1)
	for name, spoil := range map[string]func(*Plan){
		"no connector":   func(p *Plan) { p.Connector = nil },
		"no unit":        func(p *Plan) { p.Units = nil },
		"no connections": func(p *Plan) { p.Connections = 0 },
		"no iterations":  func(p *Plan) { p.Iterations = -1 },
		"too many files": func(p *Plan) { p.FilesPerConnection = math.MaxInt32; p.Connections = math.MaxInt32 },
	} {
		p := good
		spoil(&p)
		if _, err := Run(t.Context(), p); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	p := good
	p.Units = []Unit{{Program: nothing{}}}
	p.Iterations = 5
	load, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	want(t, load, map[string]int64{"iterations": 5, "attempted": 0})
}

// cheap is a session that answers at once and without a word.
type cheap struct{}

func BenchmarkCall(b *testing.B) {
	for name, timeout := range map[string]time.Duration{"no timeout": 0, "timeout": time.Minute} {
		b.Run(name, func(b *testing.B) {
			p := plan(connectFunc(func(context.Context) (Session, error) { return cheap{}, nil }), 1, 1)
			p.Units[0].Program = batches(b.N)
			p.QueryTimeout = timeout
			b.ReportAllocs()
			load, err := Run(b.Context(), p)
			if err != nil || load.Batches != int64(b.N) {
				b.Fatal(err, load.Batches)
			}
			b.ReportMetric(load.RunS*1e9/float64(b.N), "ns/call")
		})
	}
}

func TestACallAllocatesNothing(t *testing.T) {
	const calls = 100_000
	run := func(n int, faults Faults) uint64 {
		p := plan(connectFunc(func(context.Context) (Session, error) { return cheap{}, nil }), 1, 1)
		p.Units[0].Program = batches(n)
		p.QueryTimeout = time.Minute
		p.Faults = faults
		return uint64(testing.AllocsPerRun(1, func() {
			if _, err := Run(t.Context(), p); err != nil {
				t.Error(err)
			}
		}))
	}
	for name, faults := range map[string]Faults{"no faults": {}, "faults that miss": {CancelPct: 1e-9, BatchDisconnectPct: 1e-9}} {
		if few, many := run(1, faults), run(calls, faults); many > few+calls/100 {
			t.Errorf("%s: %d allocations for one call, %d for %d", name, few, many, calls)
		}
	}
}
