package tds

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Token is what TokenReader read last; which fields count depends on ID.
type Token struct {
	ID       TokenID
	Done     Done          // the three DONEs
	Message  ServerMessage // ERROR, INFO
	Env      EnvChange
	Ack      LoginAck
	Status   int32       // RETURNSTATUS
	Return   ReturnValue // RETURNVALUE
	Features []Feature   // FEATUREEXTACK
	Data     []byte      // SSPI, and the body of tokens nobody needs
}

// TokenReader reads the tokens of responses. It remembers the columns of the
// current result set, because rows cannot be read without them.
type TokenReader struct {
	Version Version
	Columns []Column // of the current result set
	Values  []Raw    // of the last row, when Rows is set
	Rows    bool     // read the values; otherwise rows are passed over
	fixed   int      // with only fixed-length columns, a row's size in bytes
	varies  bool
}

const maxColumns = 4096

// Next reads one token. ErrShort means that d holds only a part of it: nothing
// was consumed, and the caller tries again with more bytes.
func (r *TokenReader) Next(d *Decoder, t *Token) error {
	start := d.off
	err := r.next(d, t)
	if errors.Is(err, ErrShort) {
		d.off, d.err = start, nil
	}
	return err
}

func (r *TokenReader) next(d *Decoder, t *Token) error {
	id := TokenID(d.Byte())
	if d.err != nil {
		return d.err
	}
	t.ID = id
	switch id {
	case TokenRow, TokenNBCRow:
		return r.row(d, id == TokenNBCRow)
	case TokenDone, TokenDoneInProc, TokenDoneProc:
		t.Done = Done{Token: id, Status: d.Uint16(), Cmd: d.Uint16()}
		if r.Version.Has72() {
			t.Done.Count = d.Uint64()
		} else {
			t.Done.Count = uint64(d.Uint32())
		}
	case TokenColMetadata:
		return r.colMetadata(d)
	case TokenError, TokenInfo:
		body := NewDecoder(d.USVarByte())
		if d.err != nil {
			return d.err
		}
		m := ServerMessage{Token: id, Number: int32(body.Uint32()), State: body.Byte(), Class: body.Byte(),
			Text: body.USVarChar(), Server: body.BVarChar(), Proc: body.BVarChar()}
		if r.Version.Has72() {
			m.Line = int32(body.Uint32())
		} else {
			m.Line = int32(body.Uint16())
		}
		t.Message = m
		return complete("ERROR or INFO", body)
	case TokenEnvChange:
		body := NewDecoder(d.USVarByte())
		if d.err != nil {
			return d.err
		}
		return readEnvChange(body, &t.Env)
	case TokenLoginAck:
		body := NewDecoder(d.USVarByte())
		if d.err != nil {
			return d.err
		}
		t.Ack = LoginAck{Interface: body.Byte()}
		if v := body.Take(4); v != nil {
			t.Ack.Version = Version(binary.BigEndian.Uint32(v))
		}
		t.Ack.Program = body.BVarChar()
		t.Ack.Major, t.Ack.Minor = body.Byte(), body.Byte()
		if v := body.Take(2); v != nil {
			t.Ack.Build = binary.BigEndian.Uint16(v)
		}
		return complete("LOGINACK", body)
	case TokenReturnStatus:
		t.Status = int32(d.Uint32())
	case TokenReturnValue:
		rv := ReturnValue{Ordinal: d.Uint16(), Name: d.BVarChar(), Status: d.Byte(), UserType: r.userType(d), Flags: d.Uint16()}
		rv.Type = d.TypeInfo()
		rv.Value = d.ColumnValue(&rv.Type)
		t.Return = rv
	case TokenFeatureExtAck:
		// The features have no length in front: too short is seen only inside.
		t.Features = t.Features[:0]
		for d.err == nil {
			f := FeatureID(d.Byte())
			if f == featureEnd || d.err != nil {
				break
			}
			n := d.Uint32()
			if n > 1<<20 {
				d.fail("FEATUREEXTACK", "feature %d of %d bytes", f, n)
				break
			}
			t.Features = append(t.Features, Feature{f, d.Take(int(n))})
		}
	case TokenSSPI, TokenOrder, TokenTabName, TokenColInfo:
		t.Data = d.USVarByte()
	case TokenSessionState, TokenFedAuthInfo:
		n := d.Uint32()
		if n > 1<<20 {
			d.fail("token", "0x%02X of %d bytes", byte(id), n)
		}
		t.Data = d.Take(int(n))
	default:
		d.fail("token", "unknown token 0x%02X", byte(id))
	}
	return d.err
}

