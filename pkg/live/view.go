// Package live shows a run while it goes on: as a panel on a terminal, as lines of words, or as JSON
// lines. Rendering is apart from writing: Panel, Line and JSON are functions of a run's state.
package live

import (
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"gostress/pkg/result"
)

// Mode is how a run is shown.
type Mode uint8

const (
	// None shows nothing.
	None Mode = iota
	// Plain writes a line of words every five seconds.
	Plain
	// TTY keeps a panel on a terminal.
	TTY
	// OneLine keeps one line on a terminal that knows no escape sequences.
	OneLine
	// JSONLines writes a JSON object a second.
	JSONLines
)

// Config says how a view is to be.
type Config struct {
	Mode  Mode
	Style Style
	// Size tells the terminal's columns and rows, 0 for unknown; nil is unknown.
	Size func() (width, height int)
	// SameScreen says that what Around writes goes straight to the terminal. When something in between
	// passes it on, as in "gostress | tee log", the panel stays away for a moment, so that it comes to an empty place.
	SameScreen bool
	// Hold keeps Plain silent for its first five seconds, so that short runs say nothing.
	Hold bool
	// Now replaces the clock in tests.
	Now func() time.Time
}

// plainEvery is the time between two lines of Plain.
const plainEvery = 5 * time.Second

// A View shows a run on a writer. The writer's failures end nothing, and one that takes no more holds
// up nobody who updates the view: states that it does not take in time are left out. It is safe for
// concurrent use.
type View struct {
	cfg    Config
	queue  chan result.Progress
	stop   chan struct{} // nothing more comes
	done   chan struct{} // the queue has been written
	closed atomic.Bool   // nothing more is written

	mu      sync.Mutex
	w       io.Writer
	state   *result.Progress // the latest
	history History
	shown   int // columns of the one line on the screen, or 1 with a panel
	spoke   time.Time
	said    result.Progress // by the last plain line
	closing sync.Once
}

// queued is how many states can wait for the writer.
const queued = 16

// closeWithin is how long Close waits for a writer that takes no more.
const closeWithin = time.Second

// New makes a view on w. It is to be closed.
func New(w io.Writer, cfg Config) *View {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	v := &View{cfg: cfg, w: w, queue: make(chan result.Progress, queued), stop: make(chan struct{}), done: make(chan struct{})}
	if cfg.Hold {
		v.spoke = cfg.Now()
	}
	go v.serve()
	return v
}

// serve shows what is queued until nothing more comes.
func (v *View) serve() {
	defer close(v.done)
	for {
		select {
		case p := <-v.queue:
			v.show(p)
		case <-v.stop:
			for {
				select {
				case p := <-v.queue:
					v.show(p)
				default:
					return
				}
			}
		}
	}
}

// Update shows the state of a run. It waits for nothing.
func (v *View) Update(p result.Progress) {
	if v.cfg.Mode == None {
		return
	}
	select {
	case v.queue <- p:
	default:
	}
}

// Redraw shows the state again, as after the terminal's size changed.
func (v *View) Redraw() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.draw()
}

// Around takes what is on the screen away while f writes to the same terminal, and then puts it back.
func (v *View) Around(f func()) {
	if v.cfg.Mode != TTY && v.cfg.Mode != OneLine {
		f()
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
	f()
	if v.cfg.SameScreen {
		v.draw()
	}
}

// Close takes what is on the screen away for good, once all that was to be shown has been.
func (v *View) Close() {
	v.closing.Do(func() {
		close(v.stop)
		timer := time.NewTimer(closeWithin)
		defer timer.Stop()
		select {
		case <-v.done:
		case <-timer.C: // whoever reads has stopped to, which must not hold up the end of the run
			v.closed.Store(true)
			return
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		v.erase()
		v.closed.Store(true)
	})
}

// Abort clears the screen before the program ends at once. It waits for nobody: when something is being
// written at this moment, it leaves the screen as it is.
func (v *View) Abort() {
	if !v.mu.TryLock() {
		return
	}
	defer v.mu.Unlock()
	v.erase()
	v.closed.Store(true)
}

func (v *View) show(p result.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed.Load() {
		return
	}
	if v.state != nil && (p.Connecting && !v.state.Connecting || p.Elapsed < v.state.Elapsed) {
		v.history.Reset() // another run
	}
	v.state = &p
	switch v.cfg.Mode {
	case TTY, OneLine:
		if !p.Connecting {
			v.history.Add(p.P50, p.P99)
		}
		v.draw()
	case Plain:
		v.speak(p)
	case JSONLines:
		if b, err := JSON(p, v.cfg.Now()); err == nil {
			v.write(string(b))
		}
	}
}

// speak writes a plain line when one is due: now and then, and when the run enters another phase.
func (v *View) speak(p result.Progress) {
	now := v.cfg.Now()
	if !v.spoke.IsZero() && now.Sub(v.spoke) < plainEvery-plainEvery/10 && (v.said.Phase == "" || v.said.Phase == p.Phase && v.said.Stage == p.Stage) {
		return
	}
	v.spoke, v.said = now, p
	v.write("progress: " + Line(p) + "\n")
}

// draw is called with the lock held.
func (v *View) draw() {
	if v.closed.Load() || v.state == nil {
		return
	}
	width, height := 0, 0
	if v.cfg.Size != nil {
		width, height = v.cfg.Size()
	}
	switch v.cfg.Mode {
	case TTY:
		v.write(drawing(Panel(*v.state, &v.history, width, height, v.cfg.Style)))
		v.shown = 1
	case OneLine:
		text := Line(*v.state)
		if width <= 0 {
			width = assumedWidth
		}
		text = cut(text, max(width-1, 1))
		length := utf8.RuneCountInString(text)
		// Blanks and not an escape sequence: they work on every console.
		v.write("\r" + text + strings.Repeat(" ", max(min(v.shown, width-1)-length, 0)))
		v.shown = length
	}
}

// Escape sequences of ECMA-48, and DEC's for the cursor (DECTCEM).
const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	clearLine  = "\x1b[K" // from the cursor on
	clearBelow = "\x1b[J" // the same, and the lines below
)

// drawing is what puts lines on the screen in place of those that are there. The cursor is on the
// panel's first column and row before and after: from there all of it can be cleared whatever the
// terminal did to it when its size changed. It is hidden no longer than it takes to draw, so that
// nothing that ends the program leaves it so.
func drawing(lines []string) string {
	var b strings.Builder
	b.WriteString(hideCursor + "\r")
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(line + clearLine)
	}
	b.WriteString(clearBelow + "\r")
	if up := len(lines) - 1; up > 0 {
		b.WriteString("\x1b[" + count(int64(up)) + "A")
	}
	b.WriteString(showCursor)
	return b.String()
}

// erase is called with the lock held.
func (v *View) erase() {
	if v.shown == 0 || v.closed.Load() {
		return
	}
	if v.cfg.Mode == TTY {
		v.write("\r" + clearBelow)
	} else {
		v.write("\r" + strings.Repeat(" ", v.shown) + "\r")
	}
	v.shown = 0
}

// write writes what cannot be an error: the run goes on whether it is seen or not.
func (v *View) write(s string) { _, _ = io.WriteString(v.w, s) }
