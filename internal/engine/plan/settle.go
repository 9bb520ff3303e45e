package plan

import (
	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/types"
)

// The checks of a foreign key read what the statement's snapshot shows. What
// another session does to the other table at the same moment it does not show:
// so once a row is written, the other table is asked again for what is there
// now. Of two sessions that insert a child and delete its parent, whichever asks
// later meets what the other one wrote.

// settle asks again for the parents and the children of an updated row.
func (t *target) settle(f *expr.Frame, old, fresh []types.Value, changed []bool, action string) error {
	if len(t.parents) > 0 {
		if err := t.settleParents(f, fresh, changed, action); err != nil {
			return err
		}
	}
	return t.settleChildren(f, old, fresh, action)
}

// settleParents checks that the rows which a written row refers to are there still.
func (t *target) settleParents(f *expr.Frame, row []types.Value, changed []bool, action string) error {
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
		ok, err := k.parent.Data.Latest(f.Tx, k.fk.RefIndex, key, nil)
		if err != nil {
			return err
		}
		if !ok && !k.self { // the statement may bring it yet: checkLate looks
			return t.parentMissing(k, action)
		}
	}
	return nil
}

// settleChildren checks that no row has come that refers to one which is gone,
// or to its old key.
func (t *target) settleChildren(f *expr.Frame, old, fresh []types.Value, action string) error {
	for i := range t.children {
		k := &t.children[i]
		if k.child.t.ID == t.t.ID {
			continue // checkLate looks
		}
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
		found, err := k.latest(f, key)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		does := k.fk.OnDelete
		if fresh != nil {
			does = k.fk.OnUpdate
		}
		if does != catalog.NoAction && !k.child.t.MemoryOptimized && f.Tx.Isolation() == storage.ReadCommitted {
			return storage.ErrChanged // the statement runs again, and takes it along
		}
		return k.act(f, catalog.NoAction, nil, action, fresh == nil)
	}
	return nil
}

// latest asks whether the child has a row of the key now.
func (k *childKey) latest(f *expr.Frame, key []types.Value) (bool, error) {
	data := k.child.t.Data
	if k.index >= 0 {
		probe := make([]types.Value, len(k.probe))
		for i, at := range k.probe {
			probe[i] = key[at]
		}
		return data.Latest(f.Tx, k.index, probe, nil)
	}
	row := make([]types.Value, len(k.fk.Columns))
	return data.Latest(f.Tx, -1, nil, func(id storage.RowID) bool {
		data.Read(id, k.fk.Columns, row)
		for i := range row {
			if row[i].IsNull() || types.CompareColl(row[i], key[i], k.child.t.Columns[k.fk.Columns[i]].Type.Coll) != 0 {
				return false
			}
		}
		return true
	})
}
