package exec

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/plan"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

func (cc *compiler) selectStatement(n *ast.SelectStatement) (*code, error) {
	q, err := cc.plan.Select(n)
	if err != nil {
		return nil, err
	}
	c := &code{cmd: CmdSelect}
	run := q.Run
	if q.Into != nil {
		if cc.p.kind == kindFunction {
			return nil, sqlerr.New(443, 16, 14, "The side-effecting operator 'SELECT INTO' is not allowed within a function.")
		}
		return cc.selectInto(q)
	}
	if q.Assigns {
		return cc.selectAssigns(c, run), nil
	}
	if cc.p.kind == kindFunction {
		return nil, sqlerr.New(444, 16, 2, "SELECT statements within a function cannot return data to the client.")
	}
	cols := make([]Column, len(q.Columns))
	for i, k := range q.Columns {
		cols[i] = Column{Name: k.Name, Type: k.Type, Nullable: k.Nullable, Identity: k.Identity}
	}
	base := cc.acc.base
	c.query = &queryCode{columns: cols, still: cc.still(n, q)}
	c.run = func(s *Session, fr *frame) error {
		if err := s.sendColumns(cols); err != nil {
			return err
		}
		if s.set.fmtOnly {
			s.rowCount = 0
			return s.sendDoneRows(CmdSelect, 0, false)
		}
		var rows int64
		var err error
		limit := s.set.rowCount
		emit := s.emitRow
		if limit > 0 {
			left := limit
			emit = func(row []types.Value) error {
				if left == 0 {
					return expr.ErrStop
				}
				left--
				return s.sendRow(row)
			}
		}
		if base {
			err = s.inStatement(fr, c, false, func() (err error) {
				rows, err = run(&fr.Frame, emit)
				return err
			})
		} else {
			rows, err = run(&fr.Frame, emit)
		}
		if err != nil && err != expr.ErrStop {
			return err
		}
		if limit > 0 {
			rows = min(rows, limit)
		}
		s.rowCount = rows
		return s.sendDoneRows(CmdSelect, rows, false)
	}
	return c, nil
}

func (cc *compiler) selectAssigns(c *code, run func(*expr.Frame, func([]types.Value) error) (int64, error)) *code {
	base := cc.acc.base
	nothing := func([]types.Value) error { return nil }
	c.run = func(s *Session, fr *frame) error {
		if s.set.rowCount > 0 {
			return sqlerr.Unsupported("SET ROWCOUNT with a variable assignment in SELECT")
		}
		var rows int64
		var err error
		if base {
			err = s.inStatement(fr, c, false, func() (err error) {
				rows, err = run(&fr.Frame, nothing)
				return err
			})
		} else {
			rows, err = run(&fr.Frame, nothing)
		}
		if err != nil {
			return err
		}
		s.rowCount = rows
		return s.sendDone(CmdSelect, -1, false)
	}
	return c
}

// dml wraps a compiled INSERT, UPDATE, DELETE, MERGE or TRUNCATE.
func (cc *compiler) dml(d *plan.DML, err error, cmd uint16, exec bool) (*code, error) {
	if err != nil {
		return nil, err
	}
	if d.Target != nil && d.Target.System == nil && !d.Target.Temp {
		cc.acc.write = true
	}
	if cc.p.kind == kindFunction && d.Target != nil {
		return nil, sqlerr.New(443, 16, 15, "The side-effecting operator '%s' is not allowed within a function.", cmdName(cmd))
	}
	c := &code{cmd: cmd}
	run := d.Run
	var cols []Column
	for _, k := range d.Output {
		cols = append(cols, Column{Name: k.Name, Type: k.Type, Nullable: k.Nullable, Identity: k.Identity})
	}
	base := cc.acc.base
	c.run = func(s *Session, fr *frame) error {
		if s.set.fmtOnly {
			if cols != nil {
				if err := s.sendColumns(cols); err != nil {
					return err
				}
			}
			return s.sendDone(cmd, -1, false)
		}
		fr.RowLimit = s.set.rowCount
		defer func() { fr.RowLimit = 0 }()
		var out rowBuffer
		emit := discardRow
		if cols != nil {
			emit = out.add
		}
		var rows int64
		work := func() (err error) {
			out.reset()
			rows, err = run(&fr.Frame, emit)
			return err
		}
		var err error
		switch {
		case exec:
			err = s.withTran(func() error { return s.guarded(fr, c, work) })
		case base:
			err = s.inStatement(fr, c, true, work)
		default:
			err = work()
		}
		if !fr.Identity.IsNull() {
			s.identity = fr.Identity
		}
		if err != nil {
			return err
		}
		s.rowCount = rows
		if cols == nil {
			if cmd == CmdOther {
				rows = -1
			}
			return s.sendDone(cmd, rows, false)
		}
		if err := s.sendColumns(cols); err != nil {
			return err
		}
		if err := out.each(s.sendRow); err != nil {
			return err
		}
		return s.sendDoneRows(cmd, rows, false)
	}
	return c, nil
}

// guarded runs a statement that may or may not touch tables.
func (s *Session) guarded(fr *frame, c *code, work func() error) error {
	if c.access.base {
		return s.inStatement(fr, c, true, work)
	}
	return work()
}

// withTran runs fn within a transaction that the client does not see, unless
// one is open.
func (s *Session) withTran(fn func() error) error {
	if s.tran.count > 0 {
		return fn()
	}
	s.tran.count, s.tran.silent = 1, true
	err := fn()
	if s.tran.count == 0 { // rolled back within
		return err
	}
	if err != nil {
		_ = s.rollbackAll()
		return err
	}
	return s.commitTran()
}

func discardRow([]types.Value) error { return nil }

// rowBuffer keeps the rows of an OUTPUT clause until the statement has
// succeeded, and those of INSERT ... EXEC until the procedure has ended.
type rowBuffer struct{ rows [][]types.Value }

func (b *rowBuffer) reset() { b.rows = b.rows[:0] }

func (b *rowBuffer) add(row []types.Value) error {
	b.rows = append(b.rows, append([]types.Value(nil), row...))
	return nil
}

func (b *rowBuffer) each(fn func([]types.Value) error) error {
	for _, r := range b.rows {
		if err := fn(r); err != nil {
			return err
		}
	}
	return nil
}

func cmdName(cmd uint16) string {
	switch cmd {
	case CmdInsert:
		return "INSERT"
	case CmdUpdate:
		return "UPDATE"
	case CmdDelete:
		return "DELETE"
	case CmdMerge:
		return "MERGE"
	}
	return "TRUNCATE TABLE"
}

func insertsExec(n *ast.InsertStatement) bool {
	_, ok := n.InsertSpecification.InsertSource.(*ast.ExecuteInsertSource)
	return ok
}
