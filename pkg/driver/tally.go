package driver

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"gostress/pkg/latency"
	"gostress/pkg/result"
)

// outcome is what became of a batch or an iteration: one of five, which add up to what was attempted.
type outcome uint8

const (
	good outcome = iota
	failed
	inDoubt
	cancelled
	skipped
	outcomes
)

// counter is something that is counted besides.
type counter uint8

const (
	rowsReceived counter = iota
	errorMessages
	timeouts
	openTrans
	lostConnections
	reconnects
	retries
	throttledAnswers
	injectedCancels
	injectedDisconnects
	disconnects
	rolledBack
	lateStarts
	skippedLate
	counters
)

// tally is what was counted and timed in some time. Its histograms are made when they are first
// needed: a histogram is large, and classes of errors usually stay empty.
type tally struct {
	statements []statementTally
	iterations timed
	counters   [counters]int64
	errors     map[int32]int64    // messages by number
	startError *latency.Histogram // of arrivals for which a connection was free
}

// timed is a number of things by what became of them, and the times of those that have one.
type timed struct {
	n       [outcomes]int64
	latency *latency.Histogram // good, from the intended start
	service *latency.Histogram // good, in an open loop
	failed  *latency.Histogram
}

type statementTally struct {
	timed
	rows     int64
	failedBy []*latency.Histogram // by the index of a result.Class
}

func newTally(statements int) *tally {
	return &tally{statements: make([]statementTally, statements), errors: map[int32]int64{}}
}

func record(h **latency.Histogram, d time.Duration) {
	if *h == nil {
		*h = latency.New()
	}
	(*h).Record(d)
}

func merge(to **latency.Histogram, from *latency.Histogram) {
	if from == nil || from.Count() == 0 {
		return
	}
	if *to == nil {
		*to = latency.New()
	}
	(*to).Merge(from)
}

func (t *timed) add(o *timed) {
	for i := range t.n {
		t.n[i] += o.n[i]
	}
	merge(&t.latency, o.latency)
	merge(&t.service, o.service)
	merge(&t.failed, o.failed)
}

func (t *timed) attempted() int64 {
	return t.n[good] + t.n[failed] + t.n[inDoubt] + t.n[cancelled] + t.n[skipped]
}

// add adds everything of another tally.
func (t *tally) add(o *tally) {
	for i := range t.statements {
		to, from := &t.statements[i], &o.statements[i]
		to.timed.add(&from.timed)
		to.rows += from.rows
		for class, h := range from.failedBy {
			if h != nil && h.Count() > 0 {
				merge(to.class(class), h)
			}
		}
	}
	t.iterations.add(&o.iterations)
	for i := range t.counters {
		t.counters[i] += o.counters[i]
	}
	for number, n := range o.errors {
		t.errors[number] += n
	}
	merge(&t.startError, o.startError)
}

// class is the place of a class's histogram.
func (s *statementTally) class(i int) **latency.Histogram {
	if s.failedBy == nil {
		s.failedBy = make([]*latency.Histogram, len(result.Classes()))
	}
	return &s.failedBy[i]
}

func reset(h *latency.Histogram) {
	if h != nil {
		h.Reset()
	}
}

func (t *timed) reset() {
	t.n = [outcomes]int64{}
	reset(t.latency)
	reset(t.service)
	reset(t.failed)
}

// reset empties the tally and keeps its histograms.
func (t *tally) reset() {
	for i := range t.statements {
		s := &t.statements[i]
		s.timed.reset()
		s.rows = 0
		for _, h := range s.failedBy {
			reset(h)
		}
	}
	t.iterations.reset()
	t.counters = [counters]int64{}
	clear(t.errors)
	reset(t.startError)
}

// batches is the sum over all statements.
func (t *tally) batches() (sum [outcomes]int64) {
	for i := range t.statements {
		for o, n := range t.statements[i].n {
			sum[o] += n
		}
	}
	return sum
}

