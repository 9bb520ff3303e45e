package report

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"gostress/pkg/result"
)

// Live is one line on a terminal that follows a run. Its zero value, and one made for what is no
// terminal, writes nothing. It is safe for concurrent use.
type Live struct {
	mu    sync.Mutex
	w     io.Writer
	width func() int
	shown int    // characters of the line on the screen
	text  string // the line as it should be
}

// NewLive returns a live line on w. width, which may be nil, tells the terminal's width in
// characters, 0 for unknown.
func NewLive(w io.Writer, terminal bool, width func() int) *Live {
	if !terminal {
		return &Live{}
	}
	return &Live{w: w, width: width}
}

// Update shows the state of the run.
func (l *Live) Update(p result.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = progress(p)
	l.draw()
}

// Around takes the line away while f writes to the same terminal, and then puts it back.
func (l *Live) Around(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
	f()
	l.draw()
}

// Close takes the line away for good.
func (l *Live) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
	l.w = nil
}

func (l *Live) draw() {
	if l.w == nil || l.text == "" {
		return
	}
	text := l.text
	if l.width != nil {
		// A line that wraps could not be taken away again; the last column stays free, as writing
		// to it wraps on some terminals.
		if width := l.width(); width > 1 && utf8.RuneCountInString(text) > width-1 {
			text = string([]rune(text)[:width-1])
		}
	}
	length := utf8.RuneCountInString(text)
	// Blanks and not an escape sequence: they work on every console. What cannot be shown is not
	// worth an error: the run goes on.
	_, _ = io.WriteString(l.w, "\r"+text+strings.Repeat(" ", max(l.shown-length, 0)))
	l.shown = length
}

func (l *Live) erase() {
	if l.w == nil || l.shown == 0 {
		return
	}
	_, _ = io.WriteString(l.w, "\r"+strings.Repeat(" ", l.shown)+"\r")
	l.shown = 0
}

// progress is the line's text.
func progress(p result.Progress) string {
	if p.Connecting {
		return fmt.Sprintf("connecting: %s open", count(int64(p.Connections)))
	}
	done := count(p.Done)
	if p.Planned > 0 {
		done += "/" + count(p.Planned)
		done += fmt.Sprintf(" %d%%", int64(100*float64(p.Done)/float64(p.Planned)))
	}
	p99 := "-"
	if p.P99 > 0 {
		p99 = fmt.Sprintf("%.2f ms", float64(p.P99)/float64(time.Millisecond))
	}
	left := "?"
	if p.Left >= 0 {
		left = span(p.Left)
	}
	return fmt.Sprintf("%s | %s batches/s | p99 %s | errors %s | left %s", done, rate(p.BatchesPerS), p99, count(p.Errors), left)
}

// span is a duration to the second, with days once there are any.
func span(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	if s >= 86_400 {
		return fmt.Sprintf("%dd %02d:%02d:%02d", s/86_400, s/3600%24, s/60%60, s%60)
	}
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
