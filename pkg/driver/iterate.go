package driver

// iterate runs the program as often as asked. It is false when the guard has left the worker
// behind.
func (w *worker) iterate() bool {
	faults := &w.run.plan.Faults
	for i := int64(0); i < w.run.plan.Iterations; i++ {
		if w.gone || w.spent || w.run.stopping() {
			return true
		}
		w.counts.itAttempted.Add(1)
		w.sent, w.doubt, w.cut, w.bad, w.cancelled = false, false, false, false, false
		w.inIteration = true
		w.program.Iteration(w.info, i)(w.yield)
		if w.wait.Load() == abandoned {
			return false
		}
		w.inIteration = false
		w.endIteration()
		if i+1 < w.run.plan.Iterations && faults.hits(faults.DisconnectPct, saltDisconnect, w.info.ID, i) && !w.disconnect() {
			return false
		}
	}
	return true
}

// endIteration puts the iteration into its class.
func (w *worker) endIteration() {
	c := &w.counts
	w.cutShort = w.cutShort || w.cut
	switch {
	case w.doubt:
		c.itInDoubt.Add(1)
	case w.cut:
		c.itCancelled.Add(1)
		return
	case w.gone:
		c.itSkipped.Add(1)
		return
	case w.cancelled:
		c.itCancelled.Add(1)
	case w.bad:
		c.itFailed.Add(1)
	default:
		c.itGood.Add(1)
	}
	if w.openTran {
		c.openTran.Add(1)
	}
	if !w.sent || w.cut || w.cancelled && !w.doubt {
		return
	}
	class := iterationGood
	if w.doubt || w.bad {
		class = iterationFailed
	}
	w.latency.Record(class, w.to-w.from)
}

// disconnect ends the session in good order; the next request opens another. It is false when the
// guard has left the worker behind.
func (w *worker) disconnect() bool {
	if w.session == nil {
		return true
	}
	if !w.rollBack() || !w.closeSession() {
		return false
	}
	w.onPurpose, w.killed = true, false
	w.counts.disconnects.Add(1)
	w.tell(w.event(Disconnected))
	return true
}

// rollBack rolls back what is open before the session ends. It is false when the guard has left the
// worker behind.
func (w *worker) rollBack() bool {
	if w.session == nil || !w.openTran {
		return true
	}
	w.counts.rolledBack.Add(1)
	e := w.event(RolledBack)
	var ok bool
	if e.Err, ok = w.aside(rollBackRequest); !ok {
		return false
	}
	w.openTran = false
	w.run.events.offer(e, 0)
	return true
}

var rollBackRequest = &Request{Text: "IF @@TRANCOUNT > 0 ROLLBACK TRAN", Plain: true}

// aside sends a request that is none of the program's and is in no count. It is false when the guard
// has left the worker behind.
func (w *worker) aside(req *Request) (err error, ok bool) {
	w.beginWait(opAside, w.run.clock.Now())
	out, err := w.session.Do(w.run.ctx, req, nil)
	if _, ok := w.endWait(); !ok {
		return nil, false
	}
	if err == nil && len(out.Errors) > 0 {
		err = out.Errors[0]
	}
	return err, true
}

// tell passes on an event that only -v shows.
func (w *worker) tell(e Event) {
	if w.run.plan.Verbose {
		w.run.events.offer(e, 0)
	}
}
