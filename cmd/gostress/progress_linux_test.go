package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gostress/internal/screentest"
)

// onTerminal is the program on a terminal of its own, which somebody looks at and types on.
type onTerminal struct {
	cmd      *exec.Cmd
	keyboard *os.File
	read     chan struct{} // all that was written has been

	mu     sync.Mutex
	screen *screentest.Screen
}

func startOnTerminal(t *testing.T, env []string, name string, args ...string) *onTerminal {
	t.Helper()
	keyboard, tty, err := openTerminal()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := &onTerminal{cmd: exec.Command(self, args...), keyboard: keyboard, read: make(chan struct{}), screen: screentest.New(200, 40)}
	o.resize(t, 200)
	o.cmd.Args[0] = name
	o.cmd.Env = append(os.Environ(), asProgram+"=1", "TERM=xterm", "LC_ALL=C.UTF-8", "NO_COLOR=")
	o.cmd.Env = append(o.cmd.Env, env...)
	o.cmd.Stdin, o.cmd.Stdout, o.cmd.Stderr = tty, tty, tty
	o.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = o.cmd.Process.Kill()
		_ = keyboard.Close()
	})
	go func() {
		defer close(o.read)
		buf := make([]byte, 4096)
		for {
			n, err := keyboard.Read(buf)
			o.mu.Lock()
			_, _ = o.screen.Write(buf[:n])
			o.mu.Unlock()
			if err != nil { // EIO: the program has gone
				return
			}
		}
	}()
	return o
}

func (o *onTerminal) resize(t *testing.T, columns uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(o.keyboard.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: columns}); err != nil {
		t.Fatal(err)
	}
}

func (o *onTerminal) lines() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.screen.Lines()
}

