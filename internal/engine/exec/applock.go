package exec

import (
	"context"
	"sync"
	"time"
)

// appLocks are the locks of sp_getapplock, instance-wide.
type appLocks struct {
	mu    sync.Mutex
	locks map[string]*appLock
}

type appLock struct {
	holders map[lockOwner]lockMode
	wake    chan struct{} // closed and replaced when a holder goes
}

// lockOwner is a session, or one transaction of it.
type lockOwner struct {
	s    *Session
	tran bool
}

type lockMode uint8

const (
	lockShared lockMode = iota + 1
	lockUpdate
	lockExclusive
	lockIntentShared
	lockIntentExclusive
)

func lockModeOf(name string) (lockMode, bool) {
	switch foldName(name) {
	case "shared":
		return lockShared, true
	case "update":
		return lockUpdate, true
	case "exclusive":
		return lockExclusive, true
	case "intentshared":
		return lockIntentShared, true
	case "intentexclusive":
		return lockIntentExclusive, true
	}
	return 0, false
}

func (m lockMode) waitType() string {
	return [...]string{"", "LCK_M_S", "LCK_M_U", "LCK_M_X", "LCK_M_IS", "LCK_M_IX"}[m]
}

func (m lockMode) compatible(o lockMode) bool {
	switch {
	case m == lockExclusive || o == lockExclusive:
		return false
	case m == lockIntentShared || o == lockIntentShared:
		return true
	case m == lockIntentExclusive || o == lockIntentExclusive:
		return m == o
	}
	return !(m == lockUpdate && o == lockUpdate)
}

// acquire returns sp_getapplock's result: 0 granted, 1 granted after waiting,
// -1 timeout, -2 cancelled. timeout < 0 waits for ever. What the session waits for is
// noted; the caller ends that.
func (l *appLocks) acquire(ctx context.Context, name string, o lockOwner, mode lockMode, timeout time.Duration) int32 {
	var expired <-chan time.Time
	if timeout >= 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		expired = t.C
	}
	for waited := int32(0); ; waited = 1 {
		l.mu.Lock()
		if l.locks == nil {
			l.locks = map[string]*appLock{}
		}
		a := l.locks[name]
		if a == nil {
			a = &appLock{holders: map[lockOwner]lockMode{}, wake: make(chan struct{})}
			l.locks[name] = a
		}
		blocking := 0 // the least number of the sessions in the way
		for h, m := range a.holders {
			if h.s != o.s && !mode.compatible(m) && (blocking == 0 || h.s.spid < blocking) {
				blocking = h.s.spid
			}
		}
		if blocking == 0 {
			a.holders[o] = max(a.holders[o], mode)
			l.mu.Unlock()
			return waited
		}
		wake := a.wake
		l.mu.Unlock()
		if timeout == 0 {
			return -1
		}
		o.s.live.wait(mode.waitType(), blocking)
		select {
		case <-wake:
		case <-expired:
			return -1
		case <-ctx.Done():
			return -2
		}
	}
}

// release reports whether the owner held the lock.
func (l *appLocks) release(name string, o lockOwner) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.locks[name]
	if a == nil || a.holders[o] == 0 {
		return false
	}
	l.drop(name, a, o)
	return true
}

// releaseAll frees everything an owner holds.
func (l *appLocks) releaseAll(o lockOwner) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, a := range l.locks {
		if a.holders[o] != 0 {
			l.drop(name, a, o)
		}
	}
}

func (l *appLocks) drop(name string, a *appLock, o lockOwner) {
	delete(a.holders, o)
	close(a.wake)
	a.wake = make(chan struct{})
	if len(a.holders) == 0 {
		delete(l.locks, name)
	}
}
