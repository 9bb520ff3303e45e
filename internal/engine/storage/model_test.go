package storage

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// model is a Memory table as a list of versions, with the rules written down
// plainly: what every transaction must see, and which error it must get.
type model struct {
	clock    int
	versions []*version
}

type version struct {
	key, val   int64
	begin, end int // commit times; 0 = none yet
	by, endBy  *modelTx
	id         RowID
}

type modelTx struct {
	tx    *Tx
	iso   Isolation
	snap  int
	rows  []*version // read at RepeatableRead or above
	scans []func(key int64) bool
	log   []func() // undoes
}

func (m *model) sees(x *modelTx, v *version) bool {
	if v.by != nil && v.by != x || v.by == nil && v.begin > x.snap {
		return false
	}
	return v.endBy != x && (v.end == 0 || v.end > x.snap)
}

func (m *model) visible(x *modelTx, in func(key int64) bool) []string {
	var out []string
	for _, v := range m.versions {
		if in(v.key) && m.sees(x, v) {
			if x.iso >= RepeatableRead {
				x.rows = append(x.rows, v)
			}
			out = append(out, fmt.Sprint(v.key, "=", v.val))
		}
	}
	if x.iso == Serializable {
		x.scans = append(x.scans, in)
	}
	slices.Sort(out)
	return out
}

// take returns the number of the error that ending v gives, 0 for none.
func (m *model) take(x *modelTx, v *version) int32 {
	if v.endBy != nil || v.end != 0 {
		return 41302
	}
	v.endBy = x
	x.log = append(x.log, func() { v.endBy = nil })
	return 0
}

// insert returns 41302, 2627 or 0.
func (m *model) insert(x *modelTx, key, val int64, id RowID) (number int32) {
	for _, v := range m.versions {
		if v.key != key || v.endBy == x {
			continue
		}
		snapshot := x.iso != ReadCommitted
		switch {
		case v.by != nil && v.by != x, v.endBy != nil:
			return 41302
		case v.end == 0 && v.by == nil && v.begin > x.snap && snapshot:
			return 41302
		case v.end == 0:
			number = 2627
		case snapshot && v.by == nil && v.begin <= x.snap && v.end > x.snap:
			return 41302
		}
	}
	if number != 0 {
		return number
	}
	v := &version{key: key, val: val, by: x, id: id}
	m.versions = append(m.versions, v)
	x.log = append(x.log, func() { m.versions = slices.DeleteFunc(m.versions, func(o *version) bool { return o == v }) })
	return 0
}

func (m *model) undo(x *modelTx, to int) {
	for i := len(x.log) - 1; i >= to; i-- {
		x.log[i]()
	}
	x.log = x.log[:to]
}

func (m *model) commit(x *modelTx) int32 {
	for _, v := range x.rows {
		if v.end != 0 {
			return 41305
		}
	}
	for _, in := range x.scans {
		for _, v := range m.versions {
			if v.by == nil && v.begin > x.snap && v.end == 0 && in(v.key) {
				return 41325
			}
		}
	}
	m.clock++
	for _, v := range m.versions {
		if v.by == x {
			v.by, v.begin = nil, m.clock
		}
		if v.endBy == x {
			v.endBy, v.end = nil, m.clock
		}
	}
	return 0
}

func number(err error) int32 {
	var u *UniqueError
	if errors.As(err, &u) {
		return 2627
	}
	return sqlerr.Number(err)
}

// TestModel runs random interleaved transactions on a Memory table and on the
// model, and compares every read and every error.
func TestModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(24) {
		for _, ik := range []IndexKind{Hash, Ordered} {
			r := rand.New(rand.NewPCG(seed, uint64(ik)))
			s := NewStore()
			def := TableDef{Kind: Memory, Columns: []Column{{Type: types.Int}, {Type: types.Int}}, Indexes: []IndexDef{
				{Columns: []int{0}, Unique: true, Kind: ik}, {Columns: []int{1}, Kind: ik},
			}}
			if seed%2 == 0 {
				def.Indexes = append(def.Indexes, IndexDef{Columns: []int{1, 0}, Kind: Ordered, Desc: []bool{true, false}})
			}
			h := &history{t: t, r: r, m: &model{}, store: s, tab: s.NewTable(def), keys: 1 + r.Int64N(30)}
			for i := 0; i < 1500 && !t.Failed(); i++ {
				h.step()
			}
			for _, x := range h.open {
				x.tx.Rollback()
			}
			if t.Failed() {
				t.Fatalf("seed %d, index kind %d", seed, ik)
			}
		}
	}
}

type history struct {
	t     *testing.T
	r     *rand.Rand
	m     *model
	store *Store
	tab   *Table
	keys  int64
	open  []*modelTx
}

