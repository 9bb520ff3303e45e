package driver

import (
	"errors"
	"math/rand/v2"
	"time"
)

// The waits before a broken connection is opened again.
const (
	firstBackoff = 100 * time.Millisecond
	mostBackoff  = 10 * time.Second
)

var errKilled = errors.New("the session was ended on the server (KILL or ROLLBACK IMMEDIATE), so it is not opened again")

// reopen opens the worker's connection again for the request at hand. It is false when the
// request cannot be sent: the run is stopping, the connection is given up, or the guard has left
// the worker behind.
func (w *worker) reopen() bool {
	if w.open() {
		return true
	}
	if w.gone {
		w.number++
		w.countBatch(w.statement, skipped)
	}
	return false
}

// open is reopen without a request at hand. A session that the run itself ended was not broken:
// another is opened at once.
func (w *worker) open() bool {
	r := w.run
	parted := w.onPurpose
	w.onPurpose = false
	switch {
	case parted:
	case r.plan.Reconnect == ReconnectNever:
		return w.giveUp(errors.New("broken connections are not opened again"))
	case w.killed && r.plan.Reconnect != ReconnectAlways:
		return w.giveUp(errKilled)
	}
	var firstTry time.Duration
	for backoff := firstBackoff; ; backoff = min(2*backoff, mostBackoff) {
		if !parted && (!w.sleep(backoff/2+rand.N(backoff/2)) || r.relogins.Wait(r.ctx) != nil) {
			w.cut = true
			return false
		}
		if firstTry == 0 {
			// Waiting for one's turn among thousands is no failure to reconnect.
			firstTry = r.clock.Now()
		}
		session, err, ok := w.connect()
		switch {
		case !ok:
			return false
		case err == nil && parted:
			w.setSession(session)
			w.announce(session)
			return true
		case err == nil:
			w.setSession(session)
			w.count(reconnects, 1)
			r.events.offer(w.event(Reconnected), 0)
			return true
		case r.stopping():
			w.cut = true
			return false
		}
		// A database that cannot be opened is what a failover looks like for a while; any other
		// refusal stands, and repeating it locks accounts.
		var login *LoginError
		if parted {
			backoff, parted = firstBackoff/2, false // the wait before the second try is the first there is
			if r.plan.Reconnect == ReconnectNever {
				return w.giveUp(err)
			}
		}
		if errors.As(err, &login) && login.Refused() && login.Number != numNoDatabase || r.clock.Now()-firstTry >= r.plan.ReconnectFor {
			return w.giveUp(err)
		}
		e := w.event(ReconnectFailed)
		e.Err = err
		r.events.offer(e, 0)
	}
}

// giveUp ends the worker's work.
func (w *worker) giveUp(err error) bool {
	w.gone = true
	w.run.gaveUp.Add(1)
	e := w.event(GaveUp)
	e.Err = err
	w.run.events.offer(e, 0)
	return false
}

// sleep is false when the run is stopped, or cuts iterations, meanwhile.
func (w *worker) sleep(d time.Duration) bool { return w.pause(d, w.run.over) }

// pause is false when the run is stopped or the channel closed meanwhile.
func (w *worker) pause(d time.Duration, end <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.run.done:
	case <-end:
	}
	return false
}
