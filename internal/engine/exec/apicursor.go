package exec

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/plan"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// What sp_cursoropen and its kin call the types and the concurrencies of
// cursors, as Microsoft documents them.
const (
	scrollKeyset      = 0x01
	scrollDynamic     = 0x02
	scrollForwardOnly = 0x04
	scrollStatic      = 0x08
	scrollFastForward = 0x10
	scrollTypes       = 0x1F
	scrollParameters  = 0x1000
	scrollAutoFetch   = 0x2000
	scrollAutoClose   = 0x4000
	scrollCheck       = 0x8000 // the accepted types follow, in order
	scrollAcceptShift = 16     // from a type to its bit of acceptance

	controlReadOnly    = 0x01
	controlOptimistic  = 0x04
	controlTypes       = 0x0F
	controlAllowDirect = 0x2000
	controlCheck       = 0x8000
	controlAcceptShift = 16

	fetchDefault = 20 // rows of a fetch that does not say how many

	statusAdjusted   = 2  // a fetch backwards began at the first row
	statusAutoClosed = 16 // the end closed the cursor
	statusNoMetadata = 0x1FF6
)

var (
	scrollNames  = map[int32]string{scrollKeyset: "keyset", scrollDynamic: "dynamic", scrollForwardOnly: "forward-only", scrollStatic: "static", scrollFastForward: "fast forward-only"}
	controlNames = map[int32]string{controlReadOnly: "READ_ONLY", 2: "SCROLL_LOCKS", controlOptimistic: "OPTIMISTIC", 8: "OPTIMISTIC"}
)

// apiCursor is a server cursor that a client opened by a procedure. Its rows are
// read when it is opened. Its fetch buffer is rows[start:start+size]; start is -1
// before the first row and len(rows) after the last one.
type apiCursor struct {
	*cursor
	name        string // as T-SQL knows it, "" = not at all
	typ         int32
	autoClose   bool
	start, size int
}

// cursorWish is what a client asks of a cursor.
type cursorWish struct {
	scroll, control int32
	rows            int32 // of the fetch buffer, with AUTO_FETCH
}

func (w *cursorWish) direct() bool { return w.control&controlAllowDirect != 0 }

// typ is the one bit of the type that is asked for.
func (w *cursorWish) typ() int32 { return w.scroll & scrollTypes }

func oneBit(n int32) bool { return n != 0 && n&(n-1) == 0 }

func invalidValue(proc, param string) error {
	return sqlerr.New(16902, 16, 1, "%s: The value of the parameter '%s' is not valid.", proc, param)
}

func errNoCursor() error {
	return sqlerr.New(16937, 16, 1, "A server cursor cannot be opened on a stored procedure of other than a single SELECT. Use a default result set or a client cursor.")
}

// settle decides which cursor the client gets: what it asked for, or what SQL
// Server too would give in its place. Cursors that show later changes of the
// tables, or change them, are refused.
func (w *cursorWish) settle(proc string, q *queryCode) (typ, control int32, err error) {
	typ, control = w.typ(), w.control&controlTypes
	byDefault := control == 0
	if typ == 0 {
		typ = scrollKeyset
	}
	if !oneBit(typ) {
		return 0, 0, invalidValue(proc, "scrollopt")
	}
	if byDefault {
		control = controlOptimistic
	}
	if !oneBit(control) {
		return 0, 0, invalidValue(proc, "ccopt")
	}
	if w.scroll&(scrollAutoFetch|scrollAutoClose) != 0 && typ != scrollFastForward {
		return 0, 0, invalidValue(proc, "scrollopt")
	}
	accepts := func(t int32) bool { return w.scroll&scrollCheck != 0 && w.scroll&(t<<scrollAcceptShift) != 0 }
	readOnly := w.control&controlCheck != 0 && w.control&(controlReadOnly<<controlAcceptShift) != 0
	switch {
	case typ == scrollStatic || typ == scrollFastForward:
		if control != controlReadOnly && !byDefault && !readOnly {
			return 0, 0, sqlerr.New(16966, 16, 1, "%s: The concurrency option %d (%s) does not go with static or fast forward-only cursors, which are read-only.", proc, control, controlNames[control])
		}
		return typ, controlReadOnly, nil
	case typ == scrollForwardOnly:
		if control == controlReadOnly || q.still || readOnly {
			return typ, controlReadOnly, nil
		}
		return 0, 0, sqlerr.New(16955, 16, 2, "An acceptable cursor could not be made: the embedded engine has no forward-only cursors with the concurrency %s, only READ_ONLY.", controlNames[control])
	case q.still || accepts(scrollStatic) && (control == controlReadOnly || readOnly):
		return scrollStatic, controlReadOnly, nil
	}
	return 0, 0, sqlerr.New(16955, 16, 2, "An acceptable cursor could not be made: the embedded engine has no %s cursors over tables, only forward-only, fast forward-only and static ones.", scrollNames[typ])
}

