package target

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"io"

	"github.com/golang-sql/sqlexp"
	mssql "github.com/microsoft/go-mssqldb"

	"gostress/pkg/driver"
)

// resultSet is what is kept from one result set to the next.
type resultSet struct {
	open bool // its columns came, and not yet its DONE
	done bool // its DONE was taken with its last row
	row  []sqldriver.Value
	vals []any
	conv []converter
}

// read takes the whole answer. It keeps in step with go-mssqldb's reader: each
// token it takes, the reader has announced on the message queue, so that reading
// never waits for a token while the reader waits for room on the queue. It
// returns context.Canceled when the request's context ended and the server
// acknowledged the cancel.
func (c *call) read() (err error) {
	defer c.recovered(&err)
	for {
		m := c.next()
		if c.ctx.Err() != nil {
			// The queue does not tell any more what is next.
			c.held = append([]any{m}, c.held...)
			return c.drain()
		}
		switch m := m.(type) {
		case sqlexp.MsgNext:
			// Not Columns, which passes over tokens and errors in search of columns.
			if err := c.rows.NextResultSet(); err != nil {
				return ended(err)
			}
			if err := c.resultSet(); err != nil {
				return err
			}
		case sqlexp.MsgNextResultSet:
			if c.set.done {
				c.set.done = false
			} else if err := c.rows.NextResultSet(); err != nil {
				return ended(err)
			}
			if err := c.statementDone(); err != nil {
				return err
			}
		default:
			if err := c.message(m); err != nil {
				return err
			}
			if c.stray != nil {
				// The reader has given up, and says why to who asks for tokens.
				return c.drain()
			}
		}
	}
}

// drain passes over the rest of the answer.
func (c *call) drain() error {
	for {
		if err := c.rows.NextResultSet(); err != nil {
			if err = ended(err); err == nil {
				// It came to its end before an attention was sent.
				err = c.ctx.Err()
			}
			return err
		}
	}
}

// ended is nil at an answer's end. That is a bare io.EOF: a broken connection has
// one wrapped.
func ended(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// next is the next message.
func (c *call) next() any {
	if len(c.held) > 0 {
		m := c.held[0]
		c.held = c.held[1:]
		return m
	}
	return c.queue.Message(&c.ctx)
}

// message takes a message that is no signpost.
func (c *call) message(m any) error {
	switch m := m.(type) {
	case sqlexp.MsgNotice:
		if e, ok := m.Message.(mssql.Error); ok {
			return c.serverMessage(e)
		}
	case sqlexp.MsgError:
		var e mssql.Error
		if errors.As(m.Error, &e) {
			return c.serverMessage(e)
		}
		c.stray = m.Error
	case sqlexp.MsgRowsAffected:
		c.counted = true
		if !c.set.open {
			c.out.Affected += m.Count
		}
		return c.event(driver.SinkEvent{Kind: driver.SinkDone, Affected: m.Count, HasCount: true})
	}
	return nil
}

// messages takes what the server said and nobody has read yet, after the answer
// broke off.
func (c *call) messages() error {
	if c.rows == nil {
		return nil
	}
	p := startPump(&c.queue)
	c.held = append(c.held, p.stop(&c.queue)...)
	for _, m := range c.held {
		switch m.(type) {
		case sqlexp.MsgNotice, sqlexp.MsgError:
			if err := c.message(m); err != nil {
				return err
			}
		}
	}
	c.held = nil
	return nil
}

func (c *call) serverMessage(e mssql.Error) error {
	se := driver.ServerError{Number: e.Number, State: e.State, Class: e.Class, Line: e.LineNo, Proc: e.ProcName,
		Server: e.ServerName, Message: e.Message}
	if e.Class >= 11 {
		c.out.Errors = append(c.out.Errors, se)
	}
	return c.event(driver.SinkEvent{Kind: driver.SinkMessage, Message: se})
}

// statementDone is called once for each DONE.
func (c *call) statementDone() error {
	counted := c.counted
	c.counted, c.set.open = false, false
	if counted {
		return nil
	}
	return c.event(driver.SinkEvent{Kind: driver.SinkDone})
}

func (c *call) event(e driver.SinkEvent) error {
	if c.sink == nil {
		return nil
	}
	c.inSink = true
	err := c.sink.Event(e)
	c.inSink = false
	if err != nil {
		return &driver.SinkError{Err: err}
	}
	return nil
}

// resultSet reads the rows whose columns have just come.
func (c *call) resultSet() error {
	names := c.rows.Columns()
	s := &c.set
	c.out.ResultSets++
	s.open = true
	n := len(names)
	if cap(s.row) < n {
		s.row, s.vals, s.conv = make([]sqldriver.Value, n), make([]any, n), make([]converter, n)
	}
	s.row, s.vals, s.conv = s.row[:n], s.vals[:n], s.conv[:n]
	if c.sink != nil {
		cols := make([]driver.Column, n)
		for i, name := range names {
			cols[i], s.conv[i] = column(c.rows, i, name)
		}
		if err := c.event(driver.SinkEvent{Kind: driver.SinkColumns, Columns: cols}); err != nil {
			return err
		}
	}
	// Messages can come between rows.
	p := startPump(&c.queue)
	defer func() { c.held = append(c.held, p.stop(&c.queue)...) }()
	for {
		if err := c.rows.Next(s.row); err != nil {
			err = ended(err)
			s.done = err == nil
			return err
		}
		c.out.Rows++
		if c.sink == nil {
			continue
		}
		for i, v := range s.row {
			s.vals[i] = s.conv[i].value(v)
		}
		c.inSink = true
		err := c.sink.Row(s.vals)
		c.inSink = false
		if err != nil {
			return &driver.SinkError{Err: err}
		}
	}
}

// pump takes messages off the queue while nobody else does: go-mssqldb's reader
// stops when the queue is full.
type pump struct {
	list []any
	done chan struct{}
}

// pumpEnd is the message at which a pump stops. Ending its wait by a context
// would make the queue say things that are not so.
type pumpEnd struct{}

func startPump(q *sqlexp.ReturnMessage) *pump {
	p := &pump{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		for {
			m := q.Message(context.Background())
			if _, end := m.(pumpEnd); end {
				return
			}
			p.list = append(p.list, m)
		}
	}()
	return p
}

func (p *pump) stop(q *sqlexp.ReturnMessage) []any {
	// The pump makes room, so this does not wait for long.
	_ = sqlexp.ReturnMessageEnqueue(context.Background(), q, pumpEnd{})
	<-p.done
	return p.list
}
