package plan

import (
	"slices"
	"strings"
	"sync"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// setPlan is one element of SET, in the order written.
type setPlan struct {
	colConv     // ord -1 = a variable only
	slot    int // variable to assign, -1 = none
	varConv types.Type
}

// changePlan is a compiled UPDATE or DELETE. Its rows are found first and
// changed afterwards, so that a row is met once however its keys move.
type changePlan struct {
	tg     *target
	leaf   *leaf // of the target in the FROM clause
	root   node
	sets   []setPlan // of an UPDATE
	delete bool
	top    *expr.Expr
	pct    bool
	out    *output
	// changed says which columns an UPDATE writes.
	changed []bool
	// unique tells that a column of a unique index is written: rows then leave
	// the table before the new ones come.
	unique bool
	pool   sync.Pool
}

// targetSource finds or makes the source that a statement changes: the FROM
// clause may name it by alias or by table.
func (b *block) targetSource(ref ast.TableReference, from *ast.FromClause, action string) (*source, *target, error) {
	if from != nil && len(from.TableReferences) > 0 {
		t, err := b.from(from)
		if err != nil {
			return nil, nil, err
		}
		b.tree = t
		s, err := b.inFrom(ref)
		if err != nil {
			return nil, nil, err
		}
		if s != nil {
			return b.changes(s, action)
		}
	}
	n := len(b.sources)
	item, err := b.targetRef(ref)
	if err != nil {
		return nil, nil, err
	}
	if b.tree == nil {
		b.tree = item
	} else {
		b.tree = &treeItem{kind: groupItem, items: []*treeItem{b.tree, item}, leaves: b.tree.leaves.union(item.leaves)}
	}
	return b.changes(b.sources[n], action)
}

// targetRef compiles the target as a source of its own.
func (b *block) targetRef(ref ast.TableReference) (*treeItem, error) {
	n, ok := ref.(*ast.NamedTableReference)
	if !ok {
		return b.tableRef(ref, false)
	}
	if _, err := readHints(n.TableHints, true); err != nil {
		return nil, err
	}
	// The target's hints may promise more than those of a table that is read.
	plain := *n
	plain.TableHints = nil
	return b.tableRef(&plain, false)
}

// inFrom finds the source of the FROM clause that the target names; nil when
// there is none. Error 8154: more than one.
func (b *block) inFrom(ref ast.TableReference) (*source, error) {
	var found *source
	switch r := ref.(type) {
	case *ast.NamedTableReference:
		if _, err := readHints(r.TableHints, true); err != nil {
			return nil, err
		}
		name := r.SchemaObject
		if name.SchemaIdentifier == nil && name.DatabaseIdentifier == nil {
			for _, s := range b.sources {
				if catalog.EqualName(s.alias, name.BaseIdentifier.Value) {
					return s, nil
				}
			}
		}
		t, err := b.c.resolve(b.st, name)
		if err != nil {
			return nil, err
		}
		for _, s := range b.sources {
			if s.base == nil || s.base.table != t {
				continue
			}
			if found != nil {
				return nil, sqlerr.New(8154, 15, 1, "The table '%s' is ambiguous.", name.BaseIdentifier.Value).At(tsql.Line(ref))
			}
			found = s
		}
	case *ast.VariableTableReference:
		for _, s := range b.sources {
			if s.base != nil && s.base.slot >= 0 && catalog.EqualName(s.base.name, r.Variable.Name) || catalog.EqualName(s.alias, r.Variable.Name) {
				found = s
			}
		}
	}
	return found, nil
}

// changes makes a source the target: its leaf keeps the rows' ids.
func (b *block) changes(s *source, action string) (*source, *target, error) {
	if s.base == nil || s.base.table == nil || s.base.make != nil {
		return nil, nil, sqlerr.New(4405, 16, 1, "View or function '%s' cannot be updated because the change affects more than one base table, or none.", s.alias)
	}
	tg, err := b.newTarget(s.base.table, s.base.slot, action)
	if err != nil {
		return nil, nil, err
	}
	if s.base.rid < 0 {
		s.base.rid = b.c.regs(1)
	}
	return s, tg, nil
}

func (c *Compiler) updateStatement(s *ast.UpdateStatement) (*DML, error) {
	b := c.begin()
	spec := s.UpdateSpecification
	d, err := b.change(changeClauses{spec.Target, spec.FromClause, spec.WhereClause, spec.TopRowFilter, spec.OutputClause, spec.OutputIntoClause}, spec.SetClauses, s.WithCtesAndXmlNamespaces, s.OptimizerHints, "UPDATE")
	return d, sqlerr.AtLine(err, tsql.Line(s))
}

func (c *Compiler) deleteStatement(s *ast.DeleteStatement) (*DML, error) {
	b := c.begin()
	spec := s.DeleteSpecification
	d, err := b.change(changeClauses{spec.Target, spec.FromClause, spec.WhereClause, spec.TopRowFilter, spec.OutputClause, spec.OutputIntoClause}, nil, s.WithCtesAndXmlNamespaces, s.OptimizerHints, "DELETE")
	return d, sqlerr.AtLine(err, tsql.Line(s))
}

// changeClauses are what UPDATE and DELETE have in common.
type changeClauses struct {
	target ast.TableReference
	from   *ast.FromClause
	where  *ast.WhereClause
	top    *ast.TopRowFilter
	output *ast.OutputClause
	into   *ast.OutputIntoClause
}

func (b *block) change(cl changeClauses, sets []ast.SetClause, with *ast.WithCtesAndXmlNamespaces, hints []ast.OptimizerHintBase, action string) (*DML, error) {
	h, err := readQueryHints(hints)
	if err != nil {
		return nil, err
	}
	b.st.hints = h
	if err := b.st.withCTEs(b, with); err != nil {
		return nil, err
	}
	src, tg, err := b.targetSource(cl.target, cl.from, action)
	if err != nil {
		return nil, err
	}
	p := &changePlan{tg: tg, leaf: src.base, delete: action == "DELETE"}
	if cl.top != nil {
		if p.top, err = b.rowCount(cl.top.Expression, cl.top.Percent); err != nil {
			return nil, err
		}
		p.pct = cl.top.Percent
		if cl.top.WithTies {
			return nil, sqlerr.Syntax("TIES")
		}
	}
	if cl.where != nil {
		if cl.where.Cursor != nil {
			return nil, sqlerr.Unsupported("WHERE CURRENT OF").At(tsql.Line(cl.where))
		}
		b.clause = "WHERE"
		if b.conds, err = b.split(cl.where.SearchCondition); err != nil {
			return nil, err
		}
	}
	b.clause = "SET"
	if p.sets, err = b.setClauses(sets, tg, src); err != nil {
		return nil, err
	}
	p.mark()
	if p.out, err = b.compileOutput(tg, cl.output, cl.into, -1); err != nil {
		return nil, err
	}
	if p.root, _, err = b.plan(b.tree, b.conds, nil, false); err != nil {
		return nil, err
	}
	b.st.done()
	d := &DML{Output: p.out.columns(), Deps: b.c.deps.take(), Run: p.run}
	if tg.slot < 0 {
		d.Target = tg.t
	}
	return d, nil
}

// mark notes which columns are written.
func (p *changePlan) mark() {
	p.changed = make([]bool, len(p.tg.t.Columns))
	for _, s := range p.sets {
		if s.ord >= 0 {
			p.changed[s.ord] = true
		}
	}
	for _, c := range p.tg.computed {
		p.changed[c.ord] = true
	}
	for i := range p.tg.t.Indexes {
		if ix := &p.tg.t.Indexes[i]; ix.Unique && anyOf(ix.Columns, p.changed) {
			p.unique = true
		}
	}
}

// setClauses compiles SET. src is nil in MERGE, where the target's own names
// are meant.
func (b *block) setClauses(list []ast.SetClause, tg *target, src *source) ([]setPlan, error) {
	var plans []setPlan
	seen := map[int]bool{}
	for _, cl := range list {
		a, ok := cl.(*ast.AssignmentSetClause)
		if !ok {
			return nil, sqlerr.Unsupported("SET column.WRITE(...)").At(tsql.Line(cl))
		}
		p, err := b.setClause(a, tg, src)
		if err != nil {
			return nil, sqlerr.AtLine(err, tsql.Line(a))
		}
		if p.ord >= 0 {
			if seen[p.ord] {
				return nil, sqlerr.New(264, 16, 1, "The column name '%s' is given more than once in the SET clause or column list of an INSERT. A column cannot be given more than one value in one statement.", tg.t.Columns[p.ord].Name).At(tsql.Line(a))
			}
			seen[p.ord] = true
		}
		plans = append(plans, p)
	}
	return plans, nil
}

func (b *block) setClause(a *ast.AssignmentSetClause, tg *target, src *source) (setPlan, error) {
	p := setPlan{slot: -1}
	p.ord = -1
	if a.Variable != nil {
		slot, t, err := b.c.variable(a.Variable)
		if err != nil {
			return p, err
		}
		p.slot, p.varConv = slot, t
	}
	var lhs ast.ScalarExpression = a.Column
	if a.Column == nil {
		lhs = a.Variable
	} else {
		ord, err := b.setColumn(a.Column, tg, src)
		if err != nil {
			return p, err
		}
		p.ord = ord
	}
	if _, ok := a.NewValue.(*ast.DefaultLiteral); ok && p.ord >= 0 {
		d, err := b.defaultFor(tg, p.ord)
		p.colConv = d
		return p, err
	}
	e, err := assigned(lhs, a.NewValue, a.AssignmentKind)
	if err != nil {
		return p, err
	}
	x, _, err := b.scalar(e)
	if err != nil {
		return p, err
	}
	if p.ord >= 0 {
		p.colConv, err = tg.convert(x, p.ord)
		return p, err
	}
	if x, err = expr.Cast(x, p.varConv, false); err != nil {
		return p, err
	}
	p.val = x.Eval
	return p, nil
}

// setColumn finds the column that SET names in the target's table. Errors: 207,
// 8102 the identity column, 271 a computed one.
func (b *block) setColumn(c *ast.ColumnReferenceExpression, tg *target, src *source) (int, error) {
	parts := identifiers(c.MultiPartIdentifier)
	if len(parts) == 0 {
		return 0, sqlerr.Unsupported(c.ColumnType)
	}
	name := parts[len(parts)-1]
	ord := tg.t.Column(name)
	if src != nil {
		i := src.column(name)
		if len(parts) > 1 && !src.matches(parts[:len(parts)-1]) && !catalog.EqualName(parts[len(parts)-2], tg.t.Name) {
			return 0, sqlerr.Unbound(strings.Join(parts, "."))
		}
		switch {
		case i < 0:
			ord = -1
		case src.cols[i].leaf == src.base:
			ord = src.cols[i].ord
		case src.origin != nil && src.origin[i] >= 0:
			ord = src.origin[i]
		default:
			return 0, sqlerr.New(4406, 16, 1, "Update or insert of view or function '%s' failed because it has a derived or constant field.", src.alias)
		}
	}
	if ord < 0 {
		return 0, sqlerr.InvalidColumn(name)
	}
	if tg.t.Identity != nil && tg.t.Identity.Column == ord {
		return 0, sqlerr.New(8102, 16, 1, "Identity column '%s' cannot be updated.", name)
	}
	if tg.t.Columns[ord].Computed != nil {
		return 0, tg.computedColumn(ord)
	}
	return ord, nil
}

// changeInstance is the state of one run: the rows that were found, each with
// its id, the values of SET and the registers that OUTPUT reads.
type changeInstance struct {
	run
	p     *changePlan
	start step
	width int
	found rowTable
	vals  []types.Value
	stop  error
	limit int64
	row   []types.Value
	rows  []types.Value // of OUTPUT
	undo  []undoRow
	late  []lateKey
	olds  []types.Value // the rows, when they leave the table before the new ones come
}

// undoRow takes back the change of one row of a table variable.
type undoRow struct {
	id  storage.RowID // the new row, 0 = none
	old []types.Value // nil = none
}

func (p *changePlan) instance() *changeInstance {
	if in, _ := p.pool.Get().(*changeInstance); in != nil {
		return in
	}
	in := &changeInstance{p: p, stop: newStop()}
	in.width = 1 + len(p.sets)
	if p.out != nil {
		in.width += len(p.out.regs)
	}
	in.found = rowTable{width: 1, keys: 1}
	in.row = make([]types.Value, in.width)
	in.start = p.root.bind(&in.run, in.find)
	return in
}

func (p *changePlan) run(f *expr.Frame, emit func(row []types.Value) error) (int64, error) {
	if err := cancelled(f); err != nil {
		return 0, err
	}
	if err := p.out.begin(f); err != nil {
		return 0, err
	}
	in := p.instance()
	in.f = f
	in.gen++
	n, err := in.all()
	if err == nil {
		err = p.out.flush(in.rows, emit)
	} else if p.tg.slot >= 0 {
		in.takeBack()
	}
	in.f = nil
	p.pool.Put(in)
	return n, err
}

func (in *changeInstance) all() (int64, error) {
	p, f := in.p, in.f
	in.found.reset()
	if cap(in.vals) > maxKept {
		in.vals, in.rows = nil, nil
	}
	in.vals, in.rows, in.undo, in.late, in.olds = in.vals[:0], in.rows[:0], in.undo[:0], in.late[:0], in.olds[:0]
	in.limit = -1
	if p.top != nil && !p.pct {
		_, left, err := limits(f, p.top, nil, nil)
		if err != nil || left == 0 {
			return 0, err
		}
		in.limit = left
	}
	if err := in.start(); err != nil && err != in.stop {
		return 0, err
	}
	n := in.found.n
	if p.pct {
		v, err := p.top.Eval(f)
		if err != nil {
			return 0, err
		}
		if v.IsNull() || v.Float() < 0 || v.Float() > 100 {
			return 0, sqlerr.New(1031, 15, 1, "Percent values must be between 0 and 100.")
		}
		n = int((float64(n)*v.Float() + 99.999999) / 100)
	}
	return int64(n), in.apply(n)
}

// find keeps the row in the registers, unless it is kept already.
func (in *changeInstance) find() error {
	p, f := in.p, in.f
	if int64(in.found.n) == in.limit {
		return in.stop
	}
	in.row[0] = f.Regs[p.leaf.rid]
	if in.row[0].IsNull() {
		return nil // the outer join found no row of the target
	}
	h := uint64(in.row[0].Int()) * 0x9E3779B97F4A7C15
	h ^= h >> 29
	if in.found.first(h, in.row[:1]) >= 0 {
		return nil
	}
	for i := range p.sets {
		s := &p.sets[i]
		v, err := s.eval(f)
		if err != nil {
			return err
		}
		in.row[1+i] = v
		if s.slot >= 0 {
			if s.ord >= 0 {
				if v, err = types.Assign(v, s.varConv); err != nil {
					return err
				}
			}
			f.Vars[s.slot] = v
		}
	}
	if p.out != nil {
		save(f, p.out.regs, in.row[1+len(p.sets):])
	}
	in.found.add(h, in.row[:1])
	in.vals = append(in.vals, in.row...)
	return nil
}

// apply changes the first n rows that were found.
func (in *changeInstance) apply(n int) error {
	p, f := in.p, in.f
	data := p.tg.data(f)
	w := len(p.tg.t.Columns)
	if p.unique && n > 1 {
		in.olds = slices.Grow(in.olds, n*w)
		for i := range n {
			id := storage.RowID(in.vals[i*in.width].Int())
			in.olds = in.olds[:(i+1)*w]
			data.Read(id, nil, in.olds[i*w:])
			if err := data.Delete(f.Tx, id); err != nil {
				in.olds = in.olds[:i*w]
				return err
			}
		}
	}
	for i := range n {
		row := in.vals[i*in.width : (i+1)*in.width]
		var old []types.Value
		if len(in.olds) > 0 {
			old = in.olds[i*w : (i+1)*w]
		}
		if err := in.r(row, data, old); err != nil {
			return err
		}
		if err := in.tick(); err != nil {
			return err
		}
	}
	return p.tg.checkLate(f, in.late, p.tg.action)
}

// r changes one row; gone is the old one when it is out of the table already.
func (in *changeInstance) r(row []types.Value, data *storage.Table, gone []types.Value) error {
	p, f := in.p, in.f
	tg := p.tg
	id := storage.RowID(row[0].Int())
	old := tg.oldRow(f)
	local := tg.slot >= 0
	if gone != nil {
		copy(old, gone)
	} else if !p.delete || p.out != nil || len(tg.children) > 0 || local {
		data.Read(id, nil, old)
	}
	if p.delete {
		if err := tg.checkChildren(f, old, nil, "DELETE", &in.late); err != nil {
			return err
		}
		if err := data.Delete(f.Tx, id); err != nil {
			return err
		}
		if local {
			in.undo = append(in.undo, undoRow{old: append([]types.Value(nil), old...)})
		}
	} else if err := in.update(row, data, id, old, gone != nil); err != nil {
		return err
	}
	if p.out != nil {
		load(f, p.out.regs, row[1+len(p.sets):])
		return p.out.take(f, &in.rows)
	}
	return nil
}

func (in *changeInstance) update(row []types.Value, data *storage.Table, id storage.RowID, old []types.Value, apart bool) error {
	p, f := in.p, in.f
	tg := p.tg
	fresh := tg.row(f)
	copy(fresh, old)
	for i := range p.sets {
		if ord := p.sets[i].ord; ord >= 0 {
			fresh[ord] = row[1+i]
		}
	}
	if err := tg.finish(f, "UPDATE"); err != nil {
		return err
	}
	if len(tg.parents) > 0 {
		if err := tg.checkParents(f, fresh, p.changed, "UPDATE", &in.late); err != nil {
			return err
		}
	}
	if len(tg.children) > 0 {
		if err := tg.checkChildren(f, old, fresh, "UPDATE", &in.late); err != nil {
			return err
		}
	}
	if tg.slot < 0 && !apart {
		return tg.duplicate(data.Update(f.Tx, id, fresh), fresh)
	}
	if !apart {
		if err := data.Delete(f.Tx, id); err != nil {
			return err
		}
	}
	u := undoRow{}
	if tg.slot >= 0 {
		u.old = append([]types.Value(nil), old...)
	}
	var err error
	u.id, err = data.Insert(f.Tx, fresh)
	if tg.slot >= 0 {
		in.undo = append(in.undo, u)
	}
	return tg.duplicate(err, fresh)
}

// takeBack undoes what was done to a table variable: it is not part of the
// transaction, but a statement is done whole or not at all.
func (in *changeInstance) takeBack() {
	data := in.p.tg.data(in.f)
	for _, u := range in.undo {
		if u.id != 0 {
			_ = data.Delete(in.f.Tx, u.id)
		}
	}
	for _, u := range in.undo {
		if u.old != nil {
			_, _ = data.Insert(in.f.Tx, u.old)
		}
	}
	// Rows that were taken out and not yet put back.
	w := len(in.p.tg.t.Columns)
	for at := len(in.undo) * w; at < len(in.olds); at += w {
		_, _ = data.Insert(in.f.Tx, in.olds[at:at+w])
	}
}
