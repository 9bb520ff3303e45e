package plan

import (
	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/types"
)

// parentKey is a foreign key of the target: the row it refers to must be there.
type parentKey struct {
	fk     *catalog.ForeignKey
	parent *catalog.Table
	cols   []int // of the target, in the order of the parent's index
	self   bool
}

// childKey is a foreign key of another table that refers to the target.
type childKey struct {
	fk      *catalog.ForeignKey
	child   *target
	refCols []int // of the target, in the order of the key
	index   int   // of the child: finds its rows; -1 = a scan
	probe   []int // positions in fk.Columns, in the order of the index
}

// foreignKeys prepares the checks of the foreign keys from and to a target.
func (b *block) foreignKeys(tg *target) error {
	t := tg.t
	if tg.slot >= 0 || t.Temp {
		return nil
	}
	if tg.db == nil {
		for i := range t.ForeignKeys {
			if !t.ForeignKeys[i].Disabled {
				return sqlerr.Unsupported("FOREIGN KEY of " + t.FullName() + " without its database")
			}
		}
		return nil
	}
	if tg.action != "DELETE" {
		for i := range t.ForeignKeys {
			fk := &t.ForeignKeys[i]
			if fk.Disabled {
				continue
			}
			p, ok := tg.db.TableByID(fk.RefTable)
			if !ok || p.Data == nil {
				return sqlerr.New(1776, 16, 0, "The table that foreign key '%s' refers to is not there.", fk.Name)
			}
			k := parentKey{fk: fk, parent: p, self: p.ID == t.ID}
			for _, c := range p.Indexes[fk.RefIndex].Columns {
				for j, rc := range fk.RefColumns {
					if rc == c {
						k.cols = append(k.cols, fk.Columns[j])
					}
				}
			}
			tg.parents = append(tg.parents, k)
		}
	}
	if tg.action == "INSERT" {
		return nil
	}
	for _, ref := range tg.db.References(t.ID) {
		if ref.Key.Disabled {
			continue
		}
		if b.st.cascade > 32 {
			return sqlerr.Unsupported("foreign keys whose actions form a cycle")
		}
		k := childKey{fk: ref.Key, refCols: ref.Key.RefColumns, index: -1}
		if ref.Key.OnDelete == catalog.NoAction || tg.action == "UPDATE" {
			k.child = &target{t: ref.Table, slot: -1, db: tg.db}
		} else {
			action := "DELETE"
			if ref.Key.OnDelete != catalog.Cascade {
				action = "UPDATE"
			}
			b.st.cascade++
			child, err := b.newTarget(ref.Table, -1, action)
			b.st.cascade--
			if err != nil {
				return err
			}
			k.child = child
		}
		k.index, k.probe = childIndex(ref.Table, ref.Key)
		tg.children = append(tg.children, k)
	}
	return nil
}

// childIndex finds an index of the child whose leading columns are the key.
func childIndex(t *catalog.Table, fk *catalog.ForeignKey) (int, []int) {
next:
	for i := range t.Indexes {
		ix := &t.Indexes[i]
		if ix.Disabled || len(ix.Columns) < len(fk.Columns) || ix.Hash && len(ix.Columns) != len(fk.Columns) {
			continue
		}
		var probe []int
		for _, c := range ix.Columns[:len(fk.Columns)] {
			at := -1
			for j, fc := range fk.Columns {
				if fc == c {
					at = j
				}
			}
			if at < 0 {
				continue next
			}
			probe = append(probe, at)
		}
		return i, probe
	}
	return -1, nil
}

// checkParents checks that the rows the new row refers to are there. changed
// is nil, or says which columns were changed. Keys into the table itself that
// are not there yet are put into late: the statement may bring them.
func (t *target) checkParents(f *expr.Frame, row []types.Value, changed []bool, action string, late *[]lateKey) error {
	for i := range t.parents {
		k := &t.parents[i]
		if changed != nil && !anyOf(k.fk.Columns, changed) {
			continue
		}
		key := make([]types.Value, 0, 4)
		null := false
		for _, c := range k.cols {
			null = null || row[c].IsNull()
			key = append(key, row[c])
		}
		if null {
			continue
		}
		ok, err := k.found(f, key)
		if err != nil {
			return err
		}
		if ok {
			continue
		}
		if !k.self || late == nil {
			return t.parentMissing(k, action)
		}
		*late = append(*late, lateKey{k: k, key: key})
	}
	return nil
}

// lateKey is a key into the table itself that is looked at when the statement
// is done: one that it has to bring, or one that went and nobody may keep.
type lateKey struct {
	k     *parentKey
	child *childKey
	does  catalog.Action
	gone  bool // by a DELETE
	key   []types.Value
}

// checkLate looks for the late keys among what the statement wrote.
func (t *target) checkLate(f *expr.Frame, late []lateKey, action string) error {
	if len(late) == 0 {
		return nil
	}
	if f.Tx != nil {
		f.Tx.StatementBegin()
	}
	for _, l := range late {
		if l.child != nil {
			ids, err := l.child.rows(f, l.key)
			if err == nil && len(ids) > 0 {
				err = l.child.act(f, l.does, ids, action, l.gone)
			}
			if err != nil {
				return err
			}
			continue
		}
		if ok, err := l.k.found(f, l.key); err != nil || !ok {
			if err == nil {
				err = t.parentMissing(l.k, action)
			}
			return err
		}
	}
	return nil
}

