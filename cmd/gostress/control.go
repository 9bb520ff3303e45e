package main

import (
	"errors"
	"fmt"

	"gostress/pkg/ostress"
	"gostress/pkg/target"
)

// readControl reads the control file (-c) and applies it: a switch goes before
// the file, the file before the default.
func (r *stressRun) readControl() error {
	c := r.cmd
	if c.ControlFile == "" {
		return nil
	}
	ctl, err := ostress.LoadControl(nativePath(c.ControlFile))
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
	return r.effects()
}

// effects says which keys of the file have no effect in this run, and refuses
// those whose effect it cannot have.
func (r *stressRun) effects() error {
	ctl := &r.control
	var refused []error
	for _, section := range []string{ostress.ConnectionSection, ostress.QuerySection, ostress.ReplaySection} {
		for _, key := range ctl.Changed(section) {
			switch key {
			case "NoSQLBindCol":
				r.say(ctl.Where(key) + ": NoSQLBindCol has no effect: nothing is bound here")
			case "ExecuteAsync":
				r.say(ctl.Where(key) + ": ExecuteAsync has no effect: no connection waits for another one here")
			case "LoginTimeoutSecs", "QueryTimeoutSecs", "NoResultDisplay",
				"QuotedIdentifier", "AutocommitMode", "PrepareExecute", "CursorType", "CursorConcurrency", "RowFetchDelay":
			default:
				if section == ostress.ReplaySection {
					if r.cmd.RunMode != "replay" {
						r.say(fmt.Sprintf("%s: %s has no effect in stress mode", ctl.Where(key), key))
					}
					continue
				}
				refused = append(refused, fmt.Errorf("%s: %s is not supported", ctl.Where(key), key))
			}
		}
	}
	return errors.Join(refused...)
}
