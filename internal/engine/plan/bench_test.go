package plan

import (
	"testing"

	"gostress/internal/engine/storage"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

const orderSchema = `
CREATE TABLE dbo.header (
 id int IDENTITY NOT NULL PRIMARY KEY NONCLUSTERED, rev tinyint NOT NULL DEFAULT 0, orderdate datetime2 NOT NULL, duedate datetime2 NOT NULL,
 shipdate datetime2 NULL, status tinyint NOT NULL DEFAULT 1, online bit NOT NULL DEFAULT 1, po nvarchar(25) NULL, account nvarchar(15) NULL,
 customer int NOT NULL, person int NOT NULL DEFAULT -1, territory int NULL, billto int NOT NULL, shipto int NOT NULL, method int NOT NULL,
 card int NULL, approval varchar(15) NULL, rate int NULL, subtotal money NOT NULL DEFAULT 0, tax money NOT NULL DEFAULT 0, freight money NOT NULL DEFAULT 0,
 comment nvarchar(128) NULL, modified datetime2 NOT NULL)
CREATE INDEX ix_h1 ON dbo.header (customer)
CREATE TABLE dbo.detail (
 orderid int NOT NULL, id bigint IDENTITY NOT NULL, tracking nvarchar(25) NULL, qty smallint NOT NULL, product int NOT NULL, offer int NOT NULL,
 price money NOT NULL, discount money NOT NULL DEFAULT 0, modified datetime2 NOT NULL, PRIMARY KEY NONCLUSTERED (orderid, id))
CREATE TABLE dbo.product (id int NOT NULL PRIMARY KEY NONCLUSTERED, name nvarchar(50) NOT NULL, listprice money NOT NULL)
CREATE TABLE dbo.offer (id int NOT NULL PRIMARY KEY NONCLUSTERED, pct smallmoney NOT NULL)
`

const orderBatch = `
DECLARE @od TABLE (qty smallint NOT NULL, product int NOT NULL, offer int NOT NULL)
DECLARE @id int, @due datetime2 = SYSDATETIME(), @now datetime2 = SYSDATETIME(), @customer int = 7, @bill int = 8, @ship int = 9, @method int = 1,
 @status tinyint = 1, @online bit = 1, @po nvarchar(25), @account nvarchar(15), @person int = -1, @territory int, @card int, @approval varchar(15), @rate int, @comment nvarchar(128), @subtotal money = 0
`

const orderStatements = `
SELECT @subtotal = ISNULL(SUM(ROUND(od.qty * p.listprice * (1 - so.pct), 4)), 0) FROM @od od JOIN dbo.offer so ON od.offer = so.id JOIN dbo.product p ON od.product = p.id
INSERT dbo.header (rev, orderdate, duedate, status, online, po, account, customer, person, territory, billto, shipto, method, card, approval, rate, subtotal, tax, freight, comment, modified)
 VALUES (0, @now, @due, @status, @online, @po, @account, @customer, @person, @territory, @bill, @ship, @method, @card, @approval, @rate, @subtotal, 0, 0, @comment, @now)
INSERT dbo.detail (orderid, qty, product, offer, price, discount, modified)
 SELECT @id, od.qty, od.product, od.offer, p.listprice, p.listprice * so.pct, @now FROM @od od JOIN dbo.offer so ON od.offer = so.id JOIN dbo.product p ON od.product = p.id
`

// hashed turns every index of a table into a hash index of a memory-optimized
// table, as the order procedure meets it.
func (l *lab) hashed(t testing.TB, name string) {
	tab, ok := l.db.Table("dbo", name)
	if !ok {
		t.Fatal(name)
	}
	def := tab.Def
	def.Kind = storage.Memory
	def.Indexes = append([]storage.IndexDef(nil), def.Indexes...)
	for i := range def.Indexes {
		def.Indexes[i].Kind, def.Indexes[i].Buckets = storage.Hash, 1<<22
		tab.Indexes[i].Hash = true
	}
	tab.Data = l.db.Store.NewTable(def)
}

// BenchmarkOrder is the order procedure's three statements over five lines.
func BenchmarkOrder(b *testing.B) {
	l := newLab(b)
	l.must(b, orderSchema)
	for _, n := range []string{"header", "detail", "product", "offer"} {
		l.hashed(b, n)
	}
	l.must(b, "INSERT product SELECT value, N'p', value FROM GENERATE_SERIES(1, 500) INSERT offer SELECT value, 0.05 FROM GENERATE_SERIES(1, 16)")
	s := l.script()
	if err := s.run(orderBatch + "INSERT @od VALUES (1, 5, 1), (2, 17, 2), (3, 300, 3), (1, 400, 4), (2, 77, 5)"); err != nil {
		b.Fatal(err)
	}
	s.f.Vars[0] = types.NewInt(types.KindInt, 1)
	batch, err := tsql.Parse(orderStatements)
	if err != nil {
		b.Fatal(err)
	}
	var runs []runFunc
	for _, st := range batch.Statements {
		run, _, err := s.compile(st)
		if err != nil {
			b.Fatal(err)
		}
		runs = append(runs, run)
	}
	s.size()
	emit := func([]types.Value) error { return nil }
	each := func(b *testing.B, runs []runFunc) {
		b.ReportAllocs()
		for b.Loop() {
			tx := l.db.Store.Begin(storage.Snapshot)
			s.f.Tx = tx
			for _, run := range runs {
				s.f.BeginStatement()
				tx.StatementBegin()
				if _, err := run(s.f, emit); err != nil {
					b.Fatal(err)
				}
			}
			if err := tx.Commit(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("all", func(b *testing.B) { each(b, runs) })
	b.Run("subtotal", func(b *testing.B) { each(b, runs[:1]) })
	b.Run("header", func(b *testing.B) { each(b, runs[1:2]) })
	b.Run("detail", func(b *testing.B) { each(b, runs[2:]) })
	b.Run("transaction", func(b *testing.B) { each(b, nil) })
}
