package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"gostress/pkg/driver"
	"gostress/pkg/live"
	"gostress/pkg/ostress"
	"gostress/pkg/report"
	"gostress/pkg/result"
	"gostress/pkg/scenario"
	"gostress/pkg/target"
	"gostress/workloads"
)

// demoDatabase has the name that the sample's command lines use.
const demoDatabase = "AdventureWorks2022"

type demoCmd struct {
	Connections int64  `short:"n" default:"20" help:"Connections."`
	Iterations  int64  `short:"r" default:"200" help:"Iterations of each connection, of 20 orders each."`
	Output      string `short:"o" help:"Directory for the log (default none)."`
	JSON        string `name:"json" help:"Write the result to FILE as JSON."`
	Progress    string `help:"What is shown while it runs: none, plain, tty or json."`
	// BeforeCheck is T-SQL run between the load and the check, so that a test
	// can see the check fail.
	BeforeCheck string `hidden:""`
}

func (c *demoCmd) Run(a *app) (err error) {
	switch {
	case c.Connections < 1 || c.Connections > defaultMaxThreads:
		return fmt.Errorf("-n%d: it must be from 1 to %d", c.Connections, defaultMaxThreads)
	case c.Iterations < 1 || c.Iterations > math.MaxInt32:
		return fmt.Errorf("-r%d: it must be from 1 to %d", c.Iterations, math.MaxInt32)
	}
	if c.JSON != "" {
		if err := report.Check(c.JSON); err != nil {
			return err
		}
	}
	started := time.Now()
	surviveClosedOutput()
	view, end, err := a.follow(c.Progress)
	if err != nil {
		return errors.New(err.Error()) // no error of an ostress command line
	}
	defer end()
	d := demo{cmd: c, app: a, view: view, log: newLog(aroundView{view, a.stdout})}
	if c.Output != "" {
		dir, err := ostress.OpenDir(nativePath(c.Output))
		if err != nil {
			return err
		}
		defer dir.Close()
		f, err := dir.Create("ostress", ".log")
		if err != nil {
			return err
		}
		defer f.Close()
		d.log.Attach(f)
	}
	d.out = result.Demo{Schema: result.Schema, Tool: "gostress", Version: version, StartedAt: started.UTC(), Runs: map[string]result.DemoRun{}}
	err = d.run()
	end()
	if c.JSON != "" && len(d.out.Runs) > 0 {
		err = errors.Join(err, report.WriteJSON(c.JSON, d.out))
	}
	if lerr := d.log.Err(); lerr != nil {
		err = errors.Join(err, fmt.Errorf("cannot write the log: %w", lerr))
	}
	d.log.Line("Elapsed time: %s", report.Clock(time.Since(started).Seconds()))
	if cerr := d.log.ConsoleErr(); cerr != nil {
		err = errors.Join(err, fmt.Errorf("cannot write to standard output: %w", cerr))
	}
	return err
}

// demo is one demonstration under way.
type demo struct {
	cmd  *demoCmd
	app  *app
	view *live.View
	log  *ostress.Log
	out  result.Demo
}

func (d *demo) run() error {
	ctx := d.app.ctx
	eng, err := startEngine(ctx, d.app.stderr)
	if err != nil {
		return err
	}
	defer func() {
		if err := eng.stop(); err != nil {
			d.log.Line("NOTE: the engine's process: %v", err)
		}
	}()
	d.log.Line("The embedded engine listens on %s. It is for demos and tests: its times are its own, not SQL Server's.", eng.server)
	t, err := target.New(target.Options{Server: eng.server, User: "sa", Password: eng.password, Database: demoDatabase, AppName: "gostress/" + version + " demo"})
	if err != nil {
		return err
	}
	w, err := findWorkload(workloads.InmemOLTP)
	if err != nil {
		return err
	}
	orders := d.cmd.Connections * d.cmd.Iterations * 20
	d.log.Line("Installing %s in database %s", w.Name, demoDatabase)
	err = scenario.InstallInto(ctx, func(db string) driver.Connector { return t.WithDatabase(db) }, demoDatabase, w,
		scenario.Options{Orders: max(orders, 100_000), Out: io.Discard})
	if err != nil {
		return fmt.Errorf("cannot install the workload: %w", err)
	}
	s, err := t.Connect(ctx)
	if err != nil {
		return err
	}
	defer s.Close()

	ok := true
	var columns []report.Column
	for _, form := range []string{workloads.Inmem, workloads.Ondisk} {
		run, good, err := d.form(ctx, t, s, w, form)
		if run.Connected > 0 {
			d.out.Runs[form] = run
			columns = append(columns, report.Column{Title: "_" + form, Run: run})
		}
		if err != nil {
			return errors.Join(err, d.table(columns))
		}
		ok = ok && good
	}
	if err := d.table(columns); err != nil {
		return err
	}
	d.log.Line("NOTE: in this version both kinds of table share one store in memory, so no ratio between them is shown.")
	if !ok {
		return errors.New("a check failed: the tables do not hold what the load must have left there")
	}
	return nil
}

