package plan

import (
	"fmt"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
)

// itemKind is the kind of a treeItem.
type itemKind uint8

const (
	leafItem  itemKind = iota
	groupItem          // inner joins: items and their conditions in any order
	leftItem           // left outer join; OUTER APPLY when right is lateral
	fullItem
)

// treeItem is a part of a FROM clause before an order of joins is chosen.
type treeItem struct {
	kind        itemKind
	leaf        *leaf
	items       []*treeItem // of a group
	left, right *treeItem
	conds       []*conjunct // of a group, or the ON of an outer join
	leaves      leafSet     // all below
	lateral     leafSet     // leaves elsewhere in the block on which it depends
}

func (b *block) leafItem(l *leaf) *treeItem {
	t := &treeItem{kind: leafItem, leaf: l, lateral: l.lateral}
	t.leaves.add(l.id)
	return t
}

// from compiles a FROM clause into one item.
func (b *block) from(f *ast.FromClause) (*treeItem, error) {
	group := &treeItem{kind: groupItem}
	for _, ref := range f.TableReferences {
		t, err := b.tableRef(ref, false)
		if err != nil {
			return nil, err
		}
		group.items = append(group.items, t)
		group.leaves.addAll(t.leaves)
	}
	return group, nil
}

// tableRef compiles a table reference. padded tells that its rows may be
// replaced by NULLs in an outer join.
func (b *block) tableRef(ref ast.TableReference, padded bool) (*treeItem, error) {
	t, err := b.tableRefAt(ref, padded)
	return t, sqlerr.AtLine(err, tsql.Line(ref))
}

func (b *block) tableRefAt(ref ast.TableReference, padded bool) (*treeItem, error) {
	switch r := ref.(type) {
	case *ast.NamedTableReference:
		return b.namedTable(r, padded)
	case *ast.VariableTableReference:
		return b.variableTable(r)
	case *ast.QualifiedJoin:
		return b.qualifiedJoin(r, padded)
	case *ast.UnqualifiedJoin:
		return b.unqualifiedJoin(r, padded)
	case *ast.JoinParenthesisTableReference:
		return b.tableRef(r.Join, padded)
	case *ast.OdbcQualifiedJoinTableReference:
		return b.tableRef(r.TableReference, padded)
	case *ast.QueryDerivedTable:
		if r.Alias == nil {
			return nil, sqlerr.Syntax(")")
		}
		return b.derived(r.QueryExpression, r.Alias.Value, names(r.Columns), padded, b.parent)
	case *ast.InlineDerivedTable:
		return b.inlineValues(r)
	case *ast.SchemaObjectFunctionTableReference:
		return b.tableFunction(r)
	case *ast.GlobalFunctionTableReference:
		return b.globalFunction(r)
	case *ast.PivotedTableReference:
		return nil, sqlerr.Unsupported("PIVOT")
	case *ast.UnpivotedTableReference:
		return nil, sqlerr.Unsupported("UNPIVOT")
	case *ast.DataModificationTableReference:
		return nil, sqlerr.Unsupported("a data modification as a table source")
	case *ast.InternalOpenRowset:
		return nil, sqlerr.Unsupported("OPENROWSET")
	}
	return nil, sqlerr.Unsupported(refName(ref))
}

// refName turns the type of a node into words: *ast.OpenXmlTableReference is
// OPENXML.
func refName(n any) string {
	s := fmt.Sprintf("%T", n)
	s = s[strings.LastIndexByte(s, '.')+1:]
	return strings.ToUpper(strings.TrimSuffix(s, "TableReference"))
}

func names(ids []*ast.Identifier) []string {
	var l []string
	for _, id := range ids {
		l = append(l, id.Value)
	}
	return l
}

