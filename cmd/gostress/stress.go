package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"gostress/pkg/driver"
	"gostress/pkg/ostress"
	"gostress/pkg/report"
	"gostress/pkg/result"
	"gostress/pkg/scenario"
	"gostress/pkg/script"
	"gostress/workloads"
)

const defaultMaxThreads = 10000

// stressCmd is an ostress run. Numbers are text here, so that what is wrong with
// them is said in this program's words.
type stressCmd struct {
	connectFlags

	Query    string `help:"Query."`
	Input    string `help:"Input file or pattern."`
	Workload string `help:"Bundled workload."`
	Mode     string `help:"How a bundled workload makes its orders."`

	Connections string `default:"1"`
	Iterations  string `default:"1"`
	Output      string
	Quiet       bool
	Verbose     bool
	StopOnError bool
	NoExitLine  bool
	MaxThreads  string
	TraceFlag   string
	RunMode     string `default:"stress"`
	JSON        string `name:"json"`

	QueryTimeout       string `default:"0"`
	ConnectConcurrency string `default:"64"`
	Reconnect          string `default:"backoff"`
}

// stressRun is a checked stressCmd.
type stressRun struct {
	cmd         *stressCmd
	log         *ostress.Log
	connections int
	iterations  int64
	maxThreads  int
	concurrency int
	login       time.Duration
	query       time.Duration
	reconnect   driver.Reconnect
	mode        scenario.Mode
	notes       []string    // said once the log's first lines are out
	files       []io.Closer // closed after the last line
}

func newLog(console io.Writer) *ostress.Log {
	return ostress.NewLog(console, time.Now, ostress.Thread(uint32(os.Getpid())))
}

func (c *stressCmd) Run(a *app) error {
	started := time.Now()
	r := stressRun{cmd: c}
	if err := r.check(); err != nil {
		return err
	}
	live := report.NewLive(a.stderr, a.term.err(), a.term.width)
	defer live.Close()
	r.log = newLog(aroundLive{live, a.stdout})
	r.log.Line("Max threads setting: %d", r.maxThreads)
	r.log.Block(r.log.Main(), "Arguments:", a.args...)
	r.log.Line("Using language id (LCID): 127 [invariant] for character formatting with NLS: none and Defined: none")
	r.log.Line("Default driver: go-mssqldb %s", moduleVersion("github.com/microsoft/go-mssqldb"))
	for _, n := range r.notes {
		r.log.Line("NOTE: %s", n)
	}
	err := r.run(a, live, started)
	live.Close()
	return r.finish(a, started, err)
}

// finish writes the last line, and turns what ended the run into an exit status.
func (r *stressRun) finish(a *app, started time.Time, err error) error {
	elapsed := report.Clock(time.Since(started).Seconds())
	code := exitOK
	var how string
	switch {
	case err == nil:
		how = "normally"
	case errors.Is(context.Cause(a.ctx), errInterrupted):
		code, how = exitInterrupted, "after an interrupt"
	default:
		code, how = exitFailed, fmt.Sprintf("due to error (%d)", exitFailed)
		r.log.Line("ERROR: %s", ostress.Mask(err.Error()))
	}
	if lerr := r.log.Err(); lerr != nil {
		fmt.Fprintln(a.stderr, "gostress: cannot write ostress.log:", lerr)
		if code == exitOK {
			code, how = exitFailed, fmt.Sprintf("due to error (%d)", exitFailed)
		}
	}
	if !r.cmd.NoExitLine {
		r.log.Line("OSTRESS exiting %s, elapsed time: %s", how, elapsed)
	}
	if cerr := r.log.ConsoleErr(); cerr != nil {
		fmt.Fprintln(a.stderr, "gostress: cannot write to standard output:", cerr)
		code = max(code, exitFailed)
	}
	for _, f := range r.files {
		if cerr := f.Close(); cerr != nil {
			fmt.Fprintln(a.stderr, "gostress:", cerr)
			code = max(code, exitFailed)
		}
	}
	if code == exitOK {
		return nil
	}
	return silent(code)
}

