package server

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"gostress/internal/tds"
)

// sentry looks, a few hundred times a second while anything runs, which
// requests have been running since its last look, and has their sockets watched
// for an attention. So a short request pays nothing for being cancellable: no
// timer, no second goroutine.
type sentry struct {
	srv    *server
	awake  atomic.Bool
	wake   chan struct{}
	ended  chan struct{}
	once   sync.Once
	ticker time.Duration
}

const (
	sentryTick  = 5 * time.Millisecond
	sentryQuiet = 100 // ticks without a request before it sleeps
	sentryKills = 10  // ticks between looks for killed sessions
)

func newSentry(s *server) *sentry {
	y := &sentry{srv: s, wake: make(chan struct{}, 1), ended: make(chan struct{}), ticker: sentryTick}
	go y.run()
	return y
}

func (y *sentry) stop() { y.once.Do(func() { close(y.ended) }) }

// rouse is called as a request begins.
func (y *sentry) rouse() {
	if y.awake.Load() || y.awake.Swap(true) {
		return
	}
	select {
	case y.wake <- struct{}{}:
	default:
	}
}

func (y *sentry) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var conns []*conn
	for {
		select {
		case <-y.wake:
		case <-y.ended:
			return
		}
		for quiet, tick := 0, 0; quiet < sentryQuiet; tick++ {
			// Thousands of connections are looked at less often.
			timer.Reset(y.ticker + y.ticker*time.Duration(len(conns)/2000))
			select {
			case <-timer.C:
			case <-y.ended:
				return
			}
			conns = y.srv.list(conns[:0])
			busy := false
			for _, c := range conns {
				busy = c.look(tick%sentryKills == 0) || busy
			}
			clear(conns)
			if busy {
				quiet = 0
				continue
			}
			if quiet++; quiet == sentryQuiet {
				y.awake.Store(false)
				for _, c := range y.srv.list(nil) {
					if c.seq.Load()&1 == 1 && !y.awake.Swap(true) {
						quiet = 0
					}
				}
			}
		}
	}
}

// look reports whether a request runs, and has the socket watched if it is the
// one that was seen before.
func (c *conn) look(kills bool) bool {
	n := c.seq.Load()
	if kills {
		select {
		case <-c.killedChan():
			c.endSoon()
		default:
		}
	}
	if n&1 == 0 {
		return false
	}
	if n == c.seen {
		c.watchRequest(n)
	}
	c.seen = n
	return true
}

// killedChan is nil until the login is over.
func (c *conn) killedChan() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.killed
}

// watcher reads the socket while a request runs. It keeps bytes that are no
// attention for the connection's own reader.
type watcher struct {
	done chan struct{}
	rest []byte
	err  error
}

// watcherLimit is how many bytes of a request sent ahead are taken in.
const watcherLimit = 4 << 10

func (c *conn) watchRequest(seq uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watch != nil || c.seq.Load() != seq || c.attn.Load() {
		return
	}
	c.watch = &watcher{done: make(chan struct{})}
	go c.watch.run(c)
}

func (w *watcher) run(c *conn) {
	defer close(w.done)
	var buf [512]byte
	for len(w.rest) < watcherLimit {
		n, err := c.nc.Read(buf[:])
		w.rest = append(w.rest, buf[:n]...)
		if len(w.rest) >= tds.HeaderSize && tds.PacketType(w.rest[0]) == tds.PacketAttention {
			w.rest = w.rest[tds.HeaderSize:]
			c.attn.Store(true)
			c.cancelRequest()
			return
		}
		if err != nil {
			if w.err = err; !errors.Is(err, os.ErrDeadlineExceeded) {
				c.gone.Store(true) // nobody waits for the answer
				c.cancelRequest()
			}
			return
		}
	}
}

// running marks the start of a request, and returns its context.
func (c *conn) running() context.Context {
	ctx := c.context()
	c.attn.Store(false)
	if t, ok := c.rd.Peek(); ok && t == tds.PacketAttention {
		// The cancel came with the request.
		_, _, _, _ = c.rd.Packet()
		c.attn.Store(true)
		c.cancelRequest()
	}
	c.seq.Add(1)
	c.srv.sentry.rouse()
	return ctx
}

// ran marks the end of a request.
func (c *conn) ran() {
	c.seq.Add(1)
	c.mu.Lock()
	w := c.watch
	c.mu.Unlock()
	if w == nil {
		return
	}
	_ = c.tcp.SetReadDeadline(time.Unix(1, 0))
	<-w.done
	_ = c.tcp.SetReadDeadline(time.Time{})
	c.mu.Lock()
	c.watch = nil
	c.mu.Unlock()
	for len(w.rest) > 0 {
		n := copy(c.rd.Space(), w.rest)
		c.rd.Advance(n)
		w.rest = w.rest[n:]
	}
	if w.err != nil && !errors.Is(w.err, os.ErrDeadlineExceeded) && !errors.Is(w.err, net.ErrClosed) {
		c.gone.Store(true)
	}
}
