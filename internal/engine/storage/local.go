package storage

import (
	"runtime"
	"sync"
	"unsafe"

	"gostress/internal/engine/types"
)

// shape is a prepared definition's layout, with the tables made of it and
// given back.
type shape struct {
	state *tableState
	pool  sync.Pool
}

// Prepared returns the definition with its row layout worked out. Local tables
// made of a prepared definition are pooled: prepare a table type's definition
// once, when the type is made.
func (d TableDef) Prepared() TableDef {
	d.shape = &shape{state: newState(d, true)}
	return d
}

// localRows are the rows of a Local or Temp table: like shared rows, in one
// buffer that grows. A stamp names the statement that wrote or ended the row.
type localRows struct {
	t      *Table
	buf    []byte
	fill   int // bytes of buf in use
	live   int64
	temp   bool
	scans  int // reads going on
	during uint64
	dead   []rowNo // ended rows that are not yet free
	free   [exactClasses]rowNo
	freed  bool
}

const (
	localStart = 1 << 10
	keptBuffer = 1 << 16 // a pooled table's buffer is at most this
)

// localTable is a table and its rows in one allocation.
type localTable struct {
	Table
	rows localRows
}

// NewLocal makes a Local or Temp table, without a store.
func NewLocal(def TableDef) *Table {
	if def.shape != nil && def.Kind == Local {
		if t, _ := def.shape.pool.Get().(*Table); t != nil {
			return t
		}
	}
	lt := &localTable{}
	t := &lt.Table
	t.kind = def.Kind
	t.local = &lt.rows
	t.local.t = t
	t.local.temp = def.Kind == Temp
	t.local.resize(localStart)
	t.local.fill = unitBytes // row number 0 is no row
	st := &tableState{}
	if def.shape == nil {
		st = newState(def, true)
	} else {
		s := def.shape.state
		*st = *s
		st.def.shape = def.shape
		st.indexes = make([]*index, len(s.indexes))
		for i, x := range s.indexes {
			st.indexes[i], _ = newIndex(x.def, uint32(max(x.next, offLinks)-offLinks), s.cur.fields, s.def.Columns, true)
		}
	}
	t.state.Store(st)
	return t
}

// Close gives the table's memory back. No statement may use the table then;
// what still holds it afterwards finds it empty.
func (t *Table) Close() {
	st := t.state.Load()
	l := t.local
	if l == nil {
		t.closeShared()
		return
	}
	if l.temp || st.def.shape == nil || len(l.buf) > keptBuffer {
		return // the collector finds it
	}
	for _, x := range st.indexes {
		x.clear()
	}
	l.fill, l.live, l.scans, l.during = unitBytes, 0, 0, 0
	l.dead = l.dead[:0]
	if l.freed {
		clear(l.free[:])
		l.freed = false
	}
	st.def.shape.pool.Put(t)
}

func (l *localRows) resize(n int) {
	buf := make([]byte, n)
	copy(buf, l.buf[:min(l.fill, len(l.buf))])
	l.buf = buf
	l.t.rowMemory.local = unsafe.Pointer(unsafe.SliceData(buf))
}

// visible reports whether the statement sees the row: not what it wrote
// itself, and still what it ended itself.
func (l *localRows) visible(tx *Tx, p unsafe.Pointer) bool {
	b, e := *begin(p), *end(p)
	if b == 0 {
		return false
	}
	if tx == nil {
		return e == never
	}
	return b != tx.stamp && (e == never || e == tx.stamp)
}

func (l *localRows) scanned() { l.scans-- }

// each calls fn with every row that is not free.
func (l *localRows) each(fn func(no rowNo, p unsafe.Pointer) bool) {
	for at, stop := unitBytes, l.fill; at < stop; {
		p := unsafe.Pointer(&l.buf[at])
		units := size(p)
		if *begin(p) != 0 && !fn(rowNo(at>>unitBits), p) {
			return
		}
		at += int(units) << unitBits
	}
}

func (t *Table) scanLocal(tx *Tx, fn func(id RowID) (bool, error)) (err error) {
	l := t.local
	l.scans++
	defer l.scanned()
	l.each(func(no rowNo, p unsafe.Pointer) bool {
		if !l.visible(tx, p) {
			return true
		}
		var more bool
		more, err = fn(RowID(no))
		return more && err == nil
	})
	return err
}

// localStamp is what marks a row with its statement; without a transaction
// each operation is a statement of its own.
func localStamp(tx *Tx) uint64 {
	if tx == nil {
		return 1
	}
	return tx.stamp
}

// tidy frees the rows that earlier statements ended. Those of a Temp table
// that an open transaction may bring back are not among them yet.
func (l *localRows) tidy(stamp uint64) {
	if len(l.dead) == 0 || l.scans > 0 || stamp == l.during && stamp != 1 {
		return
	}
	st := l.t.state.Load()
	for _, no := range l.dead {
		p := l.t.row(no)
		for _, x := range st.indexes {
			if x.hash != nil {
				x.unlink(st, &l.t.rowMemory, no, p)
			} else {
				x.tree.remove(x.itemOf(st, no, p), func(a, b item) int { return x.compareItems(st, &l.t.rowMemory, a, b) })
			}
		}
		*begin(p) = 0
		if c, _ := class(size(p)); c < exactClasses {
			*freeLink(p) = uint64(l.free[c])
			l.free[c] = no
			l.freed = true
		}
	}
	l.dead = l.dead[:0]
}

