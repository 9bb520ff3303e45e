package target

import (
	"context"
	"errors"

	"gostress/pkg/driver"
)

// wired is a session as one of the wires has it.
type wired interface {
	driver.Session
	Wire() string
	Describe() string
	Encryption() (what, with string)
	// system calls a system procedure. sink is there if the procedure has outputs.
	system(ctx context.Context, p *procedure, sink driver.Sink) (driver.Outcome, error)
}

// modal is a session that does not send requests just as they are: it prepares
// them, runs them through cursors, reads rows slowly, or gives the session its
// settings back after a reset. Sessions that do none of it are not modal.
type modal struct {
	wired
	settings []string
	reset    bool // the settings are gone
	prepare  *statements
	cursor   *cursors
	pause    *pause
}

// mode is s in the way that the options ask for.
func (t *Target) mode(s wired, settings []string) driver.Session {
	o := &t.opt
	if len(settings) == 0 && !o.Prepare && o.Cursor.IsZero() && o.FetchDelay == 0 {
		return s
	}
	m := &modal{wired: s, settings: settings}
	if o.Prepare {
		m.prepare = newStatements(s)
	}
	if !o.Cursor.IsZero() {
		m.cursor = &cursors{wired: s, want: o.Cursor, say: t.notes.say}
	}
	if o.FetchDelay > 0 {
		m.pause = newPause(o.FetchDelay)
	}
	return m
}

// Do implements driver.Session.
func (m *modal) Do(ctx context.Context, r *driver.Request, sink driver.Sink) (driver.Outcome, error) {
	resets := resets(r)
	if m.reset && !resets {
		if len(m.settings) > 0 {
			if err := set(ctx, m.wired, m.settings); err != nil {
				return driver.Outcome{}, unset(ctx, err)
			}
		}
		m.reset = false
	}
	if m.pause != nil && !r.Plain {
		sink = m.pause.behind(ctx, sink)
	}
	switch {
	case r.Plain:
	case r.Kind == driver.Text && m.cursor != nil:
		return m.cursor.do(ctx, r, sink)
	case r.Kind == driver.Text && m.prepare != nil:
		return m.prepare.do(ctx, r, sink)
	}
	if resets {
		m.reset = true
		if m.prepare != nil {
			m.prepare.forget()
		}
	}
	return m.wired.Do(ctx, r, sink)
}

// unset is what it means to a request that the session's settings cannot be set
// again.
func unset(ctx context.Context, err error) error {
	var lost *driver.LostError
	switch {
	case errors.As(err, &lost):
		return lost
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return ctx.Err()
	}
	return &driver.FatalError{Err: err}
}

// Close implements driver.Session.
func (m *modal) Close() error {
	if m.pause != nil {
		m.pause.end()
	}
	return m.wired.Close()
}

// Describe adds the mode to what a session tells of itself.
func (m *modal) Describe() string {
	s := m.wired.Describe()
	if m.prepare != nil {
		s += ", prepared execution"
	}
	if m.cursor != nil {
		s += ", cursor " + m.cursor.want.String()
	}
	if m.pause != nil {
		s += ", " + m.pause.length.String() + " behind each row"
	}
	return s
}

// join adds what came of a further request to what came of those before.
func join(out *driver.Outcome, more driver.Outcome) {
	out.Rows += more.Rows
	out.ResultSets += more.ResultSets
	out.Affected += more.Affected
	out.Errors = append(out.Errors, more.Errors...)
	out.OpenTran = more.OpenTran
}
