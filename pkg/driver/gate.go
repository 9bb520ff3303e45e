package driver

import "sync"

// gate says how many of a unit's connections are there now: those with a lower place. The places of a
// unit with fewer connections than the largest one are spread over that one's.
type gate struct {
	mu      sync.Mutex
	n, most int
	changed chan struct{}
}

func newGate(n int) *gate { return &gate{n: n, most: n, changed: make(chan struct{})} }

// set changes the number.
func (g *gate) set(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.change(n)
}

// grow lets one more in, up to a number.
func (g *gate) grow(most int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.n < most {
		g.change(g.n + 1)
	}
}

func (g *gate) change(n int) {
	if n == g.n {
		return
	}
	g.n, g.most = n, max(g.most, n)
	close(g.changed)
	g.changed = make(chan struct{})
}

// peak is the largest number there was.
func (g *gate) peak() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.most
}

func (g *gate) admits(place int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return place < g.n
}

// await waits until the connection is let in; it is false when the run ends before.
func (g *gate) await(place int, done, over <-chan struct{}) bool {
	for {
		g.mu.Lock()
		in, changed := place < g.n, g.changed
		g.mu.Unlock()
		if in {
			return true
		}
		select {
		case <-changed:
		case <-done:
			return false
		case <-over:
			return false
		}
	}
}
