package main

import (
	"context"
	"fmt"
	"strings"

	"gostress/pkg/driver"
	"gostress/pkg/ostress"
	"gostress/pkg/scenario"
	"gostress/pkg/script"
)

// checkReplay finds what of the switches does not go with -mreplay.
func (r *stressRun) checkReplay() error {
	c := r.cmd
	bad := func(format string, args ...any) error { return &ostress.ArgError{Text: fmt.Sprintf(format, args...)} }
	switch {
	case c.ControlFile == "":
		return bad("-mreplay needs a control file: -c names it, gostress control-file prints one")
	case c.Input == "":
		return bad("-mreplay replays .rml files: -i names them")
	case r.connections != 1:
		return bad("-n%d: a replay has one connection for each .rml file", r.connections)
	case c.loopFlags != loopFlags{}:
		return bad("a replay takes its times from its recording: --think, --rate, --duration, --stages and what goes with them are for stress mode")
	case r.iterations != 1:
		return bad("-r%d: a replay runs once", r.iterations)
	}
	return nil
}

// replayUnits are the .rml files of a replay, a connection each.
func (r *stressRun) replayUnits(ctx context.Context, a *app, one *first) ([]driver.Unit, error) {
	o := r.control.Replay
	if o.StartSeqNum > 0 && o.StopSeqNum > 0 && o.StopSeqNum < o.StartSeqNum {
		return nil, fmt.Errorf("%s: StopSeqNum=%d is less than StartSeqNum=%d", r.control.Where("StopSeqNum"), o.StopSeqNum, o.StartSeqNum)
	}
	for _, key := range r.control.Changed(ostress.ReplaySection) {
		switch key {
		case "Sequencing Options":
			return nil, fmt.Errorf("%s: Sequencing Options=%s is not supported: write global sequence", r.control.Where(key), o.Sequencing)
		case "DTC Timeout", "DTC Machine", "Playback Coordinator":
			return nil, fmt.Errorf("%s: %s is not supported: distributed transactions are not replayed, and one program replays all", r.control.Where(key), key)
		}
	}
	files, err := script.Expand(nativePath(r.cmd.Input))
	if err != nil {
		return nil, err
	}
	scripts := make([]script.Script, len(files))
	for i, f := range files {
		if scripts[i], err = reading(ctx, func() (script.Script, error) { return r.codepage.Load(f) }); err != nil {
			return nil, err
		}
	}
	opt := scenario.ReplayOptions{StartSeq: o.StartSeqNum, StopSeq: o.StopSeqNum, TimeFactor: o.TimeoutFactor, Note: r.say}
	if r.cmd.ReplayPassword != "" {
		opt.Login = func(user string) (driver.Connector, error) { return r.replayLogin(a, one, user) }
	}
	return scenario.Replay(ctx, scripts, opt)
}

// replayLogin is how a session that was recorded under a name logs in: a SQL
// Server login with -a's password, anything else as all others do.
func (r *stressRun) replayLogin(a *app, one *first, user string) (driver.Connector, error) {
	if user == "" || strings.Contains(user, `\`) {
		return one, nil
	}
	flags := r.cmd.connectFlags // a copy
	flags.Integrated, flags.User, flags.Password = false, user, &r.cmd.ReplayPassword
	tgt, err := flags.target(a, r.say)
	if err != nil {
		return nil, err
	}
	return besides{one, tgt}, nil
}

// besides opens sessions of another login than first does, and lets it look at
// them.
type besides struct {
	*first
	inner connector
}

func (b besides) Connect(ctx context.Context) (driver.Session, error) {
	s, err := b.inner.Connect(ctx)
	return b.look(ctx, s, err)
}
