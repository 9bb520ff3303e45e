package exec

import (
	"errors"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// arg is the parameter in a place, whatever its name; nil when there is none.
func (a *sysArgs) arg(at int) *Param {
	if at < len(a.params) {
		return &a.params[at]
	}
	return nil
}

// number is an integer parameter by its place.
func (a *sysArgs) number(at int, name string, missing int32) (int32, error) {
	p := a.arg(at)
	if p == nil || p.Value.IsNull() {
		return missing, nil
	}
	v, err := types.Assign(p.Value, types.BigInt)
	if err != nil || v.Int() != int64(int32(v.Int())) {
		return 0, invalidValue(a.name, name)
	}
	return int32(v.Int()), nil
}

// wish reads scrollopt, ccopt and rowcount, the first of them in place at.
func (a *sysArgs) wish(at int) (w cursorWish, err error) {
	if w.scroll, err = a.number(at, "scrollopt", 0); err != nil {
		return w, err
	}
	if w.control, err = a.number(at+1, "ccopt", 0); err != nil {
		return w, err
	}
	w.rows, err = a.number(at+2, "rowcount", 0)
	return w, err
}

// tell makes the OUTPUT parameters of an opening: the cursor's handle in place
// at, its options from place opts on.
func (a *sysArgs) tell(o *opened, at, opts int) []outValue {
	outs := []outValue{a.outInt(at, o.handle)}
	for i, v := range []int32{o.scroll, o.control, o.rows} {
		if p := a.arg(opts + i); p != nil && p.Output {
			outs = append(outs, a.outInt(opts+i, v))
		}
	}
	return append(outs, o.outs...)
}

func (a *sysArgs) atLeast(n int) error {
	if len(a.params) < n {
		return sqlerr.New(16903, 16, 1, "The \"%s\" procedure was called with an incorrect number of parameters.", a.name)
	}
	return nil
}

// rest are the parameters from a place on, which are the statement's.
func (a *sysArgs) rest(at int) []Param { return a.params[min(at, len(a.params)):] }

// spCursorOpen is sp_cursoropen cursor OUTPUT, stmt, scrollopt, ccopt, rowcount,
// paramdef, values ...
func (s *Session) spCursorOpen(a *sysArgs) (int32, []outValue, error) {
	if err := a.atLeast(2); err != nil {
		return 0, nil, err
	}
	text, err := a.must(1, "stmt")
	if err != nil {
		return 0, nil, err
	}
	w, err := a.wish(2)
	if err != nil {
		return 0, nil, err
	}
	params := ""
	if w.scroll&scrollParameters != 0 {
		if params, err = a.must(5, "paramdef"); err != nil {
			return 0, nil, err
		}
	} else if len(a.params) > 5 {
		return 0, nil, sqlerr.New(16914, 16, 1, "The \"%s\" procedure was called with too many parameters.", a.name)
	}
	p, err := s.text(text, params, kindDynamic)
	if err != nil {
		return 0, nil, s.notDeclared(err)
	}
	o, err := s.openCursor(a.name, p, a.rest(6), 6, w)
	if err != nil {
		return 0, nil, err
	}
	return o.status, a.tell(&o, 0, 2), nil
}

// prepareCursor compiles the text of a cursor and gives it a handle.
func (s *Session) prepareCursor(a *sysArgs, at int, w cursorWish) (int32, *program, error) {
	params, _, err := a.text(at, "params")
	if err != nil {
		return 0, nil, err
	}
	text, err := a.must(at+1, "stmt")
	if err != nil {
		return 0, nil, err
	}
	p, err := s.checked(text, params)
	if err != nil {
		return 0, nil, err
	}
	if q, call, err := s.cursorQuery(p); err != nil {
		return 0, nil, s.notPrepared(err)
	} else if q == nil && !w.direct() {
		if call {
			return 0, nil, s.notPrepared(errNoCursor())
		}
		return 0, nil, s.notPrepared(sqlerr.New(16938, 16, 1, "sp_cursoropen/sp_cursorprepare: The statement parameter can only be a single SELECT or a single stored procedure."))
	}
	h, err := s.keep(prepared{text: text, params: params, cursor: true})
	return h, p, err
}

// spCursorPrepare is sp_cursorprepare handle OUTPUT, params, stmt, options,
// scrollopt, ccopt.
func (s *Session) spCursorPrepare(a *sysArgs) (int32, []outValue, error) {
	if err := a.atLeast(3); err != nil {
		return 0, nil, err
	}
	options, err := a.number(3, "options", 0)
	if err != nil {
		return 0, nil, err
	}
	w, err := a.wish(4)
	if err != nil {
		return 0, nil, err
	}
	h, p, err := s.prepareCursor(a, 1, w)
	if err != nil {
		return 0, nil, err
	}
	o := opened{handle: h, scroll: w.typ(), control: w.control & controlTypes}
	q, _, err := s.cursorQuery(p)
	switch {
	case err != nil:
		return 0, nil, err
	case q == nil:
		if options&1 != 0 {
			o.status = statusNoMetadata
		}
	default:
		if o.scroll, o.control, err = w.settle(a.name, q); err != nil {
			s.release(h)
			return 0, nil, err
		}
		if options&1 != 0 {
			if err := s.sendColumns(q.columns); err != nil {
				return 0, nil, err
			}
			if err := s.sendDoneRows(CmdSelect, 0, false); err != nil {
				return 0, nil, err
			}
		}
	}
	return o.status, a.tell(&o, 0, 4), nil
}

// spCursorExecute is sp_cursorexecute handle, cursor OUTPUT, scrollopt, ccopt,
// rowcount, values ...
func (s *Session) spCursorExecute(a *sysArgs) (int32, []outValue, error) {
	if err := a.atLeast(2); err != nil {
		return 0, nil, err
	}
	h, err := a.handle()
	if err != nil {
		return 0, nil, err
	}
	w, err := a.wish(2)
	if err != nil {
		return 0, nil, err
	}
	kept, err := s.preparedOf(h, true)
	if err != nil {
		return 0, nil, err
	}
	p, err := s.text(kept.text, kept.params, kindDynamic)
	if err != nil {
		return 0, nil, s.notDeclared(err)
	}
	o, err := s.openCursor(a.name, p, a.rest(5), 5, w)
	if err != nil {
		return 0, nil, err
	}
	return o.status, a.tell(&o, 1, 2), nil
}

// spCursorPrepExec is sp_cursorprepexec handle OUTPUT, cursor OUTPUT, params,
// stmt, scrollopt, ccopt, rowcount, values ... as clients send it.
func (s *Session) spCursorPrepExec(a *sysArgs) (int32, []outValue, error) {
	if err := a.atLeast(4); err != nil {
		return 0, nil, err
	}
	w, err := a.wish(4)
	if err != nil {
		return 0, nil, err
	}
	if h, err := a.number(0, "handle", 0); err == nil {
		s.release(h)
	}
	h, p, err := s.prepareCursor(a, 2, w)
	if err != nil {
		return 0, nil, err
	}
	o, err := s.openCursor(a.name, p, a.rest(7), 7, w)
	if err != nil {
		var t *thrown
		if !errors.As(err, &t) || !t.sent {
			s.release(h) // the client is not told of it
		}
		return 0, nil, err
	}
	return o.status, append([]outValue{a.outInt(0, h)}, a.tell(&o, 1, 4)...), nil
}
