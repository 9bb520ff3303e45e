package exec

import (
	"sync"
	"sync/atomic"

	"gostress/internal/engine/storage"
)

// retired keeps the data of dropped tables until every request that may still
// be reading it has ended.
type retired struct {
	any  atomic.Bool
	mu   sync.Mutex
	list []retiredTable
}

type retiredTable struct {
	data *storage.Table
	// users are the sessions that ran a request when the table was dropped,
	// with the number of that request.
	users map[*Session]int64
}

// retire takes the data of dropped tables.
func (e *Engine) retire(tables []*storage.Table) {
	if len(tables) == 0 {
		return
	}
	users := map[*Session]int64{}
	for _, s := range e.list() {
		if n, running := s.live.request(); running {
			users[s] = n
		}
	}
	e.retired.mu.Lock()
	defer e.retired.mu.Unlock()
	for _, t := range tables {
		e.retired.list = append(e.retired.list, retiredTable{t, users})
	}
	e.retired.any.Store(true)
}

// sweep closes the tables that nobody uses any more. Every request ends with it.
func (e *Engine) sweep() {
	if !e.retired.any.Load() {
		return
	}
	e.retired.mu.Lock()
	defer e.retired.mu.Unlock()
	left := e.retired.list[:0]
	for _, t := range e.retired.list {
		for s, n := range t.users {
			if now, running := s.live.request(); !running || now != n {
				delete(t.users, s)
			}
		}
		if len(t.users) > 0 {
			left = append(left, t)
			continue
		}
		t.data.Close()
	}
	clear(e.retired.list[len(left):])
	e.retired.list = left
	e.retired.any.Store(len(left) > 0)
}

// request is the number of the session's last request, and whether it runs.
func (l *live) request() (int64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests, l.running
}
