package driver

import (
	"context"
	"sync/atomic"
	"time"
)

// fault is what the run does to a batch in flight.
type fault struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	cut    bool        // the connection is cut; else the batch is cancelled
	fired  atomic.Bool // it was cancelled
}

// inject arms the fault that falls on the batch at hand, if one does.
func (w *worker) inject(mark int64) *fault {
	p := &w.run.plan.Faults
	n, id := w.number, w.info.ID
	f := new(fault)
	var after time.Duration
	switch {
	case p.hits(p.BatchDisconnectPct, saltCut, id, n):
		f.cut = true
	case p.hits(p.CancelPct, saltCancel, id, n):
		after = p.delay(id, n)
	default:
		return nil
	}
	f.ctx, f.cancel = context.WithCancelCause(w.ctx)
	s := w.session
	f.timer = time.AfterFunc(after, func() {
		if f.cut {
			_ = s.Close()
			return
		}
		// The guard watches from now on that the cancel is acknowledged.
		w.firedAt.Store(int64(w.run.clock.Now()))
		f.fired.Store(true)
		if w.wait.CompareAndSwap(mark, -mark) {
			f.cancel(errInjectedCancel)
			return
		}
		f.fired.Store(false)
	})
	return f
}

// end disarms a fault whose batch has ended.
func (f *fault) end() {
	f.timer.Stop()
	f.cancel(nil)
}

// replace gives up a connection that the run cuts, whether the cut came in time or not. Its result is
// attempt's ok.
func (w *worker) replace(t trouble) bool {
	w.count(injectedDisconnects, 1)
	w.onPurpose, w.killed = true, false
	w.drop()
	e := w.event(Disconnected)
	e.Source, e.Err = t.req.Source, errInjectedCut
	w.tell(e)
	return true
}

// sortOutCancel is a batch that the run cancelled. Its result is attempt's ok.
func (w *worker) sortOutCancel(t trouble) bool {
	if t.err == nil {
		// Errors came before the cancel did.
		w.unsuccessful(t, false, classOf(t.out))
		return w.tooMany()
	}
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
