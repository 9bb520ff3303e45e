package plan

import "gostress/internal/engine/types"

// rowTable holds rows of equal width in one slice and finds them by the hash of
// their first columns. It serves DISTINCT, GROUP BY, hash joins and spools.
type rowTable struct {
	width  int
	keys   int               // the leading columns that are the key
	colls  []types.Collation // of the key columns; nil = the default
	vals   []types.Value
	hashes []uint64
	next   []int32 // of rows with the same head; -1 ends
	heads  []int32 // power of two long; row + 1, 0 = empty
	tails  []int32 // last row of each head: chains keep the order of insertion
	n      int
}

// maxKept is the number of values beyond which a table's memory is given back
// after a run instead of being kept in the pool.
const maxKept = 1 << 16

func (t *rowTable) reset() {
	if cap(t.vals) > maxKept {
		*t = rowTable{width: t.width, keys: t.keys, colls: t.colls}
		return
	}
	clear(t.heads)
	t.vals, t.hashes, t.next, t.n = t.vals[:0], t.hashes[:0], t.next[:0], 0
}

func (t *rowTable) row(i int) []types.Value { return t.vals[i*t.width : (i+1)*t.width] }

// add appends a row whose key has that hash and returns its number.
func (t *rowTable) add(h uint64, row []types.Value) int {
	if t.n >= len(t.heads) {
		t.grow()
	}
	i := t.n
	t.vals = append(t.vals, row...)
	t.hashes = append(t.hashes, h)
	t.next = append(t.next, -1)
	t.n++
	t.link(i)
	return i
}

func (t *rowTable) link(i int) {
	b := int(t.hashes[i]) & (len(t.heads) - 1)
	if t.heads[b] == 0 {
		t.heads[b] = int32(i + 1)
	} else {
		t.next[t.tails[b]] = int32(i)
	}
	t.tails[b] = int32(i)
}

func (t *rowTable) grow() {
	n := max(16, 2*len(t.heads))
	t.heads, t.tails = make([]int32, n), make([]int32, n)
	for i := range t.n {
		t.next[i] = -1
		t.link(i)
	}
}

// first returns the first row whose key has that hash and equals key, or -1.
func (t *rowTable) first(h uint64, key []types.Value) int {
	if t.n == 0 {
		return -1
	}
	return t.match(int(t.heads[int(h)&(len(t.heads)-1)])-1, h, key)
}

// after returns the next such row after row i, or -1.
func (t *rowTable) after(i int, h uint64, key []types.Value) int {
	return t.match(int(t.next[i]), h, key)
}

func (t *rowTable) match(i int, h uint64, key []types.Value) int {
	for ; i >= 0; i = int(t.next[i]) {
		if t.hashes[i] == h && t.same(t.vals[i*t.width:i*t.width+t.keys], key) {
			return i
		}
	}
	return -1
}

// hashRow hashes a key; NULL is a value like any other.
func hashRow(key []types.Value) uint64 {
	h := uint64(0x9E3779B97F4A7C15)
	for i := range key {
		h ^= types.Hash(key[i])
		h *= 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	return h
}

// same compares keys as DISTINCT and GROUP BY do: NULL equals NULL.
func (t *rowTable) same(a, b []types.Value) bool {
	for i := range a {
		if a[i].IsNull() || b[i].IsNull() {
			if a[i].IsNull() != b[i].IsNull() {
				return false
			}
			continue
		}
		if t.colls != nil && t.colls[i] != types.CollDefault {
			if types.CompareColl(a[i], b[i], t.colls[i]) != 0 {
				return false
			}
		} else if types.Compare(a[i], b[i]) != 0 {
			return false
		}
	}
	return true
}

// order compares as ORDER BY does: NULL comes first.
func order(a, b types.Value, coll types.Collation) int {
	switch {
	case a.IsNull() && b.IsNull():
		return 0
	case a.IsNull():
		return -1
	case b.IsNull():
		return 1
	case coll != types.CollDefault:
		return types.CompareColl(a, b, coll)
	}
	return types.Compare(a, b)
}

// collations lists the collations of types; nil when all are the default.
func collations(list []types.Type) []types.Collation {
	var c []types.Collation
	for i, t := range list {
		if t.Coll != types.CollDefault {
			if c == nil {
				c = make([]types.Collation, len(list))
			}
			c[i] = t.Coll
		}
	}
	return c
}

func anyNull(key []types.Value) bool {
	for i := range key {
		if key[i].IsNull() {
			return true
		}
	}
	return false
}
