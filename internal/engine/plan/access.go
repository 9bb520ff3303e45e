package plan

import (
	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/types"
)

// access is how the rows of a leaf are found.
type access struct {
	index   int       // -1 = a scan of the whole table
	keys    []keyExpr // values of the index's leading columns
	lo, hi  *keyExpr  // bounds of the column after them, in the index's order
	loIn    bool
	hiIn    bool
	list    []keyExpr // IN: one seek for each, on the first column
	walk    bool      // the whole index in its order, because of its order
	reverse bool
	unique  bool // at most one row
	bound   bool // a key or bound depends on leaves to the left
	exact   []*conjunct
	score   int
}

// keyExpr is the value a column is looked up with.
type keyExpr struct {
	ex     expr.Expr  // in the type the comparison is made in
	common types.Type // that type
	to     types.Type // the column's
}

// eval returns the key in the column's own type. found is false when no value
// of the column can equal it: NULL, or a value the column's type cannot hold.
// null tells the first case.
func (k *keyExpr) eval(f *expr.Frame) (v types.Value, found, null bool, err error) {
	v, err = k.ex.Eval(f)
	if err != nil || v.IsNull() {
		return v, false, true, err
	}
	kind := v.Kind()
	if kind == k.to.Kind && v.Scale() == k.to.Scale {
		return v, true, false, nil
	}
	if kind.IsInt() && k.to.Kind.IsInt() {
		n := v.Int()
		lo, hi := types.IntRange(k.to.Kind)
		return types.NewInt(k.to.Kind, n), n >= lo && n <= hi, false, nil
	}
	w, err := types.Convert(v, k.to, 0)
	if err != nil {
		return v, false, false, nil
	}
	back, err := types.Convert(w, k.common, 0)
	if err != nil || types.CompareColl(back, v, k.common.Coll) != 0 {
		return v, false, false, nil
	}
	return w, true, false, nil
}

// lookup makes the key for a column of type t that is compared with ex; ok is
// false when the comparison is not one of the column's own values: an index
// says nothing about it then.
func lookup(t types.Type, ex expr.Expr) (keyExpr, bool) {
	common, err := types.CommonType(t, ex.Type)
	if err != nil {
		return keyExpr{}, false
	}
	if t.Kind.IsString() && ex.Type.Kind.IsString() && ex.Type.Coll != t.Coll {
		return keyExpr{}, false
	}
	if common.Kind != t.Kind && !embeds(t.Kind, common.Kind) {
		return keyExpr{}, false
	}
	common = widest(common)
	if ex.Type.Kind != common.Kind {
		if ex, err = expr.Cast(ex, common, false); err != nil {
			return keyExpr{}, false
		}
	}
	return keyExpr{ex: ex, common: common, to: widestKey(t)}, true
}

// widestKey takes the length off a column's type: a key that is too long for
// the column equals none of its values, and must not be cut.
func widestKey(t types.Type) types.Type {
	w := widest(t)
	w.Kind = t.Kind
	return w
}

// embeds reports whether every value of one kind is a value of the other, and
// no two become the same.
func embeds(from, to types.Kind) bool {
	switch {
	case from.IsInt():
		return to.IsInt() || to == types.KindDecimal || to.IsMoney()
	case from.IsMoney():
		return to.IsMoney() || to == types.KindDecimal
	case from.IsString():
		return to.IsString()
	case from == types.KindDate:
		return to == types.KindDateTime || to == types.KindDateTime2 || to == types.KindSmallDateTime
	case from == types.KindSmallDateTime:
		return to == types.KindDateTime || to == types.KindDateTime2
	case from == types.KindBinary:
		return to == types.KindVarBinary
	}
	return false
}

// match returns the key by which conjunct c bounds column ord of leaf l, and
// the comparison as seen from the column.
func match(c *conjunct, l *leaf, ord int, mine, avail leafSet) (op string, k keyExpr, bound, ok bool) {
	try := func(col, other *operand, op string) bool {
		if col.leaf != l || col.ord != ord {
			return false
		}
		refs := other.refs.and(mine)
		if !refs.within(avail) {
			return false
		}
		k, ok = lookup(l.cols[ord].typ, other.ex)
		bound = refs.meets(avail)
		return ok
	}
	if c.op == "" {
		return "", keyExpr{}, false, false
	}
	if try(&c.left, &c.right, c.op) {
		return c.op, k, bound, true
	}
	if try(&c.right, &c.left, c.op) {
		return mirrored[c.op], k, bound, true
	}
	return "", keyExpr{}, false, false
}

// scan is the access without an index.
func scanAccess() *access { return &access{index: -1} }

// bestAccess chooses how to find the rows of a leaf for conditions that may
// read the leaves of avail. It returns a scan when no index helps.
func bestAccess(l *leaf, conds []*conjunct, mine, avail leafSet) *access {
	best := scanAccess()
	if l.table == nil || l.make != nil {
		return best
	}
	for i := range l.table.Indexes {
		ix := &l.table.Indexes[i]
		if ix.Disabled || !l.hints.allows(l.table, i) {
			continue
		}
		if a := indexAccess(l, i, ix, conds, mine, avail); a != nil && a.score > best.score {
			best = a
		}
	}
	return best
}

