package catalog

import (
	"errors"
	"slices"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/types"
)

// addColumns rebuilds the rows of a table that gets new columns.
func (d *DDL) addColumns(old, t *Table, def *ast.TableDefinition) error {
	if err := t.checkRowSize(); err != nil {
		return err
	}
	with := map[string]bool{}
	for _, c := range def.ColumnDefinitions {
		if c.DefaultConstraint != nil && c.DefaultConstraint.WithValues {
			with[Fold(c.ColumnIdentifier.Value)] = true
		}
	}
	added := make([]types.Value, len(t.Columns))
	rows := old.Data.RowCount() > 0
	for i := len(old.Columns); i < len(t.Columns); i++ {
		c := &t.Columns[i]
		switch {
		case c.Identity || c.Computed != nil:
		case c.Default != nil && (!c.Nullable || with[Fold(c.Name)]):
			if !rows {
				continue
			}
			if d.Value == nil {
				return sqlerr.Unsupported("adding a column with a default to a table that has rows")
			}
			v, err := d.Value(c.Default.Expr, c.Type)
			if err != nil {
				return err
			}
			added[i] = v
		case !c.Nullable && rows:
			return sqlerr.New(4901, 16, 1, "ALTER TABLE can add a column to a table with rows only if it allows NULL, has a DEFAULT, or is an identity column. The column '%s' cannot be added to the table '%s'.", c.Name, t.Name)
		}
	}
	from := make([]int, len(t.Columns))
	for i := range from {
		from[i] = -1
		if i < len(old.Columns) {
			from[i] = i
		}
	}
	return d.rebuild(old, t, from, func(row []types.Value) error {
		for i := len(old.Columns); i < len(t.Columns); i++ {
			switch c := &t.Columns[i]; {
			case c.Identity:
				v, err := types.Assign(types.NewInt(types.KindBigInt, t.Identity.Next()), c.Type)
				if err != nil {
					return err
				}
				row[i] = v
			case c.Computed == nil:
				row[i] = added[i]
			}
		}
		return d.fillComputed(t, row)
	})
}

func (d *DDL) fillComputed(t *Table, row []types.Value) error {
	for i := range t.Columns {
		if t.Columns[i].Computed == nil {
			continue
		}
		if d.Fill == nil {
			return sqlerr.Unsupported("computed columns")
		}
		v, err := d.Fill(t, i, row)
		if err != nil {
			return err
		}
		row[i] = v
	}
	return nil
}

// rebuild gives t new data with the rows of old: column i of a new row is column
// from[i] of the old one (-1 = none); fix completes the row.
func (d *DDL) rebuild(old, t *Table, from []int, fix func(row []types.Value) error) error {
	var data *storage.Table
	tx := d.Tx
	if t.Temp {
		data = storage.NewLocal(t.Def)
	} else {
		data = d.DB.Store.NewTable(t.Def)
		if tx == nil {
			tx = d.DB.Store.Begin(storage.Snapshot)
			defer tx.Rollback()
		}
	}
	if tx != nil {
		tx.StatementBegin()
	}
	before, row := make([]types.Value, len(old.Columns)), make([]types.Value, len(t.Columns))
	err := old.Data.Scan(tx, func(id storage.RowID) (bool, error) {
		old.Data.Read(id, nil, before)
		for i, f := range from {
			row[i] = types.Value{}
			if f >= 0 {
				row[i] = before[f]
			}
		}
		if fix != nil {
			if err := fix(row); err != nil {
				return false, err
			}
		}
		_, err := data.Insert(tx, row)
		return true, duplicateOnCreate(t, err, row)
	})
	if err == nil && tx != nil && tx != d.Tx {
		err = tx.Commit()
	}
	if err != nil {
		data.Close()
		return err
	}
	t.Data = data
	d.Undo.retire(old.Data)
	return nil
}

// duplicateOnCreate turns a violated unique index into error 1505; row is the one
// whose key was there already.
func duplicateOnCreate(t *Table, err error, row []types.Value) error {
	var u *storage.UniqueError
	if !errors.As(err, &u) || u.Index < 0 || u.Index >= len(t.Indexes) {
		return err
	}
	x := &t.Indexes[u.Index]
	return sqlerr.DuplicateKeyOnCreate(t.FullName(), x.Name, keyText(x, row))
}

// keyText spells a key as error messages show it: (1, abc).
func keyText(x *Index, row []types.Value) string {
	var parts []string
	for _, c := range x.Columns {
		if row[c].IsNull() {
			parts = append(parts, "<NULL>")
		} else {
			parts = append(parts, types.Format(row[c]))
		}
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// addIndex builds index i of t in its data.
func (d *DDL) addIndex(t *Table, i int) error {
	err := t.Data.AddIndex(storageIndex(&t.Indexes[i]))
	var u *storage.UniqueError
	if errors.As(err, &u) {
		return d.findDuplicate(t, &t.Indexes[i])
	}
	if err != nil {
		return err
	}
	data := t.Data
	d.Undo.add(func() { data.DropIndex(i) })
	return nil
}

// findDuplicate names a key that two rows share.
func (d *DDL) findDuplicate(t *Table, x *Index) error {
	seen, row, found := map[string]bool{}, make([]types.Value, len(t.Columns)), "?"
	err := t.Data.Scan(d.Tx, func(id storage.RowID) (bool, error) {
		t.Data.Read(id, nil, row)
		k := keyText(x, row)
		if seen[Fold(k)] {
			found = k
			return false, nil
		}
		seen[Fold(k)] = true
		return true, nil
	})
	if err != nil {
		return err
	}
	return sqlerr.DuplicateKeyOnCreate(t.FullName(), x.Name, found)
}

// removeIndex takes index i out of t and of its data.
func (d *DDL) removeIndex(t *Table, i int) error {
	old := t.clone()
	t.Indexes = slices.Delete(slices.Clone(t.Indexes), i, i+1)
	t.PrimaryKey = slices.IndexFunc(t.Indexes, func(x Index) bool { return x.PrimaryKey })
	if err := (&builder{d: d, t: t}).memoryRules(); err != nil {
		return err
	}
	t.Def = storageDef(t)
	if err := d.moveReferences(t.ID, i); err != nil {
		return err
	}
	if d.Undo == nil || !d.UserTran {
		// Nothing can be taken back once the statement is through.
		t.Data.DropIndex(i)
		return nil
	}
	from := make([]int, len(t.Columns))
	for c := range from {
		from[c] = c
	}
	return d.rebuild(old, t, from, nil)
}

// moveReferences keeps the RefIndex of foreign keys right when an index before
// the one they use goes away.
func (d *DDL) moveReferences(table int32, removed int) error {
	for _, r := range d.DB.References(table) {
		if r.Key.RefIndex > removed {
			return sqlerr.Unsupported("dropping an index that was made before one that a foreign key refers to")
		}
	}
	return nil
}
