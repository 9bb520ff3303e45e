package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"gostress/pkg/driver"
	"gostress/pkg/scenario"
	"gostress/workloads"
)

type workloadCmd struct {
	List      workloadList      `cmd:"" help:"List the bundled workloads."`
	Show      workloadShow      `cmd:"" help:"Show what a workload is, what it runs, and its scripts."`
	Install   workloadInstall   `cmd:"" help:"Install a workload in a database."`
	Reset     workloadReset     `cmd:"" help:"Bring a workload's tables back to their original rows."`
	Verify    workloadVerify    `cmd:"" help:"Check a workload's tables; exit status 1 when a check fails."`
	Uninstall workloadUninstall `cmd:"" help:"Remove everything that install made."`
}

type workloadList struct{}

func (workloadList) Run(a *app) error {
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	for _, wl := range workloads.All() {
		fmt.Fprintf(w, "%s\t%s\n", wl.Name, wl.Title)
		for _, r := range wl.Runs {
			fmt.Fprintf(w, "  %s/%s\t%s\n", wl.Name, r.Name, r.Title)
		}
	}
	return w.Flush()
}

type workloadShow struct {
	Name    string `arg:"" help:"Workload, or WORKLOAD/RUN for the text of one iteration."`
	Scripts bool   `help:"Print the scripts too."`
}

func (c *workloadShow) Run(a *app) error {
	if strings.Contains(c.Name, "/") {
		r, err := scenario.FindRun(c.Name)
		if err != nil {
			return err
		}
		fmt.Fprintln(a.stdout, strings.TrimRight(r.Batch, "\n"))
		return nil
	}
	wl, err := findWorkload(c.Name)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s: %s\n\n%s\n", wl.Name, wl.Title, strings.TrimRight(wl.About, "\n"))
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "\nparts (--only):")
	for _, p := range wl.Parts {
		fmt.Fprintf(w, "  %s\t%s\n", p.Name, p.Title)
	}
	fmt.Fprintln(w, "\nruns (--workload):")
	for _, r := range wl.Runs {
		fmt.Fprintf(w, "  %s/%s\t%s\n", wl.Name, r.Name, r.Title)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if c.Scripts {
		all := append(append([]workloads.Script{}, wl.Install...), wl.Reset, wl.Verify, wl.Uninstall)
		for _, s := range all {
			fmt.Fprintf(a.stdout, "\n-- %s\n%s\n", s.File, strings.TrimRight(s.Text, "\n"))
		}
	}
	return nil
}

func findWorkload(name string) (workloads.Workload, error) {
	if w, ok := workloads.Lookup(name); ok {
		return w, nil
	}
	var names []string
	for _, w := range workloads.All() {
		names = append(names, w.Name)
	}
	return workloads.Workload{}, fmt.Errorf("there is no bundled workload %q; there is %s", name, strings.Join(names, ", "))
}

// workloadFlags are what the commands that act on a database share.
type workloadFlags struct {
	Name string `arg:"" help:"Workload, such as inmem-oltp."`
	connectFlags
}

// on runs f with the workload and a session in the database.
func (c *workloadFlags) on(a *app, f func(ctx context.Context, s driver.Session, w workloads.Workload) error) error {
	w, err := findWorkload(c.Name)
	if err != nil {
		return err
	}
	if err := c.ready(a); err != nil {
		return err
	}
	t, err := c.target(a, a.say)
	if err != nil {
		return err
	}
	ctx, cancel := withTimeout(a.ctx, c.timeout())
	s, err := t.Connect(ctx)
	cancel()
	if err != nil {
		return err
	}
	defer s.Close()
	return f(a.ctx, s, w)
}

func (c *workloadFlags) ready(a *app) error {
	if err := c.check(); err != nil {
		// A command's own errors are not ostress's.
		return errors.New(err.Error())
	}
	if err := c.resolve(a.say); err != nil {
		return err
	}
	if c.Database == "" {
		return errors.New("name the database with -d")
	}
	return nil
}

