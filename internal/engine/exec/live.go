package exec

import (
	"context"
	"sync"
	"time"

	"gostress/internal/engine/dmv"
	"gostress/internal/engine/storage"
)

// live is what other sessions see of a session: the rows of
// sys.dm_exec_sessions and sys.dm_exec_requests.
type live struct {
	mu       sync.Mutex
	opened   time.Time
	lastFrom time.Time
	lastTo   time.Time
	elapsed  time.Duration // of all requests
	text     string
	waitType string
	waitFrom time.Time
	waitsFor int // the session; 0 = none, or it is not known
	running  bool
	requests int64
	cancel   context.CancelCauseFunc
	// What the session had when its last request began or ended.
	set      settings
	trans    int
	rowCount int64
	lastErr  int32
}

func (l *live) open(now time.Time, s *Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opened, l.lastFrom, l.lastTo = now, now, now
	l.set = s.set
}

// begin notes that a request begins.
func (l *live) begin(text string, now time.Time, cancel context.CancelCauseFunc, s *Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text, l.lastFrom, l.running, l.cancel = text, now, true, cancel
	l.requests++
}

// end notes that the request has ended, and what it left behind.
func (l *live) end(now time.Time, s *Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastTo, l.running, l.cancel, l.waitType, l.waitsFor = now, false, nil, "", 0
	l.elapsed += now.Sub(l.lastFrom)
	l.set, l.trans, l.rowCount, l.lastErr = s.set, s.tran.count, s.rowCount, s.lastError
}

// wait notes what the request waits for, and which session has it (0 when that is none or not
// known). The same kind again is the same wait.
func (l *live) wait(kind string, session int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waitType != kind {
		l.waitType, l.waitFrom = kind, time.Now()
	}
	l.waitsFor = session
}

// waited ends a wait.
func (l *live) waited() { l.wait("", 0) }

// tran notes that a transaction began or ended.
func (l *live) tran(open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trans = 0
	if open {
		l.trans = 1
	}
}

func (l *live) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text, l.trans = "", 0
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

// Sessions tells the system views of the open sessions.
func (e *Engine) Sessions() []dmv.Session {
	sessions := e.list()
	waits := map[int]storage.Wait{}
	for _, db := range e.cat.Databases() {
		for _, w := range db.Store.Waits() {
			waits[w.Session] = w
		}
	}
	var out []dmv.Session
	for _, s := range sessions {
		d := s.shown()
		if w, ok := waits[d.ID]; ok && d.Request != nil && d.Request.WaitType == "" {
			d.Request.Suspend(rowWait(w.Kind), w.Blocking, w.Since)
		}
		out = append(out, d)
	}
	return out
}

// rowWait is the wait type of a transaction that waits for another.
func rowWait(k storage.WaitKind) string {
	switch k {
	case storage.WaitUpdate:
		return "LCK_M_U"
	case storage.WaitShared:
		return "LCK_M_S"
	case storage.WaitCommit:
		return "WAIT_XTP_TRAN_COMMIT"
	}
	return "LCK_M_X"
}

func (s *Session) shown() dmv.Session {
	l := &s.live
	l.mu.Lock()
	defer l.mu.Unlock()
	d := dmv.Session{
		ID: s.spid, Login: s.opts.Login, Host: s.opts.Host, Program: s.opts.App, HostPID: s.opts.PID, Interface: s.opts.Library,
		Address: s.opts.Address, PacketSize: s.opts.PacketSize, Encrypted: s.opts.Encrypted, AuthScheme: s.opts.AuthScheme,
		Database: s.db().ID, LoginTime: l.opened, LastStart: l.lastFrom, LastEnd: l.lastTo, Status: "sleeping",
		RowCount: l.rowCount, Isolation: int(l.set.isolation), OpenTransactions: l.trans, LockTimeout: int(l.set.lockTimeout),
		DeadlockPriority: int(l.set.deadlockPriority), Language: "us_english", DateFormat: "mdy", DateFirst: 7,
		TextSize: int(l.set.textSize), QuotedIdentifier: l.set.quotedIdent, ArithAbort: l.set.arithAbort,
		AnsiNullDefaultOn: l.set.ansiNullDfltOn, AnsiWarnings: l.set.ansiWarnings, AnsiPadding: l.set.ansiPadding,
		AnsiNulls: l.set.ansiNulls, ConcatNull: l.set.concatNull, PrevError: int(l.lastErr), Elapsed: l.elapsed,
	}
	if l.running {
		d.Status = "running"
		r := &dmv.Request{Start: l.lastFrom, Status: "running", Command: command(l.text), Text: l.text}
		if l.waitType != "" {
			r.Suspend(l.waitType, l.waitsFor, l.waitFrom)
		}
		d.Request = r
	}
	return d
}

// command is the first word of a batch, as sys.dm_exec_requests shows what runs.
func command(text string) string {
	start := -1
	for i := 0; i <= len(text); i++ {
		letter := i < len(text) && (text[i] >= 'a' && text[i] <= 'z' || text[i] >= 'A' && text[i] <= 'Z')
		switch {
		case letter && start < 0:
			start = i
		case !letter && start >= 0:
			return upper(text[start:i])
		}
	}
	return "SELECT"
}
