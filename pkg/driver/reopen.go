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

// departure is how a worker's last session came to its end.
type departure uint8

const (
	broke   departure = iota
	parted            // the run ended it in good order
	severed           // the run cut it
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

// open is reopen without a request at hand. A session that the run itself ended was not broken, so that
// nothing is waited for before another is opened but, behind a cut, one's turn: to the server those come
// from a client that failed, and must not be more than a failed client may make.
func (w *worker) open() bool {
	r := w.run
	how := w.departure
	w.departure = broke
	switch {
	case how != broke:
	case r.plan.Reconnect == ReconnectNever:
		return w.giveUp(errors.New("broken connections are not opened again"))
	case w.killed && r.plan.Reconnect != ReconnectAlways:
		return w.giveUp(errKilled)
	}
	var firstTry time.Duration
	for backoff := firstBackoff; ; backoff = min(2*backoff, mostBackoff) {
		if how == broke && !w.sleep(backoff/2+rand.N(backoff/2)) || how != parted && !w.turn() {
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
		case err == nil && how != broke:
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
		if how != broke {
			backoff, how = firstBackoff/2, broke // the wait before the second try is the first there is
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

// turn waits for one's turn among the logins that replace connections; it is false when the run is
// stopped, or cuts iterations, meanwhile.
func (w *worker) turn() bool {
	now := time.Now()
	slot := w.run.relogins.ReserveN(now, 1)
	if w.sleep(slot.DelayFrom(now)) {
		return true
	}
	slot.Cancel()
	return false
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
