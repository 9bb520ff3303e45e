package exec

import (
	"strings"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// prepared is the statement of a handle of sp_prepare, sp_cursorprepare or
// sp_prepexecrpc.
type prepared struct {
	text, params string
	proc         string // of sp_prepexecrpc: the procedure; text is empty
	cursor       bool   // of sp_cursorprepare: sp_cursorexecute opens it
	db           *catalog.Database
	options      uint8 // settings.planBits
}

// What one session may keep prepared.
const (
	maxPrepared     = 16384
	maxPreparedText = 64 << 20 // bytes
)

// executeSQL is sp_executesql text, params, values ...
func (s *Session) executeSQL(a *sysArgs) (int32, []outValue, error) {
	text, ok, err := a.text(0, "statement", "stmt")
	if err != nil {
		return 0, nil, err
	}
	if len(a.params) == 0 {
		return 0, nil, sqlerr.New(201, 16, 10, "Procedure or function '%s' expects parameter '%s', which was not supplied.", "sp_executesql", "@statement")
	}
	if !ok {
		return 0, nil, nil
	}
	params, _, err := a.text(1, "params", "parameters")
	if err != nil {
		return 0, nil, err
	}
	rest := 2
	if len(a.params) < 2 {
		rest = len(a.params)
	}
	outs, err := s.runText(text, params, a.params[rest:], rest)
	return 0, outs, err
}

// runText runs dynamic SQL with parameters.
func (s *Session) runText(text, params string, args []Param, base int) ([]outValue, error) {
	p, err := s.text(text, strings.TrimSpace(params), kindDynamic)
	if err != nil {
		return nil, s.outOfScope(s.top(), err)
	}
	return s.callProgram(p, args, base)
}

// checked compiles a text so that its errors are told now: one of its own, then
// 8180. The name of a table that is not there counts when the text is a single
// statement, which nothing in the text can have made.
func (s *Session) checked(text, params string) (*program, error) {
	p, err := s.text(text, strings.TrimSpace(params), kindDynamic)
	if err == nil && len(p.ins) == 1 && p.ins[0].op == opRun {
		if _, err = s.compile(p, &p.ins[0]); err != nil {
			switch sqlerr.Number(err) {
			case 208, 4121:
				err = sqlerr.AtLine(err, int(p.ins[0].line))
			default:
				err = nil // it may work by the time it runs, or fail then
			}
		}
	}
	if err == nil {
		return p, nil
	}
	return nil, s.notPrepared(err)
}

// notPrepared is err followed by error 8180.
func (s *Session) notPrepared(err error) error {
	t, ok := s.outOfScope(s.top(), err).(*thrown)
	if !ok {
		return err
	}
	t.also = append(append([]*sqlerr.Error(nil), t.also...), sqlerr.New(8180, 16, 1, "Statement(s) could not be prepared.").At(int(max(t.err.Line, 1))))
	return t
}

// keep gives a prepared statement its handle.
func (s *Session) keep(p prepared) (int32, error) {
	size := len(p.text) + len(p.params) + len(p.proc)
	if len(s.prepared) >= maxPrepared || s.keptText+size > maxPreparedText {
		return 0, sqlerr.New(701, 17, 123, "There is not enough memory for another prepared statement: this session keeps %d of them, with %d bytes of text. Release some with sp_unprepare.", len(s.prepared), s.keptText)
	}
	if s.prepared == nil {
		s.prepared = map[int32]*prepared{}
	}
	p.db, p.options = s.db(), s.set.planBits()
	s.nextHandle++
	s.keptText += size
	s.prepared[s.nextHandle] = &p
	return s.nextHandle, nil
}

// release forgets a handle.
func (s *Session) release(h int32) {
	if p := s.prepared[h]; p != nil {
		s.keptText -= len(p.text) + len(p.params) + len(p.proc)
		delete(s.prepared, h)
	}
}

// preparedOf finds what a handle stands for. Error 586: it was prepared in
// another database or under other options.
func (s *Session) preparedOf(h int32, cursor bool) (*prepared, error) {
	p := s.prepared[h]
	if p == nil || p.cursor != cursor {
		return nil, sqlerr.New(8179, 16, 4, "There is no prepared statement with handle %d.", h)
	}
	if p.db != s.db() || p.options != s.set.planBits() {
		return nil, sqlerr.New(586, 16, 3, "The prepared statement with handle %d is not valid here: the current database, ANSI_NULLS and QUOTED_IDENTIFIER must be those under which it was prepared.", h)
	}
	return p, nil
}

// outInt is the value of an integer OUTPUT parameter.
func (a *sysArgs) outInt(at int, v int32) outValue {
	return outValue{at: at, name: a.nameOf(at), typ: types.Int, value: types.NewInt(types.KindInt, int64(v))}
}

// spPrepare is sp_prepare handle OUTPUT, params, text, options: option 1 asks for
// the columns of a SELECT.
func (s *Session) spPrepare(a *sysArgs) (int32, []outValue, error) {
	options, err := a.number(3, "options", 0)
	if err != nil {
		return 0, nil, err
	}
	p, outs, err := s.prepareText(a)
	if err != nil || options&1 == 0 {
		return 0, outs, err
	}
	prog, err := s.text(p.text, strings.TrimSpace(p.params), kindDynamic)
	if err != nil {
		return 0, nil, s.notPrepared(err)
	}
	if q, _, err := s.cursorQuery(prog); err == nil && q != nil {
		if err := s.sendColumns(q.columns); err != nil {
			return 0, nil, err
		}
		if err := s.sendDoneRows(CmdSelect, 0, false); err != nil {
			return 0, nil, err
		}
	}
	return 0, outs, nil
}

func (s *Session) prepareText(a *sysArgs) (*prepared, []outValue, error) {
	params, _, err := a.text(1, "params", "parameters")
	if err != nil {
		return nil, nil, err
	}
	text, err := a.must(2, "stmt", "statement")
	if err != nil {
		return nil, nil, err
	}
	if _, err := s.checked(text, params); err != nil {
		return nil, nil, err
	}
	h, err := s.keep(prepared{text: text, params: params})
	if err != nil {
		return nil, nil, err
	}
	return s.prepared[h], []outValue{a.outInt(0, h)}, nil
}

// handle is the handle that a call gives as its first parameter.
func (a *sysArgs) handle() (int32, error) {
	h, ok, err := a.integer(0, "handle", "prepared_handle")
	if err == nil && !ok {
		err = sqlerr.New(214, 16, 2, "Procedure expects parameter '@handle' of type 'int'.")
	}
	if h != int64(int32(h)) {
		h = 0
	}
	return int32(h), err
}

// spExecute is sp_execute handle, values ...
func (s *Session) spExecute(a *sysArgs) (int32, []outValue, error) {
	h, err := a.handle()
	if err != nil {
		return 0, nil, err
	}
	p, err := s.preparedOf(h, false)
	if err != nil {
		return 0, nil, err
	}
	return s.runPrepared(p, a.params[1:], 1)
}

func (s *Session) runPrepared(p *prepared, args []Param, base int) (int32, []outValue, error) {
	if p.proc != "" {
		return s.callNamed(p.proc, args, base)
	}
	outs, err := s.runText(p.text, p.params, args, base)
	return 0, outs, err
}

// spPrepExec is sp_prepexec handle OUTPUT, params, text, values ... A handle that
// comes in is released.
func (s *Session) spPrepExec(a *sysArgs) (int32, []outValue, error) {
	if h, ok, err := a.integer(0, "handle"); err == nil && ok {
		s.release(int32(h))
	}
	p, outs, err := s.prepareText(a)
	if err != nil {
		return 0, nil, err
	}
	rc, more, err := s.runPrepared(p, a.params[min(3, len(a.params)):], 3)
	return rc, append(outs, more...), err
}

// spUnprepare is sp_unprepare handle, and sp_cursorunprepare.
func (s *Session) spUnprepare(a *sysArgs) (int32, []outValue, error) {
	h, err := a.handle()
	if err != nil {
		return 0, nil, err
	}
	if p := s.prepared[h]; p == nil || p.cursor != (a.name == "sp_cursorunprepare") {
		return 0, nil, sqlerr.New(8179, 16, 4, "There is no prepared statement with handle %d.", h)
	}
	s.release(h)
	return 0, nil, nil
}

// spPrepExecRPC is sp_prepexecrpc handle OUTPUT, call, values ...: the call is
// ODBC's {call proc(?, ...)} or EXEC proc ?, ...
func (s *Session) spPrepExecRPC(a *sysArgs) (int32, []outValue, error) {
	text, err := a.must(1, "RPCCall", "stmt")
	if err != nil {
		return 0, nil, err
	}
	proc, markers, err := procedureCall(text)
	if err == nil && markers > len(a.params)-2 {
		err = sqlerr.New(8178, 16, 1, "The parameterized query '%s' expects %d parameters, of which %d were supplied.", text, markers, max(len(a.params)-2, 0))
	}
	if err == nil {
		_, err = s.named(proc)
	}
	if err != nil {
		return 0, nil, s.notPrepared(err)
	}
	h, err := s.keep(prepared{proc: proc})
	if err != nil {
		return 0, nil, err
	}
	outs := []outValue{a.outInt(0, h)}
	rc, more, err := s.callNamed(proc, a.params[2:], 2)
	return rc, append(outs, more...), err
}

// named checks that a procedure is there.
func (s *Session) named(proc string) (*program, error) {
	name, err := parseName(proc)
	if err != nil {
		return nil, err
	}
	db, found, sys, err := s.findProcedure(s.db(), nil, name)
	if err != nil {
		return nil, err
	}
	if sys != nil {
		return nil, sqlerr.Unsupported("sp_prepexecrpc of a system procedure")
	}
	p, err := s.procedure(db, found)
	if err != nil {
		return nil, s.outOfScope(s.top(), err)
	}
	return p, nil
}

func (s *Session) callNamed(proc string, args []Param, base int) (int32, []outValue, error) {
	p, err := s.named(proc)
	if err != nil {
		return 0, nil, err
	}
	outs, err := s.callProgram(p, args, base)
	return s.rc, outs, err
}

// procedureCall takes a call apart: the procedure's name and how many parameter
// markers there are. Anything else in place of a parameter is refused.
func procedureCall(text string) (proc string, markers int, err error) {
	bad := func() (string, int, error) {
		return "", 0, sqlerr.Unsupported("sp_prepexecrpc with other than a procedure call whose arguments are all parameter markers")
	}
	t := strings.TrimSpace(text)
	if strings.HasPrefix(t, "{") && strings.HasSuffix(t, "}") {
		t = strings.TrimSpace(t[1 : len(t)-1])
	}
	if rest, ok := strings.CutPrefix(t, "?"); ok {
		rest, ok = strings.CutPrefix(strings.TrimSpace(rest), "=")
		if !ok {
			return bad()
		}
		t = strings.TrimSpace(rest)
	}
	word, rest, ok := strings.Cut(t, " ")
	switch foldName(word) {
	case "call", "exec", "execute":
	default:
		return bad()
	}
	if !ok {
		return bad()
	}
	t = strings.TrimSpace(rest)
	end := strings.IndexAny(t, "(?")
	if end < 0 {
		end = len(t)
	}
	proc, list := strings.TrimSpace(t[:end]), strings.TrimSpace(t[end:])
	if strings.HasPrefix(list, "(") {
		if !strings.HasSuffix(list, ")") {
			return bad()
		}
		list = strings.TrimSpace(list[1 : len(list)-1])
	}
	if list != "" {
		for _, m := range strings.Split(list, ",") {
			if strings.TrimSpace(m) != "?" {
				return bad()
			}
			markers++
		}
	}
	if proc == "" || strings.ContainsAny(proc, " ;'") && !strings.ContainsAny(proc, "[\"") {
		return bad()
	}
	return proc, markers, nil
}
