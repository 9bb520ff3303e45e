package driver

import (
	"errors"
	"math/rand/v2"
	"slices"
	"time"
)

const numBusy = 40501 // Azure SQL Database asks for ten seconds

var (
	// conflicts are errors that another transaction caused, and that may not come again: a deadlock,
	// write conflicts, and validation failures of snapshot isolation and memory-optimized tables.
	conflicts = []int32{numDeadlock, 3960, 41301, 41302, 41305, 41325, 41839}
	// throttles are the transient errors of Azure SQL Database.
	throttles = []int32{40197, numBusy, 40613, 49918, 49919, 49920, 10928, 10929, 10936, 4221}
)

const (
	firstThrottle = time.Second
	mostThrottle  = time.Minute
	busyThrottle  = 10 * time.Second
)

// retryable says that a batch that failed, or is in doubt, may be sent again.
func (w *worker) retryable(t trouble, doubtful bool) bool {
	if doubtful {
		var lost *LostError
		if errors.As(t.err, &lost) && slices.Contains(throttles, lost.Number) {
			return true
		}
		return w.run.plan.RetryInDoubt
	}
	return slices.ContainsFunc(t.out.Errors, func(e ServerError) bool {
		return slices.Contains(conflicts, e.Number) || slices.Contains(throttles, e.Number)
	})
}

// throttled counts an answer of a server that throttles, and is how long to wait then; zero for any
// other.
func (w *worker) throttled(t trouble) time.Duration {
	number := int32(0)
	var lost *LostError
	if errors.As(t.err, &lost) && slices.Contains(throttles, lost.Number) {
		number = lost.Number
	}
	for _, e := range t.out.Errors {
		if slices.Contains(throttles, e.Number) {
			number = e.Number
		}
	}
	if number == 0 {
		return 0
	}
	w.count(throttledAnswers, 1)
	wait := min(firstThrottle<<min(w.throttles, 10), mostThrottle)
	w.throttles++
	if number == numBusy {
		wait = max(wait, busyThrottle)
	}
	return wait + rand.N(wait/2)
}

// retryWait is a short wait that grows, so that those who met in a conflict do not meet again.
func retryWait(tries int) time.Duration {
	most := min(time.Millisecond<<min(tries, 10), time.Second)
	return most/2 + rand.N(most/2+1)
}
