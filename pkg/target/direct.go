package target

import (
	"context"
	"errors"

	"gostress/internal/tdsclient"
	"gostress/pkg/driver"
)

// direct carries out requests itself, on a connection that go-mssqldb logged in.
type direct struct {
	facts
	conn *tdsclient.Conn
	enc  encoder
	sink directSink
}

func newDirect(c *tdsclient.Conn, f facts, shared *encodings) *direct {
	f.wire = WireTDS
	return &direct{facts: f, conn: c, enc: encoder{shared: shared}}
}

// Do implements driver.Session.
func (s *direct) Do(ctx context.Context, r *driver.Request, sink driver.Sink) (driver.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return driver.Outcome{OpenTran: s.conn.Transaction() != 0}, err
	}
	q, err := s.enc.encode(r)
	if err != nil {
		return driver.Outcome{OpenTran: s.conn.Transaction() != 0}, &driver.FatalError{Err: err}
	}
	var in tdsclient.Sink
	if sink != nil {
		s.sink.to = sink
		in = &s.sink
	}
	out, err := s.conn.Do(ctx, q, in)
	s.sink.to = nil
	return outcome(out, err)
}

// outcome is the driver's of tdsclient's.
func outcome(out tdsclient.Outcome, err error) (driver.Outcome, error) {
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
	return o, doError(err)
}

// doError is the driver's error for tdsclient's.
func doError(err error) error {
	var lost *tdsclient.LostError
	var refused *tdsclient.SinkError
	switch {
	case errors.As(err, &refused):
		return &driver.SinkError{Err: refused.Err}
	case errors.As(err, &lost):
		why := lost.Err
		var said tdsclient.ServerError
		if errors.As(why, &said) {
			why = driver.ServerError(said)
		}
		return &driver.LostError{Number: lost.Number, Err: why}
	}
	return err
}

// Close implements driver.Session.
func (s *direct) Close() error { return s.conn.Close() }

// directSink turns what an answer holds into the driver's events.
type directSink struct{ to driver.Sink }

func (s *directSink) Columns(cols []tdsclient.Column) error {
	out := make([]driver.Column, len(cols))
	for i, c := range cols {
		out[i] = driver.Column{Name: c.Name, Type: driver.SQLType(c.Type), Nullable: c.Nullable}
	}
	return s.to.Event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: out})
}

func (s *directSink) Row(values []any) error { return s.to.Row(values) }

func (s *directSink) Done(rows int64, counted bool) error {
	return s.to.Event(driver.SinkEvent{Kind: driver.SinkDone, Affected: rows, HasCount: counted})
}

func (s *directSink) Message(m *tdsclient.ServerError) error {
	return s.to.Event(driver.SinkEvent{Kind: driver.SinkMessage, Message: driver.ServerError(*m)})
}
