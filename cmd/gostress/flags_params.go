package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"gostress/pkg/driver"
	"gostress/pkg/param"
	"gostress/pkg/scenario"
	"gostress/pkg/script"
	"gostress/pkg/target"
)

// paramFlags give the statements their parameters, and scripts their variables.
type paramFlags struct {
	Params        string
	ParamQuery    string
	ParamServer   string
	ParamDatabase string
	ParamOrder    string
	ParamTypes    string
	Var           []string `sep:"none"`
	Inline        bool
	SqlcmdVars    []string `sep:"none"`
}

// params are checked paramFlags.
type params struct {
	flags    *paramFlags
	order    param.Order
	declared []param.Column
	sqlcmd   map[string]string // by names in lower case; nil: nothing is replaced
	table    param.Table       // once it was read
}

func (f *paramFlags) check(c *stressCmd) (params, error) {
	p := params{flags: f, order: param.Sequential}
	var err error
	switch {
	case !p.wanted() && f.ParamOrder+f.ParamTypes+f.ParamServer+f.ParamDatabase != "":
		return p, usagef("--param-order, --param-types, --param-server and --param-database go with --params or --param-query")
	case !p.wanted() && f.Inline:
		return p, usagef("--inline says how parameters are put in: it goes with --params, --param-query or --var")
	case f.Params != "" && f.ParamQuery != "":
		return p, usagef("only one of --params and --param-query can be given")
	case f.ParamQuery == "" && f.ParamServer+f.ParamDatabase != "":
		return p, usagef("--param-server and --param-database say where --param-query is run")
	case f.Params == "" && f.ParamQuery == "" && f.ParamOrder+f.ParamTypes != "":
		return p, usagef("--param-order and --param-types are of the rows of --params or --param-query; a --var has its type in its own text, as in id:int=uniform(1,9)")
	case (p.wanted() || len(f.SqlcmdVars) > 0) && (c.Workload != "" || c.RunMode == "replay"):
		return p, usagef("parameters and --sqlcmd-vars are for -Q and .sql files")
	}
	if f.ParamOrder != "" {
		if p.order, err = param.ParseOrder(f.ParamOrder); err != nil {
			return p, usagef("--param-order: %v", err)
		}
	}
	if f.ParamTypes != "" {
		if p.declared, err = param.ParseColumns(f.ParamTypes); err != nil {
			return p, usagef("--param-types: %v", err)
		}
	}
	if _, err := target.ParseServer(f.ParamServer); err != nil {
		return p, usagef("--param-server: %v", err)
	}
	if _, err := p.vars(); err != nil {
		return p, err
	}
	return p, p.readSqlcmd()
}

// wanted says that there are parameters.
func (p *params) wanted() bool {
	return p.flags.Params != "" || p.flags.ParamQuery != "" || len(p.flags.Var) > 0
}

// vars are the generators, each at its beginning.
func (p *params) vars() ([]param.Var, error) {
	var out []param.Var
	for _, text := range p.flags.Var {
		v, err := param.ParseVar(text)
		if err != nil {
			return nil, usagef("--var: %v", err)
		}
		out = append(out, v)
	}
	return out, nil
}

// readSqlcmd reads sqlcmd's variables: NAME=VALUE, or NAME alone for the
// environment's.
func (p *params) readSqlcmd() error {
	if len(p.flags.SqlcmdVars) == 0 {
		return nil
	}
	p.sqlcmd = map[string]string{}
	for _, text := range p.flags.SqlcmdVars {
		name, value, ok := strings.Cut(text, "=")
		if name == "" || strings.ContainsAny(name, " \t()$") {
			return usagef("--sqlcmd-vars=%s: write NAME=VALUE, or the NAME of an environment variable", text)
		}
		if !ok {
			if value, ok = os.LookupEnv(name); !ok {
				return usagef("--sqlcmd-vars=%s: there is no environment variable of that name; write %s=VALUE", name, name)
			}
		}
		key := strings.ToLower(name)
		if _, twice := p.sqlcmd[key]; twice {
			return usagef("--sqlcmd-vars: %s is given twice", name)
		}
		p.sqlcmd[key] = value
	}
	return nil
}

