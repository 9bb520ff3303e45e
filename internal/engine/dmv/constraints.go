package dmv

import "gostress/internal/engine/catalog"

// eachConstraint calls fn for the constraints of one kind or, of keys, two.
func eachConstraint(q catalog.SystemQuery, fn func(t *catalog.Table, c *catalog.Constraint, row []any) error) error {
	for _, t := range indexed(q) {
		for _, c := range t.Constraints() {
			o := constraintObject(q.Database, t, c)
			if t.Type {
				o.schema = 4
			}
			if err := fn(t, c, o.row()); err != nil {
				return err
			}
		}
	}
	return nil
}

var actions = [...]string{"NO_ACTION", "CASCADE", "SET_NULL", "SET_DEFAULT"}

func constraintViews() []def {
	return []def{
		{"sys.key_constraints", join(objectCols, []string{"unique_index_id int null", "is_system_named bit", "is_enforced bit null"}),
			func(q catalog.SystemQuery, add adder) error {
				return eachConstraint(q, func(t *catalog.Table, c *catalog.Constraint, row []any) error {
					for i := range t.Indexes {
						if x := &t.Indexes[i]; x.Constraint && x.ConstraintID == c.ID {
							return add(append(row, x.ID, x.System, true)...)
						}
					}
					return nil
				})
			}},
		{"sys.check_constraints", join(objectCols, []string{
			"is_disabled bit", "is_not_for_replication bit", "is_not_trusted bit", "parent_column_id int", "definition nvarchar(max) null",
			"uses_database_collation bit null", "is_system_named bit",
		}), func(q catalog.SystemQuery, add adder) error {
			return eachConstraint(q, func(t *catalog.Table, c *catalog.Constraint, row []any) error {
				for i := range t.Checks {
					k := &t.Checks[i]
					if k.ID != c.ID {
						continue
					}
					column := int32(0)
					if k.Column >= 0 {
						column = t.Columns[k.Column].ID
					}
					return add(append(row, k.Disabled, false, k.NotTrusted, column, k.Text, true, k.System)...)
				}
				return nil
			})
		}},
		{"sys.default_constraints", join(objectCols, []string{"parent_column_id int", "definition nvarchar(max) null", "is_system_named bit"}),
			func(q catalog.SystemQuery, add adder) error {
				return eachConstraint(q, func(t *catalog.Table, c *catalog.Constraint, row []any) error {
					for i := range t.Columns {
						if d := t.Columns[i].Default; d != nil && d.ID == c.ID {
							return add(append(row, t.Columns[i].ID, d.Text, d.System)...)
						}
					}
					return nil
				})
			}},
		{"sys.foreign_keys", join(objectCols, []string{
			"referenced_object_id int null", "key_index_id int null", "is_disabled bit", "is_not_for_replication bit", "is_not_trusted bit",
			"delete_referential_action tinyint null", "delete_referential_action_desc nvarchar(60) null",
			"update_referential_action tinyint null", "update_referential_action_desc nvarchar(60) null", "is_system_named bit",
		}), func(q catalog.SystemQuery, add adder) error {
			return eachConstraint(q, func(t *catalog.Table, c *catalog.Constraint, row []any) error {
				for i := range t.ForeignKeys {
					k := &t.ForeignKeys[i]
					if k.ID != c.ID {
						continue
					}
					var index any
					if r, ok := q.Database.TableByID(k.RefTable); ok && k.RefIndex >= 0 && k.RefIndex < len(r.Indexes) {
						index = r.Indexes[k.RefIndex].ID
					}
					return add(append(row, k.RefTable, index, k.Disabled, false, k.NotTrusted,
						uint8(k.OnDelete), actions[k.OnDelete], uint8(k.OnUpdate), actions[k.OnUpdate], k.System)...)
				}
				return nil
			})
		}},
		{"sys.foreign_key_columns", []string{
			"constraint_object_id int", "constraint_column_id int", "parent_object_id int", "parent_column_id int", "referenced_object_id int",
			"referenced_column_id int",
		}, func(q catalog.SystemQuery, add adder) error {
			for _, t := range userTables(q) {
				for i := range t.ForeignKeys {
					k := &t.ForeignKeys[i]
					r, ok := q.Database.TableByID(k.RefTable)
					if !ok {
						continue
					}
					for n, c := range k.Columns {
						if err := add(k.ID, n+1, t.ID, t.Columns[c].ID, k.RefTable, r.Columns[k.RefColumns[n]].ID); err != nil {
							return err
						}
					}
				}
			}
			return nil
		}},
	}
}
