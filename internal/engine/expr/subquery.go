package expr

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// subquery compiles a query within an expression and tells whether it looks
// at columns of the statement around it. One that does not is run once per
// execution of the statement.
func (c *Compiler) subquery(q ast.QueryExpression) (sq Subquery, correlated bool, err error) {
	if c.Query == nil {
		return sq, false, sqlerr.New(1046, 15, 1, "Subqueries are not allowed here: scalar expressions only.")
	}
	before := c.Scope.Crossed()
	sq, err = c.Query(q, c.Scope)
	return sq, c.Scope.Crossed() != before, err
}

// oneColumn refuses a subquery with several columns: 116.
func oneColumn(sq Subquery) error {
	if len(sq.Columns) != 1 {
		return sqlerr.TooManyColumns()
	}
	return nil
}

func (c *Compiler) scalarSubquery(q ast.QueryExpression) (Expr, error) {
	sq, correlated, err := c.subquery(q)
	if err != nil {
		return Expr{}, err
	}
	if err := oneColumn(sq); err != nil {
		return Expr{}, err
	}
	run := func(f *Frame) (types.Value, error) {
		var out types.Value
		n := 0
		err := sq.Run(f, func(row []types.Value) error {
			if n++; n > 1 {
				return sqlerr.SubqueryRows()
			}
			out = row[0]
			return nil
		})
		return out, err
	}
	r := Expr{Type: sq.Columns[0].Type, Nullable: true, coll: collImplicit, Eval: run}
	if !correlated {
		slot := c.Scope.m.NewOnce()
		r.Eval = func(f *Frame) (types.Value, error) {
			if v, ok := f.onceCached(slot); ok {
				return v, nil
			}
			v, err := run(f)
			if err == nil {
				f.onceStore(slot, v, nil)
			}
			return v, err
		}
	}
	return r, nil
}

// stopped reports whether an error is only emit's wish for no more rows.
func stopped(err error) error {
	if err == ErrStop {
		return nil
	}
	return err
}

func (c *Compiler) exists(q ast.QueryExpression) (Pred, error) {
	sq, correlated, err := c.subquery(q)
	if err != nil {
		return nil, err
	}
	run := func(f *Frame) (Tri, error) {
		found := False
		err := sq.Run(f, func([]types.Value) error {
			found = True
			return ErrStop
		})
		return found, stopped(err)
	}
	if correlated {
		return run, nil
	}
	slot := c.Scope.m.NewOnce()
	return func(f *Frame) (Tri, error) {
		if v, ok := f.onceCached(slot); ok {
			return Tri(v.Int()), nil
		}
		r, err := run(f)
		if err == nil {
			f.onceStore(slot, types.NewInt(types.KindTinyInt, int64(r)), nil)
		}
		return r, err
	}, nil
}

// operands brings x and a subquery's column to where they can be compared. The
// second result converts the column's values; its Eval is nil when they are
// compared as they are.
func operands(x Expr, col Column) (a, b Expr, coll types.Collation, err error) {
	y := Expr{Type: col.Type, Nullable: col.Nullable, coll: collImplicit,
		Eval: func(*Frame) (types.Value, error) { return types.Value{}, nil }}
	if a, b, coll, err = comparable(x, y, "equal to"); err != nil {
		return a, b, 0, err
	}
	if b.Type == y.Type {
		b.Eval = nil
	}
	return a, b, coll, nil
}

// converter turns the values of a subquery's column into what operands said.
func converter(b Expr) func(types.Value) (types.Value, error) {
	if b.Eval == nil {
		return func(v types.Value) (types.Value, error) { return v, nil }
	}
	t := b.Type
	return func(v types.Value) (types.Value, error) { return types.Assign(v, t) }
}

// valueSet is the distinct values of an uncorrelated IN subquery.
type valueSet struct {
	buckets map[uint64][]types.Value
	hasNull bool
	empty   bool
}

