package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gostress/internal/screentest"
	"gostress/pkg/result"
)

func TestPanelOnAScreen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := screentest.New(60, 12)
		width := 60
		v := New(s, Config{Mode: TTY, Size: func() (int, int) { return width, 12 }, SameScreen: true})
		logLine := func(text string) {
			v.Around(func() {
				if got := strings.Join(s.Lines(), "\n"); strings.Contains(got, "batches/s") {
					t.Errorf("the panel is in the way:\n%s", got)
				}
				fmt.Fprintf(s, "%s\r\n", text)
			})
		}
		logLine("first")
		for i := range 30 {
			p := working()
			p.Elapsed = time.Duration(i) * time.Second
			v.Update(p)
			synctest.Wait()
			if x, _, visible := s.Cursor(); x != 0 || !visible {
				t.Fatalf("the cursor is in column %d, visible %v", x, visible)
			}
			logLine(fmt.Sprintf("line %d", i))
			got := s.Lines()
			if n := strings.Count(strings.Join(got, "\n"), "batches/s"); n != 1 {
				t.Fatalf("%d panels:\n%s", n, strings.Join(got, "\n"))
			}
			if got[i+1] != fmt.Sprintf("line %d", i) {
				t.Fatalf("line %d is %q", i+1, got[i+1])
			}
		}
		width = 30
		v.Redraw()
		for _, l := range s.Lines()[31:] {
			if len([]rune(l)) > 29 {
				t.Errorf("%q is wider than 29", l)
			}
		}
		v.Close()
		v.Close()
		v.Update(working()) // too late, which does no harm
		v.Redraw()
		logLine("last")
		synctest.Wait()
		if got := s.Lines(); len(got) != 32 || got[31] != "last" || s.Wrapped > 0 {
			t.Errorf("%d lines, %d wrapped:\n%s", len(got), s.Wrapped, strings.Join(got, "\n"))
		}
	})
}

// TestPanelStaysAwayFromAPipe: what is written goes through another program to the screen, and gets
// there late.
func TestPanelStaysAwayFromAPipe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := screentest.New(60, 24)
		v := New(s, Config{Mode: TTY, Size: func() (int, int) { return 60, 24 }})
		v.Update(working())
		synctest.Wait()
		v.Around(func() {})
		fmt.Fprint(s, "a\r\n")
		v.Update(working())
		synctest.Wait()
		if got := s.Lines(); got[0] != "a" || !strings.HasPrefix(got[1], "measuring") {
			t.Errorf("screen:\n%s", strings.Join(got, "\n"))
		}
		v.Close()
		if got := s.Lines(); len(got) != 1 {
			t.Errorf("left:\n%s", strings.Join(got, "\n"))
		}
	})
}

func TestAbortLeavesACleanScreen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := screentest.New(60, 24)
		v := New(s, Config{Mode: TTY, Size: func() (int, int) { return 60, 24 }})
		v.Update(working())
		synctest.Wait()
		v.Abort()
		v.Update(working())
		synctest.Wait()
		if _, _, visible := s.Cursor(); len(s.Lines()) != 0 || !visible {
			t.Errorf("left, cursor %v:\n%s", visible, strings.Join(s.Lines(), "\n"))
		}
		v.Close()
	})
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := screentest.New(60, 24)
		v := New(s, Config{Mode: OneLine, Size: func() (int, int) { return 60, 24 }, SameScreen: true})
		v.Update(working())
		synctest.Wait()
		v.Update(result.Progress{Connecting: true, Phase: result.PhaseConnecting, Connections: 12})
		synctest.Wait()
		if got := s.Lines(); len(got) != 1 || got[0] != "connecting | 12 connections" {
			t.Errorf("screen %q", got)
		}
		v.Update(working())
		synctest.Wait()
		v.Around(func() { fmt.Fprint(s, "log\r\n") })
		if got := s.Lines(); len(got) != 2 || got[0] != "log" || got[1] != "measuring 50:1m 0:42 | left 1:18 | 12,346 batches/s | p50 1" {
			t.Errorf("screen %q", got)
		}
		v.Close()
		if got := s.Lines(); len(got) != 1 || s.Wrapped > 0 {
			t.Errorf("left %q", got)
		}
	})
}

// written is a writer whose text can be read meanwhile.
type written struct {
	mu sync.Mutex
	b  strings.Builder
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *written) lines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.SplitAfter(w.b.String(), "\n")
}

func TestPlainLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hold bool
		want []string // beginnings
	}{
		{false, []string{"progress: connecting | 0 of 50 connections", "progress: warm-up 0:01", "progress: measuring 50:1m 0:04", "progress: measuring 50:1m 0:09"}},
		{true, []string{"progress: measuring 50:1m 0:05", "progress: measuring 50:1m 0:10"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &written{}
			v := New(w, Config{Mode: Plain, Hold: c.hold})
			v.Update(result.Progress{Connecting: true, Phase: result.PhaseConnecting, ConnectionsAsked: 50, Left: -1})
			for i := 1; i <= 12; i++ {
				time.Sleep(time.Second)
				p := working()
				p.Elapsed = time.Duration(i) * time.Second
				if i < 4 {
					p.Phase, p.Stage = result.PhaseWarmup, ""
				}
				v.Update(p)
				synctest.Wait()
			}
			v.Close()
			got := w.lines()
			got = got[:len(got)-1]
			if len(got) != len(c.want) {
				t.Fatalf("hold %v: %q", c.hold, got)
			}
			for i, l := range got {
				if !strings.HasPrefix(l, c.want[i]) {
					t.Errorf("line %q, want %q", l, c.want[i])
				}
			}
			const whole = " | left 1:18 | 12,346 batches/s | p50 1.23 ms | p99 8.90 ms | 50 connections | 518,200 batches | 3 failed | 4 errors (1205: 3, 2627: 1)\n"
			if last := got[len(got)-1]; !strings.HasSuffix(last, whole) {
				t.Errorf("line %q, want %q", last, whole)
			}
		})
	}
}

func TestJSONLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &written{}
		v := New(w, Config{Mode: JSONLines})
		v.Update(result.Progress{Connecting: true, Phase: result.PhaseConnecting, Left: -1})
		v.Update(working())
		v.Close()
		// The clock of a bubble begins at this time.
		want := []string{
			`{"at":"2000-01-01T00:00:00Z","phase":"connecting","elapsed_s":0,"left_s":null,"iterations":0,"planned_iterations":0,"batches":0,"failed_batches":0,"batches_per_s":0,"p50_us":0,"p99_us":0,"errors":0,"errors_by_number":{},"connections":0,"connections_asked":0,"late":0,"skipped_late":0}`,
			`{"at":"2000-01-01T00:00:00Z","phase":"measuring","stage":"50:1m","elapsed_s":42,"left_s":78,"iterations":518203,"planned_iterations":1000000,"batches":518200,"failed_batches":3,"batches_per_s":12345.6,"p50_us":1234,"p99_us":8900,"errors":4,"errors_by_number":{"1205":3,"2627":1},"connections":50,"connections_asked":50,"late":0,"skipped_late":0}`,
			"",
		}
		for i, l := range w.lines() {
			if strings.TrimSuffix(l, "\n") != want[i] {
				t.Errorf("line %d\n%swant\n%s", i, l, want[i])
			}
			if i < 2 && !json.Valid([]byte(l)) {
				t.Errorf("%s is no JSON", l)
			}
		}
	})
}

// blocked takes nothing until it is let go.
type blocked struct{ let chan struct{} }

func (b blocked) Write(p []byte) (int, error) {
	<-b.let
	return len(p), nil
}

func TestAReaderThatStopsHoldsUpNobody(t *testing.T) {
	t.Parallel()
	for _, mode := range []Mode{Plain, TTY, OneLine, JSONLines} {
		synctest.Test(t, func(t *testing.T) {
			w := blocked{make(chan struct{})}
			v := New(w, Config{Mode: mode})
			begun := time.Now()
			for range 100 {
				v.Update(working())
			}
			synctest.Wait()
			if time.Since(begun) > 0 {
				t.Error("an update waited")
			}
			v.Abort()
			v.Close()
			if took := time.Since(begun); took > closeWithin {
				t.Errorf("the end took %v", took)
			}
			close(w.let)
		})
	}
}

// failing is a closed standard error.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestAFailingWriterIsNoError(t *testing.T) {
	t.Parallel()
	for _, mode := range []Mode{None, Plain, TTY, OneLine, JSONLines} {
		v := New(failing{}, Config{Mode: mode, SameScreen: true})
		called := false
		v.Update(working())
		v.Around(func() { called = true })
		v.Redraw()
		v.Close()
		if !called {
			t.Errorf("mode %d: the log was not written", mode)
		}
	}
}

func TestNoneWritesNothing(t *testing.T) {
	t.Parallel()
	w := &written{}
	v := New(w, Config{})
	v.Update(working())
	v.Around(func() { _, _ = io.WriteString(w, "log") })
	v.Redraw()
	v.Close()
	if got := w.lines(); len(got) != 1 || got[0] != "log" {
		t.Errorf("wrote %q", got)
	}
}

func TestAnotherRunBeginsAnEmptyGraph(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := New(screentest.New(80, 24), Config{Mode: TTY})
		v.Update(working())
		v.Update(working())
		v.Update(result.Progress{Connecting: true, Phase: result.PhaseConnecting})
		again := working()
		again.Elapsed = time.Second
		v.Update(again)
		v.Close()
		if n := len(v.history.samples); n != 1 {
			t.Errorf("%d samples", n)
		}
	})
}
