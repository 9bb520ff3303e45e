package tds

import "encoding/binary"

// The procedures that an RPC can name by number; read only.
var procNames = [...]string{
	1: "sp_cursor", 2: "sp_cursoropen", 3: "sp_cursorprepare", 4: "sp_cursorexecute", 5: "sp_cursorprepexec", 6: "sp_cursorunprepare",
	7: "sp_cursorfetch", 8: "sp_cursoroption", 9: "sp_cursorclose", 10: "sp_executesql", 11: "sp_prepare", 12: "sp_execute",
	13: "sp_prepexec", 14: "sp_prepexecrpc", 15: "sp_unprepare",
}

// Numbers of procedures.
const (
	ProcCursorOpen  uint16 = 2
	ProcCursorFetch uint16 = 7
	ProcCursorClose uint16 = 9
	ProcExecuteSQL  uint16 = 10
	ProcPrepare     uint16 = 11
	ProcExecute     uint16 = 12
	ProcPrepExec    uint16 = 13
	ProcPrepExecRPC uint16 = 14
	ProcUnprepare   uint16 = 15
)

// ProcName is the name of a procedure's number; "" if it has none.
func ProcName(id uint16) string {
	if int(id) < len(procNames) {
		return procNames[id]
	}
	return ""
}

// Flags of an RPC and of its parameters.
const (
	RPCRecompile  uint16 = 0x01
	RPCNoMetadata uint16 = 0x02

	ParamOutput    = 0x01
	ParamDefault   = 0x02
	ParamEncrypted = 0x08
)

// RPC is one procedure call. Its slices are reused by RPCReader.Next.
type RPC struct {
	Name    string // as sent, or the name of ProcID
	ProcID  uint16 // 0 = called by name
	Options uint16
	Params  []Param
}

// Param is a parameter of an RPC.
type Param struct {
	Name   string // with @; "" = by position
	Status byte
	Type   TypeInfo
	Value  Raw
	Table  *Table // for a table type; nil = NULL, the table is empty
}

// Table is a table-valued parameter. Its rows are read one at a time.
type Table struct {
	Schema, Name string // "" if the client does not tell
	Columns      []Column
	rows         []byte // behind the metadata, up to and including the end token
	count        int
}

// Len is how many rows the table has.
func (t *Table) Len() int { return t.count }

const (
	rpcBatchFlag    = 0xFF
	rpcNoExecFlag   = 0xFE
	rpcBatchFlag71  = 0x80
	maxRPCParams    = 2100
	tvpEnd          = 0x00
	tvpRow          = 0x01
	tvpOrderUnique  = 0x10
	tvpOrdering     = 0x11
	tvpNull         = 0xFFFF
	tvpColDefault   = 0x200
	maxTableColumns = 1024
)

// RPCReader reads the calls of an RPC message.
type RPCReader struct {
	Headers Headers
	d       Decoder
	version Version
}

// Reset starts reading a message. The calls point into b.
func (r *RPCReader) Reset(b []byte, v Version) error {
	*r = RPCReader{version: v}
	r.d.buf = b
	r.Headers = readHeaders(&r.d, v)
	if r.d.err == nil && r.d.Len() == 0 {
		r.d.fail("RPC", "no procedure")
	}
	return complete("RPC", &r.d)
}

// Next reads the next call into c and reports false at the message's end.
func (r *RPCReader) Next(c *RPC) (bool, error) {
	d := &r.d
	if d.err != nil {
		return false, complete("RPC", d)
	}
	if d.Len() == 0 {
		return false, nil
	}
	c.Name, c.ProcID, c.Options, c.Params = "", 0, 0, c.Params[:0]
	n := d.Uint16()
	if n == 0xFFFF {
		c.ProcID = d.Uint16()
		if c.Name = ProcName(c.ProcID); c.Name == "" {
			d.fail("RPC", "unknown procedure number %d", c.ProcID)
		}
	} else {
		if n == 0 || n > 1046 {
			d.fail("RPC", "a procedure name of %d characters", n)
		}
		c.Name = DecodeUTF16(d.Take(2 * int(n)))
	}
	c.Options = d.Uint16()
	for d.err == nil && d.Len() > 0 {
		b, _ := d.Peek()
		// A parameter starts with its name's length, at most 128 characters.
		if b == rpcBatchFlag || b == rpcNoExecFlag || b == rpcBatchFlag71 && !r.version.Has72() {
			d.Byte()
			break
		}
		if len(c.Params) == maxRPCParams {
			d.fail("RPC", "more than %d parameters", maxRPCParams)
			break
		}
		c.Params = append(c.Params, Param{})
		r.param(&c.Params[len(c.Params)-1])
	}
	if d.err != nil {
		return false, complete("RPC", d)
	}
	return true, nil
}

func (r *RPCReader) param(p *Param) {
	d := &r.d
	p.Name = d.BVarChar()
	p.Status = d.Byte()
	if p.Status&ParamEncrypted != 0 {
		d.fail("RPC", "parameter %s is encrypted (Always Encrypted)", p.Name)
	}
	p.Type = d.TypeInfo()
	switch {
	case d.err != nil:
	case p.Type.ID == TypeTable:
		p.Table = readTable(d, r.version)
		p.Value.Null = p.Table == nil
	default:
		p.Value = d.ParamValue(&p.Type)
	}
}

