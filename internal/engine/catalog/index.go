package catalog

import (
	"slices"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
)

func (d *DDL) createIndex(st ast.Statement) error {
	s := st.(*ast.CreateIndexStatement)
	return d.alter(s.OnName, func(d *DDL, old, t *Table) error {
		if t.MemoryOptimized {
			return sqlerr.New(10794, 16, 91, "The statement 'CREATE INDEX' is not supported with memory optimized tables. Use ALTER TABLE ... ADD INDEX.")
		}
		if s.FilterPredicate != nil {
			return sqlerr.UnsupportedOption("filtered index")
		}
		b := &builder{d: d, t: t}
		x := Index{Name: s.Name.Value, Unique: s.Unique}
		if err := b.keyColumns(&x, s.Columns); err != nil {
			return err
		}
		if err := b.include(&x, s.IncludeColumns); err != nil {
			return err
		}
		kind := "NonClustered"
		if s.Clustered != nil && *s.Clustered {
			kind = "Clustered"
		}
		if err := b.structure(&x, kind, false, s.IndexOptions, s.OnFileGroupOrPartitionScheme); err != nil {
			return err
		}
		if err := b.add(x); err != nil {
			return err
		}
		if err := b.finishIndexes(); err != nil {
			return err
		}
		t.Def = storageDef(t)
		return d.addIndex(t, len(t.Indexes)-1)
	})
}

func (d *DDL) dropIndexes(st ast.Statement) error {
	s := st.(*ast.DropIndexStatement)
	for _, c := range s.DropIndexClauses {
		table, index := c.Object, ""
		if c.Index != nil {
			index = c.Index.Value
		}
		if c.LegacyIndex != nil {
			n := NameOf(c.LegacyIndex)
			index = n.Object
			table = &ast.SchemaObjectName{Fragment: c.LegacyIndex.Fragment, BaseIdentifier: c.LegacyIndex.SchemaIdentifier, SchemaIdentifier: c.LegacyIndex.DatabaseIdentifier}
		}
		if err := d.dropIndex(table, index, s.IsIfExists); err != nil {
			return err
		}
	}
	return nil
}

func (d *DDL) dropIndex(table *ast.SchemaObjectName, index string, ifExists bool) error {
	missing := sqlerr.New(3701, 11, 6, "Cannot drop the index '%s': it is not there, or you may not drop it.", dotted(NameOf(table))+"."+index)
	found := false
	err := d.alter(table, func(d *DDL, old, t *Table) error {
		found = true
		i := t.Index(index)
		if i < 0 {
			if ifExists {
				return nil
			}
			return missing
		}
		if t.Indexes[i].Constraint {
			kind := "UNIQUE KEY"
			if t.Indexes[i].PrimaryKey {
				kind = "PRIMARY KEY"
			}
			return sqlerr.New(3723, 16, 4, "DROP INDEX is not allowed on the index '%s': it enforces a %s constraint.", t.Name+"."+t.Indexes[i].Name, kind)
		}
		if t.MemoryOptimized {
			return sqlerr.New(10794, 16, 91, "The statement 'DROP INDEX' is not supported with memory optimized tables. Use ALTER TABLE ... DROP INDEX.")
		}
		return d.removeIndex(t, i)
	})
	if !found && sqlerr.Number(err) == 4902 {
		if ifExists {
			return nil
		}
		return missing
	}
	return err
}

func (d *DDL) dropTableIndex(t *Table, e *ast.AlterTableDropTableElement) error {
	i := t.Index(e.Name.Value)
	if i < 0 {
		if e.IsIfExists {
			return nil
		}
		return sqlerr.New(3701, 11, 6, "Cannot drop the index '%s': it is not there, or you may not drop it.", t.Name+"."+e.Name.Value)
	}
	if !t.MemoryOptimized {
		return sqlerr.New(10794, 16, 92, "ALTER TABLE DROP INDEX is only supported with memory optimized tables.")
	}
	return d.removeIndex(t, i)
}

// alterTableIndex carries out ALTER TABLE ... ALTER INDEX ... REBUILD: a hash
// index gets a new number of buckets.
func (d *DDL) alterTableIndex(st ast.Statement) error {
	s := st.(*ast.AlterTableAlterIndexStatement)
	return d.alter(s.SchemaObjectName, func(d *DDL, old, t *Table) error {
		i := t.Index(s.IndexIdentifier.Value)
		if i < 0 {
			return sqlerr.New(7999, 16, 9, "There is no index '%s' on the table '%s'.", s.IndexIdentifier.Value, t.Name)
		}
		if s.AlterIndexType != "Rebuild" || !t.MemoryOptimized {
			return sqlerr.Unsupported("ALTER TABLE ALTER INDEX " + s.AlterIndexType)
		}
		b := &builder{d: d, t: t}
		for _, o := range s.IndexOptions {
			if err := b.indexOption(&t.Indexes[i], o); err != nil {
				return err
			}
		}
		t.Def = storageDef(t)
		from := make([]int, len(t.Columns))
		for c := range from {
			from[c] = c
		}
		return d.rebuild(old, t, from, nil)
	})
}

// alterIndex carries out ALTER INDEX. The engine's indexes have no fragmentation
// to remove: REBUILD and REORGANIZE only check that the index is there.
func (d *DDL) alterIndex(st ast.Statement) error {
	s := st.(*ast.AlterIndexStatement)
	name, err := d.target(s.OnName)
	if err != nil {
		return err
	}
	if d, err = d.in(name); err != nil {
		return err
	}
	var t *Table
	var ok bool
	if local(name.Object) {
		t, ok = d.Temp.Table(name.Object)
	} else {
		t, ok = d.DB.Table(name.Schema, name.Object)
	}
	if !ok || t.Data == nil {
		return sqlerr.New(1088, 16, 9, "The object \"%s\" cannot be found: it is not there, or you may not use it.", dotted(NameOf(s.OnName)))
	}
	if s.AlterIndexType != "Rebuild" && s.AlterIndexType != "Reorganize" {
		return sqlerr.Unsupported("ALTER INDEX " + s.AlterIndexType)
	}
	if t.MemoryOptimized {
		return sqlerr.New(10794, 16, 91, "The statement 'ALTER INDEX' is not supported with memory optimized tables.")
	}
	if !s.All && (s.Name == nil || !slices.ContainsFunc(t.Indexes, func(x Index) bool { return EqualName(x.Name, s.Name.Value) })) {
		return sqlerr.New(2727, 11, 1, "The index '%s' cannot be found.", s.Name.Value)
	}
	return nil
}
