package ostress

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gostress/pkg/driver"
)

// How many bytes of rows and messages wait for their files: of all connections
// together, and of one at most and at least. A connection that has as many waits;
// one row more than that can be on the way, however large.
const (
	queueAll   = 64 << 20
	queueMost  = 4 << 20
	queueLeast = 16 << 10
)

// Format says what result files look like.
type Format struct {
	XML    bool   // -fx
	Locale Locale // -L; XML has the neutral forms always
}

// Results are the result files of a run: one for each connection of each unit.
// They are written by goroutines of their own, so that rendering is off the
// timed path; the time a connection had to wait for them is counted.
type Results struct {
	dir    *Dir
	format Format
	mu     sync.Mutex   // guards dir's claims
	open   atomic.Int64 // sinks
	waits  atomic.Int64
	waited atomic.Int64 // nanoseconds
}

// NewResults writes into dir.
func NewResults(dir *Dir, format Format) *Results { return &Results{dir: dir, format: format} }

// Base is the name of a unit's result files: the input file's without its
// ending, "query" for -Q.
func Base(unit string) string {
	b := filepath.Base(strings.ReplaceAll(unit, `\`, "/"))
	if ext := filepath.Ext(b); ext != b {
		b = strings.TrimSuffix(b, ext)
	}
	if b == "" || b == "." || b == "/" {
		return "query"
	}
	return b
}

// layout writes a result file. Its first error is told by flush and end.
type layout interface {
	row(values []any)
	event(e driver.SinkEvent)
	// broke says that an answer broke off.
	broke(err error)
	// flush brings to the file what has been written.
	flush() error
	// end brings the file to its end, and leaves it open.
	end() error
}

// create makes a connection's file and its beginning.
func (r *Results) create(base string, conn int) (*os.File, layout, error) {
	suffix, ext := "", ".out"
	if conn > 0 {
		suffix = fmt.Sprintf("_%d", conn)
	}
	if r.format.XML {
		ext = ".xml"
	}
	r.mu.Lock()
	f, err := r.dir.create(base, suffix, ext)
	r.mu.Unlock()
	if err != nil {
		return nil, nil, err
	}
	var l layout
	if r.format.XML {
		l = newXML(f, base, conn)
	} else {
		l = newText(f, r.format.Locale)
	}
	if err := l.flush(); err != nil {
		_ = f.Close()
		return nil, nil, fileError(f.Name(), err)
	}
	return f, l, nil
}

func fileError(name string, err error) error {
	return fmt.Errorf("cannot write the result file %s: %w", name, plain(err))
}

// Empty makes the file of a connection that writes nothing (-q): of text it is
// the byte order mark alone, of XML a document without results.
func (r *Results) Empty(base string, conn int) error {
	f, l, err := r.create(base, conn)
	if err != nil {
		return err
	}
	err = l.end()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fileError(f.Name(), err)
	}
	return nil
}

// Sink makes the file of a connection that writes its results.
func (r *Results) Sink(base string, conn int) (driver.Sink, error) {
	f, l, err := r.create(base, conn)
	if err != nil {
		return nil, err
	}
	s := &fileSink{results: r, name: f.Name(), queue: newQueue(), done: make(chan struct{})}
	r.open.Add(1)
	go s.write(l, f)
	return s, nil
}

// Waits says how often connections waited for their files, and how long.
func (r *Results) Waits() (int64, time.Duration) {
	return r.waits.Load(), time.Duration(r.waited.Load())
}

// limit is how many bytes of one connection may wait.
func (r *Results) limit() int64 {
	return min(max(queueAll/max(r.open.Load(), 1), queueLeast), queueMost)
}

// fileSink is a connection's file. What it is given is written by its own goroutine.
type fileSink struct {
	results *Results
	name    string
	queue   *queue
	done    chan struct{}
	once    sync.Once
	failed  atomic.Pointer[error]
}

func (s *fileSink) Row(values []any) error {
	row := make([]any, len(values))
	for i, v := range values {
		if b, ok := v.([]byte); ok {
			// A value of no bytes is not NULL.
			v = append(make([]byte, 0, len(b)), b...)
		}
		row[i] = v
	}
	return s.put(item{row: row})
}

func (s *fileSink) Event(e driver.SinkEvent) error { return s.put(item{event: &e}) }

// Broke implements driver.Breaker.
func (s *fileSink) Broke(err error) { _ = s.put(item{broke: err}) }

func (s *fileSink) put(it item) error {
	if p := s.failed.Load(); p != nil {
		return *p
	}
	if waited := s.queue.put(it, s.results.limit()); waited > 0 {
		s.results.waits.Add(1)
		s.results.waited.Add(int64(waited))
	}
	return nil
}

// Close waits until all is written. The driver calls it when the worker ends.
func (s *fileSink) Close() error {
	s.once.Do(s.queue.close)
	<-s.done
	if p := s.failed.Load(); p != nil {
		return *p
	}
	return nil
}

// resultFile is what a file must do for its goroutine.
type resultFile interface {
	Stat() (os.FileInfo, error)
	Close() error
}

func (s *fileSink) write(l layout, f resultFile) {
	defer close(s.done)
	defer s.results.open.Add(-1)
	items, more := s.queue.take(nil)
	for ; more; items, more = s.queue.take(items) {
		for i := range items {
			switch it := &items[i]; {
			case it.row != nil:
				l.row(it.row)
			case it.event != nil:
				l.event(*it.event)
			default:
				l.broke(it.broke)
			}
		}
		s.fail(l.flush())
	}
	s.fail(l.end())
	s.fail(stands(s.name, f))
	s.fail(f.Close())
}

func (s *fileSink) fail(err error) {
	if err == nil || s.failed.Load() != nil {
		return
	}
	err = fileError(s.name, err)
	s.failed.Store(&err)
}

// stands fails when an open file is no longer to be found under its name.
func stands(name string, f interface{ Stat() (os.FileInfo, error) }) error {
	open, err := f.Stat()
	if err != nil {
		return err
	}
	if named, err := os.Lstat(name); err != nil || !os.SameFile(open, named) {
		return errRemoved
	}
	return nil
}
