package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"gostress/pkg/driver"
	"gostress/pkg/scenario"
	"gostress/pkg/script"
	"gostress/workloads"
)

// units are what the connections run: one for each file, query or workload. The
// pauses in them end with ctx.
func (r *stressRun) units(ctx context.Context, a *app, one *first) ([]driver.Unit, error) {
	c := r.cmd
	switch {
	case c.RunMode == "replay":
		return r.replayUnits(ctx, a, one)
	case c.mix != nil:
		return r.mixUnits(ctx, a, one)
	case c.Query != "":
		text, err := r.params.edit(c.Query)
		if err != nil {
			return nil, err
		}
		u, err := scenario.FromText(ctx, text)
		if err != nil {
			return nil, err
		}
		return r.bind([]driver.Unit{u})
	case c.Workload != "":
		run, err := scenario.FindRun(c.Workload)
		if err != nil {
			return nil, err
		}
		login, cancel := withTimeout(a.ctx, r.login)
		s, err := one.inner.Connect(login)
		cancel()
		if err != nil {
			return nil, err
		}
		defer s.Close()
		if err := installed(a.ctx, s, run); err != nil {
			return nil, err
		}
		if run.Part == workloads.Inmem {
			if err := r.clamp(1); err != nil {
				return nil, err
			}
			if err := r.room(a.ctx, s, run.Orders); err != nil {
				return nil, err
			}
		}
		u, err := run.Unit(a.ctx, s, scenario.RunOptions{Mode: r.mode, Seed: r.loop.seed})
		return []driver.Unit{u}, err
	}
	files, err := script.Expand(nativePath(c.Input))
	if err != nil {
		return nil, err
	}
	var units []driver.Unit
	for _, f := range files {
		s, err := reading(ctx, func() (script.Script, error) { return r.codepage.LoadEdited(f, r.params.editor()) })
		if err != nil {
			return nil, err
		}
		u, err := scenario.FromScript(ctx, s)
		if err != nil {
			return nil, err
		}
		units = append(units, u)
		full, err := filepath.Abs(f)
		if err != nil {
			full = f
		}
		r.inputs = append(r.inputs, full)
	}
	return r.bind(units)
}

// maxOrders is more than any memory holds, and safe to multiply.
const maxOrders = int64(1) << 40

// installed says so when the database has not what the run needs, before n
// connections find out one by one.
func installed(ctx context.Context, s driver.Session, run scenario.Run) error {
	f, err := scenario.ReadFacts(ctx, s)
	if err != nil {
		return err
	}
	if run.Part == workloads.Inmem && !f.HasInmem || run.Part == workloads.Ondisk && !f.HasOndisk {
		return fmt.Errorf("%s is not installed in database %s: gostress workload install %s installs it", run, f.Database, run.Workload.Name)
	}
	return nil
}

// room holds the orders that are to come against the memory that the server's
// edition allows for memory-optimized tables. Of a run that a time ends it knows
// only what a rate asks for, or else that each connection makes an iteration.
func (r *stressRun) room(ctx context.Context, s driver.Session, perIteration int) error {
	begun := min(r.iterations, maxOrders) // no product below is too large
	begun = min(begun*int64(r.connections), maxOrders)
	switch {
	case r.loop.open() && r.loop.timed():
		begun = min(begun, r.loop.arrivalsExpected())
	case r.loop.timed():
		begun = min(begun, int64(r.connections))
	}
	orders := min(begun*int64(perIteration), maxOrders)
	warning, refuse, err := scenario.CheckMemory(ctx, s, orders)
	switch {
	case err != nil:
		return err
	case refuse:
		return errors.New(warning)
	case warning != "":
		r.say(warning)
	}
	return nil
}
