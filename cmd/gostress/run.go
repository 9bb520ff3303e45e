package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gostress/pkg/driver"
	"gostress/pkg/ostress"
	"gostress/pkg/scenario"
	"gostress/pkg/script"
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
	mix, err := reading(a.ctx, func() (scenario.Mix, error) { return scenario.LoadMix(nativePath(c.Args[0])) })
	if err != nil {
		return err
	}
	own := c.Args[1:]
	check := slices.Equal(own, []string{"--check"})
	if slices.Contains(own, "--check") && !check {
		return usagef("run --check checks the scenario alone: no other switch goes with it")
	}
	if check {
		own = nil
	}
	cli, err := newCLI(a.stdout, a.stderr)
	if err != nil {
		return err
	}
	if own, err = ostress.Rewrite(own, cli.takesValue); err != nil {
		return err
	}
	kept := leftOf(mix.Switches, own)
	args := []string{"stress"}
	for _, s := range kept {
		args = append(args, s.String())
	}
	k, err := cli.parse(append(args, own...))
	switch {
	case cli.helped:
		return nil
	case err != nil && len(own) > 0:
		return usagef("%s", plainKong(err))
	case err != nil:
		return placed(mix.Path, kept, errors.New(plainKong(err)))
	}
	stress := &cli.commands.Stress
	stress.mix = &mix
	r := stressRun{cmd: stress, control: ostress.DefaultControl()}
	if err := r.checkMix(a, check); err != nil {
		return placedUnless(mix.Path, kept, own, err)
	}
	if check {
		fmt.Fprintf(a.stdout, "%s: the scenario is in order\n", mix.Path)
		return nil
	}
	return k.Run(a)
}

// checkMix checks a scenario with its switches, and all that it names when nothing is to be run.
func (r *stressRun) checkMix(a *app, files bool) error {
	if err := r.check(); err != nil {
		return err
	}
	m := r.cmd.mix
	if err := r.limits.know([]driver.Unit{{Name: m.Name, Statements: m.Names()}}); err != nil {
		return err
	}
	if refuse, found := m.Own(false); found && r.loop.open() {
		return refuse("connections of a statement's own are for a closed loop: with a rate, each iteration goes to whichever connection is free, and the weights alone give shares")
	}
	if refuse, found := m.Own(true); found && r.loop.byConnections() {
		return refuse("stages say how many connections each statement has: write own_connections: true")
	}
	if !files {
		return nil
	}
	own, err := r.mixParams()
	if err != nil {
		return err
	}
	m.Edit = r.params.editor()
	for _, p := range append([]*params{&r.params}, own...) {
		if p != nil && p.flags.ParamQuery != "" {
			return m.Check(a.ctx, nil) // its columns are the server's
		}
	}
	r.log = newLog(io.Discard)
	for _, p := range append([]*params{&r.params}, own...) {
		if p == nil {
			continue
		}
		if err := r.readRows(a, p); err != nil {
			return err
		}
	}
	bind, done, err := r.mixBinder(own)
	if err == nil {
		err = m.Check(a.ctx, bind)
	}
	if err == nil {
		err = done()
	}
	return err
}

// leftOf are the switches of a file that those of the command line leave: each goes before its own in
// the file, and before those that it cannot be with. Conditions and variables are added to.
func leftOf(file []scenario.Switch, own []string) []scenario.Switch {
	against := map[string][]string{
		"stages": {"duration", "rate"}, "duration": {"stages"}, "rate": {"stages", "think"}, "think": {"rate", "arrivals", "late", "max-connections"},
		"params": {"param-query", "param-server", "param-database"}, "param-query": {"params"}, "integrated": {"user"}, "user": {"integrated"},
	}
	gone := map[string]bool{}
	variable := func(value string) string {
		name, _, _ := strings.Cut(value, "=")
		name, _, _ = strings.Cut(name, ":")
		return strings.ToLower(strings.TrimPrefix(strings.TrimSpace(name), "@"))
	}
	for _, text := range own {
		name, value, _ := strings.Cut(strings.TrimPrefix(text, "--"), "=")
		switch name {
		case "threshold", "abort-on":
		case "var", "sqlcmd-vars":
			gone[name+"="+variable(value)] = true
		default:
			gone[name] = true
			for _, other := range against[name] {
				gone[other] = true
			}
		}
	}
	var out []scenario.Switch
	for _, s := range file {
		if !gone[s.Name] && !gone[s.Name+"="+variable(s.Value)] {
			out = append(out, s)
		}
	}
	return out
}

