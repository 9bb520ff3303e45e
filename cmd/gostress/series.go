package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"gostress/pkg/compare"
	"gostress/pkg/driver"
	"gostress/pkg/live"
	"gostress/pkg/ostress"
	"gostress/pkg/report"
	"gostress/pkg/result"
	"gostress/pkg/scenario"
	"gostress/pkg/script"
)

// seriesFlags make several runs of one command line.
type seriesFlags struct {
	Repeat     string
	Reset      bool
	ResetQuery string
}

// series is checked seriesFlags.
type series struct {
	kind       string // "repeat", "sweep", or "" for a single run
	numbers    []int  // connections of each run
	reset      bool
	resetQuery script.Script
}

// mostRuns bounds a series.
const mostRuns = 1000

// check reads the flags, and -n, which may be a list.
func (f *seriesFlags) check(c *stressCmd, l *loop) (series, error) {
	s := series{reset: f.Reset}
	list := strings.Split(c.Connections, ",")
	if c.Connections == "" {
		list[0] = "1"
	}
	for _, text := range list {
		n, err := number("-n", strings.TrimSpace(text), 1)
		if err != nil {
			return s, err
		}
		s.numbers = append(s.numbers, int(min(n, math.MaxInt32)))
	}
	if len(list) > 1 {
		s.kind = "sweep"
	}
	if f.Repeat != "" {
		times, err := number("--repeat", f.Repeat, 1)
		if err != nil {
			return s, err
		}
		if times*int64(len(list)) > mostRuns || times > mostRuns {
			return s, usagef("--repeat=%s: a series has at most %d runs", f.Repeat, mostRuns)
		}
		if s.kind == "" {
			s.kind = "repeat"
		}
		var all []int
		for _, n := range s.numbers {
			for range times {
				all = append(all, n)
			}
		}
		s.numbers = all
	}
	switch {
	case len(s.numbers) > mostRuns:
		return s, usagef("-n: a series has at most %d runs", mostRuns)
	case s.kind == "sweep" && l.open():
		return s, usagef("-n%s: a sweep is of a closed loop: with a rate, that says how much is done, not the connections", c.Connections)
	case (s.kind != "" || f.Reset || f.ResetQuery != "") && c.RunMode == "replay":
		return s, usagef("a replay runs once: -n with several numbers, --repeat, --reset and --reset-query are for stress mode")
	case f.Reset && f.ResetQuery != "":
		return s, usagef("only one of --reset and --reset-query can be given")
	case f.Reset && c.Workload == "":
		return s, usagef("--reset resets a bundled workload (--workload); --reset-query SQL runs a batch before each run")
	}
	if f.ResetQuery != "" {
		var err error
		if s.resetQuery, err = script.FromText(f.ResetQuery); err != nil {
			return s, usagef("--reset-query: %s", strings.TrimPrefix(err.Error(), "-Q: "))
		}
	}
	return s, nil
}

func (s *series) single() bool { return s.kind == "" }

// runSeries makes one run after the other until all are made, or one cannot be carried out. The
// first one's units are ready.
func (r *stressRun) runSeries(a *app, view *live.View, started time.Time, ready pass) error {
	set := result.Set{Schema: result.Schema, Tool: "gostress", Kind: r.series.kind}
	var err error
	for i, n := range r.series.numbers {
		if i > 0 {
			started = time.Now()
			r.connections = n
			if ready, err = r.pass(a); err != nil {
				break
			}
		}
		var at int
		if !r.series.single() {
			at = i + 1
			r.log.Line("Run %d of %d: %d connection(s) for each input", at, len(r.series.numbers), r.connections)
		}
		var run *result.Run
		if run, err = r.once(a, view, started, ready, at); run != nil {
			set.Runs = append(set.Runs, *run)
		}
		if err != nil || run.Aborted != "" {
			break
		}
	}
	view.Close()
	var out any = set
	switch {
	case len(set.Runs) == 0:
		return err
	case r.series.single():
		out = set.Runs[0]
	case r.series.kind == "sweep":
		var points []compare.Scale
		for _, run := range set.Runs {
			points = append(points, compare.Scale{Connections: run.Connections, Rate: run.BatchesPerS})
		}
		set.USL = compare.Fit(points)
		out = set
		r.table(func(w io.Writer) error { return compare.SweepText(w, set) })
	case len(set.Runs) > 1:
		r.table(compare.Compare([]compare.Input{{Name: fmt.Sprintf("median of %d", len(set.Runs)), Runs: set.Runs}}).Text)
	}
	if r.cmd.JSON != "" {
		err = errors.Join(err, report.WriteJSON(r.cmd.JSON, out))
	}
	return err
}

// table puts a table into the log.
func (r *stressRun) table(write func(io.Writer) error) {
	var sb strings.Builder
	_ = write(&sb) // a strings.Builder takes everything
	r.log.Own(sb.String())
}

// resetAll brings the data back to where each run is to begin.
func (r *stressRun) resetAll(a *app) error {
	if !r.series.reset && len(r.series.resetQuery.Batches) == 0 {
		return nil
	}
	login, cancel := withTimeout(a.ctx, r.login)
	s, err := r.one.inner.Connect(login)
	cancel()
	if err != nil {
		return err
	}
	defer s.Close()
	if r.series.reset {
		run, err := scenario.FindRun(r.cmd.Workload)
		if err != nil {
			return err
		}
		return scenario.Reset(a.ctx, s, run.Workload, scenario.Options{Out: io.Discard})
	}
	for _, b := range r.series.resetQuery.Batches {
		for range b.Count {
			out, err := s.Do(a.ctx, &driver.Request{Text: b.Text, Plain: true}, nil)
			if err == nil && len(out.Errors) > 0 {
				err = out.Errors[0]
			}
			if err != nil {
				return fmt.Errorf("--reset-query, line %d: %w", b.Line, err)
			}
		}
	}
	return nil
}

// resultsOf is where the results of a run go: a series has a directory for each.
func (r *stressRun) resultsOf(at int) (*ostress.Dir, error) {
	if at == 0 {
		return r.dir, nil
	}
	return ostress.OpenDir(filepath.Join(r.dir.Path, fmt.Sprintf("run-%d", at)))
}
