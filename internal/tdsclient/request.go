package tdsclient

import (
	"fmt"
	"slices"
	"strings"

	"gostress/internal/tds"
)

// Request is a request as bytes. One that is not changed may be sent by any
// number of connections at once: a connection copies it into its packets and
// puts its own transaction into the copy.
type Request struct {
	typ    tds.PacketType
	body   []byte // behind ALL_HEADERS
	params []slot
	value  []byte // what Set encodes into
}

// slot is where a parameter's value lies in a request's body.
type slot struct {
	at, end int
	typ     tds.TypeInfo
	table   bool
}

// Param is a parameter of a call.
type Param struct {
	// Name begins with @; empty means by position.
	Name string
	// Type is sent exactly. For a *Table it is not looked at.
	Type SQLType
	// Value is nil, int64, float64, bool, string, []byte, time.Time or *Table;
	// decimal, money and uniqueidentifier are strings.
	Value any
	// Output asks for the value that the procedure leaves.
	Output bool
}

// Batch is a request that runs text.
func Batch(text string) *Request {
	return &Request{typ: tds.PacketSQLBatch, body: tds.AppendUTF16(nil, text)}
}

// Call is a request that calls a procedure by name. Its error is for values that
// their type cannot hold.
func Call(proc string, params []Param) (*Request, error) {
	if n := tds.UTF16Len(proc); n == 0 || n > 1046 {
		return nil, fmt.Errorf("a procedure's name has 1 to 1046 characters, not %d", n)
	}
	return call(&tds.RPC{Name: proc}, params)
}

// CallID is Call for a procedure that has a number (MS-TDS 2.2.6.6).
func CallID(proc uint16, params []Param) (*Request, error) {
	return call(&tds.RPC{ProcID: proc}, params)
}

// ExecuteSQL is a request that runs text with parameters, through sp_executesql.
// Parameters without a name are @p1, @p2 and so on. The parameters that Set
// knows are 0 for text, 1 for the declarations, and the given ones from 2.
func ExecuteSQL(text string, params []Param) (*Request, error) {
	max := SQLType{Name: "nvarchar", Len: -1}
	all := make([]Param, 2, len(params)+2)
	all[0] = Param{Type: max, Value: text}
	all[1] = Param{Type: max, Value: Declarations(params)}
	for i, p := range params {
		p.Name = nameOf(p, i)
		all = append(all, p)
	}
	return CallID(tds.ProcExecuteSQL, all)
}

// Declarations are the parameters as sp_executesql and sp_prepare take them.
func Declarations(params []Param) string {
	var decl strings.Builder
	for i := range params {
		p := &params[i]
		if i > 0 {
			decl.WriteByte(',')
		}
		decl.WriteString(nameOf(*p, i))
		decl.WriteByte(' ')
		if t, ok := p.Value.(*Table); ok {
			decl.WriteString(t.name + " READONLY")
		} else {
			decl.WriteString(p.Type.declaration())
		}
		if p.Output {
			decl.WriteString(" OUTPUT")
		}
	}
	return decl.String()
}

func nameOf(p Param, i int) string {
	if p.Name == "" {
		return fmt.Sprintf("@p%d", i+1)
	}
	return p.Name
}

func call(c *tds.RPC, params []Param) (*Request, error) {
	r := &Request{typ: tds.PacketRPC, body: tds.AppendRPC(nil, c), params: make([]slot, len(params))}
	for i := range params {
		p, s := &params[i], &r.params[i]
		var err error
		if t, ok := p.Value.(*Table); ok {
			if p.Output {
				return nil, fmt.Errorf("parameter %d: a table cannot be an output parameter", i+1)
			}
			s.table = true
			r.body = append(tds.AppendName(r.body, p.Name), 0)
			s.at = len(r.body)
			r.body = append(r.body, t.bytes...)
		} else {
			if s.typ, err = p.Type.info(); err != nil {
				return nil, fmt.Errorf("parameter %d: %w", i+1, err)
			}
			status := byte(0)
			if p.Output {
				status = tds.ParamOutput
			}
			r.body = tds.AppendParam(r.body, p.Name, status, &s.typ)
			s.at = len(r.body)
			if r.body, err = appendValue(r.body, &s.typ, p.Value); err != nil {
				return nil, fmt.Errorf("parameter %d: %w", i+1, err)
			}
		}
		s.end = len(r.body)
	}
	return r, nil
}

// Len is the request's size on the wire in bytes, in packets of the given size.
func (r *Request) Len(packetSize int) int {
	n, room := headersSize+len(r.body), packetSize-tds.HeaderSize
	return n + (n+room-1)/room*tds.HeaderSize
}

// Set gives parameter i, from 0, another value of its type, in place. It must
// not run while the request is being sent. After an error the old value stays.
func (r *Request) Set(i int, value any) error {
	s := &r.params[i]
	if t, ok := value.(*Table); ok {
		if !s.table {
			return fmt.Errorf("parameter %d is no table", i+1)
		}
		r.splice(i, t.bytes)
		return nil
	}
	if s.table {
		return fmt.Errorf("parameter %d is a table", i+1)
	}
	b, err := appendValue(r.value[:0], &s.typ, value)
	if err != nil {
		return fmt.Errorf("parameter %d: %w", i+1, err)
	}
	r.value = b
	r.splice(i, b)
	return nil
}

func (r *Request) splice(i int, b []byte) {
	s := &r.params[i]
	d := len(b) - (s.end - s.at)
	if d == 0 {
		copy(r.body[s.at:], b)
		return
	}
	r.body = slices.Replace(r.body, s.at, s.end, b...)
	s.end += d
	for j := i + 1; j < len(r.params); j++ {
		r.params[j].at += d
		r.params[j].end += d
	}
}

// Table is a table-valued parameter as bytes. It never changes, so any number of
// requests may share it.
type Table struct {
	name  string // quoted, as a declaration has it
	bytes []byte // TYPE_INFO and rows
}

// NewTable encodes rows, whose values are as a Param's, of a table type.
func NewTable(schema, name string, columns []SQLType, rows [][]any) (*Table, error) {
	cols := make([]tds.Column, len(columns))
	for i := range columns {
		t, err := columns[i].info()
		if err != nil {
			return nil, fmt.Errorf("column %d of table type %s: %w", i+1, name, err)
		}
		cols[i].Type = t
	}
	// The name and status of the parameter itself, two bytes, are the call's.
	b := tds.AppendTableParam(nil, "", schema, name, cols)[2:]
	for k, row := range rows {
		if len(row) != len(cols) {
			return nil, fmt.Errorf("row %d of table type %s has %d values for %d columns", k+1, name, len(row), len(cols))
		}
		b = tds.AppendTableRow(b)
		for i, v := range row {
			var err error
			if b, err = appendValue(b, &cols[i].Type, v); err != nil {
				return nil, fmt.Errorf("row %d, column %d of table type %s: %w", k+1, i+1, name, err)
			}
		}
	}
	full := quote(name)
	if schema != "" {
		full = quote(schema) + "." + full
	}
	return &Table{name: full, bytes: slices.Clip(tds.AppendTableEnd(b))}, nil
}

func quote(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }
