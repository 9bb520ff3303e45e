package storage

import (
	"math"
	"unsafe"

	"gostress/internal/engine/types"
)

// value reads column c of a row in place, whatever layout the row has; columns
// that the row is too old for have their default.
func (st *tableState) value(p unsafe.Pointer, c int) types.Value {
	l := st.layouts[layoutOf(p)]
	if c >= len(l.fields) {
		return st.defaults[c]
	}
	return l.view(p, c)
}

// hashNumber is what a value adds to a key's hash: the number itself where
// equal values have equal numbers, so that neighbouring keys can be put into
// neighbouring buckets.
func hashNumber(f form, v types.Value) uint64 {
	if v.IsNull() {
		return 0x7F4A7C159E3779B9
	}
	if f.whole() && !v.Kind().IsFloat() {
		return uint64(v.Int())
	}
	return types.Hash(v)
}

// hashKey hashes a whole key.
func (x *index) hashKey(st *tableState, key []types.Value) uint64 {
	var h uint64
	for i, c := range x.def.Columns {
		h = h*0xD6E8FEB86659FD93 + hashNumber(st.cur.fields[c].form, key[i])
	}
	return h
}

// hashRow hashes the key of a row.
func (x *index) hashRow(st *tableState, p unsafe.Pointer) uint64 {
	var h uint64
	l := st.layouts[layoutOf(p)]
	for _, c := range x.def.Columns {
		h *= 0xD6E8FEB86659FD93
		if c < len(l.fields) {
			if f := &l.fields[c]; f.form.whole() && f.kind != types.KindFloat && !l.isNull(p, c) {
				h += uint64(f.number(unsafe.Add(p, f.off)))
				continue
			}
		}
		h += hashNumber(st.cur.fields[c].form, st.value(p, c))
	}
	return h
}

