package exec

import (
	"errors"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/plan"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// ddl makes what carries out data definition in a database, with the hooks that
// need the expression compiler.
func (s *Session) ddl(p *program, db *catalog.Database) *catalog.DDL {
	d := &catalog.DDL{DB: db, Batch: p.src, Temp: s.temp, UserTran: s.tran.count > 0 && !s.tran.silent,
		QuotedIdentifier: s.set.quotedIdent, AnsiNulls: s.set.ansiNulls, AnsiNullDefaultOff: !s.set.ansiNullDfltOn}
	d.Value = func(e ast.ScalarExpression, t types.Type) (types.Value, error) { return s.constant(db, e, t) }
	d.Computed = func(t *catalog.Table, e ast.ScalarExpression) (types.Type, bool, error) {
		x, _, err := s.loose(db, t, e)
		return x.Type, x.Nullable, err
	}
	d.Fill = func(t *catalog.Table, c int, row []types.Value) (types.Value, error) {
		k := &t.Columns[c]
		if k.Computed == nil {
			return row[c], nil
		}
		x, fr, err := s.loose(db, t, k.Computed.Expr)
		if err != nil {
			return types.Value{}, err
		}
		if x, err = expr.Cast(x, k.Type, false); err != nil {
			return types.Value{}, err
		}
		copy(fr.Regs, row)
		return x.Eval(fr)
	}
	d.Describe = func(q *ast.SelectStatement, params []catalog.Param) ([]catalog.Column, error) {
		return s.describeQuery(db, p.src, q, params)
	}
	d.Check = func(t *catalog.Table, e ast.BooleanExpression) error {
		_, _, err := s.looseBool(db, t, e)
		return err
	}
	d.Verify = func(t *catalog.Table, constraint any) error { return s.verify(d, db, t, constraint) }
	return d
}

// looseBool is loose for conditions.
func (s *Session) looseBool(db *catalog.Database, t *catalog.Table, e ast.BooleanExpression) (expr.Pred, *expr.Frame, error) {
	p := s.newProgram(kindBatch, db)
	c := &expr.Compiler{Scope: p.scope, Env: &env{s: s, p: p, db: db}}
	if _, err := c.Scope.AddTable("", t.Schema, t.Name, sourceColumns(t)); err != nil {
		return nil, nil, err
	}
	pred, err := c.Bool(e)
	if err != nil {
		return nil, nil, err
	}
	return pred, s.looseFrame(p), nil
}

// describeQuery gives the columns of a view or an inline function.
func (s *Session) describeQuery(db *catalog.Database, src *tsql.Batch, q *ast.SelectStatement, params []catalog.Param) ([]catalog.Column, error) {
	p := s.newProgram(kindFunction, db)
	p.src = src
	for i := range params {
		if err := s.declareParam(p, &params[i]); err != nil {
			return nil, err
		}
	}
	cc, err := newCompiler(s, p, &instr{try: -1})
	if err != nil {
		return nil, err
	}
	out, err := cc.plan.Select(q)
	if err != nil {
		return nil, err
	}
	return catalogColumns(out.Columns), nil
}

func catalogColumns(list []plan.Column) []catalog.Column {
	cols := make([]catalog.Column, len(list))
	for i, k := range list {
		cols[i] = catalog.Column{Name: k.Name, Type: k.Type, Nullable: k.Nullable, Identity: k.Identity}
	}
	return cols
}

// verify checks the rows of a table against a new constraint: error 547.
func (s *Session) verify(d *catalog.DDL, db *catalog.Database, t *catalog.Table, constraint any) error {
	if t.Data == nil {
		return nil
	}
	row := make([]types.Value, len(t.Columns))
	scan := func(fn func() error) error {
		return t.Data.Scan(d.Tx, func(id storage.RowID) (bool, error) {
			t.Data.Read(id, nil, row)
			return true, fn()
		})
	}
	switch c := constraint.(type) {
	case *catalog.Check:
		pred, fr, err := s.looseBool(db, t, c.Expr)
		if err != nil {
			return err
		}
		return scan(func() error {
			copy(fr.Regs, row)
			fr.BeginStatement()
			ok, err := pred(fr)
			if err == nil && ok == expr.False {
				err = sqlerr.ConstraintConflict("ALTER TABLE", "CHECK", c.Name, db.Name(), t.FullName(), "")
			}
			return err
		})
	case *catalog.ForeignKey:
		ref, ok := db.TableByID(c.RefTable)
		if !ok || ref.Data == nil {
			return nil
		}
		x := &ref.Indexes[c.RefIndex]
		key := make([]types.Value, len(x.Columns))
		return scan(func() error {
			for i, at := range x.Columns {
				for j, rc := range c.RefColumns {
					if rc == at {
						key[i] = row[c.Columns[j]]
					}
				}
				if key[i].IsNull() {
					return nil
				}
			}
			found := false
			if err := ref.Data.Seek(d.Tx, c.RefIndex, key, func(storage.RowID) (bool, error) { found = true; return false, nil }); err != nil {
				return err
			}
			if !found {
				column := ""
				if len(c.RefColumns) == 1 {
					column = ref.Columns[c.RefColumns[0]].Name
				}
				return sqlerr.ConstraintConflict("ALTER TABLE", "FOREIGN KEY", c.Name, db.Name(), ref.FullName(), column)
			}
			return nil
		})
	}
	return nil
}

// runDDL carries out one data definition statement within the open transaction,
// or in one of its own.
func (s *Session) runDDL(p *program, db *catalog.Database, temp bool, fn func(d *catalog.DDL) error) error {
	d := s.ddl(p, db)
	defer func() {
		if temp {
			s.tempVersion++
		} else {
			s.e.changed()
		}
	}()
	if s.set.implicitTran && s.tran.count == 0 && !temp {
		if err := s.beginTran(""); err != nil {
			return err
		}
	}
	if s.tran.count > 0 {
		if s.tran.doomed {
			return &thrown{err: errDoomed(), level: levelBatch}
		}
		d.Undo, d.Tx = &s.tran.undo, s.tranTx(db.Store, storage.ReadCommitted)
		s.tran.ddl = true
		mark, sp := d.Undo.Mark(), d.Tx.Savepoint()
		d.Tx.StatementBegin()
		if err := fn(d); err != nil {
			d.Undo.RollbackTo(mark)
			d.Tx.RollbackTo(sp)
			return err
		}
		return nil
	}
	var undo catalog.Undo
	d.Undo, d.Tx = &undo, s.beginTx(db.Store, storage.ReadCommitted)
	d.Tx.StatementBegin()
	err := fn(d)
	if err == nil {
		err = d.Tx.Commit()
	} else {
		d.Tx.Rollback()
	}
	if err != nil {
		undo.RollbackTo(0)
		return err
	}
	s.e.retire(undo.Commit())
	return nil
}

// definition compiles a statement that the catalog carries out.
func (cc *compiler) definition(st ast.Statement) (*code, error) {
	if cc.p.kind == kindFunction {
		return nil, sqlerr.New(443, 16, 14, "The side-effecting statement '%s' is not allowed within a function.", construct(st))
	}
	p, use := cc.p, cc.in.use
	temp := namesTemp(st)
	return simple(func(s *Session, fr *frame) error {
		db := p.db
		if use != "" {
			var ok bool
			if db, ok = s.e.cat.Database(use); !ok {
				return errNoDatabase(use)
			}
		}
		work := func() error {
			return s.runDDL(p, db, temp, func(d *catalog.DDL) error {
				if err := d.Execute(st); err != nil {
					return err
				}
				return s.verifyModule(db, st)
			})
		}
		switch {
		case !changesLayout(st):
			return work()
		case temp:
			s.tempLayout++
			return work()
		}
		return s.changeLayout(work)
	}), nil
}

// namesTemp reports whether a table statement is about a #table only.
func namesTemp(st ast.Statement) bool {
	is := func(n *ast.SchemaObjectName) bool { return n != nil && strings.HasPrefix(ident(n.BaseIdentifier), "#") }
	switch n := st.(type) {
	case *ast.CreateTableStatement:
		return is(n.SchemaObjectName)
	case *ast.CreateIndexStatement:
		return is(n.OnName)
	case *ast.AlterTableAddTableElementStatement:
		return is(n.SchemaObjectName)
	case *ast.AlterTableDropTableElementStatement:
		return is(n.SchemaObjectName)
	case *ast.AlterTableAlterColumnStatement:
		return is(n.SchemaObjectName)
	case *ast.DropTableStatement:
		for _, o := range n.Objects {
			if !is(o) {
				return false
			}
		}
		return true
	}
	return false
}

// verifyModule compiles a procedure or function that was just made: what is
// wrong with it is said now, names that do not exist yet aside.
func (s *Session) verifyModule(db *catalog.Database, st ast.Statement) error {
	var name *ast.SchemaObjectName
	switch n := st.(type) {
	case *ast.CreateProcedureStatement:
		name = n.ProcedureReference.Name
	case *ast.CreateOrAlterProcedureStatement:
		name = n.ProcedureReference.Name
	case *ast.AlterProcedureStatement:
		name = n.ProcedureReference.Name
	case *ast.CreateFunctionStatement:
		name = n.Name
	case *ast.CreateOrAlterFunctionStatement:
		name = n.Name
	case *ast.AlterFunctionStatement:
		name = n.Name
	default:
		return nil
	}
	schema, base := ident(name.SchemaIdentifier), ident(name.BaseIdentifier)
	var err error
	if proc, ok := db.Procedure(schema, base); ok {
		_, err = s.buildProcedure(db, proc)
	} else if fn, ok := db.Function(schema, base); ok && fn.Kind != catalog.InlineFunction {
		_, err = s.function(db, fn)
		s.e.procs.Delete(fn)
	}
	if err == nil {
		return nil
	}
	var t *thrown
	if errors.As(err, &t) {
		c := *t
		c.compile, c.level = false, levelStatement
		return &c
	}
	return err
}

// selectInto compiles SELECT ... INTO: the table is made of the query's columns
// and filled with its rows, as one statement.
func (cc *compiler) selectInto(q *plan.Query) (*code, error) {
	c := &code{cmd: CmdSelectInto}
	p, db, name := cc.p, cc.db, q.Into
	if n := ident(name.DatabaseIdentifier); n != "" {
		var ok bool
		if db, ok = cc.s.e.cat.Database(n); !ok {
			return nil, errNoDatabase(n)
		}
		if cc.acc.store != nil && cc.acc.store != db.Store && foldName(n) != "tempdb" {
			return nil, sqlerr.Unsupported("a statement over the tables of two databases")
		}
	}
	cols := catalogColumns(q.Columns)
	temp := strings.HasPrefix(ident(name.BaseIdentifier), "#")
	run := q.Run
	c.run = func(s *Session, fr *frame) error {
		if s.set.rowCount > 0 {
			return sqlerr.Unsupported("SET ROWCOUNT with SELECT INTO")
		}
		var rows int64
		err := s.runDDL(p, db, temp, func(d *catalog.DDL) error {
			t, err := d.CreateAs(name, cols)
			if err != nil {
				return err
			}
			if cc.acc.base {
				iso, err := s.level(fr.prog, &c.access)
				if err != nil {
					return err
				}
				if iso != d.Tx.Isolation() {
					d.Tx.SetIsolation(iso)
				}
			}
			fr.Tx = d.Tx
			d.Tx.StatementBegin()
			rows, err = run(&fr.Frame, func(row []types.Value) error {
				for i := range cols {
					if cols[i].Identity && t.Identity != nil {
						t.Identity.Explicit(row[i].Int())
					}
				}
				_, err := t.Data.Insert(d.Tx, row)
				return err
			})
			return err
		})
		fr.Tx = nil
		if err != nil {
			return err
		}
		s.rowCount = rows
		return s.sendDone(CmdSelectInto, rows, false)
	}
	return c, nil
}
