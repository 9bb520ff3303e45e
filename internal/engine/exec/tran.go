package exec

import (
	"errors"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
)

// tran is a session's transaction.
type tran struct {
	count  int // @@TRANCOUNT
	id     uint64
	name   string
	doomed bool
	silent bool // began for one statement or procedure: the client is not told
	// tx is the transaction in the first database it touched, parts those in others.
	tx    *storage.Tx
	store *storage.Store
	parts []tranPart
	saves []save
	undo  catalog.Undo
	ddl   bool // changed the catalog
}

type tranPart struct {
	store *storage.Store
	tx    *storage.Tx
}

// save is a savepoint.
type save struct {
	name  string
	parts []savePart
	undo  int
}

type savePart struct {
	tx *storage.Tx
	at storage.Savepoint
}

// doom leaves nothing but ROLLBACK.
func (t *tran) doom() { t.doomed = true }

// each calls fn with the transactions of all databases.
func (t *tran) each(fn func(tx *storage.Tx)) {
	if t.tx != nil {
		fn(t.tx)
	}
	for _, p := range t.parts {
		fn(p.tx)
	}
}

func (t *tran) mark(name string) save {
	sv := save{name: name, undo: t.undo.Mark()}
	t.each(func(tx *storage.Tx) { sv.parts = append(sv.parts, savePart{tx, tx.Savepoint()}) })
	return sv
}

// beginTx starts a storage transaction with the session's settings.
func (s *Session) beginTx(store *storage.Store, iso storage.Isolation) *storage.Tx {
	tx := store.Begin(iso)
	tx.SetSession(s.SPID())
	tx.SetContext(s.ctx)
	if s.set.lockTimeout >= 0 {
		tx.SetLockTimeout(int(s.set.lockTimeout))
	}
	if s.set.deadlockPriority != 0 {
		tx.SetDeadlockPriority(int(s.set.deadlockPriority))
	}
	return tx
}

// tranTx is the open transaction's part in a database.
func (s *Session) tranTx(store *storage.Store, iso storage.Isolation) *storage.Tx {
	t := &s.tran
	if t.store == store {
		return t.tx
	}
	for _, p := range t.parts {
		if p.store == store {
			return p.tx
		}
	}
	tx := s.beginTx(store, iso)
	if t.tx == nil {
		t.tx, t.store = tx, store
	} else {
		t.parts = append(t.parts, tranPart{store, tx})
	}
	return tx
}

// beginTran is BEGIN TRANSACTION.
func (s *Session) beginTran(name string) error {
	if s.tran.count == 0 {
		s.tran = tran{id: s.e.trans.Add(1), name: name, saves: s.tran.saves[:0], parts: s.tran.parts[:0]}
		s.tran.count = 1
		s.live.tran(true)
		return s.sendEnv(EnvBeginTran, "", "", s.tran.id)
	}
	s.tran.count++
	return nil
}

// commitTran is COMMIT.
func (s *Session) commitTran() error {
	t := &s.tran
	if t.count == 0 {
		return sqlerr.New(3902, 16, 1, "COMMIT TRANSACTION has no BEGIN TRANSACTION that goes with it.")
	}
	if t.doomed {
		return errDoomed()
	}
	if t.count > 1 {
		t.count--
		return nil
	}
	var failed error
	t.each(func(tx *storage.Tx) {
		if failed != nil {
			tx.Rollback()
			return
		}
		failed = tx.Commit()
	})
	if failed != nil {
		if t.ddl {
			s.undo(func() { t.undo.RollbackTo(0) })
		}
		if err := s.endTran(EnvRollbackTran); err != nil {
			return err
		}
		return failed
	}
	s.e.retire(t.undo.Commit())
	return s.endTran(EnvCommitTran)
}