// await waits until the screen is as wanted.
func (o *onTerminal) await(t *testing.T, what string, is func(lines []string) bool) {
	t.Helper()
	for range 12000 { // two minutes: the race detector is slow
		if is(o.lines()) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s was never to be seen:\n%s", what, strings.Join(o.lines(), "\n"))
}

func (o *onTerminal) typed(t *testing.T, keys string) {
	t.Helper()
	if _, err := o.keyboard.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// panelText is what stands in a panel and nowhere else.
var panelText = regexp.MustCompile(`connections [\d,]+( of [\d,]+)?  batches|^(connecting|measuring|ending) |batches/s  p50|[⠁-⣿]|\^C`)

// exits waits for the end and holds the program to a status and a clean screen.
func (o *onTerminal) exits(t *testing.T, status int) []string {
	t.Helper()
	err := o.cmd.Wait()
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) {
		t.Fatal(err)
	}
	if got := o.cmd.ProcessState.ExitCode(); got != status {
		t.Errorf("exit status %d, want %d", got, status)
	}
	<-o.read
	lines := o.lines()
	for _, l := range lines {
		if panelText.MatchString(l) {
			t.Errorf("%q was left on the screen", l)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if x, _, visible := o.screen.Cursor(); x != 0 || !visible {
		t.Errorf("the cursor is in column %d, visible: %v", x, visible)
	}
	if t.Failed() {
		t.Logf("the screen:\n%s", strings.Join(lines, "\n"))
	}
	return lines
}

func has(parts ...string) func([]string) bool {
	return func(lines []string) bool {
		text := strings.Join(lines, "\n")
		for _, p := range parts {
			if !strings.Contains(text, p) {
				return false
			}
		}
		return true
	}
}

func terminalArgs(t *testing.T, port int, args ...string) []string {
	return append([]string{fmt.Sprintf("-S127.0.0.1,%d", port), "-Usa", "-P" + testPassword, "-q", "-o" + t.TempDir()}, args...)
}

func TestPanelOnATerminal(t *testing.T) {
	t.Parallel()
	port, err := startServer()
	if err != nil {
		t.Fatal(err)
	}
	o := startOnTerminal(t, nil, "gostress", terminalArgs(t, port, "-QWAITFOR DELAY '00:00:00.01' RAISERROR('no', 11, 1)\nGO\nWAITFOR DELAY '00:00:00.01'", "-n3", "--duration=1h")...)
	o.await(t, "the panel", has("measuring  ", "batches/s  p50 ", "connections 3  batches ", "50000: ", "left 59:"))
	o.await(t, "the graph", func(lines []string) bool {
		return strings.ContainsAny(strings.Join(lines, "\n"), "⠁⠂⠄⡀⣀⠉⠒⠤⢸⡇⠈⠐⠠⢀⢰⢠⣸")
	})
	o.resize(t, 30)
	o.await(t, "a narrow panel", func(lines []string) bool {
		begun := false
		for _, l := range lines {
			begun = begun || strings.HasPrefix(l, "measuring")
			if begun && len([]rune(l)) > 29 {
				return false
			}
		}
		return begun
	})
	o.typed(t, "\x03")
	lines := o.exits(t, exitInterrupted)
	if last := lines[len(lines)-1]; !strings.Contains(last, "OSTRESS exiting after an interrupt") || !has("Native Error: 50000", "  Batches")(lines) {
		t.Errorf("the screen:\n%s", strings.Join(lines, "\n"))
	}
}

// hole passes on what comes and goes until it is told to swallow what comes back.
type hole struct {
	port    int
	swallow atomic.Bool
}

func startHole(t *testing.T, to int) *hole {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	h := &hole{port: ln.Addr().(*net.TCPAddr).Port}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", to))
			if err != nil {
				_ = c.Close()
				return
			}
			go func() {
				_, _ = io.Copy(s, c)
				_ = s.Close()
			}()
			go func() {
				defer c.Close()
				buf := make([]byte, 4096)
				for {
					n, err := s.Read(buf)
					if err != nil {
						return
					}
					if !h.swallow.Load() {
						_, _ = c.Write(buf[:n])
					}
				}
			}()
		}
	}()
	return h
}

// TestTwoInterruptsOnATerminal: the server answers no more, so the run waits for what is in flight
// when the second interrupt comes.
func TestTwoInterruptsOnATerminal(t *testing.T) {
	t.Parallel()
	port, err := startServer()
	if err != nil {
		t.Fatal(err)
	}
	h := startHole(t, port)
	o := startOnTerminal(t, nil, "gostress", terminalArgs(t, h.port, "-QWAITFOR DELAY '00:00:00.01'", "-n2", "-r1000000")...)
	o.await(t, "the panel", has("measuring  ", "batches/s  p50 "))
	h.swallow.Store(true)
	o.typed(t, "\x03")
	o.await(t, "the end's beginning", has("ending  "))
	o.typed(t, "\x03")
	if lines := o.exits(t, exitInterrupted); has("OSTRESS exiting")(lines) {
		t.Log("the run had ended before the second interrupt came")
	}
}

func TestProgressByName(t *testing.T) {
	t.Parallel()
	port, err := startServer()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, program string
		env, args     []string
		seen          string
	}{
		{name: "none under the name ostress", program: "ostress"},
		{name: "one line asked for under the name ostress", program: "ostress", env: []string{"TERM=dumb"}, args: []string{"--progress=tty"}, seen: " | p99 "},
		{name: "lines on a dumb terminal", program: "gostress", env: []string{"TERM=dumb"}, args: []string{"--progress=plain"}, seen: "progress: "},
		{name: "no colours", program: "gostress", env: []string{"NO_COLOR=1", "LC_ALL=C"}, seen: "batches/s"},
		{name: "none asked for", program: "gostress", args: []string{"--progress=none"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := terminalArgs(t, port, "-QWAITFOR DELAY '00:00:00.01'", "-n2", "-r1000000")
			o := startOnTerminal(t, c.env, c.program, append(args, c.args...)...)
			o.await(t, "the run", has("beginning execution"))
			if c.seen != "" {
				o.await(t, c.seen, has(c.seen))
			} else {
				time.Sleep(1500 * time.Millisecond) // when a panel would be there
				if lines := o.lines(); !has("beginning execution...")(lines[len(lines)-1:]) {
					t.Errorf("the screen:\n%s", strings.Join(lines, "\n"))
				}
			}
			o.typed(t, "\x03")
			err := o.cmd.Wait()
			<-o.read
			if got := o.cmd.ProcessState.ExitCode(); got != exitInterrupted {
				t.Errorf("exit status %d, %v", got, err)
			}
			if lines := o.lines(); !has("OSTRESS exiting after an interrupt")(lines[len(lines)-1:]) {
				t.Errorf("the screen:\n%s", strings.Join(lines, "\n"))
			}
		})
	}
}