func (h *history) step() {
	if len(h.open) == 0 || len(h.open) < 6 && h.r.IntN(8) == 0 {
		iso := Isolation(h.r.IntN(4))
		h.open = append(h.open, &modelTx{tx: h.store.Begin(iso), iso: iso, snap: h.m.clock})
		return
	}
	i := h.r.IntN(len(h.open))
	x := h.open[i]
	x.tx.StatementBegin()
	if x.iso == ReadCommitted {
		x.snap = h.m.clock
	}
	key := h.r.Int64N(h.keys)
	switch n := h.r.IntN(24); {
	case n < 3: // end
		h.open = slices.Delete(h.open, i, i+1)
		if n == 0 {
			x.tx.Rollback()
			h.m.undo(x, 0)
			return
		}
		want := h.m.commit(x)
		if want != 0 {
			h.m.undo(x, 0)
		}
		h.same("commit", number(x.tx.Commit()), want)
		if h.same("RowCount", h.tab.RowCount(), h.committed()); want != 0 {
			return
		}
	case n < 9:
		val := h.r.Int64N(5)
		id, err := h.tab.Insert(x.tx, []types.Value{intv(key), intv(val)})
		h.outcome(i, "insert", err, h.m.insert(x, key, val, id))
	case n < 16:
		h.change(i, key, n < 13)
	case n < 18:
		key--
		want := h.m.visible(x, func(k int64) bool { return k > key })
		if h.tab.Def().Indexes[0].Kind == Hash {
			h.same("scan", h.read(x, func(fn func(RowID) (bool, error)) error { return h.tab.Scan(x.tx, fn) }, func(k int64) bool { return k > key }), want)
			return
		}
		h.same("range", h.read(x, func(fn func(RowID) (bool, error)) error {
			return h.tab.Range(x.tx, 0, Bound{Key: []types.Value{intv(key)}}, Bound{}, n == 16, fn)
		}, nil), want)
	case n < 20:
		sp, mark := x.tx.Savepoint(), len(x.log)
		val := h.r.Int64N(5)
		if id, err := h.tab.Insert(x.tx, []types.Value{intv(key), intv(val)}); h.outcome(i, "insert", err, h.m.insert(x, key, val, id)) {
			x.tx.RollbackTo(sp)
			h.m.undo(x, mark)
		}
	default:
		want := h.m.visible(x, func(k int64) bool { return k == key })
		h.same("seek", h.read(x, func(fn func(RowID) (bool, error)) error {
			return h.tab.Seek(x.tx, 0, []types.Value{intv(key)}, fn)
		}, nil), want)
	}
}

// change updates or deletes the row of a key.
func (h *history) change(i int, key int64, update bool) {
	x := h.open[i]
	var v *version
	h.m.visible(x, func(k int64) bool { return k == key })
	for _, o := range h.m.versions {
		if o.key == key && h.m.sees(x, o) {
			v = o
		}
	}
	id := find1(h.t, h.tab, x.tx, key)
	if v == nil || id == 0 {
		h.same("found", id != 0, v != nil)
		return
	}
	if !update {
		h.outcome(i, "delete", h.tab.Delete(x.tx, id), h.m.take(x, v))
		return
	}
	to, val := h.r.Int64N(h.keys), h.r.Int64N(5)
	mark := len(x.log)
	want := h.m.take(x, v)
	if want == 0 {
		if want = h.m.insert(x, to, val, 0); want != 0 {
			h.m.undo(x, mark)
		}
	}
	h.outcome(i, "update", h.tab.Update(x.tx, id, []types.Value{intv(to), intv(val)}), want)
}

// outcome compares errors and ends a doomed transaction; it reports whether
// the transaction goes on.
func (h *history) outcome(i int, what string, err error, want int32) bool {
	h.same(what, number(err), want)
	x := h.open[i]
	if x.tx.Doomed() != (want == 41302) {
		h.t.Errorf("%s: doomed %v after %d", what, x.tx.Doomed(), want)
	}
	if want != 41302 {
		return true
	}
	h.open = slices.Delete(h.open, i, i+1)
	h.m.undo(x, 0)
	if h.r.IntN(2) == 0 {
		x.tx.Rollback()
	} else {
		h.same("commit of a doomed one", number(x.tx.Commit()), 3930)
	}
	return false
}

func (h *history) read(x *modelTx, read func(func(RowID) (bool, error)) error, in func(int64) bool) []string {
	var out []string
	if err := read(func(id RowID) (bool, error) {
		var v [2]types.Value
		h.tab.Read(id, nil, v[:])
		if in == nil || in(v[0].Int()) {
			out = append(out, fmt.Sprint(v[0].Int(), "=", v[1].Int()))
		} else if x.iso >= RepeatableRead {
			// A scan reads every row, not only those asked for.
			for _, o := range h.m.versions {
				if o.key == v[0].Int() && h.m.sees(x, o) {
					x.rows = append(x.rows, o)
				}
			}
			if x.iso == Serializable {
				x.scans = append(x.scans, func(int64) bool { return true })
			}
		}
		return true, nil
	}); err != nil {
		h.t.Error(err)
	}
	if in != nil && x.iso == Serializable {
		x.scans = append(x.scans, func(int64) bool { return true })
	}
	slices.Sort(out)
	return out
}

func (h *history) committed() (n int64) {
	for _, v := range h.m.versions {
		if v.by == nil && v.end == 0 {
			n++
		}
	}
	return n
}

func (h *history) same(what string, got, want any) {
	h.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		h.t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
