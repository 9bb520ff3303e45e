package exec

import (
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/plan"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// compiler compiles one statement of a program for a session.
type compiler struct {
	s    *Session
	p    *program
	in   *instr
	db   *catalog.Database
	plan *plan.Compiler
	acc  access
	// depth is how deep inline functions nest within each other.
	depth int
	// hints are the tables that the statement gives an isolation hint, by
	// folded name.
	hints map[string]bool
}

// compile compiles an instruction and keeps the code with it.
func (s *Session) compile(p *program, in *instr) (*code, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	version := p.current(s)
	if c := in.code.Load(); c != nil && c.version == version {
		return c, nil
	}
	cc, err := newCompiler(s, p, in)
	if err != nil {
		return nil, err
	}
	c, err := cc.instruction()
	if err != nil {
		return nil, err
	}
	c.version, c.regs, c.once, c.access = version, p.mod.NumRegs(), p.mod.NumOnce(), cc.acc
	c.implicit = p.kind != kindFunction && in.op == opRun && in.decl == nil && startsTran(in.stmt, &cc.acc)
	in.code.Store(c)
	return c, nil
}

func newCompiler(s *Session, p *program, in *instr) (*compiler, error) {
	cc := &compiler{s: s, p: p, in: in, db: p.db}
	if in.use != "" {
		db, ok := s.e.cat.Database(in.use)
		if !ok {
			return nil, errNoDatabase(in.use)
		}
		cc.db = db
	}
	cc.plan = &plan.Compiler{Tables: cc, Scope: p.scope.Statement(), Env: &env{s: s, p: p, cc: cc}, Exec: cc.insertExec, Function: cc.tableFunction, Database: cc.databaseOfTable}
	if p.kind == kindProcedure || p.kind == kindFunction {
		cc.plan.Module = p.name
	}
	return cc, nil
}

// Table finds a table for package plan and notes what kind it is.
func (cc *compiler) Table(name *ast.SchemaObjectName) (*catalog.Table, error) {
	t, db, err := cc.s.table(cc.db, cc.p, name)
	if err != nil {
		return nil, err
	}
	if t.Temp {
		cc.use(cc.db, t)
		return t, nil
	}
	return t, cc.note(db, t)
}

// table finds a table by name: a #table of the session, or one of a database.
func (s *Session) table(cur *catalog.Database, p *program, name *ast.SchemaObjectName) (*catalog.Table, *catalog.Database, error) {
	if server := ident(name.ServerIdentifier); server != "" {
		return nil, nil, sqlerr.New(7202, 11, 2, "Server '%s' is not known: the embedded engine has no linked servers.", server)
	}
	base := ident(name.BaseIdentifier)
	if strings.HasPrefix(base, "#") {
		if t, ok := s.temp.Table(base); ok {
			return t, cur, nil
		}
		return nil, nil, sqlerr.InvalidObject(nameText(name))
	}
	db, err := s.databaseOf(cur, name)
	if err != nil {
		return nil, nil, err
	}
	schema := ident(name.SchemaIdentifier)
	if schema == "" && p.proc != nil && db == cur {
		if t, ok := db.Table(p.proc.Schema, base); ok {
			return t, db, nil
		}
	}
	t, ok := db.Table(schema, base)
	if !ok {
		return nil, nil, sqlerr.InvalidObject(nameText(name))
	}
	if t.System != nil && db != cur {
		t = systemOf(t, db)
	}
	return t, db, nil
}

// systemOf is a system view that shows the rows of another database than the
// current one.
func systemOf(t *catalog.Table, db *catalog.Database) *catalog.Table {
	c := *t
	rows := t.System
	c.System = func(q catalog.SystemQuery, emit func(row []types.Value) error) error {
		q.Database = db
		return rows(q, emit)
	}
	return &c
}

// IdentityInsert reports whether SET IDENTITY_INSERT is ON for a table.
func (s *Session) IdentityInsert(t *catalog.Table) bool {
	return s.set.identityInsert != nil && s.set.identityInsert.ID == t.ID
}

// SystemQuery says for whom the rows of a system view are made.
func (s *Session) SystemQuery(t *catalog.Table) catalog.SystemQuery {
	return catalog.SystemQuery{Context: s.ctx, Instance: s.e.cat, Database: s.db(), Temp: s.temp, SPID: s.spid, Live: s.e}
}

// databaseOfTable tells package plan in which database a table lives.
func (cc *compiler) databaseOfTable(t *catalog.Table) *catalog.Database {
	if t.Temp {
		db, _ := cc.s.e.cat.DatabaseByID(catalog.TempdbID)
		return db
	}
	if cc.acc.db != nil {
		return cc.acc.db
	}
	return cc.db
}

// note records a table of the statement and refuses a second database.
func (cc *compiler) note(db *catalog.Database, t *catalog.Table) error {
	if t.System != nil {
		cc.acc.system = true
		return nil
	}
	if t.View != nil {
		return nil
	}
	if cc.acc.db != nil && cc.acc.db != db && (cc.acc.disk || cc.acc.memory) {
		return sqlerr.Unsupported("a statement over the tables of two databases")
	}
	cc.use(db, t)
	if t.MemoryOptimized {
		cc.acc.memory = true
		if !cc.hints[catalog.Fold(t.Name)] {
			cc.acc.unhinted = true
		}
	} else {
		cc.acc.disk = true
	}
	return nil
}

func (cc *compiler) use(db *catalog.Database, t *catalog.Table) {
	cc.acc.base = true
	if cc.acc.store == nil || !t.Temp {
		cc.acc.store, cc.acc.db = db.Store, db
	}
}

func (cc *compiler) scalar(e ast.ScalarExpression) (expr.Expr, error) { return cc.plan.Scalar(e) }

// scalarAs compiles an expression and converts it as an assignment does.
func (cc *compiler) scalarAs(e ast.ScalarExpression, t types.Type) (expr.Expr, error) {
	x, err := cc.scalar(e)
	if err != nil {
		return x, err
	}
	return expr.Cast(x, t, false)
}

// instruction compiles what the instruction needs.
func (cc *compiler) instruction() (*code, error) {
	in := cc.in
	switch in.op {
	case opIf:
		cond, err := cc.plan.Bool(in.cond)
		return &code{cond: cond}, err
	case opReturn:
		if in.ret == nil {
			return &code{}, nil
		}
		switch cc.p.kind {
		case kindBatch, kindDynamic:
			return nil, sqlerr.New(178, 15, 1, "A RETURN statement with a return value is not allowed here.")
		case kindFunction:
			v, err := cc.scalarAs(in.ret, cc.p.fn.Returns)
			return &code{value: v}, err
		}
		v, err := cc.scalarAs(in.ret, types.Int)
		return &code{value: v}, err
	}
	if in.decl != nil {
		return cc.assign(in.decl.VariableName.Value, "Equals", in.decl.Value)
	}
	cc.hints = isolationHints(in.stmt)
	return cc.statement(in.stmt)
}

// statement compiles one statement.
func (cc *compiler) statement(st ast.Statement) (*code, error) {
	if cc.p.kind == kindFunction {
		if err := allowedInFunction(st); err != nil {
			return nil, err
		}
	}
	switch n := st.(type) {
	case *ast.SelectStatement:
		return cc.selectStatement(n)
	case *ast.InsertStatement:
		d, err := cc.plan.Insert(n)
		return cc.dml(d, err, CmdInsert, insertsExec(n))
	case *ast.UpdateStatement:
		d, err := cc.plan.Update(n)
		return cc.dml(d, err, CmdUpdate, false)
	case *ast.DeleteStatement:
		d, err := cc.plan.Delete(n)
		return cc.dml(d, err, CmdDelete, false)
	case *ast.MergeStatement:
		d, err := cc.plan.Merge(n)
		return cc.dml(d, err, CmdMerge, false)
	case *ast.TruncateTableStatement:
		d, err := cc.plan.Truncate(n)
		c, err := cc.dml(d, err, CmdOther, false)
		if err != nil {
			return nil, err
		}
		return c, nil
	case *ast.SetVariableStatement:
		return cc.setVariable(n)
	case *ast.PrintStatement:
		return cc.print(n)
	case *ast.RaiseErrorStatement:
		return cc.raiserror(n)
	case *ast.ThrowStatement:
		return cc.throw(n)
	case *ast.WaitForStatement:
		return cc.waitFor(n)
	case *ast.ExecuteStatement:
		if len(n.Options) > 0 {
			for _, o := range n.Options {
				if r, ok := o.(*ast.ExecuteOption); !ok || !strings.EqualFold(r.OptionKind, "Recompile") {
					return nil, sqlerr.Unsupported("EXECUTE ... WITH RESULT SETS")
				}
			}
		}
		return cc.execute(n.ExecuteSpecification)
	case *ast.BeginTransactionStatement, *ast.CommitTransactionStatement, *ast.RollbackTransactionStatement, *ast.SaveTransactionStatement:
		return cc.transaction(st)
	case *ast.DeclareCursorStatement, *ast.OpenCursorStatement, *ast.FetchCursorStatement, *ast.CloseCursorStatement, *ast.DeallocateCursorStatement:
		return cc.cursor(st)
	case *ast.UseStatement:
		return cc.use_(n)
	}
	if changesSettings(st) {
		return cc.setOptions(st)
	}
	return cc.other(st)
}

// simple wraps a statement that touches no table and only says that it is done.
func simple(run func(s *Session, fr *frame) error) *code {
	return &code{cmd: CmdOther, run: func(s *Session, fr *frame) error {
		if err := run(s, fr); err != nil {
			return err
		}
		s.rowCount = 0
		return s.sendDone(CmdOther, -1, false)
	}}
}

// quiet wraps a statement that sends no Done.
func quiet(run func(s *Session, fr *frame) error) *code {
	return &code{cmd: CmdOther, run: run}
}

func (cc *compiler) setVariable(n *ast.SetVariableStatement) (*code, error) {
	if n.CursorDefinition != nil {
		return nil, sqlerr.Unsupported("cursor variables")
	}
	if n.Identifier != nil || n.FunctionCallExists {
		return nil, sqlerr.Unsupported("SET of a property or method of a variable")
	}
	return cc.assign(n.Variable.Name, n.AssignmentKind, n.Expression)
}

// assign compiles SET @v = e and its compound forms.
func (cc *compiler) assign(name, kind string, e ast.ScalarExpression) (*code, error) {
	slot, t, ok := cc.plan.Scope.LookupVar(name)
	if !ok {
		return nil, sqlerr.UndeclaredVariable(name)
	}
	if op, ok := compoundOps[kind]; ok {
		b := &ast.BinaryExpression{BinaryExpressionType: op, FirstExpression: &ast.VariableReference{Name: name},
			SecondExpression: &ast.ParenthesisExpression{Expression: e}}
		if f := fragmentOf(e); f != nil {
			b.Fragment = *f
		}
		e = b
	} else if kind != "" && kind != "Equals" {
		return nil, sqlerr.Unsupported("SET with the operator " + kind)
	}
	x, err := cc.scalarAs(e, t)
	if err != nil {
		return nil, err
	}
	eval := x.Eval
	if !cc.acc.base {
		return quiet(func(s *Session, fr *frame) error {
			v, err := eval(&fr.Frame)
			if err != nil {
				return err
			}
			fr.Vars[slot] = v
			s.rowCount = 1
			return nil
		}), nil
	}
	c := &code{cmd: CmdOther}
	c.run = func(s *Session, fr *frame) error {
		err := s.inStatement(fr, c, false, func() error {
			v, err := eval(&fr.Frame)
			if err == nil {
				fr.Vars[slot] = v
			}
			return err
		})
		s.rowCount = 1
		return err
	}
	return c, nil
}

var compoundOps = map[string]string{
	"AddEquals": "Add", "SubtractEquals": "Subtract", "MultiplyEquals": "Multiply", "DivideEquals": "Divide",
	"ModEquals": "Modulo", "BitwiseAndEquals": "BitwiseAnd", "BitwiseOrEquals": "BitwiseOr", "BitwiseXorEquals": "BitwiseXor",
}

func fragmentOf(n any) *ast.Fragment {
	if p, ok := n.(interface{ Frag() *ast.Fragment }); ok {
		return p.Frag()
	}
	return nil
}

// allowedInFunction refuses what has effects outside of a function.
func allowedInFunction(st ast.Statement) error {
	switch st.(type) {
	case *ast.SelectStatement, *ast.InsertStatement, *ast.UpdateStatement, *ast.DeleteStatement, *ast.SetVariableStatement,
		*ast.DeclareCursorStatement, *ast.OpenCursorStatement, *ast.FetchCursorStatement, *ast.CloseCursorStatement, *ast.DeallocateCursorStatement:
		return nil
	}
	return sqlerr.New(443, 16, 14, "The side-effecting statement '%s' is not allowed within a function.", construct(st))
}
