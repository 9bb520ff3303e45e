package catalog

import (
	"slices"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
)

// foreignKey resolves and adds a foreign key.
func (b *builder) foreignKey(p pendingKey) error {
	t, def := b.t, p.def
	if t.Type || t.Temp && t.Name[0] == '@' {
		return sqlerr.New(1759, 16, 1, "FOREIGN KEY constraints are not allowed in table variables and table types.")
	}
	if def.IsEnforced != nil && !*def.IsEnforced {
		return sqlerr.UnsupportedOption("NOT ENFORCED")
	}
	ref := NameOf(def.ReferenceTableName)
	if ref.Schema == "" {
		ref.Schema = b.d.defaultSchema()
	}
	of := ""
	if len(p.columns) > 0 {
		of = p.columns[0].Value
	}
	k := ForeignKey{RefIndex: -1}
	k.Name, k.System = b.name(def.ConstraintIdentifier, "FK", of)
	if ref.Database != "" && !EqualName(ref.Database, b.d.DB.Name()) {
		return sqlerr.New(1763, 16, 0, "Foreign keys cannot refer to another database. Foreign key '%s'.", k.Name)
	}
	target := t
	if !EqualName(ref.Object, t.Name) || !EqualName(ref.Schema, t.Schema) {
		var ok bool
		if target, ok = b.d.DB.Table(ref.Schema, ref.Object); !ok || target.View != nil || target.System != nil {
			return sqlerr.New(1767, 16, 0, "The foreign key '%s' refers to the table '%s', which is not valid.", k.Name, dotted(ref))
		}
	}
	if t.Temp {
		// SQL Server skips the definition with a message of class 10.
		return nil
	}
	if target.MemoryOptimized != t.MemoryOptimized {
		return sqlerr.New(10778, 16, 0, "Foreign keys between memory optimized tables and other tables are not supported.")
	}
	for _, c := range p.columns {
		i := t.Column(c.Value)
		if i < 0 {
			return sqlerr.New(1769, 16, 1, "The foreign key '%s' names the column '%s', which is not in the table '%s'.", k.Name, c.Value, t.Name)
		}
		k.Columns = append(k.Columns, i)
	}
	if err := b.referenced(&k, target, def.ReferencedColumns); err != nil {
		return err
	}
	k.RefTable = target.ID
	var err error
	if k.OnDelete, err = action(def.DeleteAction); err != nil {
		return err
	}
	if k.OnUpdate, err = action(def.UpdateAction); err != nil {
		return err
	}
	if t.MemoryOptimized && (k.OnDelete != NoAction || k.OnUpdate != NoAction) {
		return sqlerr.New(10794, 16, 93, "The feature 'cascading foreign keys' is not supported with memory optimized tables.")
	}
	for _, a := range []Action{k.OnDelete, k.OnUpdate} {
		for _, c := range k.Columns {
			col := t.Columns[c]
			if a == SetNull && !col.Nullable {
				return sqlerr.New(1761, 16, 0, "The foreign key '%s' cannot SET NULL: a column of it does not allow NULL.", k.Name)
			}
			if a == SetDefault && col.Default == nil && !col.Nullable {
				return sqlerr.New(1762, 16, 0, "The foreign key '%s' cannot SET DEFAULT: a column that does not allow NULL has no default.", k.Name)
			}
		}
	}
	t.ForeignKeys = append(t.ForeignKeys, k)
	return nil
}

// referenced finds the referenced columns and the key they make up.
func (b *builder) referenced(k *ForeignKey, target *Table, cols []*ast.Identifier) error {
	if len(cols) == 0 {
		if target.PrimaryKey < 0 {
			return sqlerr.New(1773, 16, 0, "The foreign key '%s' refers to the table '%s', which has no primary key.", k.Name, target.Name)
		}
		k.RefColumns = slices.Clone(target.Indexes[target.PrimaryKey].Columns)
	}
	for _, c := range cols {
		i := target.Column(c.Value)
		if i < 0 {
			return sqlerr.New(1770, 16, 0, "The foreign key '%s' refers to the column '%s', which is not in the table '%s'.", k.Name, c.Value, target.Name)
		}
		k.RefColumns = append(k.RefColumns, i)
	}
	if len(k.RefColumns) != len(k.Columns) {
		return sqlerr.New(8139, 16, 0, "The foreign key has %d referencing and %d referenced columns, table '%s'.", len(k.Columns), len(k.RefColumns), b.t.Name)
	}
	k.RefIndex = keyOf(target, k.RefColumns)
	if k.RefIndex < 0 {
		return sqlerr.New(1776, 16, 0, "The table '%s' has no primary or candidate key whose columns match those the foreign key '%s' refers to.", target.Name, k.Name)
	}
	for i, c := range k.Columns {
		from, to := b.t.Columns[c], target.Columns[k.RefColumns[i]]
		if from.Type != to.Type {
			lengths := from.Type.Kind == to.Type.Kind && from.Type.Coll == to.Type.Coll && isCharacter(from.Type.Kind)
			if lengths {
				return sqlerr.New(1753, 16, 0, "The column '%s.%s' has not the length or scale of the column '%s.%s' that the foreign key '%s' refers to.", target.Name, to.Name, b.t.Name, from.Name, k.Name)
			}
			return sqlerr.New(1778, 16, 0, "The column '%s.%s' has not the data type of the column '%s.%s' that the foreign key '%s' refers to.", target.Name, to.Name, b.t.Name, from.Name, k.Name)
		}
	}
	return nil
}

// keyOf returns the unique index whose columns are cols in any order, or -1.
func keyOf(t *Table, cols []int) int {
	want := slices.Sorted(slices.Values(cols))
	for i, x := range t.Indexes {
		if x.Unique && slices.Equal(slices.Sorted(slices.Values(x.Columns)), want) {
			return i
		}
	}
	return -1
}

func action(a string) (Action, error) {
	switch a {
	case "", "NotSpecified", "NoAction":
		return NoAction, nil
	case "Cascade":
		return Cascade, nil
	case "SetNull":
		return SetNull, nil
	case "SetDefault":
		return SetDefault, nil
	}
	return NoAction, sqlerr.Unsupported("foreign key action " + a)
}
