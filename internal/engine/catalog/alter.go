package catalog

import (
	"slices"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// alter publishes a changed copy of a table. fn changes t, a clone of old.
func (d *DDL) alter(n *ast.SchemaObjectName, fn func(d *DDL, old, t *Table) error) error {
	name, err := d.target(n)
	if err != nil {
		return err
	}
	if d, err = d.in(name); err != nil {
		return err
	}
	missing := sqlerr.New(4902, 16, 1, "The object \"%s\" cannot be found: it is not there, or you may not use it.", dotted(NameOf(n)))
	if local(name.Object) {
		old, ok := d.Temp.Table(name.Object)
		if !ok {
			return missing
		}
		t := old.clone()
		if err := fn(d, old, t); err != nil {
			return err
		}
		t.numberConstraints(d.Temp.newID)
		d.Temp.replace(d.Undo, old, t)
		return nil
	}
	return d.DB.edit(d.Undo, func(s *snapshot) error {
		old, ok := s.objects[key(name.Schema, name.Object)].(*Table)
		if !ok {
			return missing
		}
		if old.View != nil {
			return sqlerr.New(4909, 16, 1, "'%s' cannot be altered: it is not a table.", dotted(name))
		}
		if old.MemoryOptimized && d.UserTran {
			return sqlerr.New(12331, 16, 1, "CREATE, ALTER and DROP inside user transactions are not supported with memory optimized tables.")
		}
		t := old.clone()
		t.Modified = d.DB.instance.Now()
		if err := fn(d, old, t); err != nil {
			return err
		}
		return s.putTable(t)
	})
}

func (d *DDL) alterTableAdd(st ast.Statement) error {
	s := st.(*ast.AlterTableAddTableElementStatement)
	return d.alter(s.SchemaObjectName, func(d *DDL, old, t *Table) error {
		return d.addElements(old, t, s)
	})
}

func (d *DDL) addElements(old, t *Table, s *ast.AlterTableAddTableElementStatement) error {
	b := &builder{d: d, t: t, auto: len(t.Indexes) + len(t.Checks) + len(t.Columns) + len(t.ForeignKeys)}
	def := s.Definition
	for _, c := range def.ColumnDefinitions {
		if err := b.column(c); err != nil {
			return sqlerr.AtLine(err, tsql.Line(c))
		}
	}
	for _, c := range def.ColumnDefinitions {
		if err := b.columnConstraints(c); err != nil {
			return sqlerr.AtLine(err, tsql.Line(c))
		}
	}
	for _, c := range def.TableConstraints {
		if err := b.alterConstraint(c); err != nil {
			return sqlerr.AtLine(err, tsql.Line(c))
		}
	}
	for _, x := range def.Indexes {
		if !t.MemoryOptimized {
			return sqlerr.New(10794, 16, 92, "ALTER TABLE ADD INDEX is only supported with memory optimized tables.")
		}
		if err := b.index(x, -1); err != nil {
			return sqlerr.AtLine(err, tsql.Line(x))
		}
	}
	if err := b.finishIndexes(); err != nil {
		return err
	}
	if err := b.computedColumns(def.ColumnDefinitions, len(old.Columns)); err != nil {
		return err
	}
	for _, fk := range b.fks {
		if err := b.foreignKey(fk); err != nil {
			return sqlerr.AtLine(err, tsql.Line(fk.def))
		}
	}
	if err := d.compileChecks(t, t.Checks[len(old.Checks):]); err != nil {
		return err
	}
	t.Def = storageDef(t)
	if len(t.Columns) > len(old.Columns) || nullability(old, t) {
		if err := d.addColumns(old, t, def); err != nil {
			return err
		}
	} else {
		for i := len(old.Indexes); i < len(t.Indexes); i++ {
			if err := d.addIndex(t, i); err != nil {
				return err
			}
		}
	}
	return d.verifyNew(old, t, s.ExistingRowsCheckEnforcement == "NoCheck")
}

// alterConstraint adds a table constraint to an existing table.
func (b *builder) alterConstraint(c ast.TableConstraint) error {
	u, ok := c.(*ast.UniqueConstraintDefinition)
	if !ok || !u.IsPrimaryKey {
		return b.constraint(c)
	}
	if b.t.hasPrimaryKey() {
		return sqlerr.New(1779, 16, 0, "The table '%s' has a primary key already.", b.t.Name)
	}
	for _, col := range u.Columns {
		if i := b.t.Column(lastName(col.Column)); i >= 0 && b.t.Columns[i].Nullable {
			return sqlerr.New(8111, 16, 1, "The PRIMARY KEY constraint of the table '%s' needs columns that do not allow NULL.", b.t.Name)
		}
	}
	return b.key(u, -1)
}

func nullability(old, t *Table) bool {
	for i := range old.Columns {
		if old.Columns[i].Nullable != t.Columns[i].Nullable {
			return true
		}
	}
	return false
}

// verifyNew checks existing rows against the constraints that t has beyond old.
func (d *DDL) verifyNew(old, t *Table, noCheck bool) error {
	empty := t.Data == nil || t.Data.RowCount() == 0
	for i := len(old.Checks); i < len(t.Checks); i++ {
		if noCheck {
			t.Checks[i].NotTrusted = true
		} else if err := d.verify(t, &t.Checks[i], empty); err != nil {
			return err
		}
	}
	for i := len(old.ForeignKeys); i < len(t.ForeignKeys); i++ {
		if noCheck {
			t.ForeignKeys[i].NotTrusted = true
		} else if err := d.verify(t, &t.ForeignKeys[i], empty); err != nil {
			return err
		}
	}
	return nil
}

func (d *DDL) verify(t *Table, constraint any, empty bool) error {
	if d.Verify == nil {
		if empty {
			return nil
		}
		return sqlerr.Unsupported("adding a constraint to a table that has rows")
	}
	return d.Verify(t, constraint)
}

func (d *DDL) alterTableDrop(st ast.Statement) error {
	s := st.(*ast.AlterTableDropTableElementStatement)
	return d.alter(s.SchemaObjectName, func(d *DDL, old, t *Table) error {
		for _, e := range s.AlterTableDropTableElements {
			var err error
			kind := e.TableElementType
			if kind == "NotSpecified" {
				kind = "Constraint"
			}
			switch kind {
			case "Constraint":
				err = d.dropConstraint(t, e)
			case "Column":
				err = d.dropColumn(t, e)
			case "Index":
				err = d.dropTableIndex(t, e)
			default:
				err = sqlerr.Unsupported("ALTER TABLE DROP " + kind)
			}
			if err != nil {
				return sqlerr.AtLine(err, tsql.Line(e))
			}
		}
		return nil
	})
}

func (d *DDL) dropConstraint(t *Table, e *ast.AlterTableDropTableElement) error {
	name := e.Name.Value
	for i := range t.Checks {
		if EqualName(t.Checks[i].Name, name) {
			t.Checks = slices.Delete(t.Checks, i, i+1)
			return nil
		}
	}
	for i := range t.ForeignKeys {
		if EqualName(t.ForeignKeys[i].Name, name) {
			t.ForeignKeys = slices.Delete(t.ForeignKeys, i, i+1)
			return nil
		}
	}
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Default != nil && EqualName(c.Default.Name, name) {
			c.Default = nil
			return nil
		}
	}
	if i := t.Index(name); i >= 0 && t.Indexes[i].Constraint {
		for _, r := range d.DB.References(t.ID) {
			if r.Key.RefIndex == i {
				return sqlerr.New(3725, 16, 0, "The constraint '%s' is referenced by the table '%s', foreign key constraint '%s'.", name, r.Table.Name, r.Key.Name)
			}
		}
		return d.removeIndex(t, i)
	}
	if e.IsIfExists {
		return nil
	}
	return sqlerr.New(3728, 16, 1, "'%s' is not a constraint.", name)
}