// endTran forgets the transaction, which has been committed or rolled back.
func (s *Session) endTran(kind EnvKind) error {
	s.openGate()
	id, silent := s.tran.id, s.tran.silent
	clear(s.tran.parts)
	s.tran = tran{saves: s.tran.saves[:0], parts: s.tran.parts[:0]}
	if s.hasTranLocks {
		s.hasTranLocks = false
		s.e.locks.releaseAll(lockOwner{s, true})
	}
	if silent {
		return nil
	}
	s.live.tran(false)
	s.closeCursors(kind == EnvRollbackTran)
	return s.sendEnv(kind, "", "", id)
}

// rollbackAll is ROLLBACK without a name.
func (s *Session) rollbackAll() error {
	t := &s.tran
	t.each(func(tx *storage.Tx) { tx.Rollback() })
	if t.ddl {
		s.undo(func() { t.undo.RollbackTo(0) })
		s.tempVersion++
	}
	return s.endTran(EnvRollbackTran)
}

// rollbackTran is ROLLBACK [name].
func (s *Session) rollbackTran(name string) error {
	t := &s.tran
	if t.count == 0 {
		return sqlerr.New(3903, 16, 1, "ROLLBACK TRANSACTION has no BEGIN TRANSACTION that goes with it.")
	}
	if name == "" {
		return s.rollbackAll()
	}
	for i := len(t.saves) - 1; i >= 0; i-- {
		if catalog.EqualName(t.saves[i].name, name) {
			if t.doomed {
				return sqlerr.New(3931, 16, 1, "The current transaction cannot be committed and cannot be rolled back to a savepoint. Roll back the whole transaction.")
			}
			s.rollbackTo(t.saves[i])
			t.saves = t.saves[:i+1]
			return nil
		}
	}
	if catalog.EqualName(t.name, name) && t.name != "" {
		return s.rollbackAll()
	}
	return sqlerr.New(6401, 16, 1, "Cannot roll back %s. There is no transaction or savepoint of that name.", name)
}

// rollbackTo undoes what was done since a mark.
func (s *Session) rollbackTo(sv save) {
	t := &s.tran
	t.each(func(tx *storage.Tx) {
		for _, p := range sv.parts {
			if p.tx == tx {
				tx.RollbackTo(p.at)
				return
			}
		}
		// Its part began after the mark: everything goes.
		tx.RollbackTo(storage.Savepoint{})
	})
	if t.undo.Mark() > sv.undo {
		s.undo(func() { t.undo.RollbackTo(sv.undo) })
		s.tempVersion++
	}
}

// saveTran is SAVE TRANSACTION.
func (s *Session) saveTran(name string) error {
	if s.tran.count == 0 {
		return sqlerr.New(628, 16, 0, "SAVE TRANSACTION needs an open transaction.")
	}
	if s.tran.doomed {
		return errDoomed()
	}
	s.tran.saves = append(s.tran.saves, s.tran.mark(name))
	return nil
}

func errDoomed() *sqlerr.Error {
	return sqlerr.New(3930, 16, 1, "The current transaction cannot be committed and cannot support operations that write to the log. Roll back the transaction.")
}

// access says which tables a statement touches.
type access struct {
	base     bool // tables whose rows transactions guard
	disk     bool
	memory   bool
	unhinted bool // a memory-optimized one without an isolation hint
	system   bool
	write    bool
	store    *storage.Store
	db       *catalog.Database
}

