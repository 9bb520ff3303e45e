package dmv

import (
	"gostress/internal/engine/catalog"
)

func modules(db *catalog.Database) []*catalog.Module {
	var list []*catalog.Module
	for _, t := range db.Tables() {
		if t.View != nil {
			list = append(list, &t.View.Module)
		}
	}
	for _, p := range db.Procedures() {
		list = append(list, &p.Module)
	}
	for _, f := range db.Functions() {
		list = append(list, &f.Module)
	}
	return list
}

func paramRow(object int32, n int, p *catalog.Param) []any {
	typ, user := p.Type, userTypeID(p.Type, p.UserType)
	length := typ.MaxLength()
	if p.TableType != nil {
		user, length = p.TableType.ID, -1
	}
	prec, scale := precision(typ)
	return []any{object, p.Name, n, systemTypeID(typ), user, length, prec, scale, p.Output, false, false, false, nil, 0, p.ReadOnly, true}
}

var moduleCols = []string{
	"object_id int", "definition nvarchar(max) null", "uses_ansi_nulls bit null", "uses_quoted_identifier bit null",
	"is_schema_bound bit null", "uses_database_collation bit null", "is_recompiled bit null", "null_on_null_input bit null",
	"execute_as_principal_id int null", "uses_native_compilation bit null",
}

func moduleRows(q catalog.SystemQuery, add adder) error {
	for _, m := range modules(q.Database) {
		var as any
		if m.ExecuteAs == "OWNER" {
			as = -2
		} else if m.ExecuteAs == "SELF" || m.ExecuteAs == "dbo" {
			as = 1
		}
		if err := add(m.ID, m.Text, m.AnsiNulls, m.QuotedIdentifier, m.SchemaBound, false, m.Recompile, false, as, m.Native); err != nil {
			return err
		}
	}
	return nil
}

func moduleViews() []def {
	paramCols := []string{
		"object_id int", "name sysname null", "parameter_id int", "system_type_id tinyint", "user_type_id int", "max_length smallint",
		"precision tinyint", "scale tinyint", "is_output bit", "is_cursor_ref bit", "has_default_value bit", "is_xml_document bit",
		"default_value sql_variant null", "xml_collection_id int", "is_readonly bit", "is_nullable bit null",
	}
	paramRows := func(q catalog.SystemQuery, add adder) error {
		for _, p := range q.Database.Procedures() {
			for i := range p.Params {
				if err := add(paramRow(p.ID, i+1, &p.Params[i])...); err != nil {
					return err
				}
			}
		}
		for _, f := range q.Database.Functions() {
			if f.Kind == catalog.ScalarFunction {
				r := catalog.Param{Type: f.Returns, Output: true}
				if err := add(paramRow(f.ID, 0, &r)...); err != nil {
					return err
				}
			}
			for i := range f.Params {
				if err := add(paramRow(f.ID, i+1, &f.Params[i])...); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return []def{
		{"sys.sql_modules", moduleCols, moduleRows},
		{"sys.all_sql_modules", moduleCols, moduleRows},
		{"sys.parameters", paramCols, paramRows},
		{"sys.all_parameters", paramCols, paramRows},
		{"sys.extended_properties", []string{
			"class tinyint", "class_desc nvarchar(60) null", "major_id int", "minor_id int", "name sysname", "value sql_variant null",
		}, func(q catalog.SystemQuery, add adder) error {
			for _, p := range q.Database.ExtendedProperties() {
				if err := add(p.Class, propertyClass[p.Class], p.MajorID, p.MinorID, p.Name, p.Value); err != nil {
					return err
				}
			}
			return nil
		}},
	}
}

var propertyClass = map[uint8]string{
	catalog.PropertyDatabase: "DATABASE", catalog.PropertyObject: "OBJECT_OR_COLUMN", catalog.PropertyParameter: "PARAMETER",
	catalog.PropertySchema: "SCHEMA", catalog.PropertyType: "TYPE", catalog.PropertyIndex: "INDEX",
}
