package target

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/golang-sql/sqlexp"
	mssql "github.com/microsoft/go-mssqldb"

	"gostress/pkg/driver"
)

// fatalClass is the severity from which on the server ends the connection.
const fatalClass = 20

var errClosed = errors.New("it was closed")

// session carries out requests through go-mssqldb.
type session struct {
	facts
	conn   *mssql.Conn
	wire   *conn
	closed atomic.Bool
	tran   atomic.Bool // a transaction is open
	params paramCache

	mu     sync.Mutex
	cancel context.CancelFunc // ends the request in flight
}

func newSession(c *mssql.Conn, w *conn, f facts) *session {
	f.ack, _ = loginAck(c)
	f.wire = WireMSSQL
	return &session{conn: c, wire: w, facts: f}
}

// Close ends the connection; a request in flight returns.
func (s *session) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	// The socket alone is closed: go-mssqldb's own Close hands its buffers back
	// while a request may still read into them.
	err := s.wire.Close()
	s.setCancel(nil)
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// setCancel names what ends the request in flight. When the session is closed,
// that is used at once.
func (s *session) setCancel(f context.CancelFunc) {
	s.mu.Lock()
	old := s.cancel
	s.cancel = f
	closed := s.closed.Load()
	s.mu.Unlock()
	if closed {
		if old != nil {
			old()
		}
		if f != nil {
			f()
		}
	}
}

// Do implements driver.Session.
func (s *session) Do(ctx context.Context, r *driver.Request, sink driver.Sink) (driver.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return driver.Outcome{OpenTran: s.tran.Load()}, err
	}
	return s.carry(ctx, &call{s: s, sink: sink, request: r})
}

func (s *session) carry(ctx context.Context, c *call) (driver.Outcome, error) {
	err := c.run(ctx)
	c.out.OpenTran = s.tran.Load()
	return c.out, err
}

// call is one request under way.
type call struct {
	s    *session
	sink driver.Sink
	// One of the two is carried out.
	request *driver.Request
	system  *procedure

	out   driver.Outcome
	ctx   callContext // ends with the driver's, and when the session is closed
	queue sqlexp.ReturnMessage
	rows  *mssql.Rowsq
	set   resultSet

	held    []any // messages taken off the queue already
	stray   error // what go-mssqldb said beside the server's messages
	counted bool  // the statement that is about to end had a count
	inSink  bool  // the sink is at work
	broken  bool  // go-mssqldb has lost its way
}

// build gives the text and the arguments that make go-mssqldb send the request.
func (c *call) build() (string, []sqldriver.NamedValue, error) {
	if c.system != nil {
		return c.s.params.procedure(c.system)
	}
	return c.s.params.build(c.request)
}

func (c *call) run(ctx context.Context) error {
	s := c.s
	if s.closed.Load() {
		return &driver.LostError{Err: errClosed}
	}
	text, args, err := c.build()
	if err != nil {
		return &driver.FatalError{Err: err}
	}
	// go-mssqldb never sees the error of a deadline, which it takes for a network
	// error and gives the connection up, though the server has acknowledged the
	// cancel.
	qctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.ctx = callContext{qctx, c}
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	s.setCancel(cancel)
	defer s.setCancel(nil)

	if err := c.send(text, args); err != nil {
		if c.broken || s.closed.Load() || !s.conn.IsValid() {
			return c.lost(err)
		}
		return &driver.FatalError{Err: err} // nothing was sent
	}
	err = c.read()
	switch {
	case err == nil && c.stray == nil:
		return c.complete()
	case err == nil:
		err = c.stray
	case errors.Is(err, context.Canceled) && !s.closed.Load() && ctx.Err() != nil:
		// The server acknowledged the cancel. What it said before is still queued.
		if err := c.messages(); err != nil {
			_ = s.Close()
			return err
		}
		return ctx.Err()
	}
	return c.lost(err)
}

// complete looks at an answer that was read to its end.
func (c *call) complete() error {
	for i := range c.out.Errors {
		if c.out.Errors[i].Class >= fatalClass {
			return c.lost(nil)
		}
	}
	return nil
}

// send hands the request to go-mssqldb. An error with the connection still valid
// means that nothing left.
func (c *call) send(text string, args []sqldriver.NamedValue) (err error) {
	defer c.recovered(&err)
	// The arguments do not pass CheckNamedValue, which makes every integer a bigint.
	nv := sqldriver.NamedValue{Value: &c.queue}
	if err := c.s.conn.CheckNamedValue(&nv); err != nil && !errors.Is(err, sqldriver.ErrRemoveArgument) {
		return err
	}
	for i := range args {
		// It keeps where the values of those go that are taken.
		if _, taken := taken(args[i].Value); taken {
			if err := c.s.conn.CheckNamedValue(&args[i]); err != nil {
				return err
			}
		}
	}
	st, err := c.s.conn.PrepareContext(&c.ctx, text)
	if err != nil {
		return err
	}
	q, ok := st.(sqldriver.StmtQueryContext)
	if !ok {
		return fmt.Errorf("go-mssqldb cannot query with a %T", st)
	}
	rows, err := q.QueryContext(&c.ctx, args)
	if err != nil {
		return err
	}
	if c.rows, ok = rows.(*mssql.Rowsq); !ok {
		c.broken = true
		return fmt.Errorf("go-mssqldb answers with a %T", rows)
	}
	return nil
}

// recovered makes an error of a panic in go-mssqldb, which trusts what the
// server says of itself. Panics of the sink go on.
func (c *call) recovered(err *error) {
	if p := recover(); p != nil {
		if c.inSink {
			panic(p)
		}
		c.broken = true
		*err = fmt.Errorf("the answer cannot be understood: %v", p)
	}
}

// lost closes the session and says why it is of no use any more.
func (c *call) lost(err error) error {
	closed, down := c.s.closed.Load(), c.s.wire.isDown()
	_ = c.s.Close()
	c.settle()
	var sink *driver.SinkError
	if errors.As(err, &sink) {
		return err
	}
	if err := c.messages(); err != nil {
		return err
	}
	var stream mssql.StreamError
	if errors.As(err, &stream) && closedByServer(stream.InnerError) {
		err = stream.InnerError
	}
	lost := &driver.LostError{Err: err}
	switch {
	case closed:
		lost.Err = errClosed
	case closedByServer(err) || closedByServer(down):
		lost.Err = errors.New("the server closed it")
	case down != nil:
		lost.Err = down
	}
	if n := len(c.out.Errors); n > 0 {
		last := c.out.Errors[n-1]
		lost.Number = last.Number
		if lost.Err == nil || last.Class >= fatalClass {
			lost.Err = last
		}
	}
	return lost
}

// settle ends go-mssqldb's reader, which else waits for someone to take its
// tokens. The socket is closed, so it ends soon.
func (c *call) settle() {
	if c.rows == nil {
		return
	}
	for c.rows.Close() != nil {
		runtime.Gosched()
	}
}
