package exec

import (
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// emitter writes a request's tokens. A Done is held back until the next token
// or the end, because only then is it known whether more follows.
type emitter struct {
	out   Output
	held  Done
	have  bool
	any   bool // a token has been sent
	rows  bool // a result set is open
	quiet bool // Dones are dropped: the statement is part of a larger one
	// Events are reused: an Output sees them only during the call.
	columns Columns
	message Message
	env     EnvChange
	status  ReturnStatus
	param   OutParam
}

func (m *emitter) start(out Output) {
	m.out, m.have, m.any, m.rows, m.quiet = out, false, false, false, false
}

func (m *emitter) event(e Event) error {
	if m.have {
		m.have = false
		m.held.More = true
		if err := m.out.Event(&m.held); err != nil {
			return &outputError{err}
		}
	}
	m.any = true
	if err := m.out.Event(e); err != nil {
		return &outputError{err}
	}
	return nil
}

func (m *emitter) row(values []types.Value) error {
	if err := m.out.Row(values); err != nil {
		return &outputError{err}
	}
	return nil
}

func (m *emitter) done(d Done) error {
	if m.quiet {
		return nil
	}
	if m.have {
		m.held.More = true
		if err := m.out.Event(&m.held); err != nil {
			return &outputError{err}
		}
	}
	m.any, m.rows = true, false
	m.held, m.have = d, true
	return nil
}

// finish sends the last Done with More clear; when the request ended without
// one, it makes it up.
func (m *emitter) finish(d Done) error {
	if m.have {
		d = m.held
	}
	m.have = false
	d.More = false
	if err := m.out.Event(&d); err != nil {
		return &outputError{err}
	}
	return nil
}

func (s *Session) sendColumns(c []Column) error {
	if s.capture != nil {
		return s.capture.columns(c)
	}
	s.em.columns.Columns = c
	s.em.rows = true
	return s.em.event(&s.em.columns)
}

func (s *Session) sendRow(values []types.Value) error {
	if s.capture != nil {
		return s.capture.row(values)
	}
	return s.em.row(values)
}

// sendMessage sends an error or an informational message; the server's name is
// filled in.
func (s *Session) sendMessage(e *sqlerr.Error) error {
	if e.Server == "" {
		c := *e
		c.Server = s.e.opts.ServerName
		e = &c
	}
	if e.Class > 10 {
		s.hadError = true
	}
	s.em.message.Err = e
	return s.em.event(&s.em.message)
}

// info sends an informational message of the given number.
func (s *Session) info(number int32, state, class uint8, line int, text string) error {
	return s.sendMessage(&sqlerr.Error{Number: number, State: state, Class: class, Line: int32(max(line, 1)), Proc: s.procName(), Text: text})
}

func (s *Session) sendEnv(kind EnvKind, newValue, oldValue string, tran uint64) error {
	s.em.env = EnvChange{Kind: kind, New: newValue, Old: oldValue, Tran: tran}
	return s.em.event(&s.em.env)
}

// sendDone ends a statement that has no result set. count < 0: no count.
func (s *Session) sendDone(cmd uint16, count int64, failed bool) error {
	if s.capture != nil {
		return nil
	}
	d := Done{Cmd: cmd, Count: count, HasCount: count >= 0, Error: failed, InTran: s.tran.count > 0}
	if s.set.noCount || count < 0 {
		d.HasCount, d.Count = false, 0
	}
	if s.inModule() {
		if s.set.noCount && !failed {
			return nil
		}
		d.Kind = DoneInProc
	}
	return s.em.done(d)
}

// sendDoneRows ends a result set: that token is sent under NOCOUNT too.
func (s *Session) sendDoneRows(cmd uint16, count int64, failed bool) error {
	if s.capture != nil {
		return nil
	}
	d := Done{Cmd: cmd, Count: count, HasCount: !s.set.noCount, Error: failed, InTran: s.tran.count > 0}
	if s.set.noCount {
		d.Count = 0
	}
	if s.inModule() {
		d.Kind = DoneInProc
	}
	return s.em.done(d)
}

// outputError wraps an error of the Output: the request cannot go on.
type outputError struct{ err error }

func (e *outputError) Error() string { return e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }
