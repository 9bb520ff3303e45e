package plan

import (
	"sync"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// mergePlan is a compiled MERGE. The joined rows are found first, and what
// each clause does is done afterwards: deletes, updates, inserts.
type mergePlan struct {
	tg     *target
	leaf   *leaf // of the target
	source int   // register that is NULL when a row has no source, -1 = never
	root   node
	when   []*whenClause
	top    *expr.Expr
	out    *output
	action int // register of $action
	pool   sync.Pool
}

type whenKind uint8

const (
	whenMatched whenKind = iota
	whenNotMatched
	whenNotMatchedBySource
)

type whenClause struct {
	kind   whenKind
	conds  []cond
	delete bool
	sets   []setPlan
	in     *inserter
	// changed says which columns an UPDATE writes.
	changed []bool
}

func (w *whenClause) values() int {
	if w.in != nil {
		return len(w.in.given)
	}
	return len(w.sets)
}

func (c *Compiler) mergeStatement(s *ast.MergeStatement) (*DML, error) {
	b := c.begin()
	d, err := b.merge(s)
	return d, sqlerr.AtLine(err, tsql.Line(s))
}

func (b *block) merge(s *ast.MergeStatement) (*DML, error) {
	spec := s.MergeSpecification
	h, err := readQueryHints(s.OptimizerHints)
	if err != nil {
		return nil, err
	}
	b.st.hints = h
	if err := b.st.withCTEs(b, s.WithCtesAndXmlNamespaces); err != nil {
		return nil, err
	}
	target := spec.Target
	if n, ok := target.(*ast.NamedTableReference); ok && n.Alias == nil && spec.TableAlias != nil {
		aliased := *n
		aliased.Alias = spec.TableAlias
		target = &aliased
	}
	item, err := b.targetRef(target)
	if err != nil {
		return nil, err
	}
	src, tg, err := b.changes(b.sources[0], "MERGE")
	if err != nil {
		return nil, err
	}
	p := &mergePlan{tg: tg, leaf: src.base, source: -1, action: b.c.regs(1)}
	using, err := b.tableRef(spec.TableReference, true)
	if err != nil {
		return nil, err
	}
	on, err := b.split(spec.SearchCondition)
	if err != nil {
		return nil, err
	}
	if spec.TopRowFilter != nil {
		if spec.TopRowFilter.Percent {
			return nil, sqlerr.Unsupported("TOP PERCENT in MERGE")
		}
		if p.top, err = b.rowCount(spec.TopRowFilter.Expression, false); err != nil {
			return nil, err
		}
	}
	b.mergeTree(p, item, using, on, spec.ActionClauses)
	for _, a := range spec.ActionClauses {
		w, err := b.whenClause(a, tg, src)
		if err != nil {
			return nil, sqlerr.AtLine(err, tsql.Line(a))
		}
		p.when = append(p.when, w)
	}
	if p.out, err = b.compileOutput(tg, spec.OutputClause, nil, p.action); err != nil {
		return nil, err
	}
	if p.root, _, err = b.plan(b.tree, nil, nil, false); err != nil {
		return nil, err
	}
	b.st.done()
	d := &DML{Output: p.out.columns(), Deps: b.c.deps.take(), Run: p.run}
	if tg.slot < 0 {
		d.Target = tg.t
	}
	return d, nil
}

// mergeTree joins the source to the target: as an outer join where rows
// without a match count.
func (b *block) mergeTree(p *mergePlan, target, using *treeItem, on []*conjunct, clauses []*ast.MergeActionClause) {
	all := target.leaves.union(using.leaves)
	bySource := false
	byTarget := false
	for _, c := range clauses {
		switch whenOf(c.Condition) {
		case whenNotMatchedBySource:
			bySource = true
		case whenNotMatched:
			byTarget = true
		}
	}
	if !bySource {
		if byTarget {
			b.tree = &treeItem{kind: leftItem, left: using, right: target, conds: on, leaves: all}
		} else {
			b.tree = &treeItem{kind: groupItem, items: []*treeItem{using, target}, conds: on, leaves: all}
		}
		return
	}
	// A mark beside the source tells the rows that have one.
	mark := &valueRows{rows: [][]evalFunc{{expr.Constant(types.Int, types.NewInt(types.KindInt, 1)).Eval}}}
	l := b.makeLeaf("", []Column{{Name: "mark", Type: types.Int}}, mark)
	mark.leaf = l
	p.source = l.reg
	marked := &treeItem{kind: groupItem, items: []*treeItem{using, b.leafItem(l)}, leaves: using.leaves.union(leafSet{})}
	marked.leaves.add(l.id)
	b.tree = &treeItem{kind: fullItem, left: marked, right: target, conds: on, leaves: b.leaves}
}

func whenOf(s string) whenKind {
	switch s {
	case "Matched":
		return whenMatched
	case "NotMatchedBySource":
		return whenNotMatchedBySource
	}
	return whenNotMatched
}

func (b *block) whenClause(a *ast.MergeActionClause, tg *target, src *source) (*whenClause, error) {
	w := &whenClause{kind: whenOf(a.Condition)}
	conds, err := b.split(a.SearchCondition)
	if err != nil {
		return nil, err
	}
	for _, c := range conds {
		w.conds = append(w.conds, c.cond)
	}
	switch act := a.Action.(type) {
	case *ast.DeleteMergeAction:
		w.delete = true
	case *ast.UpdateMergeAction:
		if w.sets, err = b.setClauses(act.SetClauses, tg, src); err != nil {
			return nil, err
		}
		p := changePlan{tg: tg, sets: w.sets}
		p.mark()
		w.changed = p.changed
	case *ast.InsertMergeAction:
		w.in, err = b.mergeInsert(act, tg)
		return w, err
	default:
		return nil, sqlerr.Unsupported("this MERGE action")
	}
	if w.kind == whenNotMatched {
		return nil, sqlerr.New(10711, 15, 1, "An action of type '%s' is not allowed in the 'WHEN NOT MATCHED' clause of a MERGE statement.", map[bool]string{true: "DELETE", false: "UPDATE"}[w.delete])
	}
	return w, nil
}

func (b *block) mergeInsert(act *ast.InsertMergeAction, tg *target) (*inserter, error) {
	vals, ok := act.Source.(*ast.ValuesInsertSource)
	if !ok {
		return nil, sqlerr.Unsupported("this source of a MERGE insert")
	}
	cols, err := tg.targetColumns(act.Columns)
	if err != nil {
		return nil, err
	}
	if vals.IsDefaultValues {
		return b.newInserter(tg, nil, true, 0)
	}
	if len(vals.RowValues) != 1 {
		return nil, sqlerr.Syntax(",")
	}
	row := vals.RowValues[0].ColumnValues
	in, err := b.newInserter(tg, cols, len(act.Columns) > 0, len(row))
	if err != nil {
		return nil, err
	}
	if len(row) != len(in.cols) {
		if len(act.Columns) == 0 {
			return nil, sqlerr.ColumnCount()
		}
		return nil, sqlerr.MoreColumns(len(row) < len(in.cols))
	}
	for i, e := range row {
		var c colConv
		if _, ok := e.(*ast.DefaultLiteral); ok {
			c, err = b.defaultFor(tg, in.cols[i])
		} else {
			x, _, xerr := b.scalar(e)
			if xerr != nil {
				return nil, xerr
			}
			c, err = tg.convert(x, in.cols[i])
		}
		if err != nil {
			return nil, err
		}
		in.given = append(in.given, c)
	}
	return in, nil
}

// mergeInstance is the state of one run.
type mergeInstance struct {
	run
	p     *mergePlan
	start step
	conds [][]func() (expr.Tri, error)
	seen  rowTable
	acts  []mergeAct
	vals  []types.Value
	rows  []types.Value // of OUTPUT
	late  []lateKey
	left  int64
	stop  error
	undo  []undoRow
}

// mergeAct is what is to be done for one joined row.
type mergeAct struct {
	when *whenClause
	id   storage.RowID
	at   int // in vals: the values, then the registers of OUTPUT
}

func (p *mergePlan) instance() *mergeInstance {
	if in, _ := p.pool.Get().(*mergeInstance); in != nil {
		return in
	}
	in := &mergeInstance{p: p, stop: newStop(), seen: rowTable{width: 1, keys: 1}}
	for _, w := range p.when {
		in.conds = append(in.conds, bindConds(&in.run, w.conds))
	}
	in.start = p.root.bind(&in.run, in.find)
	return in
}

func (p *mergePlan) run(f *expr.Frame, emit func(row []types.Value) error) (int64, error) {
	if err := cancelled(f); err != nil {
		return 0, err
	}
	for _, w := range p.when {
		if w.in != nil {
			if err := w.in.identityInsert(f); err != nil {
				return 0, err
			}
		}
	}
	if err := p.out.begin(f); err != nil {
		return 0, err
	}
	in := p.instance()
	in.f = f
	in.gen++
	err := in.all()
	n := int64(len(in.acts))
	if err == nil {
		err = p.out.flush(in.rows, emit)
	} else if p.tg.slot >= 0 {
		in.takeBack()
	}
	in.f = nil
	p.pool.Put(in)
	return n, err
}

func (in *mergeInstance) all() error {
	in.seen.reset()
	in.acts, in.vals, in.rows, in.late, in.undo = in.acts[:0], in.vals[:0], in.rows[:0], in.late[:0], in.undo[:0]
	in.left = -1
	if in.p.top != nil {
		_, left, err := limits(in.f, in.p.top, nil, nil)
		if err != nil || left == 0 {
			return err
		}
		in.left = left
	}
	if err := in.start(); err != nil && err != in.stop {
		return err
	}
	for _, do := range []func(w *whenClause) bool{
		func(w *whenClause) bool { return w.delete },
		func(w *whenClause) bool { return !w.delete && w.in == nil },
		func(w *whenClause) bool { return w.in != nil },
	} {
		for i := range in.acts {
			if a := &in.acts[i]; do(a.when) {
				if err := in.act(a); err != nil {
					return err
				}
				if err := in.tick(); err != nil {
					return err
				}
			}
		}
	}
	return in.p.tg.checkLate(in.f, in.late, "MERGE")
}

// find decides which clause takes the joined row in the registers.
func (in *mergeInstance) find() error {
	p, f := in.p, in.f
	if in.left == 0 {
		return in.stop
	}
	rid := f.Regs[p.leaf.rid]
	kind := whenMatched
	switch {
	case rid.IsNull():
		kind = whenNotMatched
	case p.source >= 0 && f.Regs[p.source].IsNull():
		kind = whenNotMatchedBySource
	}
	for i, w := range p.when {
		if w.kind != kind {
			continue
		}
		ok, err := holds(in.conds[i])
		if err != nil {
			return err
		}
		if ok {
			return in.keep(w, rid)
		}
	}
	return nil
}

func (in *mergeInstance) keep(w *whenClause, rid types.Value) error {
	f := in.f
	a := mergeAct{when: w, at: len(in.vals)}
	if w.in == nil {
		a.id = storage.RowID(rid.Int())
		key := [1]types.Value{rid}
		h := hashRow(key[:])
		if in.seen.first(h, key[:]) >= 0 {
			return sqlerr.New(8672, 16, 1, "The MERGE statement tried to UPDATE or DELETE the same row more than once: a target row matches more than one source row. Refine the ON clause, or group the source rows.")
		}
		in.seen.add(h, key[:])
		for i := range w.sets {
			s := &w.sets[i]
			v, err := s.eval(f)
			if err != nil {
				return err
			}
			in.vals = append(in.vals, v)
			if s.slot >= 0 {
				if s.ord >= 0 {
					if v, err = types.Assign(v, s.varConv); err != nil {
						return err
					}
				}
				f.Vars[s.slot] = v
			}
		}
	} else {
		for i := range w.in.given {
			v, err := w.in.given[i].eval(f)
			if err != nil {
				return err
			}
			in.vals = append(in.vals, v)
		}
	}
	if in.p.out != nil {
		for _, r := range in.p.out.regs {
			in.vals = append(in.vals, f.Regs[r])
		}
	}
	in.acts = append(in.acts, a)
	in.left--
	return nil
}

// act does what a clause says.
func (in *mergeInstance) act(a *mergeAct) error {
	p, f := in.p, in.f
	tg, w := p.tg, a.when
	vals := in.vals[a.at:]
	data := tg.data(f)
	fresh, old := tg.row(f), tg.oldRow(f)
	name := "INSERT"
	switch {
	case w.in != nil:
		clear(old)
		for i := range w.in.given {
			fresh[w.in.given[i].ord] = vals[i]
		}
		var ids []storage.RowID
		if err := w.in.put(f, fresh, &ids, &in.late); err != nil {
			return err
		}
		for _, id := range ids {
			in.undo = append(in.undo, undoRow{id: id})
		}
	case w.delete:
		name = "DELETE"
		clear(fresh)
		data.Read(a.id, nil, old)
		if err := tg.checkChildren(f, old, nil, "MERGE", &in.late); err != nil {
			return err
		}
		if err := data.Delete(f.Tx, a.id); err != nil {
			return err
		}
		if tg.slot >= 0 {
			in.undo = append(in.undo, undoRow{old: append([]types.Value(nil), old...)})
		}
	default:
		name = "UPDATE"
		if err := in.update(a, vals, data); err != nil {
			return err
		}
	}
	if p.out == nil {
		return nil
	}
	load(f, p.out.regs, vals[w.values():])
	f.Regs[p.action] = types.NewString(types.KindNVarChar, name)
	return p.out.take(f, &in.rows)
}

func (in *mergeInstance) update(a *mergeAct, vals []types.Value, data *storage.Table) error {
	f, tg, w := in.f, in.p.tg, a.when
	fresh, old := tg.row(f), tg.oldRow(f)
	data.Read(a.id, nil, old)
	copy(fresh, old)
	for i := range w.sets {
		if ord := w.sets[i].ord; ord >= 0 {
			fresh[ord] = vals[i]
		}
	}
	if err := tg.finish(f, "UPDATE"); err != nil {
		return err
	}
	if err := tg.checkParents(f, fresh, w.changed, "MERGE", &in.late); err != nil {
		return err
	}
	if err := tg.checkChildren(f, old, fresh, "MERGE", &in.late); err != nil {
		return err
	}
	if tg.slot < 0 {
		return tg.duplicate(data.Update(f.Tx, a.id, fresh), fresh)
	}
	if err := data.Delete(f.Tx, a.id); err != nil {
		return err
	}
	u := undoRow{old: append([]types.Value(nil), old...)}
	var err error
	u.id, err = data.Insert(f.Tx, fresh)
	in.undo = append(in.undo, u)
	return tg.duplicate(err, fresh)
}

// takeBack undoes what was done to a table variable.
func (in *mergeInstance) takeBack() {
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
}
