package dmv

import "gostress/internal/engine/catalog"

// oldViews are the compatibility views that scripts from SQL Server 2000 use.
func oldViews() []def {
	return []def{
		{"sys.sysobjects", []string{
			"name sysname", "id int", "xtype char(2) null", "uid smallint null", "info smallint null", "status int null",
			"base_schema_ver int null", "replinfo int null", "parent_obj int", "crdate datetime",
		}, func(q catalog.SystemQuery, add adder) error {
			for _, o := range objects(q) {
				if err := add(o.name, o.id, o.typ, o.schema, 0, 0, 0, 0, o.parent, o.created); err != nil {
					return err
				}
			}
			return nil
		}},
		{"sys.syscolumns", []string{
			"name sysname null", "id int", "xtype tinyint", "typestat tinyint null", "xusertype smallint null", "length smallint", "colid smallint",
			"isnullable int null",
		}, func(q catalog.SystemQuery, add adder) error {
			for _, t := range withColumns(q) {
				for i := range t.Columns {
					c := &t.Columns[i]
					xtype := systemTypeID(c.Type)
					if err := add(c.Name, t.ID, xtype, 0, userTypeID(c.Type, c.UserType), c.Type.MaxLength(), c.ID, bit(c.Nullable)); err != nil {
						return err
					}
				}
			}
			return nil
		}},
		{"sys.sysdatabases", []string{
			"name sysname", "dbid smallint null", "sid varbinary(85) null", "mode smallint null", "status int null", "status2 int null",
			"crdate datetime", "reserved datetime null", "category int null", "cmptlevel tinyint", "filename nvarchar(260) null", "version smallint null",
		}, func(q catalog.SystemQuery, add adder) error {
			for _, db := range q.Instance.Databases() {
				if err := add(db.Name(), db.ID, saSID, 0, 0, 0, db.Created, nil, 0, db.Options().CompatibilityLevel, db.Files()[0].Path, nil); err != nil {
					return err
				}
			}
			return nil
		}},
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
