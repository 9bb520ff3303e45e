package plan

import (
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// systemRows are the rows of a system view.
type systemRows struct {
	table *catalog.Table
	leaf  *leaf
}

func (n *systemRows) bind(r *run, next step) step {
	emit := func(row []types.Value) error {
		if err := r.tick(); err != nil {
			return err
		}
		copy(r.f.Regs[n.leaf.reg:n.leaf.reg+len(n.leaf.cols)], row)
		return next()
	}
	return func() error {
		h, ok := r.f.Session.(Host)
		if !ok {
			return sqlerr.Unsupported("system view " + n.table.FullName() + " without a session")
		}
		return n.table.System(h.SystemQuery(n.table), emit)
	}
}

// valueRows are the rows of a VALUES constructor.
type valueRows struct {
	leaf *leaf
	rows [][]evalFunc
}

func (n *valueRows) bind(r *run, next step) step {
	row := make([]types.Value, len(n.leaf.cols))
	return func() error {
		for _, exprs := range n.rows {
			if err := evalInto(r.f, exprs, row); err != nil {
				return err
			}
			copy(r.f.Regs[n.leaf.reg:], row)
			if err := next(); err != nil {
				return err
			}
		}
		return nil
	}
}

// inlineValues compiles (VALUES (...), (...)) AS t (c, ...).
func (b *block) inlineValues(r *ast.InlineDerivedTable) (*treeItem, error) {
	if r.Alias == nil {
		return nil, sqlerr.Syntax(")")
	}
	n := &valueRows{}
	var rows [][]expr.Expr
	var width int
	var refs leafSet
	for i, rv := range r.RowValues {
		if i == 0 {
			width = len(rv.ColumnValues)
		} else if len(rv.ColumnValues) != width {
			return nil, sqlerr.New(10709, 16, 1, "Each row of a table value constructor must have the same number of columns.").At(tsql.Line(rv))
		}
		row := make([]expr.Expr, width)
		for k, e := range rv.ColumnValues {
			x, rf, err := b.scalar(e)
			if err != nil {
				return nil, sqlerr.AtLine(err, tsql.Line(e))
			}
			refs.addAll(rf)
			row[k] = x
		}
		rows = append(rows, row)
	}
	cols := make([]Column, width)
	for k := range cols {
		t, nullable := types.Null, false
		for _, row := range rows {
			var err error
			if t.Kind == types.KindNull {
				t = row[k].Type
			} else if row[k].Type.Kind != types.KindNull {
				if t, err = types.CommonType(t, row[k].Type); err != nil {
					return nil, err
				}
			}
			nullable = nullable || row[k].Nullable
		}
		if t.Kind == types.KindNull {
			t = types.Int
		}
		for _, row := range rows {
			x, err := expr.Cast(row[k], t, false)
			if err != nil {
				return nil, err
			}
			row[k] = x
		}
		cols[k] = Column{Type: t, Nullable: nullable}
	}
	shown, err := derivedColumns(cols, r.Alias.Value, names(r.Columns))
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		n.rows = append(n.rows, evals(row))
	}
	l := b.makeLeaf(r.Alias.Value, shown, n)
	n.leaf = l
	l.lateral = refs.and(b.leaves)
	l.outer = refs.meets(b.around())
	return b.leafItem(l), b.addSource(b.leafSource(r.Alias.Value, l, shown))
}

func (b *block) makeLeaf(alias string, cols []Column, rows node) *leaf {
	lc := make([]leafColumn, len(cols))
	for i, c := range cols {
		lc[i] = leafColumn{typ: c.Type, nullable: c.Nullable, used: true}
	}
	l := b.newLeaf(alias, lc)
	l.make = rows
	return l
}

// functionRows are the rows of a table-valued function.
type functionRows struct {
	leaf *leaf
	rows Rows
}

func (n *functionRows) bind(r *run, next step) step {
	emit := func(row []types.Value) error {
		if err := r.tick(); err != nil {
			return err
		}
		copy(r.f.Regs[n.leaf.reg:n.leaf.reg+len(n.leaf.cols)], row)
		return next()
	}
	return func() error { return n.rows(r.f, emit) }
}

func (b *block) tableFunction(r *ast.SchemaObjectFunctionTableReference) (*treeItem, error) {
	return b.callFunction(r.SchemaObject, r.Parameters, r.Alias, r.Columns)
}

func (b *block) globalFunction(r *ast.GlobalFunctionTableReference) (*treeItem, error) {
	name := &ast.SchemaObjectName{Fragment: r.Fragment, BaseIdentifier: r.Name, Count: 1, Identifiers: []*ast.Identifier{r.Name}}
	return b.callFunction(name, r.Parameters, r.Alias, r.Columns)
}

