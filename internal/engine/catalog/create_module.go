package catalog

import (
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// how tells CREATE, ALTER and CREATE OR ALTER apart.
type how uint8

const (
	create how = iota
	alter
	createOrAlter
)

func upper(s string) string { return strings.ToUpper(s) }

// module fills in what all modules have and checks the name.
func (d *DDL) module(n *ast.SchemaObjectName, st ast.Statement, h how, what string) (Module, error) {
	name, err := d.target(n)
	if err != nil {
		return Module{}, err
	}
	if name.Database != "" {
		return Module{}, sqlerr.New(166, 15, 1, "CREATE/ALTER %s does not allow a database name before the object's name.", upper(what))
	}
	sc, ok := d.DB.Schema(name.Schema)
	if !ok {
		return Module{}, sqlerr.New(2760, 16, 1, "The schema name \"%s\" is not there, or you may not use it.", name.Schema)
	}
	now := d.DB.instance.Now()
	m := Module{
		Schema: sc.Name, Name: name.Object, Batch: d.Batch, Line: 1, Created: now, Modified: now,
		QuotedIdentifier: d.QuotedIdentifier, AnsiNulls: d.AnsiNulls,
	}
	m.Text = definition(d.Batch, st, h)
	return m, nil
}

// definition is the text of a module as sys.sql_modules shows it: the whole batch,
// with CREATE for its first word.
func definition(b *tsql.Batch, st ast.Statement, h how) string {
	if h == create {
		return b.Text
	}
	at := b.Offset(st)
	head, text := b.Text[:at], b.Text[at:]
	if h == createOrAlter {
		// "CREATE OR ALTER" keeps its length: positions in the text stay right.
		if i := strings.Index(upper(text), "ALTER"); i > 0 {
			return head + text[:len("CREATE")] + strings.Map(blank, text[len("CREATE"):i+len("ALTER")]) + text[i+len("ALTER"):]
		}
		return b.Text
	}
	return head + "CREATE" + text[len("ALTER"):]
}

func blank(r rune) rune {
	if r == '\n' || r == '\r' {
		return r
	}
	return ' '
}

// publish puts a module in the place of the one it alters, or anew.
func (d *DDL) publish(m *Module, h how, what string, o any, is func(any) bool) error {
	return d.DB.edit(d.Undo, func(s *snapshot) error {
		old, ok := s.objects[key(m.Schema, m.Name)]
		switch {
		case !ok && h == alter:
			return sqlerr.New(208, 16, 6, "Object name '%s' is not valid: there is no such object.", m.FullName())
		case ok && h == create:
			return nameTaken(m.Name)
		case ok && !is(old):
			return sqlerr.New(2010, 16, 1, "ALTER cannot change '%s': it is an object of another kind.", m.Name)
		case ok:
			was := moduleOf(old)
			m.ID, m.Created, m.Name = was.ID, was.Created, was.Name
			if was.SchemaBound || m.SchemaBound {
				if by := s.boundTo(m.Schema, m.Name); by != "" {
					return sqlerr.New(3729, 16, 3, "'ALTER %s' cannot be carried out on '%s': the object '%s' refers to it.", upper(what), m.Name, by)
				}
			}
		default:
			m.ID = s.newID()
		}
		if t, ok := o.(*Table); ok {
			t.ID, t.Created = m.ID, m.Created
		}
		s.objects[key(m.Schema, m.Name)] = o
		s.byID[m.ID] = o
		return nil
	})
}

// params resolves parameters.
func (d *DDL) params(defs []*ast.ProcedureParameter) ([]Param, error) {
	var list []Param
	for i, def := range defs {
		p := Param{Name: def.VariableName.Value, Output: def.Modifier == "Output", ReadOnly: def.Modifier == "ReadOnly", Default: def.Value,
			NotNull: def.Nullable != nil && !def.Nullable.Nullable}
		if paramIndex(list, p.Name) >= 0 {
			return nil, sqlerr.DuplicateVariable(p.Name).At(tsql.Line(def))
		}
		if def.IsVarying {
			return nil, sqlerr.Unsupported("CURSOR VARYING").At(tsql.Line(def))
		}
		r, err := d.DB.ResolveType(def.DataType)
		if err != nil {
			return nil, sqlerr.AtLine((&builder{}).numbered(err, i+1), tsql.Line(def))
		}
		p.Type, p.UserType, p.TableType = r.Type, r.Alias, r.Table
		if p.TableType != nil && !p.ReadOnly {
			return nil, sqlerr.New(352, 15, 1, "The table-valued parameter \"%s\" must be declared with the READONLY option.", p.Name).At(tsql.Line(def))
		}
		if p.TableType == nil && p.ReadOnly {
			return nil, sqlerr.New(346, 15, 1, "The parameter \"%s\" cannot be READONLY: it is not table-valued.", p.Name).At(tsql.Line(def))
		}
		list = append(list, p)
	}
	return list, nil
}

func (d *DDL) createProcedure(st ast.Statement) error {
	var (
		ref     *ast.ProcedureReference
		params  []*ast.ProcedureParameter
		options []ast.ProcedureOptionBase
		body    *ast.StatementList
		clr     *ast.MethodSpecifier
		repl    bool
		h       how
	)
	switch s := st.(type) {
	case *ast.CreateProcedureStatement:
		ref, params, options, body, clr, repl, h = s.ProcedureReference, s.Parameters, s.Options, s.StatementList, s.MethodSpecifier, s.IsForReplication, create
	case *ast.AlterProcedureStatement:
		ref, params, options, body, repl, h = s.ProcedureReference, s.Parameters, s.Options, s.StatementList, s.IsForReplication, alter
	case *ast.CreateOrAlterProcedureStatement:
		ref, params, options, body, clr, repl, h = s.ProcedureReference, s.Parameters, s.Options, s.StatementList, s.MethodSpecifier, s.IsForReplication, createOrAlter
	}
	switch {
	case clr != nil:
		return sqlerr.Unsupported("EXTERNAL NAME")
	case repl:
		return sqlerr.UnsupportedOption("FOR REPLICATION")
	case ref.Number != nil:
		return sqlerr.Unsupported("numbered procedures")
	}
	name := NameOf(ref.Name)
	if strings.HasPrefix(name.Object, "#") {
		return sqlerr.Unsupported("temporary procedures")
	}
	m, err := d.module(ref.Name, st, h, "PROCEDURE")
	if err != nil {
		return err
	}
	p := &Procedure{Module: m, Body: body}
	if p.Params, err = d.params(params); err != nil {
		return err
	}
	for _, o := range options {
		switch o := o.(type) {
		case *ast.ProcedureOption:
			switch o.OptionKind {
			case "NativeCompilation":
				p.Native = true
			case "SchemaBinding":
				p.SchemaBound = true
			case "Recompile":
				p.Recompile = true
			default:
				return sqlerr.UnsupportedOption(o.OptionKind)
			}
		case *ast.ExecuteAsProcedureOption:
			if p.ExecuteAs, err = executeAs(o.ExecuteAs); err != nil {
				return err
			}
		}
	}
	if p.Native {
		if err := d.nativeRules(p); err != nil {
			return err
		}
	} else if p.SchemaBound {
		return sqlerr.New(487, 16, 1, "The option SCHEMABINDING is only valid for natively compiled procedures.")
	}
	p.refs = tsql.Tables(body)
	return d.publish(&p.Module, h, "procedure", p, func(o any) bool { _, ok := o.(*Procedure); return ok })
}

// executeAs reads EXECUTE AS. The engine has one user, dbo: CALLER, SELF and OWNER
// are the same, and other users are not there.
func executeAs(c *ast.ExecuteAsClause) (string, error) {
	if c == nil {
		return "", nil
	}
	if c.ExecuteAsOption == "String" {
		if c.Literal == nil || !EqualName(c.Literal.Value, "dbo") {
			return "", sqlerr.Unsupported("EXECUTE AS 'user'")
		}
		return "dbo", nil
	}
	return upper(c.ExecuteAsOption), nil
}

// nativeRules checks what a natively compiled procedure must have.
func (d *DDL) nativeRules(p *Procedure) error {
	if d.UserTran {
		return sqlerr.New(12331, 16, 1, "CREATE, ALTER and DROP inside user transactions are not supported with natively compiled modules.")
	}
	if !d.DB.HasMemoryOptimized() {
		return sqlerr.New(41337, 16, 100, "Cannot create natively compiled modules: the database must have a filegroup for memory optimized data that is online and has at least one container.")
	}
	if !p.SchemaBound {
		return sqlerr.New(10783, 16, 1, "A natively compiled module needs the option SCHEMABINDING.")
	}
	if p.Body == nil || len(p.Body.Statements) != 1 {
		return sqlerr.New(10783, 16, 1, "The body of a natively compiled module must be one ATOMIC block.")
	}
	a, ok := p.Body.Statements[0].(*ast.BeginEndAtomicBlockStatement)
	if !ok {
		return sqlerr.New(10783, 16, 1, "The body of a natively compiled module must be one ATOMIC block.")
	}
	p.Atomic = a
	level, language := false, false
	for _, o := range a.Options {
		switch o := o.(type) {
		case *ast.IdentifierAtomicBlockOption:
			if o.OptionKind == "IsolationLevel" {
				level = true
				switch v := strings.Join(strings.Fields(upper(o.Value.Value)), " "); v {
				case "SNAPSHOT", "REPEATABLE READ", "SERIALIZABLE":
				default:
					return sqlerr.New(10794, 16, 89, "The transaction isolation level '%s' is not supported with natively compiled modules.", v)
				}
			} else if o.OptionKind == "Language" {
				language = true
			}
		case *ast.LiteralAtomicBlockOption:
			if o.OptionKind == "Language" {
				language = true
			}
		}
	}
	if !level {
		return sqlerr.New(10784, 16, 1, "The WITH clause of BEGIN ATOMIC must give a value for the option '%s'.", "transaction isolation level").At(tsql.Line(a))
	}
	if !language {
		return sqlerr.New(10784, 16, 1, "The WITH clause of BEGIN ATOMIC must give a value for the option '%s'.", "language").At(tsql.Line(a))
	}
	for _, q := range p.Params {
		if q.TableType != nil && !q.TableType.Table.MemoryOptimized {
			return sqlerr.New(10775, 16, 1, "The object '%s' is not a memory optimized table type, and a natively compiled module cannot use it.", q.TableType.Schema+"."+q.TableType.Name)
		}
	}
	for _, r := range tsql.Tables(p.Body) {
		if strings.HasPrefix(r.Object, "@") || r.Schema == "" {
			continue
		}
		t, ok := d.DB.Table(r.Schema, r.Object)
		if !ok {
			return sqlerr.InvalidObject(r.Schema + "." + r.Object).At(r.Line)
		}
		if t.Data != nil && !t.MemoryOptimized {
			return sqlerr.New(10775, 16, 1, "The object '%s' is not a memory optimized table, and a natively compiled module cannot use it.", t.FullName()).At(r.Line)
		}
	}
	return nil
}

func (d *DDL) createView(st ast.Statement) error {
	var (
		n       *ast.SchemaObjectName
		cols    []*ast.Identifier
		sel     *ast.SelectStatement
		options []ast.ViewOption
		check   bool
		h       how
	)
	switch s := st.(type) {
	case *ast.CreateViewStatement:
		n, cols, sel, options, check, h = s.SchemaObjectName, s.Columns, s.SelectStatement, s.ViewOptions, s.WithCheckOption, create
		if s.IsMaterialized {
			return sqlerr.Unsupported("MATERIALIZED VIEW")
		}
	case *ast.AlterViewStatement:
		n, cols, sel, options, check, h = s.SchemaObjectName, s.Columns, s.SelectStatement, s.ViewOptions, s.WithCheckOption, alter
	case *ast.CreateOrAlterViewStatement:
		n, cols, sel, options, check, h = s.SchemaObjectName, s.Columns, s.SelectStatement, s.ViewOptions, s.WithCheckOption, createOrAlter
	}
	m, err := d.module(n, st, h, "VIEW")
	if err != nil {
		return err
	}
	v := &View{Module: m, Select: sel, CheckOption: check}
	for _, o := range options {
		vo, ok := o.(*ast.ViewStatementOption)
		if !ok {
			return sqlerr.UnsupportedOption("this view option")
		}
		switch vo.OptionKind {
		case "SchemaBinding":
			v.SchemaBound = true
		case "ViewMetadata":
		default:
			return sqlerr.UnsupportedOption(vo.OptionKind)
		}
	}
	for _, c := range cols {
		v.Names = append(v.Names, c.Value)
	}
	t := &Table{Schema: v.Schema, Name: v.Name, View: v, PrimaryKey: -1, Created: v.Created, Modified: v.Modified}
	if t.Columns, err = d.describe(sel, nil, v.Names, v.Name); err != nil {
		return err
	}
	v.refs = tsql.Tables(sel)
	return d.publish(&v.Module, h, "view", t, func(o any) bool { x, ok := o.(*Table); return ok && x.View != nil })
}

// describe compiles a query and names its columns.
func (d *DDL) describe(sel *ast.SelectStatement, params []Param, names []string, object string) ([]Column, error) {
	if d.Describe == nil {
		return nil, sqlerr.Unsupported("views and inline functions")
	}
	cols, err := d.Describe(sel, params)
	if err != nil {
		return nil, err
	}
	switch {
	case names != nil && len(names) < len(cols):
		return nil, sqlerr.New(8158, 16, 1, "'%s' has more columns than were given in its column list.", object)
	case names != nil && len(names) > len(cols):
		return nil, sqlerr.New(8159, 16, 1, "'%s' has fewer columns than were given in its column list.", object)
	}
	seen := map[string]bool{}
	for i := range cols {
		c := &cols[i]
		c.ID = int32(i) + 1
		if names != nil {
			c.Name = names[i]
		}
		if c.Name == "" {
			return nil, sqlerr.New(4511, 16, 1, "CREATE VIEW or FUNCTION failed: column %d has no name.", i+1)
		}
		if seen[Fold(c.Name)] {
			return nil, sqlerr.New(4506, 16, 1, "Column names in each view or function must be unique. The column name '%s' in '%s' occurs more than once.", c.Name, object)
		}
		seen[Fold(c.Name)] = true
	}
	return cols, nil
}

func (d *DDL) createFunction(st ast.Statement) error {
	var (
		n       *ast.SchemaObjectName
		params  []*ast.ProcedureParameter
		ret     ast.FunctionReturnType
		options []ast.FunctionOptionBase
		body    *ast.StatementList
		h       how
	)
	switch s := st.(type) {
	case *ast.CreateFunctionStatement:
		n, params, ret, options, body, h = s.Name, s.Parameters, s.ReturnType, s.Options, s.StatementList, create
		if s.MethodSpecifier != nil {
			return sqlerr.Unsupported("EXTERNAL NAME")
		}
	case *ast.AlterFunctionStatement:
		n, params, ret, options, body, h = s.Name, s.Parameters, s.ReturnType, s.Options, s.StatementList, alter
	case *ast.CreateOrAlterFunctionStatement:
		n, params, ret, options, body, h = s.Name, s.Parameters, s.ReturnType, s.Options, s.StatementList, createOrAlter
	}
	m, err := d.module(n, st, h, "FUNCTION")
	if err != nil {
		return err
	}
	f := &Function{Module: m, Body: body}
	if f.Params, err = d.params(params); err != nil {
		return err
	}
	for i := range f.Params {
		if f.Params[i].Output {
			return sqlerr.New(102, 15, 1, "Syntax error near 'OUTPUT': parameters of a function return nothing.")
		}
	}
	for _, o := range options {
		if err := f.option(o); err != nil {
			return err
		}
	}
	if f.Native {
		return sqlerr.Unsupported("natively compiled functions")
	}
	switch r := ret.(type) {
	case *ast.ScalarFunctionReturnType:
		t, err := d.DB.ResolveType(r.DataType)
		if err != nil {
			return err
		}
		if t.Table != nil || t.Type.Kind == types.KindTable {
			return sqlerr.Unsupported("a function that returns a table type")
		}
		f.Kind, f.Returns = ScalarFunction, t.Type
		if !returns(body) {
			return sqlerr.New(455, 16, 2, "The last statement of a function must be a RETURN statement.")
		}
	case *ast.SelectFunctionReturnType:
		f.Kind, f.Select = InlineFunction, r.SelectStatement
		f.Table = &Table{Schema: f.Schema, Name: f.Name, PrimaryKey: -1}
		if f.Table.Columns, err = d.describe(r.SelectStatement, f.Params, nil, f.Name); err != nil {
			return err
		}
		f.refs = tsql.Tables(r.SelectStatement)
	case *ast.TableValuedFunctionReturnType:
		f.Kind, f.ReturnVar = TableFunction, r.DeclareTableVariableBody.VariableName.Value
		if f.Table, err = d.TableVariable(f.ReturnVar, r.DeclareTableVariableBody.Definition); err != nil {
			return err
		}
	default:
		return sqlerr.Unsupported("this return type of a function")
	}
	if body != nil {
		f.refs = append(f.refs, tsql.Tables(body)...)
	}
	return d.publish(&f.Module, h, "function", f, func(o any) bool { x, ok := o.(*Function); return ok && x.Kind == f.Kind })
}

func (f *Function) option(o ast.FunctionOptionBase) error {
	switch o := o.(type) {
	case *ast.FunctionOption:
		switch o.OptionKind {
		case "SchemaBinding":
			f.SchemaBound = true
		case "ReturnsNullOnNullInput":
			f.ReturnsNullOnNull = true
		case "CalledOnNullInput":
		case "NativeCompilation":
			f.Native = true
		default:
			return sqlerr.UnsupportedOption(o.OptionKind)
		}
	case *ast.InlineFunctionOption: // results are the same either way
	case *ast.ExecuteAsFunctionOption:
		var err error
		f.ExecuteAs, err = executeAs(o.ExecuteAs)
		return err
	}
	return nil
}

// returns reports whether the last statement of a function's body is a RETURN.
func returns(body *ast.StatementList) bool {
	for body != nil && len(body.Statements) > 0 {
		switch last := body.Statements[len(body.Statements)-1].(type) {
		case *ast.ReturnStatement:
			return true
		case *ast.BeginEndBlockStatement:
			body = last.StatementList
		case *ast.BeginEndAtomicBlockStatement:
			body = last.StatementList
		default:
			return false
		}
	}
	return false
}
