package storage

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// Table is a table with its indexes. Tables of a store are used by many
// transactions at once; a Local or Temp one by its owner alone.
type Table struct {
	rowMemory
	kind    Kind
	store   *Store
	local   *localRows // of Local and Temp tables
	state   atomic.Pointer[tableState]
	rows    atomic.Int64
	garbage garbage
	closed  atomic.Bool

	// gate is up while the structure changes: operations wait at changing.
	gate     atomic.Bool
	changing sync.Mutex
}

// tableState is what an operation works with; a change of the structure makes
// a new one. def.Indexes and indexes go together.
type tableState struct {
	def      TableDef
	layouts  []*layout
	cur      *layout
	defaults []types.Value // what rows of older layouts have in later columns
	indexes  []*index
	links    uint32 // bytes of links in each row
}

func newState(def TableDef, local bool) *tableState {
	st := &tableState{def: def}
	cur := newLayout(0, 0, def.Columns)
	st.indexes = make([]*index, len(def.Indexes))
	for i, d := range def.Indexes {
		x, links := newIndex(d, st.links, cur.fields, def.Columns, local)
		st.indexes[i] = x
		st.links += links
	}
	if st.links > 0 {
		cur = newLayout(0, st.links, def.Columns)
	}
	st.cur, st.layouts = cur, []*layout{cur}
	return st
}

// NewTable makes a table.
func (s *Store) NewTable(def TableDef) *Table {
	if def.Kind == Local || def.Kind == Temp {
		return NewLocal(def)
	}
	t := &Table{kind: def.Kind, store: s}
	t.slab = newSlab()
	t.state.Store(newState(def, false))
	return t
}

// Def is the table's present definition.
func (t *Table) Def() TableDef { return t.state.Load().def }

// RowCount is the number of committed rows; for Local and Temp tables of all.
func (t *Table) RowCount() int64 {
	if t.local != nil {
		return t.local.live
	}
	return t.rows.Load()
}

// MemoryBytes is the memory in use for rows and for indexes. Links between the
// rows of a hash index count as the rows'.
func (t *Table) MemoryBytes() (table, indexes int64) {
	for _, x := range t.state.Load().indexes {
		indexes += x.bytes()
	}
	if t.local != nil {
		return int64(cap(t.local.buf)), indexes
	}
	return t.slab.used.Load(), indexes
}

// enter begins an operation that works with the table's structure.
func (t *Table) enter(tx *Tx) *tableState {
	for {
		tx.slot.busy.Store(1)
		if !t.gate.Load() {
			return t.state.Load()
		}
		tx.slot.busy.Store(0)
		t.changing.Lock()
		//lint:ignore SA2001 only to wait until the change is done
		t.changing.Unlock()
	}
}

func (t *Table) leave(tx *Tx) { tx.slot.busy.Store(0) }

// closeShared leaves the table empty, and its memory to the collector, which
// gives it back once no reader can hold a row of it.
func (t *Table) closeShared() {
	big := t.slab.used.Load() > bigTable
	_ = t.change(func(st tableState) (*tableState, error) {
		t.closed.Store(true)
		t.slab = newSlab()
		t.rows.Store(0)
		return newState(st.def, false), nil
	}) // fn never fails
	if big {
		runtime.GC() // it would come late: the heap has not grown by these rows
	}
}

const bigTable = 64 << 20

// auto gives an operation without a transaction one of its own.
func (t *Table) auto(fn func(tx *Tx) error) error {
	tx := t.store.Begin(ReadCommitted)
	if err := fn(tx); err != nil {
		tx.Rollback()
		return err
	}
	return tx.Commit()
}

// normal returns the row with every value in its column's type.
func (st *tableState) normal(row []types.Value) ([]types.Value, error) {
	if len(row) != len(st.cur.fields) {
		return nil, fmt.Errorf("storage: a row of %d values for a table of %d columns", len(row), len(st.cur.fields))
	}
	for i := range row {
		if !row[i].IsNull() && !st.cur.fields[i].fits(&row[i]) {
			return st.convert(row, i)
		}
	}
	return row, nil
}

func (st *tableState) convert(row []types.Value, from int) ([]types.Value, error) {
	row = append([]types.Value(nil), row...)
	for i := from; i < len(row); i++ {
		f := &st.cur.fields[i]
		if row[i].IsNull() || f.fits(&row[i]) {
			continue
		}
		v, err := types.Assign(row[i], st.def.Columns[i].Type)
		if err != nil {
			return nil, err
		}
		if !f.fits(&v) {
			return nil, fmt.Errorf("storage: a %s value in a column of %s", v.Kind(), st.def.Columns[i].Type)
		}
		row[i] = v
	}
	return row, nil
}

func outOfMemory() error {
	return sqlerr.New(701, 17, 123, "There is not enough memory to store the row.")
}

// Insert adds a row. The values must have their columns' types or be NULL.
// A *UniqueError names the violated index; 41302 ends a conflict in a Memory
// table, 1205 and 1222 a wait in a Disk table.
func (t *Table) Insert(tx *Tx, row []types.Value) (RowID, error) {
	if t.local != nil {
		return t.insertLocal(tx, row)
	}
	if tx == nil {
		var id RowID
		err := t.auto(func(tx *Tx) (err error) {
			id, err = t.Insert(tx, row)
			return err
		})
		return id, err
	}
	if err := tx.writable(); err != nil {
		return 0, err
	}
	st := t.enter(tx)
	no, err := t.insert(tx, st, row)
	t.leave(tx)
	runtime.KeepAlive(t)
	return RowID(no), err
}

