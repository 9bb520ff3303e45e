// Command bench measures what a call costs the client: a bare socket, gostress's
// two kinds of session, database/sql, and clients of other languages where they are
// installed, all on the same requests, against a server in a process of its own that
// answers at once.
//
//	go run ./bench            the table
//	go run ./bench -idle 10000  memory of idle connections
//	go run ./bench -strace    system calls of a call, on Linux
//
// The paths take turns in short slices, so that whatever else the machine does
// hits all of them, and medians are shown.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	rounds  int
	slice   time.Duration
	conns   []int
	idle    int
	only    string
	foreign int
	strace  bool
	calls   int
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) == 1 && args[0] == "serve" {
		return serve(in, out)
	}
	if len(args) > 0 && args[0] == "calls" {
		return calls(ctx, args[1:])
	}
	var o options
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.IntVar(&o.rounds, "rounds", 9, "how often each path has its turn")
	fs.DurationVar(&o.slice, "slice", 250*time.Millisecond, "how long a turn takes")
	conns := fs.String("conns", "1,10,100,1000", "numbers of connections")
	fs.IntVar(&o.idle, "idle", 0, "measure the memory of so many idle connections instead")
	fs.StringVar(&o.only, "only", "", "only lines with this in `request/encryption`, such as batch/TLS")
	fs.IntVar(&o.foreign, "foreign", 5000, "calls of clients of other languages, 0 for none")
	fs.BoolVar(&o.strace, "strace", false, "count the system calls of a call instead")
	fs.IntVar(&o.calls, "calls", 5000, "calls on each connection under strace")
	if err := fs.Parse(args); err != nil {
		return err
	}
	for _, s := range strings.Split(*conns, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return fmt.Errorf("-conns: %q is no number of connections", s)
		}
		o.conns = append(o.conns, n)
	}
	srv, err := start(ctx)
	if err != nil {
		return err
	}
	defer srv.stop()
	if o.idle > 0 {
		return idle(ctx, srv, o, out)
	}
	if o.strace {
		return traced(ctx, srv, o, out)
	}
	return table(ctx, srv, o, out)
}
