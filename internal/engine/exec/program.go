package exec

import (
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// programKind tells what a program is the code of.
type programKind uint8

const (
	kindBatch     programKind = iota
	kindDynamic               // EXEC('...'), sp_executesql, a prepared statement
	kindProcedure             // a stored procedure
	kindFunction              // a scalar or multi-statement function
)

// program is a compiled module. Its statements lie flat, one after the other:
// blocks, branches and loops are jumps, so that GOTO, BREAK and CATCH are
// nothing special. Sessions share programs and compile their statements once;
// statements that name #tables make a program the session's own.
type program struct {
	e       *Engine
	db      *catalog.Database
	kind    programKind
	proc    *catalog.Procedure
	fn      *catalog.Function
	src     *tsql.Batch
	name    string // schema.name of a procedure or function, for messages
	id      int32  // @@PROCID
	line0   int32  // subtracted from line numbers
	version int64  // of the engine's catalog when it was built
	own     bool   // names #tables: belongs to one session
	quoted  bool

	ins     []instr
	regions []region
	params  []param
	notNull []int // of params: those that NULL is refused for
	atomic  *atomicBlock
	hasSet  bool // changes SET options
	hasTry  bool

	mu    sync.Mutex // held while a statement is compiled
	mod   *expr.Module
	scope *expr.Scope
}

// param is a parameter of a program.
type param struct {
	name     string // with @
	typ      types.Type
	slot     int // in Vars, or in Tables for a table-valued one
	table    *catalog.TableType
	output   bool
	required bool
	def      types.Value
}

// op is what an instruction does to the flow of control.
type op uint8

const (
	opRun      op = iota // run the statement, go on
	opIf                 // jump to target unless the condition is true
	opJump               // jump to target
	opEndCatch           // leave a CATCH block
	opReturn
)

// instr is one statement or jump.
type instr struct {
	op     op
	try    int16 // the innermost region it belongs to, -1 = none
	catch  int16 // how many CATCH blocks it lies in
	line   int32
	target int
	stmt   ast.Statement
	cond   ast.BooleanExpression
	ret    ast.ScalarExpression
	decl   *ast.DeclareVariableElement
	use    string // the database that a USE before it named, "" = the program's
	code   atomic.Pointer[code]
}

// region is a TRY block and the instruction at which its CATCH begins.
type region struct {
	outer int16 // the region around it, -1 = none
	catch int
}

// code is a compiled statement.
type code struct {
	version   int64
	regs      int
	once      int
	access    access
	cond      expr.Pred
	value     expr.Expr // of RETURN
	run       func(s *Session, fr *frame) error
	cmd       uint16
	keepError bool       // sets @@ERROR itself
	query     *queryCode // of a SELECT that gives rows
	implicit  bool       // begins a transaction under SET IMPLICIT_TRANSACTIONS ON
}

// queryCode is what a server cursor wants to know of a SELECT.
type queryCode struct {
	columns []Column
	// still tells that no cursor over it could see a change of the tables.
	still bool
}

type labelRef struct {
	at   int // the jump
	name string
	line int32
}

// flattener turns the tree of statements into instructions.
type flattener struct {
	p      *program
	s      *Session
	labels map[string]int
	gotos  []labelRef
	loops  []*loop
	try    int16
	catch  int16
	use    string
	nested int // depth of blocks
	errs   []error
}

type loop struct {
	start  int
	breaks []int
	catch  int16
}

func (f *flattener) emit(in *instr) int {
	f.p.ins = append(f.p.ins, instr{op: in.op, try: f.try, catch: f.catch, line: in.line, target: in.target,
		stmt: in.stmt, cond: in.cond, ret: in.ret, decl: in.decl, use: f.use})
	return len(f.p.ins) - 1
}

func (f *flattener) lineOf(n any) int32 {
	return max(int32(tsql.Line(n))-f.p.line0, 1)
}

func (f *flattener) list(l *ast.StatementList) {
	if l != nil {
		f.statements(l.Statements)
	}
}

func (f *flattener) statements(l []ast.Statement) {
	for _, s := range l {
		f.statement(s)
	}
}

func (f *flattener) fail(err error, n any) {
	f.errs = append(f.errs, sqlerr.AtLine(err, tsql.Line(n)))
}

func (f *flattener) statement(st ast.Statement) {
	line := f.lineOf(st)
	f.nested++
	defer func() { f.nested-- }()
	switch n := st.(type) {
	case nil:
	case *ast.BeginEndBlockStatement:
		f.list(n.StatementList)
	case *ast.BeginEndAtomicBlockStatement:
		f.fail(sqlerr.New(10794, 16, 117, "BEGIN ATOMIC is allowed only as the body of a natively compiled module."), n)
	case *ast.IfStatement:
		branch := f.emit(&instr{op: opIf, line: line, cond: n.Predicate})
		f.statement(n.ThenStatement)
		if n.ElseStatement != nil {
			end := f.emit(&instr{op: opJump, line: line})
			f.p.ins[branch].target = len(f.p.ins)
			f.statement(n.ElseStatement)
			f.p.ins[end].target = len(f.p.ins)
		} else {
			f.p.ins[branch].target = len(f.p.ins)
		}
	case *ast.WhileStatement:
		l := &loop{start: len(f.p.ins), catch: f.catch}
		f.loops = append(f.loops, l)
		branch := f.emit(&instr{op: opIf, line: line, cond: n.Predicate})
		f.statement(n.Statement)
		f.emit(&instr{op: opJump, line: line, target: l.start})
		f.loops = f.loops[:len(f.loops)-1]
		f.p.ins[branch].target = len(f.p.ins)
		for _, b := range l.breaks {
			f.p.ins[b].target = len(f.p.ins)
		}
	case *ast.BreakStatement:
		if len(f.loops) == 0 {
			f.fail(sqlerr.New(135, 15, 1, "BREAK is allowed only within a WHILE loop."), n)
			return
		}
		l := f.loops[len(f.loops)-1]
		l.breaks = append(l.breaks, f.emit(&instr{op: opJump, line: line}))
	case *ast.ContinueStatement:
		if len(f.loops) == 0 {
			f.fail(sqlerr.New(136, 15, 1, "CONTINUE is allowed only within a WHILE loop."), n)
			return
		}
		f.emit(&instr{op: opJump, line: line, target: f.loops[len(f.loops)-1].start})
	case *ast.TryCatchStatement:
		f.tryCatch(n)
	case *ast.LabelStatement:
		name := foldName(strings.TrimSuffix(n.Value, ":"))
		if _, ok := f.labels[name]; ok {
			f.fail(sqlerr.New(132, 15, 1, "The label '%s' is declared already.", strings.TrimSuffix(n.Value, ":")), n)
			return
		}
		f.labels[name] = len(f.p.ins)
	case *ast.GoToStatement:
		at := f.emit(&instr{op: opJump, line: line})
		f.gotos = append(f.gotos, labelRef{at: at, name: n.LabelName.Value, line: line})
	case *ast.ReturnStatement:
		f.emit(&instr{op: opReturn, line: line, ret: n.Expression, stmt: n})
	case *ast.DeclareVariableStatement:
		f.declare(n)
	case *ast.DeclareTableVariableStatement:
		f.declareTable(n)
	default:
		if changesSettings(st) {
			f.p.hasSet = true
		}
		if first, is := modules[reflect.TypeOf(st)]; is && (len(f.p.ins) > 0 || f.nested > 1) {
			f.fail(sqlerr.New(111, 15, 1, "'%s' must be the first statement of a batch.", first), st)
			return
		}
		f.emit(&instr{op: opRun, line: line, stmt: st})
		if u, ok := st.(*ast.UseStatement); ok {
			f.use = u.DatabaseName.Value
		}
	}
}

// modules are the statements that must be alone in their batch.
var modules = map[reflect.Type]string{
	reflect.TypeFor[*ast.CreateProcedureStatement]():        "CREATE/ALTER PROCEDURE",
	reflect.TypeFor[*ast.CreateOrAlterProcedureStatement](): "CREATE/ALTER PROCEDURE",
	reflect.TypeFor[*ast.AlterProcedureStatement]():         "CREATE/ALTER PROCEDURE",
	reflect.TypeFor[*ast.CreateFunctionStatement]():         "CREATE FUNCTION",
	reflect.TypeFor[*ast.CreateOrAlterFunctionStatement]():  "CREATE FUNCTION",
	reflect.TypeFor[*ast.AlterFunctionStatement]():          "ALTER FUNCTION",
	reflect.TypeFor[*ast.CreateViewStatement]():             "CREATE VIEW",
	reflect.TypeFor[*ast.CreateOrAlterViewStatement]():      "CREATE VIEW",
	reflect.TypeFor[*ast.AlterViewStatement]():              "ALTER VIEW",
	reflect.TypeFor[*ast.CreateSchemaStatement]():           "CREATE SCHEMA",
	reflect.TypeFor[*ast.CreateTriggerStatement]():          "CREATE TRIGGER",
}

func (f *flattener) tryCatch(n *ast.TryCatchStatement) {
	f.p.hasTry = true
	id := int16(len(f.p.regions))
	f.p.regions = append(f.p.regions, region{outer: f.try})
	outer := f.try
	f.try = id
	f.list(n.TryStatements)
	f.try = outer
	end := f.emit(&instr{op: opJump, line: f.lineOf(n)})
	f.p.regions[id].catch = len(f.p.ins)
	f.catch++
	f.list(n.CatchStatements)
	f.catch--
	f.emit(&instr{op: opEndCatch, line: f.lineOf(n)})
	f.p.ins[end].target = len(f.p.ins)
}

// database is the one in which names are looked up at this point.
func (f *flattener) database() *catalog.Database {
	if f.use != "" {
		if db, ok := f.p.e.cat.Database(f.use); ok {
			return db
		}
	}
	return f.p.db
}

func (f *flattener) declare(n *ast.DeclareVariableStatement) {
	for i, d := range n.Declarations {
		if d.DataType == nil {
			f.fail(sqlerr.Unsupported("DECLARE of this type"), n)
			continue
		}
		rt, err := f.database().ResolveType(d.DataType)
		if err != nil {
			f.fail(err, d)
			continue
		}
		if rt.Table != nil {
			if _, err := f.p.scope.DeclareTable(d.VariableName.Value, rt.Table.Table); err != nil {
				f.fail(err, d)
			}
			continue
		}
		if rt.Type.Kind == types.KindText || rt.Type.Kind == types.KindNText || rt.Type.Kind == types.KindImage {
			f.fail(sqlerr.New(2739, 16, 1, "A local variable cannot have the data type text, ntext or image."), d)
			continue
		}
		if _, err := f.p.scope.DeclareVar(d.VariableName.Value, rt.Type); err != nil {
			f.fail(err, d)
			continue
		}
		if d.Value != nil {
			f.emit(&instr{op: opRun, line: f.lineOf(d), stmt: n, decl: n.Declarations[i]})
		}
	}
}

func (f *flattener) declareTable(n *ast.DeclareTableVariableStatement) {
	ddl := f.s.ddl(f.p, f.database())
	name := n.Body.VariableName.Value
	t, err := ddl.TableVariable(name, n.Body.Definition)
	if err != nil {
		f.fail(err, n)
		return
	}
	if _, err := f.p.scope.DeclareTable(name, t); err != nil {
		f.fail(err, n)
	}
}

func (f *flattener) finish() {
	for _, g := range f.gotos {
		at, ok := f.labels[foldName(g.name)]
		if !ok {
			f.errs = append(f.errs, sqlerr.New(133, 15, 1, "The GOTO statement names label '%s', which is not declared.", g.name).At(int(g.line+f.p.line0)))
			continue
		}
		f.p.ins[g.at].target = at
	}
}

// changesSettings reports the statements that change SET options.
func changesSettings(st ast.Statement) bool {
	switch st.(type) {
	case *ast.PredicateSetStatement, *ast.SetCommandStatement, *ast.SetTransactionIsolationLevelStatement,
		*ast.SetTextSizeStatement, *ast.SetIdentityInsertStatement, *ast.SetRowCountStatement, *ast.SetStatisticsStatement:
		return true
	}
	return false
}

// current is the version at which the session compiles the program's statements.
func (p *program) current(s *Session) int64 {
	v := p.e.version.Load()
	if p.own {
		v += s.tempVersion << 32
	}
	return v
}

// fresh reports whether the program as a whole still fits the catalog.
func (p *program) fresh() bool { return p.version == p.e.version.Load() }

// region returns the innermost TRY block around an instruction, or nil.
func (p *program) region(pc int) *region {
	if t := p.ins[pc].try; t >= 0 {
		return &p.regions[t]
	}
	return nil
}
