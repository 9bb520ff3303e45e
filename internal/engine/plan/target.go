package plan

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

// target is a table that a statement changes. A row that is written is put
// together in the registers of fresh; the row it replaces is in those of old.
type target struct {
	t      *catalog.Table
	slot   int // of a table variable, else -1
	action string
	fresh  *leaf
	old    *leaf // nil for an INSERT
	checks []checkCond
	// notNull are the columns that take no NULL.
	notNull []int
	// computed are the columns that are worked out from the others.
	computed []computedColumn
	parents  []parentKey
	children []childKey
	db       *catalog.Database
}

type checkCond struct {
	check *catalog.Check
	pred  expr.Pred
}

type computedColumn struct {
	ord int
	ex  expr.Expr
}

// fullName is how messages call the table: database.schema.table, and @t for a
// table variable.
func (t *target) fullName() string {
	if t.slot >= 0 {
		return t.t.Name
	}
	if t.db != nil {
		return t.db.Name() + "." + t.t.FullName()
	}
	return t.t.FullName()
}

func (t *target) dbName() string {
	if t.db != nil {
		return t.db.Name()
	}
	return ""
}

// data is the table's rows.
func (t *target) data(f *expr.Frame) *storage.Table {
	if t.slot >= 0 {
		return f.Tables[t.slot]
	}
	return t.t.Data
}

// row is the registers in which a row to be written is put together.
func (t *target) row(f *expr.Frame) []types.Value {
	return f.Regs[t.fresh.reg : t.fresh.reg+len(t.t.Columns)]
}

func (t *target) oldRow(f *expr.Frame) []types.Value {
	return f.Regs[t.old.reg : t.old.reg+len(t.t.Columns)]
}

// newTarget prepares the checks that a table's rows must pass. Action is
// INSERT, UPDATE, DELETE or MERGE, for messages.
func (b *block) newTarget(t *catalog.Table, slot int, action string) (*target, error) {
	if t.System != nil {
		return nil, sqlerr.New(259, 16, 1, "Ad hoc updates of system catalogs are not allowed.")
	}
	if t.View != nil {
		return nil, sqlerr.Unsupported(action + " of a view")
	}
	tg := &target{t: t, slot: slot, action: action}
	if b.c.Database != nil && slot < 0 {
		tg.db = b.c.Database(t)
	}
	inner := b.c.newBlock(b.st, nil)
	l, s, err := inner.tableLeaf(t, -1, t.Name, hints{})
	if err != nil {
		return nil, err
	}
	s.schema = t.Schema
	tg.fresh = l
	if err := inner.addSource(s); err != nil {
		return nil, err
	}
	if action != "INSERT" {
		if tg.old, _, err = b.c.newBlock(b.st, nil).tableLeaf(t, -1, "deleted", hints{}); err != nil {
			return nil, err
		}
	}
	for i := range t.Columns {
		if !t.Columns[i].Nullable {
			tg.notNull = append(tg.notNull, i)
		}
		if c := t.Columns[i].Computed; c != nil {
			x, err := inner.ex.Scalar(c.Expr)
			if err != nil {
				return nil, err
			}
			if x, err = expr.Cast(x, t.Columns[i].Type, false); err != nil {
				return nil, err
			}
			tg.computed = append(tg.computed, computedColumn{i, x})
		}
	}
	for i := range t.Checks {
		c := &t.Checks[i]
		if c.Disabled || action == "DELETE" {
			continue
		}
		p, err := inner.ex.Bool(c.Expr)
		if err != nil {
			return nil, err
		}
		tg.checks = append(tg.checks, checkCond{c, p})
	}
	return tg, b.foreignKeys(tg)
}

// finish completes the row in fresh: computed columns, NOT NULL and CHECK.
func (t *target) finish(f *expr.Frame, action string) error {
	row := t.row(f)
	for i := range t.computed {
		v, err := t.computed[i].ex.Eval(f)
		if err != nil {
			return err
		}
		row[t.computed[i].ord] = v
	}
	for _, i := range t.notNull {
		if row[i].IsNull() {
			return sqlerr.NullViolation(t.t.Columns[i].Name, t.fullName(), action)
		}
	}
	for i := range t.checks {
		c := &t.checks[i]
		r, err := c.pred(f)
		if err != nil {
			return err
		}
		if r == expr.False {
			column := ""
			if c.check.Column >= 0 {
				column = t.t.Columns[c.check.Column].Name
			}
			return sqlerr.ConstraintConflict(action, "CHECK", c.check.Name, t.dbName(), t.t.FullName(), column)
		}
	}
	if t.t.WideRows {
		return t.t.CheckRow(row)
	}
	return nil
}

// duplicate turns a violated unique index into the message that names it.
func (t *target) duplicate(err error, row []types.Value) error {
	var u *storage.UniqueError
	if !errors.As(err, &u) || u.Index >= len(t.t.Indexes) {
		return err
	}
	ix := &t.t.Indexes[u.Index]
	var key strings.Builder
	for i, c := range ix.Columns {
		if i > 0 {
			key.WriteString(", ")
		}
		if row[c].IsNull() {
			key.WriteString("<NULL>")
		} else {
			key.WriteString(types.Format(row[c]))
		}
	}
	object := t.t.FullName()
	if t.slot >= 0 || t.t.Schema == "" {
		object = "dbo." + t.t.Name
	}
	switch {
	case ix.PrimaryKey:
		return sqlerr.DuplicateKeyConstraint("PRIMARY KEY", ix.Name, object, "("+key.String()+")")
	case ix.Constraint:
		return sqlerr.DuplicateKeyConstraint("UNIQUE KEY", ix.Name, object, "("+key.String()+")")
	}
	return sqlerr.DuplicateKeyIndex(object, ix.Name, "("+key.String()+")")
}