// form resets, runs and checks one form of the tables.
func (d *demo) form(ctx context.Context, t *target.Target, s driver.Session, w workloads.Workload, form string) (result.DemoRun, bool, error) {
	fail := func(err error) (result.DemoRun, bool, error) { return result.DemoRun{}, false, err }
	d.log.Line("Resetting, then %d connections x %d iterations x 20 orders into the _%s tables", d.cmd.Connections, d.cmd.Iterations, form)
	if err := scenario.Reset(ctx, s, w, scenario.Options{Out: io.Discard}); err != nil {
		return fail(fmt.Errorf("cannot reset: %w", err))
	}
	before, err := scenario.Count(ctx, s, form)
	if err != nil {
		return fail(err)
	}
	r, err := scenario.FindRun(w.Name + "/" + form)
	if err != nil {
		return fail(err)
	}
	unit, err := r.Unit(ctx, nil, scenario.RunOptions{})
	if err != nil {
		return fail(err)
	}
	cpu0, err := engineCPU(ctx, s)
	if err != nil {
		return fail(err)
	}
	events := ostress.Events{Log: d.log, Threads: int(d.cmd.Connections)}
	load, runErr := driver.Run(ctx, driver.Plan{
		Connector:    t,
		Units:        []driver.Unit{unit},
		Connections:  int(d.cmd.Connections),
		Iterations:   d.cmd.Iterations,
		LoginTimeout: 30 * time.Second,
		Events:       events.Event,
		Progress:     d.view.Update,
	})
	out := result.DemoRun{Load: load}
	for _, n := range load.ErrorsByNumber {
		out.Errors += n
	}
	if runErr != nil {
		return out, false, runErr
	}
	cpu1, err := engineCPU(ctx, s)
	if err != nil {
		return out, false, err
	}
	out.EngineCPUUserS, out.EngineCPUSystemS = cpu1.user-cpu0.user, cpu1.system-cpu0.system
	if d.cmd.BeforeCheck != "" {
		if o, err := s.Do(ctx, &driver.Request{Text: d.cmd.BeforeCheck + "\n"}, nil); err != nil {
			return out, false, err
		} else if len(o.Errors) > 0 {
			return out, false, o.Errors[0]
		}
	}
	after, err := scenario.Count(ctx, s, form)
	if err != nil {
		return out, false, err
	}
	out.Orders, out.Lines = after.Orders-before.Orders, after.Lines-before.Lines
	if load.RunS > 0 {
		out.OrdersPerS = float64(out.Orders) / load.RunS
	}
	v, err := scenario.Verify(ctx, s, w, scenario.VerifyOptions{Form: form, Orders: d.cmd.Connections * d.cmd.Iterations * 20})
	if err != nil {
		return out, false, err
	}
	out.Verified = v.OK()
	for _, c := range v.Checks {
		if !c.OK {
			d.log.Line("CHECK FAILED: %s: want %d, got %d", c.Name, c.Want, c.Got)
		}
	}
	if v.OK() {
		d.log.Line("Checked %d orders and %d lines: %d checks hold; %s", out.Orders, out.Lines, len(v.Checks), v.Formula)
	}
	return out, v.OK(), nil
}

func (d *demo) table(columns []report.Column) error {
	if len(columns) == 0 {
		return nil
	}
	return report.Compare(textLog{d.log}, columns)
}

// textLog lets a report be written to the log as it stands.
type textLog struct{ log *ostress.Log }

func (t textLog) Write(p []byte) (int, error) {
	t.log.Text(string(p))
	return len(p), nil
}
