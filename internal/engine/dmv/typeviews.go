package dmv

import (
	"fmt"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/types"
)

var typeCols = []string{
	"name sysname", "system_type_id tinyint", "user_type_id int", "schema_id int", "principal_id int null", "max_length smallint",
	"precision tinyint", "scale tinyint", "collation_name sysname null", "is_nullable bit null", "is_user_defined bit", "is_assembly_type bit",
	"default_object_id int", "rule_object_id int", "is_table_type bit",
}

// systemTypes are the built-in types, at their largest.
var systemTypes = []struct {
	name string
	typ  types.Type
	id   int32 // user_type_id when it differs
}{
	{"image", types.Type{Kind: types.KindImage}, 0}, {"text", types.Type{Kind: types.KindText}, 0},
	{"uniqueidentifier", types.UniqueIdentifier, 0}, {"date", types.Date, 0}, {"time", types.Time(7), 0},
	{"datetime2", types.DateTime2(7), 0}, {"datetimeoffset", types.DateTimeOffset(7), 0}, {"tinyint", types.TinyInt, 0},
	{"smallint", types.SmallInt, 0}, {"int", types.Int, 0}, {"smalldatetime", types.SmallDateTime, 0}, {"real", types.Real, 0},
	{"money", types.Money, 0}, {"datetime", types.DateTime, 0}, {"float", types.Float, 0}, {"sql_variant", types.SQLVariant, 0},
	{"ntext", types.Type{Kind: types.KindNText}, 0}, {"bit", types.Bit, 0}, {"decimal", types.Decimal(38, 38), 0},
	{"numeric", types.Decimal(38, 38), 108}, {"smallmoney", types.SmallMoney, 0}, {"bigint", types.BigInt, 0},
	{"varbinary", types.VarBinary(8000), 0}, {"varchar", types.VarChar(8000), 0}, {"binary", types.Binary(8000), 0},
	{"char", types.Char(8000), 0}, {"nvarchar", types.NVarChar(4000), 0}, {"nchar", types.NChar(4000), 0}, {"sysname", types.Sysname, 256},
}

// typeTableName is the name of the hidden table of a table type in sys.objects.
func typeTableName(t *catalog.TableType) string {
	return fmt.Sprintf("TT_%s_%08X", t.Name, uint32(t.Table.ID))
}

func tableTypeRow(db *catalog.Database, t *catalog.TableType) []any {
	return []any{t.Name, 243, t.ID, schemaID(db, t.Schema), nil, -1, 0, 0, nil, false, true, false, 0, 0, true}
}

func typeViews() []def {
	return []def{
		{"sys.types", typeCols, func(q catalog.SystemQuery, add adder) error {
			for _, s := range systemTypes {
				sys, user := systemTypeID(s.typ), int32(systemTypeID(s.typ))
				if s.name == "numeric" {
					sys = 108
				}
				if s.id != 0 {
					user = s.id
				}
				prec, scale := precision(s.typ)
				err := add(s.name, sys, user, 4, nil, s.typ.MaxLength(), prec, scale, collation(&catalog.Column{Type: s.typ}),
					s.name != "sysname", false, false, 0, 0, false)
				if err != nil {
					return err
				}
			}
			for _, a := range q.Database.AliasTypes() {
				prec, scale := precision(a.Type)
				err := add(a.Name, systemTypeID(a.Type), a.ID, schemaID(q.Database, a.Schema), nil, a.Type.MaxLength(), prec, scale,
					collation(&catalog.Column{Type: a.Type}), a.Nullable, true, false, 0, 0, false)
				if err != nil {
					return err
				}
			}
			for _, t := range q.Database.TableTypes() {
				if err := add(tableTypeRow(q.Database, t)...); err != nil {
					return err
				}
			}
			return nil
		}},
		{"sys.table_types", join(typeCols, []string{"type_table_object_id int", "is_memory_optimized bit null"}),
			func(q catalog.SystemQuery, add adder) error {
				for _, t := range q.Database.TableTypes() {
					if err := add(append(tableTypeRow(q.Database, t), t.Table.ID, t.Table.MemoryOptimized)...); err != nil {
						return err
					}
				}
				return nil
			}},
	}
}