func (b *block) namedTable(r *ast.NamedTableReference, padded bool) (*treeItem, error) {
	if r.TableSampleClause != nil {
		return nil, sqlerr.Unsupported("TABLESAMPLE")
	}
	if r.TemporalClause != nil {
		return nil, sqlerr.Unsupported("FOR SYSTEM_TIME")
	}
	name := r.SchemaObject
	alias := name.BaseIdentifier.Value
	if r.Alias != nil {
		alias = r.Alias.Value
	}
	if name.SchemaIdentifier == nil && name.DatabaseIdentifier == nil {
		if cte := b.st.ctes.find(name.BaseIdentifier.Value); cte != nil {
			if len(r.TableHints) > 0 {
				return nil, sqlerr.Unsupported("a table hint on a common table expression")
			}
			return b.cteRef(cte, alias, padded)
		}
	}
	h, err := readHints(r.TableHints, false)
	if err != nil {
		return nil, err
	}
	t, err := b.c.resolve(b.st, name)
	if err != nil {
		return nil, err
	}
	if t.View != nil {
		return b.view(t, name, alias, padded, r.Alias != nil, h)
	}
	l, s, err := b.tableLeaf(t, -1, alias, h)
	if err != nil {
		return nil, err
	}
	if r.Alias == nil {
		s.schema = t.Schema
	}
	if t.System != nil {
		l.make = &systemRows{table: t, leaf: l}
	}
	return b.leafItem(l), b.addSource(s)
}

// resolve finds a table by name and notes that the plan depends on it.
func (c *Compiler) resolve(st *statement, name *ast.SchemaObjectName) (*catalog.Table, error) {
	if name.ServerIdentifier != nil && name.ServerIdentifier.Value != "" {
		return nil, sqlerr.Unsupported("a linked server").At(tsql.Line(name))
	}
	if st.db != nil && (name.DatabaseIdentifier == nil || name.DatabaseIdentifier.Value == "") {
		q := *name
		q.DatabaseIdentifier = st.db
		name = &q
	}
	t, err := c.Tables.Table(name)
	if err != nil {
		return nil, sqlerr.AtLine(err, tsql.Line(name))
	}
	c.deps.add(t, name)
	return t, nil
}

// tableLeaf makes the leaf of a table or of the table variable in slot.
func (b *block) tableLeaf(t *catalog.Table, slot int, alias string, h hints) (*leaf, *source, error) {
	cols := make([]leafColumn, len(t.Columns))
	shown := make([]Column, len(t.Columns))
	for i := range t.Columns {
		c := &t.Columns[i]
		cols[i] = leafColumn{typ: c.Type, nullable: c.Nullable}
		shown[i] = Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable, Identity: c.Identity}
	}
	l := b.newLeaf(alias, cols)
	l.table, l.slot, l.hints = t, slot, h
	b.st.locks = b.st.locks || h.lock
	if err := h.check(t); err != nil {
		return nil, nil, err
	}
	return l, b.leafSource(alias, l, shown), nil
}

func (b *block) variableTable(r *ast.VariableTableReference) (*treeItem, error) {
	slot, t, ok := b.c.Scope.LookupTable(r.Variable.Name)
	if !ok {
		return nil, sqlerr.UndeclaredTable(r.Variable.Name)
	}
	alias := r.Variable.Name
	if r.Alias != nil {
		alias = r.Alias.Value
	}
	if b.st.slots == nil {
		b.st.slots = map[int]bool{}
	}
	b.st.slots[slot] = true
	l, s, err := b.tableLeaf(t, slot, alias, hints{})
	if err != nil {
		return nil, err
	}
	return b.leafItem(l), b.addSource(s)
}

func (b *block) qualifiedJoin(r *ast.QualifiedJoin, padded bool) (*treeItem, error) {
	switch r.JoinHint {
	case "", "None", "Loop", "Hash", "Merge":
		// How rows are brought together is the engine's affair: the result is the same.
	default:
		return nil, sqlerr.Unsupported(strings.ToUpper(r.JoinHint) + " JOIN")
	}
	padLeft := padded || r.QualifiedJoinType == "RightOuter" || r.QualifiedJoinType == "FullOuter"
	padRight := padded || r.QualifiedJoinType == "LeftOuter" || r.QualifiedJoinType == "FullOuter"
	first := len(b.sources)
	left, err := b.tableRef(r.FirstTableReference, padLeft)
	if err != nil {
		return nil, err
	}
	right, err := b.tableRef(r.SecondTableReference, padRight)
	if err != nil {
		return nil, err
	}
	// ON sees the two sides of its join only.
	hidden := b.sources[:first]
	b.sources = b.sources[first:]
	on, err := b.split(r.SearchCondition)
	b.sources = append(hidden[:first:first], b.sources...)
	if err != nil {
		return nil, err
	}
	all := left.leaves.union(right.leaves)
	switch r.QualifiedJoinType {
	case "", "Inner":
		return &treeItem{kind: groupItem, items: []*treeItem{left, right}, conds: on, leaves: all}, nil
	case "RightOuter":
		left, right = right, left
		fallthrough
	case "LeftOuter":
		return &treeItem{kind: leftItem, left: left, right: right, conds: on, leaves: all}, nil
	case "FullOuter":
		return &treeItem{kind: fullItem, left: left, right: right, conds: on, leaves: all}, nil
	}
	return nil, sqlerr.Unsupported(r.QualifiedJoinType + " JOIN")
}

func (b *block) unqualifiedJoin(r *ast.UnqualifiedJoin, padded bool) (*treeItem, error) {
	left, err := b.tableRef(r.FirstTableReference, padded)
	if err != nil {
		return nil, err
	}
	if r.UnqualifiedJoinType == "CrossJoin" {
		right, err := b.tableRef(r.SecondTableReference, padded)
		if err != nil {
			return nil, err
		}
		return &treeItem{kind: groupItem, items: []*treeItem{left, right}, leaves: left.leaves.union(right.leaves)}, nil
	}
	outer := r.UnqualifiedJoinType == "OuterApply"
	if !outer && r.UnqualifiedJoinType != "CrossApply" {
		return nil, sqlerr.Unsupported(r.UnqualifiedJoinType)
	}
	var right *treeItem
	if d, ok := r.SecondTableReference.(*ast.QueryDerivedTable); ok {
		if d.Alias == nil {
			return nil, sqlerr.Syntax(")")
		}
		right, err = b.derived(d.QueryExpression, d.Alias.Value, names(d.Columns), padded || outer, b)
		err = sqlerr.AtLine(err, tsql.Line(d))
	} else {
		right, err = b.tableRef(r.SecondTableReference, padded || outer)
	}
	if err != nil {
		return nil, err
	}
	all := left.leaves.union(right.leaves)
	if outer {
		return &treeItem{kind: leftItem, left: left, right: right, leaves: all}, nil
	}
	return &treeItem{kind: groupItem, items: []*treeItem{left, right}, leaves: all}, nil
}

// derived compiles a query in FROM. What is simple joins its tables to those of
// the block; other queries become a leaf. The query's names are looked up in
// around: the block itself for APPLY.
func (b *block) derived(q ast.QueryExpression, alias string, cols []string, padded bool, around *block) (*treeItem, error) {
	inner := b.c.newBlock(b.st, around)
	var qr *query
	refs, err := b.tracked(func() (err error) {
		qr, err = inner.query(q, queryUse{derived: true})
		return err
	})
	if err != nil {
		return nil, err
	}
	shown, err := derivedColumns(qr.cols, alias, cols)
	if err != nil {
		return nil, err
	}
	lateral := leafSet{}
	if around == b {
		lateral = refs.and(b.leaves)
	}
	t, err := b.addDerived(qr, alias, shown, padded, lateral)
	if err == nil && t.kind == leafItem {
		t.leaf.outer = refs.meets(b.around())
	}
	return t, err
}

// derivedColumns gives the columns of a derived table their names. Errors:
// 8155 a column has none, 8156 two have the same, 8158 and 8159 the column list
// has another length.
func derivedColumns(cols []Column, alias string, names []string) ([]Column, error) {
	shown := append([]Column(nil), cols...)
	if names != nil {
		if len(names) < len(cols) {
			return nil, sqlerr.New(8158, 16, 1, "'%s' has more columns than its column list gives.", alias)
		}
		if len(names) > len(cols) {
			return nil, sqlerr.New(8159, 16, 1, "'%s' has fewer columns than its column list gives.", alias)
		}
		for i := range shown {
			shown[i].Name = names[i]
		}
	}
	seen := map[string]bool{}
	for i := range shown {
		if shown[i].Name == "" {
			return nil, sqlerr.New(8155, 16, 2, "Column %d of '%s' has no name.", i+1, alias)
		}
		k := catalog.Fold(strings.ToLower(shown[i].Name))
		if seen[k] {
			return nil, sqlerr.New(8156, 16, 1, "The column '%s' is given more than once for '%s'.", shown[i].Name, alias)
		}
		seen[k] = true
	}
	return shown, nil
}