// readTable reads the metadata of a table-valued parameter and passes over its
// rows, checking them. A NULL table is nil.
func readTable(d *Decoder, v Version) *Table {
	t := new(Table)
	if db := d.BVarChar(); db != "" {
		d.fail("table-valued parameter", "a type of another database (%s)", db)
	}
	t.Schema, t.Name = d.BVarChar(), d.BVarChar()
	n := int(d.Uint16())
	if d.err != nil {
		return t
	}
	null := n == tvpNull
	if null {
		n = 0
	}
	if n > maxTableColumns {
		d.fail("table-valued parameter", "%d columns, at most %d are allowed", n, maxTableColumns)
		return t
	}
	t.Columns = make([]Column, 0, n)
	for range n {
		c := Column{UserType: d.Uint32(), Flags: d.Uint16(), Type: d.TypeInfo()}
		if c.Type.ID == TypeTable {
			d.fail("table-valued parameter", "a column of a table type")
		}
		c.Name = d.BVarChar()
		if d.err != nil {
			return t
		}
		t.Columns = append(t.Columns, c)
	}
	for {
		switch b := d.Byte(); {
		case d.err != nil:
			return t
		case b == tvpOrderUnique:
			d.Skip(3 * int(d.Uint16()))
			continue
		case b == tvpOrdering:
			d.Skip(2 * int(d.Uint16()))
			continue
		case b != tvpEnd:
			d.fail("table-valued parameter", "unknown token 0x%02X", b)
			return t
		}
		break
	}
	start := d.off
	for {
		b := d.Byte()
		if d.err != nil {
			return t
		}
		if b == tvpEnd {
			break
		}
		if b != tvpRow {
			d.fail("table-valued parameter", "unknown token 0x%02X", b)
			return t
		}
		if len(t.Columns) == 0 {
			d.fail("table-valued parameter", "a row without columns")
			return t
		}
		for i := range t.Columns {
			if t.Columns[i].Flags&tvpColDefault != 0 {
				continue // no value is sent for a column that takes its default
			}
			d.skip(&t.Columns[i].Type, false)
		}
		if d.err != nil {
			return t
		}
		t.count++
	}
	if null && t.count == 0 {
		return nil
	}
	t.rows = d.buf[start:d.off]
	return t
}

// Defaulted reports whether column i takes its default in every row.
func (t *Table) Defaulted(i int) bool { return t.Columns[i].Flags&tvpColDefault != 0 }

// Rows calls fn with each row. The values are valid only during the call.
func (t *Table) Rows(fn func(values []Raw) error) error {
	d := Decoder{buf: t.rows}
	values := make([]Raw, len(t.Columns))
	for d.Byte() == tvpRow {
		for i := range t.Columns {
			if t.Defaulted(i) {
				values[i] = Raw{Null: true}
				continue
			}
			values[i] = d.ParamValue(&t.Columns[i].Type)
		}
		if d.err != nil {
			return complete("table-valued parameter", &d)
		}
		if err := fn(values); err != nil {
			return err
		}
	}
	return nil
}

// AppendRPC appends the start of a call: by name, or by number if c.Name is ""
// or c.ProcID is set. Headers come before the first call of a message, and
// parameters after it.
func AppendRPC(b []byte, c *RPC) []byte {
	if c.ProcID != 0 {
		b = append(b, 0xFF, 0xFF)
		b = binary.LittleEndian.AppendUint16(b, c.ProcID)
	} else {
		b = appendUSVarChar(b, c.Name, 1046)
	}
	return binary.LittleEndian.AppendUint16(b, c.Options)
}

// AppendParam appends a parameter up to its value, which the caller appends next.
func AppendParam(b []byte, name string, status byte, t *TypeInfo) []byte {
	return AppendTypeInfo(append(appendBVarChar(b, name), status), t)
}

// AppendTableParam appends a table-valued parameter up to its rows. Then come,
// for each row, AppendTableRow and the values, and AppendTableEnd at the end.
func AppendTableParam(b []byte, name, schema, typ string, cols []Column) []byte {
	b = append(appendBVarChar(b, name), 0, byte(TypeTable), 0)
	b = appendBVarChar(appendBVarChar(b, schema), typ)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(cols)))
	for i := range cols {
		b = binary.LittleEndian.AppendUint32(b, cols[i].UserType)
		b = binary.LittleEndian.AppendUint16(b, cols[i].Flags)
		b = AppendTypeInfo(b, &cols[i].Type)
		b = appendBVarChar(b, cols[i].Name)
	}
	return append(b, tvpEnd)
}

// AppendTableRow starts a row of a table-valued parameter.
func AppendTableRow(b []byte) []byte { return append(b, tvpRow) }

// AppendTableEnd ends the rows of a table-valued parameter.
func AppendTableEnd(b []byte) []byte { return append(b, tvpEnd) }

// More reports whether another call follows the one that Next read last.
func (r *RPCReader) More() bool { return r.d.err == nil && r.d.Len() > 0 }