// say is a note to the user of a command.
func (a *app) say(text string) { fmt.Fprintln(a.stderr, "NOTE:", text) }

type workloadInstall struct {
	workloadFlags
	Only   string `help:"Install one part alone: inmem or ondisk."`
	Orders int64  `help:"Orders to size hash indexes for (default 1,000,000)."`
	Yes    bool   `help:"Install in a database that install did not make."`
}

func (c *workloadInstall) Run(a *app) error {
	w, err := findWorkload(c.Name)
	if err != nil {
		return err
	}
	if err := c.ready(a); err != nil {
		return err
	}
	if c.Orders < 0 {
		return fmt.Errorf("--orders=%d: it must not be negative", c.Orders)
	}
	t, err := c.target(a, a.say)
	if err != nil {
		return err
	}
	return scenario.InstallInto(a.ctx, func(db string) driver.Connector { return t.WithDatabase(db) }, c.Database, w,
		scenario.Options{Only: c.Only, Orders: c.Orders, Yes: c.Yes, Out: a.stdout})
}

type workloadReset struct {
	workloadFlags
	Yes bool `help:"Reset in a database that install did not make."`
}

func (c *workloadReset) Run(a *app) error {
	return c.on(a, func(ctx context.Context, s driver.Session, w workloads.Workload) error {
		return scenario.Reset(ctx, s, w, scenario.Options{Yes: c.Yes, Out: a.stdout})
	})
}

type workloadUninstall struct {
	workloadFlags
	Yes bool `help:"Overrule the refusals that say so."`
}

func (c *workloadUninstall) Run(a *app) error {
	return c.on(a, func(ctx context.Context, s driver.Session, w workloads.Workload) error {
		return scenario.Uninstall(ctx, s, w, scenario.Options{Yes: c.Yes, Out: a.stdout})
	})
}

type workloadVerify struct {
	workloadFlags
	Only   string `help:"Verify one part alone: inmem or ondisk."`
	Orders int64  `default:"-1" help:"Orders expected above the originals; -1 when that is not known."`
}

func (c *workloadVerify) Run(a *app) error {
	return c.on(a, func(ctx context.Context, s driver.Session, w workloads.Workload) error {
		facts, err := scenario.ReadFacts(ctx, s)
		if err != nil {
			return err
		}
		forms := []string{workloads.Inmem, workloads.Ondisk}
		switch {
		case c.Only == workloads.Inmem || c.Only == workloads.Ondisk:
			forms = []string{c.Only}
		case c.Only != "":
			return fmt.Errorf("--only=%s: write %s or %s", c.Only, workloads.Inmem, workloads.Ondisk)
		case !facts.HasInmem && facts.HasOndisk:
			forms = []string{workloads.Ondisk}
		case facts.HasInmem && !facts.HasOndisk:
			forms = []string{workloads.Inmem}
		}
		ok := true
		for _, form := range forms {
			v, err := scenario.Verify(ctx, s, w, scenario.VerifyOptions{Form: form, Orders: c.Orders})
			if err != nil {
				return err
			}
			ok = printVerification(a, v) && ok
		}
		if !ok {
			return errors.New("a check failed")
		}
		return nil
	})
}

// printVerification prints each check, and says whether all hold.
func printVerification(a *app, v scenario.Verification) bool {
	fmt.Fprintf(a.stdout, "%s, %s: %d orders and %d lines above the originals; %s\n", v.Database, v.Form, v.Orders, v.Lines, v.Formula)
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	for _, c := range v.Checks {
		verdict := "ok"
		if !c.OK {
			verdict = fmt.Sprintf("FAILED: want %d, got %d", c.Want, c.Got)
		}
		fmt.Fprintf(w, "  %s\t%s\n", c.Name, verdict)
	}
	_ = w.Flush()
	return v.OK()
}