// addDerived makes a compiled query a source of the block.
func (b *block) addDerived(q *query, alias string, shown []Column, padded bool, lateral leafSet) (*treeItem, error) {
	if in := q.flat; in != nil && (!padded || q.plainColumns()) {
		s := &source{id: b.st.sources, alias: alias, cols: make([]column, len(shown))}
		b.st.sources++
		for i := range shown {
			s.cols[i] = q.sourced[i]
			s.cols[i].Column = shown[i]
		}
		if len(in.leafs) == 1 {
			s.base = in.leafs[0]
		}
		b.leaves.addAll(in.leaves)
		b.leafs = append(b.leafs, in.leafs...)
		t := &treeItem{kind: groupItem, items: []*treeItem{in.tree}, conds: in.conds, leaves: in.leaves, lateral: lateral}
		return t, b.addSource(s)
	}
	root, err := q.root()
	if err != nil {
		return nil, err
	}
	cols := make([]leafColumn, len(shown))
	for i, c := range shown {
		cols[i] = leafColumn{typ: c.Type, nullable: c.Nullable}
	}
	l := b.newLeaf(alias, cols)
	l.lateral = lateral
	b.deriveNode(l, root, q)
	s := b.leafSource(alias, l, shown)
	s.base, s.origin = q.target()
	return b.leafItem(l), b.addSource(s)
}

// target is the one table whose rows a query shows, so that a statement can
// change them through it; nil when there is none.
func (q *query) target() (*leaf, []int) {
	b := q.block
	if len(b.leafs) != 1 || b.agg != nil || q.once || b.leafs[0].table == nil || b.leafs[0].make != nil {
		return nil, nil
	}
	origin := make([]int, len(q.sourced))
	for i, c := range q.sourced {
		origin[i] = -1
		if c.leaf == b.leafs[0] {
			origin[i] = c.ord
		}
	}
	return b.leafs[0], origin
}

// deriveNode makes the rows of a query the rows of a leaf; only columns that
// the statement uses are evaluated.
func (b *block) deriveNode(l *leaf, root node, q *query) {
	p := &project{child: root}
	l.make = p
	b.st.finish = append(b.st.finish, func() {
		for i := range l.cols {
			if l.cols[i].used {
				p.exprs = append(p.exprs, q.out[i].Eval)
				p.regs = append(p.regs, l.reg+i)
			}
		}
	})
}

// maxViews is how deep views may refer to views, as on SQL Server.
const maxViews = 32

func (b *block) view(t *catalog.Table, name *ast.SchemaObjectName, alias string, padded, aliased bool, h hints) (*treeItem, error) {
	if b.st.views >= maxViews {
		return nil, sqlerr.New(217, 16, 1, "Views, procedures, functions or triggers are nested deeper than %d levels.", maxViews)
	}
	b.st.views++
	ctes, db := b.st.ctes, b.st.db
	b.st.ctes = nil
	if name.DatabaseIdentifier != nil && name.DatabaseIdentifier.Value != "" {
		b.st.db = name.DatabaseIdentifier
	}
	defer func() { b.st.views--; b.st.ctes, b.st.db = ctes, db }()
	inner := b.c.newBlock(b.st, nil)
	if err := b.st.withCTEs(inner, t.View.Select.WithCtesAndXmlNamespaces); err != nil {
		return nil, err
	}
	q, err := inner.query(t.View.Select.QueryExpression, queryUse{derived: true})
	if err != nil {
		return nil, err
	}
	shown, err := derivedColumns(q.cols, t.Name, t.View.Names)
	if err != nil {
		return nil, err
	}
	item, err := b.addDerived(q, alias, shown, padded, nil)
	if err != nil {
		return nil, err
	}
	if !aliased {
		b.sources[len(b.sources)-1].schema = t.Schema
	}
	for _, l := range inner.leafs {
		if l.table != nil && l.hints.empty() {
			l.hints = h
			b.st.locks = b.st.locks || h.lock
		}
	}
	return item, nil
}
