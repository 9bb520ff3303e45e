package plan

import (
	"strconv"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// leaf is a row source whose columns stand in registers: a table, a table
// variable, or the rows of an operator. Column i is in register reg+i.
type leaf struct {
	id    int
	name  string
	reg   int
	cols  []leafColumn
	table *catalog.Table // nil when make is set
	slot  int            // of a table variable in Frame.Tables, else -1
	make  node           // the source of a derived leaf; fills the registers itself
	rid   int            // register of the row's RowID, -1 = not wanted
	hints hints
	// lateral are the leaves beside which the rows of make are made.
	lateral leafSet
	// outer tells that the rows of make depend on a query around this one.
	outer bool
}

type leafColumn struct {
	typ      types.Type
	nullable bool
	used     bool
}

// column is a column that a source shows.
type column struct {
	Column
	leaf *leaf     // set for a plain column of a leaf
	ord  int       // its position there
	ex   expr.Expr // the value
	refs leafSet   // what the value is made from
}

// source is one name in a FROM clause.
type source struct {
	id     int
	alias  string // "" = none: a join in parentheses, the columns of an operator
	schema string // of a table without alias
	cols   []column
	base   *leaf // the table's leaf when the source is a table or shows just one
	origin []int // by column of a source that is no leaf of base: its column there, or -1
}

func (s *source) column(name string) int {
	for i := range s.cols {
		if catalog.EqualName(s.cols[i].Name, name) {
			return i
		}
	}
	return -1
}

// block is a query block being compiled: what its expressions see and what
// they asked for.
type block struct {
	c       *Compiler
	st      *statement
	parent  *block // whose columns a correlated subquery sees
	sources []*source
	leaves  leafSet // of this block, those of flattened blocks included
	tree    *treeItem
	conds   []*conjunct
	agg     *grouping // not nil when the block groups
	grouped bool      // what is compiled now comes after the grouping
	clause  string    // being compiled, for messages: "select list", "HAVING" ...
	// overGroups tells that the aggregate being compiled is a windowed one: its
	// argument sees the grouped rows.
	overGroups bool
	inAgg      bool // within the argument of an aggregate
	windows    []*windowCall
	winOK      bool // window functions are allowed in the clause being compiled
	ex         *expr.Compiler
	scope      *expr.Scope
	marker     []string // a name that the scope resolves: see cross
	leafs      []*leaf
	extra      []int // registers that operators above the joins fill
}

// statement is what the blocks of one statement share.
type statement struct {
	leaves  int
	sources int
	ctes    *cteScope
	refs    leafSet         // what the expression being compiled refers to
	views   int             // depth of views within views
	cascade int             // depth of foreign keys whose actions set off others
	db      *ast.Identifier // of the view being expanded
	hints   queryHints
	slots   map[int]bool // table variables that the statement reads
	locks   bool         // UPDLOCK or XLOCK is among the hints
	finish  []func()     // to be done when all of the statement is compiled
}

// newBlock makes a block whose correlated names are looked up in parent, which
// may be nil.
func (c *Compiler) newBlock(st *statement, parent *block) *block {
	b := &block{c: c, st: st, parent: parent}
	if parent != nil {
		b.scope = parent.scope.Child()
	} else {
		b.scope = c.Scope.Child()
	}
	b.marker = []string{"\x00" + strconv.Itoa(st.sources), "c"}
	st.sources++
	b.scope.AddMapped(b.marker[0], []expr.SourceColumn{{Name: "c"}}, []int{0})
	b.ex = &expr.Compiler{Scope: b.scope, Env: c.Env, Rewrite: b.rewrite}
	b.ex.Query = func(q ast.QueryExpression, _ *expr.Scope) (expr.Subquery, error) { return b.subquery(q) }
	return b
}

// cross tells the scopes of package expr that an expression of b uses a column
// of a block around it: by that they know correlated subqueries.
func (b *block) cross(to *block) error {
	if b == to {
		return nil
	}
	_, err := b.scope.Resolve(to.marker)
	return err
}

// tracked runs fn and returns the leaves its expressions refer to.
func (b *block) tracked(fn func() error) (leafSet, error) {
	outer := b.st.refs
	b.st.refs = nil
	err := fn()
	refs := b.st.refs
	b.st.refs = outer
	b.st.refs.addAll(refs)
	return refs, err
}

// scalar compiles an expression and tells what it refers to.
func (b *block) scalar(e ast.ScalarExpression) (x expr.Expr, refs leafSet, err error) {
	refs, err = b.tracked(func() error {
		x, err = b.ex.Scalar(e)
		return err
	})
	return x, refs, err
}

// boolean compiles a condition and tells what it refers to.
func (b *block) boolean(e ast.BooleanExpression) (p expr.Pred, refs leafSet, err error) {
	refs, err = b.tracked(func() error {
		p, err = b.ex.Bool(e)
		return err
	})
	return p, refs, err
}

// around is the leaves of the queries around the block.
func (b *block) around() leafSet {
	var all leafSet
	for s := b.parent; s != nil; s = s.parent {
		all.addAll(s.leaves)
	}
	return all
}

// newLeaf makes a leaf of the block with fresh registers.
func (b *block) newLeaf(name string, cols []leafColumn) *leaf {
	l := &leaf{id: b.st.leaves, name: name, cols: cols, slot: -1, rid: -1, reg: b.c.regs(len(cols))}
	b.st.leaves++
	b.leaves.add(l.id)
	b.leafs = append(b.leafs, l)
	return l
}

// leafSource makes the source that shows a leaf's columns under their names.
func (b *block) leafSource(alias string, l *leaf, names []Column) *source {
	s := &source{id: b.st.sources, alias: alias, base: l, cols: make([]column, len(names))}
	b.st.sources++
	for i, n := range names {
		s.cols[i] = column{Column: n, leaf: l, ord: i, ex: expr.Register(l.reg+i, n.Type, n.Name, n.Nullable)}
		s.cols[i].refs.add(l.id)
	}
	return s
}

// addSource makes a source visible. Error 1013 or 1011: its name is taken.
func (b *block) addSource(s *source) error {
	for _, o := range b.sources {
		if s.alias == "" || !catalog.EqualName(o.alias, s.alias) {
			continue
		}
		if s.schema != "" && o.schema != "" {
			if !catalog.EqualName(s.schema, o.schema) {
				continue
			}
			return sqlerr.DuplicateExposedName(o.alias, s.alias)
		}
		return sqlerr.DuplicateAlias(s.alias)
	}
	b.sources = append(b.sources, s)
	return nil
}

func identifiers(m *ast.MultiPartIdentifier) []string {
	if m == nil {
		return nil
	}
	parts := make([]string, len(m.Identifiers))
	for i, id := range m.Identifiers {
		parts[i] = id.Value
	}
	return parts
}

// matches reports whether the qualifier of a column (alias, schema.table or
// database.schema.table) names the source.
func (s *source) matches(qualifier []string) bool {
	n := len(qualifier)
	if n == 0 || s.alias == "" || !catalog.EqualName(s.alias, qualifier[n-1]) {
		return n == 0
	}
	return n == 1 || s.schema != "" && (qualifier[n-2] == "" || catalog.EqualName(s.schema, qualifier[n-2]))
}

// find looks a column up in this block only. Error 209: ambiguous.
func (b *block) find(parts []string) (*source, int, error) {
	qualifier, name := parts[:len(parts)-1], parts[len(parts)-1]
	var found *source
	at := -1
	for _, s := range b.sources {
		if !s.matches(qualifier) {
			continue
		}
		i := s.column(name)
		if i < 0 {
			continue
		}
		if found != nil {
			return nil, 0, sqlerr.AmbiguousColumn(name)
		}
		found, at = s, i
	}
	return found, at, nil
}

func columnName(e *ast.ColumnReferenceExpression) string {
	return strings.Join(identifiers(e.MultiPartIdentifier), ".")
}

// column resolves a column name here or in the blocks around.
func (b *block) column(e *ast.ColumnReferenceExpression) (expr.Expr, error) {
	if e.ColumnType != "" && e.ColumnType != "Regular" {
		return b.pseudoColumn(e)
	}
	parts := identifiers(e.MultiPartIdentifier)
	if len(parts) == 0 {
		return expr.Expr{}, sqlerr.Unsupported(e.ColumnType)
	}
	for s := b; s != nil; s = s.parent {
		src, i, err := s.find(parts)
		if err != nil {
			return expr.Expr{}, sqlerr.AtLine(err, tsql.Line(e))
		}
		if src != nil {
			if err := b.cross(s); err != nil {
				return expr.Expr{}, err
			}
			x, err := s.use(src, i, e)
			return x, sqlerr.AtLine(err, tsql.Line(e))
		}
	}
	if len(parts) > 1 {
		// Where the table is known, it is the column that is not.
		for s := b; s != nil; s = s.parent {
			for _, src := range s.sources {
				if src.matches(parts[:len(parts)-1]) {
					return expr.Expr{}, sqlerr.InvalidColumn(parts[len(parts)-1]).At(tsql.Line(e))
				}
			}
		}
		return expr.Expr{}, sqlerr.Unbound(strings.Join(parts, ".")).At(tsql.Line(e))
	}
	return expr.Expr{}, sqlerr.InvalidColumn(parts[0]).At(tsql.Line(e))
}

// collate applies a COLLATE clause to a column: package expr does it to a
// column of its own, whose value is then this one.
func (b *block) collate(x expr.Expr, id *ast.Identifier) (expr.Expr, error) {
	sc := b.c.Scope.Child()
	sc.AddMapped("t", []expr.SourceColumn{{Name: "c", Type: x.Type, Nullable: x.Nullable}}, []int{0})
	name := &ast.MultiPartIdentifier{Count: 1, Identifiers: []*ast.Identifier{{Value: "c"}}}
	r, err := (&expr.Compiler{Scope: sc}).Scalar(&ast.ColumnReferenceExpression{ColumnType: "Regular", MultiPartIdentifier: name, Collation: id})
	r.Eval, r.Name = x.Eval, x.Name
	return r, err
}

// use marks a column of this block as read and returns its value. After
// grouping only the grouping columns are left.
func (b *block) use(src *source, i int, e *ast.ColumnReferenceExpression) (expr.Expr, error) {
	c := &src.cols[i]
	if b.grouped {
		if x, ok := b.agg.key(columnKey(src, i)); ok {
			return x, nil
		}
		return expr.Expr{}, notGrouped(b.clause, src, c.Name)
	}
	b.read(c)
	x := c.ex
	x.Name = c.Name
	return x, nil
}

func (b *block) read(c *column) {
	if c.leaf != nil {
		c.leaf.cols[c.ord].used = true
	}
	b.st.refs.addAll(c.refs)
}

func notGrouped(clause string, src *source, name string) error {
	full := name
	if src.alias != "" {
		full = src.alias + "." + name
	}
	switch clause {
	case "HAVING":
		return sqlerr.New(8121, 16, 1, "Column '%s' in the HAVING clause is neither within an aggregate function nor in the GROUP BY clause.", full)
	case "ORDER BY":
		return sqlerr.New(8127, 16, 1, "Column \"%s\" in the ORDER BY clause is neither within an aggregate function nor in the GROUP BY clause.", full)
	}
	return sqlerr.New(8120, 16, 1, "Column '%s' in the select list is neither within an aggregate function nor in the GROUP BY clause.", full)
}

// pseudoColumn resolves $IDENTITY, $ROWGUID and $ACTION.
func (b *block) pseudoColumn(e *ast.ColumnReferenceExpression) (expr.Expr, error) {
	qualifier := identifiers(e.MultiPartIdentifier)
	switch e.ColumnType {
	case "IdentityCol", "PseudoColumnIdentity":
		for s := b; s != nil; s = s.parent {
			for _, src := range s.sources {
				if !src.matches(qualifier) {
					continue
				}
				for i := range src.cols {
					if src.cols[i].Identity {
						return s.use(src, i, e)
					}
				}
			}
		}
		return expr.Expr{}, sqlerr.InvalidColumn("$IDENTITY").At(tsql.Line(e))
	case "PseudoColumnAction":
		for s := b; s != nil; s = s.parent {
			src, i, _ := s.find([]string{"$action"})
			if src != nil {
				return s.use(src, i, e)
			}
		}
		return expr.Expr{}, sqlerr.InvalidColumn("$action").At(tsql.Line(e))
	case "Wildcard":
		return expr.Expr{}, sqlerr.Syntax("*").At(tsql.Line(e))
	}
	return expr.Expr{}, sqlerr.Unsupported(e.ColumnType).At(tsql.Line(e))
}

// columnKey identifies a column of a source in fingerprints.
func columnKey(s *source, i int) string {
	return "#" + strconv.Itoa(s.id) + "." + strconv.Itoa(i)
}

// print is the fingerprint of an expression of this block: two expressions
// with the same one have the same value for each row.
func (b *block) print(e any) string {
	return fingerprint(e, func(c *ast.ColumnReferenceExpression) string {
		if c.ColumnType == "" || c.ColumnType == "Regular" {
			if parts := identifiers(c.MultiPartIdentifier); len(parts) > 0 {
				for s := b; s != nil; s = s.parent {
					if src, i, err := s.find(parts); err == nil && src != nil {
						return columnKey(src, i)
					}
				}
			}
		}
		return c.ColumnType + ":" + strings.ToLower(columnName(c))
	})
}
