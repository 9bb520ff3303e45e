package tdsclient

import (
	"errors"
	"fmt"
)

// ServerError is an ERROR or INFO message of the server.
type ServerError struct {
	Number int32
	State  uint8
	Class  uint8 // the severity; 11 and above is an error
	Line   int32
	Proc   string
	Server string
	// Message is the text.
	Message string
}

func (e ServerError) Error() string {
	return fmt.Sprintf("error %d, severity %d, state %d, line %d: %s", e.Number, e.Class, e.State, e.Line, e.Message)
}

// LostError is a connection that is of no use any more; it is closed. Number is
// the last error of the server before that, 0 for none.
type LostError struct {
	Number int32
	Err    error
}

func (e *LostError) Error() string { return "the connection was lost: " + e.Err.Error() }
func (e *LostError) Unwrap() error { return e.Err }

// SinkError is a sink that refused what it was given; the connection is closed,
// since the rest of the answer was not read.
type SinkError struct{ Err error }

func (e *SinkError) Error() string { return "cannot take the answer: " + e.Err.Error() }
func (e *SinkError) Unwrap() error { return e.Err }

// ProtocolError is an answer that breaks the protocol, or that this package does
// not know.
type ProtocolError struct{ What string }

func (e *ProtocolError) Error() string { return "the server's answer cannot be read: " + e.What }

func protocol(format string, args ...any) error {
	return &ProtocolError{What: fmt.Sprintf(format, args...)}
}

var (
	errServerClosed = errors.New("the server closed it")
	errNoAck        = errors.New("the server did not acknowledge the cancel in time")
	// ErrClosed is in the LostError of a request on a connection that was closed
	// from this side.
	ErrClosed = errors.New("it was closed")
)
