package server

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"go.uber.org/zap"

	"gostress/internal/engine/exec"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
	"gostress/internal/tds"
)

// handle answers one message and reports whether the connection goes on.
func (c *conn) handle(m tds.Message) bool {
	if m.Type == tds.PacketAttention {
		// Nothing runs: the cancel came too late, or the client took back a
		// request that it had not finished sending. It wants its answer all the same.
		return c.acknowledge() == nil
	}
	c.begin()
	if m.Ignored() {
		c.out.finish(true)
		return c.wr.End() == nil
	}
	c.busy.Store(true)
	ctx := c.running()
	err := c.carryOut(ctx, m)
	c.ran()
	c.rd.Shrink(2 * bufferSize)
	goOn := c.end(err)
	// endSoon looks the other way round: one of the two sees the other.
	c.busy.Store(false)
	return goOn && !c.gone.Load()
}

// carryOut runs a request. A panic ends the session, not the server.
func (c *conn) carryOut(ctx context.Context, m tds.Message) (err error) {
	defer func() {
		if p := recover(); p != nil {
			// The request's text may hold a password: it is not logged.
			c.srv.log.Error("a request failed in an unexpected way", zap.Int("spid", c.sess.SPID()),
				zap.String("panic", fmt.Sprintf("%T: %v", p, p)), zap.ByteString("stack", debug.Stack()))
			err = sqlerr.New(3624, 20, 1, "An internal fault ended this session. The server's log has its cause.")
		}
	}()
	if reset, keepTran := m.Reset(); reset {
		c.sess.Reset(keepTran)
		c.out.envChange(&exec.EnvChange{Kind: exec.EnvResetAck})
	}
	switch m.Type {
	case tds.PacketSQLBatch:
		_, text, err := tds.ParseBatch(m.Data, c.ver)
		if err != nil {
			return err
		}
		return c.sess.Batch(ctx, text, &c.out)
	case tds.PacketRPC:
		return c.calls(ctx, m.Data)
	case tds.PacketTransaction:
		return c.transaction(ctx, m.Data)
	case tds.PacketBulkLoad:
		return c.bulk(ctx, m.Data)
	}
	return &tds.FormatError{What: "packet", Detail: fmt.Sprintf("a message of type 0x%02X is not expected here", byte(m.Type))}
}

// end ends the answer to a request and reports whether the connection goes on.
func (c *conn) end(err error) bool {
	attn, goOn := c.attn.Load(), true
	if err != nil {
		if goOn = c.explain(err, attn); !goOn && c.gone.Load() && c.srv.ctx.Err() == nil {
			return false
		}
	}
	c.out.finish(err != nil)
	if attn {
		c.wr.Close()
		if c.acknowledge() != nil {
			return false
		}
		return goOn && !c.gone.Load()
	}
	if c.wr.End() != nil {
		return false
	}
	return goOn && !c.gone.Load()
}

// explain tells the client why its request ended, and reports whether the
// session can go on.
func (c *conn) explain(err error, attn bool) (goOn bool) {
	goOn = true
	var se *sqlerr.Error
	var fe *tds.FormatError
	switch {
	case errors.As(err, &fe):
		c.out.final = false
		c.out.message(protocolError(err))
		goOn = false
	case errors.As(err, &se):
		c.out.final = false
		c.out.message(se)
		goOn = se.Class < 20 && se.Number != 596
	case attn:
	case c.srv.ctx.Err() != nil:
		c.out.final = false
		c.out.message(sqlerr.New(6005, 14, 1, "The server is shutting down."))
		goOn = false
	case c.gone.Load():
		return false
	default:
		// The engine could not go on, or the answer could not be sent.
		c.srv.log.Info("a session ends", zap.Int("spid", c.sess.SPID()), zap.Error(err))
		c.out.final = false
		c.out.message(sqlerr.New(3624, 20, 1, "An internal fault ended this session: %s.", err))
		goOn = false
	}
	return goOn
}

// acknowledge tells the client that its cancel has taken place, in a message of
// its own: some clients look for nothing else.
func (c *conn) acknowledge() error {
	c.begin()
	c.wr.Buf = tds.AppendDone(c.wr.Buf, c.ver, tds.Done{Token: tds.TokenDone, Status: tds.DoneAttn})
	return c.wr.End()
}

