package main

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"time"

	"gostress/pkg/driver"
	"gostress/pkg/exporter"
	"gostress/pkg/live"
	"gostress/pkg/observe"
	"gostress/pkg/ostress"
	"gostress/pkg/report"
	"gostress/pkg/result"
)

// pass is what a run is to run.
type pass struct {
	units []driver.Unit
	end   context.CancelFunc // of the pauses in them
}

// pass makes the units anew: what is drawn or counted in them begins anew too.
func (r *stressRun) pass(a *app) (pass, error) {
	if err := r.resetAll(a); err != nil {
		return pass{}, err
	}
	r.inputs = nil
	ctx, end := context.WithCancel(a.ctx)
	units, err := r.units(ctx, a, r.one)
	if err == nil {
		err = r.clampUnits(units)
	}
	if err == nil {
		err = r.limits.know(units)
	}
	if err != nil {
		end()
		return pass{}, err
	}
	return pass{units, end}, nil
}

// once makes a run: that number at of a series, or the only one when at is 0. The result is nil
// when nothing was run.
func (r *stressRun) once(a *app, view *live.View, started time.Time, p pass, at int) (*result.Run, error) {
	defer p.end()
	c, units := r.cmd, p.units
	threads := 0
	for _, u := range units {
		threads += r.connectionsOf(u)
	}
	r.one.threads = threads
	dir, err := r.resultsOf(at)
	if err != nil {
		return nil, err
	}
	if dir != r.dir {
		defer func() { _ = dir.Close() }() // whatever becomes of the run; its state was checked before
	}
	sink, waits, err := r.sinks(dir, units)
	if err != nil {
		return nil, err
	}
	files := c.outputFlags
	if at > 0 {
		files = files.numbered(at)
	}
	loop := "closed"
	if r.loop.open() {
		loop = "open"
	}
	connector, err := r.connector()
	if err != nil {
		return nil, err
	}
	watched, err := r.watch(a.ctx)
	if err != nil {
		return nil, err
	}
	if watched != nil {
		defer watched.Close() // whatever becomes of the run
	}
	teardown, err := r.setup(a, r.one)
	if err != nil {
		return nil, err
	}
	rec, err := files.record(exporter.Info{Version: version, RunID: c.runID, Loop: loop})
	if err != nil {
		return nil, errors.Join(err, teardown())
	}
	if rec.exporter != nil {
		r.log.Line("Metrics of this run are served at http://%s/metrics while it goes on", rec.exporter.Address())
	}
	r.log.Line("Starting query execution...")
	r.log.Line("Creating %d thread(s) to process queries", threads)

	r.log.FileLine("Sessions of this run: SELECT * FROM sys.dm_exec_sessions WHERE program_name = N'%s'", strings.ReplaceAll(c.appName(), "'", "''"))
	events := ostress.Events{Log: r.log, Threads: threads, Verbose: c.Verbose, Inputs: r.inputs, Describe: describe}
	plan := driver.Plan{
		Connector:          connector,
		Units:              units,
		Connections:        r.connections,
		Iterations:         r.iterations,
		LoginTimeout:       r.login,
		QueryTimeout:       r.query,
		ConnectConcurrency: r.concurrency,
		Reconnect:          r.reconnect,
		StopOnError:        c.StopOnError,
		Sink:               sink,
		Events: func(e driver.Event) {
			if e.Kind == driver.Stopping {
				p.end()
			}
			events.Event(e)
		},
		Verbose:  c.Verbose,
		Progress: view.Update,
	}
	r.loop.fill(&plan)
	r.disturb(&plan)
	rec.fill(&plan)
	load, condition, err := r.drive(a.ctx, plan, rec, watched)
	err = errors.Join(err, teardown())
	if ostress.Told(err) {
		err = &connectedNobody{err}
	}
	if at == 0 {
		view.Close()
	}
	err = errors.Join(err, r.dir.Check())
	if dir != r.dir {
		err = errors.Join(err, dir.Check())
	}
	n, waited := waits()
	r.log.Line("Total IO waits: %d, Total IO wait time: %d (ms)", n, waited.Milliseconds())

	out := r.describeRun(a, started, units, load)
	out.Aborted = condition
	if watched != nil {
		seen := watched.Result()
		out.Observer = &seen
	}
	r.limits.judge(&out)
	r.void = r.void || out.Verdict == result.Void
	r.failed = r.failed || out.Verdict == result.Failed
	if load.Connected > 0 {
		r.table(func(w io.Writer) error { return report.Text(w, out) })
	}
	return &out, errors.Join(err, rec.end(out))
}

// drive carries the plan out. Watched may be nil. Condition is the one that ended it, which is no error.
func (r *stressRun) drive(parent context.Context, plan driver.Plan, rec *recording, watched *observe.Observer) (load result.Load, condition string, err error) {
	ctx, abort := context.WithCancelCause(parent)
	watching, endWatching := context.WithCancel(ctx)
	defer endWatching()
	defer abort(nil)
	w := &aborter{limits: r.limits, abort: abort}
	if watched != nil {
		w.observer = watched
	}
	go w.watch(watching)
	if len(w.abortOn) > 0 || rec.exporter != nil {
		plan.Live = func(l result.Load) {
			w.load(&l)
			if rec.exporter != nil {
				rec.exporter.Load(l)
			}
		}
	}
	load, err = driver.Run(ctx, plan)
	var why *aborted
	if errors.As(context.Cause(ctx), &why) && errors.Is(err, why) {
		load.Interrupted = false // nobody did but the run itself
		condition = why.found.Expr
		if err == error(why) {
			err = nil
		}
	}
	return load, condition, err
}

// sinks are where the results of a run go, and how long connections waited for that.
func (r *stressRun) sinks(dir *ostress.Dir, units []driver.Unit) (sink func(unit, conn int) (driver.Sink, error), waits func() (int64, time.Duration), err error) {
	results := ostress.NewResults(dir, r.format)
	if !r.quiet {
		return func(unit, conn int) (driver.Sink, error) { return results.Sink(ostress.Base(units[unit].Name), conn) }, results.Waits, nil
	}
	for _, u := range units {
		for conn := range r.connectionsOf(u) {
			if err := results.Empty(ostress.Base(u.Name), conn); err != nil {
				return nil, nil, err
			}
		}
	}
	return nil, results.Waits, nil
}

// describeRun is a result with what was asked, and where.
func (r *stressRun) describeRun(a *app, started time.Time, units []driver.Unit, load result.Load) result.Run {
	c := r.cmd
	out := result.Run{Schema: result.Schema, Tool: "gostress", Version: version, RunID: c.runID, StartedAt: started.UTC(), Args: a.args,
		Server: &result.Server{Address: r.tgt.Server().String(), Database: c.Database, Login: r.tgt.Login(), SetOptions: c.Session}, Load: load}
	if e := r.one.encryption.Load(); e != nil {
		out.Server.Encryption, out.Server.TLS = e[0], e[1]
	}
	if w := r.one.wire.Load(); w != nil {
		out.Server.Wire = *w
	}
	for _, u := range units {
		asked := result.Unit{Name: u.Name, Connections: r.connectionsOf(u), Iterations: r.iterations}
		if r.iterations == math.MaxInt64 {
			asked.Iterations = 0
		}
		out.Units = append(out.Units, asked)
	}
	return out
}
