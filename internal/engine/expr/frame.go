package expr

import (
	"context"
	"time"

	"gostress/internal/engine/storage"
	"gostress/internal/engine/types"
)

// Session is what expressions need of the session they run in. Functions that
// need more assert a richer interface on Frame.Session.
type Session interface {
	Rand() float64  // [0,1): the next number of RAND() without a seed
	Now() time.Time // in the server's time zone
}

// Frame is the state of one activation of a module: a batch, a procedure, a
// function. It belongs to one goroutine.
type Frame struct {
	Vars   []types.Value    // local variables and parameters by slot
	Regs   []types.Value    // the columns of a statement's sources by register
	Tables []*storage.Table // table variables and table-valued parameters by slot
	Tx     *storage.Tx
	Once   []OnceSlot // runtime constants and cached subqueries

	Session Session
	Ctx     context.Context

	// Identity is the last identity value a statement of this frame made: NULL
	// when there was none.
	Identity types.Value
	// RowCount is the count of the last statement, for @@ROWCOUNT's owner.
	RowCount int64
	// RowLimit is SET ROWCOUNT for a data modification: how many rows it takes
	// at most, 0 = all.
	RowLimit int64

	// Now is the statement's time in datetime2 ticks, local, and NowOffset
	// minutes east of UTC; both are read by NowTicks and 0 before.
	Now       int64
	NowOffset int

	stamp   uint64
	scratch []types.Value
}

// OnceSlot keeps what is computed once per execution of a statement.
type OnceSlot struct {
	stamp uint64
	val   types.Value
	any   any
}

// BeginStatement forgets the runtime constants of the statement before. Every
// execution of a statement begins with it, each time round a loop too.
func (f *Frame) BeginStatement() {
	f.stamp++
	f.Now = 0
}

// NowTicks is the local time at which the statement first asked for it, in
// datetime2 ticks; it stays the same until BeginStatement.
func (f *Frame) NowTicks() int64 {
	if f.Now == 0 {
		t := f.Session.Now()
		f.Now = types.TicksOf(t)
		_, sec := t.Zone()
		f.NowOffset = sec / 60
	}
	return f.Now
}

// OnceValue returns the slot's value of this statement's execution and makes it
// when there is none yet.
func (f *Frame) OnceValue(slot int, make func() (types.Value, error)) (types.Value, error) {
	s := &f.Once[slot]
	if s.stamp == f.stamp+1 {
		return s.val, nil
	}
	v, err := make()
	if err != nil {
		return types.Value{}, err
	}
	f.Once[slot] = OnceSlot{stamp: f.stamp + 1, val: v}
	return v, nil
}

// onceCached is the slot's value of this statement's execution, if it has one.
func (f *Frame) onceCached(slot int) (types.Value, bool) {
	s := &f.Once[slot]
	return s.val, s.stamp == f.stamp+1
}

// onceAnyCached is onceCached for other things than values.
func (f *Frame) onceAnyCached(slot int) any {
	if s := &f.Once[slot]; s.stamp == f.stamp+1 {
		return s.any
	}
	return nil
}

func (f *Frame) onceStore(slot int, v types.Value, x any) {
	f.Once[slot] = OnceSlot{stamp: f.stamp + 1, val: v, any: x}
}

// push takes n values off the frame's scratch space for the arguments of a
// function; pop gives them back, in the opposite order.
func (f *Frame) push(n int) []types.Value {
	at := len(f.scratch)
	if at+n > cap(f.scratch) {
		// Slices handed out before keep their old space.
		f.scratch = make([]types.Value, at, 2*cap(f.scratch)+n+16)
	}
	f.scratch = f.scratch[:at+n]
	return f.scratch[at : at+n : at+n]
}

func (f *Frame) pop(n int) { f.scratch = f.scratch[:len(f.scratch)-n] }

// Reset empties a frame for another activation of the same module: variables,
// registers and table variables are cleared, their slices kept.
func (f *Frame) Reset() {
	clear(f.Vars)
	clear(f.Regs)
	clear(f.Tables)
	clear(f.Once)
	*f = Frame{Vars: f.Vars, Regs: f.Regs, Tables: f.Tables, Once: f.Once, stamp: f.stamp + 1, scratch: f.scratch[:0]}
}
