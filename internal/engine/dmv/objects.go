package dmv

import (
	"sort"
	"time"

	"gostress/internal/engine/catalog"
)

var objectCols = []string{
	"name sysname", "object_id int", "principal_id int null", "schema_id int", "parent_object_id int", "type char(2) null",
	"type_desc nvarchar(60) null", "create_date datetime", "modify_date datetime", "is_ms_shipped bit", "is_published bit", "is_schema_published bit",
}

// object is a row of sys.objects.
type object struct {
	name              string
	id, schema        int32
	parent            int32
	typ               string
	created, modified time.Time
	system            bool
}

func (o object) row() []any {
	return []any{o.name, o.id, nil, o.schema, o.parent, o.typ, typeDesc[o.typ], o.created, o.modified, o.system, false, false}
}

var typeDesc = map[string]string{
	"U": "USER_TABLE", "V": "VIEW", "P": "SQL_STORED_PROCEDURE", "FN": "SQL_SCALAR_FUNCTION", "IF": "SQL_INLINE_TABLE_VALUED_FUNCTION",
	"TF": "SQL_TABLE_VALUED_FUNCTION", "PK": "PRIMARY_KEY_CONSTRAINT", "UQ": "UNIQUE_CONSTRAINT", "C": "CHECK_CONSTRAINT",
	"D": "DEFAULT_CONSTRAINT", "F": "FOREIGN_KEY_CONSTRAINT", "TT": "TYPE_TABLE",
}

// tables lists the tables and views of a database, in tempdb with the session's
// #tables.
func tables(q catalog.SystemQuery) []*catalog.Table {
	list := q.Database.Tables()
	if q.Database.ID == catalog.TempdbID {
		list = append(q.Temp.All(), list...)
	}
	return list
}

func userTables(q catalog.SystemQuery) []*catalog.Table {
	var list []*catalog.Table
	for _, t := range tables(q) {
		if t.View == nil {
			list = append(list, t)
		}
	}
	return list
}

// schemaID is the id of a schema by name; 1 (dbo) for the schema of #tables.
func schemaID(db *catalog.Database, name string) int32 {
	if s, ok := db.Schema(name); ok {
		return s.ID
	}
	return 1
}

func tableObject(db *catalog.Database, t *catalog.Table) object {
	typ := "U"
	if t.View != nil {
		typ = "V"
	}
	return object{t.Name, t.ID, schemaID(db, t.Schema), 0, typ, t.Created, t.Modified, false}
}

func moduleObject(db *catalog.Database, m *catalog.Module, typ string) object {
	return object{m.Name, m.ID, schemaID(db, m.Schema), 0, typ, m.Created, m.Modified, false}
}

func functionType(f *catalog.Function) string {
	return [...]string{"FN", "IF", "TF"}[f.Kind]
}

// objects lists what sys.objects shows, by id.
func objects(q catalog.SystemQuery) []object {
	db := q.Database
	var list []object
	for _, t := range tables(q) {
		list = append(list, tableObject(db, t))
		for _, c := range t.Constraints() {
			list = append(list, constraintObject(db, t, c))
		}
	}
	for _, p := range db.Procedures() {
		list = append(list, moduleObject(db, &p.Module, "P"))
	}
	for _, f := range db.Functions() {
		list = append(list, moduleObject(db, &f.Module, functionType(f)))
	}
	for _, t := range db.TableTypes() {
		list = append(list, object{typeTableName(t), t.Table.ID, 4, 0, "TT", t.Created, t.Created, false})
		for _, c := range t.Table.Constraints() {
			o := constraintObject(db, t.Table, c)
			o.schema = 4
			list = append(list, o)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].id < list[j].id })
	return list
}

func constraintObject(db *catalog.Database, t *catalog.Table, c *catalog.Constraint) object {
	return object{c.Name, c.ID, schemaID(db, c.Schema), t.ID, string(c.Kind), t.Created, t.Modified, false}
}

// systemObjects lists the system views.
func systemObjects(q catalog.SystemQuery) []object {
	var list []object
	for _, v := range q.Instance.SystemViews() {
		list = append(list, object{v.Name, v.ID, schemaID(q.Database, v.Schema), 0, "V", q.Instance.Started(), q.Instance.Started(), true})
	}
	return list
}

