package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"gostress/pkg/driver"
	"gostress/pkg/observe"
	"gostress/pkg/result"
	"gostress/pkg/threshold"
)

// thresholdFlags are conditions on the result, at the end and while the run
// goes on.
type thresholdFlags struct {
	Threshold  []string `sep:"none"`
	AbortOn    []string `sep:"none"`
	AbortGrace string
}

// limits are checked thresholdFlags.
type limits struct {
	thresholds []threshold.Condition
	abortOn    []threshold.Condition
	grace      time.Duration
}

// defaultAbortGrace is how long a run is left alone at its beginning.
const defaultAbortGrace = 10 * time.Second

func (f *thresholdFlags) check() (limits, error) {
	l := limits{grace: defaultAbortGrace}
	for _, list := range []struct {
		name  string
		exprs []string
		to    *[]threshold.Condition
	}{{"threshold", f.Threshold, &l.thresholds}, {"abort-on", f.AbortOn, &l.abortOn}} {
		for _, expr := range list.exprs {
			c, err := threshold.Parse(expr)
			if err != nil {
				return l, usagef("--%s: %v", list.name, err)
			}
			if c.OnServer() && list.name != "abort-on" {
				return l, usagef("--%s=%s: %s is a condition of the server, which is looked at while a run goes on: --abort-on takes it", list.name, expr, c.Name())
			}
			*list.to = append(*list.to, c)
		}
	}
	if f.AbortGrace != "" {
		var err error
		if l.grace, err = time.ParseDuration(f.AbortGrace); err != nil || l.grace < 0 {
			return l, usagef("--abort-grace=%s: write a duration such as 30s", f.AbortGrace)
		}
		if len(l.abortOn) == 0 {
			return l, usagef("--abort-grace goes with --abort-on")
		}
	}
	return l, nil
}

// know finds a condition on a statement that there is none of.
func (l *limits) know(units []driver.Unit) error {
	var names []string
	for _, u := range units {
		if len(u.Statements) == 0 {
			names = append(names, u.Name)
		}
		names = append(names, u.Statements...)
	}
	for _, c := range slices.Concat(l.thresholds, l.abortOn) {
		// The second statement of a name is called NAME (2).
		name, _, _ := strings.Cut(c.Statement(), " (")
		if c.Statement() != "" && !slices.Contains(names, c.Statement()) && !slices.Contains(names, name) {
			return fmt.Errorf("the condition %s: there is no statement %s; there is %s", c, c.Statement(), strings.Join(names, ", "))
		}
	}
	return nil
}

// judge holds a run that has ended against the thresholds.
func (l *limits) judge(run *result.Run) {
	for _, c := range l.thresholds {
		run.Thresholds = append(run.Thresholds, c.Check(&run.Load, nil))
	}
	run.Verdict = threshold.Verdict(&run.Load, run.Thresholds)
	if run.Aborted != "" && run.Verdict != result.Void {
		run.Verdict = result.Failed
	}
}

// watch opens the connection that looks at the server, nil when no condition is about it. A
// condition that cannot be read is an error: it would never end the run.
func (r *stressRun) watch(ctx context.Context) (*observe.Observer, error) {
	var names []string
	for _, c := range r.limits.abortOn {
		if c.OnServer() {
			names = append(names, c.Name())
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	login, cancel := withTimeout(ctx, r.login)
	defer cancel()
	o, err := observe.Open(login, r.tgt.Beside("observer"), observe.Options{AppName: r.cmd.appName(), Conditions: names, Note: r.say})
	if err != nil {
		return nil, fmt.Errorf("--abort-on: %w", err)
	}
	if slices.Contains(names, "log_used") || slices.Contains(names, "log_send_queue_mb") {
		r.say(fmt.Sprintf("log_used and log_send_queue_mb are those of database %s", o.Database()))
	}
	return o, nil
}

// observer asks the server for what conditions on it are about.
type observer interface {
	Conditions(ctx context.Context) (threshold.Server, error)
}

// aborted is why a condition ended a run.
type aborted struct{ found result.Threshold }

func (e *aborted) Error() string { return "the condition " + e.found.Expr + " came true" }

// aborter ends a run when a condition comes true.
type aborter struct {
	limits
	observer observer // nil when no condition is about the server
	abort    context.CancelCauseFunc

	mu     sync.Mutex
	server threshold.Server // what it said last
}

// watch asks the server once a second until ctx ends. A server that does not answer
// leaves the conditions on it unknown, which is no reason to end a run.
func (w *aborter) watch(ctx context.Context) {
	if w.observer == nil {
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		s, err := w.observer.Conditions(ctx)
		if err != nil {
			s = nil
		}
		w.mu.Lock()
		w.server = s
		w.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// load looks at a run that goes on.
func (w *aborter) load(l *result.Load) {
	if l.RunS < w.grace.Seconds() {
		return
	}
	w.mu.Lock()
	server := w.server
	w.mu.Unlock()
	for _, c := range w.abortOn {
		if t := c.Check(l, server); t.OK {
			w.abort(&aborted{t})
			return
		}
	}
}
