package exec

import (
	"errors"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// text returns the program of a batch or of dynamic SQL, compiled or from the
// plan cache. params is the parameter list of sp_executesql. Errors are *thrown.
func (s *Session) text(text, params string, kind programKind) (*program, error) {
	k := planKey{db: s.db(), opts: s.set.planBits(), text: text, params: params, kind: kind}
	own := strings.Contains(text, "#")
	if own {
		if p := s.ownPlans[k]; p != nil && p.fresh() {
			return p, nil
		}
	} else if p := s.e.plans.get(k); p != nil && p.fresh() {
		return p, nil
	}
	p, err := s.build(k, own)
	if err != nil {
		return nil, err
	}
	if !own {
		s.e.plans.put(k, p)
		return p, nil
	}
	if s.ownPlans == nil || len(s.ownPlans) >= maxOwnPlans {
		s.ownPlans = map[planKey]*program{}
	}
	s.ownPlans[k] = p
	return p, nil
}

// maxOwnPlans bounds the plans that one session keeps for itself.
const maxOwnPlans = 50

func (s *Session) build(k planKey, own bool) (*program, error) {
	p := s.newProgram(k.kind, k.db)
	p.own = own
	src, err := s.parse(k.text)
	if err != nil {
		return nil, compileError(err)
	}
	p.src = src
	if k.params != "" {
		decl, err := parseParams(k.params)
		if err != nil {
			return nil, compileError(err)
		}
		if err := s.declareParams(p, decl); err != nil {
			return nil, compileError(err)
		}
	}
	return p, s.finishProgram(p, src.Statements)
}

func (s *Session) newProgram(kind programKind, db *catalog.Database) *program {
	p := &program{e: s.e, db: db, kind: kind, version: s.e.version.Load(), mod: expr.NewModule(), quoted: s.set.quotedIdent}
	p.scope = expr.NewScope(p.mod)
	return p
}

// finishProgram flattens the statements and compiles those that can be compiled
// now.
func (s *Session) finishProgram(p *program, list []ast.Statement) error {
	f := &flattener{p: p, s: s, labels: map[string]int{}, try: -1}
	f.statements(list)
	f.finish()
	errs := f.errs
	for i := range p.ins {
		in := &p.ins[i]
		if i%256 == 255 && s.ctx.Err() != nil {
			return s.cancelled()
		}
		if in.op == opJump || in.op == opEndCatch {
			continue
		}
		_, err := s.compile(p, in)
		if err == nil || deferrable(err) && p.atomic == nil {
			continue
		}
		var e *sqlerr.Error
		if !errors.As(err, &e) {
			return err
		}
		errs = append(errs, e.At(int(in.line+p.line0)))
	}
	if len(errs) == 0 {
		return nil
	}
	t := &thrown{level: levelScope, compile: true}
	for i, err := range errs {
		var e *sqlerr.Error
		if !errors.As(err, &e) {
			return err
		}
		c := *e
		c.Line = max(c.Line-p.line0, 1)
		c.Proc = p.name
		if i == 0 {
			t.err = &c
		} else {
			t.also = append(t.also, &c)
		}
	}
	t.located = true
	return t
}

// parseParams reads the parameter list of sp_executesql.
func parseParams(list string) ([]*ast.ProcedureParameter, error) {
	b, err := tsql.Parse("CREATE PROCEDURE p " + list + "\nAS RETURN")
	if err != nil {
		return nil, err
	}
	if len(b.Statements) == 1 {
		if c, ok := b.Statements[0].(*ast.CreateProcedureStatement); ok {
			return c.Parameters, nil
		}
	}
	return nil, sqlerr.Syntax(list)
}

// declareParams makes the parameters of sp_executesql the first variables.
func (s *Session) declareParams(p *program, list []*ast.ProcedureParameter) error {
	for _, d := range list {
		rt, err := p.db.ResolveType(d.DataType)
		if err != nil {
			return err
		}
		q := catalog.Param{Name: d.VariableName.Value, Type: rt.Type, TableType: rt.Table,
			Output: strings.EqualFold(d.Modifier, "Output"), ReadOnly: strings.EqualFold(d.Modifier, "ReadOnly"), Default: d.Value}
		if err := s.declareParam(p, &q); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) declareParam(p *program, q *catalog.Param) error {
	pr := param{name: q.Name, typ: q.Type, output: q.Output, required: q.Default == nil, table: q.TableType}
	var err error
	if q.TableType != nil {
		if !q.ReadOnly {
			return sqlerr.New(352, 15, 1, "The table-valued parameter \"%s\" must be declared with the READONLY option.", q.Name)
		}
		pr.slot, err = p.scope.DeclareTable(q.Name, q.TableType.Table)
		pr.required = false // an empty table when it is left out
	} else {
		pr.slot, err = p.scope.DeclareVar(q.Name, q.Type)
	}
	if err != nil {
		return err
	}
	if q.Default != nil && q.TableType == nil {
		if pr.def, err = s.constant(p.db, q.Default, q.Type); err != nil {
			return err
		}
	}
	if q.NotNull && !q.Output && q.TableType == nil {
		p.notNull = append(p.notNull, len(p.params))
	}
	p.params = append(p.params, pr)
	return nil
}

// constant evaluates an expression that needs neither variables nor tables.
func (s *Session) constant(db *catalog.Database, e ast.ScalarExpression, t types.Type) (types.Value, error) {
	if l, ok := e.(*ast.IdentifierLiteral); ok {
		return types.Assign(types.NewString(types.KindNVarChar, l.Value), t)
	}
	x, fr, err := s.loose(db, nil, e)
	if err != nil {
		return types.Value{}, err
	}
	if x, err = expr.Cast(x, t, false); err != nil {
		return types.Value{}, err
	}
	return x.Eval(fr)
}

// loose compiles an expression outside of a program, over the columns of a
// table if there is one, and makes a frame for it.
func (s *Session) loose(db *catalog.Database, t *catalog.Table, e ast.ScalarExpression) (expr.Expr, *expr.Frame, error) {
	p := s.newProgram(kindBatch, db)
	c := &expr.Compiler{Scope: p.scope, Env: &env{s: s, p: p, db: db}}
	if t != nil {
		if _, err := c.Scope.AddTable("", t.Schema, t.Name, sourceColumns(t)); err != nil {
			return expr.Expr{}, nil, err
		}
	}
	x, err := c.Scalar(e)
	if err != nil {
		return x, nil, err
	}
	return x, s.looseFrame(p), nil
}

func (s *Session) looseFrame(p *program) *expr.Frame {
	fr := &expr.Frame{Vars: make([]types.Value, p.mod.NumVars()), Regs: make([]types.Value, p.mod.NumRegs()),
		Once: make([]expr.OnceSlot, p.mod.NumOnce()), Session: s, Ctx: s.ctx}
	fr.BeginStatement()
	return fr
}

func sourceColumns(t *catalog.Table) []expr.SourceColumn {
	cols := make([]expr.SourceColumn, len(t.Columns))
	for i, k := range t.Columns {
		cols[i] = expr.SourceColumn{Name: k.Name, Type: k.Type, Nullable: k.Nullable}
	}
	return cols
}

// procedure returns the program of a stored procedure. Errors are *thrown.
func (s *Session) procedure(db *catalog.Database, proc *catalog.Procedure) (*program, error) {
	if v, ok := s.e.procs.Load(proc); ok {
		if p := v.(*program); p.fresh() {
			return p, nil
		}
	}
	if p := s.ownProcs[proc]; p != nil && p.fresh() {
		return p, nil
	}
	p, err := s.buildProcedure(db, proc)
	if err != nil {
		return nil, err
	}
	if !p.own {
		s.e.procs.Store(proc, p)
		return p, nil
	}
	if s.ownProcs == nil || len(s.ownProcs) >= maxOwnPlans {
		s.ownProcs = map[*catalog.Procedure]*program{}
	}
	s.ownProcs[proc] = p
	return p, nil
}

func (s *Session) buildProcedure(db *catalog.Database, proc *catalog.Procedure) (*program, error) {
	p := s.newProgram(kindProcedure, db)
	p.proc, p.src, p.name, p.id = proc, proc.Batch, proc.FullName(), proc.ID
	p.line0 = int32(max(proc.Line-1, 0))
	p.own = strings.Contains(proc.Text, "#")
	for i := range proc.Params {
		if err := s.declareParam(p, &proc.Params[i]); err != nil {
			return nil, compileError(err)
		}
	}
	body := proc.Body
	if proc.Atomic != nil {
		a, err := atomicOptions(proc.Atomic)
		if err != nil {
			return nil, compileError(err)
		}
		p.atomic, body = a, proc.Atomic.StatementList
	} else if body != nil && len(body.Statements) == 1 {
		if b, ok := body.Statements[0].(*ast.BeginEndAtomicBlockStatement); ok {
			a, err := atomicOptions(b)
			if err != nil {
				return nil, compileError(err)
			}
			p.atomic, body = a, b.StatementList
		}
	}
	var list []ast.Statement
	if body != nil {
		list = body.Statements
	}
	return p, s.finishProgram(p, list)
}

// atomicOptions reads BEGIN ATOMIC WITH (...).
func atomicOptions(b *ast.BeginEndAtomicBlockStatement) (*atomicBlock, error) {
	a := &atomicBlock{}
	iso, lang := false, false
	for _, o := range b.Options {
		switch o := o.(type) {
		case *ast.IdentifierAtomicBlockOption:
			switch foldName(o.OptionKind) {
			case "isolationlevel":
				iso = true
				switch foldName(strings.ReplaceAll(o.Value.Value, " ", "")) {
				case "snapshot":
					a.iso = storage.Snapshot
				case "repeatable", "repeatableread":
					a.iso = storage.RepeatableRead
				case "serializable":
					a.iso = storage.Serializable
				default:
					return nil, sqlerr.New(10794, 16, 1, "The transaction isolation level '%s' is not supported with natively compiled modules.", o.Value.Value)
				}
			case "language":
				lang = true
			}
		case *ast.LiteralAtomicBlockOption:
			if foldName(o.OptionKind) == "language" {
				lang = true
				if v := literalText(o.Value); !knownLanguage(v) {
					return nil, sqlerr.UnsupportedOption("LANGUAGE = " + v)
				}
			}
		case *ast.OnOffAtomicBlockOption:
			a.delayed = a.delayed || foldName(o.OptionKind) == "delayeddurability" && foldName(o.OptionState) == "on"
		}
	}
	if !iso || !lang {
		missing := "TRANSACTION ISOLATION LEVEL"
		if iso {
			missing = "LANGUAGE"
		}
		return nil, sqlerr.New(10784, 16, 1, "The WITH clause of the BEGIN ATOMIC statement must give a value for the option '%s'.", missing)
	}
	return a, nil
}

// literalText is the text of a literal.
func literalText(e ast.ScalarExpression) string {
	switch l := e.(type) {
	case *ast.StringLiteral:
		return l.Value
	case *ast.IntegerLiteral:
		return l.Value
	case *ast.NumericLiteral:
		return l.Value
	case *ast.IdentifierLiteral:
		return l.Value
	case *ast.DefaultLiteral:
		return l.Value
	case *ast.BinaryLiteral:
		return l.Value
	case *ast.UnaryExpression:
		if strings.EqualFold(l.UnaryExpressionType, "Negative") {
			return "-" + literalText(l.Expression)
		}
		return literalText(l.Expression)
	}
	return ""
}