func emitObjects(lists ...func(catalog.SystemQuery) []object) func(catalog.SystemQuery, adder) error {
	return func(q catalog.SystemQuery, add adder) error {
		for _, list := range lists {
			for _, o := range list(q) {
				if err := add(o.row()...); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func objectViews() []def {
	return []def{
		{"sys.objects", objectCols, emitObjects(objects)},
		{"sys.all_objects", objectCols, emitObjects(objects, systemObjects)},
		{"sys.system_objects", objectCols, emitObjects(systemObjects)},
		{"sys.tables", join(objectCols, []string{
			"lob_data_space_id int", "filestream_data_space_id int null", "max_column_id_used int", "lock_on_bulk_load bit",
			"uses_ansi_nulls bit null", "is_replicated bit null", "has_replication_filter bit null", "is_merge_published bit null",
			"is_sync_tran_subscribed bit null", "has_unchecked_assembly_data bit", "text_in_row_limit int null",
			"large_value_types_out_of_row bit null", "is_tracked_by_cdc bit null", "lock_escalation tinyint null",
			"lock_escalation_desc nvarchar(60) null", "is_filetable bit null", "is_memory_optimized bit null", "durability tinyint null",
			"durability_desc nvarchar(60) null", "temporal_type tinyint null", "temporal_type_desc nvarchar(60) null",
			"history_table_id int null", "is_remote_data_archive_enabled bit null", "is_external bit",
		}), tableRows},
		{"sys.views", join(objectCols, []string{
			"is_replicated bit null", "has_replication_filter bit null", "has_opaque_metadata bit", "has_unchecked_assembly_data bit",
			"with_check_option bit", "is_date_correlation_view bit",
		}), func(q catalog.SystemQuery, add adder) error {
			for _, t := range q.Database.Tables() {
				if t.View == nil {
					continue
				}
				if err := add(append(tableObject(q.Database, t).row(), false, false, false, false, t.View.CheckOption, false)...); err != nil {
					return err
				}
			}
			return nil
		}},
		{"sys.procedures", join(objectCols, []string{
			"is_auto_executed bit", "is_execution_replicated bit null", "is_repl_serializable_only bit null", "skips_repl_constraints bit null",
		}), func(q catalog.SystemQuery, add adder) error {
			for _, p := range q.Database.Procedures() {
				if err := add(append(moduleObject(q.Database, &p.Module, "P").row(), false, false, false, false)...); err != nil {
					return err
				}
			}
			return nil
		}},
		{"sys.triggers", []string{
			"name sysname", "object_id int", "parent_class tinyint", "parent_class_desc nvarchar(60) null", "parent_id int", "type char(2)",
			"type_desc nvarchar(60) null", "create_date datetime", "modify_date datetime", "is_ms_shipped bit", "is_disabled bit",
			"is_not_for_replication bit", "is_instead_of_trigger bit",
		}, none},
		{"sys.synonyms", join(objectCols, []string{"base_object_name nvarchar(1035) null"}), none},
		{"sys.sequences", join(objectCols, []string{
			"start_value sql_variant", "increment sql_variant", "minimum_value sql_variant null", "maximum_value sql_variant null",
			"is_cycling bit null", "is_cached bit null", "cache_size int null", "system_type_id tinyint", "user_type_id int", "precision tinyint",
			"scale tinyint null", "current_value sql_variant", "is_exhausted bit",
		}), none},
	}
}

func tableRows(q catalog.SystemQuery, add adder) error {
	for _, t := range userTables(q) {
		last := int32(0)
		for _, c := range t.Columns {
			last = max(last, c.ID)
		}
		durability, desc := 0, "SCHEMA_AND_DATA"
		if t.SchemaOnly {
			durability, desc = 1, "SCHEMA_ONLY"
		}
		if err := add(append(tableObject(q.Database, t).row(),
			0, nil, last, false, true, false, false, false, false, false, 0, false, false, 0, "TABLE", false,
			t.MemoryOptimized, durability, desc, 0, "NON_TEMPORAL_TABLE", nil, false, false)...); err != nil {
			return err
		}
	}
	return nil
}
