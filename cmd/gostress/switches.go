package main

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"gostress/pkg/driver"
	"gostress/pkg/ostress"
	"gostress/pkg/scenario"
	"gostress/pkg/script"
)

// What holds when a switch is not given.
const (
	defaultMaxThreads   = 10000
	defaultLoginTimeout = 15 * time.Second
)

func (r *stressRun) check() error {
	c := r.cmd
	bad := func(format string, args ...any) error { return &ostress.ArgError{Text: fmt.Sprintf(format, args...)} }
	given := 0
	for _, v := range []string{c.Query, c.Input, c.Workload} {
		if v != "" {
			given++
		}
	}
	if c.mix != nil {
		given++
	}
	switch {
	case given > 1 && c.mix != nil:
		return bad("a scenario says what is run: -Q, -i and --workload do not go with it")
	case given == 0:
		return bad("nothing to run: give a query with -Q, an input file with -i, or --workload")
	case given > 1:
		return bad("only one of -Q, -i and --workload can be given")
	}
	var err error
	if r.loop, err = c.loopFlags.check(c.Connections, c.Iterations); err != nil {
		return err
	}
	if r.series, err = c.seriesFlags.check(c, &r.loop); err != nil {
		return err
	}
	if r.iterations, err = r.loop.readLength(c.Iterations); err != nil {
		return err
	}
	if r.login, err = timeLimit("-l", c.LoginTimeout, defaultLoginTimeout); err != nil {
		return err
	}
	if r.query, err = timeLimit("-t", c.QueryTimeout, 0); err != nil {
		return err
	}
	if r.limits, err = c.thresholdFlags.check(); err != nil {
		return err
	}
	if r.params, err = c.paramFlags.check(c); err != nil {
		return err
	}
	cc, err := number("--connect-concurrency", c.ConnectConcurrency, 1)
	if err != nil {
		return err
	}
	r.concurrency = int(min(cc, 1<<20))
	if c.Retries != "" {
		n, err := number("--retries", c.Retries, 0)
		if err != nil {
			return err
		}
		r.retries = int(min(n, math.MaxInt32))
	}
	r.maxThreads = defaultMaxThreads
	if c.MaxThreads != "" {
		m, merr := number("-M", c.MaxThreads, 0)
		switch {
		case merr != nil:
			r.warn("-M%s is not a number of threads: at most %d are used", c.MaxThreads, defaultMaxThreads)
		case m > 0:
			r.maxThreads = int(min(m, 1<<20))
		}
	}
	r.connections = r.series.numbers[0]
	if r.loop.byConnections() {
		r.connections = r.loop.most(0)
	}
	if m := r.loop.maxConnections; m > 0 && m < r.connections {
		return bad("--max-connections=%d is less than the %d connections that there are (-n)", m, r.connections)
	}
	switch c.RunMode {
	case "stress":
		if c.ReplayPassword != "" {
			return bad("-a is the password of a replay's logins: it goes with -mreplay")
		}
	case "replay":
		if err := r.checkReplay(); err != nil {
			return err
		}
	default:
		return bad("-m%s: the mode is stress or replay", c.RunMode)
	}
	switch c.ResultFormat {
	case "":
	case "x", "xml":
		r.format.XML = true
	default:
		return bad("-f%s: the format is x (XML), as in -fx", c.ResultFormat)
	}
	if r.format.Locale, err = ostress.ParseLCID(cmp.Or(c.LCID, "1024")); err != nil {
		return err
	}
	if r.format.XML && !r.format.Locale.Neutral() {
		r.note("-L%s has no effect on -fx: dates and numbers in XML have the form that programs read", c.LCID)
	}
	switch c.TraceFlag {
	case "", "146":
	default:
		if _, err := number("-T", c.TraceFlag, 0); err != nil {
			return err
		}
		r.note("trace flag %s has no effect here", c.TraceFlag)
	}
	switch c.Reconnect {
	case "backoff":
		r.reconnect = driver.ReconnectBackoff
	case "never":
		r.reconnect = driver.ReconnectNever
	case "always":
		r.reconnect = driver.ReconnectAlways
	default:
		return bad("--reconnect=%s: write backoff, never or always", c.Reconnect)
	}
	switch m := scenario.Mode(c.Mode); {
	case c.Mode == "":
	case c.Workload == "":
		return bad("--mode is for --workload")
	case m != scenario.Batch && m != scenario.TVP:
		return bad("--mode=%s: write batch or tvp", c.Mode)
	default:
		r.mode = m
	}
	if c.Codepage != "" {
		if c.Input == "" {
			return bad("--codepage is for input files (-i)")
		}
		if r.codepage, err = script.ParseCodePage(c.Codepage); err != nil {
			return bad("--codepage=%s: %v", c.Codepage, err)
		}
	}
	if c.Workload != "" {
		if _, err := scenario.FindRun(c.Workload); err != nil {
			return bad("--workload=%s: %v", c.Workload, err)
		}
	}
	if c.TraceFlag == "146" {
		if c.Encrypt != "" && c.Encrypt != "optional" {
			r.note("--encrypt=%s goes before -T146", c.Encrypt)
		} else {
			c.Encrypt = "optional"
		}
	}
	c.runID = uuid.NewString()[:8]
	if err := c.outputFlags.check(); err != nil {
		return err
	}
	if c.JUnit != "" && len(c.Threshold)+len(c.AbortOn) == 0 {
		return bad("--junit writes what became of --threshold and --abort-on, and there is neither")
	}
	return c.connectFlags.check()
}

