package dmv

import (
	"crypto/sha256"

	"gostress/internal/engine/catalog"
)

func principalViews() []def {
	return []def{
		{"sys.schemas", []string{"name sysname", "schema_id int", "principal_id int null"}, func(q catalog.SystemQuery, add adder) error {
			for _, s := range q.Database.Schemas() {
				owner := int32(1)
				if s.ID < 5 {
					owner = s.ID
				}
				if err := add(s.Name, s.ID, owner); err != nil {
					return err
				}
			}
			return nil
		}},
		{"sys.server_principals", []string{
			"name sysname", "principal_id int", "sid varbinary(85) null", "type char(1)", "type_desc nvarchar(60) null", "is_disabled bit null",
			"create_date datetime", "modify_date datetime", "default_database_name sysname null", "default_language_name sysname null",
			"credential_id int null", "owning_principal_id int null", "is_fixed_role bit",
		}, serverPrincipals},
		{"sys.database_principals", []string{
			"name sysname", "principal_id int", "type char(1)", "type_desc nvarchar(60) null", "default_schema_name sysname null",
			"create_date datetime", "modify_date datetime", "owning_principal_id int null", "sid varbinary(85) null", "is_fixed_role bit",
			"authentication_type int", "authentication_type_desc nvarchar(60) null",
		}, databasePrincipals},
	}
}

func serverPrincipals(q catalog.SystemQuery, add adder) error {
	for _, l := range q.Instance.Logins() {
		sid := saSID
		if l.ID != 1 {
			h := sha256.Sum256([]byte(l.Name))
			sid = h[:16]
		}
		if err := add(l.Name, l.ID, sid, "S", "SQL_LOGIN", false, l.Created, l.Created, "master", "us_english", nil, nil, false); err != nil {
			return err
		}
	}
	start := q.Instance.Started()
	for i, r := range []string{"public", "sysadmin"} {
		if err := add(r, i+2, []byte{byte(i + 2)}, "R", "SERVER_ROLE", false, start, start, nil, nil, nil, 1, i > 0); err != nil {
			return err
		}
	}
	return nil
}

func databasePrincipals(q catalog.SystemQuery, add adder) error {
	start := q.Database.Created
	for _, p := range []struct {
		name, typ, desc string
		id              int
		schema, owner   any
		sid             any
		auth            int
		authDesc        string
	}{
		{"public", "R", "DATABASE_ROLE", 0, nil, 1, []byte{1, 5, 0, 0, 0, 0, 0, 9, 4, 0, 0, 0}, 0, "NONE"},
		{"dbo", "S", "SQL_USER", 1, "dbo", nil, saSID, 1, "INSTANCE"},
		{"guest", "S", "SQL_USER", 2, "guest", nil, []byte{0}, 0, "NONE"},
		{"INFORMATION_SCHEMA", "S", "SQL_USER", 3, nil, nil, nil, 0, "NONE"},
		{"sys", "S", "SQL_USER", 4, nil, nil, nil, 0, "NONE"},
		{"db_owner", "R", "DATABASE_ROLE", 16384, nil, 1, []byte{1, 5, 0, 0, 0, 0, 0, 9, 4, 0, 64, 0}, 0, "NONE"},
	} {
		if err := add(p.name, p.id, p.typ, p.desc, p.schema, start, start, p.owner, p.sid, p.id == 16384, p.auth, p.authDesc); err != nil {
			return err
		}
	}
	return nil
}
