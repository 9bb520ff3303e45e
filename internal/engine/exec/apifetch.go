package exec

import (
	"gostress/internal/engine/catalog"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// What sp_cursorfetch calls the ways to fetch.
const (
	fetchFirst      = 0x01
	fetchNext       = 0x02
	fetchPrev       = 0x04
	fetchLast       = 0x08
	fetchAbsolute   = 0x10
	fetchRelative   = 0x20
	fetchRefresh    = 0x80
	fetchInfo       = 0x100
	fetchPrevStrict = 0x200 // PREV_NOADJUST
	fetchSkip       = 0x400 // SKIP_UPDT_CNCY: nothing here has a row version
)

var fetchNames = map[int32]string{fetchFirst: "FIRST", fetchNext: "NEXT", fetchPrev: "PREVIOUS", fetchLast: "LAST", fetchAbsolute: "ABSOLUTE",
	fetchRelative: "RELATIVE", fetchRefresh: "REFRESH", fetchPrevStrict: "PREVIOUS"}

// fetch moves the fetch buffer. adjusted says that a move backwards would have
// begun before the first row, and begins at it.
func (c *apiCursor) fetch(way int32, row, n int) (adjusted bool) {
	rows := len(c.rows)
	from := c.start // what PREV and RELATIVE count from
	switch way {
	case fetchRefresh:
		return false
	case fetchFirst:
		c.start = 0
		if n == 0 {
			c.start = -1
		}
	case fetchLast:
		c.start = max(rows-n, 0)
		if n == 0 {
			c.start = rows
		}
	case fetchNext:
		if c.start < 0 {
			c.start = 0
		} else if c.start < rows {
			c.start += max(c.size, 1)
		}
	case fetchPrev, fetchPrevStrict:
		c.start = from - n
		if c.start < 0 && from > 0 {
			if way == fetchPrevStrict {
				n = from
			}
			c.start, adjusted = 0, way == fetchPrev
		}
	case fetchAbsolute:
		switch {
		case row > 0:
			c.start = row - 1
		case row == 0:
			c.start = -1
		default:
			c.start = rows + row
			if c.start < 0 && -row <= n {
				c.start, adjusted = 0, true
			}
		}
	case fetchRelative:
		c.start = from + row
		if c.start < 0 && from > 0 && -row <= n {
			c.start, adjusted = 0, true
		}
	}
	c.start = min(max(c.start, -1), rows)
	c.size = 0
	if c.start >= 0 {
		c.size = min(n, rows-c.start)
	}
	c.at = c.start
	if c.size > 0 {
		c.at = c.start + c.size - 1
	}
	return adjusted
}

// sendBuffer sends the rows of the fetch buffer, each with its status.
func (s *Session) sendBuffer(c *apiCursor) error {
	row := make([]types.Value, len(c.cols))
	row[len(row)-1] = types.NewInt(types.KindInt, 1) // the row is there
	for i := c.start; i < c.start+c.size; i++ {
		copy(row, c.rows[i])
		if err := s.sendRow(row); err != nil {
			return err
		}
		if i%64 == 0 && s.ctx.Err() != nil {
			return s.cancelled()
		}
	}
	return nil
}

// cursorHandle finds the cursor of a call. Error 16909.
func (s *Session) cursorHandle(a *sysArgs) (int32, *apiCursor, error) {
	if err := a.atLeast(1); err != nil {
		return 0, nil, err
	}
	h, err := a.number(0, "cursor", 0)
	if err != nil {
		return 0, nil, err
	}
	c := s.apiCursors[h]
	if c == nil {
		return 0, nil, sqlerr.New(16909, 16, 1, "%s: The cursor identifier value given (%x) is not valid.", a.name, uint32(h))
	}
	return h, c, nil
}

func errCursorClosed() error { return sqlerr.New(16917, 16, 1, "The cursor is not open.") }

// spCursorFetch is sp_cursorfetch cursor, fetchtype, rownum, nrows.
func (s *Session) spCursorFetch(a *sysArgs) (int32, []outValue, error) {
	h, c, err := s.cursorHandle(a)
	if err != nil {
		return 0, nil, err
	}
	way, err := a.number(1, "fetchtype", fetchNext)
	if err != nil {
		return 0, nil, err
	}
	row, err := a.number(2, "rownum", 0)
	if err != nil {
		return 0, nil, err
	}
	n, err := a.number(3, "nrows", fetchDefault)
	if err != nil {
		return 0, nil, err
	}
	if way == fetchInfo {
		return 0, a.cursorInfo(c), nil
	}
	way &^= fetchSkip
	name := fetchNames[way]
	switch {
	case name == "":
		return 0, nil, invalidValue(a.name, "fetchtype")
	case !c.opened:
		return 0, nil, errCursorClosed()
	case c.typ != scrollStatic && way != fetchNext && way != fetchFirst && !(way == fetchRefresh && c.typ == scrollForwardOnly):
		return 0, nil, sqlerr.New(16911, 16, 1, "%s: The fetch type %s cannot be used with forward only cursors.", a.name, name)
	case n < 0 || n == 0 && way != fetchFirst && way != fetchLast && way != fetchRefresh:
		return 0, nil, invalidValue(a.name, "nrows")
	}
	status := int32(0)
	if c.fetch(way, int(row), int(n)) {
		status = statusAdjusted
	}
	if err := s.sendColumns(c.cols); err != nil {
		return 0, nil, err
	}
	if err := s.sendBuffer(c); err != nil {
		return 0, nil, err
	}
	sent := int64(c.size)
	s.rowCount = sent
	if c.autoClose && way == fetchNext && c.size < int(n) {
		c.drop(s, h)
		status = statusAutoClosed
	}
	return status, nil, s.sendDoneRows(CmdSelect, sent, false)
}

// cursorInfo is what the fetch type INFO answers: the place of the buffer and the
// number of rows.
func (a *sysArgs) cursorInfo(c *apiCursor) []outValue {
	var at, rows int32
	if c.opened {
		rows = -1
		if c.typ == scrollStatic {
			rows = int32(len(c.rows))
		}
		switch {
		case c.start < 0:
		case c.start >= len(c.rows):
			at = -1
		case c.typ == scrollStatic:
			at = int32(c.start) + 1
		default:
			at = 1
		}
	}
	var outs []outValue
	for i, v := range []int32{at, rows} {
		if p := a.arg(2 + i); p != nil && p.Output {
			outs = append(outs, a.outInt(2+i, v))
		}
	}
	return outs
}

// drop closes a cursor and forgets its handle.
func (c *apiCursor) drop(s *Session, h int32) {
	c.close()
	delete(s.apiCursors, h)
	if c.name != "" && s.cursors[c.name] == c.cursor {
		delete(s.cursors, c.name)
	}
}

// spCursorClose is sp_cursorclose cursor.
func (s *Session) spCursorClose(a *sysArgs) (int32, []outValue, error) {
	h, c, err := s.cursorHandle(a)
	if err != nil {
		return 0, nil, err
	}
	c.drop(s, h)
	return 0, nil, nil
}

// spCursorOption is sp_cursoroption cursor, code, value: it names a cursor for
// T-SQL, or tells of its options.
func (s *Session) spCursorOption(a *sysArgs) (int32, []outValue, error) {
	_, c, err := s.cursorHandle(a)
	if err != nil {
		return 0, nil, err
	}
	if err := a.atLeast(3); err != nil {
		return 0, nil, err
	}
	code, err := a.number(1, "code", 0)
	if err != nil {
		return 0, nil, err
	}
	tell := func(v int32) (int32, []outValue, error) { return 0, []outValue{a.outInt(2, v)}, nil }
	switch code {
	case 1, 3:
		return 0, nil, sqlerr.UnsupportedOption("text pointers of sp_cursoroption")
	case 2:
		v := a.params[2].Value
		if v.IsNull() || !v.Kind().IsString() || v.Str() == "" {
			return 0, nil, invalidValue(a.name, "value")
		}
		name := catalog.Fold(v.Str())
		if other := s.cursors[name]; other != nil && other != c.cursor {
			return 0, nil, sqlerr.New(16915, 16, 1, "A cursor named '%s' is there already.", v.Str())
		}
		if c.name != "" {
			delete(s.cursors, c.name)
		}
		if s.cursors == nil {
			s.cursors = map[string]*cursor{}
		}
		c.name, s.cursors[name] = name, c.cursor
		return 0, nil, nil
	case 4:
		return tell(c.typ)
	case 5:
		return tell(controlReadOnly)
	case 6:
		if c.typ != scrollStatic {
			return tell(-1)
		}
		return tell(int32(len(c.rows)))
	}
	return 0, nil, invalidValue(a.name, "code")
}

// spCursor is sp_cursor cursor, optype, rownum, table, values ...: every cursor
// here is read-only, so that it can move within the fetch buffer alone.
func (s *Session) spCursor(a *sysArgs) (int32, []outValue, error) {
	_, c, err := s.cursorHandle(a)
	if err != nil {
		return 0, nil, err
	}
	if err := a.atLeast(3); err != nil {
		return 0, nil, err
	}
	op, err := a.number(1, "optype", 0)
	if err != nil {
		return 0, nil, err
	}
	row, err := a.number(2, "rownum", 0)
	if err != nil {
		return 0, nil, err
	}
	const (
		update, remove, insert  = 1, 2, 4
		refresh, lock, position = 8, 0x10, 0x20
	)
	switch {
	case op&(update|remove|insert|lock) != 0:
		return 0, nil, sqlerr.New(16929, 16, 1, "The cursor is READ ONLY.")
	case op&(refresh|position) == 0:
		return 0, nil, invalidValue(a.name, "optype")
	case !c.opened:
		return 0, nil, errCursorClosed()
	case c.size == 0:
		return 0, nil, sqlerr.New(16931, 16, 1, "There are no rows in the current fetch buffer.")
	case row < 0 || int(row) > c.size:
		return 0, nil, sqlerr.New(16930, 16, 1, "The requested row is not in the fetch buffer.")
	}
	if op&position != 0 && row > 0 {
		c.at = c.start + int(row) - 1
	}
	if op&refresh == 0 {
		return 0, nil, nil
	}
	// The rows of a static cursor do not change: they are sent again.
	if err := s.sendColumns(c.cols); err != nil {
		return 0, nil, err
	}
	again := *c
	if row > 0 {
		again.start, again.size = c.start+int(row)-1, 1
	}
	if err := s.sendBuffer(&again); err != nil {
		return 0, nil, err
	}
	return 0, nil, s.sendDoneRows(CmdSelect, int64(again.size), false)
}
