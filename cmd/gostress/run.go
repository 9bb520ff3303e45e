package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gostress/pkg/driver"
	"gostress/pkg/ostress"
	"gostress/pkg/scenario"
	"gostress/workloads"
)

// runCmd runs a scenario file. What stands behind the file are switches of an ostress run, which go
// before what the file says.
type runCmd struct {
	Args []string `arg:"" optional:"" passthrough:"" name:"scenario.yaml" help:"The scenario, and switches of an ostress run that go before it. --check in place of switches only checks it; --schema alone prints the JSON schema for editors."`
}

func (c *runCmd) Run(a *app) error {
	switch {
	case len(c.Args) == 0:
		return usagef("run needs a scenario file, as in gostress run mix.yaml -S. -E")
	case slices.Equal(c.Args, []string{"--schema"}):
		_, err := a.stdout.Write(scenario.Schema())
		return err
	case strings.HasPrefix(c.Args[0], "-"):
		return usagef("run %s: the scenario file comes first, as in gostress run mix.yaml -S. -E", ostress.Redact(c.Args[:1])[0])
	}
	mix, err := scenario.LoadMix(nativePath(c.Args[0]))
	if err != nil {
		return err
	}
	cli, err := newCLI(a.stdout, a.stderr)
	if err != nil {
		return err
	}
	if slices.Equal(c.Args[1:], []string{"--check"}) {
		if _, err := cli.parse(append([]string{"stress"}, mix.Switches...)); err != nil {
			return fmt.Errorf("%s: %s", mix.Path, plainKong(err))
		}
		cli.commands.Stress.mix = &mix
		r := stressRun{cmd: &cli.commands.Stress, control: ostress.DefaultControl()}
		if err := r.check(); err != nil {
			return fmt.Errorf("%s: %w", mix.Path, errors.New(err.Error()))
		}
		fmt.Fprintf(a.stdout, "%s: the scenario is in order\n", mix.Path)
		return nil
	}
	own, err := ostress.Rewrite(c.Args[1:], cli.takesValue)
	if err != nil {
		return err
	}
	k, err := cli.parse(slices.Concat([]string{"stress"}, mix.Switches, own))
	if cli.helped {
		return nil
	}
	if err != nil {
		return usagef("%s", plainKong(err))
	}
	cli.commands.Stress.mix = &mix
	return k.Run(a)
}

// mixUnits are those of a scenario file.
func (r *stressRun) mixUnits(ctx context.Context, a *app, one *first) ([]driver.Unit, error) {
	open := func(_ context.Context, run scenario.Run) (driver.Session, error) {
		login, cancel := withTimeout(a.ctx, r.login)
		defer cancel()
		s, err := one.inner.Connect(login)
		if err != nil {
			return nil, err
		}
		err = installed(a.ctx, s, run)
		if err == nil && run.Part == workloads.Inmem {
			err = r.room(a.ctx, s, run.Orders)
		}
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return s, nil
	}
	bind, check, err := r.binder()
	if err != nil {
		return nil, err
	}
	units, err := r.cmd.mix.Units(ctx, r.loop.seed, open, bind)
	if err != nil {
		return nil, err
	}
	return units, check()
}

// connector opens the run's sessions, with what a scenario runs on each.
func (r *stressRun) connector() (driver.Connector, error) {
	if r.cmd.mix == nil {
		return r.one, nil
	}
	return r.cmd.mix.Connector(r.one)
}

// onceTime is how long what a scenario runs once may take at its end.
const onceTime = 2 * time.Minute

// setup runs what a scenario has to run once before the load; the function it returns what it has to
// run after it, also after an interrupt.
func (r *stressRun) setup(a *app, one *first) (teardown func() error, err error) {
	nothing := func() error { return nil }
	m := r.cmd.mix
	if m == nil {
		return nothing, nil
	}
	before, after := m.Once()
	once := func(ctx context.Context, what string, f func(context.Context, driver.Session) error) error {
		login, cancel := withTimeout(ctx, r.login)
		defer cancel()
		s, err := one.inner.Connect(login)
		if err != nil {
			return fmt.Errorf("the scenario's %s: %w", what, err)
		}
		defer s.Close()
		if err := f(ctx, s); err != nil {
			return fmt.Errorf("the scenario's %s: %w", what, err)
		}
		return nil
	}
	if after {
		nothing = func() error {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), onceTime)
			defer cancel()
			return once(ctx, "teardown", m.Teardown)
		}
	}
	if before {
		if err := once(a.ctx, "setup", m.Setup); err != nil {
			return nothing, errors.Join(err, nothing())
		}
	}
	return nothing, nil
}
