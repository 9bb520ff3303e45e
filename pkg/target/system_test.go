package target

import (
	"fmt"
	"strings"
	"sync"

	"gostress/internal/tds"
)

// called is a request that a server of the tests got: a batch, or a procedure
// with its arguments.
type called struct {
	name string // "" for a batch
	args []any  // nil, int64 or string
	outs []string
}

func (c called) String() string {
	s := make([]string, len(c.args))
	for i, a := range c.args {
		s[i] = fmt.Sprint(a)
		if a == nil {
			s[i] = "NULL"
		}
	}
	if c.name == "" {
		return "batch " + s[0]
	}
	return c.name + " " + strings.Join(s, ", ")
}

// call takes the next request.
func (p *peer) call() called {
	m, err := p.rd.ReadMessage(p.rw)
	if err != nil {
		p.gone()
	}
	if m.Type == tds.PacketAttention {
		p.send(done(tds.DoneAttn))
		return p.call()
	}
	if m.Type == tds.PacketSQLBatch {
		_, text, err := tds.ParseBatch(m.Data, tds.V74)
		if err != nil {
			p.tb.Error(err)
			p.gone()
		}
		return called{args: []any{text}}
	}
	if m.Type != tds.PacketRPC {
		p.tb.Errorf("the client sent a message of type %#x", m.Type)
		p.gone()
	}
	var rd tds.RPCReader
	var c tds.RPC
	if err := rd.Reset(m.Data, tds.V74); err != nil {
		p.tb.Error(err)
		p.gone()
	}
	if ok, err := rd.Next(&c); !ok || err != nil || rd.More() {
		p.tb.Error(ok, err)
		p.gone()
	}
	out := called{name: c.Name}
	for _, a := range c.Params {
		var v any
		switch {
		case a.Value.Null:
		case a.Type.ID == tds.TypeNVarChar:
			v = tds.DecodeUTF16(a.Value.Data)
		case a.Type.ID == tds.TypeIntN:
			if a.Type.Size != 4 {
				p.tb.Errorf("%s has an integer of %d bytes", c.Name, a.Type.Size)
			}
			v = tds.Int(a.Value.Data)
		default:
			v = a.Type.Name()
		}
		out.args = append(out.args, v)
		if a.Status&tds.ParamOutput != 0 {
			out.outs = append(out.outs, a.Name)
		}
	}
	return out
}

// returns are the tokens that end a call with these output values.
func (c called) returns(values ...int64) []byte {
	b := tds.AppendReturnStatus(nil, 0)
	for i, v := range values {
		b = tds.AppendReturnValue(b, tds.V74, &tds.ReturnValue{Ordinal: uint16(i), Name: c.outs[i], Status: 1, Type: intType})
		b = tds.AppendInt(b, &intType, v)
	}
	return append(b, doneToken(tds.TokenDoneProc, 0)...)
}

// failed are the tokens of a call that failed.
func failed(number int32, text string) []byte {
	return append(append(serverError(number, 16, text), tds.AppendReturnStatus(nil, number)...), doneToken(tds.TokenDoneProc, tds.DoneError)...)
}

// inProc is the DONEINPROC of a statement.
func inProc(cmd uint16, n uint64) []byte {
	return tds.AppendDone(nil, tds.V74, tds.Done{Token: tds.TokenDoneInProc, Status: tds.DoneMore | tds.DoneCount, Cmd: cmd, Count: n})
}

// namedColumns are int columns.
func namedColumns(names ...string) []byte {
	cols := make([]tds.Column, len(names))
	for i, n := range names {
		cols[i] = tds.Column{Name: n, Flags: tds.ColNullable, Type: intType}
	}
	return tds.AppendColMetadata(nil, tds.V74, cols)
}

// record keeps what servers got.
type record struct {
	mu    sync.Mutex
	calls []string
}

func (r *record) add(c called) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c.String())
}

func (r *record) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.calls
	r.calls = nil
	return out
}

// system serves a script that answers each call, and records it.
func system(p *peer, r *record, answer func(called) [][]byte) {
	p.accept(tds.EncryptNotSupported)
	for {
		c := p.call()
		r.add(c)
		if a := answer(c); a != nil { // else nothing comes until the client gives up
			p.send(a...)
		}
	}
}