func (d *DDL) dropColumn(t *Table, e *ast.AlterTableDropTableElement) error {
	name := e.Name.Value
	i := t.Column(name)
	if i < 0 {
		if e.IsIfExists {
			return nil
		}
		return sqlerr.New(4924, 16, 1, "ALTER TABLE DROP COLUMN failed: the column '%s' is not in the table '%s'.", name, t.Name)
	}
	if len(t.Columns) == 1 {
		return sqlerr.New(4923, 16, 1, "ALTER TABLE DROP COLUMN failed: '%s' is the only column of the table '%s'.", name, t.Name)
	}
	if by := d.dependsOnColumn(t, i); by != "" {
		return sqlerr.New(5074, 16, 1, "The object '%s' depends on the column '%s'.", by, t.Columns[i].Name)
	}
	for _, r := range d.DB.References(t.ID) {
		if slices.ContainsFunc(r.Key.RefColumns, func(c int) bool { return c > i }) {
			return sqlerr.Unsupported("dropping a column that stands before one that a foreign key refers to")
		}
	}
	old := t.clone()
	t.Columns = slices.Delete(slices.Clone(t.Columns), i, i+1)
	var from []int
	for c := range old.Columns {
		if c != i {
			from = append(from, c)
		}
	}
	shiftColumns(t, i)
	t.Def = storageDef(t)
	return d.rebuild(old, t, from, nil)
}