// run is everything between the first and the last line.
func (r *stressRun) run(a *app, live *report.Live, started time.Time) error {
	c := r.cmd
	if c.JSON != "" {
		if err := report.CheckJSON(c.JSON); err != nil {
			return err
		}
	}
	tgt, err := c.target(a, r.say)
	if err != nil {
		return err
	}
	units, err := r.units(a, tgt)
	if err != nil {
		return err
	}
	threads := len(units) * r.connections
	if threads > r.maxThreads {
		return fmt.Errorf("%d input file(s) x %d connections need %d threads, and at most %d are allowed: -M raises it",
			len(units), r.connections, threads, r.maxThreads)
	}
	dir, err := r.openDir(started)
	if err != nil {
		return err
	}
	r.files = append(r.files, dir)
	logFile, err := dir.Create(strings.TrimSuffix(ostress.LogName, ".log"), ".log")
	if err != nil {
		return err
	}
	r.files = append(r.files, logFile)
	r.log.Attach(logFile)
	for _, p := range dir.Removed {
		r.log.Line("Attempting DOD5015 removal of [%s]", p)
	}
	results := ostress.NewResults(dir)
	var sink func(unit, conn int) (driver.Sink, error)
	if !c.Quiet {
		sink = func(unit, conn int) (driver.Sink, error) { return results.Sink(ostress.Base(units[unit].Name), conn) }
	} else {
		for _, u := range units {
			for conn := range r.connections {
				if err := results.Empty(ostress.Base(u.Name), conn); err != nil {
					return err
				}
			}
		}
	}
	r.log.Line("Starting query execution...")
	r.log.Line("Creating %d thread(s) to process queries", threads)

	r.log.FileLine("Sessions of this run: SELECT * FROM sys.dm_exec_sessions WHERE program_name = N'%s'", strings.ReplaceAll(c.appName(), "'", "''"))
	one := &first{inner: tgt, threads: threads, say: r.say}
	events := ostress.Events{Log: r.log, Threads: threads, Verbose: c.Verbose, Describe: describe}
	load, err := driver.Run(a.ctx, driver.Plan{
		Connector:          one,
		Units:              units,
		Connections:        r.connections,
		Iterations:         r.iterations,
		LoginTimeout:       r.login,
		QueryTimeout:       r.query,
		ConnectConcurrency: r.concurrency,
		Reconnect:          r.reconnect,
		StopOnError:        c.StopOnError,
		Sink:               sink,
		Events:             events.Event,
		Verbose:            c.Verbose,
		Progress:           live.Update,
	})
	live.Close()
	waits, waited := results.Waits()
	r.log.Line("Total IO waits: %d, Total IO wait time: %d (ms)", waits, waited.Milliseconds())

	out := result.Run{Schema: result.Schema, Tool: "gostress", Version: version, RunID: c.runID, StartedAt: started.UTC(), Args: a.args,
		Server: &result.Server{Address: tgt.Server().String(), Database: c.Database, Login: tgt.Login(), SetOptions: c.Session}, Load: load}
	if e := one.encryption.Load(); e != nil {
		out.Server.Encryption = *e
	}
	if w := one.wire.Load(); w != nil {
		out.Server.Wire = *w
	}
	for _, u := range units {
		out.Units = append(out.Units, result.Unit{Name: u.Name, Connections: r.connections, Iterations: r.iterations})
	}
	if load.Connected > 0 {
		var sb strings.Builder
		if terr := report.Text(&sb, out); terr != nil {
			err = errors.Join(err, terr)
		}
		r.log.Text(sb.String())
	}
	if c.JSON != "" {
		if jerr := report.WriteJSON(c.JSON, out); jerr != nil {
			err = errors.Join(err, jerr)
		}
	}
	return err
}

// say is a note for the user, in the log.
func (r *stressRun) say(text string) { r.log.Line("NOTE: %s", text) }

