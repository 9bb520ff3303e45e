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

// query is a compiled query expression.
type query struct {
	block   *block
	cols    []Column
	out     []expr.Expr // the values of cols, to be evaluated at each row of root
	sourced []column    // by column, where it comes from
	flat    *flatBlock  // set when its tables can be joined with those of the block around
	root    func() (node, error)
	assigns []assignment
	once    bool // DISTINCT: its rows stand for several
}

// flatBlock is what there is to a query that only joins, filters and computes.
type flatBlock struct {
	tree   *treeItem
	conds  []*conjunct
	leaves leafSet
	leafs  []*leaf
}

// plainColumns reports whether all columns are plain columns of leaves: only
// those are NULL when an outer join fills their row with NULLs.
func (q *query) plainColumns() bool {
	for i := range q.sourced {
		if q.sourced[i].leaf == nil {
			return false
		}
	}
	return true
}

// assignment is @v = expression in a select list.
type assignment struct {
	slot int
	ex   expr.Expr
}

// queryUse says where a query stands.
type queryUse struct {
	derived bool // in FROM: ORDER BY needs TOP or OFFSET
	exists  bool // under EXISTS: the select list is not looked at
	top     bool // the statement itself: it may assign variables
}

// query compiles a query expression in a fresh block.
func (b *block) query(q ast.QueryExpression, use queryUse) (*query, error) {
	switch q := q.(type) {
	case *ast.QueryParenthesisExpression:
		return b.query(q.QueryExpression, use)
	case *ast.QuerySpecification:
		r, err := b.specification(q, use)
		return r, sqlerr.AtLine(err, tsql.Line(q))
	case *ast.BinaryQueryExpression:
		r, err := b.setOperation(q, use)
		return r, sqlerr.AtLine(err, tsql.Line(q))
	}
	return nil, sqlerr.Unsupported(refName(q))
}

// item is an element of a select list.
type item struct {
	Column
	ex      expr.Expr
	refs    leafSet
	e       ast.ScalarExpression // nil for a column of *
	print   string
	alias   bool // the name was given with AS
	src     column
	leaf    *leaf
	ord     int
	assign  int  // variable slot, -1 = none
	resides bool // the value stands in a register
}

func refuseFor(f ast.ForClause) error {
	switch f := f.(type) {
	case nil:
		return nil
	case *ast.XmlForClause:
		return sqlerr.Unsupported("FOR XML").At(tsql.Line(f))
	case *ast.JsonForClause:
		return sqlerr.Unsupported("FOR JSON").At(tsql.Line(f))
	case *ast.BrowseForClause:
		return sqlerr.Unsupported("FOR BROWSE").At(tsql.Line(f))
	case *ast.ReadOnlyForClause, *ast.UpdateForClause:
		return nil // a cursor's affair
	}
	return sqlerr.Unsupported("FOR")
}

func (b *block) specification(q *ast.QuerySpecification, use queryUse) (*query, error) {
	if err := refuseFor(q.ForClause); err != nil {
		return nil, err
	}
	if q.WindowClause != nil {
		return nil, sqlerr.Unsupported("WINDOW clause").At(tsql.Line(q.WindowClause))
	}
	if use.derived && q.OrderByClause != nil && q.TopRowFilter == nil && q.OffsetClause == nil {
		return nil, sqlerr.New(1033, 15, 1, "ORDER BY is not valid in views, inline functions, derived tables, subqueries and common table expressions unless TOP, OFFSET or FOR XML is given too.").At(tsql.Line(q.OrderByClause))
	}
	b.clause = "FROM"
	if q.FromClause != nil && len(q.FromClause.TableReferences) > 0 {
		t, err := b.from(q.FromClause)
		if err != nil {
			return nil, err
		}
		b.tree = t
	}
	if q.WhereClause != nil {
		if q.WhereClause.Cursor != nil {
			return nil, sqlerr.Unsupported("WHERE CURRENT OF").At(tsql.Line(q.WhereClause))
		}
		b.clause = "WHERE"
		conds, err := b.split(q.WhereClause.SearchCondition)
		if err != nil {
			return nil, err
		}
		b.conds = conds
	}
	return b.shape(q, use)
}