func (b *block) callFunction(name *ast.SchemaObjectName, params []ast.ScalarExpression, id *ast.Identifier, columns []*ast.Identifier) (*treeItem, error) {
	var args []expr.Expr
	var refs leafSet
	for _, p := range params {
		x, rf, err := b.scalar(p)
		if err != nil {
			return nil, sqlerr.AtLine(err, tsql.Line(p))
		}
		refs.addAll(rf)
		args = append(args, x)
	}
	fn, err := b.c.tableFunction(name, args)
	if err != nil {
		return nil, err
	}
	alias := name.BaseIdentifier.Value
	if id != nil {
		alias = id.Value
	}
	shown, err := derivedColumns(fn.Columns, alias, names(columns))
	if err != nil {
		return nil, err
	}
	n := &functionRows{rows: fn.Rows}
	l := b.makeLeaf(alias, shown, n)
	n.leaf = l
	l.lateral = refs.and(b.leaves)
	l.outer = refs.meets(b.around())
	return b.leafItem(l), b.addSource(b.leafSource(alias, l, shown))
}

func (c *Compiler) tableFunction(name *ast.SchemaObjectName, args []expr.Expr) (*TableFunction, error) {
	if name.SchemaIdentifier == nil {
		switch strings.ToLower(name.BaseIdentifier.Value) {
		case "string_split":
			return stringSplit(args)
		case "generate_series":
			return generateSeries(args)
		}
	}
	if c.Function != nil {
		fn, ok, err := c.Function(name, args)
		if err != nil || ok {
			return fn, err
		}
	}
	if name.SchemaIdentifier == nil {
		return nil, sqlerr.Unsupported("table-valued function " + name.BaseIdentifier.Value)
	}
	return nil, sqlerr.InvalidObject(name.SchemaIdentifier.Value + "." + name.BaseIdentifier.Value)
}

// stringSplit is STRING_SPLIT(string, separator [, enable_ordinal]).
func stringSplit(args []expr.Expr) (*TableFunction, error) {
	if len(args) < 2 || len(args) > 3 {
		return nil, sqlerr.ArgumentRange("string_split", 2, 3)
	}
	t := args[0].Type
	if !t.Kind.IsString() {
		return nil, sqlerr.ArgumentType(t.Name(), 1, "string_split")
	}
	switch t.Kind {
	case types.KindChar:
		t.Kind = types.KindVarChar
	case types.KindNChar:
		t.Kind = types.KindNVarChar
	}
	fn := &TableFunction{Columns: []Column{{Name: "value", Type: t, Nullable: true}}}
	ordinal := false
	if len(args) == 3 {
		if !args[2].Const {
			return nil, sqlerr.Unsupported("a third argument of STRING_SPLIT that is no constant")
		}
		ordinal = !args[2].Value.IsNull() && args[2].Value.Int() != 0
	}
	if ordinal {
		fn.Columns = append(fn.Columns, Column{Name: "ordinal", Type: types.BigInt})
	}
	fn.Rows = func(f *expr.Frame, emit func(row []types.Value) error) error {
		s, err := args[0].Eval(f)
		if err != nil {
			return err
		}
		sep, err := args[1].Eval(f)
		if err != nil {
			return err
		}
		if sep.IsNull() || len([]rune(sep.Str())) != 1 {
			return sqlerr.New(214, 16, 11, "The separator of STRING_SPLIT must be one character.")
		}
		if s.IsNull() {
			return nil
		}
		row := make([]types.Value, len(fn.Columns))
		for i, part := range strings.Split(s.Str(), sep.Str()) {
			row[0] = types.NewString(t.Kind, part)
			if ordinal {
				row[1] = big(i + 1)
			}
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	}
	return fn, nil
}

// generateSeries is GENERATE_SERIES(start, stop [, step]) over integers.
func generateSeries(args []expr.Expr) (*TableFunction, error) {
	if len(args) < 2 || len(args) > 3 {
		return nil, sqlerr.ArgumentRange("generate_series", 2, 3)
	}
	for i, a := range args {
		if !a.Type.Kind.IsInt() || a.Type.Kind == types.KindBit {
			return nil, sqlerr.ArgumentType(a.Type.Name(), i+1, "generate_series")
		}
	}
	t, err := types.CommonType(args[0].Type, args[1].Type)
	if err != nil {
		return nil, err
	}
	fn := &TableFunction{Columns: []Column{{Name: "value", Type: t, Nullable: true}}}
	fn.Rows = func(f *expr.Frame, emit func(row []types.Value) error) error {
		n := [3]int64{}
		for i, a := range args {
			v, err := a.Eval(f)
			if err != nil || v.IsNull() {
				return err
			}
			n[i] = v.Int()
		}
		from, to, by := n[0], n[1], n[2]
		if len(args) == 2 {
			by = 1
			if to < from {
				by = -1
			}
		}
		if by == 0 {
			return sqlerr.New(4199, 16, 1, "The step of GENERATE_SERIES must not be zero.")
		}
		row := make([]types.Value, 1)
		for v := from; by > 0 && v <= to || by < 0 && v >= to; v += by {
			row[0] = types.NewInt(t.Kind, v)
			if err := emit(row); err != nil {
				return err
			}
			if by > 0 && v > to-by || by < 0 && v < to-by {
				break
			}
		}
		return nil
	}
	return fn, nil
}
