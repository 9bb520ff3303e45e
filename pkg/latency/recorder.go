package latency

import (
	"runtime"
	"sync"
	"time"
)

// Recorder takes times from many goroutines into shards and merges them from time to time.
// Times are told apart by a class, a small number that the owner of the Recorder gives a meaning.
type Recorder struct {
	shards []shard
	total  []*Histogram // by class
	last   []*Histogram // by class, of the latest interval
	spare  *Histogram   // empty, to be swapped for a shard's
}

// shard is a mutex and a histogram for each class, made when it is first needed: classes of
// errors usually stay empty, and a histogram is large.
type shard struct {
	mu      sync.Mutex
	byClass []*Histogram
	_       [64]byte // the next shard's mutex lies on another cache line
}

// Handle is a shard as one goroutine sees it.
type Handle struct{ s *shard }

// NewRecorder returns a Recorder of the given number of classes with 2 x GOMAXPROCS shards.
func NewRecorder(classes int) *Recorder {
	r := &Recorder{shards: make([]shard, 2*runtime.GOMAXPROCS(0)), spare: New()}
	for i := range r.shards {
		r.shards[i].byClass = make([]*Histogram, classes)
	}
	for range classes {
		r.total = append(r.total, New())
		r.last = append(r.last, New())
	}
	return r
}

// Handle returns the handle of the i-th worker; workers are dealt out to the shards in turn.
func (r *Recorder) Handle(i int) Handle {
	return Handle{&r.shards[i%len(r.shards)]}
}

// Record adds a time to a class. It allocates when it is the shard's first of that class.
func (h Handle) Record(class int, d time.Duration) {
	h.s.mu.Lock()
	hist := h.s.byClass[class]
	if hist == nil {
		hist = New()
		h.s.byClass[class] = hist
	}
	hist.Record(d)
	h.s.mu.Unlock()
}

// Collect takes what was recorded since the last Collect into Interval and Total. Workers wait
// for no longer than it takes to swap a pointer. One goroutine at a time may call it.
func (r *Recorder) Collect() {
	for class := range r.total {
		last := r.last[class]
		last.Reset()
		for i := range r.shards {
			s := &r.shards[i]
			s.mu.Lock()
			full := s.byClass[class]
			if full == nil || full.Count() == 0 {
				s.mu.Unlock()
				continue
			}
			s.byClass[class] = r.spare
			s.mu.Unlock()
			last.Merge(full)
			full.Reset()
			r.spare = full
		}
		r.total[class].Merge(last)
	}
}

// Interval is what the latest Collect found of a class; the next one overwrites it.
func (r *Recorder) Interval(class int) *Histogram { return r.last[class] }

// Total is what all Collects so far found of a class.
func (r *Recorder) Total(class int) *Histogram { return r.total[class] }
