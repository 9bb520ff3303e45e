package main

import (
	"context"
	"fmt"

	"gostress/pkg/driver"
	"gostress/pkg/ostress"
	"gostress/pkg/target"
)

// readControl reads the control file (-c) and applies it: a switch goes before
// the file, the file before the default.
func (r *stressRun) readControl(ctx context.Context) error {
	c := r.cmd
	if c.ControlFile == "" {
		return nil
	}
	ctl, err := reading(ctx, func() (ostress.Control, error) { return ostress.LoadControl(nativePath(c.ControlFile)) })
	if err != nil {
		return err
	}
	r.control = ctl
	if c.LoginTimeout == "" {
		r.login = ctl.Connection.LoginTimeout
	}
	if c.QueryTimeout == "" {
		r.query = ctl.Query.QueryTimeout
	}
	if c.Retries == "" {
		r.retries = ctl.Query.MaxRetries
	}
	r.quiet = r.quiet || ctl.Query.NoResultDisplay
	cursor, err := target.ParseCursor(ctl.Query.CursorType, ctl.Query.CursorConcurrency)
	if err != nil {
		return fmt.Errorf("%s: %w", ctl.Where("CursorType"), err)
	}
	c.tune = func(o *target.Options) {
		if ctl.Given("QuotedIdentifier") {
			o.QuotedIdentifierOff = !ctl.Connection.QuotedIdentifier
		}
		o.ImplicitTransactions = !ctl.Connection.AutocommitMode
		o.Prepare = ctl.Query.PrepareExecute
		o.Cursor = cursor
		o.FetchDelay = ctl.Query.RowFetchDelay
	}
	r.effects()
	return nil
}

// disturb puts into a plan what it does to its own batches and connections, and
// how it goes on after what goes wrong.
func (r *stressRun) disturb(p *driver.Plan) {
	co, q := &r.control.Connection, &r.control.Query
	p.QueryDelay = q.QueryDelay
	p.MaxRetries, p.RetryInDoubt = r.retries, r.cmd.RetryInDoubt
	p.MaxWorkerErrors = co.MaxThreadErrors
	p.Faults = driver.Faults{
		DisconnectPct:      co.DisconnectPct,
		BatchDisconnectPct: q.BatchDisconnectPct,
		CancelPct:          q.CancelPct,
		CancelDelayMin:     q.CancelDelayMin,
		CancelDelay:        q.CancelDelay,
		RollbackOnCancel:   q.RollbackOnCancel,
		Seed:               r.loop.seed,
	}
	if r.retries > 0 {
		r.say("a batch that is not one transaction can repeat part of its work when it is sent again (--retries, MaxRetries)")
	}
}

// effects says which keys of the file have no effect in this run.
func (r *stressRun) effects() {
	ctl := &r.control
	for _, section := range []string{ostress.ConnectionSection, ostress.QuerySection, ostress.ReplaySection} {
		for _, key := range ctl.Changed(section) {
			switch key {
			case "NoSQLBindCol":
				r.say(ctl.Where(key) + ": NoSQLBindCol has no effect: nothing is bound here")
			case "ExecuteAsync":
				r.say(ctl.Where(key) + ": ExecuteAsync has no effect: no connection waits for another one here")
			default:
				if section == ostress.ReplaySection && r.cmd.RunMode != "replay" {
					r.say(fmt.Sprintf("%s: %s has no effect in stress mode", ctl.Where(key), key))
				}
			}
		}
	}
}
