package exec

import (
	"context"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// run carries out the instructions of the innermost frame. It returns nil when
// the program came to its end, a *thrown that no TRY block of it caught, or an
// error that is none of T-SQL's.
func (s *Session) run(fr *frame) error {
	p := fr.prog
	for fr.pc < len(p.ins) {
		if s.done != nil {
			select {
			case <-s.done:
				return s.cancelled()
			default:
			}
		}
		in := &p.ins[fr.pc]
		switch in.op {
		case opJump:
			s.jump(fr, in.target)
			continue
		case opEndCatch:
			s.jump(fr, fr.pc+1)
			continue
		}
		if s.set.noExec && !changesSettings(in.stmt) {
			fr.pc++
			continue
		}
		if err := s.step(fr, in); err != nil {
			if err = s.handle(fr, in, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// ready gives the code of an instruction. Code that touches tables is inside the
// gate when it reports so: it fits them until leaveGate.
func (s *Session) ready(fr *frame, in *instr) (c *code, inside bool, err error) {
	for {
		c = in.code.Load()
		if c == nil || c.version != fr.prog.current(s) {
			if c, err = s.compile(fr.prog, in); err != nil {
				return nil, false, compileError(err)
			}
		}
		if !c.access.disk && !c.access.memory {
			return c, false, nil // no table that another session could change
		}
		if inside, err = s.enterGate(); err != nil || !inside || c.version == fr.prog.current(s) {
			return c, inside, err
		}
		s.leaveGate()
	}
}

// step carries out one instruction and moves the frame on, unless it fails.
func (s *Session) step(fr *frame, in *instr) error {
	c, inside, err := s.ready(fr, in)
	if err != nil {
		return err
	}
	if inside {
		defer s.leaveGate()
	}
	if len(fr.Regs) < c.regs {
		fr.Regs = extend(fr.Regs, c.regs)
	}
	if len(fr.Once) < c.once {
		fr.Once = extend(fr.Once, c.once)
	}
	fr.BeginStatement()
	switch in.op {
	case opIf:
		t, err := s.test(fr, c)
		if err != nil {
			return err
		}
		s.lastError, s.rowCount = 0, 0
		if t == expr.True {
			fr.pc++
		} else {
			s.jump(fr, in.target)
		}
		return nil
	case opReturn:
		if c.value.Eval != nil {
			v, err := s.eval(fr, c)
			if err != nil {
				return err
			}
			if fr.prog.kind == kindFunction {
				fr.result = v
			} else if v.IsNull() {
				if err := s.returnsNull(in); err != nil {
					return err
				}
			} else {
				fr.rc = int32(v.Int())
			}
		}
		fr.pc = len(fr.prog.ins)
		return nil
	}
	if c.implicit && s.set.implicitTran && s.tran.count == 0 && !s.set.fmtOnly {
		if err := s.beginTran(""); err != nil {
			return err
		}
	}
	if err := c.run(s, fr); err != nil {
		return err
	}
	if !c.keepError {
		s.lastError = 0
	}
	fr.pc++
	return nil
}

func (s *Session) returnsNull(in *instr) error {
	return s.info(282, 1, 10, int(in.line), "The procedure tried to return a status of NULL, which is not allowed. A status of 0 is returned instead.")
}

// jump moves the frame to an instruction and leaves the CATCH blocks in which
// that does not lie.
func (s *Session) jump(fr *frame, to int) {
	depth := fr.caught
	if to < len(fr.prog.ins) {
		depth += int(fr.prog.ins[to].catch)
	}
	if len(s.caught) > depth {
		s.caught = s.caught[:depth]
	}
	fr.pc = to
}

// test evaluates the condition of IF or WHILE.
func (s *Session) test(fr *frame, c *code) (expr.Tri, error) {
	if !c.access.base {
		return c.cond(&fr.Frame)
	}
	t := expr.Unknown
	err := s.inStatement(fr, c, false, func() (err error) {
		t, err = c.cond(&fr.Frame)
		return err
	})
	return t, err
}

// eval evaluates the value of RETURN.
func (s *Session) eval(fr *frame, c *code) (types.Value, error) {
	if !c.access.base {
		return c.value.Eval(&fr.Frame)
	}
	var v types.Value
	err := s.inStatement(fr, c, false, func() (err error) {
		v, err = c.value.Eval(&fr.Frame)
		return err
	})
	return v, err
}

// cancelled is the error of a request that attention or KILL ended.
func (s *Session) cancelled() error {
	if s.isKilled() {
		return errKilled()
	}
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	return context.Canceled
}

func errKilled() *sqlerr.Error {
	return sqlerr.New(596, 21, 1, "The session cannot continue: it is in the kill state.")
}

// handle decides what an error does: a CATCH block of this frame takes it and
// nil is returned; or the client is told and the program goes on (nil) or ends
// (the error, with sent set); or an outer frame catches it (the error).
func (s *Session) handle(fr *frame, in *instr, err error) error {
	t, ok := asThrown(err)
	if !ok {
		return err
	}
	if t.sent {
		return t
	}
	s.locate(fr, in, t)
	s.lastError = t.err.Number
	if t.err.Class >= 20 {
		_ = s.sendMessage(t.err)
		t.sent, t.level = true, levelFatal
		return t
	}
	if t.err.Class > 10 {
		if r := fr.prog.region(fr.pc); r != nil && !t.compile {
			if s.em.rows && s.capture == nil {
				if err := s.sendDoneRows(CmdSelect, 0, false); err != nil {
					return err
				}
			}
			s.doomCaught(t)
			s.caught = append(s.caught, t.err)
			fr.pc = r.catch
			return nil
		}
		if s.tries > 0 {
			return t
		}
	}
	return s.uncaught(fr, in, t)
}

// uncaught tells the client of an error and carries out what it does to the
// batch and the transaction.
func (s *Session) uncaught(fr *frame, in *instr, t *thrown) error {
	if s.atomicDepth > 0 && fr.prog.atomic != nil {
		return t // the block is all or nothing: its caller rolls back and tells
	}
	if fr.prog.kind == kindFunction {
		return t // the statement that called the function fails
	}
	if err := s.sendMessage(t.err); err != nil {
		return err
	}
	for _, e := range t.also {
		if err := s.sendMessage(e); err != nil {
			return err
		}
	}
	t.sent = true
	if s.set.xactAbort && !t.raised {
		t.level = max(t.level, levelBatch)
		t.keepTran = false
	}
	if t.level == levelBatch && !t.keepTran && s.tran.count > 0 {
		if dooms(t.err.Number) && t.err.Number != 1205 {
			s.tran.doomed = true
		} else if err := s.rollbackAll(); err != nil {
			return err
		}
	}
	var c *code
	if c = in.code.Load(); c == nil {
		c = &code{}
	}
	if t.level == levelStatement {
		if dataModification(c.cmd) && !t.raised {
			if err := s.info(3621, 0, 0, int(t.err.Line), "The statement ends here."); err != nil {
				return err
			}
		}
		s.rowCount = 0
		fr.pc++
		if !t.told {
			return s.sendDone(c.cmd, -1, true)
		}
		return nil
	}
	if !t.told {
		if err := s.sendDone(c.cmd, -1, true); err != nil {
			return err
		}
	}
	return t
}

func dataModification(cmd uint16) bool {
	switch cmd {
	case CmdInsert, CmdUpdate, CmdDelete, CmdMerge:
		return true
	}
	return false
}

// locate fills in the line and the procedure of an error that has none.
func (s *Session) locate(fr *frame, in *instr, t *thrown) {
	if t.located {
		return
	}
	c := *t.err
	if c.Line <= 0 {
		c.Line = in.line
	} else {
		c.Line = max(c.Line-fr.prog.line0, 1)
	}
	if c.Proc == "" {
		c.Proc = s.procName()
	}
	c.Server = s.e.opts.ServerName
	t.err, t.located = &c, true
}

// doomCaught marks the transaction that can only be rolled back after an error
// that a TRY block caught.
func (s *Session) doomCaught(t *thrown) {
	if s.tran.count == 0 {
		return
	}
	if (s.set.xactAbort && !t.raised) || endsBatch(t.err.Number) {
		s.tran.doom()
	}
}
