package plan

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// output is the OUTPUT clauses of a statement.
type output struct {
	cols  []Column    // of OUTPUT to the client
	exprs []expr.Expr // their values
	into  *inserter   // OUTPUT ... INTO
	regs  []int       // of the FROM clause: to be kept with each row
	// action is the register of $action, -1 = none.
	action int
	st     *statement
}

// compileOutput compiles the OUTPUT clauses. from is the statement's block,
// whose sources may be named too.
func (b *block) compileOutput(tg *target, clause *ast.OutputClause, into *ast.OutputIntoClause, action int) (*output, error) {
	if clause == nil && into == nil {
		return nil, nil
	}
	o := &output{action: action, st: b.st}
	ob := b.c.newBlock(b.st, b)
	shown := make([]Column, len(tg.t.Columns))
	for i := range tg.t.Columns {
		c := &tg.t.Columns[i]
		shown[i] = Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable || tg.action == "MERGE", Identity: c.Identity}
	}
	if tg.action != "DELETE" {
		if err := ob.addSource(ob.leafSource("inserted", tg.fresh, shown)); err != nil {
			return nil, err
		}
	}
	if tg.old != nil {
		if err := ob.addSource(ob.leafSource("deleted", tg.old, shown)); err != nil {
			return nil, err
		}
	}
	if action >= 0 {
		s := &source{id: b.st.sources}
		b.st.sources++
		t := types.NVarChar(10)
		s.cols = []column{{Column: Column{Name: "$action", Type: t}, ex: expr.Register(action, t, "$action", false)}}
		if err := ob.addSource(s); err != nil {
			return nil, err
		}
	}
	ob.clause = "OUTPUT"
	reads := leafSet{}
	compile := func(list []ast.SelectElement) ([]item, error) {
		var items []item
		refs, err := b.tracked(func() (err error) {
			items, err = ob.outputList(list)
			return err
		})
		reads.addAll(refs)
		return items, err
	}
	if clause != nil {
		items, err := compile(clause.SelectColumns)
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			it.Identity = false
			o.cols = append(o.cols, it.Column)
			o.exprs = append(o.exprs, it.ex)
		}
	}
	if into != nil {
		items, err := compile(into.SelectColumns)
		if err != nil {
			return nil, err
		}
		if o.into, err = b.outputInto(into, items); err != nil {
			return nil, sqlerr.AtLine(err, tsql.Line(into))
		}
	}
	if reads.meets(b.leaves) {
		b.st.finish = append(b.st.finish, func() { o.regs = b.registersOf(b.leaves) })
	}
	return o, nil
}

// outputList compiles a list of OUTPUT: stars must be qualified there.
func (b *block) outputList(list []ast.SelectElement) ([]item, error) {
	for _, el := range list {
		if s, ok := el.(*ast.SelectStarExpression); ok && s.Qualifier == nil {
			return nil, sqlerr.Syntax("*").At(tsql.Line(s))
		}
	}
	return b.selectList(list, queryUse{})
}

func (b *block) outputInto(into *ast.OutputIntoClause, items []item) (*inserter, error) {
	t, slot, err := b.dmlTarget(into.IntoTable)
	if err != nil {
		return nil, err
	}
	tg, err := b.newTarget(t, slot, "INSERT")
	if err != nil {
		return nil, err
	}
	if len(tg.parents) > 0 || len(tg.checks) > 0 {
		return nil, sqlerr.New(332, 16, 1, "The target table '%s' of the OUTPUT INTO clause cannot have enabled check or foreign key constraints.", t.FullName())
	}
	cols, err := tg.targetColumns(into.IntoTableColumns)
	if err != nil {
		return nil, err
	}
	in, err := b.newInserter(tg, cols, len(into.IntoTableColumns) > 0, len(items))
	if err != nil {
		return nil, err
	}
	if len(items) != len(in.cols) {
		return nil, sqlerr.ColumnCount()
	}
	for i := range items {
		c, err := tg.convert(items[i].ex, in.cols[i])
		if err != nil {
			return nil, err
		}
		in.given = append(in.given, c)
	}
	return in, nil
}

// begin readies the clauses for a run.
func (o *output) begin(f *expr.Frame) error {
	if o == nil || o.into == nil {
		return nil
	}
	return o.into.identityInsert(f)
}

// take evaluates the clauses for the row that was just changed. Rows for the
// client are kept until the statement is done.
func (o *output) take(f *expr.Frame, rows *[]types.Value) error {
	if o == nil {
		return nil
	}
	if o.into != nil {
		if err := o.into.insert(f, nil, nil); err != nil {
			return err
		}
	}
	for i := range o.exprs {
		v, err := o.exprs[i].Eval(f)
		if err != nil {
			return err
		}
		*rows = append(*rows, v)
	}
	return nil
}

// flush emits the rows that take kept.
func (o *output) flush(rows []types.Value, emit func(row []types.Value) error) error {
	if o == nil || len(o.exprs) == 0 {
		return nil
	}
	for w := len(o.exprs); len(rows) >= w; rows = rows[w:] {
		if err := emit(rows[:w:w]); err != nil {
			return err
		}
	}
	return nil
}

func (o *output) columns() []Column {
	if o == nil {
		return nil
	}
	return o.cols
}
