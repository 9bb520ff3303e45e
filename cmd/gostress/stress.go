package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"gostress/pkg/driver"
	"gostress/pkg/live"
	"gostress/pkg/ostress"
	"gostress/pkg/report"
	"gostress/pkg/scenario"
	"gostress/pkg/script"
	"gostress/pkg/target"
)

// stressCmd is an ostress run. Numbers are text here, so that what is wrong with
// them is said in this program's words.
type stressCmd struct {
	connectFlags
	loopFlags
	paramFlags
	outputFlags
	thresholdFlags
	seriesFlags

	Query    string `help:"Query."`
	Input    string `help:"Input file or pattern."`
	Codepage string `help:"Code page of input files without a byte order mark."`
	Workload string `help:"Bundled workload."`
	Mode     string `help:"How a bundled workload makes its orders."`

	Connections    string
	Iterations     string
	Output         string
	Quiet          bool
	Verbose        bool
	StopOnError    bool
	NoExitLine     bool
	MaxThreads     string
	TraceFlag      string
	RunMode        string `default:"stress"`
	ReplayPassword string
	ControlFile    string
	Progress       string
	ResultFormat   string
	LCID           string `name:"lcid"`

	QueryTimeout       string
	Retries            string
	RetryInDoubt       bool
	ConnectConcurrency string `default:"64"`
	Reconnect          string `default:"backoff"`

	mix *scenario.Mix // of the command run
}

// stressRun is a checked stressCmd.
type stressRun struct {
	cmd         *stressCmd
	log         *ostress.Log
	control     ostress.Control
	connections int
	iterations  int64 // math.MaxInt64: as many as the time allows
	loop        loop
	params      params
	limits      limits
	series      series
	maxThreads  int
	concurrency int
	login       time.Duration
	query       time.Duration
	reconnect   driver.Reconnect
	mode        scenario.Mode
	codepage    script.CodePage // of the input files; 0 finds out
	quiet       bool
	retries     int
	inputs      []string // full path of each unit's file
	format      ostress.Format
	notes       []string    // said once the log's first lines are out
	warnings    []string    // the same, whatever the manners
	files       []io.Closer // closed after the last line

	tgt    *target.Target
	one    *first
	dir    *ostress.Dir
	void   bool // a generator could not hold its rate
	failed bool // a threshold failed, or a condition ended a run
}

func newLog(console io.Writer) *ostress.Log {
	return ostress.NewLog(console, time.Now, ostress.Thread(uint32(os.Getpid())))
}

func (c *stressCmd) Run(a *app) error {
	started := time.Now()
	r := stressRun{cmd: c, control: ostress.DefaultControl(), quiet: c.Quiet}
	if err := r.check(); err != nil {
		return err
	}
	surviveClosedOutput()
	view, end, err := a.follow(c.Progress)
	if err != nil {
		return err
	}
	defer end()
	r.log = newLog(aroundView{view, a.stdout})
	r.log.Manners = a.manners
	r.log.Line("Max threads setting: %d", r.maxThreads)
	r.log.Block(r.log.Main(), "Arguments:", a.args...)
	r.log.Line("%s", r.format.Locale.LogLine())
	r.log.Line("Default driver: go-mssqldb %s", moduleVersion("github.com/microsoft/go-mssqldb"))
	for _, w := range r.warnings {
		r.log.Line("WARNING: %s", w)
	}
	for _, n := range r.notes {
		r.say(n)
	}
	err = r.run(a, view, started)
	end()
	return r.finish(a, started, err)
}

