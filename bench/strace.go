package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
)

// traced prints the system calls of a call, by name, of each path in a process of its own under
// strace: those of a run with many calls less those of a run with half as many, so that starting and
// logging in are left out.
func traced(ctx context.Context, srv *child, o options, out io.Writer) error {
	if _, err := exec.LookPath("strace"); err != nil {
		return errors.New("-strace needs strace, which counts system calls on Linux")
	}
	all, err := requests()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "system calls a call, strace -f -c, %d calls on each connection, medians of %d runs\n\n", o.calls, straceTurns)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "request\tconnections\tpath\t"+strings.Join(straceColumns, "\t")+"\tothers")
	for _, l := range o.lines(all) {
		for _, n := range o.conns {
			if err := l.traced(ctx, srv, n, o.calls, w); err != nil {
				return fmt.Errorf("%s, %w", l.name, err)
			}
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	straceTurns = 3
	notReady    = " not ready" // a call that came back with EAGAIN, or another error
)

// straceColumns are what a request is made of, and then what Go's scheduler waits by.
var straceColumns = []string{"write", "read", "read" + notReady, "epoll_pwait", "futex", "nanosleep"}

// traced prints the counts of each path. They take turns, and medians are shown: how often the
// scheduler polls and sleeps depends on what else the machine does.
func (l line) traced(ctx context.Context, srv *child, conns, calls int, w io.Writer) error {
	turns := map[string][]map[string]float64{}
	for range straceTurns {
		for _, p := range paths() {
			if l.request.sql == "" && p.name == "database/sql" {
				continue
			}
			counts, err := difference(ctx, srv, p.name, l.request.name, l.encrypt, conns, calls)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			turns[p.name] = append(turns[p.name], counts)
		}
	}
	for _, p := range paths() {
		if turns[p.name] == nil {
			continue
		}
		counts := medians(turns[p.name])
		fmt.Fprintf(w, "%s\t%d\t%s", l.name, conns, p.name)
		for _, call := range straceColumns {
			fmt.Fprintf(w, "\t%.2f", counts[call])
			delete(counts, call)
		}
		fmt.Fprintf(w, "\t%s\n", byName(counts))
	}
	return nil
}

// medians are those of each call.
func medians(turns []map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for _, t := range turns {
		for call := range t {
			v := make([]float64, len(turns))
			for i := range turns {
				v[i] = turns[i][call]
			}
			slices.Sort(v)
			out[call] = v[len(v)/2]
		}
	}
	return out
}

// byName says the counts worth telling of in words, the most frequent first.
func byName(counts map[string]float64) string {
	var parts []string
	for _, call := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	}) {
		if counts[call] >= 0.005 {
			parts = append(parts, fmt.Sprintf("%s %.2f", call, counts[call]))
		}
	}
	return strings.Join(parts, ", ")
}

func difference(ctx context.Context, srv *child, path, request string, encrypt bool, conns, calls int) (map[string]float64, error) {
	long, err := straced(ctx, srv, path, request, encrypt, conns, 2*calls)
	if err != nil {
		return nil, err
	}
	short, err := straced(ctx, srv, path, request, encrypt, conns, calls)
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for name, n := range long {
		out[name] = float64(n-short[name]) / float64(conns*calls)
	}
	return out, nil
}

// straced runs calls in a child under strace and returns its system calls by name.
func straced(ctx context.Context, srv *child, path, request string, encrypt bool, conns, calls int) (map[string]int64, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gostress-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "counts")
	cmd := exec.CommandContext(ctx, "strace", "-f", "-c", "-o", file, self, "calls", path, request, strconv.FormatBool(encrypt), strconv.Itoa(conns), strconv.Itoa(calls), srv.clear, srv.tls)
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, lastLine(string(said)))
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string]int64{}
	for s := bufio.NewScanner(f); s.Scan(); {
		// % time, seconds, usecs/call, calls, errors if any, name
		fields := strings.Fields(s.Text())
		if len(fields) < 5 {
			continue
		}
		n, err := strconv.ParseInt(fields[3], 10, 64)
		name := fields[len(fields)-1]
		if err != nil || name == "total" {
			continue
		}
		out[name] = n
		if len(fields) == 6 {
			failed, err := strconv.ParseInt(fields[4], 10, 64)
			if err != nil {
				return nil, fmt.Errorf("strace's count of errors of %s: %w", name, err)
			}
			out[name+notReady], out[name] = failed, n-failed
		}
	}
	return out, nil
}

// calls is what the child does: so many calls on each of some connections.
func calls(ctx context.Context, args []string) error {
	if len(args) != 7 {
		return errors.New("calls: PATH REQUEST ENCRYPT CONNECTIONS CALLS CLEAR TLS")
	}
	encrypt, _ := strconv.ParseBool(args[2])
	conns, _ := strconv.Atoi(args[3])
	n, _ := strconv.Atoi(args[4])
	srv := &child{clear: args[5], tls: args[6]}
	all, err := requests()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(r request) bool { return r.name == args[1] })
	by := slices.IndexFunc(paths(), func(p path) bool { return p.name == args[0] })
	if at < 0 || by < 0 {
		return fmt.Errorf("calls: there is no %s or no %s", args[0], args[1])
	}
	open := paths()[by].open
	var callers []caller
	for range conns {
		// Requests of their own: they may change from call to call.
		own, err := requests()
		if err != nil {
			return err
		}
		c, err := open(ctx, srv, encrypt, own[at])
		if err != nil {
			return err
		}
		if c == nil {
			return fmt.Errorf("%s cannot send it", args[0])
		}
		callers = append(callers, c)
	}
	failed := make([]error, conns)
	var calling sync.WaitGroup
	for i, c := range callers {
		calling.Go(func() {
			for range n {
				if failed[i] = c.call(ctx); failed[i] != nil {
					return
				}
			}
		})
	}
	calling.Wait()
	for _, c := range callers {
		_ = c.close()
	}
	return errors.Join(failed...)
}
