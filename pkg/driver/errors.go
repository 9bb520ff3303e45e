package driver

import (
	"errors"
	"fmt"
	"slices"
)

// Numbers of SQL Server errors that the driver knows.
const (
	numDeadlock   = 1205
	numKilled     = 596
	numNoDatabase = 4060
)

var (
	// refusals are the login errors after which no other connection tries the same login: the
	// account would be locked, or the answer would be the same.
	refusals = []int32{18456, 18452, 18470, 18486, 18487, 18488, 4060, 40615}
	// quotas are the errors after which every further request fails too.
	quotas = []int32{41823, 41840, 40544}
)

// ServerError is a message from the server, class 11 and above being errors.
type ServerError struct {
	Number int32
	State  uint8
	// Class is the severity, 0 to 25.
	Class uint8
	// Line is the line in the batch or procedure, from 1.
	Line int32
	// Proc is the procedure, empty in a batch.
	Proc    string
	Server  string
	Message string
}

func (e ServerError) Error() string {
	return fmt.Sprintf("error %d, severity %d, state %d, line %d: %s", e.Number, e.Class, e.State, e.Line, e.Message)
}

// LoginError is a login that the server refused.
type LoginError struct {
	// Number is the server's error number; State tells an administrator why.
	Number int32
	State  uint8
	Class  uint8
	// Server is the server's name or address, Login the login that was tried.
	Server, Login string
	// Message is the server's text.
	Message string
}

func (e *LoginError) Error() string {
	who := ""
	if e.Login != "" {
		who = " as " + e.Login
	}
	return fmt.Sprintf("cannot log in to %s%s: error %d, state %d: %s", e.Server, who, e.Number, e.State, e.Message)
}

// Refused says that the same login would be refused again, so that nobody else should try it.
func (e *LoginError) Refused() bool { return slices.Contains(refusals, e.Number) }

// ConnectError is a server that could not be reached, or that did not answer as one.
type ConnectError struct {
	// Server is the address that was tried.
	Server string
	Err    error
}

func (e *ConnectError) Error() string {
	return fmt.Sprintf("cannot connect to %s: %v", e.Server, e.Err)
}
func (e *ConnectError) Unwrap() error { return e.Err }

// LostError is a connection that broke. Whether the request in flight took effect is not known.
type LostError struct {
	// Number is the last error the server sent before, such as 596 after KILL; 0 for none.
	Number int32
	Err    error
}

func (e *LostError) Error() string {
	if e.Err == nil {
		return "the connection was lost"
	}
	return fmt.Sprintf("the connection was lost: %v", e.Err)
}
func (e *LostError) Unwrap() error { return e.Err }

// TimeoutError is a request that was cancelled since it took too long, the server having
// acknowledged the cancel. Whether the request took effect in part is not known.
type TimeoutError struct{ Err error }

func (e *TimeoutError) Error() string { return "the query timeout expired" }
func (e *TimeoutError) Unwrap() error { return e.Err }

// Timeout makes it a timeout to those who ask as net.Error does.
func (e *TimeoutError) Timeout() bool { return true }

// SinkError is a sink that could not take what the server sent, such as on a full disk.
type SinkError struct{ Err error }

func (e *SinkError) Error() string { return fmt.Sprintf("cannot write the results: %v", e.Err) }
func (e *SinkError) Unwrap() error { return e.Err }

// FatalError is a request that can never be carried out.
type FatalError struct{ Err error }

func (e *FatalError) Error() string { return e.Err.Error() }
func (e *FatalError) Unwrap() error { return e.Err }

// StoppedError is why a run ended before its end: the first error under StopOnError, a quota
// that the database reached, a sink or request that failed, or the loss of every connection.
type StoppedError struct {
	// Reason is half a sentence for the log.
	Reason string
	Err    error
}

func (e *StoppedError) Error() string {
	if e.Err == nil {
		return "the run was stopped: " + e.Reason
	}
	return fmt.Sprintf("the run was stopped: %s: %v", e.Reason, e.Err)
}
func (e *StoppedError) Unwrap() error { return e.Err }

// ErrNoConnection is in the error of a run in which nobody could connect, beside the first
// worker's own error.
var ErrNoConnection = errors.New("no connection could be opened")