// finish writes the last line, and turns what ended the run into an exit status.
func (r *stressRun) finish(a *app, started time.Time, err error) error {
	elapsed := report.Clock(time.Since(started).Seconds())
	code := exitOK
	var how string
	switch {
	case err == nil && r.void:
		code, how = exitVoid, fmt.Sprintf("with a void verdict (%d)", exitVoid)
	case err == nil && r.failed:
		code, how = exitThreshold, fmt.Sprintf("with a failed verdict (%d)", exitThreshold)
	case err == nil:
		how = "normally"
	case errors.Is(context.Cause(a.ctx), errInterrupted):
		code, how = exitInterrupted, "after an interrupt"
	default:
		code, how = exitFailed, fmt.Sprintf("due to error (%d)", exitFailed)
		for line := range strings.SplitSeq(ostress.Mask(why(err)), "\n") {
			r.log.Line("ERROR: %s", line)
		}
	}
	if lerr := r.log.Err(); lerr != nil {
		fmt.Fprintln(a.stderr, "gostress: cannot write ostress.log:", lerr)
		if code != exitInterrupted {
			code, how = exitFailed, fmt.Sprintf("due to error (%d)", exitFailed)
		}
	}
	if !r.cmd.NoExitLine {
		r.log.Line("OSTRESS exiting %s, elapsed time: %s", how, elapsed)
	}
	if cerr := r.log.ConsoleErr(); cerr != nil {
		fmt.Fprintln(a.stderr, "gostress: cannot write to standard output:", cerr)
		code = worse(code)
	}
	for _, f := range r.files {
		if cerr := f.Close(); cerr != nil {
			fmt.Fprintln(a.stderr, "gostress:", cerr)
			code = worse(code)
		}
	}
	if code == exitOK {
		return nil
	}
	return silent(code)
}

// worse is the exit status of a run whose output is not whole.
func worse(code int) int {
	if code == exitInterrupted {
		return code
	}
	return exitFailed
}

// why is an error's text, without what the workers have said already.
func why(err error) string {
	var told *connectedNobody
	if errors.As(err, &told) {
		return told.Error()
	}
	return err.Error()
}

// connectedNobody is the error of a run whose workers said why nobody could
// connect.
type connectedNobody struct{ error }

func (connectedNobody) Error() string   { return "no connection could be opened; the reason is above" }
func (e connectedNobody) Unwrap() error { return e.error }

// run is everything between the first and the last line.
func (r *stressRun) run(a *app, view *live.View, started time.Time) error {
	c := r.cmd
	for i := range r.series.numbers {
		files := c.outputFlags
		if !r.series.single() {
			files = files.numbered(i + 1)
		}
		if err := files.writable(); err != nil {
			return err
		}
	}
	if err := r.readControl(a.ctx); err != nil {
		return err
	}
	if c.RetryInDoubt && r.retries == 0 {
		return errors.New("--retry-in-doubt needs a number of retries: --retries, or MaxRetries in a control file")
	}
	var err error
	if r.tgt, err = c.target(a, r.say); err != nil {
		return err
	}
	if err := r.readParams(a); err != nil {
		return err
	}
	r.one = &first{inner: r.tgt, say: r.say}
	// What is wrong with the input is said before there is a directory.
	ready, err := r.pass(a)
	if err != nil {
		return err
	}
	if r.dir, err = r.openDir(started); err != nil {
		ready.end()
		return err
	}
	r.files = append(r.files, r.dir)
	logFile, err := r.dir.Create(strings.TrimSuffix(ostress.LogName, ".log"), ".log")
	if err != nil {
		ready.end()
		return err
	}
	r.files = append(r.files, logFile)
	r.log.Attach(logFile)
	for _, p := range r.dir.Removed {
		r.log.Line("Attempting DOD5015 removal of [%s]", p)
	}
	return r.runSeries(a, view, started, ready)
}

// say is a note for the user, in the log.
func (r *stressRun) say(text string) { r.log.Note("%s", text) }

func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}

// aroundView takes the view off the screen while the log writes.
type aroundView struct {
	view *live.View
	w    io.Writer
}

func (l aroundView) Write(p []byte) (n int, err error) {
	l.view.Around(func() { n, err = l.w.Write(p) })
	return n, err
}

// describe says what -v shows of a session.
func describe(s driver.Session) string {
	if d, ok := s.(interface{ Describe() string }); ok {
		return d.Describe()
	}
	return "logged in"
}
