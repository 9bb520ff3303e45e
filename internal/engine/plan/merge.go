package plan

import (
	"sync"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
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