func (k *parentKey) found(f *expr.Frame, key []types.Value) (bool, error) {
	ok := false
	err := k.parent.Data.Seek(f.Tx, k.fk.RefIndex, key, func(storage.RowID) (bool, error) {
		ok = true
		return false, nil
	})
	return ok, err
}

func (t *target) parentMissing(k *parentKey, action string) error {
	kind, column := "FOREIGN KEY", ""
	if k.self {
		kind += " SAME TABLE"
	}
	if len(k.fk.RefColumns) == 1 {
		column = k.parent.Columns[k.fk.RefColumns[0]].Name
	}
	return sqlerr.ConstraintConflict(action, kind, k.fk.Name, t.dbName(), k.parent.FullName(), column)
}

func anyOf(cols []int, set []bool) bool {
	for _, c := range cols {
		if set[c] {
			return true
		}
	}
	return false
}

// checkChildren is asked when a row goes or its key changes: rows that refer to
// the old key forbid it, or go or change with it. fresh is nil for a DELETE.
// Rows of the table itself are looked at when the statement is done: late
// collects their keys.
func (t *target) checkChildren(f *expr.Frame, old, fresh []types.Value, action string, late *[]lateKey) error {
	for i := range t.children {
		k := &t.children[i]
		key := make([]types.Value, 0, 4)
		null, moved := false, fresh == nil
		for _, c := range k.refCols {
			null = null || old[c].IsNull()
			key = append(key, old[c])
			moved = moved || types.CompareColl(orZero(old[c]), orZero(fresh[c]), t.t.Columns[c].Type.Coll) != 0 || old[c].IsNull() != fresh[c].IsNull()
		}
		if null || !moved {
			continue
		}
		does := k.fk.OnDelete
		if fresh != nil {
			does = k.fk.OnUpdate
		}
		if k.child.t.ID == t.t.ID && late != nil {
			*late = append(*late, lateKey{child: k, does: does, gone: fresh == nil, key: key})
			continue
		}
		ids, err := k.rows(f, key)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			continue
		}
		if err := k.act(f, does, ids, action, fresh == nil); err != nil {
			return err
		}
	}
	return nil
}

// orZero stands in for NULL where values are compared that must not be.
func orZero(v types.Value) types.Value {
	if v.IsNull() {
		return types.NewInt(types.KindInt, 0)
	}
	return v
}

// rows finds the child's rows that have the key.
func (k *childKey) rows(f *expr.Frame, key []types.Value) ([]storage.RowID, error) {
	var ids []storage.RowID
	data := k.child.t.Data
	take := func(id storage.RowID) (bool, error) {
		ids = append(ids, id)
		return k.fk.OnDelete != catalog.NoAction, nil
	}
	if k.index >= 0 {
		probe := make([]types.Value, len(k.probe))
		for i, at := range k.probe {
			probe[i] = key[at]
		}
		return ids, data.Seek(f.Tx, k.index, probe, take)
	}
	row := make([]types.Value, len(k.fk.Columns))
	return ids, data.Scan(f.Tx, func(id storage.RowID) (bool, error) {
		data.Read(id, k.fk.Columns, row)
		for i := range row {
			if row[i].IsNull() || types.CompareColl(row[i], key[i], k.child.t.Columns[k.fk.Columns[i]].Type.Coll) != 0 {
				return true, nil
			}
		}
		return take(id)
	})
}

// act does what the foreign key says to the child's rows.
func (k *childKey) act(f *expr.Frame, does catalog.Action, ids []storage.RowID, action string, deletes bool) error {
	if does == catalog.NoAction {
		column := ""
		if len(k.fk.Columns) == 1 {
			column = k.child.t.Columns[k.fk.Columns[0]].Name
		}
		kind := "REFERENCE"
		if k.child.t.ID == k.fk.RefTable {
			kind = "SAME TABLE REFERENCE"
		}
		return sqlerr.ConstraintConflict(action, kind, k.fk.Name, k.child.dbName(), k.child.t.FullName(), column)
	}
	if !deletes {
		return sqlerr.Unsupported("ON UPDATE CASCADE, SET NULL or SET DEFAULT")
	}
	data := k.child.t.Data
	for _, id := range ids {
		old := make([]types.Value, len(k.child.t.Columns))
		data.Read(id, nil, old)
		if does == catalog.Cascade {
			if err := k.child.checkChildren(f, old, nil, action, nil); err != nil {
				return err
			}
			if err := data.Delete(f.Tx, id); err != nil && err != storage.ErrGone {
				return err
			}
			continue
		}
		if does == catalog.SetDefault {
			return sqlerr.Unsupported("ON DELETE SET DEFAULT")
		}
		fresh := append([]types.Value(nil), old...)
		for _, c := range k.fk.Columns {
			fresh[c] = nullValue
		}
		copy(k.child.row(f), fresh)
		if err := k.child.finish(f, "UPDATE"); err != nil {
			return err
		}
		if err := data.Update(f.Tx, id, k.child.row(f)); err != nil {
			return k.child.duplicate(err, k.child.row(f))
		}
	}
	return nil
}
