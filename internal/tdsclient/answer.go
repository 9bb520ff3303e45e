package tdsclient

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strconv"

	"gostress/internal/tds"
)

// cmdSelect is the command of a DONE that ends a SELECT (MS-TDS 2.2.7.6).
const cmdSelect = 0xC1

// metadata is a COLMETADATA token and what was made of it. Answers repeat them,
// so they are kept.
type metadata struct {
	raw     []byte
	columns []tds.Column
	skip    tds.RowSkipper
	shown   []Column // for sinks, made when the first asks
}

// maxMetas is how many are kept.
const maxMetas = 16

// answer reads the answer to a request: one message, and one more if the request
// was cancelled and the acknowledgement is not in the first.
func (c *Conn) answer(out *Outcome, sink Sink) error {
	if err := c.sent(); err != nil {
		return err
	}
	for second := false; ; second = true {
		c.in.begin()
		ack, err := c.message(out, sink)
		if err != nil {
			return err
		}
		attention, err := false, error(nil)
		if !second {
			if attention, err = c.finished(); err != nil {
				return err
			}
		}
		switch {
		case ack && (attention || second):
			if c.in.w != c.in.end {
				return protocol("there are bytes behind it")
			}
			return c.acknowledged()
		case ack:
			return protocol("it acknowledges a cancel that was not sent")
		case second:
			return protocol("a cancel is not acknowledged")
		case !attention:
			if c.in.w != c.in.end {
				return protocol("there are bytes behind it")
			}
			return nil
		}
		sink = nil // whatever comes now is not the request's
	}
}

// message reads one message. ack says that it acknowledged an attention.
func (c *Conn) message(out *Outcome, sink Sink) (ack bool, err error) {
	c.cur, c.next = nil, 0
	in := &c.in
	for {
		if in.r == in.end {
			if err := in.more(); err != nil {
				return false, err
			}
		}
		id := tds.TokenID(in.buf.b[in.r])
		switch id {
		case tds.TokenRow, tds.TokenNBCRow:
			err = c.rows(id, out, sink)
		case tds.TokenDone, tds.TokenDoneProc, tds.TokenDoneInProc:
			var last bool
			if last, ack, err = c.doneToken(id, out, sink); last && err == nil {
				return ack, nil
			}
		case tds.TokenColMetadata:
			if c.cur != nil {
				return false, protocol("a result set begins inside another")
			}
			if err = c.colMetadata(); err == nil {
				out.ResultSets++
				err = c.showColumns(sink)
			}
		case tds.TokenError, tds.TokenInfo:
			err = c.serverMessage(out, sink)
		case tds.TokenEnvChange:
			err = c.envChange()
		case tds.TokenReturnStatus:
			err = c.returnStatus(sink)
		case tds.TokenReturnValue:
			err = c.returnValue(sink)
		case tds.TokenOrder, tds.TokenTabName, tds.TokenColInfo:
			_, err = c.sized()
		case tds.TokenSessionState:
			in.r++
			var n uint32
			if n, err = in.uint32(); err == nil {
				err = in.skip(uint64(n))
			}
		default:
			err = protocol("token 0x%02X is not one that follows a login", byte(id))
		}
		if err != nil {
			return false, err
		}
	}
}

// sized takes a token whose length stands behind its first byte, in two bytes.
func (c *Conn) sized() ([]byte, error) {
	if err := c.in.need(3); err != nil {
		return nil, err
	}
	return c.in.take(3 + int(binary.LittleEndian.Uint16(c.in.window()[1:])))
}

// doneToken reads the three DONEs. last says that the message ended with it.
func (c *Conn) doneToken(id tds.TokenID, out *Outcome, sink Sink) (last, ack bool, err error) {
	b, err := c.in.take(13)
	if err != nil {
		return false, false, err
	}
	status, cmd := binary.LittleEndian.Uint16(b[1:]), binary.LittleEndian.Uint16(b[3:])
	count := binary.LittleEndian.Uint64(b[5:])
	inSet := c.cur != nil
	c.cur = nil
	if status&tds.DoneSrvError != 0 {
		return false, false, errors.New("the server broke the request off with a severe error")
	}
	// Rows that an assignment read are not told of.
	counted := status&tds.DoneCount != 0 && (inSet || cmd != cmdSelect)
	if counted && !inSet {
		out.Affected += int64(count)
	}
	ack = status&tds.DoneAttn != 0
	if sink != nil && !ack {
		if !counted {
			count = 0
		}
		if err := sink.Done(int64(count), counted); err != nil {
			return false, false, &SinkError{err}
		}
	}
	more := status&tds.DoneMore != 0
	if more && !ack && c.in.r < c.in.end {
		return false, false, nil
	}
	last, err = c.in.ended()
	switch {
	case err != nil:
		return false, false, err
	case last && more:
		return false, false, protocol("it ends where it says that more follows")
	case !last && ack:
		return false, false, protocol("something follows the acknowledgement of a cancel")
	case !last && !more && !c.attended():
		// Only an acknowledgement may follow the last DONE in its own message.
		return false, false, protocol("something follows its last DONE")
	}
	return last, ack, nil
}

