package exec

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/plan"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/types"
)

// env resolves what belongs to the session or the database in the expressions
// of a program.
type env struct {
	s  *Session
	p  *program
	cc *compiler         // nil outside of statements
	db *catalog.Database // used when cc is nil
}

func (e *env) database() *catalog.Database {
	switch {
	case e.cc != nil:
		return e.cc.db
	case e.db != nil:
		return e.db
	}
	return e.p.db
}

// sessionOf is the session that a frame belongs to.
func sessionOf(f *expr.Frame) *Session { return f.Session.(*Session) }

var (
	typeInt     = types.Int
	typeName    = types.Sysname
	typeIdent   = types.Decimal(38, 0)
	typeNVar4k  = types.NVarChar(4000)
	typeVariant = types.SQLVariant
)

func intValue(n int64) types.Value   { return types.NewInt(types.KindInt, n) }
func nameValue(s string) types.Value { return types.NewString(types.KindNVarChar, s) }
func optInt(n int64, ok bool) types.Value {
	if !ok {
		return types.Value{}
	}
	return intValue(n)
}
func optName(s string, ok bool) types.Value {
	if !ok {
		return types.Value{}
	}
	return nameValue(s)
}

// ofSession makes an expression of something that the session knows.
func ofSession(t types.Type, fn func(s *Session, f *expr.Frame) types.Value) expr.Expr {
	return expr.Expr{Type: t, Nullable: true, Eval: func(f *expr.Frame) (types.Value, error) { return fn(sessionOf(f), f), nil }}
}

// ofArgs makes an expression of a function that needs the session.
func ofArgs(t types.Type, args []expr.Expr, fn func(s *Session, a []types.Value) (types.Value, error)) expr.Expr {
	return expr.Expr{Type: t, Nullable: true, Eval: func(f *expr.Frame) (types.Value, error) {
		vals := make([]types.Value, len(args))
		for i := range args {
			v, err := args[i].Eval(f)
			if err != nil {
				return types.Value{}, err
			}
			vals[i] = v
		}
		return fn(sessionOf(f), vals)
	}}
}

// Global compiles a global variable.
func (e *env) Global(name string) (expr.Expr, bool) {
	g, ok := globals[foldName(name)]
	if !ok {
		return expr.Expr{}, false
	}
	x := ofSession(g.typ, g.value)
	return x, true
}

type global struct {
	typ   types.Type
	value func(s *Session, f *expr.Frame) types.Value
}

func identityValue(v types.Value) types.Value {
	if v.IsNull() {
		return v
	}
	if d, err := types.Assign(v, typeIdent); err == nil {
		return d
	}
	return v
}

