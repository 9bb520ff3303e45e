package plan

import (
	"gostress/internal/engine/expr"
)

// planner chooses how the items of a block's FROM clause are joined.
type planner struct {
	b    *block
	mine leafSet // the leaves of the block: others are parameters
	want []orderKey
	// eager asks for an index in the wanted order even for a whole scan.
	eager   bool
	inOrder bool // the rows come in the wanted order
}

// plan builds the operators of a FROM clause under the conditions conds, all
// of which it applies.
func (b *block) plan(item *treeItem, conds []*conjunct, want []orderKey, eager bool) (n node, inOrder bool, err error) {
	if item == nil {
		return withConds(single{}, conds), len(want) == 0, nil
	}
	for _, c := range conds {
		if c.never {
			return nothing{}, true, nil
		}
	}
	p := &planner{b: b, mine: b.leaves, want: want, eager: eager}
	n, err = p.item(item, conds, nil, true)
	return n, p.inOrder, err
}

func withConds(n node, conds []*conjunct) node {
	if len(conds) == 0 {
		return n
	}
	f := &filter{child: n}
	for _, c := range conds {
		f.conds = append(f.conds, c.cond)
	}
	return f
}

// reads reports whether a condition reads only leaves of the given sets, those
// of other blocks not counted.
func (p *planner) reads(c *conjunct, sets ...leafSet) bool {
	all := leafSet{}
	for _, s := range sets {
		all.addAll(s)
	}
	return c.refs.and(p.mine).within(all)
}

// item plans one item; avail are leaves that stand in registers while it runs.
// first tells that the item drives the whole: its order is the result's.
func (p *planner) item(t *treeItem, conds []*conjunct, avail leafSet, first bool) (node, error) {
	switch t.kind {
	case leafItem:
		return p.leaf(t.leaf, conds, avail, first)
	case groupItem:
		return p.group(t, conds, avail, first)
	case leftItem:
		return p.leftJoin(t, conds, avail, first)
	}
	return p.fullJoin(t, conds, avail)
}

func (p *planner) leaf(l *leaf, conds []*conjunct, avail leafSet, first bool) (node, error) {
	if l.make != nil {
		return withConds(l.make, conds), nil
	}
	a := bestAccess(l, conds, p.mine, avail)
	if first {
		p.inOrder = a.ordered(l, p.want, p.eager)
	}
	return p.b.tableRows(l, a, conds), nil
}

// isTable reports whether the item is the rows of a table: they can be found
// apart from everything else, whatever conditions come with them.
func (t *treeItem) isTable() bool { return t.kind == leafItem && t.leaf.make == nil }

// flatten collects the items and conditions of nested groups.
func flatten(t *treeItem, items []*treeItem, conds []*conjunct) ([]*treeItem, []*conjunct) {
	conds = append(conds, t.conds...)
	for _, i := range t.items {
		if i.kind != groupItem {
			items = append(items, i)
			continue
		}
		n := len(items)
		items, conds = flatten(i, items, conds)
		for _, sub := range items[n:] {
			if len(i.lateral) > 0 && !sub.isTable() {
				sub.lateral = sub.lateral.union(i.lateral)
			}
		}
	}
	return items, conds
}

func (p *planner) group(t *treeItem, conds []*conjunct, avail leafSet, first bool) (node, error) {
	items, all := flatten(t, nil, append([]*conjunct(nil), conds...))
	if len(items) == 0 {
		return withConds(single{}, all), nil
	}
	order := p.order(items, all, avail)
	done := make([]bool, len(all))
	seen := append(leafSet(nil), avail...)
	var n node
	for _, i := range order {
		it := items[i]
		var now []*conjunct
		for k, c := range all {
			if !done[k] && p.reads(c, seen, it.leaves) {
				done[k] = true
				now = append(now, c)
			}
		}
		var err error
		if n == nil {
			n, err = p.lead(it, now, seen, first)
		} else {
			n, err = p.join(n, it, now, seen, avail)
		}
		if err != nil {
			return nil, err
		}
		seen.addAll(it.leaves)
	}
	return n, nil
}

// order chooses in which order the items of a group are joined: as written,
// unless another one begins with less to scan.
func (p *planner) order(items []*treeItem, conds []*conjunct, avail leafSet) []int {
	best := p.follow(items, conds, avail, -1)
	if len(items) > 8 || p.b.st.hints.forceOrder {
		return best.order
	}
	for i := range items {
		if o := p.follow(items, conds, avail, i); o.cost < best.cost {
			best = o
		}
	}
	return best.order
}