// level picks the isolation level of a statement's reads and refuses what the
// session's level does not allow.
func (s *Session) level(p *program, a *access) (storage.Isolation, error) {
	if p.atomic != nil {
		return p.atomic.iso, nil
	}
	iso := s.set.isolation
	explicit := s.tran.count > 0 && !s.tran.silent
	if a.memory {
		opts := a.db.Options()
		switch iso {
		case isoReadUncommitted, isoReadCommitted:
			if a.unhinted && !opts.ElevateToSnapshot {
				if explicit {
					return 0, sqlerr.New(41368, 16, 0, "Accessing memory-optimized tables at the READ COMMITTED isolation level is supported only for autocommit transactions, not for explicit or implicit ones. Give the table an isolation level that is supported with a table hint, such as WITH (SNAPSHOT).")
				}
				if a.disk && opts.ReadCommittedSnapshot {
					return 0, sqlerr.New(41359, 16, 0, "A query that accesses memory-optimized tables at the READ COMMITTED isolation level cannot access disk-based tables when the database option READ_COMMITTED_SNAPSHOT is ON. Give the memory-optimized table an isolation level with a table hint, such as WITH (SNAPSHOT).")
				}
			}
			if explicit && !a.disk {
				return storage.Snapshot, nil
			}
			return storage.ReadCommitted, nil
		case isoSnapshot:
			return 0, sqlerr.New(41332, 16, 0, "Memory-optimized tables and natively compiled modules cannot be accessed or made when the session's TRANSACTION ISOLATION LEVEL is SNAPSHOT.")
		default:
			if a.unhinted {
				return 0, sqlerr.New(41333, 16, 0, "At the isolation level %s memory-optimized tables must be accessed at SNAPSHOT with a table hint.", iso)
			}
			if !a.disk {
				return storage.Snapshot, nil
			}
		}
	}
	if a.disk {
		switch iso {
		case isoRepeatableRead, isoSerializable:
			return 0, sqlerr.Unsupported("TRANSACTION ISOLATION LEVEL " + iso.String() + " over disk-based tables")
		case isoSnapshot:
			if !a.db.Options().SnapshotIsolation {
				return 0, sqlerr.New(3952, 16, 1, "Snapshot isolation transaction failed to access database '%s' because snapshot isolation is not allowed in this database. Allow it with ALTER DATABASE.", a.db.Name())
			}
		}
	}
	return iso.storage(), nil
}

// inStatement runs a statement that touches tables within the open transaction,
// or in one of its own. When it fails, what it did is undone.
func (s *Session) inStatement(fr *frame, c *code, write bool, fn func() error) error {
	if fr.fixed != nil && c.access.store != nil {
		fr.Tx = fr.fixed
		return fn()
	}
	iso, err := s.level(fr.prog, &c.access)
	if err != nil {
		return err
	}
	if s.set.implicitTran && s.tran.count == 0 && (c.access.disk || c.access.memory) {
		if err := s.beginTran(""); err != nil {
			return err
		}
	}
	if s.tran.count == 0 {
		return s.autocommit(fr, c, iso, fn)
	}
	if write && s.tran.doomed {
		return &thrown{err: errDoomed(), level: levelBatch}
	}
	tx := s.tranTx(c.access.store, iso)
	if tx.Isolation() != iso {
		tx.SetIsolation(iso)
	}
	fr.Tx = tx
	if !write || (fr.prog.atomic != nil && !fr.prog.hasTry) {
		tx.StatementBegin()
		return s.noteDoom(fn())
	}
	sp := tx.Savepoint()
	tx.StatementBegin()
	err = fn()
	for errors.Is(err, storage.ErrChanged) {
		tx.RollbackTo(sp)
		tx.StatementBegin()
		err = fn()
	}
	if err != nil && !errors.Is(err, expr.ErrStop) {
		if n := sqlerr.Number(err); n == 1205 {
			// The victim gives everything back at once, so that the other goes on.
			tx.Rollback()
			s.tran.tx, s.tran.store = nil, nil
			s.tran.doom()
			return err
		}
		tx.RollbackTo(sp)
		return s.noteDoom(err)
	}
	return nil
}

// noteDoom marks the transaction after an error that it cannot survive.
func (s *Session) noteDoom(err error) error {
	if err != nil && dooms(sqlerr.Number(err)) {
		s.tran.doom()
	}
	return err
}

// autocommit runs a statement in a transaction of its own.
func (s *Session) autocommit(fr *frame, c *code, iso storage.Isolation, fn func() error) error {
	tx := s.beginTx(c.access.store, iso)
	fr.Tx = tx
	s.autos = append(s.autos, tx)
	sp := tx.Savepoint()
	tx.StatementBegin()
	err := fn()
	for errors.Is(err, storage.ErrChanged) {
		tx.RollbackTo(sp)
		tx.StatementBegin()
		err = fn()
	}
	s.autos = s.autos[:len(s.autos)-1]
	fr.Tx = nil
	if err != nil && !errors.Is(err, expr.ErrStop) {
		tx.Rollback()
		return err
	}
	return tx.Commit()
}

