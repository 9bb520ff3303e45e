package server

import (
	"context"
	"encoding/binary"
	"fmt"

	"gostress/internal/engine/exec"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
	"gostress/internal/tds"
)

// output turns what a session produces into tokens. It is part of a connection
// and is reused by each request.
type output struct {
	c     *conn
	cols  []tds.Column
	encs  []encoder
	more  bool // another call of the same message follows: no DONE is the last
	final bool // the last token was a DONE without MORE
}

// begin starts a message.
func (o *output) begin() { o.more, o.final = false, false }

// Row is one row of the current result set.
func (o *output) Row(values []types.Value) error {
	c := o.c
	if len(values) != len(o.encs) {
		return fmt.Errorf("a row of %d values in a result set of %d columns", len(values), len(o.encs))
	}
	b := append(c.wr.Buf, byte(tds.TokenRow))
	var err error
	for i := range o.encs {
		if b, err = o.encs[i].append(b, values[i]); err != nil {
			return err
		}
	}
	c.wr.Buf = b
	o.final = false
	return o.commit()
}

// commit sends what has gathered. A request that was cancelled sends no more.
func (o *output) commit() error {
	if o.c.attn.Load() {
		return context.Canceled
	}
	return o.c.wr.Commit()
}

// Event is any token but a row.
func (o *output) Event(e exec.Event) error {
	w := &o.c.wr
	o.final = false
	switch e := e.(type) {
	case *exec.Columns:
		o.columns(e.Columns)
	case *exec.Done:
		o.appendDone(e)
	case *exec.Message:
		o.message(e.Err)
	case *exec.ReturnStatus:
		w.Buf = tds.AppendReturnStatus(w.Buf, e.Value)
	case *exec.OutParam:
		if err := o.outParam(e); err != nil {
			return err
		}
	case *exec.EnvChange:
		o.envChange(e)
	case *exec.Flush:
		return w.Flush()
	default:
		return fmt.Errorf("the engine produced a %T, which has no token", e)
	}
	return o.commit()
}

func (o *output) appendDone(e *exec.Done) {
	d := tds.Done{Token: tds.TokenDone, Cmd: e.Cmd}
	switch e.Kind {
	case exec.DoneInProc:
		d.Token = tds.TokenDoneInProc
	case exec.DoneProc:
		d.Token = tds.TokenDoneProc
	}
	if e.HasCount {
		d.Status |= tds.DoneCount
		d.Count = uint64(e.Count)
	}
	if e.Error {
		d.Status |= tds.DoneError
	}
	if e.InTran {
		d.Status |= tds.DoneInXact
	}
	if e.More || o.more {
		d.Status |= tds.DoneMore
	} else {
		o.final = true
	}
	o.c.wr.Buf = tds.AppendDone(o.c.wr.Buf, o.c.ver, d)
}

// finish makes sure that the message ends with a DONE that says so.
func (o *output) finish(failed bool) {
	if o.final {
		return
	}
	d := tds.Done{Token: tds.TokenDone}
	if failed {
		d.Status = tds.DoneError
	}
	o.c.wr.Buf = tds.AppendDone(o.c.wr.Buf, o.c.ver, d)
	o.final = true
}

// message appends an ERROR, or an INFO if its class is 10 or below.
func (o *output) message(e *sqlerr.Error) {
	m := tds.ServerMessage{Token: tds.TokenError, Number: e.Number, State: e.State, Class: e.Class, Text: e.Text,
		Server: e.Server, Proc: e.Proc, Line: e.Line}
	if e.Class <= 10 {
		m.Token = tds.TokenInfo
	}
	if m.Server == "" {
		m.Server = o.c.srv.opts.ServerName
	}
	o.c.wr.Buf = tds.AppendMessage(o.c.wr.Buf, o.c.ver, &m)
}

func (o *output) columns(cols []exec.Column) {
	o.cols, o.encs = o.cols[:0], o.encs[:0]
	hidden := false
	for i := range cols {
		enc := newEncoder(cols[i].Type, o.c.ver)
		flags := tds.ColUpdate
		if cols[i].Nullable {
			flags |= tds.ColNullable
		}
		if cols[i].Identity {
			flags |= tds.ColIdentity
		}
		if cols[i].Hidden {
			flags |= tds.ColHidden
			hidden = true
		}
		o.cols = append(o.cols, tds.Column{Name: cols[i].Name, Flags: flags, Type: enc.info})
		o.encs = append(o.encs, enc)
	}
	o.c.wr.Buf = tds.AppendColMetadata(o.c.wr.Buf, o.c.ver, o.cols)
	if hidden {
		o.c.wr.Buf = tds.AppendColInfo(o.c.wr.Buf, o.cols)
	}
}

func (o *output) outParam(e *exec.OutParam) error {
	enc := newEncoder(e.Type, o.c.ver)
	rv := tds.ReturnValue{Ordinal: uint16(e.Ordinal), Name: e.Name, Status: 1, Flags: tds.ColNullable, Type: enc.info}
	b, err := enc.append(tds.AppendReturnValue(o.c.wr.Buf, o.c.ver, &rv), e.Value)
	if err != nil {
		return err
	}
	o.c.wr.Buf = b
	return nil
}

func (o *output) envChange(e *exec.EnvChange) {
	var id [8]byte
	binary.LittleEndian.PutUint64(id[:], e.Tran)
	t := tds.EnvChange{New: e.New, Old: e.Old}
	switch e.Kind {
	case exec.EnvDatabase:
		t.Type = tds.EnvDatabase
	case exec.EnvLanguage:
		t.Type = tds.EnvLanguage
	case exec.EnvBeginTran:
		t.Type, t.NewBytes = tds.EnvBeginTran, id[:]
	case exec.EnvCommitTran:
		t.Type, t.OldBytes = tds.EnvCommitTran, id[:]
	case exec.EnvRollbackTran:
		t.Type, t.OldBytes = tds.EnvRollbackTran, id[:]
	case exec.EnvResetAck:
		t.Type = tds.EnvResetAck
	default:
		return
	}
	if (t.Type == tds.EnvBeginTran || t.Type == tds.EnvCommitTran || t.Type == tds.EnvRollbackTran) && !o.c.ver.Has72() {
		return // these kinds came with 7.2
	}
	o.c.wr.Buf = tds.AppendEnvChange(o.c.wr.Buf, &t)
}
