package exec

import (
	"strings"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
)

// bind matches arguments and parameters.
func (l *link) bind(p *program, args []argument) error {
	given := make([]bool, len(p.params))
	for i := range args {
		a := &args[i]
		n := i
		if a.name != "" {
			n = -1
			for j := range p.params {
				if strings.EqualFold(p.params[j].name, a.name) {
					n = j
				}
			}
			if n < 0 {
				return sqlerr.UnknownParameter(a.name, p.shortName())
			}
		} else if n >= len(p.params) {
			return sqlerr.TooManyArguments(p.shortName())
		}
		q := &p.params[n]
		if given[n] {
			return sqlerr.New(8143, 16, 1, "Parameter '%s' was supplied more than once.", q.name)
		}
		given[n] = true
		if a.deflt {
			given[n] = !(q.table == nil && !q.required)
			if q.required {
				return sqlerr.MissingParameter(p.shortName(), q.name)
			}
			continue
		}
		b := binding{to: q.slot, from: -1, table: -1, out: -1}
		switch {
		case q.table != nil:
			if a.tslot < 0 {
				return sqlerr.TypeClash(a.value.Type.Kind.String(), q.table.Name)
			}
			if a.table != q.table.Table && a.table.ID != q.table.Table.ID {
				return sqlerr.TypeClash("table", q.table.Name)
			}
			b.table = a.tslot
		case a.tslot >= 0:
			return sqlerr.TypeClash("table", q.typ.Kind.String())
		default:
			if a.output && !q.output {
				return sqlerr.New(8162, 16, 2, "The formal parameter \"%s\" is not declared as an OUTPUT parameter, but the actual parameter is passed as one.", q.name)
			}
			x, err := expr.Cast(a.value, q.typ, false)
			if err != nil {
				return err
			}
			b.eval = x.Eval
			if a.slot >= 0 && a.value.Type == q.typ {
				b.from = a.slot
			}
			if a.output {
				b.out, b.outAs, b.same = a.slot, a.value.Type, a.value.Type == q.typ
				b.outAt = p.outAt(n)
			}
		}
		l.bindings = append(l.bindings, b)
	}
	for i := range p.params {
		q := &p.params[i]
		if given[i] || q.table != nil {
			continue
		}
		if q.required {
			return sqlerr.MissingParameter(p.shortName(), q.name)
		}
		l.defaults = append(l.defaults, *q)
	}
	l.prog, l.version, l.own = p, p.version, p.own
	return nil
}

// outAt is the place of parameter n among the OUTPUT parameters.
func (p *program) outAt(n int) int {
	at := 0
	for i := range p.params[:n] {
		if p.params[i].output {
			at++
		}
	}
	return at
}

// shortName is the procedure's name without its schema, as messages 201, 8144
// and 8145 have it.
func (p *program) shortName() string {
	if p.proc != nil {
		return p.proc.Name
	}
	if p.fn != nil {
		return p.fn.Name
	}
	return p.name
}

// activate runs the program of a frame that has its parameters, and pops it.
// The return status is left in s.rc, the final values of the OUTPUT parameters
// in s.outs, until the next call.
func (s *Session) activate(fr, callee *frame, p *program) error {
	for _, i := range p.notNull {
		if q := &p.params[i]; callee.Vars[q.slot].IsNull() {
			s.pop()
			return sqlerr.New(8178, 16, 1, "The procedure '%s' expects a value for the parameter '%s', which is declared NOT NULL; NULL was supplied.", p.shortName(), q.name)
		}
	}
	if fr != nil && fr.pc < len(fr.prog.ins) && fr.prog.ins[fr.pc].try >= 0 {
		s.tries++
		defer func() { s.tries-- }()
	}
	set, hasSet := s.set, p.hasSet || p.atomic != nil
	db := s.dbp.Load()
	if p.db != db {
		s.dbp.Store(p.db)
	}
	count := s.tran.count
	if p.own {
		s.temp.Enter()
	}
	callee.makeTables()
	var err error
	if p.atomic != nil {
		s.set.noCount = true
		var st atomicState
		if st, err = s.enterAtomic(p); err == nil {
			err = s.leaveAtomic(st, s.run(callee))
		}
	} else {
		err = s.run(callee)
	}
	if err == nil && callee.take != nil {
		err = callee.take(callee)
	}
	s.rc = callee.rc
	s.keepOuts(callee, p)
	if !callee.Identity.IsNull() {
		s.identity = callee.Identity
	}
	result := callee.result
	s.pop()
	s.result = result
	if p.own {
		s.temp.Leave()
		s.tempVersion++
	}
	if hasSet {
		s.set = set
	}
	if now := s.dbp.Load(); now != db {
		s.dbp.Store(db)
		if p.kind == kindDynamic { // a USE in it, which ends with it
			if err2 := s.sendEnv(EnvDatabase, db.Name(), now.Name(), 0); err == nil {
				err = err2
			}
		}
	}
	// A transaction that began by itself, under IMPLICIT_TRANSACTIONS, is no mistake.
	implicit := s.set.implicitTran && count == 0 && s.tran.count == 1
	if err == nil && s.tran.count != count && !implicit && p.kind != kindFunction && !s.tran.silent {
		return &thrown{err: &sqlerr.Error{Number: 266, Class: 16, State: 2, Proc: p.name, Server: s.e.opts.ServerName,
			Text: "The transaction count after EXECUTE shows that BEGIN and COMMIT statements do not pair. Previous count = " +
				itoa(count) + ", current count = " + itoa(s.tran.count) + "."}, located: true, after: true}
	}
	if t, ok := err.(*thrown); ok && !t.sent {
		t.compile = false
	}
	return err
}

// keepOuts saves the final values of the OUTPUT parameters before the frame is
// used again.
func (s *Session) keepOuts(callee *frame, p *program) {
	s.outs = s.outs[:0]
	for i := range p.params {
		if q := &p.params[i]; q.output {
			s.outs = append(s.outs, callee.Vars[q.slot])
		}
	}
}

// endCall sends what ends EXEC in a batch, and turns an error that ended only
// the procedure into none.
func (s *Session) endCall(fr *frame, err error, status bool, rc int32) error {
	failed := false
	if err != nil {
		t, ok := err.(*thrown)
		if !ok || !t.sent || t.level > levelScope {
			if !ok || !t.after {
				return err
			}
			// 266: the procedure did end; the error comes after it.
			if err2 := s.callDone(status, rc, false); err2 != nil {
				return err2
			}
			return err
		}
		failed, status = true, false
		s.lastError = t.err.Number
	}
	return s.callDone(status, rc, failed)
}

func (s *Session) callDone(status bool, rc int32, failed bool) error {
	if s.capture != nil {
		return nil
	}
	if s.inModule() {
		return s.sendDone(CmdExecute, -1, failed)
	}
	if status {
		s.em.status.Value = rc
		if err := s.em.event(&s.em.status); err != nil {
			return err
		}
	}
	return s.em.done(Done{Kind: DoneProc, Cmd: CmdExecute, Error: failed, InTran: s.tran.count > 0})
}
