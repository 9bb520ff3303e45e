package target

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"

	"gostress/internal/tdsclient"
	"gostress/pkg/driver"
)

// procedure is a call of one of the server's own procedures for prepared
// statements and cursors. It may be made again, with other values from params[first]
// on.
type procedure struct {
	id     uint16 // the tds wire calls by number, with parameters by position,
	name   string // go-mssqldb by name, with parameters by name where they have one
	params []driver.Param
	first  int
	out    []sql.NullInt32 // what the output parameters are on return; all of them are int

	request *tdsclient.Request
}

// The types of the procedures' own parameters.
var (
	procInt  = driver.SQLType{Name: "int"}
	procText = driver.SQLType{Name: "nvarchar", Len: -1}
)

func input(name string, n int) driver.Param {
	return driver.Param{Name: name, Type: procInt, Value: int64(n)}
}

// inputOutput is a parameter that counts among out; v is int64 or nil for NULL.
func inputOutput(name string, v any) driver.Param {
	return driver.Param{Name: name, Type: procInt, Value: v, Output: true}
}

// inputText is a parameter that is NULL if s is empty.
func inputText(name, s string) driver.Param {
	p := driver.Param{Name: name, Type: procText}
	if s != "" {
		p.Value = s
	}
	return p
}

// system makes the call.
func (s *direct) system(ctx context.Context, p *procedure, sink driver.Sink) (driver.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return driver.Outcome{OpenTran: s.conn.Transaction() != 0}, err
	}
	if err := s.enc.procedure(p); err != nil {
		return driver.Outcome{OpenTran: s.conn.Transaction() != 0}, &driver.FatalError{Err: err}
	}
	var in tdsclient.Sink
	switch {
	case len(p.out) > 0:
		clear(p.out)
		in = &outputSink{directSink: directSink{sink}, out: p.out}
	case sink != nil:
		s.sink.to = sink
		in = &s.sink
	}
	out, err := s.conn.Do(ctx, p.request, in)
	s.sink.to = nil
	return outcome(out, err)
}

// procedure makes p's bytes.
func (e *encoder) procedure(p *procedure) error {
	if p.request != nil {
		for i := p.first; i < len(p.params); i++ {
			v, err := e.value(p.params[i].Value)
			if err == nil {
				err = p.request.Set(i, v)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	params, err := e.params(p.params)
	if err != nil {
		return err
	}
	for i := range params {
		params[i].Name = ""
	}
	p.request, err = tdsclient.CallID(p.id, params)
	return err
}

// params are ps as tdsclient takes them.
func (e *encoder) params(ps []driver.Param) ([]tdsclient.Param, error) {
	out := make([]tdsclient.Param, len(ps))
	for i, p := range ps {
		v, err := e.value(p.Value)
		if err != nil {
			return nil, err
		}
		out[i] = tdsclient.Param{Name: p.Name, Type: tdsclient.SQLType(p.Type), Value: v, Output: p.Output}
	}
	return out, nil
}

// outputSink takes the values of output parameters in their order: they went by
// position, so they have no names.
type outputSink struct {
	directSink
	out []sql.NullInt32
}

func (s *outputSink) Output(_ string, _ int, value any) error {
	if len(s.out) > 0 {
		if n, ok := value.(int64); ok {
			s.out[0] = sql.NullInt32{Int32: int32(n), Valid: true}
		}
		s.out = s.out[1:]
	}
	return nil
}

func (s *outputSink) Status(int32) error { return nil }

// system makes the call.
func (s *session) system(ctx context.Context, p *procedure, sink driver.Sink) (driver.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return driver.Outcome{OpenTran: s.tran.Load()}, err
	}
	return s.carry(ctx, &call{s: s, sink: sink, system: p})
}

// procedure gives the name and the arguments that make go-mssqldb call q. Output
// parameters go to where go-mssqldb finds them by their names.
func (p *paramCache) procedure(q *procedure) (string, []sqldriver.NamedValue, error) {
	args, err := p.args(q.name, q.params)
	out := q.out
	for i := range args {
		param := &q.params[i]
		if !param.Output || len(out) == 0 {
			continue
		}
		out[0] = sql.NullInt32{}
		if n, ok := param.Value.(int64); ok {
			out[0] = sql.NullInt32{Int32: int32(n), Valid: true}
		}
		args[i].Value = sql.Out{Dest: &out[0]}
		out = out[1:]
	}
	return q.name, args, err
}

// taken says that somebody wants to know the value that an output parameter has
// on return.
func taken(v any) (*sql.NullInt32, bool) {
	o, ok := v.(sql.Out)
	if !ok {
		return nil, false
	}
	n, ok := o.Dest.(*sql.NullInt32)
	return n, ok
}