// insert adds the row within enter and leave.
func (t *Table) insert(tx *Tx, st *tableState, row []types.Value) (rowNo, error) {
	row, err := st.normal(row)
	if err != nil {
		return 0, err
	}
	vars, bytes := st.cur.sizes(row)
	no := t.slab.alloc(tx.slotNo, uint32((bytes+unitBytes-1)>>unitBits))
	if no == 0 {
		return 0, outOfMemory()
	}
	p := t.slab.row(no)
	st.cur.encode(p, row, vars)
	atomic.StoreUint64(end(p), never)
	tx.log = append(tx.log, change{t: t, row: no, op: opInsert})
	mark := len(tx.log)
	atomic.StoreUint64(begin(p), tx.stamp)
	for i, x := range st.indexes {
		if err := t.addToIndex(tx, st, i, x, no, p); err != nil {
			// A wait that ended in 1205 has undone the log already.
			if len(tx.log) >= mark {
				tx.undo(mark-1, t)
				tx.store.wake(tx.slot)
			}
			return 0, err
		}
	}
	return no, nil
}

// addToIndex links a row and looks for others with its key. Every row is
// linked before its key is checked, so of two with one key the later linked
// finds the other.
func (t *Table) addToIndex(tx *Tx, st *tableState, i int, x *index, no rowNo, p unsafe.Pointer) error {
	if x.hash != nil {
		behind, ok := x.link(st, &t.rowMemory, no, p)
		if !ok {
			return outOfMemory()
		}
		if !x.def.Unique {
			return nil
		}
		for behind != 0 {
			q := t.row(behind)
			if !tx.over(q) && x.equalRows(st, p, q) {
				if err := t.checkDuplicate(tx, i, q); err != nil {
					return err
				}
			}
			behind = rowNo(atomic.LoadUint32(link(q, x.next)))
		}
		return nil
	}
	it := x.itemOf(st, no, p)
	cmp := func(a, b item) int { return x.compareItems(st, &t.rowMemory, a, b) }
	var others []rowNo
	x.mu.Lock()
	x.tree.insert(it, cmp)
	if x.def.Unique {
		others = x.sameKey(st, &t.rowMemory, it, others)
	}
	x.mu.Unlock()
	for _, o := range others {
		if err := t.checkDuplicate(tx, i, t.row(o)); err != nil {
			return err
		}
	}
	return nil
}

// Update replaces a row by a new version. Errors as Insert's; ErrChanged and
// ErrGone as they say. To move keys of a unique index among several rows
// (k = k + 1), delete them all and insert them again.
func (t *Table) Update(tx *Tx, id RowID, row []types.Value) error {
	if t.local != nil {
		return t.updateLocal(tx, id, row)
	}
	if tx == nil {
		return t.auto(func(tx *Tx) error { return t.Update(tx, id, row) })
	}
	if err := tx.writable(); err != nil {
		return err
	}
	t.enter(tx)
	defer t.leave(tx)
	mark := len(tx.log)
	if err := t.take(tx, rowNo(id), t.row(rowNo(id)), false); err != nil {
		return err
	}
	if _, err := t.insert(tx, t.state.Load(), row); err != nil {
		if len(tx.log) > mark {
			tx.undo(mark, t)
			tx.store.wake(tx.slot)
		}
		return err
	}
	runtime.KeepAlive(t)
	return nil
}

// Delete removes a row. Errors as Update's.
func (t *Table) Delete(tx *Tx, id RowID) error {
	return t.takeRow(tx, id, false)
}

// Lock takes the row for the transaction without changing it (UPDLOCK): until
// the transaction ends others cannot change it, but can read it. Local and
// Temp tables need no locks.
func (t *Table) Lock(tx *Tx, id RowID) error {
	if t.local != nil || tx == nil {
		return nil
	}
	return t.takeRow(tx, id, true)
}

func (t *Table) takeRow(tx *Tx, id RowID, lock bool) error {
	if t.local != nil {
		return t.deleteLocal(tx, rowNo(id))
	}
	if tx == nil {
		return t.auto(func(tx *Tx) error { return t.Delete(tx, id) })
	}
	if err := tx.writable(); err != nil {
		return err
	}
	t.enter(tx)
	err := t.take(tx, rowNo(id), t.row(rowNo(id)), lock)
	t.leave(tx)
	runtime.KeepAlive(t)
	return err
}

// Truncate removes every row, undone by a rollback as a delete would be. Rows
// that other transactions have not committed make it wait or conflict.
func (t *Table) Truncate(tx *Tx) error {
	if tx == nil && t.local == nil {
		return t.auto(t.Truncate)
	}
	return t.Scan(tx, func(id RowID) (bool, error) { return true, t.Delete(tx, id) })
}

// Read decodes the columns cols (nil = all) of a row into into[0], into[1] ...
// The values stay good after the row is gone.
func (t *Table) Read(id RowID, cols []int, into []types.Value) {
	st := t.state.Load()
	p := t.row(rowNo(id))
	l := st.layouts[layoutOf(p)]
	if cols == nil {
		for i := range st.cur.fields {
			into[i] = st.column(l, p, i)
		}
	} else {
		for i, c := range cols {
			into[i] = st.column(l, p, c)
		}
	}
	runtime.KeepAlive(t)
}

func (st *tableState) column(l *layout, p unsafe.Pointer, c int) types.Value {
	if c >= len(l.fields) {
		return st.defaults[c]
	}
	return l.get(p, c)
}
