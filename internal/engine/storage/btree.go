package storage

// btree is a B+tree of items without duplicates (the row number tells equal
// keys apart). It has no latch; its owner has. A node is one object of about
// 1 KiB, and items hold no pointers. An inner key is the smallest item below
// the child to its right, exactly: no tree node ever names a row that is not
// in a leaf, whose memory might be used again.
type btree struct {
	root  *node
	count int
	nodes int
}

const nodeItems = 60

type node struct {
	kids       *[nodeItems + 1]*node // nil in a leaf
	prev, next *node                 // neighbouring leaves
	n          int
	items      [nodeItems]item
}

func newBTree() *btree { return &btree{root: &node{}, nodes: 1} }

// reset empties the tree and keeps a leaf.
func (t *btree) reset() {
	if t.root.kids != nil {
		t.root = &node{}
	}
	t.root.n, t.count, t.nodes = 0, 0, 1
}

// find is the first of n items for which above is true.
func find(items []item, above func(item) bool) int {
	lo, hi := 0, len(items)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if above(items[mid]) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// lower finds the first item for which cmp is not negative, as a place in a
// leaf that may lie behind the leaf's last item.
func (t *btree) lower(cmp func(item) int) (*node, int) {
	n := t.root
	for n.kids != nil {
		i := find(n.items[:n.n], func(it item) bool { return cmp(it) >= 0 })
		n = n.kids[i]
	}
	return n, find(n.items[:n.n], func(it item) bool { return cmp(it) >= 0 })
}

// upper finds the first item for which cmp is positive.
func (t *btree) upper(cmp func(item) int) (*node, int) {
	n := t.root
	for n.kids != nil {
		i := find(n.items[:n.n], func(it item) bool { return cmp(it) > 0 })
		n = n.kids[i]
	}
	return n, find(n.items[:n.n], func(it item) bool { return cmp(it) > 0 })
}

// insert adds an item; it reports false when the item is there.
func (t *btree) insert(it item, cmp func(a, b item) int) bool {
	right, sep, ok := t.insertInto(t.root, it, cmp)
	if right != nil {
		root := &node{kids: new([nodeItems + 1]*node), n: 1}
		root.items[0], root.kids[0], root.kids[1] = sep, t.root, right
		t.root = root
		t.nodes++
	}
	if ok {
		t.count++
	}
	return ok
}

// insertInto adds an item below n and, when n had to be split, returns its new
// right neighbour and the smallest item below that.
func (t *btree) insertInto(n *node, it item, cmp func(a, b item) int) (right *node, sep item, ok bool) {
	// Keys grow in most tables: look at the last item first.
	i := n.n
	if n.n > 0 {
		if d := cmp(it, n.items[n.n-1]); d == 0 && n.kids == nil {
			return nil, item{}, false
		} else if d < 0 {
			i = find(n.items[:n.n-1], func(o item) bool { return cmp(o, it) > 0 })
		}
	}
	if n.kids == nil {
		if i > 0 && i < n.n && n.items[i-1].row == it.row && cmp(n.items[i-1], it) == 0 {
			return nil, item{}, false
		}
		if n.n < nodeItems {
			n.put(i, it)
			return nil, item{}, true
		}
		right = t.split(n, i == n.n && n.next == nil)
		if i > n.n || n.n == nodeItems {
			right.put(i-n.n, it)
		} else {
			n.put(i, it)
		}
		return right, right.items[0], true
	}
	kid, ksep, ok := t.insertInto(n.kids[i], it, cmp)
	if kid == nil {
		return nil, item{}, ok
	}
	if n.n < nodeItems {
		n.putKid(i, ksep, kid)
		return nil, item{}, ok
	}
	right, sep = t.splitInner(n)
	if i <= n.n {
		n.putKid(i, ksep, kid)
	} else {
		right.putKid(i-n.n-1, ksep, kid)
	}
	return right, sep, ok
}

func (n *node) put(i int, it item) {
	copy(n.items[i+1:n.n+1], n.items[i:n.n])
	n.items[i] = it
	n.n++
}

// putKid puts a key at i and the child to its right.
func (n *node) putKid(i int, key item, kid *node) {
	copy(n.items[i+1:n.n+1], n.items[i:n.n])
	copy(n.kids[i+2:n.n+2], n.kids[i+1:n.n+1])
	n.items[i], n.kids[i+1] = key, kid
	n.n++
}

// split moves the upper half of a leaf into a new one, or nothing when the
// leaf is full of ascending keys.
func (t *btree) split(n *node, append bool) *node {
	right := &node{prev: n, next: n.next}
	if right.next != nil {
		right.next.prev = right
	}
	n.next = right
	t.nodes++
	if append {
		return right
	}
	half := n.n / 2
	right.n = copy(right.items[:], n.items[half:n.n])
	n.n = half
	return right
}

func (t *btree) splitInner(n *node) (*node, item) {
	half := n.n / 2
	if n.next == nil && n.n == nodeItems && n == t.rightmost(n) {
		half = n.n - 2 // ascending keys: leave the left part full
	}
	right := &node{kids: new([nodeItems + 1]*node)}
	sep := n.items[half]
	right.n = copy(right.items[:], n.items[half+1:n.n])
	copy(right.kids[:], n.kids[half+1:n.n+1])
	clear(n.kids[half+1:])
	n.n = half
	t.nodes++
	return right, sep
}

// rightmost is n when n lies on the tree's right edge.
func (t *btree) rightmost(n *node) *node {
	for r := t.root; r.kids != nil; r = r.kids[r.n] {
		if r == n {
			return n
		}
	}
	return nil
}

// remove takes an item out; it reports whether it was there.
func (t *btree) remove(it item, cmp func(a, b item) int) bool {
	ok, _ := t.removeFrom(t.root, it, cmp)
	if ok {
		t.count--
	}
	for t.root.kids != nil && t.root.n == 0 {
		t.root = t.root.kids[0]
		t.nodes--
	}
	return ok
}

// removeFrom takes an item out below n and reports whether n is now empty.
func (t *btree) removeFrom(n *node, it item, cmp func(a, b item) int) (ok, empty bool) {
	i := find(n.items[:n.n], func(o item) bool { return cmp(o, it) > 0 })
	if n.kids == nil {
		if i == 0 || n.items[i-1].row != it.row || cmp(n.items[i-1], it) != 0 {
			return false, false
		}
		copy(n.items[i-1:], n.items[i:n.n])
		n.n--
		return true, n.n == 0
	}
	ok, empty = t.removeFrom(n.kids[i], it, cmp)
	switch {
	case empty && n.n == 0:
		t.drop(n.kids[i])
		n.kids[0] = nil
		return ok, true
	case empty:
		t.drop(n.kids[i])
		k := max(i-1, 0)
		copy(n.items[k:], n.items[k+1:n.n])
		copy(n.kids[i:], n.kids[i+1:n.n+1])
		n.kids[n.n] = nil
		n.n--
	case ok && i > 0 && n.items[i-1].row == it.row:
		n.items[i-1] = n.kids[i].first()
	}
	return ok, false
}

// drop takes an empty node out of the list of leaves.
func (t *btree) drop(n *node) {
	t.nodes--
	if n.kids != nil {
		return
	}
	if n.prev != nil {
		n.prev.next = n.next
	}
	if n.next != nil {
		n.next.prev = n.prev
	}
}

func (n *node) first() item {
	for n.kids != nil {
		n = n.kids[0]
	}
	return n.items[0]
}

const nodeBytes = 1024 // with its share of the tables of children
