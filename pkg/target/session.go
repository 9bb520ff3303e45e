package target

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"io"
	"sync/atomic"

	"github.com/golang-sql/sqlexp"
	mssql "github.com/microsoft/go-mssqldb"

	"gostress/pkg/driver"
)

// session carries out requests through go-mssqldb.
type session struct {
	conn   *mssql.Conn
	wire   *conn
	closed atomic.Bool
	tran   bool // a transaction is open
	params paramCache
}

func newSession(c *mssql.Conn, w *conn) *session { return &session{conn: c, wire: w} }

// Close ends the connection; a request in flight returns.
func (s *session) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	// The socket alone is closed: go-mssqldb's own Close hands its buffers back
	// while a request may still read into them.
	return s.wire.Close()
}

// Do implements driver.Session.
func (s *session) Do(ctx context.Context, r *driver.Request, sink driver.Sink) (driver.Outcome, error) {
	c := call{s: s, sink: sink}
	err := c.run(ctx, r)
	c.out.OpenTran = s.tran
	return c.out, err
}

// call is one request under way.
type call struct {
	s     *session
	sink  driver.Sink
	out   driver.Outcome
	stray error // what go-mssqldb said beside the server's messages
	inSet bool
	row   []sqldriver.Value
	vals  []any
	conv  []converter
}

func (c *call) run(ctx context.Context, r *driver.Request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text, args, err := c.s.params.build(r)
	if err != nil {
		return &driver.FatalError{Err: err}
	}
	qctx, release := c.s.context(ctx)
	defer release()

	var queue sqlexp.ReturnMessage
	// The arguments do not pass CheckNamedValue, which makes every integer a bigint.
	nv := sqldriver.NamedValue{Value: &queue}
	if err := c.s.conn.CheckNamedValue(&nv); err != nil && !errors.Is(err, sqldriver.ErrRemoveArgument) {
		return &driver.FatalError{Err: err}
	}
	c.s.wire.watch(func(error) {
		// Off the reading goroutine, which go-mssqldb itself may be waiting for.
		go func() { _ = sqlexp.ReturnMessageEnqueue(qctx, &queue, sqlexp.MsgNextResultSet{}) }()
	})
	defer c.s.wire.watch(nil)

	st, err := c.s.conn.PrepareContext(qctx, text)
	if err != nil {
		return c.failure(ctx, err)
	}
	rows, err := st.(sqldriver.StmtQueryContext).QueryContext(qctx, args)
	if err != nil {
		return c.failure(ctx, err)
	}
	rq, ok := rows.(*mssql.Rowsq)
	if !ok {
		return &driver.FatalError{Err: errors.New("go-mssqldb did not take its message queue")}
	}
	err = c.read(qctx, rq, &queue)
	if err == nil && ctx.Err() == nil {
		return nil
	}
	var se *driver.SinkError
	if errors.As(err, &se) {
		_ = c.s.Close()
	}
	// Ends go-mssqldb's reader, which else waits for someone to take its tokens.
	release()
	_ = rq.Close()
	return c.failure(ctx, err)
}

// read takes the whole answer: messages from the queue say what is next.
func (c *call) read(ctx context.Context, rows *mssql.Rowsq, queue *sqlexp.ReturnMessage) error {
	for {
		switch m := queue.Message(ctx).(type) {
		case sqlexp.MsgNext:
			if err := c.resultSet(rows); err != nil {
				return err
			}
		case sqlexp.MsgNextResultSet:
			c.inSet = false
			switch err := rows.NextResultSet(); {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return err
			}
		case sqlexp.MsgNotice:
			if e, ok := m.Message.(mssql.Error); ok {
				if err := c.message(e); err != nil {
					return err
				}
			}
		case sqlexp.MsgError:
			var e mssql.Error
			if !errors.As(m.Error, &e) {
				c.stray = m.Error
				continue
			}
			if err := c.message(e); err != nil {
				return err
			}
		case sqlexp.MsgRowsAffected:
			if !c.inSet {
				c.out.Affected += m.Count
			}
			if c.sink != nil {
				if err := c.sink.Event(driver.SinkEvent{Kind: driver.SinkDone, Affected: m.Count, HasCount: true}); err != nil {
					return &driver.SinkError{Err: err}
				}
			}
		}
	}
}

func (c *call) resultSet(rows *mssql.Rowsq) error {
	names := rows.Columns()
	c.out.ResultSets++
	c.inSet = true
	if n := len(names); cap(c.row) >= n {
		c.row = c.row[:n]
	} else {
		c.row, c.vals, c.conv = make([]sqldriver.Value, n), make([]any, n), make([]converter, n)
	}
	if c.sink != nil {
		c.vals, c.conv = c.vals[:len(names)], c.conv[:len(names)]
		cols := make([]driver.Column, len(names))
		for i, name := range names {
			cols[i], c.conv[i] = column(rows, i, name)
		}
		if err := c.sink.Event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: cols}); err != nil {
			return &driver.SinkError{Err: err}
		}
	}
	for {
		switch err := rows.Next(c.row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		c.out.Rows++
		if c.sink == nil {
			continue
		}
		for i, v := range c.row {
			c.vals[i] = c.conv[i].value(v)
		}
		if err := c.sink.Row(c.vals); err != nil {
			return &driver.SinkError{Err: err}
		}
	}
}

func (c *call) message(e mssql.Error) error {
	se := serverError(e)
	if e.Class >= 11 {
		c.out.Errors = append(c.out.Errors, se)
	}
	if c.sink == nil {
		return nil
	}
	if err := c.sink.Event(driver.SinkEvent{Kind: driver.SinkMessage, Message: se}); err != nil {
		return &driver.SinkError{Err: err}
	}
	return nil
}

func serverError(e mssql.Error) driver.ServerError {
	return driver.ServerError{Number: e.Number, State: e.State, Class: e.Class, Line: e.LineNo, Proc: e.ProcName,
		Server: e.ServerName, Message: e.Message}
}

// failure says what became of a request that was not carried out.
func (c *call) failure(ctx context.Context, err error) error {
	var se *driver.SinkError
	var srv mssql.ServerError
	var stream mssql.StreamError
	down := c.s.wire.isDown()
	switch {
	case errors.As(err, &se):
		return err
	case errors.As(err, &srv) || errors.As(err, &stream) || c.s.closed.Load() || down != nil:
	case ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled) || errors.Is(err, ctx.Err())):
		// The server acknowledged the cancel, or had ended before it.
		return ctx.Err()
	}
	_ = c.s.Close()
	lost := &driver.LostError{Err: err}
	if down != nil {
		lost.Err = plainDown(down)
	} else if c.stray != nil {
		lost.Err = c.stray
	}
	if n := len(c.out.Errors); n > 0 {
		lost.Number = c.out.Errors[n-1].Number
	}
	return lost
}

func plainDown(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the server closed it")
	}
	return err
}

// context is what go-mssqldb is given of the driver's context. It carries the
// transaction's mark, and never the error of a deadline: go-mssqldb takes that
// for a network error and gives the connection up, though the server has
// acknowledged the cancel.
func (s *session) context(ctx context.Context) (context.Context, func()) {
	if _, has := ctx.Deadline(); !has {
		ctx, cancel := context.WithCancel(context.WithValue(ctx, tranKey{}, &s.tran))
		return ctx, cancel
	}
	out, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), tranKey{}, &s.tran))
	stop := context.AfterFunc(ctx, cancel)
	return out, func() {
		stop()
		cancel()
	}
}

func (c *conn) isDown() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.down
}
