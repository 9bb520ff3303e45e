package storage

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// index is one index of a table. A hash index keeps the first row of each
// bucket's chain and the rows link each other; an ordered one is a tree.
type index struct {
	def IndexDef

	hash  *buckets // or nil
	next  uintptr  // where in a row its link is
	prev  uintptr  // where the link back is; 0 for unique indexes, whose chains are short
	mu    sync.RWMutex
	tree  *btree // or nil; guarded by mu
	exact bool   // ordered: the items' prefixes hold the whole key

	prefixed int // ordered: how many key columns the prefix has something of
}

// newIndex makes the structure of an index; links is where its links in the
// row begin, and it returns how many bytes they take.
func newIndex(def IndexDef, links uint32, fields []field, cols []Column, local bool) (*index, uint32) {
	x := &index{def: def}
	if def.Kind == Hash {
		x.hash = newBuckets(def.Buckets, local)
		x.next = uintptr(offLinks + links)
		if def.Unique {
			return x, 4
		}
		x.prev = x.next + 4
		return x, 8
	}
	x.asTree(fields, cols)
	return x, 0
}

func (x *index) asTree(fields []field, cols []Column) {
	x.tree = newBTree()
	used := 0
	for _, c := range x.def.Columns {
		w := fields[c].width(cols[c].Nullable)
		if w == 0 || used >= prefixBytes {
			return
		}
		x.prefixed++
		used += w
	}
	x.exact = used <= prefixBytes
}

// buckets are the heads of a hash index's chains, in chunks that are taken
// when a first row falls into them.
type buckets struct {
	mask   uint64
	chunks []atomic.Pointer[uint32] // the first head of each chunk
	count  int                      // heads in a chunk
	taken  atomic.Int64             // bytes
	mu     sync.Mutex
	mems   *mapping
	local  bool
}

const (
	chunkBits = 18 // heads in a chunk: 1 MiB
	nearBits  = 10 // neighbouring numbers share a page of heads
)

func newBuckets(n int, local bool) *buckets {
	size := 8
	for size < n && size < 1<<31 {
		size *= 2
	}
	h := &buckets{mask: uint64(size - 1), count: min(size, 1<<chunkBits), local: local}
	h.chunks = make([]atomic.Pointer[uint32], size/h.count)
	return h
}

// bucket is the bucket of a hash. The hash of a number key is the number, and
// runs of 1024 numbers stay within a page, each in a bucket of its own, so
// that ascending keys fill the memory in order; the runs themselves, and the
// places in them, are scattered.
func (h *buckets) bucket(hash uint64) uint64 {
	near := uint64(1<<nearBits - 1)
	run := hash >> nearBits
	far := run * 0x9E3779B97F4A7C15
	far ^= far >> 32
	low := (hash ^ far>>40 ^ far) & near
	return (far*0xD6E8FEB86659FD93>>20<<nearBits | low) & h.mask
}

// head is the head of a hash's chain; nil when no row fell near it and make is
// false, or when there is no memory.
func (h *buckets) head(hash uint64, make bool) *uint32 {
	b := h.bucket(hash)
	c := &h.chunks[b>>chunkBits]
	first := c.Load()
	if first == nil {
		if !make {
			return nil
		}
		if first = h.take(c, int(b>>chunkBits)); first == nil {
			return nil
		}
	}
	return (*uint32)(unsafe.Add(unsafe.Pointer(first), (b&(1<<chunkBits-1))*4))
}

func (h *buckets) take(c *atomic.Pointer[uint32], no int) *uint32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if first := c.Load(); first != nil {
		return first
	}
	var first *uint32
	if h.local || h.count*4 < 1<<16 {
		first = unsafe.SliceData(make([]uint32, h.count))
	} else {
		mem := takeMemory(h.count * 4)
		if mem == nil {
			return nil
		}
		if h.mems == nil {
			h.mems = newMapping(h)
		}
		h.mems.mems[uint32(no)] = mem
		first = (*uint32)(unsafe.Pointer(unsafe.SliceData(mem)))
	}
	h.taken.Add(int64(h.count) * 4)
	c.Store(first)
	return first
}

// link puts a row in front of its chain and returns the row now behind it.
// Others may link at the same time.
func (x *index) link(st *tableState, m *rowMemory, no rowNo, p unsafe.Pointer) (behind rowNo, ok bool) {
	head := x.hash.head(x.hashRow(st, p), true)
	if head == nil {
		return 0, false
	}
	if x.prev != 0 {
		atomic.StoreUint32(link(p, x.prev), 0)
	}
	for {
		old := atomic.LoadUint32(head)
		atomic.StoreUint32(link(p, x.next), old)
		if !atomic.CompareAndSwapUint32(head, old, uint32(no)) {
			continue
		}
		if x.prev != 0 && old != 0 {
			// Until this is stored, unlink finds the row before it by
			// walking. old cannot be used again before this operation's
			// epoch ends, even if it is unlinked now.
			atomic.StoreUint32(link(m.row(rowNo(old)), x.prev), uint32(no))
		}
		return rowNo(old), true
	}
}

// unlink takes a row out of its chain. The row keeps its own link, for readers
// that stand on it. Only one goroutine unlinks in a table at a time.
func (x *index) unlink(st *tableState, m *rowMemory, no rowNo, p unsafe.Pointer) {
	head := x.hash.head(x.hashRow(st, p), false)
	if head == nil {
		return
	}
	next := atomic.LoadUint32(link(p, x.next))
	for {
		first := atomic.LoadUint32(head)
		if first == uint32(no) {
			if !atomic.CompareAndSwapUint32(head, first, next) {
				continue
			}
			if x.prev != 0 && next != 0 {
				atomic.CompareAndSwapUint32(link(m.row(rowNo(next)), x.prev), uint32(no), 0)
			}
			return
		}
		before := x.before(m, rowNo(first), no, p)
		if before == 0 {
			return // never linked
		}
		atomic.StoreUint32(link(m.row(before), x.next), next)
		if x.prev != 0 && next != 0 {
			atomic.StoreUint32(link(m.row(rowNo(next)), x.prev), uint32(before))
		}
		return
	}
}

// before is the row whose link leads to no, 0 when there is none.
func (x *index) before(m *rowMemory, first, no rowNo, p unsafe.Pointer) rowNo {
	if x.prev != 0 {
		if b := atomic.LoadUint32(link(p, x.prev)); b != 0 && atomic.LoadUint32(link(m.row(rowNo(b)), x.next)) == uint32(no) {
			return rowNo(b)
		}
	}
	for b := first; b != 0; {
		next := rowNo(atomic.LoadUint32(link(m.row(b), x.next)))
		if next == no {
			return b
		}
		b = next
	}
	return 0
}

// clear empties the index of a table that has one owner.
func (x *index) clear() {
	if x.tree != nil {
		x.tree.reset()
		return
	}
	if x.hash.count > 1<<12 {
		x.hash = newBuckets(x.def.Buckets, true)
		return
	}
	for i := range x.hash.chunks {
		if first := x.hash.chunks[i].Load(); first != nil {
			clear(unsafe.Slice(first, x.hash.count))
		}
	}
}

// bytes is the memory of the index apart from the rows.
func (x *index) bytes() int64 {
	if x.hash != nil {
		return x.hash.taken.Load() + int64(len(x.hash.chunks))*8
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	return int64(x.tree.nodes) * nodeBytes
}
