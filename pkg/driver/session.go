package driver

import (
	"context"
	"iter"
)

// Connector opens sessions.
type Connector interface {
	// Connect opens a session and logs in. It returns when ctx ends, which bounds the login alone:
	// the session outlives it. It is called from many goroutines at once. Its error is a *LoginError
	// when the server refused the login, a *ConnectError when it could not be reached.
	Connect(ctx context.Context) (Session, error)
}

// Session is one connection. One goroutine at a time calls Do.
type Session interface {
	// Do sends r, reads its whole answer, and gives rows, messages and errors to sink in the
	// order in which they came. A nil sink means that rows are counted and no value is built.
	// What the server says is wrong stands in the Outcome; the error is for a request that could
	// not be carried out:
	//
	//   - *LostError: the connection is gone, and the session is of no use any more;
	//   - *TimeoutError or an error that is ctx.Err(): ctx ended, the server acknowledged the
	//     cancel, and the session can be used again;
	//   - *SinkError: the sink refused what it was given; the run ends;
	//   - *FatalError: trying again, on any connection, would fail too; the run ends.
	//
	// Any other error counts as a lost connection. The Outcome holds what was seen until then.
	// After Do returned it may still watch ctx, and no more, until it is called with another or
	// the session is closed: an end of ctx must not touch the session then.
	Do(ctx context.Context, r *Request, sink Sink) (Outcome, error)
	// Close ends the connection. It may be called while Do runs, from another goroutine, and
	// then makes Do return; a second call does nothing.
	Close() error
}

// Outcome is what came of a request.
type Outcome struct {
	// Rows counts rows received in all result sets.
	Rows int64
	// ResultSets counts result sets.
	ResultSets int64
	// Affected is the sum of the row counts of statements that return no rows.
	Affected int64
	// Errors are the messages of class 11 and above, in order.
	Errors []ServerError
	// OpenTran says that a transaction is open after the request.
	OpenTran bool
}

// Sink takes what a session receives, in order, from one goroutine.
type Sink interface {
	// Row takes a row of the result set that the last Columns event described. The slice and
	// what it refers to are the session's again when Row returns.
	Row(values []any) error
	// Event takes everything else.
	Event(SinkEvent) error
}

// Breaker is an optional ability of a Sink: it is told that an answer broke off, since the
// connection was lost or the request cancelled. What comes next belongs to another answer.
type Breaker interface {
	Broke(err error)
}

// SinkEventKind says what a SinkEvent is.
type SinkEventKind uint8

const (
	// SinkColumns begins a result set; Columns is set.
	SinkColumns SinkEventKind = iota
	// SinkDone ends a statement; Affected and HasCount are set.
	SinkDone
	// SinkMessage is a message or an error; Message is set.
	SinkMessage
)

// SinkEvent is what a sink is told between rows.
type SinkEvent struct {
	Kind    SinkEventKind
	Columns []Column
	// Affected is the count of the statement that ended: rows sent or rows changed.
	Affected int64
	// HasCount is false when the statement has no count, as under SET NOCOUNT ON.
	HasCount bool
	// Message is a message of any class; of class 11 and above it is in Outcome.Errors too.
	Message ServerError
}

// Program is what the connections of a unit run.
type Program interface {
	// Iteration yields the requests of iteration i, from 0, of worker w. It is called by the
	// worker's own goroutine, so for different workers at once. It need not hold a request that
	// is repeated more than once.
	Iteration(w Worker, i int64) iter.Seq[*Request]
}

// Ender is an optional ability of a Program.
type Ender interface {
	// Ended is called once for each worker of the unit when it will run nothing more, whatever the
	// reason, a failed login included. It must not block.
	Ended(w Worker)
}

// Worker tells a program for whom it is.
type Worker struct {
	// ID counts workers over all units, from 0.
	ID int
	// Unit is the index of the unit, Conn the index of the connection in it, both from 0.
	Unit, Conn int
	// Connections is the number of connections of the unit.
	Connections int
}

// Unit is one input file, query or workload.
type Unit struct {
	Name    string
	Program Program
	// Statements name what the program's requests are counted and timed under; none is one, the
	// unit's own name.
	Statements []string
	// Connector, if set, opens the unit's sessions in place of the plan's.
	Connector Connector
	// Connections is the unit's own number of them in place of the plan's; 0 is the plan's. During a
	// ramp-up each unit has its share. It does not go with Plan.MaxConnections, nor with stages that
	// say how many connections there are.
	Connections int
}
