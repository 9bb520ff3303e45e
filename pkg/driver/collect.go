package driver

import (
	"time"

	"gostress/pkg/latency"
	"gostress/pkg/result"
)

// sums are the counts of all workers at one time.
type sums struct {
	iterations, batches, failed, errors int64
}

func (r *runner) sums() sums {
	var s sums
	for i := range r.workers {
		c := &r.workers[i].counts
		s.batches += c.good.Load()
		s.failed += c.failed.Load() + c.inDoubt.Load()
		s.errors += c.errors.Load()
		s.iterations += c.itGood.Load() + c.itFailed.Load() + c.itInDoubt.Load() + c.itCancelled.Load() + c.itSkipped.Load()
	}
	return s
}

// collect merges the latency shards once a second, and from them makes the series and the
// progress; a last time when it is told to stop.
func (r *runner) collect(stop <-chan struct{}) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
connecting:
	for {
		select {
		case <-stop:
			if !r.begun() {
				return
			}
			// A run so short that this is the first we hear of it; the loop below sees stop too.
			break connecting
		case <-r.begin:
			ticker.Reset(time.Second)
			break connecting
		case <-ticker.C:
			r.progress(Progress{Connecting: true, Planned: r.planned(len(r.workers)), Connections: int(r.open.Load()), Left: -1})
		}
	}
	var last sums
	at := r.beganAt
	for running := true; running; {
		select {
		case <-stop:
			running = false
		case <-ticker.C:
		}
		now := r.clock.Now()
		last, at = r.step(now, now-at, last), now
	}
}

// step takes what happened since the last one.
func (r *runner) step(now, length time.Duration, last sums) sums {
	r.latency.Collect()
	s := r.sums()
	good := r.latency.Interval(batchGood)
	p50, p99 := good.Percentile(50), good.Percentile(99)
	point := result.Point{
		AtS:         (now - r.beganAt).Seconds(),
		Batches:     s.batches - last.batches,
		Failed:      s.failed - last.failed,
		P50US:       latency.Microseconds(p50),
		P99US:       latency.Microseconds(p99),
		MaxUS:       latency.Microseconds(good.Max()),
		Connections: int(r.open.Load()),
	}
	r.series.Add(point)
	p := Progress{
		Elapsed: now - r.beganAt,
		Done:    s.iterations, Planned: r.planned(len(r.workers) - int(r.failed.Load())),
		Batches: s.batches, Failed: s.failed, Errors: s.errors,
		P50: p50, P99: p99,
		Connections: point.Connections,
		Left:        -1,
	}
	if length > 0 {
		p.BatchesPerS = float64(point.Batches) / length.Seconds()
	}
	if p.Done > 0 {
		p.Left = time.Duration(float64(p.Elapsed) / float64(p.Done) * float64(p.Planned-p.Done))
	}
	r.progress(p)
	return s
}

func (r *runner) progress(p Progress) {
	if r.plan.Progress != nil {
		r.plan.Progress(p)
	}
}
