package target

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"gostress/internal/tds"
	"gostress/pkg/driver"
)

const (
	// fetchRows is how many rows a fetch takes: as many as the default rowset of
	// ODBC has, so that the server sees the round trips of an ODBC program.
	fetchRows = 1
	fetchNext = 2 // sp_cursorfetch's word for the next rows
	// closeTime is how long closing a cursor may take after a cancel.
	closeTime = 5 * time.Second
	// rowMissing in the column rowStatus says that a row of a keyset is deleted.
	rowMissing = 2
	rowStatus  = "ROWSTAT"
)

// cursors carries out text requests through server cursors: sp_cursoropen, a
// sp_cursorfetch for each row, sp_cursorclose. What gives no cursor the server
// runs as it is.
type cursors struct {
	wired
	want Cursor
	say  func(string)
}

func (c *cursors) do(ctx context.Context, r *driver.Request, sink driver.Sink) (driver.Outcome, error) {
	open, err := c.opening(r)
	if err != nil {
		return driver.Outcome{}, &driver.FatalError{Err: err}
	}
	first := &opening{to: sink}
	out, err := c.system(ctx, open, first)
	handle := open.out[0]
	if !handle.Valid || handle.Int32 == 0 {
		return out, c.refused(err, first.flush())
	}
	// The result set is counted here, with the rows that are shown of it.
	set := &fetched{to: sink, told: out.ResultSets > 0}
	out.Rows, out.ResultSets, out.Affected = 0, 0, 0
	ok := err == nil && len(out.Errors) == 0
	err = c.refused(err, first.opened(set))
	if ok && err == nil {
		if open.out[1].Valid && open.out[2].Valid {
			if got := c.want.given(open.out[1].Int32, open.out[2].Int32); got != c.want {
				c.say(fmt.Sprintf("cursors: the server opens %s where %s was asked for", got, c.want))
			}
		}
		ok, err = c.fetch(ctx, handle.Int32, set, &out)
	}
	if set.told || set.shown {
		out.Rows, out.ResultSets = set.rows, 1
	}
	return c.close(ctx, handle.Int32, ok, sink, out, err)
}

// refused is err, or what it means that the sink refused what it was given
// outside of an answer: the same as inside.
func (c *cursors) refused(err, sink error) error {
	if err != nil || sink == nil {
		return err
	}
	_ = c.Close()
	return &driver.SinkError{Err: sink}
}

// opening is the call that opens a cursor for r.
func (c *cursors) opening(r *driver.Request) (*procedure, error) {
	declared, err := declarations(r.Params)
	if err != nil {
		return nil, err
	}
	scroll := c.want.scroll()
	if declared != "" {
		scroll |= scrollParameterized
	}
	p := &procedure{id: tds.ProcCursorOpen, name: tds.ProcName(tds.ProcCursorOpen), out: make([]sql.NullInt32, 4)}
	p.params = append(make([]driver.Param, 0, 6+len(r.Params)), inputOutput("@cursor", nil), inputText("@stmt", r.Text),
		inputOutput("@scrollopt", int64(scroll)), inputOutput("@ccopt", int64(c.want.control()|controlAllowDirect)), inputOutput("@rowcount", int64(fetchRows)))
	if r.Text == "" {
		p.params[1].Value = ""
	}
	if declared != "" {
		p.params = append(append(p.params, inputText("@paramdef", declared)), r.Params...)
	}
	return p, nil
}

// fetch shows the rows of a cursor. ok says that it came to their end.
func (c *cursors) fetch(ctx context.Context, handle int32, set *fetched, out *driver.Outcome) (ok bool, err error) {
	call := procedure{id: tds.ProcCursorFetch, name: tds.ProcName(tds.ProcCursorFetch),
		params: []driver.Param{input("@cursor", int(handle)), input("@fetchtype", fetchNext), input("@rownum", 0), input("@nrows", fetchRows)}}
	call.first = len(call.params)
	for {
		set.begin()
		more, err := c.system(ctx, &call, set)
		out.Errors = append(out.Errors, more.Errors...)
		out.OpenTran = more.OpenTran
		switch {
		case err != nil || len(more.Errors) > 0:
			return false, err
		case set.inFetch == 0:
			return true, c.refused(nil, set.end())
		}
	}
}

