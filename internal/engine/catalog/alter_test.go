package catalog

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gostress/internal/engine/storage"
	"gostress/internal/engine/types"
)

// fill inserts rows of ints into a table.
func (s *server) fill(name string, rows ...[]any) {
	s.t.Helper()
	t := s.table(name)
	tx := s.db.Store.Begin(storage.Snapshot)
	defer tx.Rollback()
	tx.StatementBegin()
	for _, r := range rows {
		row := make([]types.Value, len(t.Columns))
		for i, v := range r {
			switch v := v.(type) {
			case int:
				row[i] = types.NewInt(t.Columns[i].Type.Kind, int64(v))
			case string:
				row[i] = types.NewString(t.Columns[i].Type.Kind, v)
			}
		}
		if _, err := t.Data.Insert(tx, row); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		s.t.Fatal(err)
	}
}

// rows returns the rows of a table as text.
func (s *server) rows(name string) []string {
	s.t.Helper()
	t := s.table(name)
	tx := s.db.Store.Begin(storage.Snapshot)
	defer tx.Rollback()
	tx.StatementBegin()
	var list []string
	row := make([]types.Value, len(t.Columns))
	err := t.Data.Scan(tx, func(id storage.RowID) (bool, error) {
		t.Data.Read(id, nil, row)
		var parts []string
		for _, v := range row {
			if v.IsNull() {
				parts = append(parts, "NULL")
			} else {
				parts = append(parts, types.Format(v))
			}
		}
		list = append(list, strings.Join(parts, "|"))
		return true, nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

func TestAlterTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		number     int32 // 0 = carried out
		columns    string
		rows       []string
	}{
		{"add nullable", "ALTER TABLE t ADD c int NULL", 0, "a b c", []string{"1|x|NULL", "2|y|NULL"}},
		{"add with default", "ALTER TABLE t ADD c int NOT NULL DEFAULT 7", 0, "a b c", []string{"1|x|7", "2|y|7"}},
		{"add nullable with default", "ALTER TABLE t ADD c int NULL DEFAULT 7", 0, "a b c", []string{"1|x|NULL", "2|y|NULL"}},
		{"add with values", "ALTER TABLE t ADD c int NULL DEFAULT 7 WITH VALUES", 0, "a b c", []string{"1|x|7", "2|y|7"}},
		{"add identity", "ALTER TABLE t ADD c int IDENTITY(10,5)", 0, "a b c", []string{"1|x|10", "2|y|15"}},
		{"add computed", "ALTER TABLE t ADD c AS a + 1", 0, "a b c", []string{"1|x|42", "2|y|42"}},
		{"add not null", "ALTER TABLE t ADD c int NOT NULL", 4901, "a b", []string{"1|x", "2|y"}},
		{"drop column", "ALTER TABLE t DROP COLUMN b", 0, "a", []string{"1", "2"}},
		{"widen column", "ALTER TABLE t ALTER COLUMN b varchar(50) NOT NULL", 0, "a b", []string{"1|x", "2|y"}},
		{"retype column", "ALTER TABLE t ALTER COLUMN a bigint", 0, "a b", []string{"1|x", "2|y"}},
		{"impossible type", "ALTER TABLE t ALTER COLUMN b int", 245, "a b", []string{"1|x", "2|y"}},
		{"unique over duplicates", "ALTER TABLE d ADD CONSTRAINT u UNIQUE (a)", 1505, "a b", []string{"1|x", "2|y"}},
		{"unique index over duplicates", "CREATE UNIQUE INDEX u ON d (a)", 1505, "a b", []string{"1|x", "2|y"}},
		{"unique", "ALTER TABLE t ADD CONSTRAINT u UNIQUE (a)", 0, "a b", []string{"1|x", "2|y"}},
		{"second clustered", "CREATE CLUSTERED INDEX i ON t (a) CREATE CLUSTERED INDEX j ON t (b)", 1902, "a b", []string{"1|x", "2|y"}},
		{"index made and dropped", "CREATE INDEX i ON t (b) INCLUDE (a) DROP INDEX i ON t", 0, "a b", []string{"1|x", "2|y"}},
		{"filtered index", "CREATE INDEX i ON t (b) WHERE a > 1", 40517, "a b", []string{"1|x", "2|y"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, false)
			s.must("CREATE TABLE t (a int, b varchar(10)) CREATE TABLE d (a int)")
			s.fill("t", []any{1, "x"}, []any{2, "y"})
			s.fill("d", []any{1}, []any{1})
			if c.number == 0 {
				s.must(c.text)
			} else {
				s.fails(c.text, c.number)
			}
			var names []string
			for _, col := range s.table("t").Columns {
				names = append(names, col.Name)
			}
			if got := strings.Join(names, " "); got != c.columns {
				t.Errorf("columns %s, want %s", got, c.columns)
			}
			if diff := cmp.Diff(c.rows, s.rows("t")); diff != "" {
				t.Errorf("rows -want +got\n%s", diff)
			}
		})
	}
}

