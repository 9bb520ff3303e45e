package dmv

import (
	"gostress/internal/engine/catalog"
	"gostress/internal/engine/types"
)

var columnCols = []string{
	"object_id int", "name sysname null", "column_id int", "system_type_id tinyint", "user_type_id int", "max_length smallint",
	"precision tinyint", "scale tinyint", "collation_name sysname null", "is_nullable bit null", "is_ansi_padded bit", "is_rowguidcol bit",
	"is_identity bit", "is_computed bit", "is_filestream bit", "is_replicated bit null", "is_non_sql_subscribed bit null",
	"is_merge_published bit null", "is_dts_replicated bit null", "is_xml_document bit", "xml_collection_id int", "default_object_id int",
	"rule_object_id int", "is_sparse bit null", "is_column_set bit null", "generated_always_type tinyint null",
	"generated_always_type_desc nvarchar(60) null", "encryption_type int null", "encryption_type_desc nvarchar(64) null",
	"encryption_algorithm_name sysname null", "column_encryption_key_id int null", "column_encryption_key_database_name sysname null",
	"is_hidden bit null", "is_masked bit null",
}

func columnRow(object int32, c *catalog.Column) []any {
	userType := userTypeID(c.Type, c.UserType)
	def := int32(0)
	if c.Default != nil {
		def = c.Default.ID
	}
	prec, scale := precision(c.Type)
	return []any{
		object, c.Name, c.ID, systemTypeID(c.Type), userType, c.Type.MaxLength(), prec, scale, collation(c), c.Nullable,
		isString(c.Type.Kind), c.RowGUID, c.Identity, c.Computed != nil, false, false, false, false, false, false, 0, def, 0, false, false, 0,
		"NOT_APPLICABLE", nil, nil, nil, nil, nil, false, false,
	}
}

func isString(k types.Kind) bool {
	switch k {
	case types.KindChar, types.KindVarChar, types.KindNChar, types.KindNVarChar, types.KindText, types.KindNText, types.KindBinary, types.KindVarBinary, types.KindImage:
		return true
	}
	return false
}

// collation is the name of a column's collation, nil for types that have none.
func collation(c *catalog.Column) any {
	switch c.Type.Kind {
	case types.KindChar, types.KindVarChar, types.KindNChar, types.KindNVarChar, types.KindText, types.KindNText:
		if c.Collation != "" && c.Type.Coll != types.CollDefault {
			return c.Collation
		}
		return c.Type.Coll.String()
	}
	return nil
}

// systemTypeID is sys.types.system_type_id.
func systemTypeID(t types.Type) uint8 {
	switch t.Kind {
	case types.KindImage:
		return 34
	case types.KindText:
		return 35
	case types.KindUniqueIdentifier:
		return 36
	case types.KindDate:
		return 40
	case types.KindTime:
		return 41
	case types.KindDateTime2:
		return 42
	case types.KindDateTimeOffset:
		return 43
	case types.KindTinyInt:
		return 48
	case types.KindSmallInt:
		return 52
	case types.KindInt:
		return 56
	case types.KindSmallDateTime:
		return 58
	case types.KindReal:
		return 59
	case types.KindMoney:
		return 60
	case types.KindDateTime:
		return 61
	case types.KindFloat:
		return 62
	case types.KindSQLVariant:
		return 98
	case types.KindNText:
		return 99
	case types.KindBit:
		return 104
	case types.KindDecimal:
		return 106
	case types.KindSmallMoney:
		return 122
	case types.KindBigInt:
		return 127
	case types.KindVarBinary:
		return 165
	case types.KindVarChar:
		return 167
	case types.KindBinary:
		return 173
	case types.KindChar:
		return 175
	case types.KindNVarChar:
		return 231
	case types.KindNChar:
		return 239
	case types.KindTable:
		return 243
	}
	return 0
}

func userTypeID(t types.Type, alias *catalog.AliasType) int32 {
	if alias != nil {
		return alias.ID
	}
	return int32(systemTypeID(t))
}