// still reports whether no cursor over a SELECT could see a change of its
// tables: SQL Server makes a keyset or dynamic cursor static when the rows are
// not those of tables, when one of the tables has no unique index, and over
// memory-optimized tables and system views.
func (cc *compiler) still(n *ast.SelectStatement, q *plan.Query) bool {
	if cc.acc.memory || plan.Derived(n.QueryExpression) {
		return true
	}
	tables := 0
	for _, d := range q.Deps {
		if d.Table == nil || d.Table.View != nil {
			continue
		}
		tables++
		unique := false
		for i := range d.Table.Indexes {
			x := &d.Table.Indexes[i]
			unique = unique || (x.Unique || x.PrimaryKey) && !x.Disabled
		}
		if !unique {
			return true
		}
	}
	return tables == 0
}

// cursorQuery is the query that a program consists of; nil when it is none that
// a cursor can be opened on. proc tells that the text is a procedure call.
func (s *Session) cursorQuery(p *program) (q *queryCode, proc bool, err error) {
	if len(p.ins) != 1 || p.ins[0].op != opRun {
		return nil, false, nil
	}
	in := &p.ins[0]
	switch st := in.stmt.(type) {
	case *ast.SelectStatement:
		c, err := s.compile(p, in)
		if err != nil {
			return nil, false, sqlerr.AtLine(err, int(in.line))
		}
		return c.query, false, nil
	case *ast.ExecuteStatement:
		ref, ok := st.ExecuteSpecification.ExecutableEntity.(*ast.ExecutableProcedureReference)
		if !ok || ref.ProcedureReference == nil || ref.ProcedureReference.ProcedureReference == nil {
			return nil, true, nil
		}
		db, found, sys, err := s.findProcedure(s.db(), nil, ref.ProcedureReference.ProcedureReference.Name)
		if err != nil {
			return nil, true, err
		}
		if sys != nil {
			return nil, true, nil
		}
		inner, err := s.procedure(db, found)
		if err != nil {
			return nil, true, s.outOfScope(s.top(), err)
		}
		if len(inner.ins) != 1 || inner.ins[0].op != opRun {
			return nil, true, nil
		}
		if _, ok := inner.ins[0].stmt.(*ast.SelectStatement); !ok {
			return nil, true, nil
		}
		c, err := s.compile(inner, &inner.ins[0])
		if err != nil {
			return nil, true, err
		}
		return c.query, true, nil
	}
	return nil, false, nil
}

// notDeclared is err followed by error 16945.
func (s *Session) notDeclared(err error) error {
	t, ok := s.outOfScope(s.top(), err).(*thrown)
	if !ok {
		return err
	}
	t.also = append(append([]*sqlerr.Error(nil), t.also...), sqlerr.New(16945, 16, 2, "The cursor was not declared.").At(int(max(t.err.Line, 1))))
	return t
}

// opened is what the OUTPUT parameters of an opening say.
type opened struct {
	handle, scroll, control, rows int32
	status                        int32
	outs                          []outValue // of the statement's own parameters
}

