package storage

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

const (
	slotsInBlock = 1 << 10
	maxSlots     = 1 << 20
)

type slotBlock [slotsInBlock]slot

// Store holds the transactions of one database's tables and their clock.
type Store struct {
	clock atomic.Uint64 // time of the last commit; a snapshot is a reading of it
	epoch atomic.Uint64 // moves on when rows were taken out of the indexes
	ids   atomic.Uint64

	commits sync.Mutex // held while a commit takes its time

	slots [maxSlots / slotsInBlock]atomic.Pointer[slotBlock]
	made  atomic.Uint32 // slots ever used
	free  struct {
		sync.Mutex
		list []uint32
	}
	seed uint64 // the first statement number of every slot

	waits   sync.Mutex // guards waiters and who waits for whom
	waiting map[uint32]*waiter
}

// NewStore makes an empty store.
func NewStore() *Store {
	s := &Store{waiting: map[uint32]*waiter{}}
	s.clock.Store(1)
	s.epoch.Store(1)
	// Local tables meet transactions of several stores; a random start keeps
	// their statement numbers apart.
	s.seed = rand.Uint64() & (stmtMask >> 2)
	return s
}

func (s *Store) slot(no uint32) *slot {
	return &s.slots[no/slotsInBlock].Load()[no%slotsInBlock]
}

// takeSlot gives a transaction its slot.
func (s *Store) takeSlot() (uint32, *slot) {
	s.free.Lock()
	defer s.free.Unlock()
	if n := len(s.free.list); n > 0 {
		no := s.free.list[n-1]
		s.free.list = s.free.list[:n-1]
		return no, s.slot(no)
	}
	no := s.made.Load()
	if no == maxSlots {
		// A million open transactions: every connection would hold many.
		panic("storage: more than 1048576 transactions are open in one database")
	}
	if s.slots[no/slotsInBlock].Load() == nil {
		s.slots[no/slotsInBlock].Store(new(slotBlock))
	}
	s.made.Store(no + 1)
	sl := s.slot(no)
	sl.next = s.seed
	return no, sl
}

func (s *Store) giveSlot(no uint32) {
	s.free.Lock()
	s.free.list = append(s.free.list, no)
	s.free.Unlock()
}

// publish returns the time until which a statement that begins now reads, and
// says so to collectors, unless the transaction keeps an earlier snapshot. What
// it publishes is at most what it returns: a collector that looked before the
// store had looked at an earlier clock.
func (s *Store) publish(sl *slot, keep bool) (reads uint64) {
	sl.epoch.Store(s.epoch.Load())
	if !keep {
		sl.reads.Store(s.clock.Load())
	}
	return s.clock.Load()
}

// oldest returns a time at or before which no transaction reads an ended
// version, and an epoch that every running statement has seen.
func (s *Store) oldest() (reads, epoch uint64) {
	reads, epoch = s.clock.Load(), s.epoch.Load()
	for no := range s.made.Load() {
		sl := s.slot(no)
		if r := sl.reads.Load(); r != 0 {
			reads = min(reads, r)
			epoch = min(epoch, sl.epoch.Load())
		}
	}
	return reads, epoch
}

// Begin starts a transaction and its first statement.
func (s *Store) Begin(iso Isolation) *Tx {
	no, sl := s.takeSlot()
	tx := &Tx{store: s, slotNo: no, slot: sl, iso: iso, id: s.ids.Add(1), lockTimeout: -1}
	sl.session.Store(0)
	sl.state.Store(active)
	tx.log = sl.log[:0]
	tx.reads = s.publish(sl, false)
	if iso != ReadCommitted {
		tx.snap = tx.reads
	}
	tx.nextStamp()
	return tx
}
