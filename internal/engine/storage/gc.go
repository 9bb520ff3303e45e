package storage

import (
	"slices"
	"sync"
	"sync/atomic"
)

// garbage is a table's dead versions on their way to reuse. A version waits in
// the queue until nobody reads it any more, is then taken out of the indexes,
// and waits in limbo until everybody has gone who could have met it there.
// Those who make garbage clear it, in the measure that they make it.
type garbage struct {
	mu    sync.Mutex
	queue []dead
	from  int // the queue's first entry
	limbo []limbo

	working sync.Mutex // held by the one who clears
	tried   atomic.Uint64
}

type dead struct {
	row rowNo
	at  uint64 // the time of its end; 0 when it was undone
}

type limbo struct {
	epoch uint64
	rows  []rowNo
}

const (
	fewDead    = 64   // below this many nothing is done
	lotOfDead  = 4096 // cleared at a time
	retryTicks = 64   // commits until readers that were in the way are looked at again
)

// add queues the versions that a part of a log ended.
func (g *garbage) add(log []change, time uint64, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queue = slices.Grow(g.queue, n)
	for i := range log {
		if o := log[i].op; o == opEnd || o == opEndLocked {
			g.queue = append(g.queue, dead{row: log[i].row, at: time})
		}
	}
}

// addOne queues an undone version.
func (g *garbage) addOne(row rowNo) {
	g.mu.Lock()
	g.queue = append(g.queue, dead{row: row})
	g.mu.Unlock()
}

// dirty is a table and how many dead versions a transaction left in it.
type dirty struct {
	t *Table
	n int
}

// collect clears about twice the garbage that was just made.
func collect(s *Store, made []dirty) {
	for _, d := range made {
		d.t.collect(s, 2*d.n)
	}
}

func (t *Table) collect(s *Store, want int) {
	g := &t.garbage
	g.mu.Lock()
	waiting := len(g.queue) - g.from
	g.mu.Unlock()
	if waiting < fewDead || s.clock.Load() < g.tried.Load() || !g.working.TryLock() {
		return
	}
	defer g.working.Unlock()
	for want = min(max(want, lotOfDead), waiting); want > 0 && !t.closed.Load(); {
		n := t.clear(s)
		if n == 0 {
			g.tried.Store(s.clock.Load() + retryTicks)
			return
		}
		want -= n
	}
}

// clear takes a lot from the queue through both stages; it returns how many
// versions it took out of the indexes.
func (t *Table) clear(s *Store) int {
	g := &t.garbage
	reads, epoch := s.oldest()
	g.mu.Lock()
	for len(g.limbo) > 0 && g.limbo[0].epoch <= epoch {
		rows := g.limbo[0].rows
		g.limbo = g.limbo[1:]
		g.mu.Unlock()
		for _, no := range rows {
			t.slab.release(no)
		}
		g.mu.Lock()
	}
	var lot []rowNo
	for g.from < len(g.queue) && len(lot) < lotOfDead && g.queue[g.from].at <= reads {
		lot = append(lot, g.queue[g.from].row)
		g.from++
	}
	if g.from == len(g.queue) {
		g.queue, g.from = g.queue[:0], 0
	} else if g.from > 1<<16 && g.from > len(g.queue)/2 {
		g.queue = append([]dead(nil), g.queue[g.from:]...)
		g.from = 0
	}
	g.mu.Unlock()
	if len(lot) == 0 {
		return 0
	}
	t.unindex(lot)
	g.mu.Lock()
	g.limbo = append(g.limbo, limbo{epoch: s.epoch.Add(1), rows: lot})
	g.mu.Unlock()
	return len(lot)
}

// unindex takes dead versions out of the indexes and out of later scans. Every
// index that may still have them is in the present state: a structure is
// changed while nobody clears.
func (t *Table) unindex(rows []rowNo) {
	st := t.state.Load()
	for _, x := range st.indexes {
		if x.hash != nil {
			for _, no := range rows {
				x.unlink(st, &t.rowMemory, no, t.row(no))
			}
			continue
		}
		cmp := func(a, b item) int { return x.compareItems(st, &t.rowMemory, a, b) }
		for _, no := range rows {
			it := x.itemOf(st, no, t.row(no))
			x.mu.Lock()
			x.tree.remove(it, cmp)
			x.mu.Unlock()
		}
	}
	// From now on scans of the table must not take a row for what it was and
	// then for what its memory is used for next.
	for _, no := range rows {
		atomic.StoreUint64(begin(t.row(no)), never)
		t.slab.hide(no)
	}
}