// dependsOnColumn names a constraint or index that uses a column, or returns "".
func (d *DDL) dependsOnColumn(t *Table, i int) string {
	if df := t.Columns[i].Default; df != nil {
		return df.Name
	}
	for _, x := range t.Indexes {
		if slices.Contains(x.Columns, i) || slices.Contains(x.Include, i) {
			return x.Name
		}
	}
	for _, k := range t.ForeignKeys {
		if slices.Contains(k.Columns, i) {
			return k.Name
		}
	}
	for _, k := range t.Checks {
		if k.Column == i || tsql.Mentions(k.Expr, t.Columns[i].Name) {
			return k.Name
		}
	}
	for _, c := range t.Columns {
		if c.Computed != nil && tsql.Mentions(c.Computed.Expr, t.Columns[i].Name) {
			return c.Name
		}
	}
	for _, r := range d.DB.References(t.ID) {
		if slices.Contains(r.Key.RefColumns, i) {
			return r.Key.Name
		}
	}
	return ""
}

// shiftColumns renumbers what points at columns after the removed one.
func shiftColumns(t *Table, removed int) {
	shift := func(cols []int) []int {
		c := slices.Clone(cols)
		for i := range c {
			if c[i] > removed {
				c[i]--
			}
		}
		return c
	}
	for i := range t.Indexes {
		t.Indexes[i].Columns, t.Indexes[i].Include = shift(t.Indexes[i].Columns), shift(t.Indexes[i].Include)
	}
	for i := range t.ForeignKeys {
		t.ForeignKeys[i].Columns = shift(t.ForeignKeys[i].Columns)
		if t.ForeignKeys[i].RefTable == t.ID {
			t.ForeignKeys[i].RefColumns = shift(t.ForeignKeys[i].RefColumns)
		}
	}
	for i := range t.Checks {
		if t.Checks[i].Column > removed {
			t.Checks[i].Column--
		}
	}
	if id := t.Identity; id != nil {
		switch {
		case id.Column == removed:
			t.Identity = nil
		case id.Column > removed:
			n := NewIdentity(id.Column-1, id.Seed, id.Increment)
			n.next.Store(id.next.Load())
			n.used.Store(id.used.Load())
			t.Identity = n
		}
	}
}

