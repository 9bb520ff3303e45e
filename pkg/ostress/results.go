package ostress

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf16"

	"gostress/pkg/driver"
)

// Queue is how many rows and messages a connection's results may lag behind.
const Queue = 256

// Results are the result files of a run: one for each connection of each unit.
// They are written by goroutines of their own, so that rendering is off the
// timed path; the time a connection had to wait for them is counted.
type Results struct {
	dir    *Dir
	mu     sync.Mutex // guards dir's claims
	waits  atomic.Int64
	waited atomic.Int64 // nanoseconds
}

// NewResults writes into dir.
func NewResults(dir *Dir) *Results { return &Results{dir: dir} }

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

func (r *Results) create(base string, conn int) (*os.File, error) {
	if conn > 0 {
		base = fmt.Sprintf("%s_%d", base, conn)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f, err := r.dir.Create(base, ".out")
	if err != nil {
		return nil, err
	}
	if _, err := f.Write([]byte{0xFF, 0xFE}); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("cannot write the result file %s: %w", f.Name(), plain(err))
	}
	return f, nil
}

// Empty makes the file of a connection that writes nothing (-q): it holds the
// byte order mark alone.
func (r *Results) Empty(base string, conn int) error {
	f, err := r.create(base, conn)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("cannot write the result file %s: %w", f.Name(), plain(err))
	}
	return nil
}

// Sink makes the file of a connection that writes its results.
func (r *Results) Sink(base string, conn int) (driver.Sink, error) {
	f, err := r.create(base, conn)
	if err != nil {
		return nil, err
	}
	s := &fileSink{results: r, name: f.Name(), queue: make(chan item, Queue), done: make(chan struct{})}
	go s.write(f)
	return s, nil
}

// Waits says how often connections waited for their files, and how long.
func (r *Results) Waits() (int64, time.Duration) {
	return r.waits.Load(), time.Duration(r.waited.Load())
}

// item is a row or an event on its way to a file.
type item struct {
	row   []any
	event driver.SinkEvent
}

type fileSink struct {
	results *Results
	name    string
	queue   chan item
	done    chan struct{}
	once    sync.Once
	failed  atomic.Pointer[error]
}

func (s *fileSink) Row(values []any) error {
	row := make([]any, len(values))
	for i, v := range values {
		if b, ok := v.([]byte); ok {
			v = append([]byte(nil), b...)
		}
		row[i] = v
	}
	return s.put(item{row: row})
}

func (s *fileSink) Event(e driver.SinkEvent) error { return s.put(item{event: e}) }

func (s *fileSink) put(it item) error {
	if p := s.failed.Load(); p != nil {
		return *p
	}
	select {
	case s.queue <- it:
		return nil
	default:
	}
	start := time.Now()
	s.queue <- it
	s.results.waits.Add(1)
	s.results.waited.Add(int64(time.Since(start)))
	return nil
}

// Close waits until all is written. The driver calls it when the worker ends.
func (s *fileSink) Close() error {
	s.once.Do(func() { close(s.queue) })
	<-s.done
	if p := s.failed.Load(); p != nil {
		return *p
	}
	return nil
}

func (s *fileSink) write(f *os.File) {
	defer close(s.done)
	w := &utf16Writer{w: f}
	r := renderer{w: w}
	for it := range s.queue {
		if it.row != nil {
			r.row(it.row)
		} else {
			r.event(it.event)
		}
		if len(s.queue) == 0 {
			w.flush()
		}
		if w.err != nil {
			s.fail(w.err)
		}
	}
	w.flush()
	if err := f.Close(); w.err == nil {
		w.err = err
	}
	if w.err != nil {
		s.fail(w.err)
	}
}

func (s *fileSink) fail(err error) {
	e := fmt.Errorf("the result file %s: %w", s.name, plain(err))
	s.failed.CompareAndSwap(nil, &e)
}

// utf16Writer buffers text and writes it as UTF-16LE with Windows line ends.
// After its first error it drops what comes.
type utf16Writer struct {
	w   io.Writer
	buf []byte
	err error
}

const flushAt = 32 << 10

func (u *utf16Writer) WriteString(s string) {
	if u.err != nil {
		return
	}
	for _, c := range s {
		if c == '\n' {
			u.buf = append(u.buf, '\r', 0)
		}
		if c < 0x10000 {
			u.buf = append(u.buf, byte(c), byte(c>>8))
			continue
		}
		hi, lo := utf16.EncodeRune(c)
		u.buf = append(u.buf, byte(hi), byte(hi>>8), byte(lo), byte(lo>>8))
	}
	if len(u.buf) >= flushAt {
		u.flush()
	}
}

func (u *utf16Writer) flush() {
	if u.err == nil && len(u.buf) > 0 {
		_, u.err = u.w.Write(u.buf)
	}
	u.buf = u.buf[:0]
}
