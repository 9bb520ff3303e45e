package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
)

// Batch runs the text of one batch. T-SQL errors go to out as Messages; the
// error returned is out's own, that of a cancelled ctx (attention: the request
// is undone as far as SQL Server undoes it), or an *sqlerr.Error of class 20 and
// up (596 after KILL) when the session must end.
func (s *Session) Batch(ctx context.Context, text string, out Output) error {
	return s.request(ctx, text, out, false, func() error {
		if s.set.parseOnly {
			return s.parseOnly(text)
		}
		p, err := s.text(text, "", kindBatch)
		if err != nil {
			return s.compileFailed(err)
		}
		fr := s.push(p)
		fr.makeTables()
		err = s.run(fr)
		if !fr.Identity.IsNull() {
			s.identity = fr.Identity
		}
		s.pop()
		return err
	})
}

// compileFailed tells of the errors that keep a batch from running at all.
func (s *Session) compileFailed(err error) error {
	t, ok := asThrown(err)
	if !ok {
		return err
	}
	if !t.sent {
		if !t.located && t.err.Line <= 0 {
			c := *t.err
			c.Line = 1
			t.err = &c
		}
		s.lastError = t.err.Number
		if err := s.sendMessage(t.err); err != nil {
			return err
		}
		for _, e := range t.also {
			if err := s.sendMessage(e); err != nil {
				return err
			}
		}
		t.sent = true
		if s.set.xactAbort && s.tran.count > 0 {
			if err := s.rollbackAll(); err != nil {
				return err
			}
		}
	}
	return t
}

// request wraps what all requests have in common: cancellation, the end of a
// doomed transaction, the last token.
func (s *Session) request(ctx context.Context, text string, out Output, rpc bool, work func() error) (err error) {
	if s.isKilled() {
		return errKilled()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.live.begin(text, s.e.opts.Now(), cancel, s)
	defer func() {
		s.live.end(s.e.opts.Now(), s)
		s.e.sweep()
	}()
	s.ctx, s.done = ctx, ctx.Done()
	s.em.start(out)
	s.rpc, s.hadError, s.tries, s.capture = rpc, false, 0, nil
	s.frames, s.caught, s.atomicDepth = s.frames[:0], s.caught[:0], 0
	if s.tran.count > 0 {
		s.tran.each(func(tx *storage.Tx) { tx.SetContext(ctx) })
	}
	defer func() {
		if r := recover(); r != nil {
			err = s.crashed(r)
		}
		s.ctx, s.done = context.Background(), nil
	}()
	err = work()
	return s.finish(err)
}

// finish ends a request after its work.
func (s *Session) finish(err error) error {
	failed := false
	if err != nil {
		t, ok := asThrown(err)
		if !ok {
			return s.aborted(err)
		}
		if !t.sent {
			if err := s.sendMessage(t.err); err != nil {
				return s.aborted(err)
			}
		}
		if t.level == levelFatal {
			_ = s.em.finish(Done{Cmd: CmdOther, Error: true})
			s.abandon()
			return t.err
		}
		failed = true
	}
	if s.tran.doomed && s.tran.count > 0 {
		if err := s.sendMessage(&sqlerr.Error{Number: 3998, Class: 16, State: 1, Line: 1,
			Text: "An uncommittable transaction was found at the end of the batch. It is rolled back."}); err != nil {
			return s.aborted(err)
		}
		if err := s.rollbackAll(); err != nil {
			return s.aborted(err)
		}
		failed = true
	}
	kind := DoneStatement
	if s.rpc {
		kind = DoneProc
	}
	if s.rpc || !s.em.have {
		if s.em.have || s.rpc {
			if err := s.em.done(Done{Kind: kind, Cmd: CmdExecute, Error: failed, InTran: s.tran.count > 0}); err != nil {
				return s.aborted(err)
			}
		}
	} else if failed {
		s.em.held.Error = true
	}
	if s.em.have {
		s.em.held.InTran = s.tran.count > 0
	}
	if err := s.em.finish(Done{Kind: kind, Cmd: CmdOther, Error: failed, InTran: s.tran.count > 0}); err != nil {
		return s.aborted(err)
	}
	return nil
}

// parseOnly checks the syntax of a batch, which is all that SET PARSEONLY ON
// asks for, and carries out the SET PARSEONLY OFF that ends it.
func (s *Session) parseOnly(text string) error {
	b, err := s.parse(text)
	if err != nil {
		return s.compileFailed(compileError(err))
	}
	for _, st := range b.Statements {
		if n, ok := st.(*ast.PredicateSetStatement); ok && !n.IsOn && strings.EqualFold(n.Options, "ParseOnly") {
			s.set.parseOnly = false
		}
	}
	return nil
}

// aborted ends a request that was cancelled or whose output broke.
func (s *Session) aborted(err error) error {
	s.frames, s.caught, s.capture = s.popAll(), s.caught[:0], nil
	if s.isKilled() {
		s.abandon()
		return errKilled()
	}
	var out *outputError
	if errors.As(err, &out) {
		s.abandon()
		return out.err
	}
	if s.tran.count > 0 && (s.set.xactAbort || s.tran.silent || s.tran.doomed) {
		_ = s.rollbackAll()
	}
	s.em.have = false
	return err
}

// abandon rolls back everything: the session is about to end.
func (s *Session) abandon() {
	s.em.start(discard{})
	if s.tran.count > 0 {
		_ = s.rollbackAll()
	}
}

// popAll ends the activations that an abort left behind.
func (s *Session) popAll() []*frame {
	for len(s.frames) > 0 {
		if s.top().prog.own && len(s.frames) > 1 {
			s.temp.Leave()
			s.tempVersion++
		}
		s.pop()
	}
	return s.frames
}

// crashed turns a fault of the engine itself into the end of the session.
func (s *Session) crashed(r any) error {
	e := &sqlerr.Error{Number: 3624, Class: 20, State: 1, Line: 1, Server: s.e.opts.ServerName,
		Text: fmt.Sprintf("An internal check of the embedded engine failed: %v. The session ends.", r)}
	if s.e.opts.OnCrash != nil {
		s.e.opts.OnCrash(r, debug.Stack())
	}
	for _, tx := range s.autos {
		tx.Rollback()
	}
	s.autos = nil
	s.abandon()
	return e
}