func indexAccess(l *leaf, i int, ix *catalog.Index, conds []*conjunct, mine, avail leafSet) *access {
	a := &access{index: i}
	for _, col := range ix.Columns {
		found := false
		for _, c := range conds {
			if op, k, bound, ok := match(c, l, col, mine, avail); ok && op == "Equals" {
				a.keys = append(a.keys, k)
				a.exact = append(a.exact, c)
				a.bound = a.bound || bound
				found = true
				break
			}
		}
		if !found {
			break
		}
	}
	whole := len(a.keys) == len(ix.Columns)
	if ix.Hash && !whole {
		a.keys, a.exact, a.bound = nil, nil, false
	}
	if len(a.keys) == 0 {
		if k := listAccess(l, ix, conds, mine, avail, a); k {
			return a
		}
	}
	if ix.Hash && !whole {
		return nil
	}
	if !ix.Hash && !whole {
		a.ranges(l, ix, conds, mine, avail)
	}
	switch {
	case whole && ix.Unique:
		a.unique = true
		a.score = 1000
	case len(a.keys) > 0 && ix.Hash:
		a.score = 500 + 10*len(a.keys)
	case len(a.keys) > 0:
		a.score = 100 + 100*len(a.keys)
	}
	if a.lo != nil || a.hi != nil {
		a.score += 20
		if a.lo != nil && a.hi != nil {
			a.score += 20
		}
	}
	if a.score == 0 {
		return nil
	}
	return a
}

// ranges looks for bounds of the index column after the equal ones.
func (a *access) ranges(l *leaf, ix *catalog.Index, conds []*conjunct, mine, avail leafSet) {
	n := len(a.keys)
	desc := n < len(ix.Desc) && ix.Desc[n]
	for _, c := range conds {
		op, k, bound, ok := match(c, l, ix.Columns[n], mine, avail)
		if !ok || op == "Equals" {
			continue
		}
		lower := op == "GreaterThan" || op == "GreaterThanOrEqualTo"
		in := op == "GreaterThanOrEqualTo" || op == "LessThanOrEqualTo"
		if lower != desc {
			if a.lo == nil {
				a.lo, a.loIn = &k, in
				a.bound = a.bound || bound
			}
		} else if a.hi == nil {
			a.hi, a.hiIn = &k, in
			a.bound = a.bound || bound
		}
	}
}

// listAccess uses column IN (values).
func listAccess(l *leaf, ix *catalog.Index, conds []*conjunct, mine, avail leafSet, a *access) bool {
	if ix.Hash && len(ix.Columns) != 1 {
		return false
	}
	for _, c := range conds {
		if c.list == nil || c.left.leaf != l || c.left.ord != ix.Columns[0] {
			continue
		}
		var keys []keyExpr
		for _, o := range c.list {
			refs := o.refs.and(mine)
			k, ok := lookup(l.cols[c.left.ord].typ, o.ex)
			if !ok || !refs.within(avail) {
				keys = nil
				break
			}
			a.bound = a.bound || refs.meets(avail)
			keys = append(keys, k)
		}
		if keys != nil {
			a.list, a.score = keys, 90
			a.exact = []*conjunct{c}
			return true
		}
	}
	return false
}

// orderKey is a column by which rows are wanted in order.
type orderKey struct {
	leaf *leaf
	ord  int
	desc bool
}

// ordered arranges that the access finds the rows in the wanted order, if the
// index can. With eager an index that has just the order is taken for a scan.
func (a *access) ordered(l *leaf, want []orderKey, eager bool) bool {
	if len(want) == 0 || l.table == nil || l.make != nil {
		return false
	}
	for _, k := range want {
		if k.leaf != l {
			return false
		}
	}
	if a.unique {
		return true
	}
	if a.index >= 0 {
		if a.list != nil {
			return false
		}
		ok, reverse := follows(&l.table.Indexes[a.index], len(a.keys), want)
		if ok {
			a.reverse = reverse
		}
		return ok
	}
	if !eager {
		return false
	}
	for i := range l.table.Indexes {
		ix := &l.table.Indexes[i]
		if ix.Disabled || !l.hints.allows(l.table, i) {
			continue
		}
		if ok, reverse := follows(ix, 0, want); ok {
			a.index, a.walk, a.reverse = i, true, reverse
			return true
		}
	}
	return false
}

// follows reports whether an index whose first fixed columns are held equal
// yields the wanted order, forwards or in reverse.
func follows(ix *catalog.Index, fixed int, want []orderKey) (ok, reverse bool) {
	if ix.Hash {
		return false, false
	}
	pos, first := fixed, true
	for _, k := range want {
		held := false
		for _, c := range ix.Columns[:fixed] {
			held = held || c == k.ord
		}
		if held {
			continue
		}
		if pos >= len(ix.Columns) {
			// The key is whole: no two rows are left to be ordered if it is unique.
			if ix.Unique {
				return true, reverse
			}
			return false, false
		}
		if ix.Columns[pos] != k.ord {
			return false, false
		}
		desc := pos < len(ix.Desc) && ix.Desc[pos]
		if first {
			reverse, first = desc != k.desc, false
		} else if (desc != k.desc) != reverse {
			return false, false
		}
		pos++
	}
	return true, reverse
}