// clamp lowers the connections of each unit until all threads are within -M.
func (r *stressRun) clamp(units int) error {
	if most := r.loop.most(r.connections); int64(units)*int64(most) <= int64(r.maxThreads) {
		return nil
	} else if len(r.loop.stages) > 0 || r.loop.maxConnections > 0 {
		return fmt.Errorf("--stages and --max-connections ask for %d connections for each of %d inputs, and %d threads are the most (-M)", most, units, r.maxThreads)
	}
	each := r.maxThreads / units
	if each == 0 {
		return fmt.Errorf("%d input files need as many threads at least, and %d are the most (-M)", units, r.maxThreads)
	}
	of := ""
	if units > 1 {
		of = fmt.Sprintf(" for each of %d input files", units)
	}
	r.log.Line("WARNING: -n%d: at most %d threads are allowed (-M): %d connections%s", r.connections, r.maxThreads, each, of)
	r.connections = each
	return nil
}

// connectionsOf is the number of connections of a unit.
func (r *stressRun) connectionsOf(u driver.Unit) int {
	return cmp.Or(u.Connections, r.loop.most(r.connections))
}

// clampUnits is clamp of units of which some may have a number of connections of their own.
func (r *stressRun) clampUnits(units []driver.Unit) error {
	all, fixed := int64(0), false
	for _, u := range units {
		all += int64(r.connectionsOf(u))
		fixed = fixed || u.Connections > 0
	}
	if fixed && all > int64(r.maxThreads) {
		return fmt.Errorf("the statements ask for %d connections, and %d threads are the most (-M)", all, r.maxThreads)
	}
	if fixed {
		return nil
	}
	return r.clamp(len(units))
}

func (r *stressRun) warn(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

func (r *stressRun) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

func number(name, value string, least int64) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0, &ostress.ArgError{Text: fmt.Sprintf("%s%s: not a whole number", name, glue(name, value))}
	}
	if n < least {
		return 0, &ostress.ArgError{Text: fmt.Sprintf("%s%s: it must be at least %d", name, glue(name, value), least)}
	}
	return n, nil
}

// timeLimit is a number of seconds, or what holds when the switch is not given.
func timeLimit(name, value string, otherwise time.Duration) (time.Duration, error) {
	if value == "" {
		return otherwise, nil
	}
	return seconds(name, value)
}

func seconds(name, value string) (time.Duration, error) {
	n, err := number(name, value, 0)
	if err != nil {
		return 0, err
	}
	return time.Duration(min(n, 1e9)) * time.Second, nil
}

func glue(name, value string) string {
	if strings.HasPrefix(name, "--") {
		return "=" + value
	}
	return value
}