// grouped reports whether a query forms groups.
func groups(q *ast.QuerySpecification) bool {
	if q.GroupByClause != nil || q.HavingClause != nil {
		return true
	}
	for _, e := range q.SelectElements {
		if hasAggregate(e) {
			return true
		}
	}
	return q.OrderByClause != nil && hasAggregate(q.OrderByClause)
}

// shape compiles what comes after FROM and WHERE.
func (b *block) shape(q *ast.QuerySpecification, use queryUse) (*query, error) {
	if groups(q) {
		if err := b.newGrouping(q.GroupByClause); err != nil {
			return nil, err
		}
		b.grouped = true
	}
	b.clause, b.winOK = "select list", true
	items, err := b.selectList(q.SelectElements, use)
	if err != nil {
		return nil, err
	}
	b.winOK = false
	p := &pipeline{b: b, items: items, distinct: strings.EqualFold(q.UniqueRowFilter, "Distinct")}
	if q.HavingClause != nil {
		b.clause = "HAVING"
		if p.having, err = b.split(q.HavingClause.SearchCondition); err != nil {
			return nil, err
		}
	}
	r := &query{block: b, root: p.root, once: p.distinct}
	for i := range items {
		if items[i].assign < 0 {
			if p.distinct {
				if err := comparable(items[i].Type); err != nil {
					return nil, err
				}
			}
			r.cols = append(r.cols, items[i].Column)
		}
	}
	if p.distinct {
		for i := range items {
			p.reside(&items[i])
		}
	}
	b.clause, b.winOK = "ORDER BY", true
	if err := p.orderBy(q.OrderByClause); err != nil {
		return nil, err
	}
	b.winOK = false
	if err := p.limits(q.TopRowFilter, q.OffsetClause); err != nil {
		return nil, err
	}
	for i := range items {
		it := &items[i]
		if it.assign >= 0 {
			r.assigns = append(r.assigns, assignment{it.assign, it.ex})
			continue
		}
		r.out = append(r.out, it.ex)
		r.sourced = append(r.sourced, it.src)
	}
	if !p.distinct && b.agg == nil && len(b.windows) == 0 && p.order == nil && !p.limited() && b.tree != nil && len(p.before) == 0 {
		r.flat = &flatBlock{tree: b.tree, conds: b.conds, leaves: b.leaves, leafs: b.leafs}
	}
	return r, nil
}

// selectList compiles the elements of a select list.
func (b *block) selectList(list []ast.SelectElement, use queryUse) ([]item, error) {
	var items []item
	assigns, data := false, false
	for _, el := range list {
		switch el := el.(type) {
		case *ast.SelectStarExpression:
			data = true
			if use.exists {
				continue
			}
			star, err := b.star(el)
			if err != nil {
				return nil, sqlerr.AtLine(err, tsql.Line(el))
			}
			items = append(items, star...)
		case *ast.SelectScalarExpression:
			data = true
			it, err := b.selectItem(el)
			if err != nil {
				return nil, sqlerr.AtLine(err, tsql.Line(el))
			}
			items = append(items, it)
		case *ast.SelectSetVariable:
			assigns = true
			if !use.top {
				return nil, sqlerr.Syntax("=").At(tsql.Line(el))
			}
			it, err := b.selectAssign(el)
			if err != nil {
				return nil, sqlerr.AtLine(err, tsql.Line(el))
			}
			items = append(items, it)
		default:
			return nil, sqlerr.Unsupported(refName(el))
		}
	}
	if assigns && data {
		return nil, sqlerr.New(141, 15, 1, "A SELECT statement that assigns a value to a variable cannot retrieve data too.")
	}
	return items, nil
}

