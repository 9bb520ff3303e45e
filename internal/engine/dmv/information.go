package dmv

import (
	"gostress/internal/engine/catalog"
	"gostress/internal/engine/types"
)

// typeInfo holds the columns that describe a data type in INFORMATION_SCHEMA:
// DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, CHARACTER_OCTET_LENGTH, NUMERIC_PRECISION,
// NUMERIC_PRECISION_RADIX, NUMERIC_SCALE, DATETIME_PRECISION.
func typeInfo(t types.Type) []any {
	row := []any{t.Name(), nil, nil, nil, nil, nil, nil}
	prec, scale := precision(t)
	switch t.Kind {
	case types.KindChar, types.KindVarChar, types.KindBinary, types.KindVarBinary:
		row[1], row[2] = t.Len, t.Len
	case types.KindNChar, types.KindNVarChar:
		row[1], row[2] = t.Len, t.Len
		if t.Len != types.Max {
			row[2] = t.Len * 2
		}
	case types.KindText, types.KindImage:
		row[1], row[2] = 2147483647, 2147483647
	case types.KindNText:
		row[1], row[2] = 1073741823, 2147483646
	case types.KindTinyInt, types.KindSmallInt, types.KindInt, types.KindBigInt, types.KindDecimal, types.KindMoney, types.KindSmallMoney:
		row[3], row[4], row[5] = prec, 10, scale
	case types.KindFloat, types.KindReal:
		row[3], row[4] = prec, 2
	case types.KindDate, types.KindSmallDateTime:
		row[6] = 0
	case types.KindDateTime:
		row[6] = 3
	case types.KindTime, types.KindDateTime2, types.KindDateTimeOffset:
		row[6] = scale
	}
	return row
}