// placed is an error about a scenario's switches with the place of the one that it is about, which is
// the first that it names, or whose value it has.
func placed(path string, file []scenario.Switch, err error) error {
	var at *script.Error
	if errors.As(err, &at) {
		return err
	}
	at = &script.Error{Path: path, Text: err.Error()}
	first := len(at.Text)
	for _, s := range file {
		if i := mentioned(at.Text, s); i < first {
			first, at.Line, at.Col = i, s.Line, s.Col
		}
	}
	return at
}

// placedUnless is placed, unless the command line has switches of its own and nothing of the file is
// named: then it is they who are wrong.
func placedUnless(path string, file []scenario.Switch, own []string, err error) error {
	var bad *ostress.ArgError
	if p := placed(path, file, err); len(own) == 0 || !errors.As(err, &bad) || strings.Contains(p.Error(), ", line ") {
		return p
	}
	return err
}

// mentioned is where a text speaks of a switch; the text's length when it does not.
func mentioned(text string, s scenario.Switch) int {
	letters := map[string]string{"connections": "n", "iterations": "r", "query-timeout": "t", "login-timeout": "l", "packet-size": "p",
		"max-threads": "M", "lcid": "L", "result-format": "f", "control-file": "c", "data-source": "D"}
	many := slices.Contains([]string{"threshold", "abort-on", "var", "sqlcmd-vars"}, s.Name)
	if many {
		name, _, _ := strings.Cut(s.Value, "=")
		if !strings.Contains(text, s.Value) && (s.Name != "sqlcmd-vars" || !strings.Contains(text, name)) {
			return len(text)
		}
		return 0
	}
	for _, name := range []string{"--" + s.Name, "-" + letters[s.Name]} {
		i := strings.Index(text, name)
		if name == "-" || i < 0 || i > 0 && text[i-1] != ' ' && text[i-1] != '(' {
			continue
		}
		rest := text[i+len(name):]
		if rest == "" || strings.ContainsRune(":=, )", rune(rest[0])) || !strings.HasPrefix(name, "--") && strings.HasPrefix(rest, s.Value) {
			return i
		}
	}
	if len(s.Value) > 2 && strings.Contains(text, s.Value) {
		return len(text) - 1 // of all that are named, the last resort
	}
	return len(text)
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
	own, err := r.mixParams()
	if err != nil {
		return nil, err
	}
	for _, p := range own {
		if p == nil {
			continue
		}
		if err := r.readRows(a, p); err != nil {
			return nil, err
		}
	}
	bind, check, err := r.mixBinder(own)
	if err != nil {
		return nil, err
	}
	r.cmd.mix.Edit = r.params.editor()
	units, err := r.cmd.mix.Units(ctx, r.loop.seed, open, bind)
	if err != nil {
		return nil, err
	}
	return units, check()
}

// mixParams are the parameters of statements that have their own, by statement; nil has none.
func (r *stressRun) mixParams() ([]*params, error) {
	m := r.cmd.mix
	var out []*params
	for i := range m.Statements() {
		switches := m.Params(i)
		if len(switches) == 0 {
			out = append(out, nil)
			continue
		}
		cli, err := newCLI(io.Discard, io.Discard)
		if err != nil {
			return nil, err
		}
		args := []string{"stress"}
		for _, s := range switches {
			args = append(args, s.String())
		}
		if _, err := cli.parse(args); err != nil {
			return nil, placed(m.Path, switches, errors.New(plainKong(err)))
		}
		p, err := cli.commands.Stress.paramFlags.check(&cli.commands.Stress)
		if err != nil {
			return nil, placed(m.Path, switches, err)
		}
		out = append(out, &p)
	}
	return out, nil
}

// mixBinder gives each statement its own parameters, or the scenario's.
func (r *stressRun) mixBinder(own []*params) (bind func(int, driver.Unit) (driver.Unit, error), check func() error, err error) {
	shared, checkShared, err := r.binder(&r.params)
	if err != nil {
		return nil, nil, err
	}
	bound := !r.params.wanted()
	var checks []func() error
	bind = func(i int, u driver.Unit) (driver.Unit, error) {
		if own[i] == nil {
			bound = true
			return shared(u)
		}
		b, check, err := r.binder(own[i])
		if err != nil {
			return u, err
		}
		checks = append(checks, check)
		return b(u)
	}
	return bind, func() error {
		if !bound {
			return errors.New("no statement takes the scenario's parameters: each is a workload, or has its own")
		}
		err := checkShared()
		for _, check := range checks {
			err = errors.Join(err, check())
		}
		return err
	}, nil
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