// lead plans the item that begins a group. In a subquery that is run for each
// row around it, what is equal to that row's values is looked up in a hash
// table, made once, where no index finds it.
func (p *planner) lead(it *treeItem, conds []*conjunct, avail leafSet, first bool) (node, error) {
	around := p.b.around()
	if it.kind != leafItem || len(around) == 0 || len(p.want) > 0 || p.eager {
		return p.item(it, conds, avail, first)
	}
	if a := bestAccess(it.leaf, conds, p.mine, avail); a.index >= 0 {
		return p.item(it, conds, avail, first)
	}
	var own, keys, rest []*conjunct
	for _, c := range conds {
		switch {
		case !c.refs.meets(around) && p.reads(c, it.leaves):
			own = append(own, c)
		case p.looksUp(c, it.leaves, around):
			keys = append(keys, c)
		default:
			rest = append(rest, c)
		}
	}
	if len(keys) == 0 || !p.independent(it, own) {
		return p.item(it, conds, avail, first)
	}
	right, err := p.item(it, own, nil, false)
	if err != nil {
		return nil, err
	}
	return p.b.newHashJoin(joinInner, single{}, right, nil, it, keys, rest, true)
}

// looksUp reports whether a condition is an equality of a value of the item
// and one of the queries around.
func (p *planner) looksUp(c *conjunct, item, around leafSet) bool {
	if c.op != "Equals" || !sameCollation(c.left.ex.Type, c.right.ex.Type) {
		return false
	}
	one := func(in, out leafSet) bool {
		in2 := in.and(p.mine)
		return in2.meets(item) && in2.within(item) && !in.meets(around) && !out.meets(p.mine)
	}
	return one(c.left.refs, c.right.refs) || one(c.right.refs, c.left.refs)
}

// independent reports whether the rows of an item under conditions are the same
// whatever stands in the registers of other leaves.
func (p *planner) independent(it *treeItem, conds []*conjunct) bool {
	around := p.b.around()
	for _, l := range p.b.leafs {
		if it.leaves.has(l.id) && (l.outer || len(l.lateral) > 0) {
			return false
		}
	}
	free := func(list []*conjunct) bool {
		for _, c := range list {
			if c.refs.meets(around) || !p.reads(c, it.leaves) {
				return false
			}
		}
		return true
	}
	var below func(t *treeItem) bool
	below = func(t *treeItem) bool {
		if t == nil {
			return true
		}
		for _, i := range t.items {
			if !below(i) {
				return false
			}
		}
		return free(t.conds) && below(t.left) && below(t.right)
	}
	return free(conds) && below(it)
}

type joinOrder struct {
	order []int
	cost  int
}

// follow works out the order that begins with an item (-1: the one written)
// and goes on, where it can, with items that are found by an index.
func (p *planner) follow(items []*treeItem, conds []*conjunct, avail leafSet, start int) joinOrder {
	o := joinOrder{}
	taken := make([]bool, len(items))
	seen := append(leafSet(nil), avail...)
	ready := func(i int) bool { return !taken[i] && items[i].lateral.within(seen) }
	for len(o.order) < len(items) {
		pick := -1
		switch {
		case len(o.order) == 0 && start >= 0 && ready(start):
			pick = start
		case start < 0 || p.b.st.hints.forceOrder:
		default:
			for i := range items {
				if ready(i) && p.sought(items[i], conds, seen) {
					pick = i
					break
				}
			}
		}
		if pick < 0 {
			for i := range items {
				if ready(i) {
					pick = i
					break
				}
			}
		}
		if pick < 0 { // lateral items that wait for one another cannot be
			for i := range items {
				if !taken[i] {
					pick = i
					break
				}
			}
		}
		o.cost += p.cost(items[pick], conds, seen, len(o.order) == 0)
		taken[pick] = true
		seen.addAll(items[pick].leaves)
		o.order = append(o.order, pick)
	}
	return o
}

// sought reports whether an item is found by an index for each row so far.
func (p *planner) sought(t *treeItem, conds []*conjunct, seen leafSet) bool {
	if t.kind != leafItem || t.leaf.make != nil {
		return false
	}
	a := bestAccess(t.leaf, conds, p.mine, seen)
	return a.index >= 0 && (a.bound && len(a.keys) > 0 || a.unique)
}

// cost weighs an item: what is scanned counts most, and a table most of all.
func (p *planner) cost(t *treeItem, conds []*conjunct, seen leafSet, first bool) int {
	if t.kind != leafItem {
		return 50
	}
	l := t.leaf
	if l.make != nil {
		return 20
	}
	a := bestAccess(l, conds, p.mine, seen)
	switch {
	case a.unique && !first && !a.bound:
		return 2
	case a.unique:
		return 1
	case len(a.keys) > 0 && (first || a.bound):
		return 3
	case a.list != nil && first:
		return 4
	case l.slot >= 0:
		return 5
	case a.index >= 0:
		return 30
	}
	return 100
}

// join joins an item to the rows of left. seen are the leaves of left and of
// avail; conds all can be applied once the item's row is there.
func (p *planner) join(left node, it *treeItem, conds []*conjunct, seen, avail leafSet) (node, error) {
	if p.loops(it, conds, seen) {
		right, err := p.item(it, conds, seen, false)
		if err != nil {
			return nil, err
		}
		return &loopJoin{left: left, right: right}, nil
	}
	var own, keys, rest []*conjunct
	for _, c := range conds {
		switch {
		case p.reads(c, avail, it.leaves):
			own = append(own, c)
		case p.hashable(c, seen, it.leaves):
			keys = append(keys, c)
		default:
			rest = append(rest, c)
		}
	}
	right, err := p.item(it, own, avail, false)
	if err != nil {
		return nil, err
	}
	return p.b.newHashJoin(joinInner, left, right, nil, it, keys, rest, p.independent(it, own))
}

