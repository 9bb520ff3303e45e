package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// lab is a database to run statements in: the least of a session.
type lab struct {
	db       *catalog.Database
	in       *catalog.Instance
	temp     catalog.TempTables
	identity *catalog.Table // IDENTITY_INSERT
	ctx      context.Context
	random   float64
	onRand   func() // called by each RAND(): what happens in the middle of a statement
}

func newLab(t testing.TB) *lab {
	t.Helper()
	in := catalog.NewInstance(catalog.Options{})
	db, err := in.CreateDatabase("lab")
	if err != nil {
		t.Fatal(err)
	}
	return &lab{db: db, in: in, ctx: context.Background(), random: 0.5}
}

func (l *lab) Rand() float64 {
	if fn := l.onRand; fn != nil {
		l.onRand = nil
		fn()
	}
	return l.random
}

func (l *lab) Now() time.Time                       { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
func (l *lab) IdentityInsert(t *catalog.Table) bool { return t == l.identity }
func (l *lab) SystemQuery(t *catalog.Table) catalog.SystemQuery {
	return catalog.SystemQuery{Context: l.ctx, Instance: l.in, Database: l.db, Temp: &l.temp}
}

func (l *lab) Table(n *ast.SchemaObjectName) (*catalog.Table, error) {
	name, schema := n.BaseIdentifier.Value, ""
	if n.SchemaIdentifier != nil {
		schema = n.SchemaIdentifier.Value
	}
	if strings.HasPrefix(name, "#") {
		if t, ok := l.temp.Table(name); ok {
			return t, nil
		}
		return nil, sqlerr.InvalidObject(name)
	}
	if t, ok := l.db.Table(schema, name); ok {
		return t, nil
	}
	return nil, sqlerr.InvalidObject(name)
}

func (l *lab) Function([]string, []expr.Expr) (expr.Expr, bool, error) {
	return expr.Expr{}, false, nil
}
func (l *lab) Global(string) (expr.Expr, bool) { return expr.Expr{}, false }

// set is one result: its columns and rows as text, or the count of a change.
type set struct {
	cols []string
	rows []string
	n    int64
}

// script is a compiled batch, statement by statement, sharing a frame.
type script struct {
	l    *lab
	mod  *expr.Module
	c    *Compiler
	f    *expr.Frame
	sets []set
	tx   *storage.Tx
}

func (l *lab) script() *script {
	s := &script{l: l, mod: expr.NewModule()}
	s.c = &Compiler{Tables: l, Scope: expr.NewScope(s.mod), Env: l, Database: func(*catalog.Table) *catalog.Database { return l.db }}
	s.f = &expr.Frame{Session: l, Ctx: l.ctx}
	return s
}

// size grows the frame to what has been compiled so far.
func (s *script) size() {
	grow := func(v []types.Value, n int) []types.Value {
		for len(v) < n {
			v = append(v, types.Value{})
		}
		return v
	}
	s.f.Vars, s.f.Regs = grow(s.f.Vars, s.mod.NumVars()), grow(s.f.Regs, s.mod.NumRegs())
	for len(s.f.Tables) < s.mod.NumTables() {
		s.f.Tables = append(s.f.Tables, storage.NewLocal(s.mod.TableVars()[len(s.f.Tables)].Table.Def))
	}
	for len(s.f.Once) < s.mod.NumOnce() {
		s.f.Once = append(s.f.Once, expr.OnceSlot{})
	}
}

func text(v types.Value) string {
	if v.IsNull() {
		return "NULL"
	}
	return types.Format(v)
}

// statement runs one statement in a transaction of its own.
func (s *script) statement(b *tsql.Batch, st ast.Statement) error {
	if catalog.Handles(st) {
		d := &catalog.DDL{DB: s.l.db, Batch: b, Temp: &s.l.temp, QuotedIdentifier: true, AnsiNulls: true}
		d.Describe = func(q *ast.SelectStatement, _ []catalog.Param) ([]catalog.Column, error) {
			r, err := s.c.Select(q)
			if err != nil {
				return nil, err
			}
			var cols []catalog.Column
			for _, c := range r.Columns {
				cols = append(cols, catalog.Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable})
			}
			return cols, nil
		}
		d.Computed = func(t *catalog.Table, e ast.ScalarExpression) (types.Type, bool, error) {
			blk := s.c.begin()
			l, src, err := blk.tableLeaf(t, -1, t.Name, hints{})
			if err != nil {
				return types.Null, false, err
			}
			_ = l
			blk.sources = append(blk.sources, src)
			x, err := blk.ex.Scalar(e)
			return x.Type, x.Nullable, err
		}
		return d.Execute(st)
	}
	switch st := st.(type) {
	case *ast.BeginEndBlockStatement:
		for _, n := range st.StatementList.Statements {
			if err := s.statement(b, n); err != nil {
				return err
			}
		}
		return nil
	case *ast.DeclareVariableStatement:
		for _, d := range st.Declarations {
			t, err := (&expr.Compiler{Scope: s.c.Scope}).DataType(d.DataType, false)
			if err != nil {
				return err
			}
			slot, err := s.c.Scope.DeclareVar(d.VariableName.Value, t)
			if err != nil {
				return err
			}
			s.size()
			if d.Value != nil {
				x, err := s.c.Scalar(d.Value)
				if err != nil {
					return err
				}
				if x, err = expr.Cast(x, t, false); err != nil {
					return err
				}
				s.size()
				s.f.BeginStatement()
				if s.f.Vars[slot], err = x.Eval(s.f); err != nil {
					return err
				}
			}
		}
		return nil
	case *ast.DeclareTableVariableStatement:
		t, err := (&catalog.DDL{DB: s.l.db, Batch: b}).TableVariable(st.Body.VariableName.Value, st.Body.Definition)
		if err != nil {
			return err
		}
		_, err = s.c.Scope.DeclareTable(st.Body.VariableName.Value, t)
		s.size()
		return err
	}
	run, r, err := s.compile(st)
	if err != nil {
		return err
	}
	s.size()
	f := s.f
	f.BeginStatement()
	f.Ctx = s.l.ctx
	f.Tx = s.tx
	if s.tx == nil {
		f.Tx = s.l.db.Store.Begin(storage.ReadCommitted)
	}
	f.Tx.StatementBegin()
	sp := f.Tx.Savepoint()
	r.n, err = run(f, func(row []types.Value) error {
		var cells []string
		for _, v := range row {
			cells = append(cells, text(v))
		}
		r.rows = append(r.rows, strings.Join(cells, "|"))
		return nil
	})
	if s.tx == nil {
		if err != nil {
			f.Tx.Rollback()
		} else {
			err = f.Tx.Commit()
		}
		f.Tx = nil
	} else if err != nil {
		f.Tx.RollbackTo(sp)
	}
	if err == nil {
		s.sets = append(s.sets, *r)
	}
	return err
}

