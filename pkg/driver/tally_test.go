package driver

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"gostress/pkg/result"
)

func TestShardsLoseNothing(t *testing.T) {
	t.Parallel()
	const workers, each = 20, 5000
	s := newShards(2)
	r := &runner{shards: s}
	var counting sync.WaitGroup
	for id := range workers {
		w := &worker{run: r, shard: &s.all[id%len(s.all)]}
		counting.Go(func() {
			random := rand.New(rand.NewPCG(uint64(id), 1))
			for range each {
				d := time.Duration(1000 + random.IntN(1e6))
				switch statement := random.IntN(2); random.IntN(4) {
				case 0:
					w.countBatch(statement, cancelled)
				case 1:
					w.badBatch(statement, failed, result.ClassDeadlock, d)
				default:
					w.goodBatch(statement, d, d, 3)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { counting.Wait(); close(done) }()
	total := newTally(2)
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		// Whenever it is looked at, times and counts agree.
		part := newTally(2)
		s.collect(part)
		n := part.batches()
		if all, _, bad := part.goodBatches(); all.Count() != n[good] || bad.Count() != n[failed] || part.counters[rowsReceived] != 3*n[good] {
			t.Fatalf("%v: %d good and %d bad times, %d rows", n, all.Count(), bad.Count(), part.counters[rowsReceived])
		}
		total.add(part)
	}
	if n := total.batches(); n[good]+n[failed]+n[cancelled] != workers*each {
		t.Errorf("%v of %d", n, workers*each)
	}
}

func BenchmarkCollect(b *testing.B) {
	s := newShards(2)
	into := newTally(2)
	for b.Loop() {
		for i := range s.all {
			w := &worker{run: &runner{shards: s}, shard: &s.all[i]}
			w.goodBatch(0, 250*time.Microsecond, 0, 1)
			w.goodBatch(1, 250*time.Microsecond, 0, 1)
		}
		s.collect(into)
	}
}
