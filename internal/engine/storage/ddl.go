package storage

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"gostress/internal/engine/types"
)

// change lets no operation of others work with the structure while fn makes a
// new one of it. It does not wait for transactions, only for operations.
func (t *Table) change(fn func(st tableState) (*tableState, error)) error {
	t.changing.Lock()
	defer t.changing.Unlock()
	if t.local == nil {
		t.gate.Store(true)
		defer t.gate.Store(false)
		for no := range t.store.made.Load() {
			for sl := t.store.slot(no); sl.busy.Load() != 0; {
				runtime.Gosched()
			}
		}
		t.garbage.working.Lock()
		defer t.garbage.working.Unlock()
	}
	st, err := fn(*t.state.Load())
	if err != nil {
		return err
	}
	t.state.Store(st)
	return nil
}

// AddIndex adds an index and fills it; its number is the last one. When rows
// of a unique index have equal keys it returns a *UniqueError and adds none. A
// hash index that is added to a table with rows is kept as an ordered
// structure, since rows have no place for its links.
func (t *Table) AddIndex(def IndexDef) error {
	return t.change(func(st tableState) (*tableState, error) {
		i := len(st.indexes)
		x := &index{def: def}
		x.asTree(st.cur.fields, st.def.Columns)
		st.def.shape = nil
		st.def.Indexes = append(st.def.Indexes[:i:i], def)
		st.indexes = append(st.indexes[:i:i], x)
		cmp := func(a, b item) int { return x.compareItems(&st, &t.rowMemory, a, b) }
		var err error
		t.versions(func(no rowNo, p unsafe.Pointer) bool {
			it := x.itemOf(&st, no, p)
			x.tree.insert(it, cmp)
			if def.Unique && live(p) {
				for _, o := range x.sameKey(&st, &t.rowMemory, it, nil) {
					if live(t.row(o)) {
						err = &UniqueError{Index: i}
					}
				}
			}
			return err == nil
		})
		if err != nil {
			return nil, err
		}
		return &st, nil
	})
}

// live reports whether a version is neither undone nor ended, be it for now.
func live(p unsafe.Pointer) bool {
	b, e := atomic.LoadUint64(begin(p)), atomic.LoadUint64(end(p))
	return b != never && (e == never || e&flagTx != 0 && e&flagLock != 0)
}

// versions calls fn with every version that is not undone.
func (t *Table) versions(fn func(no rowNo, p unsafe.Pointer) bool) {
	each := func(no rowNo, p unsafe.Pointer) bool {
		return atomic.LoadUint64(begin(p)) == never || fn(no, p)
	}
	if t.local != nil {
		t.local.each(each)
		return
	}
	t.slab.each(each)
}

// DropIndex removes index i; the numbers of those after it become one less.
// Statements that use index numbers must not run meanwhile.
func (t *Table) DropIndex(i int) {
	_ = t.change(func(st tableState) (*tableState, error) {
		st.def.shape = nil
		st.def.Indexes = append(st.def.Indexes[:i:i], st.def.Indexes[i+1:]...)
		st.indexes = append(st.indexes[:i:i], st.indexes[i+1:]...)
		return &st, nil
	}) // fn never fails
}

// AddColumn adds a column after the last; existing rows have def in it.
func (t *Table) AddColumn(col Column, def types.Value) error {
	return t.change(func(st tableState) (*tableState, error) {
		n := len(st.def.Columns)
		st.def.shape = nil
		st.def.Columns = append(st.def.Columns[:n:n], col)
		old := st.defaults
		st.defaults = make([]types.Value, n+1)
		copy(st.defaults, old)
		st.cur = newLayout(uint16(len(st.layouts)), st.links, st.def.Columns)
		row := make([]types.Value, n+1)
		row[n] = def
		row, err := st.normal(row)
		if err != nil {
			return nil, err
		}
		st.defaults[n] = row[n]
		st.layouts = append(st.layouts[:len(st.layouts):len(st.layouts)], st.cur)
		return &st, nil
	})
}
