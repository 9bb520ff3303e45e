package target

import (
	"slices"
	"sync"
	"sync/atomic"

	"gostress/internal/tdsclient"
	"gostress/pkg/driver"
)

// encodings keeps what the sessions of a target share of requests: the bytes of
// batches, and of tables, neither of which change once they are sent.
type encodings struct {
	texts, tables sync.Map // *driver.Request to *encodedText, *driver.Table to *tdsclient.Table
	bytes         atomic.Int64
	entries       atomic.Int64
}

type encodedText struct {
	text string // what r holds
	r    *tdsclient.Request
}

// Both bound what is kept: a program that makes each of its requests anew would
// else keep all of them alive.
const (
	maxEncodings     = 4096
	maxEncodingBytes = 64 << 20
)

func (e *encodings) room(bytes int) bool {
	if e.entries.Load() >= maxEncodings || e.bytes.Load()+int64(bytes) > maxEncodingBytes {
		return false
	}
	e.bytes.Add(int64(bytes))
	return e.entries.Add(1) <= maxEncodings
}

func (e *encodings) text(r *driver.Request) *tdsclient.Request {
	v, known := e.texts.Load(r)
	if known {
		if t := v.(*encodedText); t.text == r.Text {
			return t.r
		}
	}
	q := tdsclient.Batch(r.Text)
	if !known && e.room(3*len(r.Text)) {
		e.texts.Store(r, &encodedText{r.Text, q})
	}
	return q
}

func (e *encodings) table(t *driver.Table) (*tdsclient.Table, error) {
	if v, ok := e.tables.Load(t); ok {
		return v.(*tdsclient.Table), nil
	}
	cols := make([]tdsclient.SQLType, len(t.Columns))
	for i, c := range t.Columns {
		cols[i] = tdsclient.SQLType(c)
	}
	q, err := tdsclient.NewTable(t.Schema, t.Name, cols, t.Rows)
	if err == nil && e.room(16*len(t.Rows)*len(cols)) {
		e.tables.Store(t, q)
	}
	return q, err
}

// encoder makes bytes of one session's requests. In the steady state it allocates
// nothing.
type encoder struct {
	shared *encodings
	last   *driver.Request // the batch that was sent last
	text   encodedText
	forms  []*form
}

// form is a request with parameters, whose values change from call to call.
type form struct {
	kind   driver.Kind
	text   string
	params []driver.Param // names and types; a Value says that it is a table
	first  int            // which of the request's parameters is params[0]
	r      *tdsclient.Request
}

// maxForms is how many a session keeps.
const maxForms = 16

func (f *form) fits(r *driver.Request) bool {
	text := r.Proc
	if r.Kind == driver.Text {
		text = r.Text
	}
	if f.kind != r.Kind || f.text != text || len(f.params) != len(r.Params) {
		return false
	}
	for i := range f.params {
		a, b := &f.params[i], &r.Params[i]
		_, table := b.Value.(*driver.Table)
		if a.Name != b.Name || a.Output != b.Output || a.Type != b.Type || table != (a.Value != nil) {
			return false
		}
	}
	return true
}

func (e *encoder) encode(r *driver.Request) (*tdsclient.Request, error) {
	if r.Kind == driver.Text && len(r.Params) == 0 {
		if r != e.last || r.Text != e.text.text {
			e.last, e.text = r, encodedText{r.Text, e.shared.text(r)}
		}
		return e.text.r, nil
	}
	for _, f := range e.forms {
		if !f.fits(r) {
			continue
		}
		for i := range r.Params {
			v, err := e.value(r.Params[i].Value)
			if err == nil {
				err = f.r.Set(f.first+i, v)
			}
			if err != nil {
				return nil, err
			}
		}
		return f.r, nil
	}
	return e.form(r)
}

func (e *encoder) form(r *driver.Request) (*tdsclient.Request, error) {
	f := &form{kind: r.Kind, text: r.Proc, params: slices.Clone(r.Params)}
	params, err := e.params(r.Params)
	if err != nil {
		return nil, err
	}
	for i, p := range r.Params {
		f.params[i].Value = nil
		if _, table := p.Value.(*driver.Table); table {
			f.params[i].Value = true
		}
	}
	if r.Kind == driver.Text {
		f.text, f.first = r.Text, 2 // behind the text and the declarations
		f.r, err = tdsclient.ExecuteSQL(r.Text, params)
	} else {
		if err := checkProcedure(r.Proc); err != nil {
			return nil, err
		}
		f.r, err = tdsclient.Call(r.Proc, params)
	}
	if err != nil {
		return nil, err
	}
	if len(e.forms) == maxForms {
		e.forms = slices.Delete(e.forms, 0, 1)
	}
	e.forms = append(e.forms, f)
	return f.r, nil
}

func (e *encoder) value(v any) (any, error) {
	t, ok := v.(*driver.Table)
	if !ok {
		return v, nil
	}
	return e.shared.table(t)
}
