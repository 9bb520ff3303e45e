package driver

import (
	"sync"
	"time"
)

const (
	queueLength = 1024
	inFull      = 100  // events of one kind and number that pass one by one
	mostKinds   = 1000 // kinds and numbers told apart; what comes after shares a number, 0
)

// eventQueue passes events to the plan's function from one goroutine. A nil queue takes events
// and forgets them.
type eventQueue struct {
	pass   func(Event)
	ch     chan Event
	closed chan struct{}

	mu     sync.Mutex
	floods map[floodKey]*flood
	order  []*flood // in the order of their first event
}

type floodKey struct {
	kind   EventKind
	number int32
}

// flood counts the events of a key.
type flood struct {
	seen       int64
	suppressed int64 // since the last summary
	last       Event
}

func newEventQueue(pass func(Event)) *eventQueue {
	if pass == nil {
		return nil
	}
	q := &eventQueue{pass: pass, ch: make(chan Event, queueLength), closed: make(chan struct{}), floods: map[floodKey]*flood{}}
	go q.drain()
	return q
}

// send passes an event on whatever happens; it waits when the queue is full.
func (q *eventQueue) send(e Event) {
	if q == nil {
		return
	}
	e.Time = time.Now()
	q.ch <- e
}

// offer passes an event on unless there were many like it, or the queue is full; then it is
// counted, and told with others in a summary. It never waits.
func (q *eventQueue) offer(e Event, number int32) {
	if q == nil {
		return
	}
	e.Time = time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	key := floodKey{e.Kind, number}
	t := q.floods[key]
	if t == nil && len(q.floods) >= mostKinds {
		key.number = 0
		t = q.floods[key]
	}
	if t == nil {
		t = &flood{}
		q.floods[key] = t
		q.order = append(q.order, t)
	}
	t.seen++
	if t.seen <= inFull {
		select {
		case q.ch <- e:
			return
		default:
		}
	}
	t.suppressed++
	t.last = e
}

// close waits until everything has been passed on.
func (q *eventQueue) close() {
	if q == nil {
		return
	}
	close(q.ch)
	<-q.closed
}

func (q *eventQueue) drain() {
	defer close(q.closed)
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case e, ok := <-q.ch:
			if !ok {
				q.summarize()
				return
			}
			q.pass(e)
		case <-ticker.C:
			q.summarize()
		}
	}
}

// summarize tells what was counted since the last time.
func (q *eventQueue) summarize() {
	q.mu.Lock()
	var summaries []Event
	for _, t := range q.order {
		if t.suppressed == 0 {
			continue
		}
		e := t.last
		e.Kind, e.Of, e.Count = Suppressed, t.last.Kind, t.suppressed
		e.Worker, e.Unit, e.Conn = -1, -1, -1
		e.Source = Source{}
		summaries = append(summaries, e)
		t.suppressed = 0
	}
	q.mu.Unlock()
	for _, e := range summaries {
		q.pass(e)
	}
}