func TestForeignKeys(t *testing.T) {
	t.Parallel()
	s := newServer(t, false)
	s.must("CREATE TABLE p (x int, id int NOT NULL CONSTRAINT pk PRIMARY KEY)")
	s.must("CREATE TABLE c (id int, p int CONSTRAINT fk REFERENCES p ON DELETE CASCADE, self int REFERENCES p (id))")
	k := s.table("c").ForeignKeys[0]
	if k.RefTable != s.table("p").ID || k.RefColumns[0] != 1 || k.OnDelete != Cascade || k.RefIndex != 0 {
		t.Errorf("%+v", k)
	}
	if got := len(s.db.References(s.table("p").ID)); got != 2 {
		t.Errorf("%d references", got)
	}
	s.fails("DROP TABLE p", 3726)
	s.fails("ALTER TABLE p DROP CONSTRAINT pk", 3725)
	s.must("ALTER TABLE c NOCHECK CONSTRAINT fk")
	if k := s.table("c").ForeignKeys[0]; !k.Disabled || !k.NotTrusted {
		t.Errorf("%+v", k)
	}
	s.must("DROP TABLE c DROP TABLE p")
	s.must("CREATE TABLE tree (id int PRIMARY KEY, parent int REFERENCES tree (id)) DROP TABLE tree")
}

func TestUndo(t *testing.T) {
	t.Parallel()
	s := newServer(t, false)
	s.must("CREATE TABLE keep (a int, b varchar(10))")
	s.fill("keep", []any{1, "x"})
	version := s.db.Version()
	s.undo, s.tran = &Undo{}, true
	s.must("CREATE TABLE made (a int)")
	mark := s.undo.Mark()
	s.must("ALTER TABLE keep ADD c int DEFAULT 3 WITH VALUES")
	s.must("CREATE INDEX ix ON keep (a)")
	s.must("CREATE TABLE #t (a int)")
	s.undo.RollbackTo(mark)
	if _, ok := s.db.Table("dbo", "made"); !ok {
		t.Error("what was made before the savepoint is gone")
	}
	s.must("DROP TABLE keep")
	s.undo.RollbackTo(0)
	if _, ok := s.db.Table("dbo", "made"); ok {
		t.Error("the made table is there after the rollback")
	}
	if _, ok := s.temp.Table("#t"); ok {
		t.Error("the temporary table is there after the rollback")
	}
	if diff := cmp.Diff([]string{"1|x"}, s.rows("keep")); diff != "" || len(s.table("keep").Indexes) != 0 {
		t.Error(diff, s.table("keep").Indexes)
	}
	if s.db.Version() == version {
		t.Error("the version did not change")
	}
	s.must("DROP TABLE keep")
	if got := s.undo.Commit(); len(got) != 1 {
		t.Errorf("%d tables to close", len(got))
	}
}

func TestTempTables(t *testing.T) {
	t.Parallel()
	s := newServer(t, false)
	s.must("CREATE TABLE #a (x int IDENTITY PRIMARY KEY, y int NULL)")
	s.fails("CREATE TABLE #A (x int)", 2714)
	s.temp.Enter()
	s.must("CREATE TABLE #a (z int) CREATE TABLE #b (z int) CREATE INDEX i ON #b (z)")
	if a, _ := s.temp.Table("#A"); a == nil || a.Columns[0].Name != "z" || a.ID >= 0 {
		t.Errorf("inner table: %+v", a)
	}
	if b, _ := s.temp.Table("#b"); len(b.Indexes) != 1 {
		t.Errorf("index: %+v", b)
	}
	s.temp.Leave()
	if a, _ := s.temp.Table("#a"); a == nil || a.Columns[0].Name != "x" {
		t.Errorf("outer table: %+v", a)
	}
	if _, ok := s.temp.Table("#b"); ok {
		t.Error("a procedure's table outlives it")
	}
	s.must("ALTER TABLE #a ADD c int; DROP TABLE #a; DROP TABLE IF EXISTS #a")
	s.fails("DROP TABLE #a", 3701)
	if !s.temp.Empty() {
		t.Error("not empty")
	}
}

