package plan

import (
	"strings"
	"sync"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
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
