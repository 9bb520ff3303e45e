// Package sqlerr holds the engine's T-SQL errors. Numbers, severities, states
// and the order of arguments are SQL Server's, so that clients which look at
// them behave as they do there; the wording is the engine's own.
package sqlerr

import (
	"errors"
	"fmt"
)

// Error is one T-SQL message. Class is the severity: 10 and below is
// information, 11 to 19 an error, 20 and up ends the session. Line counts from
// 1 within the batch or module; 0 means that nobody has filled it in yet.
type Error struct {
	Number int32
	State  uint8
	Class  uint8
	Line   int32
	Proc   string
	Server string
	Text   string
}

// New makes an error. Line, Proc and Server are filled in where they are known.
func New(number int32, class, state uint8, format string, args ...any) *Error {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	return &Error{Number: number, Class: class, State: state, Text: text}
}

// Error spells the message as the tools of a DBA do.
func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("Msg %d, Level %d, State %d, Line %d: %s", e.Number, e.Class, e.State, e.Line, e.Text)
	}
	return fmt.Sprintf("Msg %d, Level %d, State %d: %s", e.Number, e.Class, e.State, e.Text)
}

// At returns the error with its line set, unless it already has one. The
// receiver is not changed.
func (e *Error) At(line int) *Error {
	if e.Line > 0 || line <= 0 {
		return e
	}
	c := *e
	c.Line = int32(line)
	return &c
}

// AtLine is At for an error of any kind: anything but an *Error comes back as
// it is.
func AtLine(err error, line int) error {
	var e *Error
	if errors.As(err, &e) {
		return e.At(line)
	}
	return err
}

// Number is the error's number, or 0 when err is no *Error.
func Number(err error) int32 {
	var e *Error
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}