var typeInfoCols = []string{
	"DATA_TYPE nvarchar(128) null", "CHARACTER_MAXIMUM_LENGTH int null", "CHARACTER_OCTET_LENGTH int null", "NUMERIC_PRECISION tinyint null",
	"NUMERIC_PRECISION_RADIX smallint null", "NUMERIC_SCALE int null", "DATETIME_PRECISION smallint null",
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

func schemaViews() []def {
	return []def{
		{"INFORMATION_SCHEMA.SCHEMATA", []string{
			"CATALOG_NAME nvarchar(128) null", "SCHEMA_NAME nvarchar(128)", "SCHEMA_OWNER nvarchar(128) null",
		}, func(q catalog.SystemQuery, add adder) error {
			for _, s := range q.Database.Schemas() {
				if err := add(q.Database.Name(), s.Name, s.Owner); err != nil {
					return err
				}
			}
			return nil
		}},
		{"INFORMATION_SCHEMA.TABLES", []string{
			"TABLE_CATALOG nvarchar(128) null", "TABLE_SCHEMA nvarchar(128) null", "TABLE_NAME sysname", "TABLE_TYPE varchar(10) null",
		}, func(q catalog.SystemQuery, add adder) error {
			for _, t := range tables(q) {
				typ := "BASE TABLE"
				if t.View != nil {
					typ = "VIEW"
				}
				if err := add(q.Database.Name(), t.Schema, t.Name, typ); err != nil {
					return err
				}
			}
			return nil
		}},
		{"INFORMATION_SCHEMA.VIEWS", []string{
			"TABLE_CATALOG nvarchar(128) null", "TABLE_SCHEMA nvarchar(128) null", "TABLE_NAME sysname", "VIEW_DEFINITION nvarchar(4000) null",
			"CHECK_OPTION varchar(7) null", "IS_UPDATABLE varchar(2)",
		}, func(q catalog.SystemQuery, add adder) error {
			for _, t := range tables(q) {
				if t.View == nil {
					continue
				}
				check := "NONE"
				if t.View.CheckOption {
					check = "CASCADE"
				}
				if err := add(q.Database.Name(), t.Schema, t.Name, short(t.View.Text), check, "NO"); err != nil {
					return err
				}
			}
			return nil
		}},
		{"INFORMATION_SCHEMA.COLUMNS", join([]string{
			"TABLE_CATALOG nvarchar(128) null", "TABLE_SCHEMA nvarchar(128) null", "TABLE_NAME nvarchar(128)", "COLUMN_NAME sysname null",
			"ORDINAL_POSITION int null", "COLUMN_DEFAULT nvarchar(4000) null", "IS_NULLABLE varchar(3) null",
		}, typeInfoCols, []string{
			"CHARACTER_SET_CATALOG sysname null", "CHARACTER_SET_SCHEMA sysname null", "CHARACTER_SET_NAME sysname null",
			"COLLATION_CATALOG sysname null", "COLLATION_SCHEMA sysname null", "COLLATION_NAME sysname null", "DOMAIN_CATALOG sysname null",
			"DOMAIN_SCHEMA sysname null", "DOMAIN_NAME sysname null",
		}), informationColumns},
		{"INFORMATION_SCHEMA.ROUTINES", join([]string{
			"SPECIFIC_CATALOG nvarchar(128) null", "SPECIFIC_SCHEMA nvarchar(128) null", "SPECIFIC_NAME nvarchar(128)",
			"ROUTINE_CATALOG nvarchar(128) null", "ROUTINE_SCHEMA nvarchar(128) null", "ROUTINE_NAME nvarchar(128)",
			"ROUTINE_TYPE nvarchar(20) null",
		}, typeInfoCols, []string{
			"ROUTINE_BODY nvarchar(30) null", "ROUTINE_DEFINITION nvarchar(4000) null", "CREATED datetime", "LAST_ALTERED datetime",
		}), func(q catalog.SystemQuery, add adder) error {
			row := func(m *catalog.Module, kind string, t []any) error {
				db := q.Database.Name()
				r := append([]any{db, m.Schema, m.Name, db, m.Schema, m.Name, kind}, t...)
				return add(append(r, "SQL", short(m.Text), m.Created, m.Modified)...)
			}
			for _, p := range q.Database.Procedures() {
				if err := row(&p.Module, "PROCEDURE", make([]any, len(typeInfoCols))); err != nil {
					return err
				}
			}
			for _, f := range q.Database.Functions() {
				info := make([]any, len(typeInfoCols))
				info[0] = "TABLE"
				if f.Kind == catalog.ScalarFunction {
					info = typeInfo(f.Returns)
				}
				if err := row(&f.Module, "FUNCTION", info); err != nil {
					return err
				}
			}
			return nil
		}},
		{"INFORMATION_SCHEMA.PARAMETERS", join([]string{
			"SPECIFIC_CATALOG nvarchar(128) null", "SPECIFIC_SCHEMA nvarchar(128) null", "SPECIFIC_NAME nvarchar(128)", "ORDINAL_POSITION int",
			"PARAMETER_MODE nvarchar(10) null", "IS_RESULT nvarchar(10) null", "AS_LOCATOR nvarchar(10) null", "PARAMETER_NAME nvarchar(128) null",
		}, typeInfoCols), func(q catalog.SystemQuery, add adder) error {
			params := func(m *catalog.Module, list []catalog.Param) error {
				for i, p := range list {
					mode := "IN"
					if p.Output {
						mode = "INOUT"
					}
					info := typeInfo(p.Type)
					if p.TableType != nil {
						info[0] = "table type"
					}
					if err := add(append([]any{q.Database.Name(), m.Schema, m.Name, i + 1, mode, "NO", "NO", p.Name}, info...)...); err != nil {
						return err
					}
				}
				return nil
			}
			for _, p := range q.Database.Procedures() {
				if err := params(&p.Module, p.Params); err != nil {
					return err
				}
			}
			for _, f := range q.Database.Functions() {
				if err := params(&f.Module, f.Params); err != nil {
					return err
				}
			}
			return nil
		}},
		{"INFORMATION_SCHEMA.TABLE_CONSTRAINTS", []string{
			"CONSTRAINT_CATALOG nvarchar(128) null", "CONSTRAINT_SCHEMA nvarchar(128) null", "CONSTRAINT_NAME sysname",
			"TABLE_CATALOG nvarchar(128) null", "TABLE_SCHEMA nvarchar(128) null", "TABLE_NAME sysname null", "CONSTRAINT_TYPE varchar(11) null",
			"IS_DEFERRABLE varchar(2)", "INITIALLY_DEFERRED varchar(2)",
		}, func(q catalog.SystemQuery, add adder) error {
			db := q.Database.Name()
			kinds := map[catalog.ConstraintKind]string{"PK": "PRIMARY KEY", "UQ": "UNIQUE", "C": "CHECK", "F": "FOREIGN KEY"}
			for _, t := range userTables(q) {
				for _, c := range t.Constraints() {
					if kinds[c.Kind] == "" {
						continue
					}
					if err := add(db, c.Schema, c.Name, db, t.Schema, t.Name, kinds[c.Kind], "NO", "NO"); err != nil {
						return err
					}
				}
			}
			return nil
		}},
		{"INFORMATION_SCHEMA.KEY_COLUMN_USAGE", []string{
			"CONSTRAINT_CATALOG nvarchar(128) null", "CONSTRAINT_SCHEMA nvarchar(128) null", "CONSTRAINT_NAME nvarchar(128)",
			"TABLE_CATALOG nvarchar(128) null", "TABLE_SCHEMA nvarchar(128) null", "TABLE_NAME nvarchar(128)", "COLUMN_NAME nvarchar(128) null",
			"ORDINAL_POSITION int",
		}, func(q catalog.SystemQuery, add adder) error {
			db := q.Database.Name()
			for _, t := range userTables(q) {
				key := func(name string, cols []int) error {
					for i, c := range cols {
						if err := add(db, t.Schema, name, db, t.Schema, t.Name, t.Columns[c].Name, i+1); err != nil {
							return err
						}
					}
					return nil
				}
				for i := range t.Indexes {
					if x := &t.Indexes[i]; x.Constraint {
						if err := key(x.Name, x.Columns); err != nil {
							return err
						}
					}
				}
				for i := range t.ForeignKeys {
					if err := key(t.ForeignKeys[i].Name, t.ForeignKeys[i].Columns); err != nil {
						return err
					}
				}
			}
			return nil
		}},
		{"INFORMATION_SCHEMA.CHECK_CONSTRAINTS", []string{
			"CONSTRAINT_CATALOG nvarchar(128) null", "CONSTRAINT_SCHEMA nvarchar(128) null", "CONSTRAINT_NAME sysname",
			"CHECK_CLAUSE nvarchar(4000) null",
		}, func(q catalog.SystemQuery, add adder) error {
			for _, t := range userTables(q) {
				for i := range t.Checks {
					if err := add(q.Database.Name(), t.Schema, t.Checks[i].Name, short(t.Checks[i].Text)); err != nil {
						return err
					}
				}
			}
			return nil
		}},
		{"INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS", []string{
			"CONSTRAINT_CATALOG nvarchar(128) null", "CONSTRAINT_SCHEMA nvarchar(128) null", "CONSTRAINT_NAME sysname",
			"UNIQUE_CONSTRAINT_CATALOG nvarchar(128) null", "UNIQUE_CONSTRAINT_SCHEMA nvarchar(128) null", "UNIQUE_CONSTRAINT_NAME sysname null",
			"MATCH_OPTION varchar(7) null", "UPDATE_RULE varchar(11) null", "DELETE_RULE varchar(11) null",
		}, func(q catalog.SystemQuery, add adder) error {
			db := q.Database.Name()
			rules := [...]string{"NO ACTION", "CASCADE", "SET NULL", "SET DEFAULT"}
			for _, t := range userTables(q) {
				for i := range t.ForeignKeys {
					k := &t.ForeignKeys[i]
					var schema, name any
					if r, ok := q.Database.TableByID(k.RefTable); ok && k.RefIndex >= 0 && k.RefIndex < len(r.Indexes) {
						schema, name = r.Schema, r.Indexes[k.RefIndex].Name
					}
					if err := add(db, t.Schema, k.Name, db, schema, name, "SIMPLE", rules[k.OnUpdate], rules[k.OnDelete]); err != nil {
						return err
					}
				}
			}
			return nil
		}},
	}
}

func informationColumns(q catalog.SystemQuery, add adder) error {
	for _, t := range tables(q) {
		for i := range t.Columns {
			c := &t.Columns[i]
			var def any
			if c.Default != nil {
				def = short(c.Default.Text)
			}
			row := append([]any{q.Database.Name(), t.Schema, t.Name, c.Name, i + 1, def, yesNo(c.Nullable)}, typeInfo(c.Type)...)
			var set any
			switch c.Type.Kind {
			case types.KindChar, types.KindVarChar, types.KindText:
				set = "iso_1"
			case types.KindNChar, types.KindNVarChar, types.KindNText:
				set = "UNICODE"
			}
			row = append(row, nil, nil, set, nil, nil, collation(c))
			if c.UserType != nil {
				row = append(row, q.Database.Name(), c.UserType.Schema, c.UserType.Name)
			} else {
				row = append(row, nil, nil, nil)
			}
			if err := add(row...); err != nil {
				return err
			}
		}
	}
	return nil
}

// short cuts a text to the 4000 characters that INFORMATION_SCHEMA shows.
func short(s string) string {
	r := []rune(s)
	return string(r[:min(len(r), 4000)])
}
