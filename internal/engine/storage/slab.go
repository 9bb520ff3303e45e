package storage

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Rows are addressed by 32-bit row numbers in units of 16 bytes: the upper 16
// bits name a segment, the lower 16 the place in it. 64 GiB a table.
const (
	unitBits   = 4
	unitBytes  = 1 << unitBits
	placeBits  = 16
	segBytes   = unitBytes << placeBits // 1 MiB
	maxSegs    = 1 << 16
	largeUnits = 7681 // a row above 120 KiB has a segment of its own

	exactClasses = 64 // blocks of up to this many units are reused for exactly their size
	numClasses   = exactClasses + 8*8
	minUnits     = 3 // the smallest block worth keeping when one is split
)

// rowNo is the number of a row's block; 0 is no row.
type rowNo uint32

// segment is a run of blocks. fill is how far blocks have been laid, in units;
// below it every block's size can be read.
type segment struct {
	base  unsafe.Pointer
	mem   []byte
	fill  atomic.Uint32
	owner uint32 // the shard that lays blocks in it
}

type segBlock [256]segment

// slab is the memory of a table's rows.
type slab struct {
	dir    [maxSegs / 256]atomic.Pointer[segBlock]
	shards []slabShard
	count  atomic.Uint32 // segments ever made
	used   atomic.Int64  // bytes laid in blocks
	spare  atomic.Int64  // bytes in free blocks

	mu        sync.Mutex
	freeLarge []uint32 // numbers of large rows' segments, given back
	mapped    *mapping
}

// mapping is what a slab or an index got from the system, apart from its owner
// so that it is given back when the collector finds the owner unreachable:
// then no reader can hold a row.
type mapping struct {
	mu   sync.Mutex
	mems map[uint32][]byte
}

// newMapping makes the mapping of an owner.
func newMapping[T any](owner *T) *mapping {
	m := &mapping{mems: map[uint32][]byte{}}
	runtime.AddCleanup(owner, func(m *mapping) {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, b := range m.mems {
			giveMemory(b)
		}
	}, m)
	return m
}

type slabShard struct {
	mu   sync.Mutex
	seg  *segment
	no   uint32
	room uint32 // units left in seg
	free [numClasses]rowNo
	_    [64]byte
}

func newSlab() *slab {
	n := 1
	for n < runtime.GOMAXPROCS(0) && n < 16 {
		n *= 2
	}
	s := &slab{shards: make([]slabShard, n)}
	s.mapped = newMapping(s)
	return s
}

// row is the block of a row number.
func (s *slab) row(no rowNo) unsafe.Pointer {
	seg := &s.dir[no>>24].Load()[no>>placeBits&255]
	return unsafe.Add(seg.base, uintptr(no&(1<<placeBits-1))<<unitBits)
}

func (s *slab) segment(no uint32) *segment { return &s.dir[no>>8].Load()[no&255] }

// class is the free list of a size, and round the size that its blocks get.
func class(units uint32) (c int, round uint32) {
	if units <= exactClasses {
		return int(units) - 1, units
	}
	shift := uint32(0)
	for units>>shift > 2*exactClasses {
		shift++
	}
	step := uint32(8) << shift
	round = (units + step - 1) / step * step
	if round>>shift > 2*exactClasses {
		return class(round)
	}
	return exactClasses + int(shift)*8 + int((round>>shift-exactClasses)/8) - 1, round
}

// alloc takes a block of at least units for the shard; 0 when there is no
// memory. Its header holds its size and begin 0, which marks it free, until
// the caller stamps it.
func (s *slab) alloc(shard uint32, units uint32) rowNo {
	if units >= largeUnits {
		return s.allocLarge(units)
	}
	c, units := class(units)
	sh := &s.shards[shard&uint32(len(s.shards)-1)]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if no := s.reuse(sh, c, units); no != 0 {
		return no
	}
	if sh.room < units {
		if s.spare.Load() > segBytes {
			if no := s.scavenge(sh, c, units); no != 0 {
				return no
			}
		}
		if !s.extend(sh, shard&uint32(len(s.shards)-1)) {
			return 0
		}
	}
	place := uint32(1)<<placeBits - sh.room
	p := unsafe.Add(sh.seg.base, uintptr(place)<<unitBits)
	setSize(p, units)
	sh.room -= units
	sh.seg.fill.Store(place + units)
	s.used.Add(int64(units) << unitBits)
	return rowNo(sh.no<<placeBits | place)
}

func (s *slab) reuse(sh *slabShard, c int, units uint32) rowNo {
	no := sh.free[c]
	if no == 0 {
		return 0
	}
	p := s.row(no)
	sh.free[c] = rowNo(*freeLink(p))
	s.spare.Add(-int64(size(p)) << unitBits)
	return no
}

