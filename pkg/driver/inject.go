package driver

import (
	"context"
	"sync"
	"time"

	"gostress/pkg/result"
)

// fault is what the run does to a batch in flight.
type fault struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	cut    bool // the connection is cut; else the batch is cancelled

	mu    sync.Mutex // held while the cancel is decided
	fired bool       // the cancel came before the batch ended, and before its query timeout
}

// hasFired says that the batch was cancelled. The batch having ended, that is decided.
func (f *fault) hasFired() bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fired
}

// inject arms the fault that falls on the batch at hand, if one does.
func (w *worker) inject(mark int64) *fault {
	p := &w.run.plan.Faults
	n, id := w.number, w.info.ID
	cut, after := false, time.Duration(0)
	switch {
	case p.hits(p.BatchDisconnectPct, saltCut, id, n):
		cut = true
	case p.hits(p.CancelPct, saltCancel, id, n):
		after = p.delay(id, n)
	default:
		return nil
	}
	f := &fault{cut: cut}
	f.ctx, f.cancel = context.WithCancelCause(w.ctx)
	s := w.session
	f.timer = time.AfterFunc(after, func() {
		if f.cut {
			_ = s.Close()
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		// The guard watches from now on that the cancel is acknowledged.
		w.firedAt.Store(int64(w.run.clock.Now()))
		if f.fired = w.wait.CompareAndSwap(mark, -mark); f.fired {
			f.cancel(errInjectedCancel)
		}
	})
	return f
}

// end disarms a fault whose batch has ended.
func (f *fault) end() {
	f.timer.Stop()
	f.cancel(nil)
}

// sortOutCut is a batch that was in flight when the run cut its connection. Its result is attempt's ok.
func (w *worker) sortOutCut(t trouble) bool {
	w.badBatch(w.statement, inDoubt, result.ClassLost, t.took)
	w.doubt = true
	return w.replace(t)
}

// replace gives up a connection that the run cuts, whether the cut came in time or not. Its result is
// attempt's ok.
func (w *worker) replace(t trouble) bool {
	w.count(injectedDisconnects, 1)
	w.departure, w.killed = severed, false
	w.drop()
	e := w.event(Disconnected)
	e.Source, e.Err = t.req.Source, errInjectedCut
	w.tell(e)
	return true
}

// sortOutCancel is a batch that the run cancelled before it ended. Its result is attempt's ok.
func (w *worker) sortOutCancel(t trouble) bool {
	w.count(injectedCancels, 1)
	e := w.event(Cancelled)
	e.Source, e.Err = t.req.Source, t.err
	w.tell(e)
	if t.left == closing || !isContextError(t.err) {
		w.countBatch(w.statement, inDoubt)
		w.doubt = true
		w.lost(t.req, t.err, t.out)
		return true
	}
	w.countBatch(w.statement, cancelled)
	w.cancelled = true
	if w.run.plan.Faults.RollbackOnCancel && w.openTran {
		err, ok := w.aside(rollBackRequest)
		if !ok {
			return false
		}
		if err != nil {
			w.lost(t.req, err, t.out)
		}
		w.openTran = false
	}
	return true
}