// loops reports whether an item is best found anew for each row to its left.
func (p *planner) loops(it *treeItem, conds []*conjunct, seen leafSet) bool {
	return it.lateral.meets(seen) || p.sought(it, conds, seen)
}

// hashable reports whether a condition is an equality of the two sides.
func (p *planner) hashable(c *conjunct, left, right leafSet) bool {
	if c.op != "Equals" {
		return false
	}
	if !sameCollation(c.left.ex.Type, c.right.ex.Type) {
		return false
	}
	l, r := c.left.refs.and(p.mine), c.right.refs.and(p.mine)
	return l.meets(left) && l.within(left) && r.meets(right) && r.within(right) ||
		r.meets(left) && r.within(left) && l.meets(right) && l.within(right)
}

func (p *planner) leftJoin(t *treeItem, conds []*conjunct, avail leafSet, first bool) (node, error) {
	var push, above []*conjunct
	for _, c := range conds {
		if p.reads(c, avail, t.left.leaves) {
			push = append(push, c)
		} else {
			above = append(above, c)
		}
	}
	left, err := p.item(t.left, push, avail, first)
	if err != nil {
		return nil, err
	}
	seen := avail.union(t.left.leaves)
	right := t.right
	for right.kind == groupItem && len(right.items) == 1 { // a view of one table, for example
		t = &treeItem{kind: leftItem, left: t.left, right: right.items[0], leaves: t.leaves, conds: append(append([]*conjunct(nil), t.conds...), right.conds...)}
		if len(right.lateral) > 0 && !t.right.isTable() {
			t.right.lateral = t.right.lateral.union(right.lateral)
		}
		right = t.right
	}
	if p.loops(right, t.conds, seen) {
		r, err := p.item(right, t.conds, seen, false)
		if err != nil {
			return nil, err
		}
		j := &loopJoin{left: left, right: r, outer: true}
		p.b.padded(&j.pad, right.leaves)
		return withConds(j, above), nil
	}
	var own, keys, rest []*conjunct
	for _, c := range t.conds {
		switch {
		case p.reads(c, avail, right.leaves):
			own = append(own, c)
		case p.hashable(c, seen, right.leaves):
			keys = append(keys, c)
		default:
			rest = append(rest, c)
		}
	}
	r, err := p.item(right, own, avail, false)
	if err != nil {
		return nil, err
	}
	j, err := p.b.newHashJoin(joinLeft, left, r, t.left, right, keys, rest, p.independent(right, own))
	if err != nil {
		return nil, err
	}
	return withConds(j, above), nil
}

func (p *planner) fullJoin(t *treeItem, conds []*conjunct, avail leafSet) (node, error) {
	left, err := p.item(t.left, nil, avail, false)
	if err != nil {
		return nil, err
	}
	right, err := p.item(t.right, nil, avail, false)
	if err != nil {
		return nil, err
	}
	var keys, rest []*conjunct
	for _, c := range t.conds {
		if p.hashable(c, t.left.leaves, t.right.leaves) {
			keys = append(keys, c)
		} else {
			rest = append(rest, c)
		}
	}
	j, err := p.b.newHashJoin(joinFull, left, right, t.left, t.right, keys, rest, p.independent(t.right, nil))
	if err != nil {
		return nil, err
	}
	return withConds(j, conds), nil
}

// registersOf lists the registers of the leaves in set that the statement uses;
// it can be called only when all of the statement is compiled.
func (b *block) registersOf(set leafSet) []int {
	var regs []int
	for _, l := range b.leafs {
		if !set.has(l.id) {
			continue
		}
		for i := range l.cols {
			if l.cols[i].used {
				regs = append(regs, l.reg+i)
			}
		}
		if l.rid >= 0 {
			regs = append(regs, l.rid)
		}
	}
	return regs
}

// padded lists, when the statement is compiled, the registers that an outer
// join fills with NULL.
func (b *block) padded(regs *[]int, set leafSet) {
	b.st.finish = append(b.st.finish, func() { *regs = b.registersOf(set) })
}

// loopJoin runs its right side for each row of its left side.
type loopJoin struct {
	left, right node
	outer       bool
	pad         []int
}

func (n *loopJoin) bind(r *run, next step) step {
	if !n.outer {
		return n.left.bind(r, n.right.bind(r, next))
	}
	matched := false
	right := n.right.bind(r, func() error {
		matched = true
		return next()
	})
	return n.left.bind(r, func() error {
		matched = false
		if err := right(); err != nil || matched {
			return err
		}
		setNull(r.f, n.pad)
		return next()
	})
}

func setNull(f *expr.Frame, regs []int) {
	for _, g := range regs {
		f.Regs[g] = nullValue
	}
}
