package driver

import "time"

// EventKind says what happened.
type EventKind uint8

const (
	// WorkerCreated comes once for each worker, in order, when its goroutine starts. The first
	// worker's comes before its login, the others' after it.
	WorkerCreated EventKind = iota
	// Connected is a worker that logged in; Session is set. It comes when Plan.Verbose is.
	Connected
	// ConnectFailed is a worker that could not, once for each; Err is set.
	ConnectFailed
	// Begun is the barrier's opening: the measured part begins. Unit and Conn are -1.
	Begun
	// QueryError is an error of class 11 or above; Server and Source are set.
	QueryError
	// QueryTimeout is a batch cancelled by the query timeout; Source is set.
	QueryTimeout
	// Lost is a connection that broke; Err and Source are set.
	Lost
	// Reconnected is a connection opened again.
	Reconnected
	// ReconnectFailed is an attempt to do so that failed; Err is set. Another follows.
	ReconnectFailed
	// GaveUp is a worker whose connection is not opened again; Err says why.
	GaveUp
	// Suppressed stands for events of the kind Of that were not passed on: Count of them in the
	// last second, of which this event carries the last one's details. Unit and Conn are -1.
	Suppressed
	// Stopping is the stop of the run before its end; Err says why. Unit and Conn are -1.
	Stopping
	// Abandoned is a worker that did not end in time after the run did; its session is left to
	// the operating system.
	Abandoned
	// Retried is a batch that is sent again; Source is set, and Server or Err says why. It, Cancelled
	// and Disconnected come when Plan.Verbose is.
	Retried
	// Cancelled is a batch that Plan.Faults cancelled.
	Cancelled
	// Disconnected is a connection that the run itself ended.
	Disconnected
	// RolledBack is a transaction that was open when its worker's work ended; Err is set when that
	// failed.
	RolledBack
	// TooManyErrors is a worker that ends, having reached Plan.MaxWorkerErrors.
	TooManyErrors
)

// String names the kind.
func (k EventKind) String() string {
	if int(k) < len(eventNames) {
		return eventNames[k]
	}
	return "unknown"
}

var eventNames = [...]string{"worker created", "connected", "connect failed", "begun", "query error",
	"query timeout", "lost", "reconnected", "reconnect failed", "gave up", "suppressed", "stopping", "abandoned",
	"retried", "cancelled", "disconnected", "rolled back", "too many errors"}

// Event is something a log would say. Events are passed on by one goroutine, in the order in
// which they happened in each worker, through a bounded queue. Of QueryError, ConnectFailed, Lost
// and the like, the first 100 of each error number pass; the rest are counted, and told once a
// second and at the end by a Suppressed event. None of it changes a count of the result.
type Event struct {
	Kind EventKind
	// Of is the kind that a Suppressed event stands for.
	Of EventKind
	// Time is when it happened.
	Time time.Time
	// Worker is the worker's number over all units, from 0; Unit and Conn are as in Worker. All
	// are -1 when the event is about no worker.
	Worker, Unit, Conn int
	Source             Source
	// Server is the server's message for QueryError.
	Server ServerError
	Err    error
	// Count is the number of events a Suppressed event stands for.
	Count int64
	// Session is the session of a Connected event, to be asked for optional abilities alone.
	Session Session
}