func TestModules(t *testing.T) {
	t.Parallel()
	s := newServer(t, true)
	s.must("CREATE SCHEMA Sales")
	s.must(orderTables)
	s.must("-- about\nCREATE PROCEDURE Sales.p @id int OUTPUT, @t Sales.SalesOrderDetailType_inmem READONLY, @n nvarchar(25) = N'x'\nWITH NATIVE_COMPILATION, SCHEMABINDING AS\nBEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')\nSELECT @id = COUNT(*) FROM Sales.SalesOrderHeader_inmem\nEND")
	p, ok := s.db.Procedure("sales", "P")
	if !ok || !p.Native || !p.SchemaBound || p.Atomic == nil || len(p.Params) != 3 || !p.Params[0].Output || p.Params[1].TableType == nil || p.Params[2].Default == nil {
		t.Fatalf("%+v", p)
	}
	s.fails("DROP TABLE Sales.SalesOrderHeader_inmem", 3729)
	s.fails("DROP TYPE Sales.SalesOrderDetailType_inmem", 3732)
	s.fails("DROP SCHEMA Sales", 3729)
	s.fails("CREATE PROCEDURE Sales.p AS SELECT 1", 2714)
	id := p.ID
	s.must("DROP PROCEDURE Sales.p DROP TABLE Sales.SalesOrderHeader_inmem")
	s.must("CREATE OR ALTER PROCEDURE Sales.p AS SELECT 1")
	p, _ = s.db.Procedure("Sales", "p")
	if p.ID == id || !strings.HasPrefix(p.Text, "CREATE          PROCEDURE") {
		t.Errorf("%d, %q", p.ID, p.Text)
	}
	id = p.ID
	s.must("ALTER PROCEDURE Sales.p AS SELECT 2")
	p, _ = s.db.Procedure("Sales", "p")
	if p.ID != id || p.Text != "CREATE PROCEDURE Sales.p AS SELECT 2" {
		t.Errorf("%d, %q", p.ID, p.Text)
	}
	s.must("CREATE VIEW dbo.v (y) AS SELECT 1 AS x")
	if v := s.table("v"); v.View == nil || v.Columns[0].Name != "y" || v.View.FullName() != "dbo.v" {
		t.Errorf("%+v", v)
	}
	s.fails("CREATE VIEW dbo.w (a, b) AS SELECT 1 AS x", 8159)
	s.fails("DROP TABLE v", 3705)
	s.must("CREATE FUNCTION dbo.f (@a int) RETURNS TABLE AS RETURN (SELECT @a AS x)")
	if f, ok := s.db.Function("dbo", "f"); !ok || f.Kind != InlineFunction || len(f.Table.Columns) != 1 {
		t.Errorf("%+v", f)
	}
}

func TestProperties(t *testing.T) {
	t.Parallel()
	s := newServer(t, false)
	s.must("CREATE TABLE t (a int)")
	v := types.NewString(types.KindNVarChar, "1")
	target, err := s.db.PropertyTarget("", "", "", "", "", "")
	if err != nil || target.Class != PropertyDatabase {
		t.Fatal(target, err)
	}
	if err := s.db.AddProperty(nil, target, "gostress.workload", v); err != nil {
		t.Fatal(err)
	}
	if err := s.db.AddProperty(nil, target, "GOSTRESS.workload", v); err == nil {
		t.Error("added twice")
	}
	column, err := s.db.PropertyTarget("schema", "dbo", "table", "t", "column", "A")
	if err != nil || column.MinorID != 1 {
		t.Fatal(column, err)
	}
	if err := s.db.AddProperty(nil, column, "note", v); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.PropertyTarget("schema", "dbo", "view", "t", "", ""); err == nil {
		t.Error("a table is no view")
	}
	s.must("DROP TABLE t")
	if got := len(s.db.ExtendedProperties()); got != 1 {
		t.Errorf("%d properties after the table went", got)
	}
	if err := s.db.DropProperty(nil, target, "gostress.workload"); err != nil {
		t.Error(err)
	}
	if err := s.db.DropProperty(nil, target, "gostress.workload"); err == nil {
		t.Error("dropped twice")
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	id := NewIdentity(0, 5, 3)
	if _, ok := id.Last(); ok {
		t.Error("a last value before the first")
	}
	if a, b := id.Next(), id.Next(); a != 5 || b != 8 {
		t.Error(a, b)
	}
	id.Explicit(20)
	id.Explicit(1)
	if got := id.Next(); got != 23 {
		t.Error(got)
	}
	id.Reseed(100)
	if got := id.Next(); got != 103 {
		t.Error(got)
	}
	id.Reset()
	id.Reseed(50)
	if got := id.Next(); got != 50 {
		t.Error(got)
	}
}

func TestDatabases(t *testing.T) {
	t.Parallel()
	s := newServer(t, false)
	if _, err := s.in.CreateDatabase("DEMO"); err == nil {
		t.Error("made twice")
	}
	s.must("ALTER DATABASE Demo SET RECOVERY SIMPLE, DELAYED_DURABILITY = FORCED; ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON; ALTER DATABASE Demo MODIFY NAME = Other")
	o := s.db.Options()
	if o.Recovery != "SIMPLE" || o.DelayedDurability != "FORCED" || !o.SnapshotIsolation || s.db.Name() != "Other" {
		t.Errorf("%+v", o)
	}
	if _, ok := s.in.Database("demo"); ok {
		t.Error("found by the old name")
	}
	if err := s.in.DropDatabase("master"); err == nil {
		t.Error("master is gone")
	}
	if err := s.in.DropDatabase("other"); err != nil || !s.db.Dropped() {
		t.Error(err)
	}
}

func TestConcurrentLookups(t *testing.T) {
	t.Parallel()
	s := newServer(t, false)
	s.must("CREATE TABLE t (a int)")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if tab, ok := s.db.Table("dbo", "T"); !ok || tab.Name != "t" {
					t.Error("lost")
					return
				}
				s.db.Tables()
				s.db.Version()
			}
		})
	}
	for range 100 {
		s.must("CREATE TABLE u (a int) CREATE INDEX i ON t (a) DROP INDEX i ON t DROP TABLE u")
	}
	close(stop)
	wg.Wait()
}