// colConv gives a column its value, in the column's type.
type colConv struct {
	val  evalFunc
	conv *conversion // nil = the value is of the column's type already
	ord  int
}

// conversion brings a value to a column's type. Error 2628 names the column.
type conversion struct {
	to            types.Type
	table, column string
}

// convert compiles the assignment of x to a column. It refuses what cannot be
// converted implicitly.
func (t *target) convert(x expr.Expr, ord int) (colConv, error) {
	c := &t.t.Columns[ord]
	if _, err := expr.Cast(x, c.Type, false); err != nil {
		return colConv{}, err
	}
	conv := colConv{ord: ord, val: x.Eval}
	if !fits(x.Type, c.Type) {
		conv.conv = &conversion{to: c.Type, table: t.fullName(), column: c.Name}
	}
	if x.Const && conv.conv != nil {
		if v, err := types.AssignColumn(x.Value, c.Type, t.fullName(), c.Name); err == nil {
			conv.val, conv.conv = expr.Constant(c.Type, v).Eval, nil
		}
	}
	return conv, nil
}

// fits reports whether every value of type from is one of type to as it is.
func fits(from, to types.Type) bool {
	if from.Kind != to.Kind {
		return false
	}
	switch to.Kind {
	case types.KindVarChar, types.KindNVarChar, types.KindVarBinary:
		return to.Len == types.Max || from.Len != types.Max && from.Len <= to.Len
	case types.KindChar, types.KindNChar, types.KindBinary:
		return from.Len == to.Len
	case types.KindDecimal:
		return from.Scale == to.Scale && from.Prec <= to.Prec
	case types.KindTime, types.KindDateTime2, types.KindDateTimeOffset:
		return from.Scale == to.Scale
	}
	return true
}

func (c *colConv) eval(f *expr.Frame) (types.Value, error) {
	v, err := c.val(f)
	if err != nil || c.conv == nil {
		return v, err
	}
	return types.AssignColumn(v, c.conv.to, c.conv.table, c.conv.column)
}

// defaultFor compiles the DEFAULT of a column; without one it is NULL.
func (b *block) defaultFor(t *target, ord int) (colConv, error) {
	d := t.t.Columns[ord].Default
	if d == nil {
		return colConv{ord: ord, val: expr.Constant(t.t.Columns[ord].Type, nullValue).Eval}, nil
	}
	x, err := b.c.newBlock(b.st, nil).ex.Scalar(d.Expr)
	if err != nil {
		return colConv{}, err
	}
	return t.convert(x, ord)
}

// targetColumns finds the columns of a column list. Errors: 207 no such
// column, 264 given twice, 271 computed.
func (t *target) targetColumns(list []*ast.ColumnReferenceExpression) ([]int, error) {
	seen := map[int]bool{}
	var cols []int
	for _, c := range list {
		ord := -1
		parts := identifiers(c.MultiPartIdentifier)
		switch {
		case c.ColumnType == "IdentityCol" || c.ColumnType == "PseudoColumnIdentity":
			if t.t.Identity != nil {
				ord = t.t.Identity.Column
			}
		case len(parts) > 0:
			ord = t.t.Column(parts[len(parts)-1])
		}
		if ord < 0 {
			return nil, sqlerr.InvalidColumn(columnName(c)).At(tsql.Line(c))
		}
		if seen[ord] {
			return nil, sqlerr.New(264, 16, 1, "The column name '%s' is given more than once in the SET clause or column list of an INSERT. A column cannot be given more than one value in one statement.", t.t.Columns[ord].Name).At(tsql.Line(c))
		}
		if t.t.Columns[ord].Computed != nil {
			return nil, t.computedColumn(ord).At(tsql.Line(c))
		}
		seen[ord] = true
		cols = append(cols, ord)
	}
	return cols, nil
}

func (t *target) computedColumn(ord int) *sqlerr.Error {
	return sqlerr.New(271, 16, 1, "The column \"%s\" cannot be modified because it is either a computed column or the result of a UNION operator.", t.t.Columns[ord].Name)
}

// dmlTarget finds the table that a statement names as its target.
func (b *block) dmlTarget(ref ast.TableReference) (t *catalog.Table, slot int, err error) {
	switch r := ref.(type) {
	case *ast.NamedTableReference:
		if _, err := readHints(r.TableHints, true); err != nil {
			return nil, -1, err
		}
		t, err := b.c.resolve(b.st, r.SchemaObject)
		return t, -1, err
	case *ast.VariableTableReference:
		slot, t, ok := b.c.Scope.LookupTable(r.Variable.Name)
		if !ok {
			return nil, -1, sqlerr.UndeclaredTable(r.Variable.Name).At(tsql.Line(r))
		}
		return t, slot, nil
	}
	return nil, -1, sqlerr.Unsupported(refName(ref) + " as the target of a data modification").At(tsql.Line(ref))
}