// units are what the connections run: one for each file, query or workload.
func (r *stressRun) units(a *app, tgt connector) ([]driver.Unit, error) {
	c := r.cmd
	switch {
	case c.Query != "":
		u, err := scenario.FromText(a.ctx, c.Query)
		return []driver.Unit{u}, err
	case c.Workload != "":
		run, err := scenario.FindRun(c.Workload)
		if err != nil {
			return nil, err
		}
		ctx, cancel := withTimeout(a.ctx, r.login)
		s, err := tgt.Connect(ctx)
		cancel()
		if err != nil {
			return nil, err
		}
		defer s.Close()
		if err := installed(a.ctx, s, run); err != nil {
			return nil, err
		}
		if run.Part == workloads.Inmem {
			if err := r.room(a.ctx, s, run.Orders); err != nil {
				return nil, err
			}
		}
		u, err := run.Unit(a.ctx, s, scenario.RunOptions{Mode: r.mode, Seed: 1})
		return []driver.Unit{u}, err
	}
	files, err := script.Expand(nativePath(c.Input))
	if err != nil {
		return nil, err
	}
	var units []driver.Unit
	for _, f := range files {
		s, err := script.Load(f)
		if err != nil {
			return nil, err
		}
		u, err := scenario.FromScript(a.ctx, s)
		if err != nil {
			return nil, err
		}
		units = append(units, u)
	}
	return units, nil
}

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
// edition allows for memory-optimized tables.
func (r *stressRun) room(ctx context.Context, s driver.Session, perIteration int) error {
	each := int64(r.connections) * int64(perIteration)
	orders := int64(1) << 50 // more than any memory, and safe to multiply
	if r.iterations < orders/each {
		orders = each * r.iterations
	}
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

// openDir opens the result directory. The one that nobody asked for by name gives
// way when another run has it.
func (r *stressRun) openDir(started time.Time) (*ostress.Dir, error) {
	path := r.outputDir(started)
	dir, err := ostress.OpenDir(path)
	for i := 2; i < 1000 && r.cmd.Output == "" && errors.Is(err, ostress.ErrBusy); i++ {
		dir, err = ostress.OpenDir(fmt.Sprintf("%s~%d", path, i))
		if err == nil {
			r.say(fmt.Sprintf("another run writes to %s: the results of this one go to %s", path, dir.Path))
		}
	}
	return dir, err
}

func (r *stressRun) outputDir(started time.Time) string {
	switch {
	case r.cmd.Output != "":
		return nativePath(r.cmd.Output)
	case runtime.GOOS == "windows" || strings.HasPrefix(strings.ToLower(filepath.Base(os.Args[0])), "ostress"):
		return filepath.Join(os.TempDir(), "output")
	}
	return filepath.Join("gostress-out", started.UTC().Format("20060102T150405.000Z"))
}

// nativePath reads a path in Windows spelling (.\Out) where the system has
// slashes, unless the name is there as it stands.
func nativePath(p string) string {
	if runtime.GOOS == "windows" || !strings.Contains(p, `\`) || strings.Contains(p, "/") {
		return p
	}
	if _, err := os.Lstat(p); err == nil {
		return p
	}
	return strings.ReplaceAll(p, `\`, "/")
}

func (r *stressRun) check() error {
	c := r.cmd
	bad := func(format string, args ...any) error { return &ostress.ArgError{Text: fmt.Sprintf(format, args...)} }
	given := 0
	for _, v := range []string{c.Query, c.Input, c.Workload} {
		if v != "" {
			given++
		}
	}
	switch {
	case given == 0:
		return bad("nothing to run: give a query with -Q, an input file with -i, or --workload")
	case given > 1:
		return bad("only one of -Q, -i and --workload can be given")
	}
	n, err := number("-n", c.Connections, 1)
	if err != nil {
		return err
	}
	if r.iterations, err = number("-r", c.Iterations, 1); err != nil {
		return err
	}
	if r.login, err = seconds("-l", c.LoginTimeout); err != nil {
		return err
	}
	if r.query, err = seconds("-t", c.QueryTimeout); err != nil {
		return err
	}
	cc, err := number("--connect-concurrency", c.ConnectConcurrency, 1)
	if err != nil {
		return err
	}
	r.concurrency = int(min(cc, 1<<20))
	r.maxThreads = defaultMaxThreads
	if c.MaxThreads != "" {
		m, merr := number("-M", c.MaxThreads, 0)
		switch {
		case merr != nil:
			r.note("-M%s is not a number of threads: %d are used", c.MaxThreads, defaultMaxThreads)
		case m > 0:
			r.maxThreads = int(min(m, 1<<20))
		}
	}
	if n > int64(r.maxThreads) {
		return bad("-n%d: at most %d threads are allowed; -M raises it", n, r.maxThreads)
	}
	r.connections = int(n)
	switch c.RunMode {
	case "stress":
	case "replay":
		return bad("-mreplay is not supported")
	default:
		return bad("-m%s: the mode is stress", c.RunMode)
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
	if c.TraceFlag == "146" {
		if c.Encrypt != "" && c.Encrypt != "optional" {
			r.note("--encrypt=%s goes before -T146", c.Encrypt)
		} else {
			c.Encrypt = "optional"
		}
	}
	c.runID = uuid.NewString()[:8]
	if c.JSON == "-" {
		return bad("--json=-: name a file")
	}
	return c.connectFlags.check()
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

func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}

// aroundLive takes the live line away while the log writes.
type aroundLive struct {
	live *report.Live
	w    io.Writer
}

func (l aroundLive) Write(p []byte) (n int, err error) {
	l.live.Around(func() { n, err = l.w.Write(p) })
	return n, err
}

// describe says what -v shows of a session.
func describe(s driver.Session) string {
	if d, ok := s.(interface{ Describe() string }); ok {
		return d.Describe()
	}
	return "logged in"
}
