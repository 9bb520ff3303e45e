package exec

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"gostress/internal/engine/types"
)

// orderSchema is an order workload in small: a natively compiled procedure that
// takes an order's lines as a table-valued parameter.
var orderSchema = []string{
	`CREATE SCHEMA shop`,
	`CREATE TABLE shop.product (id int NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 1024), price money NOT NULL) WITH (MEMORY_OPTIMIZED = ON)`,
	`CREATE TABLE shop.offer (id int NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 64), pct smallmoney NOT NULL) WITH (MEMORY_OPTIMIZED = ON)`,
	`CREATE TABLE shop.head (
		id int IDENTITY(1,1) NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 1048576),
		rev tinyint NOT NULL DEFAULT (0), made datetime2 NOT NULL, due datetime2 NOT NULL, shipped datetime2 NULL,
		status tinyint NOT NULL DEFAULT (1), online bit NOT NULL DEFAULT (1), po nvarchar(25) NULL, account nvarchar(15) NULL,
		customer int NOT NULL INDEX ixc HASH WITH (BUCKET_COUNT = 8192), person int NOT NULL DEFAULT (-1) INDEX ixp HASH WITH (BUCKET_COUNT = 8192),
		territory int NULL, billto int NOT NULL, shipto int NOT NULL, method int NOT NULL, card int NULL, approval varchar(15) NULL,
		rate int NULL, subtotal money NOT NULL DEFAULT (0), tax money NOT NULL DEFAULT (0), freight money NOT NULL DEFAULT (0),
		comment nvarchar(128) NULL, modified datetime2 NOT NULL) WITH (MEMORY_OPTIMIZED = ON)`,
	`CREATE TABLE shop.line (
		head int NOT NULL INDEX ixh HASH WITH (BUCKET_COUNT = 1048576), id bigint IDENTITY(1,1) NOT NULL, tracking nvarchar(25) NULL,
		qty smallint NOT NULL, product int NOT NULL INDEX ixp HASH WITH (BUCKET_COUNT = 8192), offer int NOT NULL,
		price money NOT NULL, discount money NOT NULL DEFAULT (0), modified datetime2 NOT NULL,
		PRIMARY KEY NONCLUSTERED HASH (head, id) WITH (BUCKET_COUNT = 1048576)) WITH (MEMORY_OPTIMIZED = ON)`,
	`CREATE TYPE shop.lines AS TABLE (qty smallint NOT NULL, product int NOT NULL, offer int NOT NULL,
		INDEX a NONCLUSTERED HASH (product) WITH (BUCKET_COUNT = 8), INDEX b NONCLUSTERED HASH (offer) WITH (BUCKET_COUNT = 8)) WITH (MEMORY_OPTIMIZED = ON)`,
	`CREATE TABLE shop.seed (qty smallint NOT NULL, product int NOT NULL, offer int NOT NULL,
		ord int NOT NULL INDEX ix HASH WITH (BUCKET_COUNT = 256), n int NOT NULL,
		PRIMARY KEY NONCLUSTERED (ord, n)) WITH (MEMORY_OPTIMIZED = ON)`,
	`DECLARE @i int = 1 WHILE @i <= 500 BEGIN INSERT shop.product VALUES (@i, @i * 1.25) SET @i += 1 END`,
	`DECLARE @i int = 1 WHILE @i <= 16 BEGIN INSERT shop.offer VALUES (@i, @i * 0.01) SET @i += 1 END`,
	`DECLARE @i int = 0 WHILE @i < 530 BEGIN INSERT shop.seed VALUES (@i % 7 + 1, @i % 500 + 1, @i % 16 + 1, @i / 5 + 1, @i % 5) SET @i += 1 END`,
	`CREATE PROCEDURE shop.neworder
		@id int OUTPUT, @due datetime2(7) NOT NULL, @customer int NOT NULL, @billto int NOT NULL, @shipto int NOT NULL, @method int NOT NULL,
		@lines shop.lines READONLY, @status tinyint NOT NULL = 1, @online bit NOT NULL = 1, @po nvarchar(25) = NULL, @account nvarchar(15) = NULL,
		@person int NOT NULL = -1, @territory int = NULL, @card int = NULL, @approval varchar(15) = NULL, @rate int = NULL, @comment nvarchar(128) = NULL
	WITH NATIVE_COMPILATION, SCHEMABINDING AS
	BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
		DECLARE @now datetime2(7) NOT NULL = SYSDATETIME();
		DECLARE @sum money NOT NULL = 0;
		SELECT @sum = ISNULL(SUM(ROUND(l.qty * p.price * (1 - o.pct), 4)), 0)
		FROM @lines AS l INNER JOIN shop.offer AS o ON o.id = l.offer INNER JOIN shop.product AS p ON p.id = l.product;
		INSERT INTO shop.head (rev, made, due, shipped, status, online, po, account, customer, person, territory, billto, shipto, method,
			card, approval, rate, subtotal, tax, freight, comment, modified)
		VALUES (1, @now, @due, NULL, @status, @online, @po, @account, @customer, @person, @territory, @billto, @shipto, @method,
			@card, @approval, @rate, @sum, 0, 0, @comment, @now);
		SET @id = SCOPE_IDENTITY();
		INSERT INTO shop.line (head, tracking, qty, product, offer, price, discount, modified)
		SELECT @id, NULL, l.qty, l.product, l.offer, p.price, o.pct, @now
		FROM @lines AS l INNER JOIN shop.offer AS o ON o.id = l.offer INNER JOIN shop.product AS p ON p.id = l.product;
	END`,
}