// colMetadata finds the token among those seen before, or reads it.
func (c *Conn) colMetadata() error {
	for k := 0; k < len(c.metas); {
		at := (c.next + k) % len(c.metas)
		m := c.metas[at]
		w := c.in.window()
		if len(w) >= len(m.raw) {
			if bytes.Equal(w[:len(m.raw)], m.raw) {
				c.in.r += len(m.raw)
				c.cur, c.next = m, at+1
				return nil
			}
		} else if bytes.Equal(w, m.raw[:len(w)]) {
			// The beginning is the same, so the token is not complete: it needs more anyhow.
			if err := c.in.more(); err != nil {
				return err
			}
			continue
		}
		k++
	}
	for {
		c.dec.Reset(c.in.window())
		err := c.tokens.Next(&c.dec, &c.tok)
		if errors.Is(err, tds.ErrShort) {
			if err := c.in.more(); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		break
	}
	n := c.dec.Offset()
	m := &metadata{raw: bytes.Clone(c.in.window()[:n]), columns: c.tokens.Columns}
	c.tokens.Columns = nil
	m.skip.Set(m.columns)
	c.in.r += n
	if len(c.metas) == maxMetas {
		c.metas = c.metas[:0]
	}
	c.metas = append(c.metas, m)
	c.cur, c.next = m, len(c.metas)
	return nil
}

func (c *Conn) showColumns(sink Sink) error {
	if sink == nil {
		return nil
	}
	m := c.cur
	if m.shown == nil {
		m.shown = make([]Column, len(m.columns))
		for i := range m.columns {
			t := &m.columns[i]
			m.shown[i] = Column{Name: t.Name, Type: sqlType(&t.Type), Nullable: t.Flags&tds.ColNullable != 0}
		}
	}
	if err := sink.Columns(m.shown); err != nil {
		return &SinkError{err}
	}
	return nil
}

// serverMessage reads ERROR and INFO.
func (c *Conn) serverMessage(out *Outcome, sink Sink) error {
	const class = 3 + 4 + 1
	b, err := c.sized()
	if err != nil {
		return err
	}
	if len(b) > class && b[class] < 11 && sink == nil {
		return nil // nobody wants it
	}
	c.dec.Reset(b)
	if err := c.tokens.Next(&c.dec, &c.tok); err != nil {
		return err
	}
	m := &c.tok.Message
	e := ServerError{Number: m.Number, State: m.State, Class: m.Class, Line: m.Line, Proc: m.Proc, Server: m.Server, Message: m.Text}
	if e.Class >= 11 {
		out.Errors = append(out.Errors, e)
	}
	if sink != nil {
		if err := sink.Message(&e); err != nil {
			return &SinkError{err}
		}
	}
	return nil
}

// envChange takes note of what the server says has changed.
func (c *Conn) envChange() error {
	b, err := c.sized()
	if err != nil {
		return err
	}
	if b = b[3:]; len(b) == 0 {
		return protocol("an ENVCHANGE without a kind")
	}
	switch kind := tds.EnvType(b[0]); kind {
	case tds.EnvBeginTran, tds.EnvEnlistDTC:
		if len(b) < 10 || b[1] != 8 {
			if kind == tds.EnvEnlistDTC {
				return nil
			}
			return protocol("a transaction's descriptor is not of 8 bytes")
		}
		c.tran = binary.LittleEndian.Uint64(b[2:])
	case tds.EnvCommitTran, tds.EnvRollbackTran, envDefect, envTranEnded:
		c.tran = 0
	case tds.EnvPacketSize, tds.EnvDatabase:
		if len(b) < 2 || len(b) < 2+2*int(b[1]) {
			return protocol("an ENVCHANGE that is too short")
		}
		text := tds.DecodeUTF16(b[2 : 2+2*int(b[1])])
		if kind == tds.EnvDatabase {
			c.database = text
			return nil
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < tds.MinPacketSize || n > tds.MaxPacketSize+1 {
			return protocol("a packet size of %q", text)
		}
		c.packetSize = n
	case tds.EnvResetAck:
		c.resetAck = true
	case tds.EnvRouting:
		return protocol("it sends the client elsewhere after the login")
	}
	return nil
}

// Kinds of ENVCHANGE that end a distributed transaction.
const (
	envDefect    tds.EnvType = 12
	envTranEnded tds.EnvType = 17
)

func (c *Conn) returnStatus(sink Sink) error {
	b, err := c.in.take(5)
	if err != nil {
		return err
	}
	if o, ok := sink.(OutputSink); ok {
		if err := o.Status(int32(binary.LittleEndian.Uint32(b[1:]))); err != nil {
			return &SinkError{err}
		}
	}
	return nil
}

// returnValue reads an output parameter.
func (c *Conn) returnValue(sink Sink) error {
	for {
		d := &c.dec
		d.Reset(c.in.window())
		d.Skip(1)
		ordinal := d.Uint16()
		name := d.Take(2 * int(d.Byte()))
		d.Skip(1 + 4 + 2) // status, user type, flags
		t := d.TypeInfo()
		v := d.ColumnValue(&t)
		switch err := d.Err(); {
		case errors.Is(err, tds.ErrShort):
			if err := c.in.more(); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		c.in.r += d.Offset()
		o, ok := sink.(OutputSink)
		if !ok {
			return nil
		}
		var value any
		if !v.Null {
			var err error
			if value, err = goValue(&t, v.Data); err != nil {
				return err
			}
		}
		if err := o.Output(tds.DecodeUTF16(name), int(ordinal), value); err != nil {
			return &SinkError{err}
		}
		return nil
	}
}
