package main

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"gostress/pkg/live"
	"gostress/pkg/ostress"
)

// follow makes the view of a run as --progress says. Its end takes it off the screen.
func (a *app) follow(flag string) (v *live.View, end func(), err error) {
	cfg := live.Config{Size: a.term.size, SameScreen: isTerminal(a.term.stdout)}
	restore := func() {}
	switch flag {
	case "":
		cfg.Mode, restore = a.automatic()
		cfg.Hold = true
	case "none":
	case "plain":
		cfg.Mode = live.Plain
	case "json":
		cfg.Mode = live.JSONLines
	case "tty":
		if !a.term.err() {
			return nil, nil, usagef("--progress=tty: standard error is no terminal; write plain or json")
		}
		cfg.Mode, restore = a.screen()
	default:
		return nil, nil, usagef("--progress=%s: write none, plain, tty or json", flag)
	}
	cfg.Style = live.Style{
		Colour: os.Getenv("NO_COLOR") == "",
		ASCII:  runtime.GOOS != "windows" && !isUTF8(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")),
	}
	v = live.New(a.stderr, cfg)
	unwatch := watchSize(v.Redraw)
	forget := a.last.add(func() {
		v.Abort()
		restore()
	})
	return v, sync.OnceFunc(func() {
		unwatch()
		v.Close()
		forget()
		restore()
	}), nil
}

// automatic is the mode without --progress. ostress showed nothing; so nothing is shown under its
// name, nor, where no terminal is, of a command line that it could have been given.
func (a *app) automatic() (live.Mode, func()) {
	long := slices.ContainsFunc(a.args, func(s string) bool { return strings.HasPrefix(s, "--") })
	switch {
	case a.manners == ostress.AsOstress:
	case a.term.err() && os.Getenv("TERM") != "dumb":
		return a.screen()
	case a.term.err() || long:
		return live.Plain, func() {}
	}
	return live.None, func() {}
}

// screen is the mode of a terminal: a panel where it knows escape sequences.
func (a *app) screen() (live.Mode, func()) {
	if os.Getenv("TERM") != "dumb" {
		if restore, ok := enableEscapes(a.term.stderr); ok {
			return live.TTY, restore
		}
	}
	return live.OneLine, func() {}
}

// isUTF8 says that the first of a locale's variables that is set names UTF-8.
func isUTF8(variables ...string) bool {
	for _, v := range variables {
		if v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// lastActs are what is done before the program ends at once. The zero value is ready.
type lastActs struct {
	mu   sync.Mutex
	acts map[int]func()
	next int
}

// add adds an act, and returns what takes it out again.
func (l *lastActs) add(f func()) (forget func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.acts == nil {
		l.acts = map[int]func(){}
	}
	n := l.next
	l.next++
	l.acts[n] = f
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.acts, n)
	}
}

func (l *lastActs) run() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.acts {
		f()
	}
}
