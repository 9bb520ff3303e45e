package exec

import (
	"context"
	"sync"
	"time"
)

// live is what other sessions see of a session: the rows of
// sys.dm_exec_sessions and sys.dm_exec_requests.
type live struct {
	mu       sync.Mutex
	opened   time.Time
	lastFrom time.Time
	lastTo   time.Time
	text     string
	wait_    string
	waitFrom time.Time
	running  bool
	inTran   bool
	requests int64
	cancel   context.CancelCauseFunc
}

func (l *live) open(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opened, l.lastFrom, l.lastTo = now, now, now
}

func (l *live) begin(text string, now time.Time, cancel context.CancelCauseFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text, l.lastFrom, l.running, l.cancel = text, now, true, cancel
	l.requests++
}

func (l *live) end(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastTo, l.running, l.cancel, l.wait_ = now, false, nil, ""
}

func (l *live) wait(kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wait_, l.waitFrom = kind, time.Now()
}

func (l *live) tran(open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inTran = open
}

func (l *live) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text, l.inTran = "", false
}

// cancelRequest ends the request that runs, if any.
func (l *live) cancelRequest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancel != nil {
		l.cancel(errKilled())
	}
}

// active reports whether a request runs.
func (l *live) active() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.running
}