var globals = map[string]global{
	"@@rowcount": {typeInt, func(s *Session, f *expr.Frame) types.Value { return intValue(s.rowCount) }},
	"@@error":    {typeInt, func(s *Session, f *expr.Frame) types.Value { return intValue(int64(s.lastError)) }},
	"@@identity": {typeIdent, func(s *Session, f *expr.Frame) types.Value {
		if !f.Identity.IsNull() {
			return identityValue(f.Identity)
		}
		return identityValue(s.identity)
	}},
	"@@trancount":       {typeInt, func(s *Session, f *expr.Frame) types.Value { return intValue(int64(s.tran.count)) }},
	"@@spid":            {types.SmallInt, func(s *Session, f *expr.Frame) types.Value { return types.NewInt(types.KindSmallInt, int64(s.spid)) }},
	"@@version":         {types.NVarChar(300), func(s *Session, f *expr.Frame) types.Value { return nameValue(s.e.versionText()) }},
	"@@servername":      {typeName, func(s *Session, f *expr.Frame) types.Value { return nameValue(s.e.opts.ServerName) }},
	"@@servicename":     {typeName, func(s *Session, f *expr.Frame) types.Value { return nameValue("MSSQLSERVER") }},
	"@@max_precision":   {types.TinyInt, func(s *Session, f *expr.Frame) types.Value { return types.NewInt(types.KindTinyInt, 38) }},
	"@@max_connections": {typeInt, func(s *Session, f *expr.Frame) types.Value { return intValue(32767) }},
	"@@options":         {typeInt, func(s *Session, f *expr.Frame) types.Value { return intValue(s.set.options()) }},
	"@@language":        {typeName, func(s *Session, f *expr.Frame) types.Value { return nameValue("us_english") }},
	"@@langid":          {types.SmallInt, func(s *Session, f *expr.Frame) types.Value { return types.NewInt(types.KindSmallInt, 0) }},
	"@@nestlevel":       {typeInt, func(s *Session, f *expr.Frame) types.Value { return intValue(int64(s.nestLevel())) }},
	"@@procid":          {typeInt, func(s *Session, f *expr.Frame) types.Value { return intValue(int64(s.procID())) }},
	"@@fetch_status":    {typeInt, func(s *Session, f *expr.Frame) types.Value { return intValue(int64(s.fetchStatus)) }},
	"@@cursor_rows":     {typeInt, func(s *Session, f *expr.Frame) types.Value { return intValue(s.cursorRows()) }},
	"@@textsize":        {typeInt, func(s *Session, f *expr.Frame) types.Value { return intValue(int64(s.set.textSize)) }},
	"@@lock_timeout":    {typeInt, func(s *Session, f *expr.Frame) types.Value { return intValue(int64(s.set.lockTimeout)) }},
	"@@datefirst":       {types.TinyInt, func(s *Session, f *expr.Frame) types.Value { return types.NewInt(types.KindTinyInt, 7) }},
	"@@dbts": {types.VarBinary(8), func(s *Session, f *expr.Frame) types.Value {
		return types.NewBytes(types.KindVarBinary, make([]byte, 8))
	}},
	"@@microsoftversion": {typeInt, func(s *Session, f *expr.Frame) types.Value { return intValue(0x10000FA0) }},
	"@@connections":      {typeInt, func(s *Session, f *expr.Frame) types.Value { return intValue(int64(s.e.seeds.Load())) }},
	"@@remserver":        {typeName, func(s *Session, f *expr.Frame) types.Value { return types.Value{} }},
	"@@timeticks":        {typeInt, func(s *Session, f *expr.Frame) types.Value { return intValue(31250) }},
}

// versionText is @@VERSION: the engine says what it is; the version number is
// that of the SQL Server whose language it speaks, because clients parse it.
func (e *Engine) versionText() string {
	return fmt.Sprintf("gostress embedded engine %s (speaks the T-SQL of SQL Server 2022) - %s (%s)\n\tGo %s on %s\n\tFor demos, experiments and tests: its times are its own, never SQL Server's.\n",
		e.opts.Version, productVersion, archName(), strings.TrimPrefix(runtime.Version(), "go"), runtime.GOOS)
}

func archName() string {
	if runtime.GOARCH == "amd64" {
		return "X64"
	}
	return strings.ToUpper(runtime.GOARCH)
}

func (s *Session) nestLevel() int {
	if fr := s.top(); fr != nil {
		return fr.depth
	}
	return 0
}

// procID is the id of the procedure that runs, 0 in a batch.
func (s *Session) procID() int32 {
	if fr := s.top(); fr != nil {
		return fr.prog.id
	}
	return 0
}

// UserType finds an alias type for CAST and its kin.
func (e *env) UserType(name *ast.SchemaObjectName) (types.Type, bool) {
	t, ok := e.database().AliasType(ident(name.SchemaIdentifier), ident(name.BaseIdentifier))
	if !ok {
		return types.Type{}, false
	}
	return t.Type, true
}

// Function compiles a function that package fn does not have.
func (e *env) Function(name []string, args []expr.Expr) (expr.Expr, bool, error) {
	if len(name) > 1 {
		return e.userFunction(name, args)
	}
	key := foldName(name[0])
	if e.p.atomic != nil && !nativeFunction(key) {
		return expr.Expr{}, false, sqlerr.New(10794, 16, 93, "The function '%s' is not supported with natively compiled modules.", name[0])
	}
	f, ok := functions[key]
	if !ok {
		return expr.Expr{}, false, nil
	}
	if len(args) < f.min || len(args) > f.max {
		if f.min == f.max {
			return expr.Expr{}, false, sqlerr.ArgumentCount(key, f.min)
		}
		return expr.Expr{}, false, sqlerr.ArgumentRange(key, f.min, f.max)
	}
	db := e.database()
	if f.plain != nil {
		return ofSession(f.typ, f.plain), true, nil
	}
	fn := f.fn
	return ofArgs(f.typ, args, func(s *Session, a []types.Value) (types.Value, error) {
		return fn(call{s: s, db: db, args: a})
	}), true, nil
}

