package exec

import (
	"sort"
	"sync"
	"sync/atomic"

	"gostress/internal/engine/catalog"
)

// planKey is what the plan of a batch depends on besides the catalog.
type planKey struct {
	db   *catalog.Database
	opts uint8 // settings.planBits
	text string
	// params is the parameter list of sp_executesql, "" for a batch.
	params string
	kind   programKind
}

// planCache keeps compiled batches. A lookup takes no lock and, once the cache
// is warm, writes nothing that sessions share. The least recently used quarter
// goes when it is full; "recently" is counted in insertions.
type planCache struct {
	m    sync.Map // planKey -> *planEntry
	gen  atomic.Int64
	mu   sync.Mutex // held by insertions
	size int
	max  int
}

type planEntry struct {
	prog *program
	used atomic.Int64
}

func newPlanCache(n int) *planCache { return &planCache{max: max(n, 4)} }

func (c *planCache) get(k planKey) *program {
	v, ok := c.m.Load(k)
	if !ok {
		return nil
	}
	e := v.(*planEntry)
	if g := c.gen.Load(); e.used.Load() != g {
		e.used.Store(g)
	}
	return e.prog
}

func (c *planCache) put(k planKey, p *program) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &planEntry{prog: p}
	e.used.Store(c.gen.Add(1))
	if _, had := c.m.Swap(k, e); had {
		return
	}
	if c.size++; c.size > c.max {
		c.evict()
	}
}

func (c *planCache) evict() {
	type aged struct {
		k    planKey
		used int64
	}
	var all []aged
	c.m.Range(func(k, v any) bool {
		all = append(all, aged{k.(planKey), v.(*planEntry).used.Load()})
		return true
	})
	sort.Slice(all, func(i, j int) bool { return all[i].used < all[j].used })
	for _, a := range all[:max(1, len(all)/4)] {
		c.m.Delete(a.k)
		c.size--
	}
}

// clear empties the cache (DBCC FREEPROCCACHE).
func (c *planCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.m.Clear()
	c.size = 0
}
