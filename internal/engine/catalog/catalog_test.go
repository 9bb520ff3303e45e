package catalog

import (
	"strings"
	"testing"
	"time"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// server is an instance with one database and a session in it.
type server struct {
	t    testing.TB
	in   *Instance
	db   *Database
	undo *Undo
	temp *TempTables
	tran bool
}

func newServer(t testing.TB, memory bool) *server {
	t.Helper()
	in := NewInstance(Options{ServerName: "TEST", Now: func() time.Time { return time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC) }})
	db, err := in.CreateDatabase("Demo")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, in: in, db: db, temp: &TempTables{}}
	if memory {
		s.must("ALTER DATABASE CURRENT ADD FILEGROUP mem CONTAINS MEMORY_OPTIMIZED_DATA")
		s.must("ALTER DATABASE CURRENT ADD FILE (NAME = 'mem1', FILENAME = 'c:\\mem1') TO FILEGROUP mem")
	}
	return s
}

// run carries out the statements of a batch as exec would.
func (s *server) run(text string) error {
	b, err := tsql.Parse(text)
	if err != nil {
		return err
	}
	for _, st := range b.Statements {
		if _, ok, err := s.in.AlterDatabase(st, s.db); ok {
			if err != nil {
				return err
			}
			continue
		}
		if !Handles(st) {
			s.t.Fatalf("no data definition: %T in %s", st, text)
		}
		if err := s.execute(b, st); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) execute(b *tsql.Batch, st ast.Statement) error {
	tx := s.db.Store.Begin(storage.Snapshot)
	defer tx.Rollback()
	tx.StatementBegin()
	d := &DDL{
		DB: s.db, Batch: b, Undo: s.undo, Temp: s.temp, Tx: tx, UserTran: s.tran, QuotedIdentifier: true, AnsiNulls: true,
		Value: func(e ast.ScalarExpression, t types.Type) (types.Value, error) {
			n, err := integer(e)
			if err != nil {
				return types.Value{}, err
			}
			return types.Assign(types.NewInt(types.KindInt, n), t)
		},
		Computed: func(t *Table, e ast.ScalarExpression) (types.Type, bool, error) { return types.Int, true, nil },
		Fill: func(t *Table, c int, row []types.Value) (types.Value, error) {
			return types.NewInt(types.KindInt, 42), nil
		},
		Describe: func(q *ast.SelectStatement, params []Param) ([]Column, error) {
			return []Column{{Name: "x", Type: types.Int}}, nil
		},
	}
	if err := d.Execute(st); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *server) must(text string) {
	s.t.Helper()
	if err := s.run(text); err != nil {
		s.t.Fatalf("%s\n%v", text, err)
	}
}

func (s *server) fails(text string, number int32) {
	s.t.Helper()
	err := s.run(text)
	if got := sqlerr.Number(err); got != number {
		s.t.Errorf("%s\ngot %v, want error %d", text, err, number)
	}
}

func (s *server) table(name string) *Table {
	s.t.Helper()
	schema, object, ok := strings.Cut(name, ".")
	if !ok {
		schema, object = "dbo", name
	}
	t, found := s.db.Table(schema, object)
	if !found {
		s.t.Fatalf("no table %s", name)
	}
	return t
}

const orderTables = `
CREATE TABLE Sales.SalesOrderHeader_inmem (
	SalesOrderID int IDENTITY NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 10000),
	RevisionNumber tinyint NOT NULL CONSTRAINT DF_Rev DEFAULT (0),
	OrderDate datetime2 NOT NULL,
	ShipDate datetime2 NULL,
	OnlineOrderFlag bit NOT NULL DEFAULT 1,
	PurchaseOrderNumber nvarchar(25) NULL,
	CustomerID int NOT NULL,
	SalesPersonID int NOT NULL DEFAULT (-1),
	SubTotal money NOT NULL DEFAULT ((0)),
	ModifiedDate datetime2 NOT NULL,
	INDEX IX_SalesPersonID HASH (SalesPersonID) WITH (BUCKET_COUNT = 1000),
	INDEX IX_CustomerID HASH (CustomerID) WITH (BUCKET_COUNT = 1000)
) WITH (MEMORY_OPTIMIZED = ON);
CREATE TABLE Sales.SalesOrderDetail_inmem (
	SalesOrderID int NOT NULL,
	SalesOrderDetailID bigint IDENTITY NOT NULL,
	OrderQty smallint NOT NULL CHECK (OrderQty > 0),
	ProductID int NOT NULL,
	CONSTRAINT PK_Detail PRIMARY KEY NONCLUSTERED HASH (SalesOrderID, SalesOrderDetailID) WITH (BUCKET_COUNT = 50000),
	INDEX IX_ProductID NONCLUSTERED (ProductID DESC)
) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY);
CREATE TYPE Sales.SalesOrderDetailType_inmem AS TABLE (
	OrderQty smallint NOT NULL, ProductID int NOT NULL, SpecialOfferID int NOT NULL,
	INDEX IX_ProductID NONCLUSTERED HASH (ProductID) WITH (BUCKET_COUNT = 8),
	INDEX IX_SpecialOfferID NONCLUSTERED HASH (SpecialOfferID) WITH (BUCKET_COUNT = 8)
) WITH (MEMORY_OPTIMIZED = ON);
CREATE TYPE Sales.SalesOrderDetailType_ondisk AS TABLE (
	OrderQty smallint NOT NULL, ProductID int NOT NULL, SpecialOfferID int NOT NULL,
	INDEX IX_ProductID CLUSTERED (ProductID),
	INDEX IX_SpecialOfferID NONCLUSTERED (SpecialOfferID)
);`

func TestOrderTables(t *testing.T) {
	t.Parallel()
	s := newServer(t, true)
	s.must("CREATE SCHEMA Sales")
	s.must(orderTables)
	h := s.table("sales.SALESORDERHEADER_inmem")
	if !h.MemoryOptimized || h.SchemaOnly || h.PrimaryKey != 0 || h.Identity == nil || h.Identity.Column != 0 {
		t.Errorf("header: %+v", h)
	}
	if x := h.Indexes[0]; !x.Hash || x.Buckets != 16384 || x.Clustered || x.ID != 2 || !x.System || !strings.HasPrefix(x.Name, "PK__SalesOrde__") {
		t.Errorf("primary key: %+v", x)
	}
	for col, want := range map[string]string{"RevisionNumber": "((0))", "OnlineOrderFlag": "((1))", "SalesPersonID": "((-1))", "SubTotal": "((0))"} {
		if got := h.Columns[h.Column(col)].Default.Text; got != want {
			t.Errorf("default of %s is %s, want %s", col, got, want)
		}
	}
	d := s.table("Sales.SalesOrderDetail_inmem")
	if !d.SchemaOnly || d.Columns[1].Type != types.BigInt || d.Checks[0].Text != "(OrderQty > 0)" || d.Checks[0].Column != 2 {
		t.Errorf("detail: %+v", d)
	}
	if x := d.Indexes[1]; x.Hash || !x.Desc[0] || x.ID != 3 {
		t.Errorf("index: %+v", x)
	}
	tt, ok := s.db.TableType("Sales", "SalesOrderDetailType_ondisk")
	if !ok || !tt.Table.Indexes[0].Clustered || tt.Table.Indexes[0].ID != 1 || tt.Table.Data != nil {
		t.Errorf("type: %+v", tt)
	}
	if o, ok := s.db.ObjectByID(d.ID); !ok || o != any(d) {
		t.Errorf("object by id: %v", o)
	}
	if _, ok := s.db.Object("Sales", "pk_detail"); !ok {
		t.Error("the constraint is not an object")
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t, true)
	s.must("CREATE TABLE dbo.there (id int NOT NULL PRIMARY KEY, code varchar(10) NOT NULL UNIQUE, n int)")
	s.must("CREATE TABLE dbo.mem (id int NOT NULL PRIMARY KEY NONCLUSTERED) WITH (MEMORY_OPTIMIZED = ON)")
	s.must("CREATE TYPE dbo.tt AS TABLE (a int)")
	for _, c := range []struct {
		name, text string
		number     int32
	}{
		{"table exists", "CREATE TABLE dbo.there (a int)", 2714},
		{"constraint name exists", "CREATE TABLE x (a int CONSTRAINT mem PRIMARY KEY)", 2714},
		{"no schema", "CREATE TABLE nobody.x (a int)", 2760},
		{"duplicate column", "CREATE TABLE x (a int, A int)", 2705},
		{"unknown type", "CREATE TABLE x (a foo)", 2715},
		{"table type as column", "CREATE TABLE x (a dbo.tt)", 350},
		{"two primary keys", "CREATE TABLE x (a int PRIMARY KEY, b int PRIMARY KEY)", 8110},
		{"nullable key", "CREATE TABLE x (a int NULL PRIMARY KEY)", 8111},
		{"key column missing", "CREATE TABLE x (a int, PRIMARY KEY (b))", 1911},
		{"key column twice", "CREATE TABLE x (a int, PRIMARY KEY (a, a))", 1909},
		{"key of max type", "CREATE TABLE x (a varchar(max), INDEX i (a))", 1919},
		{"two clustered", "CREATE TABLE x (a int PRIMARY KEY CLUSTERED, b int UNIQUE CLUSTERED)", 8112},
		{"two identities", "CREATE TABLE x (a int IDENTITY, b int IDENTITY)", 2744},
		{"identity type", "CREATE TABLE x (a varchar(10) IDENTITY)", 2749},
		{"identity null", "CREATE TABLE x (a int NULL IDENTITY)", 8147},
		{"identity default", "CREATE TABLE x (a int IDENTITY DEFAULT 1)", 1754},
		{"index name twice", "CREATE TABLE x (a int, INDEX i (a), INDEX i (a))", 1913},
		{"hash on disk", "CREATE TABLE x (a int, INDEX i HASH (a) WITH (BUCKET_COUNT = 8))", 10797},
		{"foreign key table", "CREATE TABLE x (a int REFERENCES nobody(id))", 1767},
		{"foreign key column", "CREATE TABLE x (a int REFERENCES there(x))", 1770},
		{"foreign key no key", "CREATE TABLE x (a int REFERENCES there(n))", 1776},
		{"foreign key type", "CREATE TABLE x (a bigint REFERENCES there(id))", 1778},
		{"foreign key length", "CREATE TABLE x (a varchar(5) REFERENCES there(code))", 1753},
		{"foreign key to memory", "CREATE TABLE x (a int REFERENCES mem(id))", 10778},
		{"filegroup", "CREATE TABLE x (a int) ON nowhere", 1921},
		{"memory: clustered key", "CREATE TABLE x (a int NOT NULL PRIMARY KEY) WITH (MEMORY_OPTIMIZED = ON)", 12317},
		{"memory: no key", "CREATE TABLE x (a int NOT NULL, INDEX i (a)) WITH (MEMORY_OPTIMIZED = ON)", 41321},
		{"memory: no index", "CREATE TABLE x (a int NOT NULL) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY)", 41327},
		{"memory: identity", "CREATE TABLE x (a int IDENTITY(5,1) PRIMARY KEY NONCLUSTERED) WITH (MEMORY_OPTIMIZED = ON)", 12339},
		{"memory: type", "CREATE TABLE x (a int PRIMARY KEY NONCLUSTERED, b datetimeoffset) WITH (MEMORY_OPTIMIZED = ON)", 10794},
		{"memory: create index", "CREATE INDEX i ON mem (id)", 10794},
		{"memory type: no index", "CREATE TYPE x AS TABLE (a int) WITH (MEMORY_OPTIMIZED = ON)", 41327},
		{"type exists", "CREATE TYPE tt AS TABLE (a int)", 219},
		{"durability on disk", "CREATE TABLE x (a int) WITH (DURABILITY = SCHEMA_ONLY)", 10798},
		{"alter missing", "ALTER TABLE nobody ADD a int", 4902},
		{"second primary key", "ALTER TABLE there ADD CONSTRAINT pk2 PRIMARY KEY (n)", 1779},
		{"drop no constraint", "ALTER TABLE there DROP CONSTRAINT nobody", 3728},
		{"drop no column", "ALTER TABLE there DROP COLUMN nobody", 4924},
		{"drop key column", "ALTER TABLE there DROP COLUMN id", 5074},
		{"drop missing table", "DROP TABLE nobody", 3701},
		{"drop missing procedure", "DROP PROCEDURE nobody", 3701},
		{"drop table as procedure", "DROP PROCEDURE there", 3705},
		{"drop missing type", "DROP TYPE nobody", 218},
		{"drop missing index", "DROP INDEX nobody ON there", 3701},
		{"drop schema in use", "DROP SCHEMA dbo", 15150},
		{"schema exists", "CREATE SCHEMA dbo", 2714},
		{"type parameter not readonly", "CREATE PROCEDURE p @t dbo.tt AS SELECT 1", 352},
		{"scalar readonly", "CREATE PROCEDURE p @t int READONLY AS SELECT 1", 346},
		{"alter missing procedure", "ALTER PROCEDURE nobody AS SELECT 1", 208},
		{"procedure over table", "CREATE PROCEDURE there AS SELECT 1", 2714},
		{"native without atomic", "CREATE PROCEDURE p WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN SELECT 1 END", 10783},
		{"native without language", "CREATE PROCEDURE p WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT) SELECT 1 END", 10784},
		{"native over disk table", "CREATE PROCEDURE p WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english') SELECT id FROM dbo.there END", 10775},
		{"function without return", "CREATE FUNCTION f() RETURNS int AS BEGIN DECLARE @a int END", 455},
		{"compatibility level", "ALTER DATABASE CURRENT SET COMPATIBILITY_LEVEL = 99", 15048},
		{"no database", "ALTER DATABASE nobody SET RECOVERY SIMPLE", 5011},
		{"second memory filegroup", "ALTER DATABASE CURRENT ADD FILEGROUP m2 CONTAINS MEMORY_OPTIMIZED_DATA", 10797},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.t = t
			s.fails(c.text, c.number)
		})
	}
}

func TestMemoryNeedsFilegroup(t *testing.T) {
	t.Parallel()
	s := newServer(t, false)
	s.fails("CREATE TABLE x (a int PRIMARY KEY NONCLUSTERED) WITH (MEMORY_OPTIMIZED = ON)", 41337)
	s.must("ALTER DATABASE CURRENT ADD FILEGROUP mem CONTAINS MEMORY_OPTIMIZED_DATA")
	s.fails("CREATE TABLE x (a int PRIMARY KEY NONCLUSTERED) WITH (MEMORY_OPTIMIZED = ON)", 41337)
	s.must("ALTER DATABASE CURRENT ADD FILE (NAME = m, FILENAME = 'm') TO FILEGROUP mem")
	s.must("CREATE TABLE x (a int PRIMARY KEY NONCLUSTERED) WITH (MEMORY_OPTIMIZED = ON)")
	s.tran = true
	s.fails("DROP TABLE x", 12331)
}
