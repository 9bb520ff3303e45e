package ostress

import (
	"sync"
	"time"

	"gostress/pkg/driver"
)

// item is a row, an event, or the end of an answer that broke off, on its way to
// a file.
type item struct {
	row   []any
	event *driver.SinkEvent
	broke error
}

// size is about how many bytes an item holds in memory.
func (it *item) size() int64 {
	n := int64(64 + 16*len(it.row))
	if it.event != nil {
		n += int64(200 + len(it.event.Message.Message) + 64*len(it.event.Columns))
	}
	for _, v := range it.row {
		switch v := v.(type) {
		case string:
			n += int64(len(v))
		case []byte:
			n += int64(len(v))
		default:
			n += 24
		}
	}
	return n
}

// queue passes items from a session to its file. Bytes bound it, not rows: what
// is being written counts until it is.
type queue struct {
	mu     sync.Mutex
	change sync.Cond
	items  []item
	bytes  int64 // waiting and being written
	taken  int64 // of these, being written
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.change.L = &q.mu
	return q
}

// put adds an item as soon as fewer than limit bytes are on the way, and says
// how long that took.
func (q *queue) put(it item, limit int64) (waited time.Duration) {
	n := it.size()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bytes >= limit {
		start := time.Now()
		for q.bytes >= limit && !q.closed {
			q.change.Wait()
		}
		waited = max(time.Since(start), 1)
	}
	q.items = append(q.items, it)
	if q.bytes += n; len(q.items) == 1 {
		q.change.Broadcast()
	}
	return waited
}

// take waits for items and gives all there are; what it gave before has been
// written by then. It is false after the last. spare is used for what comes next.
func (q *queue) take(spare []item) ([]item, bool) {
	clear(spare)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= q.taken
	q.taken = 0
	q.change.Broadcast()
	for len(q.items) == 0 && !q.closed {
		q.change.Wait()
	}
	items := q.items
	q.items, q.taken = spare[:0], q.bytes
	return items, len(items) > 0
}

// close ends the queue: take gives what is left.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.change.Broadcast()
}