// close closes the cursor after what came of its request. ok says that all of it
// went well, so that an error in closing is news.
func (c *cursors) close(ctx context.Context, handle int32, ok bool, sink driver.Sink, out driver.Outcome, err error) (driver.Outcome, error) {
	if err != nil && err != ctx.Err() {
		return out, err // the connection is gone, and the cursor with it
	}
	call := procedure{id: tds.ProcCursorClose, name: tds.ProcName(tds.ProcCursorClose), params: []driver.Param{input("@cursor", int(handle))}}
	news := onlyMessages{sink}
	if !ok {
		// An error such as a deadlock has closed the cursor already.
		news.to = nil
	}
	more, failed := c.system(ctx, &call, news)
	if failed != nil && failed == ctx.Err() {
		// The session is used again, and must not keep what the cursor holds locked. The
		// server may have closed it before it saw the cancel: that it knows no such
		// cursor is no news then.
		ok, news.to = false, nil
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		defer cancel()
		if more, failed = c.system(late, &call, news); failed != nil && failed == late.Err() {
			_ = c.Close()
			failed = &driver.LostError{Err: fmt.Errorf("a cancelled cursor could not be closed in %s", closeTime)}
		}
	}
	out.OpenTran = more.OpenTran
	if ok {
		out.Errors = append(out.Errors, more.Errors...)
	}
	if failed != nil {
		err = failed
	}
	return out, err
}

// opening is the sink of sp_cursoropen. Whether a result set is that of a cursor,
// which has no rows yet, or of a statement that the server ran as it is, is known
// at its first row or at the end of the answer. Until then it is kept.
type opening struct {
	to     driver.Sink
	kept   []driver.SinkEvent
	direct bool
}

// maxKept is how much is kept: the answer to the opening of a cursor is short.
const maxKept = 64

// Row implements driver.Sink.
func (o *opening) Row(values []any) error {
	if o.to == nil {
		return nil
	}
	if err := o.flush(); err != nil {
		return err
	}
	return o.to.Row(values)
}

// Event implements driver.Sink.
func (o *opening) Event(e driver.SinkEvent) error {
	switch {
	case o.to == nil:
		return nil
	case o.direct || len(o.kept) == 0 && e.Kind != driver.SinkColumns:
		return o.to.Event(e)
	}
	o.kept = append(o.kept, e)
	if len(o.kept) == maxKept {
		return o.flush()
	}
	return nil
}

// flush hands on what was kept.
func (o *opening) flush() error {
	o.direct = true
	kept := o.kept
	o.kept = nil
	for _, e := range kept {
		if err := o.to.Event(e); err != nil {
			return err
		}
	}
	return nil
}

// opened hands on what is kept of the opening of a cursor: its columns and
// messages.
func (o *opening) opened(set *fetched) error {
	for _, e := range o.kept {
		var err error
		switch e.Kind {
		case driver.SinkColumns:
			err = set.Event(e)
		case driver.SinkMessage:
			err = o.to.Event(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fetched is the sink of the fetches of a cursor. It makes one result set of
// theirs, without the column that tells whether a row is still there.
type fetched struct {
	to      driver.Sink // may be nil
	told    bool        // the opening told the columns
	shown   bool        // they were handed on
	status  bool        // the last column is the row's status
	counted bool
	inFetch int   // rows in this fetch, whatever their status
	rows    int64 // rows shown
}

func (f *fetched) begin() { f.inFetch = 0 }

// Row implements driver.Sink.
func (f *fetched) Row(values []any) error {
	f.inFetch++
	if f.status {
		last := len(values) - 1
		if values[last] == int64(rowMissing) {
			return nil
		}
		values = values[:last]
	}
	f.rows++
	if f.to == nil {
		return nil
	}
	return f.to.Row(values)
}

// Event implements driver.Sink.
func (f *fetched) Event(e driver.SinkEvent) error {
	switch e.Kind {
	case driver.SinkColumns:
		last := len(e.Columns) - 1
		if f.status = last > 0 && strings.EqualFold(e.Columns[last].Name, rowStatus) && e.Columns[last].Type.Name == "int"; f.status {
			e.Columns = e.Columns[:last]
		}
		if f.shown {
			return nil
		}
		f.shown = true
	case driver.SinkDone:
		f.counted = f.counted || e.HasCount
		return nil
	}
	if f.to == nil {
		return nil
	}
	return f.to.Event(e)
}

// end ends the result set.
func (f *fetched) end() error {
	if !f.shown || f.to == nil {
		return nil
	}
	e := driver.SinkEvent{Kind: driver.SinkDone}
	if f.counted {
		e.Affected, e.HasCount = f.rows, true
	}
	return f.to.Event(e)
}