func (r *TokenReader) userType(d *Decoder) uint32 {
	if r.Version.Has72() {
		return d.Uint32()
	}
	return uint32(d.Uint16())
}

func readEnvChange(d *Decoder, e *EnvChange) error {
	*e = EnvChange{Type: EnvType(d.Byte())}
	switch {
	case e.Type == EnvRouting:
		e.NewBytes = d.USVarByte()
		e.OldBytes = d.USVarByte()
	case e.Type == 15: // promote transaction: a length of four bytes
		n := d.Uint32()
		if uint64(n) > uint64(d.Len()) {
			n = uint32(d.Len())
		}
		e.NewBytes = d.Take(int(n))
	case e.Type.binary():
		e.NewBytes = d.BVarByte()
		e.OldBytes = d.BVarByte()
	case e.Type <= EnvPacketSize || e.Type == 5 || e.Type == 6 || e.Type == EnvMirror || e.Type == 19:
		e.New = d.BVarChar()
		e.Old = d.BVarChar()
	default:
		e.NewBytes = d.Rest()
		return nil
	}
	return complete("ENVCHANGE", d)
}

func (r *TokenReader) colMetadata(d *Decoder) error {
	n := int(d.Uint16())
	cols := make([]Column, 0, min(n, 64))
	if n == 0xFFFF {
		n = 0
	}
	if n > maxColumns {
		d.fail("COLMETADATA", "%d columns", n)
	}
	for range n {
		if d.err != nil {
			return d.err
		}
		c := Column{UserType: r.userType(d), Flags: d.Uint16(), Type: d.TypeInfo()}
		if c.Type.ID == TypeTable {
			d.fail("COLMETADATA", "a column of a table type")
		}
		if c.Type.lengthKind() == lenLong {
			parts := 1
			if r.Version.Has72() {
				parts = int(d.Byte())
			}
			for range parts {
				d.USVarByte()
			}
		}
		c.Name = d.BVarChar()
		cols = append(cols, c)
	}
	if d.err != nil {
		return d.err
	}
	r.Columns = cols
	r.fixed, r.varies = 0, false
	for i := range cols {
		if cols[i].Type.lengthKind() != lenFixed {
			r.varies = true
			break
		}
		r.fixed += cols[i].Type.Size
	}
	return nil
}

func (r *TokenReader) row(d *Decoder, nbc bool) error {
	if len(r.Columns) == 0 {
		d.fail("ROW", "a row without columns")
		return d.err
	}
	var nulls []byte
	if nbc {
		nulls = d.Take((len(r.Columns) + 7) / 8)
		if d.err != nil {
			return d.err
		}
	}
	if !r.Rows {
		if !r.varies && !nbc {
			d.Skip(r.fixed)
			return d.err
		}
		for i := range r.Columns {
			if nbc && nulls[i/8]&(1<<(i%8)) != 0 {
				continue
			}
			d.skip(&r.Columns[i].Type, true)
		}
		return d.err
	}
	if cap(r.Values) < len(r.Columns) {
		r.Values = make([]Raw, len(r.Columns))
	}
	r.Values = r.Values[:len(r.Columns)]
	for i := range r.Columns {
		if nbc && nulls[i/8]&(1<<(i%8)) != 0 {
			r.Values[i] = Raw{Null: true}
			continue
		}
		r.Values[i] = d.ColumnValue(&r.Columns[i].Type)
	}
	return d.err
}

// Error makes a ServerMessage an error.
func (m *ServerMessage) Error() string {
	return fmt.Sprintf("Msg %d, Level %d, State %d, Line %d: %s", m.Number, m.Class, m.State, m.Line, m.Text)
}
