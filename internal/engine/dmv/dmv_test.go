package dmv

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

type fakeLive []Session

func (f fakeLive) Sessions() []Session { return f }

// waiting is a session whose request waits.
func waiting(id int, command, kind string, blocking int, since time.Time) Session {
	r := &Request{Start: since, Command: command}
	r.Suspend(kind, blocking, since)
	return Session{ID: id, Login: "sa", Status: "running", Isolation: 2, LoginTime: since, LastStart: since, Request: r}
}

// sample is an instance with a database that has one of everything.
func sample(t testing.TB) (*catalog.Instance, *catalog.Database) {
	t.Helper()
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	in := catalog.NewInstance(catalog.Options{ServerName: "TEST", Now: func() time.Time { return now }})
	db, err := in.CreateDatabase("Demo")
	if err != nil {
		t.Fatal(err)
	}
	Install(in, fakeLive{{
		ID: 51, Login: "sa", Program: "test", Database: db.ID, LoginTime: now, LastStart: now, Status: "running", Isolation: 2,
		Request: &Request{Start: now, Status: "running", Command: "SELECT"},
	}, waiting(52, "UPDATE", "LCK_M_X", 51, now), waiting(53, "WAITFOR", "WAITFOR", 0, now)})
	for _, text := range []string{
		"ALTER DATABASE CURRENT ADD FILEGROUP mem CONTAINS MEMORY_OPTIMIZED_DATA",
		"ALTER DATABASE CURRENT ADD FILE (NAME = 'mem1', FILENAME = '/data/mem1') TO FILEGROUP mem",
		"CREATE SCHEMA Sales",
		"CREATE TYPE dbo.Flag FROM bit NOT NULL",
		`CREATE TABLE Sales.Orders (id int IDENTITY(1,1) CONSTRAINT PK_Orders PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 100),
			note nvarchar(25) NULL, qty smallint NOT NULL CONSTRAINT DF_qty DEFAULT (1), INDEX ix NONCLUSTERED (qty DESC)) WITH (MEMORY_OPTIMIZED = ON)`,
		`CREATE TABLE dbo.Parent (id int NOT NULL CONSTRAINT PK_Parent PRIMARY KEY, code varchar(10) CONSTRAINT UQ_code UNIQUE)`,
		`CREATE TABLE dbo.Child (id bigint NOT NULL, parent int NOT NULL CONSTRAINT FK_parent REFERENCES dbo.Parent (id) ON DELETE CASCADE,
			price money CONSTRAINT CK_price CHECK (price > 0), flag dbo.Flag, total AS price * 2, at datetime2(3), INDEX ix CLUSTERED (id) )`,
		"CREATE TYPE Sales.Lines AS TABLE (qty smallint NOT NULL, INDEX ix HASH (qty) WITH (BUCKET_COUNT = 8)) WITH (MEMORY_OPTIMIZED = ON)",
		"CREATE PROCEDURE Sales.p @id int OUTPUT, @lines Sales.Lines READONLY AS SELECT 1",
		"CREATE FUNCTION dbo.f (@a decimal(9,2)) RETURNS varchar(20) AS BEGIN RETURN 'x' END",
		"CREATE VIEW dbo.v AS SELECT 1 AS x",
	} {
		b, err := tsql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		st := b.Statements[0]
		if _, ok, err := in.AlterDatabase(st, db); ok {
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		d := &catalog.DDL{DB: db, Batch: b,
			Computed: func(*catalog.Table, ast.ScalarExpression) (types.Type, bool, error) { return types.Money, true, nil },
			Describe: func(*ast.SelectStatement, []catalog.Param) ([]catalog.Column, error) {
				return []catalog.Column{{Name: "x", Type: types.Int}}, nil
			},
		}
		if err := d.Execute(st); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	target, err := db.PropertyTarget("SCHEMA", "Sales", "TABLE", "Orders", "COLUMN", "note")
	if err != nil {
		t.Fatal(err)
	}
	if err := db.AddProperty(nil, target, "MS_Description", types.NewString(types.KindNVarChar, "a note")); err != nil {
		t.Fatal(err)
	}
	return in, db
}

// rows returns the wanted columns of a view's rows, as text.
func rows(t *testing.T, in *catalog.Instance, db *catalog.Database, view string, cols ...string) [][]string {
	t.Helper()
	schema, name, _ := strings.Cut(view, ".")
	v, ok := db.Table(schema, name)
	if !ok {
		t.Fatalf("no view %s", view)
	}
	var list [][]string
	err := v.System(catalog.SystemQuery{Instance: in, Database: db}, func(row []types.Value) error {
		var r []string
		for _, c := range cols {
			i := v.Column(c)
			if i < 0 {
				t.Fatalf("%s has no column %s", view, c)
			}
			if row[i].IsNull() {
				r = append(r, "NULL")
			} else {
				r = append(r, types.Format(row[i]))
			}
		}
		list = append(list, r)
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", view, err)
	}
	return list
}

func TestEveryView(t *testing.T) {
	t.Parallel()
	in, db := sample(t)
	master, _ := in.DatabaseByID(catalog.MasterID)
	for _, v := range in.SystemViews() {
		t.Run(v.FullName(), func(t *testing.T) {
			for _, d := range []*catalog.Database{db, master} {
				err := v.System(catalog.SystemQuery{Instance: in, Database: d}, func(row []types.Value) error {
					for i, val := range row {
						c := v.Columns[i]
						switch {
						case val.IsNull() && !c.Nullable:
							t.Errorf("%s is NULL", c.Name)
						case val.IsNull(), c.Type.Kind == types.KindSQLVariant:
						case val.Kind() != c.Type.Kind:
							t.Errorf("%s holds a %v, not a %v", c.Name, val.Kind(), c.Type)
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	in, db := sample(t)
	for _, c := range []struct {
		view string
		cols []string
		want [][]string
	}{
		{"sys.tables", []string{"name", "is_memory_optimized", "durability_desc"}, [][]string{
			{"Orders", "1", "SCHEMA_AND_DATA"}, {"Parent", "0", "SCHEMA_AND_DATA"}, {"Child", "0", "SCHEMA_AND_DATA"}}},
		{"sys.filegroups", []string{"name", "data_space_id", "type", "type_desc"}, [][]string{
			{"PRIMARY", "1", "FG", "ROWS_FILEGROUP"}, {"mem", "2", "FX", "MEMORY_OPTIMIZED_DATA_FILEGROUP"}}},
		{"sys.database_files", []string{"file_id", "name", "type_desc", "data_space_id"}, [][]string{
			{"1", "Demo", "ROWS", "1"}, {"2", "Demo_log", "LOG", "0"}, {"3", "mem1", "FILESTREAM", "2"}}},
		{"sys.hash_indexes", []string{"name", "bucket_count", "is_primary_key"}, [][]string{{"PK_Orders", "128", "1"}, {"ix", "8", "0"}}},
		{"sys.table_types", []string{"name", "is_memory_optimized", "is_user_defined"}, [][]string{{"Lines", "1", "1"}}},
		{"sys.parameters", []string{"name", "parameter_id", "is_output", "is_readonly", "max_length"}, [][]string{
			{"@id", "1", "1", "0", "4"}, {"@lines", "2", "0", "1", "-1"}, {"", "0", "1", "0", "20"}, {"@a", "1", "0", "0", "5"}}},
		{"sys.foreign_keys", []string{"name", "delete_referential_action_desc", "is_not_trusted"}, [][]string{{"FK_parent", "CASCADE", "0"}}},
		{"sys.check_constraints", []string{"name", "definition"}, [][]string{{"CK_price", "(price > 0)"}}},
		{"sys.default_constraints", []string{"name", "definition"}, [][]string{{"DF_qty", "((1))"}}},
		{"sys.identity_columns", []string{"name", "seed_value", "last_value"}, [][]string{{"id", "1", "NULL"}}},
		{"sys.computed_columns", []string{"name", "definition"}, [][]string{{"total", "(price * 2)"}}},
		{"sys.extended_properties", []string{"class_desc", "minor_id", "name", "value"}, [][]string{{"OBJECT_OR_COLUMN", "2", "MS_Description", "a note"}}},
		{"sys.dm_os_memory_clerks", []string{"type", "name"}, [][]string{
			{"MEMORYCLERK_XTP", "DB_ID_5"}, {"MEMORYCLERK_XTP", "Default"}, {"MEMORYCLERK_SQLBUFFERPOOL", "Default"}}},
		{"sys.dm_db_log_space_usage", []string{"database_id", "total_log_size_in_bytes", "used_log_space_in_percent"}, [][]string{{"5", "0", "0"}}},
		{"sys.dm_hadr_database_replica_states", []string{"log_send_queue_size"}, nil},
		{"sys.dm_os_waiting_tasks", []string{"session_id", "wait_type", "blocking_session_id"}, [][]string{{"52", "LCK_M_X", "51"}, {"53", "WAITFOR", "NULL"}}},
		{"sys.dm_exec_requests", []string{"session_id", "command"}, [][]string{{"51", "SELECT"}, {"52", "UPDATE"}, {"53", "WAITFOR"}}},
		{"INFORMATION_SCHEMA.TABLES", []string{"TABLE_SCHEMA", "TABLE_NAME", "TABLE_TYPE"}, [][]string{
			{"Sales", "Orders", "BASE TABLE"}, {"dbo", "Parent", "BASE TABLE"}, {"dbo", "Child", "BASE TABLE"}, {"dbo", "v", "VIEW"}}},
		{"sys.databases", []string{"name", "database_id", "recovery_model_desc"}, [][]string{
			{"master", "1", "SIMPLE"}, {"tempdb", "2", "SIMPLE"}, {"model", "3", "FULL"}, {"msdb", "4", "SIMPLE"}, {"Demo", "5", "FULL"}}},
	} {
		t.Run(c.view, func(t *testing.T) {
			if diff := cmp.Diff(c.want, rows(t, in, db, c.view, c.cols...)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	if got := len(rows(t, in, db, "sys.dm_db_xtp_table_memory_stats", "object_id")); got != 1 {
		t.Errorf("%d tables in memory", got)
	}
}
