package driver

import (
	"sync/atomic"
	"time"
)

// lateLimit is how far behind its intended start an arrival may begin before it counts as late.
const lateLimit = time.Millisecond

// mostQueued bounds the arrivals that wait for a connection; what comes after is dropped, and counted.
const mostQueued = 1 << 20

// arrival is an iteration of an open loop that is due.
type arrival struct {
	at   time.Duration // the intended start
	free bool          // a connection waited for it
}

// arrivals hands what the pacer releases to the workers.
//
// A worker that waits has announced itself in free; the pacer takes one of those for each arrival it
// hands over as free. Whoever receives may be another worker than the one announced, so that each
// receiver settles the difference: free plus the free arrivals in the queue is always the number of
// workers that wait.
type arrivals struct {
	queue chan arrival
	free  atomic.Int64
}

func newArrivals() *arrivals { return &arrivals{queue: make(chan arrival, mostQueued)} }

// take waits for an arrival. It is false when the run ends meanwhile.
func (a *arrivals) take(done, over <-chan struct{}) (arrival, bool) {
	select {
	case next := <-a.queue:
		if next.free {
			a.free.Add(1)
		}
		return next, true
	default:
	}
	a.free.Add(1)
	select {
	case next := <-a.queue:
		if !next.free {
			a.free.Add(-1)
		}
		return next, true
	case <-done:
	case <-over:
	}
	return arrival{}, false
}

// release hands over an arrival. Busy says that no connection was free; ok is false when it was
// dropped: there is no room in the queue, or drop says that none may wait.
func (a *arrivals) release(at time.Duration, drop bool) (busy, ok bool) {
	free := false
	for n := a.free.Load(); n > 0; n = a.free.Load() {
		if a.free.CompareAndSwap(n, n-1) {
			free = true
			break
		}
	}
	if !free && drop {
		return true, false
	}
	select {
	case a.queue <- arrival{at, free}:
		return !free, true
	default:
		if free {
			a.free.Add(1)
		}
		return !free, false
	}
}