// edit replaces sqlcmd's variables in a script's text.
func (p *params) edit(text string) (string, error) {
	if p.sqlcmd == nil {
		return text, nil
	}
	out, err := param.Sqlcmd(text, func(name string) (string, bool) {
		v, ok := p.sqlcmd[strings.ToLower(name)]
		return v, ok
	})
	var missing *param.VariableError
	if errors.As(err, &missing) {
		return "", &script.Error{Line: missing.Line, Text: fmt.Sprintf("$(%s) has no value: --sqlcmd-vars %s=... gives it one", missing.Name, missing.Name)}
	}
	return out, err
}

// editor is edit, or nil when there is nothing to replace.
func (p *params) editor() func(string) (string, error) {
	if p.sqlcmd == nil {
		return nil
	}
	return p.edit
}

// readParams reads the rows of parameters, before anything else is sent.
func (r *stressRun) readParams(a *app) error { return r.readRows(a, &r.params) }

func (r *stressRun) readRows(a *app, p *params) error {
	var err error
	switch f := p.flags; {
	case f.Params != "":
		p.table, err = reading(a.ctx, func() (param.Table, error) { return param.Load(nativePath(f.Params), p.declared) })
	case f.ParamQuery != "":
		if p.table, err = r.queryParams(a, p); err != nil {
			err = fmt.Errorf("--param-query: %w", err)
		}
	}
	if err == nil && p.flags.Inline {
		r.say("--inline: each row makes a text of its own, and so a plan of its own: the server's plan cache fills with them")
	}
	return err
}

// queryParams reads them through a connection of its own, with the login of the
// run.
func (r *stressRun) queryParams(a *app, p *params) (param.Table, error) {
	flags := r.cmd.connectFlags // a copy
	flags.tune = nil
	flags.Server = cmp.Or(p.flags.ParamServer, flags.Server)
	flags.Database = cmp.Or(p.flags.ParamDatabase, flags.Database)
	tgt, err := flags.target(a, r.say)
	if err != nil {
		return param.Table{}, err
	}
	login, cancel := withTimeout(a.ctx, r.login)
	s, err := tgt.Connect(login)
	cancel()
	if err != nil {
		return param.Table{}, err
	}
	defer s.Close()
	return scenario.ReadParams(a.ctx, s, p.flags.ParamQuery, p.declared)
}

// bind gives units their parameters.
func (r *stressRun) bind(units []driver.Unit) ([]driver.Unit, error) {
	bind, check, err := r.binder(&r.params)
	if err != nil {
		return nil, err
	}
	for i := range units {
		if units[i], err = bind(units[i]); err != nil {
			return nil, err
		}
	}
	return units, check()
}

// binder gives a unit its parameters, all units the same draws; check looks whether any unit names them.
func (r *stressRun) binder(p *params) (bind func(driver.Unit) (driver.Unit, error), check func() error, err error) {
	if !p.wanted() {
		return func(u driver.Unit) (driver.Unit, error) { return u, nil }, func() error { return nil }, nil
	}
	vars, err := p.vars()
	if err != nil {
		return nil, nil, err
	}
	set, err := param.NewSet(p.table, p.order, vars, r.loop.seed)
	if err != nil {
		return nil, nil, err
	}
	var unused [][]string
	bind = func(u driver.Unit) (driver.Unit, error) {
		bound, names, err := scenario.WithParams(u, set, p.flags.Inline)
		if err != nil {
			return u, fmt.Errorf("%s: %w", u.Name, err)
		}
		unused = append(unused, names)
		return bound, nil
	}
	check = func() error {
		names := scenario.Unused(unused)
		switch {
		case names == "":
		case strings.Count(names, ",")+1 == len(set.Columns()):
			return fmt.Errorf("no input names any of the parameters: %s", names)
		default:
			r.say("no input names these parameters: " + names)
		}
		return nil
	}
	return bind, check, nil
}