type runFunc func(f *expr.Frame, emit func(row []types.Value) error) (int64, error)

func (s *script) compile(st ast.Statement) (runFunc, *set, error) {
	r := &set{}
	dml := func(d *DML, err error) (runFunc, *set, error) {
		if err != nil {
			return nil, nil, err
		}
		for _, c := range d.Output {
			r.cols = append(r.cols, c.Name)
		}
		return d.Run, r, nil
	}
	switch st := st.(type) {
	case *ast.SelectStatement:
		q, err := s.c.Select(st)
		if err != nil {
			return nil, nil, err
		}
		for _, c := range q.Columns {
			r.cols = append(r.cols, c.Name)
		}
		return q.Run, r, nil
	case *ast.InsertStatement:
		return dml(s.c.Insert(st))
	case *ast.UpdateStatement:
		return dml(s.c.Update(st))
	case *ast.DeleteStatement:
		return dml(s.c.Delete(st))
	case *ast.MergeStatement:
		return dml(s.c.Merge(st))
	case *ast.TruncateTableStatement:
		return dml(s.c.Truncate(st))
	}
	return nil, nil, fmt.Errorf("the lab does not run %T", st)
}

// run runs a batch and returns the result of each statement, up to an error.
func (s *script) run(sql string) error {
	b, err := tsql.Parse(sql)
	if err != nil {
		return err
	}
	for _, st := range b.Statements {
		if err := s.statement(b, st); err != nil {
			return err
		}
	}
	return nil
}

func (l *lab) must(t testing.TB, sql string) []set {
	t.Helper()
	s := l.script()
	if err := s.run(sql); err != nil {
		t.Fatalf("%s\n%v", sql, err)
	}
	return s.sets
}

// last is the rows of the last statement of a batch, one a line.
func (l *lab) last(t testing.TB, sql string) string {
	t.Helper()
	sets := l.must(t, sql)
	if len(sets) == 0 {
		return ""
	}
	return strings.Join(sets[len(sets)-1].rows, "\n")
}

func contains(s, part string) bool { return strings.Contains(s, part) }

func lines(s string) string {
	var out []string
	for _, l := range strings.Split(strings.TrimSpace(s), "\n") {
		out = append(out, strings.TrimSpace(l))
	}
	return strings.Join(out, "\n")
}

// fails runs a batch that must end with an error of a number.
func (l *lab) fails(t testing.TB, sql string, number int32) *sqlerr.Error {
	t.Helper()
	err := l.script().run(sql)
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Number != number {
		t.Fatalf("%s\ngot %v, want error %d", sql, err, number)
	}
	return e
}