// precision returns precision and scale as sys.columns shows them.
func precision(t types.Type) (prec, scale uint8) {
	fraction := func(base uint8) (uint8, uint8) {
		if t.Scale == 0 {
			return base, 0
		}
		return base + 1 + t.Scale, t.Scale
	}
	switch t.Kind {
	case types.KindBit:
		return 1, 0
	case types.KindTinyInt:
		return 3, 0
	case types.KindSmallInt:
		return 5, 0
	case types.KindInt:
		return 10, 0
	case types.KindBigInt:
		return 19, 0
	case types.KindDecimal:
		return t.Prec, t.Scale
	case types.KindMoney:
		return 19, 4
	case types.KindSmallMoney:
		return 10, 4
	case types.KindFloat:
		return 53, 0
	case types.KindReal:
		return 24, 0
	case types.KindDateTime:
		return 23, 3
	case types.KindSmallDateTime:
		return 16, 0
	case types.KindDate:
		return 10, 0
	case types.KindTime:
		return fraction(8)
	case types.KindDateTime2:
		return fraction(19)
	case types.KindDateTimeOffset:
		return fraction(26)
	}
	return 0, 0
}

// withColumns lists everything that has columns: tables, views, functions that
// return tables, and table types.
func withColumns(q catalog.SystemQuery) []*catalog.Table {
	list := tables(q)
	for _, f := range q.Database.Functions() {
		if f.Table != nil {
			t := *f.Table
			t.ID = f.ID
			list = append(list, &t)
		}
	}
	for _, t := range q.Database.TableTypes() {
		list = append(list, t.Table)
	}
	return list
}

func emitColumns(lists ...func(catalog.SystemQuery) []*catalog.Table) func(catalog.SystemQuery, adder) error {
	return func(q catalog.SystemQuery, add adder) error {
		for _, list := range lists {
			for _, t := range list(q) {
				for i := range t.Columns {
					if err := add(columnRow(t.ID, &t.Columns[i])...); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
}

func systemViews(q catalog.SystemQuery) []*catalog.Table { return q.Instance.SystemViews() }

func columnViews() []def {
	return []def{
		{"sys.columns", columnCols, emitColumns(withColumns)},
		{"sys.all_columns", columnCols, emitColumns(withColumns, systemViews)},
		{"sys.system_columns", columnCols, emitColumns(systemViews)},
		{"sys.identity_columns", join(columnCols[:22], []string{
			"rule_object_id int", "is_sparse bit null", "is_column_set bit null", "seed_value sql_variant null", "increment_value sql_variant null",
			"last_value sql_variant null", "is_not_for_replication bit null",
		}), func(q catalog.SystemQuery, add adder) error {
			for _, t := range withColumns(q) {
				if t.Identity == nil {
					continue
				}
				c := &t.Columns[t.Identity.Column]
				variant := func(n int64) any {
					v, err := types.Assign(types.NewInt(types.KindBigInt, n), c.Type)
					if err != nil {
						return nil
					}
					return v
				}
				var last any
				if n, ok := t.Identity.Last(); ok {
					last = variant(n)
				}
				row := append(columnRow(t.ID, c)[:22:22], 0, false, false, variant(t.Identity.Seed), variant(t.Identity.Increment), last, false)
				if err := add(row...); err != nil {
					return err
				}
			}
			return nil
		}},
		{"sys.computed_columns", join(columnCols[:22], []string{
			"rule_object_id int", "definition nvarchar(max) null", "uses_database_collation bit", "is_persisted bit",
		}), func(q catalog.SystemQuery, add adder) error {
			for _, t := range withColumns(q) {
				for i := range t.Columns {
					c := &t.Columns[i]
					if c.Computed == nil {
						continue
					}
					if err := add(append(columnRow(t.ID, c)[:22:22], 0, c.Computed.Text, true, c.Computed.Persisted)...); err != nil {
						return err
					}
				}
			}
			return nil
		}},
	}
}
