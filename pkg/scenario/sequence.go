package scenario

import (
	"container/heap"
	"context"
	"math"
	"sync"
)

// sequencer keeps the order of a recording among the files of a replay. A command that began
// (SEQ) when another had ended (NEXTSEQ) starts after that one has ended here too; commands that
// overlapped may overlap.
//
// For each file it knows the least end of the commands that have not ended; a command may start
// when the least of those over all files is above its number. Nobody waits for ever: of the
// commands that wait, the one with the least number waits for none of the others, since in each
// file numbers grow and every end is above its own start.
type sequencer struct {
	mu      sync.Mutex
	ends    []int64 // a tree: the least of the two below each, the files being its leaves
	waiting waitList
}

// noEnd is the end of a file that has nothing more to run.
const noEnd = math.MaxInt64

func newSequencer(files int) *sequencer {
	leaves := 1
	for leaves < files {
		leaves *= 2
	}
	s := &sequencer{ends: make([]int64, 2*leaves)}
	for i := range s.ends {
		s.ends[i] = noEnd
	}
	return s
}

// set says that the least end of what a file has still to run is end.
func (s *sequencer) set(file int, end int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := len(s.ends)/2 + file
	s.ends[i] = end
	for i > 1 {
		i /= 2
		s.ends[i] = min(s.ends[2*i], s.ends[2*i+1])
	}
	for len(s.waiting) > 0 && s.waiting[0].seq < s.least() {
		close(heap.Pop(&s.waiting).(waiter).turn)
	}
}

// least is the least end over all files.
func (s *sequencer) least() int64 { return s.ends[1] }

// leave gives up all numbers that a file still has.
func (s *sequencer) leave(file int) { s.set(file, noEnd) }

// wait returns true when the command with the given number may start, or false when ctx ends
// before.
func (s *sequencer) wait(ctx context.Context, seq int64) bool {
	s.mu.Lock()
	if seq < s.least() {
		s.mu.Unlock()
		return ctx.Err() == nil
	}
	w := waiter{seq, make(chan struct{})}
	heap.Push(&s.waiting, w)
	s.mu.Unlock()
	select {
	case <-w.turn:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

type waiter struct {
	seq  int64
	turn chan struct{}
}

// waitList is a heap with the least number at its head.
type waitList []waiter

func (l waitList) Len() int           { return len(l) }
func (l waitList) Less(i, j int) bool { return l[i].seq < l[j].seq }
func (l waitList) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *waitList) Push(w any)        { *l = append(*l, w.(waiter)) }
func (l *waitList) Pop() any {
	last := len(*l) - 1
	w := (*l)[last]
	*l = (*l)[:last]
	return w
}