func (b *block) star(el *ast.SelectStarExpression) ([]item, error) {
	qualifier := identifiers(el.Qualifier)
	var items []item
	found := false
	for _, s := range b.sources {
		if !s.matches(qualifier) {
			continue
		}
		found = true
		for i := range s.cols {
			c := &s.cols[i]
			if b.grouped {
				x, ok := b.agg.key(columnKey(s, i))
				if !ok {
					return nil, notGrouped(b.clause, s, c.Name)
				}
				b.st.refs.add(b.agg.leaf.id)
				items = append(items, item{Column: c.Column, ex: x, print: columnKey(s, i), assign: -1})
				continue
			}
			b.read(c)
			items = append(items, item{Column: c.Column, ex: c.ex, refs: c.refs, print: columnKey(s, i), src: *c, leaf: c.leaf, ord: c.ord, assign: -1})
		}
	}
	if !found {
		if len(qualifier) > 0 {
			return nil, sqlerr.New(107, 15, 1, "The column prefix '%s' is the name of no table and no alias of this query.", strings.Join(qualifier, "."))
		}
		return nil, sqlerr.New(263, 16, 1, "A table must be given to select from.")
	}
	return items, nil
}

func (b *block) selectItem(el *ast.SelectScalarExpression) (item, error) {
	o, err := b.operand(el.Expression)
	if err != nil {
		return item{}, err
	}
	it := item{ex: o.ex, refs: o.refs, e: el.Expression, print: b.print(el.Expression), leaf: o.leaf, ord: o.ord, assign: -1}
	it.Column = Column{Name: o.ex.Name, Type: o.ex.Type, Nullable: o.ex.Nullable}
	if _, ok := bare(el.Expression).(*ast.ColumnReferenceExpression); !ok {
		it.Name = ""
	}
	it.src = column{ex: o.ex, refs: o.refs, leaf: o.leaf, ord: o.ord}
	if o.leaf != nil && o.leaf.table != nil && o.leaf.table.Columns[o.ord].Identity {
		it.Identity = true
	}
	if el.ColumnName != nil {
		it.Name, it.alias = el.ColumnName.Value, true
		if el.ColumnName.Identifier != nil {
			it.Name = el.ColumnName.Identifier.Value
		} else if lit, ok := el.ColumnName.ValueExpression.(*ast.StringLiteral); ok {
			it.Name = lit.Value
		}
	}
	if it.Type.Kind == types.KindNull {
		// NULL alone is an int, as in SELECT NULL.
		it.Type, it.null = types.Int, true
		if it.ex, err = expr.Cast(it.ex, types.Int, false); err != nil {
			return it, err
		}
		it.src.ex = it.ex
	}
	return it, nil
}

func bare(e ast.ScalarExpression) ast.ScalarExpression {
	for {
		p, ok := e.(*ast.ParenthesisExpression)
		if !ok {
			return e
		}
		e = p.Expression
	}
}

// compound are the operators of compound assignments.
var compound = map[string]string{
	"AddEquals": "Add", "SubtractEquals": "Subtract", "MultiplyEquals": "Multiply", "DivideEquals": "Divide",
	"ModEquals": "Modulo", "BitwiseAndEquals": "BitwiseAnd", "BitwiseOrEquals": "BitwiseOr", "BitwiseXorEquals": "BitwiseXor",
}

// assigned is the expression whose value an assignment gives to its target.
func assigned(target, value ast.ScalarExpression, kind string) (ast.ScalarExpression, error) {
	if kind == "" || kind == "Equals" {
		return value, nil
	}
	op, ok := compound[kind]
	if !ok {
		return nil, sqlerr.Unsupported("assignment " + kind)
	}
	return &ast.BinaryExpression{BinaryExpressionType: op, FirstExpression: target, SecondExpression: value}, nil
}

// variable finds a local variable to assign to. Error 137.
func (c *Compiler) variable(v *ast.VariableReference) (int, types.Type, error) {
	slot, t, ok := c.Scope.LookupVar(v.Name)
	if !ok {
		return 0, t, sqlerr.UndeclaredVariable(v.Name).At(tsql.Line(v))
	}
	return slot, t, nil
}

