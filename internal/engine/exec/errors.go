package exec

import (
	"errors"

	"gostress/internal/engine/sqlerr"
)

// level is how far an error reaches when no TRY block catches it.
type level uint8

const (
	levelStatement level = iota // the next statement runs
	levelScope                  // the batch or procedure ends, its caller goes on
	levelBatch                  // the whole request ends
	levelFatal                  // the session ends
)

// thrown is a T-SQL error on its way out.
type thrown struct {
	err   *sqlerr.Error
	level level
	// compile marks an error of compilation: TRY blocks of the module in which
	// it arose do not catch it, those of callers do.
	compile bool
	also    []*sqlerr.Error // further errors of the same compilation
	// sent tells that the client has the message: the error only unwinds.
	sent bool
	// keepTran marks an error after which an open transaction stays though the
	// batch ends (THROW).
	keepTran bool
	// raised marks RAISERROR: XACT_ABORT does not look at it.
	raised bool
	// told tells that the statement sent its Done already.
	told bool
	// after marks an error that follows a procedure which ended well (266).
	after bool
	// located tells that line and procedure are filled in.
	located bool
}

func (t *thrown) Error() string { return t.err.Error() }
func (t *thrown) Unwrap() error { return t.err }

// batchErrors end the batch and roll back the transaction: failed conversions
// and the nesting limit.
func endsBatch(number int32) bool {
	switch number {
	case 241, 244, 245, 248, 235, 295, 8114, 8169, 217, 8142, 257:
		return true
	}
	return dooms(number)
}

// dooms reports the errors after which the transaction can only be rolled back.
func dooms(number int32) bool {
	switch number {
	case 1205, 3960, 3961, 41301, 41302, 41305, 41325, 41839:
		return true
	}
	return false
}

// asThrown classifies an error of a statement. ok is false for anything that is
// not T-SQL's: a cancelled context, a broken output.
func asThrown(err error) (*thrown, bool) {
	var t *thrown
	if errors.As(err, &t) {
		return t, true
	}
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return nil, false
	}
	t = &thrown{err: e}
	switch {
	case e.Class >= 20:
		t.level = levelFatal
	case endsBatch(e.Number):
		t.level = levelBatch
	}
	return t, true
}

// compileError wraps an error that arose while a statement was compiled.
func compileError(err error) error {
	var t *thrown
	if errors.As(err, &t) {
		return t
	}
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return err
	}
	return &thrown{err: e, level: levelScope, compile: true}
}

// deferrable reports the errors of names that may exist by the time the
// statement is reached.
func deferrable(err error) bool {
	switch sqlerr.Number(err) {
	case 208, 2812, 4121, 1088, 4902, 3701, 15151, 911, 2760:
		return true
	}
	return false
}
