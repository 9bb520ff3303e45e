package exec

import (
	"strings"
	"sync/atomic"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/plan"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// argument is an argument of EXEC, compiled without regard to the procedure.
type argument struct {
	name   string // of the parameter, with @; "" by position
	value  expr.Expr
	slot   int // of the variable it is, -1 for anything else
	tslot  int // of the table variable it is, -1 for anything else
	table  *catalog.Table
	output bool
	deflt  bool // the word DEFAULT
}

// binding carries one argument to one parameter.
type binding struct {
	to    int // slot of the parameter
	from  int // slot of the caller's variable when no conversion is needed, else -1
	eval  func(f *expr.Frame) (types.Value, error)
	table int // slot of the caller's table variable, -1 = none
	// out is the caller's variable that takes the parameter's value in the
	// end, -1 = none.
	out   int
	outAs types.Type
	outAt int  // its place among the program's OUTPUT parameters
	same  bool // the value needs no conversion on its way back
}

// link is a call bound to a procedure at one version of the catalog.
type link struct {
	version  int64
	own      bool
	prog     *program
	bindings []binding
	defaults []param // those that no argument gives
}

// execute compiles EXEC.
func (cc *compiler) execute(x *ast.ExecuteSpecification) (*code, error) {
	run, err := cc.call(x)
	if err != nil {
		return nil, err
	}
	return &code{cmd: CmdExecute, keepError: true, run: run}, nil
}

func (cc *compiler) call(x *ast.ExecuteSpecification) (func(s *Session, fr *frame) error, error) {
	if x.LinkedServer != nil {
		return nil, sqlerr.New(7202, 11, 2, "Server '%s' is not known: the embedded engine has no linked servers.", x.LinkedServer.Value)
	}
	if x.ExecuteContext != nil {
		return nil, sqlerr.Unsupported("EXECUTE ... AS USER")
	}
	switch e := x.ExecutableEntity.(type) {
	case *ast.ExecutableStringList:
		return cc.executeString(e)
	case *ast.ExecutableProcedureReference:
		if e.AdHocDataSource != nil {
			return nil, sqlerr.Unsupported("OPENDATASOURCE")
		}
		return cc.executeProcedure(x, e)
	}
	return nil, sqlerr.Unsupported("this form of EXECUTE")
}

func (cc *compiler) executeString(e *ast.ExecutableStringList) (func(s *Session, fr *frame) error, error) {
	if cc.p.atomic != nil {
		return nil, sqlerr.New(10794, 16, 1, "The statement 'EXECUTE (string)' is not supported with natively compiled modules.")
	}
	if len(e.Parameters) > 0 {
		return nil, sqlerr.Unsupported("EXECUTE (string) with parameters")
	}
	var parts []expr.Expr
	for _, p := range e.Strings {
		v, err := cc.scalarAs(p, types.NVarChar(types.Max))
		if err != nil {
			return nil, err
		}
		parts = append(parts, v)
	}
	return func(s *Session, fr *frame) error {
		var b strings.Builder
		for _, p := range parts {
			v, err := p.Eval(&fr.Frame)
			if err != nil {
				return err
			}
			if !v.IsNull() {
				b.WriteString(v.Str())
			}
		}
		return s.endCall(fr, s.dynamic(fr, b.String()), false, 0)
	}, nil
}

// dynamic runs the text of EXEC('...').
func (s *Session) dynamic(fr *frame, text string) error {
	if err := s.checkNesting(fr); err != nil {
		return err
	}
	p, err := s.text(text, "", kindDynamic)
	if err != nil {
		return s.outOfScope(fr, err)
	}
	callee := s.push(p)
	return s.activate(fr, callee, p)
}

func (s *Session) checkNesting(fr *frame) error {
	if fr != nil && fr.depth >= maxNesting {
		return sqlerr.New(217, 16, 1, "The nesting of stored procedures, functions, triggers or views goes beyond the limit of %d.", maxNesting)
	}
	return nil
}

// outOfScope makes an error of compiling a module one of the statement that
// called it: a TRY block around that statement catches it.
func (s *Session) outOfScope(fr *frame, err error) error {
	t, ok := asThrown(err)
	if !ok {
		return err
	}
	c := *t
	c.compile, c.level = false, levelStatement
	if !c.located && c.err.Line <= 0 {
		e := *c.err
		e.Line = 1
		c.err = &e
	}
	c.located = true
	return &c
}

func (cc *compiler) executeProcedure(x *ast.ExecuteSpecification, e *ast.ExecutableProcedureReference) (func(s *Session, fr *frame) error, error) {
	rcSlot := -1
	var rcType types.Type
	if x.Variable != nil {
		slot, t, ok := cc.plan.Scope.LookupVar(x.Variable.Name)
		if !ok {
			return nil, sqlerr.UndeclaredVariable(x.Variable.Name)
		}
		rcSlot, rcType = slot, t
	}
	args, err := cc.arguments(e.Parameters)
	if err != nil {
		return nil, err
	}
	ref := e.ProcedureReference
	if ref.ProcedureVariable != nil {
		v, err := cc.scalarAs(&ast.VariableReference{Name: ref.ProcedureVariable.Name}, types.NVarChar(types.Max))
		if err != nil {
			return nil, err
		}
		return func(s *Session, fr *frame) error {
			n, err := v.Eval(&fr.Frame)
			if err != nil {
				return err
			}
			name, err := parseName(n.Str())
			if err != nil {
				return err
			}
			var l link
			return s.execProcedure(fr, cc, name, args, &l, rcSlot, rcType)
		}, nil
	}
	if ref.ProcedureReference.Number != nil && ref.ProcedureReference.Number.Value != "1" {
		return nil, sqlerr.Unsupported("numbered procedures")
	}
	name := ref.ProcedureReference.Name
	var cached atomic.Pointer[link]
	return func(s *Session, fr *frame) error {
		if l := cached.Load(); l != nil && l.version == s.e.version.Load() {
			return s.execProcedure(fr, cc, name, args, l, rcSlot, rcType)
		}
		l := new(link)
		err := s.execProcedure(fr, cc, name, args, l, rcSlot, rcType)
		if l.prog != nil && !l.own {
			cached.Store(l)
		}
		return err
	}, nil
}

func (cc *compiler) arguments(list []*ast.ExecuteParameter) ([]argument, error) {
	var args []argument
	named := false
	for i, p := range list {
		a := argument{slot: -1, tslot: -1, output: p.IsOutput}
		if p.Variable != nil {
			a.name, named = p.Variable.Name, true
		} else if named {
			return nil, sqlerr.New(119, 15, 1, "Parameter number %d and those after it must be given as '@name = value': once a parameter is given so, all that follow must be.", i+1)
		}
		switch v := p.ParameterValue.(type) {
		case *ast.DefaultLiteral:
			a.deflt = true
		case *ast.VariableReference:
			if slot, t, ok := cc.plan.Scope.LookupVar(v.Name); ok {
				a.slot = slot
				a.value = expr.Expr{Type: t, Nullable: true, Eval: func(f *expr.Frame) (types.Value, error) { return f.Vars[slot], nil }}
			} else if slot, t, ok := cc.plan.Scope.LookupTable(v.Name); ok {
				a.tslot, a.table = slot, t
			} else {
				return nil, sqlerr.UndeclaredVariable(v.Name)
			}
		case *ast.IdentifierLiteral:
			a.value = expr.Constant(types.NVarChar(max(len(v.Value), 1)), types.NewString(types.KindNVarChar, v.Value))
		case *ast.ColumnReferenceExpression:
			text := columnText(v)
			a.value = expr.Constant(types.NVarChar(max(len(text), 1)), types.NewString(types.KindNVarChar, text))
		default:
			x, err := cc.scalar(p.ParameterValue)
			if err != nil {
				return nil, err
			}
			a.value = x
		}
		if a.output && a.slot < 0 {
			return nil, sqlerr.New(179, 15, 1, "The OUTPUT option cannot be used when a constant is passed to a stored procedure.")
		}
		args = append(args, a)
	}
	return args, nil
}

func columnText(c *ast.ColumnReferenceExpression) string {
	if c.MultiPartIdentifier == nil {
		return ""
	}
	var parts []string
	for _, i := range c.MultiPartIdentifier.Identifiers {
		parts = append(parts, i.Value)
	}
	return strings.Join(parts, ".")
}

// execProcedure calls the procedure of that name. l is filled in when it is not
// bound yet.
func (s *Session) execProcedure(fr *frame, cc *compiler, name *ast.SchemaObjectName, args []argument, l *link, rcSlot int, rcType types.Type) error {
	if l.prog == nil {
		db, proc, sys, err := s.findProcedure(cc.db, cc.p, name)
		if err != nil {
			return err
		}
		if sys != nil {
			if cc.p.atomic != nil {
				return sqlerr.New(10794, 16, 1, "EXECUTE of a procedure that is not natively compiled is not supported with natively compiled modules.")
			}
			return s.execSystem(fr, sys, args, rcSlot, rcType)
		}
		p, err := s.procedure(db, proc)
		if err != nil {
			return s.outOfScope(fr, err)
		}
		if cc.p.atomic != nil && p.atomic == nil {
			return sqlerr.New(10794, 16, 1, "EXECUTE of a procedure that is not natively compiled is not supported with natively compiled modules.")
		}
		if err := l.bind(p, args); err != nil {
			return err
		}
	}
	if err := s.checkNesting(fr); err != nil {
		return err
	}
	p := l.prog
	callee := s.push(p)
	for i := range l.bindings {
		b := &l.bindings[i]
		switch {
		case b.table >= 0:
			callee.Tables[b.to] = fr.Tables[b.table]
		case b.from >= 0:
			callee.Vars[b.to] = fr.Vars[b.from]
		default:
			v, err := b.eval(&fr.Frame)
			if err != nil {
				s.pop()
				return err
			}
			callee.Vars[b.to] = v
		}
	}
	for i := range l.defaults {
		callee.Vars[l.defaults[i].slot] = l.defaults[i].def
	}
	err := s.activate(fr, callee, p)
	if err == nil {
		for i := range l.bindings {
			b := &l.bindings[i]
			if b.out < 0 {
				continue
			}
			v := s.outs[b.outAt]
			if !b.same {
				if v, err = types.Assign(v, b.outAs); err != nil {
					return err
				}
			}
			fr.Vars[b.out] = v
		}
		if rcSlot >= 0 {
			v, err := types.Assign(types.NewInt(types.KindInt, int64(s.rc)), rcType)
			if err != nil {
				return err
			}
			fr.Vars[rcSlot] = v
		}
	}
	return s.endCall(fr, err, true, s.rc)
}

// findProcedure looks a procedure up: a system procedure, or one of the
// database. Error 2812.
func (s *Session) findProcedure(db *catalog.Database, p *program, n *ast.SchemaObjectName) (*catalog.Database, *catalog.Procedure, *systemProc, error) {
	if ident(n.ServerIdentifier) != "" {
		return nil, nil, nil, sqlerr.New(7202, 11, 2, "Server '%s' is not known: the embedded engine has no linked servers.", ident(n.ServerIdentifier))
	}
	base, schema := ident(n.BaseIdentifier), ident(n.SchemaIdentifier)
	if name := ident(n.DatabaseIdentifier); name != "" {
		var ok bool
		if db, ok = s.e.cat.Database(name); !ok {
			return nil, nil, nil, sqlerr.MissingProcedure(nameText(n))
		}
	}
	if schema == "" || strings.EqualFold(schema, "sys") || strings.EqualFold(schema, "dbo") {
		if sys, ok := systemProcs[foldName(base)]; ok {
			sys.name = foldName(base)
			return nil, nil, &sys, nil
		}
	}
	if schema == "" && p != nil && p.proc != nil && p.db == db {
		if proc, ok := db.Procedure(p.proc.Schema, base); ok {
			return db, proc, nil, nil
		}
	}
	if proc, ok := db.Procedure(schema, base); ok {
		return db, proc, nil, nil
	}
	if strings.HasPrefix(foldName(base), "sp_") {
		if master, ok := s.e.cat.DatabaseByID(catalog.MasterID); ok && master != db {
			if proc, ok := master.Procedure("dbo", base); ok {
				return db, proc, nil, nil
			}
		}
	}
	if db.Dropped() {
		return nil, nil, nil, errNoDatabase(db.Name())
	}
	return nil, nil, nil, sqlerr.MissingProcedure(nameText(n))
}

// insertExec compiles the source of INSERT ... EXEC: the rows are collected
// until the procedure has ended.
func (cc *compiler) insertExec(x *ast.ExecuteSpecification) (plan.Rows, error) {
	run, err := cc.call(x)
	if err != nil {
		return nil, err
	}
	return func(f *expr.Frame, emit func(row []types.Value) error) error {
		s := f.Session.(*Session)
		fr := s.top()
		if s.capture != nil {
			return sqlerr.New(8164, 16, 1, "An INSERT EXEC statement cannot be nested.")
		}
		var got capture
		s.capture = &got
		tx := fr.Tx
		err := run(s, fr)
		fr.Tx = tx
		s.capture = nil
		if err != nil {
			return err
		}
		if tx != nil {
			tx.StatementBegin()
		}
		return got.buf.each(emit)
	}, nil
}

// capture takes the result sets of INSERT ... EXEC instead of the client.
// With keep set it takes the one result set of a server cursor.
type capture struct {
	buf    rowBuffer
	cols   int
	sets   int
	names  []Column
	keep   func(row []types.Value) error // asked before a row is kept
	cursor bool
}

func (c *capture) columns(cols []Column) error {
	c.sets++
	if c.cursor {
		if c.sets > 1 {
			return errNoCursor()
		}
		c.names = cols
		return nil
	}
	if c.cols > 0 && len(cols) != c.cols {
		return sqlerr.ColumnCount()
	}
	c.cols = len(cols)
	return nil
}

func (c *capture) row(v []types.Value) error {
	if c.keep != nil {
		if err := c.keep(v); err != nil {
			return err
		}
	}
	return c.buf.add(v)
}