func (s *valueSet) has(v types.Value, coll types.Collation) bool {
	for _, w := range s.buckets[types.Hash(v)] {
		if types.CompareColl(v, w, coll) == 0 {
			return true
		}
	}
	return false
}

func (c *Compiler) inSubquery(x Expr, q ast.QueryExpression) (Pred, error) {
	sq, correlated, err := c.subquery(q)
	if err != nil {
		return nil, err
	}
	if err := oneColumn(sq); err != nil {
		return nil, err
	}
	a, b, coll, err := operands(x, sq.Columns[0])
	if err != nil {
		return nil, err
	}
	conv, ev := converter(b), a.Eval
	// Values of two scales may be equal and hash alike, those of different
	// temporal kinds too; text under another collation still hashes alike when
	// it is equal.
	if correlated {
		return anyRow(sq, ev, conv, func(v, w types.Value) bool { return types.CompareColl(v, w, coll) == 0 }), nil
	}
	slot := c.Scope.m.NewOnce()
	build := func(f *Frame) (*valueSet, error) {
		s := &valueSet{buckets: map[uint64][]types.Value{}, empty: true}
		err := sq.Run(f, func(row []types.Value) error {
			s.empty = false
			if row[0].IsNull() {
				s.hasNull = true
				return nil
			}
			w, err := conv(row[0])
			if err != nil {
				return err
			}
			if !s.has(w, coll) {
				h := types.Hash(w)
				s.buckets[h] = append(s.buckets[h], w)
			}
			return nil
		})
		return s, err
	}
	return func(f *Frame) (Tri, error) {
		var s *valueSet
		if cached := f.onceAnyCached(slot); cached != nil {
			s = cached.(*valueSet)
		} else {
			var err error
			if s, err = build(f); err != nil {
				return Unknown, err
			}
			f.onceStore(slot, types.Value{}, s)
		}
		if s.empty {
			return False, nil
		}
		v, err := ev(f)
		if err != nil || v.IsNull() {
			return Unknown, err
		}
		if s.has(v, coll) {
			return True, nil
		}
		if s.hasNull {
			return Unknown, nil
		}
		return False, nil
	}, nil
}

// anyRow is true when test is for one row of the subquery.
func anyRow(sq Subquery, ev evalFunc, conv func(types.Value) (types.Value, error), test func(v, w types.Value) bool) Pred {
	return func(f *Frame) (Tri, error) {
		v, err := ev(f)
		if err != nil {
			return Unknown, err
		}
		r := False
		err = sq.Run(f, func(row []types.Value) error {
			if v.IsNull() || row[0].IsNull() {
				r = Unknown
				return nil
			}
			w, err := conv(row[0])
			if err != nil {
				return err
			}
			if test(v, w) {
				r = True
				return ErrStop
			}
			return nil
		})
		return r, stopped(err)
	}
}

// quantified compiles a comparison with ANY, SOME or ALL of a subquery: ALL is
// the opposite of ANY with the opposite comparison.
func (c *Compiler) quantified(e *ast.SubqueryComparisonPredicate) (Pred, error) {
	cmp, ok := comparisons[e.ComparisonType]
	if !ok {
		return nil, sqlerr.Unsupported("IS [NOT] DISTINCT FROM with ANY, SOME or ALL")
	}
	x, err := c.Scalar(e.Expression)
	if err != nil {
		return nil, err
	}
	sq, _, err := c.subquery(e.Subquery.QueryExpression)
	if err != nil {
		return nil, err
	}
	if err := oneColumn(sq); err != nil {
		return nil, err
	}
	a, b, coll, err := operands(x, sq.Columns[0])
	if err != nil {
		return nil, err
	}
	all := e.SubqueryComparisonPredicateType == "All"
	p := anyRow(sq, a.Eval, converter(b), func(v, w types.Value) bool {
		return cmp[types.CompareColl(v, w, coll)+1] != all
	})
	if all {
		p = Not(p)
	}
	return p, nil
}