// scavenge looks for a block in the other shards, then for a larger one to split.
func (s *slab) scavenge(sh *slabShard, c int, units uint32) rowNo {
	for i := range s.shards {
		o := &s.shards[i]
		if o == sh || !o.mu.TryLock() {
			continue
		}
		no := s.reuse(o, c, units)
		o.mu.Unlock()
		if no != 0 {
			return no
		}
	}
	for larger := c + minUnits; larger < numClasses; larger++ {
		no := s.reuse(sh, larger, 0)
		if no == 0 {
			continue
		}
		p := s.row(no)
		rest := size(p) - units
		if size(p) < units+minUnits {
			return no
		}
		// A scan that runs now sees either the whole free block or its parts.
		q := unsafe.Add(p, uintptr(units)<<unitBits)
		atomic.StoreUint64(begin(q), 0)
		setSize(q, rest)
		setSize(p, units)
		s.push(sh, no+rowNo(units), q)
		return no
	}
	return 0
}

func (s *slab) push(sh *slabShard, no rowNo, p unsafe.Pointer) {
	c, round := class(size(p))
	if round > size(p) { // a remainder between two classes serves the smaller
		c--
	}
	*freeLink(p) = uint64(sh.free[c])
	sh.free[c] = no
	s.spare.Add(int64(size(p)) << unitBits)
}

// extend gives the shard a new segment.
func (s *slab) extend(sh *slabShard, shard uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	no, ok := s.newSegment(segBytes, shard)
	if !ok {
		return false
	}
	sh.seg, sh.no, sh.room = s.segment(no), no, 1<<placeBits-1 // place 0 stays free: row number 0 is no row
	sh.seg.fill.Store(1)
	return true
}

func (s *slab) newSegment(bytes int, shard uint32) (uint32, bool) {
	no := s.count.Load()
	recycled := false
	if n := len(s.freeLarge); n > 0 && bytes != segBytes {
		no, recycled = s.freeLarge[n-1], true
	}
	if no >= maxSegs {
		return 0, false
	}
	mem := takeMemory(bytes)
	if mem == nil {
		return 0, false
	}
	if s.dir[no>>8].Load() == nil {
		s.dir[no>>8].Store(new(segBlock))
	}
	seg := s.segment(no)
	seg.mem, seg.base, seg.owner = mem, unsafe.Pointer(unsafe.SliceData(mem)), shard
	s.mapped.mu.Lock()
	s.mapped.mems[no] = mem
	s.mapped.mu.Unlock()
	if recycled {
		s.freeLarge = s.freeLarge[:len(s.freeLarge)-1]
	} else {
		s.count.Add(1)
	}
	return no, true
}

func (s *slab) allocLarge(units uint32) rowNo {
	s.mu.Lock()
	defer s.mu.Unlock()
	no, ok := s.newSegment(int(units+1)<<unitBits, 0)
	if !ok {
		return 0
	}
	seg := s.segment(no)
	setSize(unsafe.Add(seg.base, unitBytes), units)
	seg.fill.Store(1 + units)
	s.used.Add(int64(units) << unitBits)
	return rowNo(no<<placeBits | 1)
}

// hide takes a dead row out of the scans that begin from now on, so that a
// large row's segment can go once the earlier ones have ended.
func (s *slab) hide(no rowNo) {
	if size(s.row(no)) >= largeUnits {
		s.segment(uint32(no >> placeBits)).fill.Store(0)
	}
}

// release puts a row's block among the free ones. No reader may hold the row,
// and every scan must have begun after hide.
func (s *slab) release(no rowNo) {
	p := s.row(no)
	seg := s.segment(uint32(no >> placeBits))
	if size(p) >= largeUnits {
		s.releaseLarge(uint32(no>>placeBits), seg)
		return
	}
	sh := &s.shards[seg.owner]
	sh.mu.Lock()
	atomic.StoreUint64(begin(p), 0)
	s.push(sh, no, p)
	sh.mu.Unlock()
}

func (s *slab) releaseLarge(no uint32, seg *segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used.Add(-int64(size(unsafe.Add(seg.base, unitBytes))) << unitBits)
	mem := seg.mem
	seg.mem, seg.base = nil, nil
	s.mapped.mu.Lock()
	delete(s.mapped.mems, no)
	s.mapped.mu.Unlock()
	giveMemory(mem)
	s.freeLarge = append(s.freeLarge, no)
}

// each calls fn with every block that is not free, in the order of memory,
// until it returns false. Blocks laid meanwhile may be met or not.
func (s *slab) each(fn func(no rowNo, p unsafe.Pointer) bool) {
	for n := range s.count.Load() {
		seg := s.segment(n)
		for place := uint32(1); place < seg.fill.Load(); {
			p := unsafe.Add(seg.base, uintptr(place)<<unitBits)
			units := size(p)
			if atomic.LoadUint64(begin(p)) != 0 && !fn(rowNo(n<<placeBits|place), p) {
				return
			}
			place += units
		}
	}
}
