package target

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"
	"strings"

	"gostress/internal/tds"
	"gostress/internal/tdsclient"
	"gostress/pkg/driver"
)

// statements carries out text requests as sp_prepare, once for each text, and
// sp_execute.
type statements struct {
	wired
	known map[string]*statement
	clock int64 // counts uses
	check stale // of the execution under way
}

// statement is one that the server has prepared.
type statement struct {
	handle  int32
	execute procedure
	used    int64
}

// maxStatements is how many handles a session keeps: the server keeps the
// statement of each. What was used longest ago gives way.
const maxStatements = 256

var errNoHandle = errors.New("the server prepared a statement and gave no handle")

func newStatements(s wired) *statements { return &statements{wired: s, known: map[string]*statement{}} }

// forget drops the handles, which the server knows no more.
func (p *statements) forget() { clear(p.known) }

func (p *statements) do(ctx context.Context, r *driver.Request, sink driver.Sink) (driver.Outcome, error) {
	declared, err := declarations(r.Params)
	if err != nil {
		return driver.Outcome{}, &driver.FatalError{Err: err}
	}
	key := r.Text
	if declared != "" {
		key += "\x00" + declared
	}
	p.clock++
	st := p.known[key]
	if st != nil {
		st.used = p.clock
		st.bind(r)
		p.check = stale{to: sink, handle: st.handle}
		out, err := p.system(ctx, &st.execute, p.check.sink())
		p.check.to = nil
		if err != nil || !p.check.is(sink, out) {
			return out, err
		}
		// It was prepared before something that the server counts as the end of it,
		// such as another database. Nothing ran.
		delete(p.known, key)
	}
	var out driver.Outcome
	if st, out, err = p.prepare(ctx, r, declared, sink); err != nil || st == nil {
		return out, err
	}
	if p.known[key] = st; len(p.known) > maxStatements {
		if err := p.evict(ctx); err != nil {
			return out, err
		}
	}
	more, err := p.system(ctx, &st.execute, sink)
	join(&out, more)
	return out, err
}

// prepare makes the server prepare r; a nil statement without an error is one
// that the server refused, as the Outcome and the sink have it.
func (p *statements) prepare(ctx context.Context, r *driver.Request, declared string, sink driver.Sink) (*statement, driver.Outcome, error) {
	call := procedure{id: tds.ProcPrepare, name: tds.ProcName(tds.ProcPrepare), out: make([]sql.NullInt32, 1),
		params: []driver.Param{inputOutput("@handle", nil), inputText("@params", declared), inputText("@stmt", r.Text)}}
	if r.Text == "" {
		call.params[2].Value = ""
	}
	out, err := p.system(ctx, &call, onlyMessages{sink})
	out.Rows, out.ResultSets, out.Affected = 0, 0, 0
	if err != nil || len(out.Errors) > 0 {
		return nil, out, err
	}
	handle := call.out[0]
	if !handle.Valid {
		return nil, out, &driver.FatalError{Err: errNoHandle}
	}
	st := &statement{handle: handle.Int32, used: p.clock, execute: procedure{id: tds.ProcExecute, name: tds.ProcName(tds.ProcExecute), first: 1}}
	st.execute.params = append([]driver.Param{input("", int(handle.Int32))}, r.Params...)
	for i := range st.execute.params {
		st.execute.params[i].Name = ""
	}
	return st, out, nil
}

// bind gives st the values of r.
func (st *statement) bind(r *driver.Request) {
	for i := range r.Params {
		st.execute.params[i+1].Value = r.Params[i].Value
	}
}

// evict makes room for a statement.
func (p *statements) evict(ctx context.Context) error {
	var oldest string
	var old *statement
	for key, st := range p.known {
		if old == nil || st.used < old.used {
			oldest, old = key, st
		}
	}
	delete(p.known, oldest)
	call := procedure{id: tds.ProcUnprepare, name: tds.ProcName(tds.ProcUnprepare), params: []driver.Param{input("@handle", int(old.handle))}}
	// A handle that the server does not know is what was wanted.
	_, err := p.system(ctx, &call, nil)
	return err
}

// declarations are the parameters as sp_prepare and sp_cursoropen take them.
func declarations(params []driver.Param) (string, error) {
	if len(params) == 0 {
		return "", nil
	}
	ps := make([]tdsclient.Param, len(params))
	for i, q := range params {
		ps[i] = tdsclient.Param{Name: q.Name, Type: tdsclient.SQLType(q.Type), Output: q.Output}
		t, ok := q.Value.(*driver.Table)
		if !ok {
			continue
		}
		var err error
		// The name alone is wanted.
		if ps[i].Value, err = tdsclient.NewTable(t.Schema, t.Name, nil, nil); err != nil {
			return "", err
		}
	}
	return tdsclient.Declarations(ps), nil
}

// Errors of the server that say that a handle is no longer one.
var staleHandle = []int32{
	8179, // it is not known
	586,  // it was prepared in another database or under other options
}

// stale finds out whether an answer is nothing but the news that a handle is no
// longer one. It keeps that from the sink.
type stale struct {
	to     driver.Sink
	handle int32
	found  bool
	begun  bool // something else came before
}

func (s *stale) sink() driver.Sink {
	if s.to == nil {
		return nil
	}
	return s
}

// is says so of an answer to sink that has come to its end.
func (s *stale) is(sink driver.Sink, out driver.Outcome) bool {
	if sink != nil {
		return s.found
	}
	return len(out.Errors) == 1 && out.ResultSets == 0 && out.Affected == 0 && s.says(&out.Errors[0])
}

func (s *stale) says(e *driver.ServerError) bool {
	return slices.Contains(staleHandle, e.Number) && strings.Contains(e.Message, strconv.Itoa(int(s.handle)))
}

// Row implements driver.Sink.
func (s *stale) Row(values []any) error { return s.to.Row(values) }

// Event implements driver.Sink.
func (s *stale) Event(e driver.SinkEvent) error {
	switch {
	case s.found:
		return nil
	case !s.begun && e.Kind == driver.SinkMessage && s.says(&e.Message):
		s.found = true
		return nil
	}
	s.begun = true
	return s.to.Event(e)
}

// onlyMessages is a sink that hands messages on, and nothing else.
type onlyMessages struct{ to driver.Sink }

// Row implements driver.Sink.
func (onlyMessages) Row([]any) error { return nil }

// Event implements driver.Sink.
func (m onlyMessages) Event(e driver.SinkEvent) error {
	if m.to == nil || e.Kind != driver.SinkMessage {
		return nil
	}
	return m.to.Event(e)
}