const orderBatch = `DECLARE @i int = 0, @od shop.lines, @id int, @due datetime2 = sysdatetime(), @customer int = rand() * 8000,
	@billto int = rand() * 10000, @shipto int = rand() * 10000, @method int = (rand() * 5) + 1;
INSERT INTO @od SELECT qty, product, offer FROM shop.seed WHERE ord = cast((rand()*106) + 1 as int);
while (@i < 20) begin;
	EXEC shop.neworder @id OUTPUT, @due, @customer, @billto, @shipto, @method, @od;
	set @i += 1
end`

func orderDB(t testing.TB) (*Engine, *Session) {
	t.Helper()
	e, s := testDB(t)
	run(t, s, orderSchema...)
	return e, s
}

func TestOrderBatch(t *testing.T) {
	t.Parallel()
	_, s := orderDB(t)
	got := batch(t, s, orderBatch)
	want := "done INSERT 5 more\n" + strings.Repeat("status 0\ndoneproc EXECUTE more\n", 20)
	want = strings.TrimSuffix(want, " more\n") + "\n"
	if got != want {
		t.Errorf("tokens:\n%s\nwant:\n%s", got, want)
	}
	check := batch(t, s, `SELECT COUNT(*), MIN(id), MAX(id) FROM shop.head
SELECT COUNT(*), COUNT(DISTINCT head) FROM shop.line
SELECT COUNT(*) FROM shop.head AS h WHERE subtotal <> (SELECT SUM(ROUND(qty * price * (1 - discount), 4)) FROM shop.line WHERE head = h.id)`)
	if brief(check) != "row 20 | 1 | 20\nrow 100 | 20\nrow 0" {
		t.Error(check)
	}
}

// TestOrderCall sends an order as an RPC with a table-valued parameter.
func TestOrderCall(t *testing.T) {
	t.Parallel()
	_, s := orderDB(t)
	num := func(n int64) Param { return Param{Type: types.Int, Value: types.NewInt(types.KindInt, n)} }
	small := func(n int64) types.Value { return types.NewInt(types.KindSmallInt, n) }
	i := func(n int64) types.Value { return types.NewInt(types.KindInt, n) }
	c := &Call{Proc: "shop.neworder", Params: []Param{
		{Type: types.Int, Output: true},
		{Type: types.DateTime2(7), Value: types.NewDateTime2(637000000000000000, 7)},
		num(5), num(6), num(7), num(1),
		{Table: &TableValue{Columns: []types.Type{types.SmallInt, types.Int, types.Int}, Rows: [][]types.Value{{small(2), i(10), i(1)}, {small(1), i(20), i(2)}}}},
	}}
	var out transcript
	if err := s.Call(context.Background(), c, &out); err != nil {
		t.Fatal(err)
	}
	if got, want := out.b.String(), "status 0\nout 0 @id int = 1\ndoneproc EXECUTE\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := brief(batch(t, s, `SELECT id, customer, subtotal FROM shop.head SELECT qty, product FROM shop.line ORDER BY product`)); got != "row 1 | 5 | 49.25\nrow 2 | 10\nrow 1 | 20" {
		t.Error(got)
	}
}

// TestOrdersAtOnce runs the batch in many sessions at a time.
func TestOrdersAtOnce(t *testing.T) {
	t.Parallel()
	e, s := orderDB(t)
	const sessions, rounds = 8, 10
	var wg sync.WaitGroup
	for range sessions {
		o := openSession(t, e, "d")
		wg.Go(func() {
			for range rounds {
				if got := batch(t, o, orderBatch); strings.Contains(got, "error") {
					t.Error(got)
					return
				}
			}
		})
	}
	wg.Wait()
	want := fmt.Sprintf("row %d | %d\nrow %d", sessions*rounds*20, sessions*rounds*20, sessions*rounds*100)
	if got := brief(batch(t, s, `SELECT COUNT(*), MAX(id) FROM shop.head SELECT COUNT(*) FROM shop.line`)); got != want {
		t.Errorf("got %s want %s", got, want)
	}
}

// BenchmarkOrder runs the 20-order batch; an operation is one order.
func BenchmarkOrder(b *testing.B) {
	_, s := orderDB(b)
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += 20 {
		if err := s.Batch(context.Background(), orderBatch, discard{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOrderParallel runs it in a session per processor.
func BenchmarkOrderParallel(b *testing.B) {
	e, _ := orderDB(b)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		s := openSession(b, e, "d")
		n := 0
		for pb.Next() {
			if n++; n%20 == 1 {
				if err := s.Batch(context.Background(), orderBatch, discard{}); err != nil {
					b.Error(err)
					return
				}
			}
		}
	})
}

// BenchmarkOrderCall sends each order as a call with a table-valued parameter.
func BenchmarkOrderCall(b *testing.B) {
	_, s := orderDB(b)
	num := func(n int64) Param { return Param{Type: types.Int, Value: types.NewInt(types.KindInt, n)} }
	rows := make([][]types.Value, 5)
	for i := range rows {
		rows[i] = []types.Value{types.NewInt(types.KindSmallInt, 2), types.NewInt(types.KindInt, int64(i)+1), types.NewInt(types.KindInt, int64(i)+1)}
	}
	c := &Call{Proc: "shop.neworder", Params: []Param{{Type: types.Int, Output: true},
		{Type: types.DateTime2(7), Value: types.NewDateTime2(637000000000000000, 7)}, num(5), num(6), num(7), num(1),
		{Table: &TableValue{Columns: []types.Type{types.SmallInt, types.Int, types.Int}, Rows: rows}}}}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if err := s.Call(context.Background(), c, discard{}); err != nil {
			b.Fatal(err)
		}
	}
}
