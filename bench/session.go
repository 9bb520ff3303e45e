package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"gostress/internal/tdsclient"
	"gostress/pkg/driver"
)

// encodings keeps what sessions of one target share of requests: the bytes of
// batches, and of tables.
type encodings struct {
	texts, tables sync.Map // *driver.Request and *driver.Table to their bytes
	n             atomic.Int64
}

// maxEncodings bounds how many are kept; a program that makes each of its requests
// anew would keep them all alive.
const maxEncodings = 4096

func (e *encodings) room() bool { return e.n.Load() < maxEncodings && e.n.Add(1) <= maxEncodings }

func (e *encodings) text(r *driver.Request) *tdsclient.Request {
	if v, ok := e.texts.Load(r); ok {
		return v.(*tdsclient.Request)
	}
	q := tdsclient.Batch(r.Text)
	if e.room() {
		e.texts.Store(r, q)
	}
	return q
}

func (e *encodings) table(t *driver.Table) (*tdsclient.Table, error) {
	if v, ok := e.tables.Load(t); ok {
		return v.(*tdsclient.Table), nil
	}
	cols := make([]tdsclient.SQLType, len(t.Columns))
	for i, c := range t.Columns {
		cols[i] = tdsclient.SQLType(c)
	}
	q, err := tdsclient.NewTable(t.Schema, t.Name, cols, t.Rows)
	if err == nil && e.room() {
		e.tables.Store(t, q)
	}
	return q, err
}

// session is a driver.Session that speaks TDS itself.
type session struct {
	conn   *tdsclient.Conn
	shared *encodings
	last   *driver.Request // the text that was sent last
	text   *tdsclient.Request
	calls  []*form
	sink   sink
}

// form is a request with parameters, whose values change from call to call.
type form struct {
	kind   driver.Kind
	text   string
	params []driver.Param // names and types
	first  int            // which of the request's parameters is params[0]
	r      *tdsclient.Request
}

// maxForms is how many are kept.
const maxForms = 16

func (f *form) fits(r *driver.Request) bool {
	text := r.Proc
	if r.Kind == driver.Text {
		text = r.Text
	}
	if f.kind != r.Kind || f.text != text || len(f.params) != len(r.Params) {
		return false
	}
	for i := range f.params {
		a, b := &f.params[i], &r.Params[i]
		_, table := b.Value.(*driver.Table)
		if a.Name != b.Name || a.Output != b.Output || a.Type != b.Type || table != (a.Value != nil) {
			return false
		}
	}
	return true
}

func (s *session) encode(r *driver.Request) (*tdsclient.Request, error) {
	if r.Kind == driver.Text && len(r.Params) == 0 {
		if r != s.last {
			s.last, s.text = r, s.shared.text(r)
		}
		return s.text, nil
	}
	for _, f := range s.calls {
		if !f.fits(r) {
			continue
		}
		for i := range r.Params {
			v, err := s.value(r.Params[i].Value)
			if err == nil {
				err = f.r.Set(f.first+i, v)
			}
			if err != nil {
				return nil, err
			}
		}
		return f.r, nil
	}
	return s.form(r)
}

func (s *session) form(r *driver.Request) (*tdsclient.Request, error) {
	f := &form{kind: r.Kind, text: r.Proc, params: slices.Clone(r.Params)}
	params := make([]tdsclient.Param, len(r.Params))
	for i, p := range r.Params {
		v, err := s.value(p.Value)
		if err != nil {
			return nil, err
		}
		params[i] = tdsclient.Param{Name: p.Name, Type: tdsclient.SQLType(p.Type), Value: v, Output: p.Output}
		if _, table := p.Value.(*driver.Table); table {
			f.params[i].Value = true // says that there is a table
		} else {
			f.params[i].Value = nil
		}
	}
	var err error
	if r.Kind == driver.Text {
		f.text, f.first = r.Text, 2
		f.r, err = tdsclient.ExecuteSQL(r.Text, params)
	} else {
		f.r, err = tdsclient.Call(r.Proc, params)
	}
	if err != nil {
		return nil, err
	}
	if len(s.calls) == maxForms {
		s.calls = s.calls[1:]
	}
	s.calls = append(s.calls, f)
	return f.r, nil
}

func (s *session) value(v any) (any, error) {
	t, ok := v.(*driver.Table)
	if !ok {
		return v, nil
	}
	return s.shared.table(t)
}

// Do implements driver.Session.
func (s *session) Do(ctx context.Context, r *driver.Request, to driver.Sink) (driver.Outcome, error) {
	q, err := s.encode(r)
	if err != nil {
		return driver.Outcome{OpenTran: s.conn.Transaction() != 0}, &driver.FatalError{Err: err}
	}
	var in tdsclient.Sink
	if to != nil {
		s.sink.to = to
		in = &s.sink
	}
	out, err := s.conn.Do(ctx, q, in)
	s.sink.to = nil
	o := driver.Outcome{Rows: out.Rows, ResultSets: out.ResultSets, Affected: out.Affected, OpenTran: out.OpenTran}
	if n := len(out.Errors); n > 0 {
		o.Errors = make([]driver.ServerError, n)
		for i := range out.Errors {
			o.Errors[i] = driver.ServerError(out.Errors[i])
		}
	}
	if err == nil {
		return o, nil
	}
	var lost *tdsclient.LostError
	var refused *tdsclient.SinkError
	switch {
	case errors.As(err, &refused):
		err = &driver.SinkError{Err: refused.Err}
	case errors.As(err, &lost):
		err = &driver.LostError{Number: lost.Number, Err: lost.Err}
	}
	return o, err
}

// Close implements driver.Session.
func (s *session) Close() error { return s.conn.Close() }

// sink turns what an answer holds into the driver's events.
type sink struct{ to driver.Sink }

func (s *sink) Columns(cols []tdsclient.Column) error {
	out := make([]driver.Column, len(cols))
	for i, c := range cols {
		out[i] = driver.Column{Name: c.Name, Type: driver.SQLType(c.Type), Nullable: c.Nullable}
	}
	return s.to.Event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: out})
}

func (s *sink) Row(values []any) error { return s.to.Row(values) }

func (s *sink) Done(rows int64, counted bool) error {
	return s.to.Event(driver.SinkEvent{Kind: driver.SinkDone, Affected: rows, HasCount: counted})
}

func (s *sink) Message(m *tdsclient.ServerError) error {
	return s.to.Event(driver.SinkEvent{Kind: driver.SinkMessage, Message: driver.ServerError(*m)})
}
