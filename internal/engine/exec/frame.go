package exec

import (
	"gostress/internal/engine/expr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/types"
)

// frame is one activation of a program.
type frame struct {
	expr.Frame
	prog   *program
	pc     int
	rc     int32 // return status
	caught int   // length of Session.caught when the frame began
	depth  int   // of procedures: @@NESTLEVEL
	result types.Value
	// fixed is the transaction of the statement that called a function.
	fixed *storage.Tx
	// take is called when a table-valued function has ended.
	take func(fr *frame) error
	// locals are the tables made for the program's table variables; those of
	// parameters belong to the caller.
	locals  []*storage.Table
	cursors map[string]*cursor
}

// maxNesting is how deep procedures, functions and dynamic SQL may nest.
const maxNesting = 32

// push makes the frame of an activation. Frames are kept by depth: a session
// calls one procedure at a time.
func (s *Session) push(p *program) *frame {
	n := len(s.frames)
	if n < cap(s.frames) {
		s.frames = s.frames[:n+1]
	} else {
		s.frames = append(s.frames, nil)
	}
	fr := s.frames[n]
	if fr == nil {
		fr = new(frame)
		s.frames[n] = fr
	}
	fr.prog, fr.pc, fr.rc, fr.caught = p, 0, 0, len(s.caught)
	fr.result, fr.fixed, fr.take = types.Value{}, nil, nil
	fr.depth = 0
	if n > 0 {
		fr.depth = s.frames[n-1].depth
	}
	if p.kind != kindBatch {
		fr.depth++
	}
	fr.Session, fr.Ctx = s, s.ctx
	fr.Vars = grow(fr.Vars, p.mod.NumVars())
	fr.Tables = grow(fr.Tables, p.mod.NumTables())
	fr.Tx = nil
	fr.Identity = types.Value{}
	return fr
}

// grow returns a cleared slice of length n.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	s = s[:n]
	clear(s)
	return s
}

// extend returns the slice with at least n elements, keeping what is there.
func extend[T any](s []T, n int) []T {
	if len(s) >= n {
		return s
	}
	if cap(s) >= n {
		return s[:n]
	}
	t := make([]T, n, n+n/2)
	copy(t, s)
	return t
}

// makeTables makes the table variables that are no parameters.
func (fr *frame) makeTables() {
	for i, tv := range fr.prog.mod.TableVars() {
		if i < len(fr.Tables) && fr.Tables[i] == nil {
			t := storage.NewLocal(tv.Table.Def)
			fr.Tables[i] = t
			fr.locals = append(fr.locals, t)
		}
	}
}

// pop ends the innermost activation.
func (s *Session) pop() {
	n := len(s.frames) - 1
	fr := s.frames[n]
	for i, t := range fr.locals {
		t.Close()
		fr.locals[i] = nil
	}
	fr.locals = fr.locals[:0]
	for name, c := range fr.cursors {
		c.close()
		delete(fr.cursors, name)
	}
	clear(fr.Vars)
	clear(fr.Tables)
	fr.Tx, fr.Ctx = nil, nil
	s.caught = s.caught[:min(len(s.caught), fr.caught)]
	s.frames = s.frames[:n]
}

// top is the innermost activation, nil outside of requests.
func (s *Session) top() *frame {
	if n := len(s.frames); n > 0 {
		return s.frames[n-1]
	}
	return nil
}

// inModule reports whether the statement's tokens are those of a procedure.
func (s *Session) inModule() bool {
	return s.rpc || len(s.frames) > 1
}

// procName is the name of the procedure that runs, "" in a batch.
func (s *Session) procName() string {
	if fr := s.top(); fr != nil && fr.prog.kind != kindDynamic {
		return fr.prog.name
	}
	return ""
}