// calls runs the procedure calls of an RPC message one after another.
func (c *conn) calls(ctx context.Context, b []byte) error {
	if err := c.rpcs.Reset(b, c.ver); err != nil {
		return err
	}
	defer c.forgetCalls()
	for {
		ok, err := c.rpcs.Next(&c.rpc)
		if err != nil || !ok {
			return err
		}
		c.out.more = c.rpcs.More()
		if err := c.call(ctx); err != nil {
			return err
		}
	}
}

// keptParams is how many parameters an idle connection keeps room for.
const keptParams = 32

// forgetCalls lets go of the message that the parameters point into.
func (c *conn) forgetCalls() {
	c.rpcs = tds.RPCReader{}
	params := c.rpc.Params[:cap(c.rpc.Params)]
	if len(params) > keptParams {
		params = nil
	}
	clear(params)
	c.rpc = tds.RPC{Params: params[:0]}
}

func (c *conn) call(ctx context.Context) error {
	call := exec.Call{
		Proc:          c.rpc.Name,
		Params:        make([]exec.Param, len(c.rpc.Params)),
		NoMetadata:    c.rpc.Options&tds.RPCNoMetadata != 0,
		WithRecompile: c.rpc.Options&tds.RPCRecompile != 0,
	}
	for i := range c.rpc.Params {
		if err := param(i+1, &c.rpc.Params[i], &call.Params[i]); err != nil {
			var se *sqlerr.Error
			if !errors.As(err, &se) {
				return err
			}
			if se.Line == 0 {
				se.Line = 1
			}
			if err := c.out.Event(&exec.Message{Err: se}); err != nil {
				return err
			}
			return c.out.Event(&exec.Done{Kind: exec.DoneProc, Error: true, Cmd: exec.CmdExecute})
		}
	}
	return c.sess.Call(ctx, &call, &c.out)
}

// transaction runs a request of the transaction manager.
func (c *conn) transaction(ctx context.Context, b []byte) error {
	t, err := tds.ParseTransaction(b, c.ver)
	if err != nil {
		return err
	}
	switch t.Request {
	case tds.TranBegin:
		return c.sess.Begin(ctx, t.Isolation, t.Name, &c.out)
	case tds.TranCommit:
		return c.sess.Commit(ctx, t.Begin, t.NextIso, t.NextName, &c.out)
	case tds.TranRollback:
		return c.sess.Rollback(ctx, t.Name, t.Begin, t.NextIso, t.NextName, &c.out)
	case tds.TranSave:
		return c.sess.Save(ctx, t.Name, &c.out)
	}
	return c.unsupported("distributed transaction")
}

func (c *conn) unsupported(construct string) error {
	e := sqlerr.Unsupported(construct).At(1)
	if err := c.out.Event(&exec.Message{Err: e}); err != nil {
		return err
	}
	return c.out.Event(&exec.Done{Error: true})
}

// bulker takes bulk loads; see exec.Session.
type bulker interface {
	BulkColumns() []exec.Column
	Bulk(ctx context.Context, next func() ([]types.Value, error), out exec.Output) error
}

// bulk hands the rows of a bulk load to the INSERT BULK that waits for them.
func (c *conn) bulk(ctx context.Context, b []byte) error {
	s, ok := c.sess.(bulker)
	if !ok || s.BulkColumns() == nil {
		return c.unsupported("bulk load without an INSERT BULK before it")
	}
	r := tds.TokenReader{Version: c.ver, Rows: true}
	d := tds.NewDecoder(b)
	var tok tds.Token
	var typ []types.Type
	var row []types.Value
	return s.Bulk(ctx, func() ([]types.Value, error) {
		for d.Len() > 0 {
			if err := r.Next(d, &tok); err != nil {
				if errors.Is(err, tds.ErrShort) {
					err = &tds.FormatError{What: "bulk load", Detail: "the message ends early", Offset: d.Offset()}
				}
				return nil, err
			}
			switch tok.ID {
			case tds.TokenColMetadata:
				typ = typ[:0]
				for i := range r.Columns {
					t, err := typeOf(&r.Columns[i].Type)
					if err != nil {
						return nil, err
					}
					typ = append(typ, t)
				}
				row = make([]types.Value, len(typ))
			case tds.TokenRow, tds.TokenNBCRow:
				for i := range typ {
					v, ok := valueOf(&r.Columns[i].Type, typ[i], r.Values[i])
					if !ok {
						return nil, badValue(i+1, r.Columns[i].Name, &r.Columns[i].Type)
					}
					row[i] = v
				}
				return row, nil
			}
		}
		return nil, nil
	}, &c.out)
}