// compareValues orders two values of one column; NULL comes first and equals NULL.
func compareValues(f *field, a, b types.Value) int {
	switch {
	case a.IsNull() && b.IsNull():
		return 0
	case a.IsNull():
		return -1
	case b.IsNull():
		return 1
	}
	if f.form.whole() && f.kind != types.KindFloat {
		switch x, y := a.Int(), b.Int(); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	return types.CompareColl(a, b, f.coll)
}

// equalKey reports whether the row has the key in the index's columns.
func (x *index) equalKey(st *tableState, p unsafe.Pointer, key []types.Value) bool {
	l := st.layouts[layoutOf(p)]
	for i := range key {
		c := x.def.Columns[i]
		if c < len(l.fields) {
			if f := &l.fields[c]; f.form.whole() && f.kind != types.KindFloat {
				if null := l.isNull(p, c); null != key[i].IsNull() || !null && f.number(unsafe.Add(p, f.off)) != key[i].Int() {
					return false
				}
				continue
			}
		}
		if compareValues(&st.cur.fields[c], st.value(p, c), key[i]) != 0 {
			return false
		}
	}
	return true
}

// equalRows reports whether two rows have the same key.
func (x *index) equalRows(st *tableState, p, q unsafe.Pointer) bool {
	l, m := st.layouts[layoutOf(p)], st.layouts[layoutOf(q)]
	for _, c := range x.def.Columns {
		if l == m && c < len(l.fields) {
			if f := &l.fields[c]; f.form.whole() && f.kind != types.KindFloat {
				a, b := l.isNull(p, c), l.isNull(q, c)
				if a != b || !a && f.number(unsafe.Add(p, f.off)) != f.number(unsafe.Add(q, f.off)) {
					return false
				}
				continue
			}
		}
		if compareValues(&st.cur.fields[c], st.value(p, c), st.value(q, c)) != 0 {
			return false
		}
	}
	return true
}

// An item is a row in an ordered index: the first twelve bytes of its key in
// an encoding whose byte order is the key's order, and the row's number. Most
// comparisons never look at the rows.
type item struct {
	hi  uint64
	lo  uint32
	row rowNo
}

const prefixBytes = 12

// prefixer builds the leading bytes of a key.
type prefixer struct {
	b [prefixBytes]byte
	n int
}

func (x *prefixer) add(b byte, flip byte) {
	if x.n < prefixBytes {
		x.b[x.n] = b ^ flip
		x.n++
	}
}

func (x *prefixer) number(n uint64, bytes int, flip byte) {
	for i := bytes - 1; i >= 0; i-- {
		x.add(byte(n>>(8*i)), flip)
	}
}

func (x *prefixer) words() (hi uint64, lo uint32) {
	for i, b := range x.b {
		if i < 8 {
			hi |= uint64(b) << (56 - 8*i)
		} else {
			lo |= uint32(b) << (24 - 8*(i-8))
		}
	}
	return hi, lo
}

// width is how many bytes a column takes in the prefix, 0 when its order has
// no such encoding here.
func (f *field) width(nullable bool) int {
	n := 0
	switch f.form {
	case form1, form2, form4, form8:
		n = formBytes[f.form]
	case formDec64:
		n = 8
	default:
		return 0
	}
	if nullable {
		n++
	}
	return n
}

// encodable reports whether a key's value can be encoded as the column's are:
// it is within the column's range and has its scale.
func (f *field) encodable(nullable bool, v types.Value) bool {
	if v.IsNull() {
		return nullable
	}
	switch n := v.Int(); f.form {
	case formDec64:
		return f.fits(&v)
	case form1:
		return n == int64(uint8(n))
	case form2:
		return n == int64(int16(n))
	case form4:
		return n == int64(int32(n))
	}
	return true
}

// addValue encodes a column of a width above 0.
func (x *prefixer) addValue(f *field, nullable bool, v types.Value, flip byte) {
	if nullable {
		if v.IsNull() {
			x.add(0, flip)
			x.number(0, formBytes[f.form], flip)
			return
		}
		x.add(1, flip)
	}
	switch {
	case f.form == form1:
		x.number(uint64(v.Int()), 1, flip)
	case f.form == form2:
		x.number(uint64(v.Int())^1<<15, 2, flip)
	case f.form == form4:
		x.number(uint64(v.Int())^1<<31, 4, flip)
	case f.kind == types.KindFloat:
		x.number(floatOrder(v.Float()), 8, flip)
	case f.form == formDec64:
		n, _ := v.Decimal64()
		x.number(uint64(n)^1<<63, 8, flip)
	default:
		x.number(uint64(v.Int())^1<<63, 8, flip)
	}
}

func floatOrder(f float64) uint64 {
	if f == 0 {
		f = 0 // -0 is equal to 0
	}
	n := math.Float64bits(f)
	if n>>63 != 0 {
		return ^n
	}
	return n | 1<<63
}

// itemOf makes the item of a row.
func (x *index) itemOf(st *tableState, no rowNo, p unsafe.Pointer) item {
	var b prefixer
	for i := range x.prefixed {
		c := x.def.Columns[i]
		b.addValue(&st.cur.fields[c], st.def.Columns[c].Nullable, st.value(p, c), x.flip(i))
	}
	hi, lo := b.words()
	return item{hi: hi, lo: lo, row: no}
}

func (x *index) flip(i int) byte {
	if x.desc(i) {
		return 0xFF
	}
	return 0
}

func (x *index) desc(i int) bool { return i < len(x.def.Desc) && x.def.Desc[i] }

// compareItems is the order of the index: by key, then by row number.
func (x *index) compareItems(st *tableState, m *rowMemory, a, b item) int {
	switch {
	case a.hi != b.hi:
		return order(a.hi < b.hi)
	case a.lo != b.lo:
		return order(a.lo < b.lo)
	case a.row == b.row:
		return 0
	}
	if !x.exact {
		p, q := m.row(a.row), m.row(b.row)
		for i, c := range x.def.Columns {
			if d := compareValues(&st.cur.fields[c], st.value(p, c), st.value(q, c)); d != 0 {
				return x.sign(i, d)
			}
		}
	}
	return order(a.row < b.row)
}

func (x *index) sign(i, d int) int {
	if x.desc(i) {
		return -d
	}
	return d
}

func order(less bool) int {
	if less {
		return -1
	}
	return 1
}

// probe is a key, or the beginning of one, to compare items with.
type probe struct {
	key        []types.Value
	hi, maskHi uint64
	lo, maskLo uint32
	exact      bool // the masked prefix decides
	st         *tableState
	mem        *rowMemory
	x          *index
}

func (x *index) probe(st *tableState, m *rowMemory, key []types.Value) probe {
	r := probe{key: key, st: st, mem: m, x: x, exact: true}
	var b, mask prefixer
	for i := range key {
		f, nullable := &st.cur.fields[x.def.Columns[i]], st.def.Columns[x.def.Columns[i]].Nullable
		if i >= x.prefixed || !f.encodable(nullable, key[i]) {
			r.exact = false
			break
		}
		r.exact = b.n+f.width(nullable) <= prefixBytes
		b.addValue(f, nullable, key[i], x.flip(i))
	}
	for mask.n < b.n {
		mask.add(0xFF, 0)
	}
	r.hi, r.lo = b.words()
	r.maskHi, r.maskLo = mask.words()
	return r
}

// compare orders an item against the probe's key.
func (r *probe) compare(it item) int {
	if h := it.hi & r.maskHi; h != r.hi {
		return order(h < r.hi)
	}
	if l := it.lo & r.maskLo; l != r.lo {
		return order(l < r.lo)
	}
	if r.exact {
		return 0
	}
	p := r.mem.row(it.row)
	for i := range r.key {
		c := r.x.def.Columns[i]
		if d := compareValues(&r.st.cur.fields[c], r.st.value(p, c), r.key[i]); d != 0 {
			return r.x.sign(i, d)
		}
	}
	return 0
}