// goodBatches is the distribution of all statements' good batches; service is nil in a closed loop.
func (t *tally) goodBatches() (all, service, bad *latency.Histogram) {
	if len(t.statements) == 1 {
		s := &t.statements[0]
		return orEmpty(s.latency), s.service, orEmpty(s.failed)
	}
	for i := range t.statements {
		s := &t.statements[i]
		merge(&all, s.latency)
		merge(&service, s.service)
		merge(&bad, s.failed)
	}
	return orEmpty(all), service, orEmpty(bad)
}

// orEmpty makes an empty distribution of none.
func orEmpty(h *latency.Histogram) *latency.Histogram {
	if h == nil {
		return latency.New()
	}
	return h
}

// shards are tallies that workers share, and the collector swaps. What is counted of a batch is
// counted in one of them at once, so that every collection adds up.
type shards struct {
	all   []shard
	spare *tally
}

type shard struct {
	mu sync.Mutex
	t  *tally
	_  [64]byte // the next shard's mutex lies on another cache line
}

func newShards(statements int) *shards {
	s := &shards{all: make([]shard, 2*runtime.GOMAXPROCS(0)), spare: newTally(statements)}
	for i := range s.all {
		s.all[i].t = newTally(statements)
	}
	return s
}

// collect moves what was counted since the last time into a tally. A worker waits for no longer than
// it takes to swap a pointer.
func (s *shards) collect(into *tally) {
	for i := range s.all {
		sh := &s.all[i]
		sh.mu.Lock()
		full := sh.t
		sh.t = s.spare
		sh.mu.Unlock()
		into.add(full)
		full.reset()
		s.spare = full
	}
}

// count adds to a counter.
func (w *worker) count(c counter, n int64) {
	w.shard.mu.Lock()
	w.shard.t.counters[c] += n
	w.shard.mu.Unlock()
}

// countBatch adds a batch that has no time: one that was cancelled or skipped, or that the guard
// accounts for.
func (w *worker) countBatch(statement int, o outcome) {
	w.shard.mu.Lock()
	w.shard.t.statements[statement].n[o]++
	w.shard.mu.Unlock()
}

// goodBatch adds a batch that succeeded.
func (w *worker) goodBatch(statement int, latency, service time.Duration, rows int64) {
	sh := w.shard
	sh.mu.Lock()
	s := &sh.t.statements[statement]
	s.n[good]++
	record(&s.latency, latency)
	if w.run.open {
		record(&s.service, service)
	}
	s.rows += rows
	sh.t.counters[rowsReceived] += rows
	sh.mu.Unlock()
}

// badBatch adds a batch that failed or is in doubt, with its service time.
func (w *worker) badBatch(statement int, o outcome, class result.Class, service time.Duration) {
	w.shard.mu.Lock()
	s := &w.shard.t.statements[statement]
	s.n[o]++
	record(&s.failed, service)
	record(s.class(slices.Index(result.Classes(), class)), service)
	w.shard.mu.Unlock()
}

// countRows adds rows of a batch that did not simply succeed.
func (w *worker) countRows(statement int, rows int64) {
	if rows == 0 {
		return
	}
	w.shard.mu.Lock()
	w.shard.t.statements[statement].rows += rows
	w.shard.t.counters[rowsReceived] += rows
	w.shard.mu.Unlock()
}

// countIteration adds an iteration; timed says that latency and service are its times.
func (w *worker) countIteration(o outcome, timed bool, latency, service time.Duration) {
	w.shard.mu.Lock()
	it := &w.shard.t.iterations
	it.n[o]++
	switch {
	case !timed:
	case o == good:
		record(&it.latency, latency)
		if w.run.open {
			record(&it.service, service)
		}
	default:
		record(&it.failed, service)
	}
	if w.openTran && o != skipped {
		w.shard.t.counters[openTrans]++
	}
	w.shard.mu.Unlock()
}
