package plan

import (
	"reflect"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// cteScope is the list of the common table expressions that can be named,
// the innermost first.
type cteScope struct {
	cte
	next *cteScope
}

// cte is a common table expression. Each use of it is compiled anew.
type cte struct {
	name string
	cols []string
	q    ast.QueryExpression
	// working is set while a recursive member is compiled: what its reference
	// to itself stands for.
	working *workingTable
}

func (s *cteScope) find(name string) *cteScope {
	for ; s != nil; s = s.next {
		if catalog.EqualName(s.name, name) {
			return s
		}
	}
	return nil
}

// withCTEs makes the expressions of a WITH clause visible. Error 239: two have
// one name.
func (st *statement) withCTEs(b *block, w *ast.WithCtesAndXmlNamespaces) error {
	if w == nil {
		return nil
	}
	if w.XmlNamespaces != nil {
		return sqlerr.Unsupported("WITH XMLNAMESPACES").At(tsql.Line(w))
	}
	if w.ChangeTrackingContext != nil {
		return sqlerr.Unsupported("WITH CHANGE_TRACKING_CONTEXT").At(tsql.Line(w))
	}
	seen := map[string]bool{}
	for _, c := range w.CommonTableExpressions {
		name := c.ExpressionName.Value
		k := catalog.Fold(strings.ToLower(name))
		if seen[k] {
			return sqlerr.New(239, 16, 1, "The common table expression '%s' is defined more than once.", name).At(tsql.Line(c))
		}
		seen[k] = true
		st.ctes = &cteScope{cte: cte{name: name, cols: names(c.Columns), q: c.QueryExpression}, next: st.ctes}
		if !mentions(c.QueryExpression, name) {
			// An expression nobody names is compiled too: its faults count.
			if err := st.checkCTE(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkCTE compiles the newest expression for its errors only.
func (st *statement) checkCTE(b *block) error {
	c, finish := st.ctes, st.finish
	st.ctes = c.next
	q, err := b.c.newBlock(st, nil).query(c.q, queryUse{derived: true})
	if err == nil {
		_, err = derivedColumns(q.cols, c.name, c.cols)
	}
	st.ctes, st.finish = c, finish
	return err
}

// cteRef compiles a reference to a common table expression.
func (b *block) cteRef(c *cteScope, alias string, padded bool) (*treeItem, error) {
	if c.working != nil {
		return b.workingRef(c.working, alias)
	}
	outer := b.st.ctes
	defer func() { b.st.ctes = outer }()
	if mentions(c.q, c.name) {
		return b.recursive(c, alias)
	}
	b.st.ctes = c.next
	return b.derived(c.q, alias, c.cols, padded, nil)
}

// mentions reports whether a query names a table, subqueries included.
func mentions(q any, name string) bool {
	found := false
	var look func(v reflect.Value)
	look = func(v reflect.Value) {
		if found {
			return
		}
		switch v.Kind() {
		case reflect.Interface:
			if !v.IsNil() {
				look(v.Elem())
			}
		case reflect.Pointer:
			if v.IsNil() {
				return
			}
			if n, ok := v.Interface().(*ast.NamedTableReference); ok {
				o := n.SchemaObject
				found = o.SchemaIdentifier == nil && o.DatabaseIdentifier == nil && catalog.EqualName(o.BaseIdentifier.Value, name)
				return
			}
			look(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.Type != fragmentType && f.IsExported() {
					look(v.Field(i))
				}
			}
		case reflect.Slice:
			for i := range v.Len() {
				look(v.Index(i))
			}
		}
	}
	look(reflect.ValueOf(q))
	return found
}

// members lists the queries that UNION ALL joins; ok is false when another
// operator joins them.
func members(q ast.QueryExpression, list []ast.QueryExpression) ([]ast.QueryExpression, bool) {
	switch q := q.(type) {
	case *ast.QueryParenthesisExpression:
		return members(q.QueryExpression, list)
	case *ast.BinaryQueryExpression:
		if q.BinaryQueryExpressionType != "Union" || !q.All || q.OrderByClause != nil {
			return nil, false
		}
		list, ok := members(q.FirstQueryExpression, list)
		if !ok {
			return nil, false
		}
		return members(q.SecondQueryExpression, list)
	}
	return append(list, q), true
}

// workingTable is the rows that the step before found.
type workingTable struct {
	cols []Column
	recs *recursiveRows
}

// workingRef makes the leaf of a recursive member's reference to itself.
func (b *block) workingRef(w *workingTable, alias string) (*treeItem, error) {
	cols := make([]leafColumn, len(w.cols))
	for i, c := range w.cols {
		cols[i] = leafColumn{typ: c.Type, nullable: true}
	}
	l := b.newLeaf(alias, cols)
	l.make = &workingRows{leaf: l, recs: w.recs}
	return b.leafItem(l), b.addSource(b.leafSource(alias, l, w.cols))
}

// defaultRecursion is how often a recursive expression may go on unless
// MAXRECURSION says otherwise.
const defaultRecursion = 100

// recursive compiles a recursive common table expression.
func (b *block) recursive(c *cteScope, alias string) (*treeItem, error) {
	list, ok := members(c.q, nil)
	if !ok || len(list) < 2 {
		return nil, sqlerr.New(252, 16, 1, "Recursive common table expression '%s' has no top-level UNION ALL operator.", c.name)
	}
	n := &recursiveRows{limit: defaultRecursion}
	if b.st.hints.maxRecursion >= 0 {
		n.limit = b.st.hints.maxRecursion
	}
	w := &workingTable{recs: n}
	step := &cteScope{cte: c.cte, next: c.next}
	step.working = w
	for i, m := range list {
		rec := mentions(m, c.name)
		if i == 0 && rec {
			return nil, sqlerr.New(246, 16, 1, "No anchor member was given for recursive query \"%s\".", c.name)
		}
		b.st.ctes = c.next
		if rec {
			b.st.ctes = step
		} else if len(n.steps) > 0 {
			return nil, sqlerr.New(247, 16, 1, "An anchor member was found in the recursive query \"%s\" after a recursive one.", c.name)
		}
		q, err := b.c.newBlock(b.st, nil).query(m, queryUse{derived: true})
		if err != nil {
			return nil, err
		}
		out, err := w.member(c, q, i == 0)
		if err != nil {
			return nil, sqlerr.AtLine(err, tsql.Line(m))
		}
		root, err := q.root()
		if err != nil {
			return nil, err
		}
		if rec {
			n.steps = append(n.steps, memberNode{root, evals(out)})
		} else {
			n.anchors = append(n.anchors, memberNode{root, evals(out)})
		}
	}
	cols := make([]leafColumn, len(w.cols))
	for i, k := range w.cols {
		cols[i] = leafColumn{typ: k.Type, nullable: true}
	}
	l := b.newLeaf(alias, cols)
	l.make, n.leaf = n, l
	s := b.leafSource(alias, l, w.cols)
	return b.leafItem(l), b.addSource(s)
}

// member checks a member's columns against the anchor's. Errors: 205 another
// number of them, 240 other types.
func (w *workingTable) member(c *cteScope, q *query, anchor bool) ([]expr.Expr, error) {
	if anchor {
		cols, err := derivedColumns(q.cols, c.name, c.cols)
		if err != nil {
			return nil, err
		}
		for i := range cols {
			cols[i].Nullable, cols[i].Identity = true, false
		}
		w.cols = cols
		return q.out, nil
	}
	if len(q.cols) != len(w.cols) {
		return nil, setColumns()
	}
	out := make([]expr.Expr, len(q.out))
	for i := range out {
		a, t := w.cols[i].Type, q.cols[i].Type
		a.Coll, t.Coll = 0, 0
		if a != t && !(t.Kind == types.KindNull || a.Kind == t.Kind && a.Kind != types.KindDecimal && !a.Kind.IsString()) {
			return nil, sqlerr.New(240, 16, 1, "The types of the anchor and of the recursive part differ in column \"%s\" of recursive query \"%s\".", w.cols[i].Name, c.name)
		}
		x, err := expr.Cast(q.out[i], w.cols[i].Type, false)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

type memberNode struct {
	root node
	out  []evalFunc
}

// recursiveRows runs the anchor members, then the recursive ones on what the
// step before found, until a step finds nothing.
type recursiveRows struct {
	leaf    *leaf
	anchors []memberNode
	steps   []memberNode
	limit   int // 0 = none
}

// workingRows are the rows of the step before.
type workingRows struct {
	leaf *leaf
	recs *recursiveRows
}

func (n *workingRows) bind(r *run, next step) step {
	w, first := len(n.leaf.cols), n.leaf.reg
	// The instance of recursiveRows is bound around this one.
	in := r.recursion[n.recs]
	return func() error {
		for at := 0; at < len(in.current); at += w {
			copy(r.f.Regs[first:first+w], in.current[at:at+w])
			if err := next(); err != nil {
				return err
			}
		}
		return nil
	}
}

type recursion struct {
	current, found []types.Value
	row            []types.Value
}

func (n *recursiveRows) bind(r *run, next step) step {
	if r.recursion == nil {
		r.recursion = map[*recursiveRows]*recursion{}
	}
	w := len(n.leaf.cols)
	in := &recursion{row: make([]types.Value, w)}
	r.recursion[n] = in
	bindAll := func(list []memberNode) []step {
		var steps []step
		for _, m := range list {
			steps = append(steps, m.root.bind(r, func() error {
				if err := evalInto(r.f, m.out, in.row); err != nil {
					return err
				}
				in.found = append(in.found, in.row...)
				return r.tick()
			}))
		}
		return steps
	}
	anchors, steps := bindAll(n.anchors), bindAll(n.steps)
	return func() error {
		in.found = in.found[:0]
		for _, s := range anchors {
			if err := s(); err != nil {
				return err
			}
		}
		for depth := 0; len(in.found) > 0 || w == 0; depth++ {
			in.current, in.found = in.found, in.current[:0]
			for at := 0; at < len(in.current); at += w {
				copy(r.f.Regs[n.leaf.reg:n.leaf.reg+w], in.current[at:at+w])
				if err := next(); err != nil {
					return err
				}
			}
			if n.limit > 0 && depth >= n.limit {
				// One more step would be too many, if it found anything.
				for _, s := range steps {
					if err := s(); err != nil {
						return err
					}
				}
				if len(in.found) > 0 {
					return sqlerr.New(530, 16, 1, "The statement ended. The maximum recursion %d was reached before the statement was complete.", n.limit)
				}
				return nil
			}
			for _, s := range steps {
				if err := s(); err != nil {
					return err
				}
			}
		}
		return nil
	}
}