// nativeFunction reports the functions of this package that natively compiled
// modules may use.
func nativeFunction(name string) bool {
	switch name {
	case "scope_identity", "error_number", "error_message", "error_line", "error_procedure", "error_severity", "error_state", "xact_state":
		return true
	}
	return false
}

// userFunction compiles a call of a scalar function of the database.
func (e *env) userFunction(name []string, args []expr.Expr) (expr.Expr, bool, error) {
	db := e.database()
	if len(name) == 3 {
		var ok bool
		if db, ok = e.s.e.cat.Database(name[0]); !ok {
			return expr.Expr{}, false, nil
		}
	} else if len(name) > 3 {
		return expr.Expr{}, false, nil
	}
	fn, ok := db.Function(name[len(name)-2], name[len(name)-1])
	if !ok || fn.Kind != catalog.ScalarFunction {
		return expr.Expr{}, false, nil
	}
	params, err := functionArgs(e.s, db, fn, args)
	if err != nil {
		return expr.Expr{}, false, err
	}
	return expr.Expr{Type: fn.Returns, Nullable: true, Eval: func(f *expr.Frame) (types.Value, error) {
		s := sessionOf(f)
		return s.callFunction(f, db, fn, params)
	}}, true, nil
}

// functionArgs converts the arguments of a function to its parameters' types
// and fills in the defaults that were asked for.
func functionArgs(s *Session, db *catalog.Database, fn *catalog.Function, args []expr.Expr) ([]expr.Expr, error) {
	if len(args) < len(fn.Params) {
		return nil, sqlerr.New(313, 16, 2, "Too few arguments are given to the procedure or function %s.", fn.FullName())
	}
	if len(args) > len(fn.Params) {
		return nil, sqlerr.TooManyArguments(fn.FullName())
	}
	out := make([]expr.Expr, len(args))
	for i := range args {
		p := &fn.Params[i]
		if args[i].Default {
			if p.Default == nil {
				return nil, sqlerr.MissingParameter(fn.Name, p.Name)
			}
			v, err := s.constant(db, p.Default, p.Type)
			if err != nil {
				return nil, err
			}
			out[i] = expr.Constant(p.Type, v)
			continue
		}
		x, err := expr.Cast(args[i], p.Type, false)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

// function returns the program of a scalar or multi-statement function.
func (s *Session) function(db *catalog.Database, fn *catalog.Function) (*program, error) {
	if v, ok := s.e.procs.Load(fn); ok {
		if p := v.(*program); p.fresh() {
			return p, nil
		}
	}
	p := s.newProgram(kindFunction, db)
	p.fn, p.src, p.name, p.id = fn, fn.Batch, fn.FullName(), fn.ID
	p.line0 = int32(max(fn.Line-1, 0))
	for i := range fn.Params {
		if err := s.declareParam(p, &fn.Params[i]); err != nil {
			return nil, err
		}
	}
	if fn.Kind == catalog.TableFunction {
		if _, err := p.scope.DeclareTable(fn.ReturnVar, fn.Table); err != nil {
			return nil, err
		}
	}
	var list []ast.Statement
	if fn.Body != nil {
		list = fn.Body.Statements
	}
	if err := s.finishProgram(p, list); err != nil {
		return nil, err
	}
	s.e.procs.Store(fn, p)
	return p, nil
}

// callFunction runs a scalar function.
func (s *Session) callFunction(f *expr.Frame, db *catalog.Database, fn *catalog.Function, args []expr.Expr) (types.Value, error) {
	if err := s.enterFunction(f, db, fn, args, nil); err != nil {
		return types.Value{}, err
	}
	return s.result, nil
}

// enterFunction runs a function; take sees the frame when it has ended.
func (s *Session) enterFunction(f *expr.Frame, db *catalog.Database, fn *catalog.Function, args []expr.Expr, take func(fr *frame) error) error {
	caller := s.top()
	if err := s.checkNesting(caller); err != nil {
		return err
	}
	p, err := s.function(db, fn)
	if err != nil {
		return s.outOfScope(caller, err)
	}
	vals := make([]types.Value, len(args))
	for i := range args {
		if vals[i], err = args[i].Eval(f); err != nil {
			return err
		}
	}
	callee := s.push(p)
	callee.fixed = f.Tx
	for i, v := range vals {
		callee.Vars[p.params[i].slot] = v
	}
	callee.take = take
	rows := s.rowCount
	err = s.activate(nil, callee, p)
	s.rowCount = rows
	return err
}

// tableFunction compiles a table-valued function in FROM for package plan.
func (cc *compiler) tableFunction(name *ast.SchemaObjectName, args []expr.Expr) (*plan.TableFunction, bool, error) {
	db, err := cc.s.databaseOf(cc.db, name)
	if err != nil {
		return nil, false, nil
	}
	fn, ok := db.Function(ident(name.SchemaIdentifier), ident(name.BaseIdentifier))
	if !ok || fn.Kind == catalog.ScalarFunction {
		return nil, false, nil
	}
	params, err := functionArgs(cc.s, db, fn, args)
	if err != nil {
		return nil, false, err
	}
	cols := make([]plan.Column, len(fn.Table.Columns))
	for i, k := range fn.Table.Columns {
		cols[i] = plan.Column{Name: k.Name, Type: k.Type, Nullable: k.Nullable}
	}
	cc.acc.base = true
	if cc.acc.store == nil {
		cc.acc.store, cc.acc.db = db.Store, db
	}
	if fn.Kind == catalog.InlineFunction {
		rows, err := cc.inline(db, fn, params)
		return &plan.TableFunction{Columns: cols, Rows: rows}, true, err
	}
	slot := len(fn.Params)
	for _, p := range fn.Params {
		if p.TableType == nil {
			slot--
		}
	}
	return &plan.TableFunction{Columns: cols, Rows: func(f *expr.Frame, emit func([]types.Value) error) error {
		s := sessionOf(f)
		return s.enterFunction(f, db, fn, params, func(fr *frame) error {
			t := fr.Tables[slot]
			row := make([]types.Value, len(cols))
			return t.Scan(fr.Tx, func(id storage.RowID) (bool, error) {
				t.Read(id, nil, row)
				return true, emit(row)
			})
		})
	}}, true, nil
}

// inline compiles an inline table-valued function: a query of its own with the
// arguments as variables.
func (cc *compiler) inline(db *catalog.Database, fn *catalog.Function, args []expr.Expr) (plan.Rows, error) {
	if cc.depth >= maxNesting {
		return nil, cc.s.checkNesting(&frame{depth: maxNesting})
	}
	p := cc.s.newProgram(kindFunction, db)
	p.fn, p.src, p.name = fn, fn.Batch, fn.FullName()
	for i := range fn.Params {
		if err := cc.s.declareParam(p, &fn.Params[i]); err != nil {
			return nil, err
		}
	}
	in := &instr{try: -1}
	sub, err := newCompiler(cc.s, p, in)
	if err != nil {
		return nil, err
	}
	sub.depth = cc.depth + 1
	q, err := sub.plan.Select(fn.Select)
	if err != nil {
		return nil, err
	}
	cc.acc.merge(&sub.acc)
	nvars, nregs, nonce := p.mod.NumVars(), p.mod.NumRegs(), p.mod.NumOnce()
	run := q.Run
	return func(f *expr.Frame, emit func([]types.Value) error) error {
		inner := expr.Frame{Vars: make([]types.Value, nvars), Regs: make([]types.Value, nregs), Once: make([]expr.OnceSlot, nonce),
			Tx: f.Tx, Session: f.Session, Ctx: f.Ctx}
		for i := range args {
			v, err := args[i].Eval(f)
			if err != nil {
				return err
			}
			inner.Vars[p.params[i].slot] = v
		}
		inner.BeginStatement()
		_, err := run(&inner, emit)
		return err
	}, nil
}

// merge adds what another statement touches.
func (a *access) merge(b *access) {
	a.base = a.base || b.base
	a.disk = a.disk || b.disk
	a.memory = a.memory || b.memory
	a.unhinted = a.unhinted || b.unhinted
	if b.store != nil && (a.store == nil || !(a.disk || a.memory)) {
		a.store, a.db = b.store, b.db
	}
}
