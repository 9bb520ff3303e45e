// Certificates that SQL Server signed itself often have a negative serial number,
// which is refused by default.
//
//go:debug x509negativeserial=1

// Gostress runs T-SQL against SQL Server from many connections at once, as
// ostress.exe does, and measures what ostress does not.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"gostress/pkg/ostress"
)

// Exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1
	exitVoid        = 98 // the generator could not hold the rate asked for
	exitThreshold   = 99 // a threshold failed, or a condition ended the run
	exitInterrupted = 130
	// exitUsage is ostress's own for a bad command line; Unix shows it as 250.
	exitUsage = -6
)

func main() {
	os.Exit(run(ostress.MannersOf(os.Args[0]), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// app is what every command is given.
type app struct {
	ctx     context.Context
	manners ostress.Manners
	args    []string // the command line, passwords hidden
	stdin   *os.File
	stdout  io.Writer
	stderr  io.Writer
	term    terminals
	last    lastActs // before a second signal ends the program
}

// exitError is an error with an exit status of its own.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// silent is an exit status that has been explained already.
func silent(code int) error { return &exitError{code: code} }

// errInterrupted is the cause of a context that a signal ended.
var errInterrupted = errors.New("interrupted")

func run(manners ostress.Manners, argv []string, stdin, stdout, stderr *os.File) int {
	args := slices.Clone(argv)
	shown := ostress.Redact(args)
	for i := range args {
		args[i] = strings.Clone(args[i])
	}
	hidePasswords(argv, shown)

	a := &app{manners: manners, args: shown, stdin: stdin, stdout: stdout, stderr: stderr, term: terminals{stdout: stdout, stderr: stderr}}
	var stop func()
	a.ctx, stop = withSignals(context.Background(), a.last.run)
	defer stop()

	c, err := newCLI(stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "gostress:", err)
		return exitFailed
	}
	if len(args) == 0 || !isCommand(c.parser, args[0]) {
		long, err := ostress.Rewrite(args, c.takesValue)
		switch {
		case len(args) == 0:
			return usageError(a, "no arguments: name a server and a query, as in -S. -E -Q\"SELECT 1\"")
		case args[0] == "help":
			ostress.Usage(stdout)
			return exitOK
		case err != nil && !strings.HasPrefix(args[0], "-"):
			return usageError(a, err.Error()+"; nor is it one of the commands demo, serve, workload, run, compare, control-file, version")
		case err != nil:
			return usageError(a, err.Error())
		case slices.Contains(long, "--version"):
			return exit(a, versionCmd{}.Run(a))
		case slices.Contains(long, "--help"):
			ostress.Usage(stdout)
			return exitOK
		}
		k, err := c.parse(append([]string{"stress"}, long...))
		if c.helped {
			return exitOK
		}
		if err != nil {
			return usageError(a, plainKong(err))
		}
		return exit(a, k.Run(a))
	}
	k, err := c.parse(plainDashes(args))
	if c.helped {
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "gostress %s: %s\n", args[0], plainKong(err))
		fmt.Fprintf(stderr, "gostress %s --help lists what it takes.\n", args[0])
		return exitUsage
	}
	return exit(a, k.Run(a))
}

// exit turns a command's error into its exit status, and says it once.
func exit(a *app, err error) int {
	var ee *exitError
	var ae *ostress.ArgError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &ae):
		return usageError(a, ae.Error())
	case errors.As(err, &ee):
		if ee.err != nil {
			fmt.Fprintln(a.stderr, "gostress:", ee.err)
		}
		return ee.code
	case errors.Is(context.Cause(a.ctx), errInterrupted):
		fmt.Fprintln(a.stderr, "gostress: interrupted")
		return exitInterrupted
	}
	fmt.Fprintln(a.stderr, "gostress:", err)
	return exitFailed
}

// usageError is what ostress does with a bad command line: banner, usage, and
// its own last line.
func usageError(a *app, text string) int {
	ostress.Usage(a.stdout)
	l := newLog(a.stdout)
	l.Line("%s", text)
	l.Line("OSTRESS exiting due to error (%d)", exitUsage)
	return exitUsage
}

// withSignals ends the context at the first SIGINT or SIGTERM, so that the run
// stops and reports; a second one ends the program at once, after last.
func withSignals(parent context.Context, last func()) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-ch:
				if n > 0 {
					last()
					os.Exit(exitInterrupted)
				}
				cancel(errInterrupted)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		close(done)
		cancel(nil)
	}
}

// surviveClosedOutput makes a write to a closed standard output an error, where
// it ended the process before the log and the results were whole.
func surviveClosedOutput() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// plainKong is kong's error without its own prefix.
func plainKong(err error) string {
	var pe *kong.ParseError
	if errors.As(err, &pe) {
		err = errors.Unwrap(pe)
	}
	return err.Error()
}
