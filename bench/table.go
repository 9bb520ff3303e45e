package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"gostress/internal/clock"
)

// figures are what a path's turn gave.
type figures struct {
	user, system float64 // us a call
	rate         float64 // calls a second
	allocs       float64 // a call
	sent, got    float64 // bytes a call
}

type lane struct {
	path    path
	callers []caller
	turns   []figures
}

// table prints a line for each request, encryption, number of connections and path.
func table(ctx context.Context, srv *child, o options, out io.Writer) error {
	all, err := requests()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s, %d processors, loopback; medians of %d turns of %v\n\n", runtime.Version(), runtime.NumCPU(), o.rounds, o.slice)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "request\tconnections\tpath\tuser us\tsystem us\tCPU us\tx floor\tcalls/s\tallocations\tbytes out\tbytes in\t")
	for _, l := range o.lines(all) {
		for _, n := range o.conns {
			if err := measure(ctx, srv, o, w, l.name, l.request, l.encrypt, n); err != nil {
				return fmt.Errorf("%s, %d connections: %w", l.name, n, err)
			}
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
	if o.foreign > 0 && o.only == "" {
		return foreign(ctx, srv, o, all[0].sql, out)
	}
	return nil
}

// line is a request in clear or with TLS.
type line struct {
	name    string
	request request
	encrypt bool
}

// lines are those that -only leaves.
func (o options) lines(all []request) []line {
	var out []line
	for _, r := range all {
		for _, l := range []line{{r.name, r, false}, {r.name + "/TLS", r, true}} {
			if strings.Contains(l.name+"/clear", o.only) {
				out = append(out, l)
			}
		}
	}
	return out
}

func measure(ctx context.Context, srv *child, o options, w io.Writer, name string, r request, encrypt bool, n int) error {
	var lanes []*lane
	defer func() {
		for _, l := range lanes {
			for _, c := range l.callers {
				_ = c.close()
			}
		}
	}()
	for _, p := range paths() {
		l := &lane{path: p}
		for range n {
			c, err := p.open(ctx, srv, encrypt, r)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if c == nil {
				break
			}
			l.callers = append(l.callers, c)
		}
		if l.callers != nil {
			lanes = append(lanes, l)
		}
	}
	for round := range o.rounds + 1 { // the first warms up
		for _, l := range lanes {
			f, err := l.turn(ctx, srv, o.slice)
			if err != nil {
				return fmt.Errorf("%s: %w", l.path.name, err)
			}
			if round > 0 {
				l.turns = append(l.turns, f)
			}
		}
	}
	for _, l := range lanes {
		m := l.median()
		fmt.Fprintf(w, "%s\t%d\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.0f\t%.1f\t%.0f\t%.0f\t\n", name, n, l.path.name, m.user, m.system, m.user+m.system, l.ratio(lanes[0]),
			m.rate, m.allocs, m.sent, m.got)
	}
	return nil
}

// turn lets all of a path's connections call for a while.
func (l *lane) turn(ctx context.Context, srv *child, d time.Duration) (figures, error) {
	var f figures
	in0, out0, err := srv.bytes()
	if err != nil {
		return f, err
	}
	var before, after runtime.MemStats
	var stop atomic.Bool
	var calls atomic.Int64
	errs := make(chan error, len(l.callers))
	var wg sync.WaitGroup
	runtime.GC() // what the others left
	runtime.ReadMemStats(&before)
	cpu, err := clock.ProcessCPU()
	if err != nil {
		return f, err
	}
	start := time.Now()
	for _, c := range l.callers {
		wg.Go(func() {
			n := int64(0)
			for !stop.Load() {
				if err := c.call(ctx); err != nil {
					errs <- err
					break
				}
				n++
			}
			calls.Add(n)
		})
	}
	time.Sleep(d)
	stop.Store(true)
	wg.Wait()
	took := time.Since(start)
	end, err := clock.ProcessCPU()
	if err != nil {
		return f, err
	}
	runtime.ReadMemStats(&after)
	select {
	case err := <-errs:
		return f, err
	default:
	}
	in1, out1, err := srv.bytes()
	if err != nil {
		return f, err
	}
	n := float64(calls.Load())
	used := end.Sub(cpu)
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / n }
	return figures{user: us(used.User), system: us(used.System), rate: n / took.Seconds(), allocs: float64(after.Mallocs-before.Mallocs) / n,
		sent: float64(in1-in0) / n, got: float64(out1-out0) / n}, nil
}

// ratio is the median of the CPU times over the floor's in the same round.
func (l *lane) ratio(floor *lane) float64 {
	v := make([]float64, len(l.turns))
	for i, f := range l.turns {
		b := floor.turns[i]
		v[i] = (f.user + f.system) / (b.user + b.system)
	}
	slices.Sort(v)
	return v[len(v)/2]
}

func (l *lane) median() figures {
	of := func(get func(figures) float64) float64 {
		v := make([]float64, len(l.turns))
		for i, f := range l.turns {
			v[i] = get(f)
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	return figures{
		user: of(func(f figures) float64 { return f.user }), system: of(func(f figures) float64 { return f.system }),
		rate: of(func(f figures) float64 { return f.rate }), allocs: of(func(f figures) float64 { return f.allocs }),
		sent: of(func(f figures) float64 { return f.sent }), got: of(func(f figures) float64 { return f.got }),
	}
}

// idle prints what a connection takes that has made a call and waits, its goroutine
// included.
func idle(ctx context.Context, srv *child, o options, out io.Writer) error {
	all, err := requests()
	if err != nil {
		return err
	}
	ways := paths()
	for _, encrypt := range []bool{false, true} {
		for _, p := range ways {
			if p.name == "floor" || p.name == "database/sql" {
				continue
			}
			for range 4 { // what the first connections alone take
				if c, err := p.open(ctx, srv, encrypt, all[0]); err != nil {
					return err
				} else if err := c.close(); err != nil {
					return err
				}
			}
			before, rss := memory(), resident()
			callers := make([]caller, 0, o.idle)
			end := make(chan struct{})
			var wg, ready sync.WaitGroup
			for range o.idle {
				c, err := p.open(ctx, srv, encrypt, all[0])
				if err != nil {
					close(end)
					return fmt.Errorf("%s, connection %d: %w", p.name, len(callers), err)
				}
				callers = append(callers, c)
				ready.Add(1)
				wg.Go(func() {
					err := c.call(ctx)
					ready.Done()
					if err != nil {
						fmt.Fprintln(os.Stderr, "bench:", err)
					}
					<-end
				})
			}
			ready.Wait()
			after, rss2 := memory(), resident()
			n := uint64(o.idle)
			fmt.Fprintf(out, "TLS %-5v %-10s %6d bytes of heap and stacks a connection, %6d resident\n", encrypt, p.name, (after-before)/n, (rss2-rss)/n)
			close(end)
			wg.Wait()
			for _, c := range callers {
				_ = c.close()
			}
		}
	}
	return nil
}

// memory is the heap and the stacks in use.
func memory() uint64 {
	debug.FreeOSMemory()
	debug.FreeOSMemory() // pools let go of their memory at the second collection
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// resident is the process's resident memory, 0 where it cannot be told.
func resident() uint64 {
	var pages, size uint64
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(b), &size, &pages); err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}