func (b *block) selectAssign(el *ast.SelectSetVariable) (item, error) {
	slot, t, err := b.c.variable(el.Variable)
	if err != nil {
		return item{}, err
	}
	e, err := assigned(el.Variable, el.Expression, el.AssignmentKind)
	if err != nil {
		return item{}, err
	}
	x, refs, err := b.scalar(e)
	if err != nil {
		return item{}, err
	}
	if x, err = expr.Cast(x, t, false); err != nil {
		return item{}, err
	}
	return item{ex: x, refs: refs, assign: slot}, nil
}

// subquery compiles a query within an expression, for package expr.
func (b *block) subquery(q ast.QueryExpression) (expr.Subquery, error) {
	s, _, err := b.nested(q, false)
	if err != nil {
		return expr.Subquery{}, err
	}
	root, err := s.root()
	if err != nil {
		return expr.Subquery{}, err
	}
	sq := expr.Subquery{}
	for _, c := range s.cols {
		sq.Columns = append(sq.Columns, expr.Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable})
	}
	r := newRunner(root, s.out, nil).within(b.c.Scope.Module())
	sq.Run = func(f *expr.Frame, emit func(row []types.Value) error) error {
		_, err := r.run(f, emit)
		return err
	}
	return sq, nil
}

func (c *Compiler) selectStatement(s *ast.SelectStatement) (*Query, error) {
	b := c.begin()
	st := b.st
	h, err := readQueryHints(s.OptimizerHints)
	if err != nil {
		return nil, err
	}
	st.hints = h
	if s.On != nil {
		return nil, sqlerr.Unsupported("SELECT INTO ... ON").At(tsql.Line(s))
	}
	if err := st.withCTEs(b, s.WithCtesAndXmlNamespaces); err != nil {
		return nil, err
	}
	q, err := b.query(s.QueryExpression, queryUse{top: true})
	if err != nil {
		return nil, sqlerr.AtLine(err, tsql.Line(s))
	}
	root, err := q.root()
	if err != nil {
		return nil, sqlerr.AtLine(err, tsql.Line(s))
	}
	st.done()
	if s.Into != nil {
		if err := intoColumns(q); err != nil {
			return nil, sqlerr.AtLine(err, tsql.Line(s))
		}
	}
	r := newRunner(root, q.out, q.assigns)
	run := r.run
	if st.locks {
		run = r.locking
	}
	return &Query{Columns: q.cols, Assigns: q.assigns != nil, Into: s.Into, Deps: c.deps.take(), Run: run}, nil
}

// intoColumns checks the columns of SELECT ... INTO. Errors: 1038 a column has
// no name, 2705 two have the same, 8108 two are identity columns.
func intoColumns(q *query) error {
	if q.assigns != nil {
		return sqlerr.New(194, 15, 1, "A SELECT INTO statement cannot assign values to variables.")
	}
	seen := map[string]bool{}
	identity := ""
	joins := q.flat == nil || len(q.flat.leafs) > 1
	for i := range q.cols {
		c := &q.cols[i]
		if c.Name == "" {
			return sqlerr.New(1038, 15, 5, "A column of the new table has no name. Give each expression of SELECT INTO an alias; \"\" and [] are none.")
		}
		k := catalog.Fold(strings.ToLower(c.Name))
		if seen[k] {
			return sqlerr.New(2705, 16, 3, "Column names must be unique in each table: column name '%s' is given more than once.", c.Name)
		}
		seen[k] = true
		// A join, a union or a group does not hand on the identity property.
		if joins {
			c.Identity = false
		}
		if c.Identity {
			if identity != "" {
				return sqlerr.New(8108, 16, 1, "Identity column '%s' cannot be added by SELECT INTO: the table has column '%s', which is one already.", c.Name, identity)
			}
			identity = c.Name
		}
	}
	return nil
}