func (d *DDL) alterColumn(st ast.Statement) error {
	s := st.(*ast.AlterTableAlterColumnStatement)
	return d.alter(s.SchemaObjectName, func(d *DDL, old, t *Table) error {
		i := t.Column(s.ColumnIdentifier.Value)
		if i < 0 {
			return sqlerr.New(4924, 16, 1, "ALTER TABLE ALTER COLUMN failed: the column '%s' is not in the table '%s'.", s.ColumnIdentifier.Value, t.Name)
		}
		c := &t.Columns[i]
		if s.DataType == nil || s.IsMasked || s.IsHidden || s.Encryption != nil || s.GeneratedAlways != "" || s.StorageOptions != nil {
			return sqlerr.Unsupported("this form of ALTER COLUMN")
		}
		if c.Computed != nil {
			return sqlerr.New(4928, 16, 1, "The column '%s' cannot be altered: it is '%s'.", c.Name, "COMPUTED")
		}
		r, err := d.DB.ResolveType(s.DataType)
		if err != nil {
			return err
		}
		was := *c
		c.Type, c.UserType = r.Type, r.Alias
		if s.Collation != nil {
			if c.Type.Coll, err = types.CollationByName(s.Collation.Value); err != nil {
				return err
			}
			c.Collation = s.Collation.Value
		}
		c.Nullable = s.AlterTableAlterColumnOption != "NotNull" && !c.Identity
		if by := d.usesColumn(t, i); by != "" && (c.Type.Kind != was.Type.Kind || c.Type.Len != types.Max && c.Type.Len < was.Type.Len || c.Type.Prec != was.Type.Prec || c.Type.Scale != was.Type.Scale) {
			return sqlerr.New(5074, 16, 1, "The object '%s' depends on the column '%s'.", by, c.Name)
		}
		t.Def = storageDef(t)
		from := make([]int, len(t.Columns))
		for k := range from {
			from[k] = k
		}
		return d.rebuild(old, t, from, func(row []types.Value) error {
			if row[i].IsNull() {
				if !c.Nullable {
					return sqlerr.NullViolation(c.Name, d.DB.Name()+"."+t.FullName(), "UPDATE")
				}
				return nil
			}
			v, err := types.AssignColumn(row[i], c.Type, d.DB.Name()+"."+t.FullName(), c.Name)
			row[i] = v
			return err
		})
	})
}

// usesColumn names a constraint or index over a column, defaults left aside.
func (d *DDL) usesColumn(t *Table, i int) string {
	df := t.Columns[i].Default
	t.Columns[i].Default = nil
	defer func() { t.Columns[i].Default = df }()
	return d.dependsOnColumn(t, i)
}

func (d *DDL) alterConstraints(st ast.Statement) error {
	s := st.(*ast.AlterTableConstraintModificationStatement)
	return d.alter(s.SchemaObjectName, func(d *DDL, old, t *Table) error {
		on := s.ConstraintEnforcement == "Check"
		trust := s.ExistingRowsCheckEnforcement == "Check"
		empty := t.Data.RowCount() == 0
		wanted := func(name string) bool {
			return s.All || slices.ContainsFunc(s.ConstraintNames, func(id *ast.Identifier) bool { return EqualName(id.Value, name) })
		}
		found := 0
		set := func(disabled, notTrusted *bool, constraint any) error {
			found++
			if on && trust {
				if err := d.verify(t, constraint, empty); err != nil {
					return err
				}
				*notTrusted = false
			} else if !on {
				*notTrusted = true
			}
			*disabled = !on
			return nil
		}
		for i := range t.Checks {
			if k := &t.Checks[i]; wanted(k.Name) {
				if err := set(&k.Disabled, &k.NotTrusted, k); err != nil {
					return err
				}
			}
		}
		for i := range t.ForeignKeys {
			if k := &t.ForeignKeys[i]; wanted(k.Name) {
				if err := set(&k.Disabled, &k.NotTrusted, k); err != nil {
					return err
				}
			}
		}
		if !s.All && found < len(s.ConstraintNames) {
			return sqlerr.New(4917, 16, 0, "The constraint '%s' is not there.", s.ConstraintNames[0].Value)
		}
		return nil
	})
}