// openCursor opens a cursor over a program, or runs the program when it gives
// none and the client allows that.
func (s *Session) openCursor(proc string, p *program, args []Param, base int, w cursorWish) (o opened, err error) {
	if s.capture != nil {
		return o, sqlerr.New(8164, 16, 1, "An INSERT EXEC statement cannot be nested.")
	}
	q, call, err := s.cursorQuery(p)
	if err != nil {
		return o, s.notDeclared(err)
	}
	if q == nil {
		if !w.direct() {
			if call {
				return o, errNoCursor()
			}
			return o, sqlerr.New(16938, 16, 1, "sp_cursoropen/sp_cursorprepare: The statement parameter can only be a single SELECT or a single stored procedure.")
		}
		if err := s.info(16954, 1, 10, 1, "Executing SQL directly; no cursor."); err != nil {
			return o, err
		}
		o.scroll, o.control = w.typ(), w.control&controlTypes
		o.outs, err = s.callProgram(p, args, base)
		if call {
			o.status = s.rc
		}
		return o, err
	}
	typ, control, err := w.settle(proc, q)
	if err != nil {
		return o, err
	}
	c := &apiCursor{cursor: &cursor{e: s.e, scroll: typ == scrollStatic, at: -1}, typ: typ, autoClose: w.scroll&scrollAutoClose != 0, start: -1}
	if err := s.fillCursor(c, p, args, base, &o); err != nil {
		c.close()
		return o, err
	}
	o.scroll, o.control, o.rows = typ, control, -1
	if typ == scrollStatic {
		o.rows = int32(len(c.rows))
	}
	if err := s.sendColumns(c.cols); err != nil {
		c.close()
		return o, err
	}
	var sent int
	if w.scroll&scrollAutoFetch != 0 {
		n := int(w.rows)
		if n <= 0 {
			n = fetchDefault
		}
		c.fetch(fetchNext, 0, n)
		o.rows, sent = int32(c.size), c.size
		if err := s.sendBuffer(c); err != nil {
			c.close()
			return o, err
		}
		if c.autoClose && c.size < n {
			c.close()
			o.status = statusAutoClosed
			return o, s.sendDoneRows(CmdSelect, int64(sent), false)
		}
	}
	if s.apiCursors == nil {
		s.apiCursors = map[int32]*apiCursor{}
	}
	// SQL Server's handles begin here too; nothing may depend on it.
	s.nextCursor++
	o.handle = 180150001 + 2*s.nextCursor
	s.apiCursors[o.handle] = c
	return o, s.sendDoneRows(CmdSelect, int64(sent), false)
}

// fillCursor reads the rows of a cursor.
func (s *Session) fillCursor(c *apiCursor, p *program, args []Param, base int, o *opened) error {
	got := &capture{cursor: true, keep: c.reserve}
	failed := s.hadError
	s.hadError, s.capture = false, got
	outs, err := s.callProgram(p, args, base)
	s.capture = nil
	if err == nil && s.hadError {
		// The client has been told why there are no rows, or not all.
		err = &thrown{err: sqlerr.New(s.lastError, 16, 1, "The cursor's query failed."), sent: true}
	}
	s.hadError = s.hadError || failed
	if err != nil {
		return err
	}
	c.cols = append(append([]Column(nil), got.names...), Column{Name: "ROWSTAT", Type: types.Int, Hidden: true})
	c.rows, c.opened, o.outs = got.buf.rows, true, outs
	s.lastCursorRows = int64(len(c.rows))
	return nil
}

// reserve counts the memory of a row among that of all cursors. Error 1105.
func (c *cursor) reserve(row []types.Value) error {
	n := int64(48 + 24*len(row))
	for i := range row {
		switch k := row[i].Kind(); {
		case row[i].IsNull():
		case k.IsString():
			n += int64(len(row[i].Str()))
		case k.IsBinary():
			n += int64(len(row[i].Bytes()))
		}
	}
	c.bytes += n
	if c.e.cursorBytes.Add(n) > c.e.opts.CursorMemory {
		return sqlerr.New(1105, 17, 2, "Space for the rows of a cursor could not be allocated in database 'tempdb': the open cursors of the embedded engine may take %d bytes in all. Close cursors, or select less.", c.e.opts.CursorMemory)
	}
	return nil
}

// free gives back what reserve counted.
func (c *cursor) free() {
	if c.e != nil {
		c.e.cursorBytes.Add(-c.bytes)
	}
	c.bytes = 0
}

// closeCursors closes the cursors that the end of a transaction closes: all
// under CURSOR_CLOSE_ON_COMMIT; otherwise a rollback closes those that are not
// static. Their handles stay.
func (s *Session) closeCursors(rollback bool) {
	all := s.set.cursorCloseOnCommit
	for _, c := range s.apiCursors {
		if all || rollback && c.typ != scrollStatic {
			c.close()
		}
	}
	if !all {
		return
	}
	for _, c := range s.cursors {
		c.close()
	}
	for _, fr := range s.frames {
		for _, c := range fr.cursors {
			c.close()
		}
	}
}