// atomicBlock is what BEGIN ATOMIC of a natively compiled procedure says.
type atomicBlock struct {
	iso     storage.Isolation
	delayed bool
}

// atomicState is what is needed to end an atomic block.
type atomicState struct {
	own bool // a transaction of its own
	at  storage.Savepoint
	tx  *storage.Tx
	iso storage.Isolation
}

// enterAtomic begins the block: in a transaction of its own, or at a savepoint
// of the open one.
func (s *Session) enterAtomic(p *program) (atomicState, error) {
	if s.tran.count == 0 {
		s.tran.count, s.tran.silent = 1, true
		s.tran.store = p.db.Store
		s.tran.tx = s.beginTx(p.db.Store, p.atomic.iso)
		s.atomicDepth++
		return atomicState{own: true}, nil
	}
	if s.tran.doomed {
		return atomicState{}, &thrown{err: errDoomed(), level: levelBatch}
	}
	if s.set.isolation == isoSnapshot && s.atomicDepth == 0 {
		return atomicState{}, sqlerr.New(41332, 16, 0, "Memory-optimized tables and natively compiled modules cannot be accessed or made when the session's TRANSACTION ISOLATION LEVEL is SNAPSHOT.")
	}
	tx := s.tranTx(p.db.Store, p.atomic.iso)
	st := atomicState{tx: tx, at: tx.Savepoint(), iso: tx.Isolation()}
	tx.SetIsolation(p.atomic.iso)
	s.atomicDepth++
	return st, nil
}

// leaveAtomic ends the block: everything it did stays, or nothing.
func (s *Session) leaveAtomic(st atomicState, err error) error {
	s.atomicDepth--
	if st.own {
		tx := s.tran.tx
		s.tran.tx, s.tran.store, s.tran.count, s.tran.silent, s.tran.doomed = nil, nil, 0, false, false
		if err != nil {
			tx.Rollback()
			return err
		}
		return tx.Commit()
	}
	if s.tran.tx == nil { // a deadlock rolled it back
		return err
	}
	if err != nil {
		st.tx.RollbackTo(st.at)
		err = s.noteDoom(err)
	}
	st.tx.SetIsolation(st.iso)
	return err
}

// startsTran reports the statements that begin a transaction when none is open
// and SET IMPLICIT_TRANSACTIONS is ON, as Microsoft lists them. BEGIN TRANSACTION
// is one of them: it then opens two. A SELECT is one when it reads a table.
func startsTran(st ast.Statement, a *access) bool {
	switch n := st.(type) {
	case *ast.SelectStatement:
		return a.base || a.system || n.Into != nil || reads(n.QueryExpression)
	case *ast.InsertStatement, *ast.UpdateStatement, *ast.DeleteStatement, *ast.MergeStatement, *ast.TruncateTableStatement,
		*ast.BeginTransactionStatement, *ast.OpenCursorStatement, *ast.FetchCursorStatement,
		*ast.CreateDatabaseStatement, *ast.DropDatabaseStatement, *ast.AlterTableAddTableElementStatement:
		return true
	}
	if !catalog.Handles(st) {
		return false
	}
	what := construct(st)
	return strings.HasPrefix(what, "CREATE ") || strings.HasPrefix(what, "DROP ") || strings.HasPrefix(what, "ALTER TABLE")
}

// reads reports whether a query has a FROM clause.
func reads(q ast.QueryExpression) bool {
	switch q := q.(type) {
	case *ast.QuerySpecification:
		return q.FromClause != nil
	case *ast.QueryParenthesisExpression:
		return reads(q.QueryExpression)
	case *ast.BinaryQueryExpression:
		return reads(q.FirstQueryExpression) || reads(q.SecondQueryExpression)
	}
	return false
}