// retire puts an ended row among those to be freed.
func (l *localRows) retire(no rowNo) { l.dead = append(l.dead, no) }

func (l *localRows) alloc(bytes int) (rowNo, bool) {
	units := (bytes + unitBytes - 1) >> unitBits
	if units <= exactClasses {
		if no := l.free[units-1]; no != 0 {
			l.free[units-1] = rowNo(*freeLink(l.t.row(no)))
			return no, true
		}
	}
	need := l.fill + units<<unitBits
	if need > len(l.buf) {
		if need > 1<<(32+unitBits) {
			return 0, false
		}
		l.resize(max(need, 2*len(l.buf)))
	}
	no := rowNo(l.fill >> unitBits)
	setSize(l.t.row(no), uint32(units))
	l.fill = need
	return no, true
}

func (t *Table) insertLocal(tx *Tx, row []types.Value) (RowID, error) {
	l := t.local
	if l.temp && tx != nil {
		if err := tx.writable(); err != nil {
			return 0, err
		}
	}
	stamp := localStamp(tx)
	l.tidy(stamp)
	l.during = stamp
	return l.insert(tx, stamp, row)
}

func (l *localRows) insert(tx *Tx, stamp uint64, row []types.Value) (RowID, error) {
	t := l.t
	st := t.state.Load()
	row, err := st.normal(row)
	if err != nil {
		return 0, err
	}
	vars, bytes := st.cur.sizes(row)
	no, ok := l.alloc(bytes)
	if !ok {
		return 0, outOfMemory()
	}
	p := t.row(no)
	st.cur.encode(p, row, vars)
	*begin(p), *end(p) = stamp, never
	l.live++
	for i, x := range st.indexes {
		if dup := l.addToIndex(st, x, no, p); dup {
			*end(p) = 0
			l.live--
			l.retire(no)
			return 0, &UniqueError{Index: i}
		}
	}
	if l.temp && tx != nil {
		tx.log = append(tx.log, change{t: t, row: no, op: opInsert})
	}
	return RowID(no), nil
}

// addToIndex links a row and reports whether a unique index has its key.
func (l *localRows) addToIndex(st *tableState, x *index, no rowNo, p unsafe.Pointer) (duplicate bool) {
	m := &l.t.rowMemory
	if x.hash == nil {
		it := x.itemOf(st, no, p)
		x.tree.insert(it, func(a, b item) int { return x.compareItems(st, m, a, b) })
		if x.def.Unique {
			for _, o := range x.sameKey(st, m, it, nil) {
				duplicate = duplicate || *end(m.row(o)) == never
			}
		}
		return duplicate
	}
	if l.live > 4*int64(x.hash.mask+1) {
		l.grow(st, x, no)
	}
	behind, _ := x.link(st, m, no, p)
	for x.def.Unique && behind != 0 {
		q := m.row(behind)
		if *end(q) == never && x.equalRows(st, p, q) {
			return true
		}
		behind = rowNo(*link(q, x.next))
	}
	return false
}

// grow gives a hash index more buckets than its definition asked for: a table
// type says 8, whatever comes. Not while somebody walks a chain. The row not
// is left to the caller.
func (l *localRows) grow(st *tableState, x *index, not rowNo) {
	if l.scans > 0 {
		return
	}
	x.hash = newBuckets(int(8*(x.hash.mask+1)), true)
	l.each(func(no rowNo, p unsafe.Pointer) bool {
		if no != not {
			x.link(st, &l.t.rowMemory, no, p)
		}
		return true
	})
}

func (t *Table) deleteLocal(tx *Tx, no rowNo) error {
	l := t.local
	if l.temp && tx != nil {
		if err := tx.writable(); err != nil {
			return err
		}
	}
	stamp := localStamp(tx)
	l.tidy(stamp)
	l.during = stamp
	p := t.row(no)
	if *begin(p) == 0 || *end(p) != never {
		return ErrGone
	}
	*end(p) = stamp
	l.live--
	if l.temp && tx != nil {
		tx.log = append(tx.log, change{t: t, row: no, op: opEnd})
	} else {
		l.retire(no)
	}
	return nil
}

func (t *Table) updateLocal(tx *Tx, id RowID, row []types.Value) error {
	if err := t.deleteLocal(tx, rowNo(id)); err != nil {
		return err
	}
	l := t.local
	if _, err := l.insert(tx, localStamp(tx), row); err != nil {
		if l.temp && tx != nil {
			tx.undo(len(tx.log)-1, t)
			return err
		}
		*end(t.row(rowNo(id))) = never
		l.live++
		for i, no := range l.dead {
			if no == rowNo(id) {
				l.dead = append(l.dead[:i], l.dead[i+1:]...)
				break
			}
		}
		return err
	}
	runtime.KeepAlive(t)
	return nil
}

// undo takes back a change of a Temp table.
func (l *localRows) undo(c *change) {
	p := l.t.row(c.row)
	switch c.op {
	case opInsert:
		if *end(p) == never {
			l.live--
		}
		*end(p) = 0
		l.retire(c.row)
	case opEnd:
		*end(p) = never
		l.live++
	}
}
