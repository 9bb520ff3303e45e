package driver

import (
	"sync/atomic"

	"gostress/pkg/result"
)

// counts are a worker's. Only the worker adds to them (or the guard, when it has left the worker
// behind); the collector reads them meanwhile.
type counts struct {
	attempted, good, failed, inDoubt, cancelled, skipped             atomic.Int64
	itAttempted, itGood, itFailed, itInDoubt, itCancelled, itSkipped atomic.Int64

	rows, errors, timeouts, openTran, lost, reconnects atomic.Int64

	retries, throttled, injectedCancels, injectedDisconnects, disconnects, rolledBack atomic.Int64
}

func (c *counts) addTo(l *result.Load) {
	l.Attempted += c.attempted.Load()
	l.Batches += c.good.Load()
	l.FailedBatches += c.failed.Load()
	l.InDoubt += c.inDoubt.Load()
	l.Cancelled += c.cancelled.Load()
	l.Skipped += c.skipped.Load()
	l.AttemptedIterations += c.itAttempted.Load()
	l.Iterations += c.itGood.Load()
	l.FailedIterations += c.itFailed.Load()
	l.InDoubtIterations += c.itInDoubt.Load()
	l.CancelledIterations += c.itCancelled.Load()
	l.SkippedIterations += c.itSkipped.Load()
	l.Rows += c.rows.Load()
	l.Timeouts += c.timeouts.Load()
	l.OpenTran += c.openTran.Load()
	l.LostConnections += c.lost.Load()
	l.Reconnects += c.reconnects.Load()
	l.Retries += c.retries.Load()
	l.Throttled += c.throttled.Load()
	l.InjectedCancels += c.injectedCancels.Load()
	l.InjectedDisconnects += c.injectedDisconnects.Load()
	l.Disconnects += c.disconnects.Load()
	l.RolledBack += c.rolledBack.Load()
}
