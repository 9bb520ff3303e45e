package exec

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
)

// gate keeps the layout of tables still while statements run on plans that were
// compiled for it: statements enter it together, a change of the layout alone
// (SQL Server's Sch-S and Sch-M locks, for all tables at once). A change gives way
// after a moment and tries again, since a statement inside may wait for a lock of
// a session that is kept outside.
type gate struct {
	state atomic.Int64 // statements inside, plus shut
	// tran is how long a session that may hold locks of its own waits at it.
	tran time.Duration
	// layouts counts the changes that were made.
	layouts atomic.Int64

	holder atomic.Int32  // the session whose change is made, or waits for its turn; 0 = none
	change chan struct{} // is full while one change is made, or waits for its turn
	mu     sync.Mutex
	opened chan struct{} // closed when the gate opens; nil while nobody waits
	empty  chan struct{} // has a value when the last statement left a shut gate
}

// shut is added to the state while a change is made or waits for its turn.
const shut = 1 << 40

const (
	gateTry     = 100 * time.Millisecond // how long a change keeps the gate shut before it gives way
	gateRest    = 20 * time.Millisecond  // its first rest; doubles to gateMaxRest
	gateMaxRest = time.Second
)

func newGate() *gate {
	return &gate{tran: 10 * time.Second, change: make(chan struct{}, 1), empty: make(chan struct{}, 1)}
}

// tryEnter lets a statement in if the gate is open.
func (g *gate) tryEnter() bool {
	for {
		n := g.state.Load()
		if n >= shut {
			return false
		}
		if g.state.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// enter lets a statement in.
func (g *gate) enter(ctx context.Context) error {
	for !g.tryEnter() {
		g.mu.Lock()
		if g.opened == nil {
			g.opened = make(chan struct{})
		}
		opened := g.opened
		g.mu.Unlock()
		if g.state.Load() < shut {
			continue // it opened before it could know of us
		}
		select {
		case <-opened:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (g *gate) leave() {
	if g.state.Add(-1) == shut {
		select {
		case g.empty <- struct{}{}:
		default:
		}
	}
}

// tryShut keeps statements out and waits until those inside have left.
func (g *gate) tryShut(ctx context.Context, wait time.Duration) bool {
	select {
	case <-g.empty: // of an attempt that gave way
	default:
	}
	if g.state.Add(shut) == shut {
		return true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-g.empty:
			if g.state.Load() == shut {
				return true
			}
		case <-timer.C:
			g.open()
			return false
		case <-ctx.Done():
			g.open()
			return false
		}
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state.Add(-shut)
	if g.opened != nil {
		close(g.opened)
		g.opened = nil
	}
}

// enterGate lets a statement of the session in, unless it runs within one that is
// in already or the session itself keeps the gate shut. It reports whether
// leaveGate is due. Errors: 1222 after LOCK_TIMEOUT; 1205 when the session holds a
// transaction that the one that shut the gate may wait for, after some time.
func (s *Session) enterGate() (bool, error) {
	if s.inside || s.alone {
		return false, nil
	}
	g := s.e.gate
	if !g.tryEnter() {
		ctx, cancel := s.ctx, context.CancelFunc(func() {})
		limit := s.patience()
		if limit >= 0 {
			ctx, cancel = context.WithTimeout(ctx, limit)
		}
		s.live.wait("LCK_M_SCH_S", int(g.holder.Load()))
		err := g.enter(ctx)
		s.live.waited()
		cancel()
		switch {
		case err == nil:
		case s.ctx.Err() != nil:
			return false, s.cancelled()
		default:
			return false, s.impatient()
		}
	}
	s.inside = true
	return true, nil
}

func (s *Session) leaveGate() {
	s.inside = false
	s.e.gate.leave()
}

// patience is how long the session waits at the gate, negative for ever.
func (s *Session) patience() time.Duration {
	switch {
	case s.set.lockTimeout >= 0:
		return time.Duration(s.set.lockTimeout) * time.Millisecond
	case s.tran.count > 0:
		return s.e.gate.tran
	}
	return -1
}

// impatient is the error of a session whose patience is at its end.
func (s *Session) impatient() error {
	if s.set.lockTimeout >= 0 {
		return sqlerr.LockTimeout()
	}
	return sqlerr.Deadlock(s.spid)
}

// changeLayout carries out a change of tables' layout while no statement of
// another session runs: in a transaction until its end, since others would meet
// what may yet be taken back. Errors as those of enterGate.
func (s *Session) changeLayout(change func() error) error {
	g := s.e.gate
	if !s.inside && !s.alone {
		if err := s.shutGate(); err != nil {
			return err
		}
		s.alone = true
		defer func() {
			if s.tran.count == 0 {
				s.openGate()
			}
		}()
	}
	defer s.e.changed()
	defer g.layouts.Add(1)
	return change()
}

func (s *Session) shutGate() error {
	g, limit := s.e.gate, s.patience()
	began, rest := time.Now(), gateRest
	defer s.live.waited()
	for {
		select {
		case g.change <- struct{}{}:
			g.holder.Store(int32(s.spid))
			s.live.wait("LCK_M_SCH_M", 0) // any of the statements inside
			if g.tryShut(s.ctx, gateTry) {
				return nil
			}
			g.holder.Store(0)
			<-g.change
		default: // another session's turn
			s.live.wait("LCK_M_SCH_M", int(g.holder.Load()))
		}
		if limit >= 0 && time.Since(began) >= limit {
			return s.impatient()
		}
		select {
		case <-time.After(rest):
		case <-s.done:
			return s.cancelled()
		}
		rest = min(2*rest, gateMaxRest)
	}
}

// openGate lets the others in again, if the session keeps them out.
func (s *Session) openGate() {
	if s.alone {
		s.alone = false
		s.e.gate.open()
		s.e.gate.holder.Store(0)
		<-s.e.gate.change
	}
}

// undo takes back changes of the catalog.
func (s *Session) undo(undo func()) {
	undo()
	s.e.gate.layouts.Add(1)
	s.e.changed()
}

// changesLayout reports whether a statement changes the indexes or the columns
// of tables that statements may be using.
func changesLayout(st ast.Statement) bool {
	switch st.(type) {
	case *ast.CreateIndexStatement, *ast.DropIndexStatement, *ast.AlterIndexStatement,
		*ast.AlterTableAddTableElementStatement, *ast.AlterTableDropTableElementStatement, *ast.AlterTableAlterColumnStatement,
		*ast.AlterTableConstraintModificationStatement, *ast.AlterTableAlterIndexStatement:
		return true
	}
	return false
}
