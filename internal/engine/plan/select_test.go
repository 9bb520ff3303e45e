package plan

import "testing"

const shopSchema = `
CREATE TABLE dbo.customer (id int NOT NULL PRIMARY KEY NONCLUSTERED, name nvarchar(20) NOT NULL, city nvarchar(20) NULL)
CREATE TABLE dbo.orders (id int NOT NULL PRIMARY KEY, customer int NOT NULL, amount money NOT NULL, placed date NULL)
CREATE INDEX ix_customer ON dbo.orders (customer, amount)
CREATE TABLE dbo.line (orderid int NOT NULL, n int NOT NULL, product nvarchar(10) NOT NULL, qty smallint NOT NULL, PRIMARY KEY (orderid, n))
`

const shopRows = `
INSERT dbo.customer (id, name, city) VALUES (1, N'Ann', N'Oslo'), (2, N'Bob', N'Rome'), (3, N'Cid', NULL), (4, N'Dot', N'Oslo')
INSERT dbo.orders VALUES (10, 1, 5, '2026-01-01'), (11, 1, 7.5, '2026-01-02'), (12, 2, 20, NULL), (13, 4, 1, '2026-01-03')
INSERT dbo.line VALUES (10, 1, N'tea', 2), (10, 2, N'milk', 1), (11, 1, N'tea', 3), (12, 1, N'salt', 9)
`

func newShop(t testing.TB) *lab {
	l := newLab(t)
	l.must(t, shopSchema)
	l.must(t, shopRows)
	return l
}

func TestSelect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, sql, want string }{
		{"no FROM", "SELECT 1 AS a, N'x' + N'y'", "1|xy"},
		{"where false", "SELECT 1 WHERE 1 = 0", ""},
		{"whole table", "SELECT id FROM customer ORDER BY id", "1\n2\n3\n4"},
		{"star", "SELECT * FROM customer WHERE id = 3", "3|Cid|NULL"},
		{"qualified star", "SELECT c.* FROM customer c JOIN orders o ON o.customer = c.id WHERE o.id = 12", "2|Bob|Rome"},
		{"schema-qualified column", "SELECT dbo.customer.name FROM dbo.customer WHERE dbo.customer.id = 1", "Ann"},
		{"null comparison", "SELECT id FROM customer WHERE city <> N'Oslo'", "2"},
		{"is null", "SELECT id FROM customer WHERE city IS NULL", "3"},
		{"between", "SELECT id FROM customer WHERE id BETWEEN 2 AND 3 ORDER BY id", "2\n3"},
		{"in list", "SELECT id FROM customer WHERE id IN (4, 2, 2, 9, NULL) ORDER BY id", "2\n4"},
		{"not in list with null", "SELECT id FROM customer WHERE id NOT IN (4, NULL)", ""},
		{"or", "SELECT id FROM customer WHERE id = 1 OR city = N'rome' ORDER BY 1", "1\n2"},
		{"inner join", "SELECT c.name, o.id FROM customer c JOIN orders o ON o.customer = c.id ORDER BY o.id", "Ann|10\nAnn|11\nBob|12\nDot|13"},
		{"comma join", "SELECT c.name, o.id FROM customer c, orders o WHERE o.customer = c.id AND o.amount > 6 ORDER BY o.id", "Ann|11\nBob|12"},
		{"left join", "SELECT c.name, o.id FROM customer c LEFT JOIN orders o ON o.customer = c.id AND o.amount > 6 ORDER BY c.id, o.id", "Ann|11\nBob|12\nCid|NULL\nDot|NULL"},
		{"left join hash", "SELECT c.name, o.id FROM customer c LEFT JOIN orders o ON o.placed = '2026-01-03' AND o.customer + 0 = c.id ORDER BY c.id", "Ann|NULL\nBob|NULL\nCid|NULL\nDot|13"},
		{"left join, where on the right", "SELECT c.name FROM customer c LEFT JOIN orders o ON o.customer = c.id WHERE o.id IS NULL", "Cid"},
		{"right join", "SELECT c.name, o.id FROM orders o RIGHT JOIN customer c ON o.customer = c.id ORDER BY c.id, o.id", "Ann|10\nAnn|11\nBob|12\nCid|NULL\nDot|13"},
		{"full join", "SELECT c.id, o.id FROM customer c FULL JOIN orders o ON o.id = c.id + 9 ORDER BY c.id, o.id", "1|10\n2|11\n3|12\n4|13"},
		{"full join, both sides alone", "SELECT c.id, o.id FROM customer c FULL JOIN orders o ON o.id = c.id + 11 ORDER BY 1, 2", "NULL|10\nNULL|11\n1|12\n2|13\n3|NULL\n4|NULL"},
		{"full join without equality", "SELECT c.id, o.id FROM customer c FULL JOIN orders o ON o.amount > 10 AND c.id > 3 ORDER BY 1, 2", "NULL|10\nNULL|11\nNULL|13\n1|NULL\n2|NULL\n3|NULL\n4|12"},
		{"cross join", "SELECT COUNT(*) FROM customer CROSS JOIN orders", "16"},
		{"join of joins", "SELECT c.name, l.product FROM customer c LEFT JOIN (orders o JOIN line l ON l.orderid = o.id) ON o.customer = c.id ORDER BY c.id, l.orderid, l.n", "Ann|tea\nAnn|milk\nAnn|tea\nBob|salt\nCid|NULL\nDot|NULL"},
		{"cross apply", "SELECT c.name, x.id FROM customer c CROSS APPLY (SELECT TOP 1 id FROM orders WHERE customer = c.id ORDER BY amount DESC) x ORDER BY c.id", "Ann|11\nBob|12\nDot|13"},
		{"outer apply", "SELECT c.name, x.id FROM customer c OUTER APPLY (SELECT TOP 1 id FROM orders WHERE customer = c.id ORDER BY amount DESC) x ORDER BY c.id", "Ann|11\nBob|12\nCid|NULL\nDot|13"},
		{"cross apply, simple", "SELECT c.name, x.twice FROM customer c CROSS APPLY (SELECT o.amount * 2 AS twice FROM orders o WHERE o.customer = c.id) x ORDER BY 2", "Dot|2.00\nAnn|10.00\nAnn|15.00\nBob|40.00"},
		{"outer apply, computed", "SELECT c.name, x.k FROM customer c OUTER APPLY (SELECT 1 AS k FROM orders o WHERE o.customer = c.id) x WHERE c.id > 2 ORDER BY c.id", "Cid|NULL\nDot|1"},
		{"apply of values", "SELECT c.id, v.x FROM customer c CROSS APPLY (VALUES (c.id * 10), (c.id * 100)) v(x) WHERE c.id < 3 ORDER BY v.x", "1|10\n2|20\n1|100\n2|200"},
		{"derived table", "SELECT d.n FROM (SELECT name AS n, id FROM customer) d WHERE d.id = 2", "Bob"},
		{"derived table with column list", "SELECT b FROM (SELECT id, name FROM customer) d (a, b) WHERE a = 1", "Ann"},
		{"left join of derived expression", "SELECT c.id, d.one FROM customer c LEFT JOIN (SELECT customer, 1 AS one FROM orders) d ON d.customer = c.id AND c.id > 1 ORDER BY 1", "1|NULL\n2|1\n3|NULL\n4|1"},
		{"values table", "SELECT a, b FROM (VALUES (1, 'x'), (2, NULL)) v (a, b) ORDER BY a DESC", "2|NULL\n1|x"},
		{"order by alias", "SELECT id * -1 AS k FROM customer ORDER BY k", "-4\n-3\n-2\n-1"},
		{"order by ordinal desc", "SELECT name, id FROM customer ORDER BY 2 DESC", "Dot|4\nCid|3\nBob|2\nAnn|1"},
		{"order by expression", "SELECT id FROM customer ORDER BY LEN(name) DESC, city, id DESC", "3\n4\n1\n2"},
		{"order by nulls first", "SELECT id FROM customer ORDER BY city, id", "3\n1\n4\n2"},
		{"collate", "SELECT id FROM customer WHERE CAST(name AS nvarchar(9)) COLLATE Latin1_General_BIN2 = N'ann' OR CAST(city AS nvarchar(9)) COLLATE Latin1_General_BIN2 = N'Rome'", "2"},
		{"order by collation", "SELECT x FROM (VALUES (N'b'), (N'B'), (N'a')) v(x) ORDER BY CAST(x AS nvarchar(9)) COLLATE Latin1_General_BIN2", "B\na\nb"},
		{"join by collation", "SELECT a.x FROM (VALUES (N'b'), (N'B')) a(x) JOIN (VALUES (N'B')) b(y) ON a.x = CAST(b.y AS nvarchar(9)) COLLATE Latin1_General_BIN2", "B"},
		{"in by collation", "SELECT x FROM (VALUES (N'b'), (N'B')) a(x) WHERE CAST(x AS nvarchar(9)) COLLATE Latin1_General_BIN2 IN (SELECT N'B')", "B"},
		{"top", "SELECT TOP 2 id FROM customer ORDER BY id DESC", "4\n3"},
		{"top expression", "DECLARE @n int = 1 SELECT TOP (@n + 1) id FROM customer ORDER BY id", "1\n2"},
		{"top zero", "SELECT TOP 0 id FROM customer", ""},
		{"top percent", "SELECT TOP 30 PERCENT id FROM customer ORDER BY id", "1\n2"},
		{"top with ties", "SELECT TOP 2 WITH TIES city FROM customer ORDER BY city", "NULL\nOslo\nOslo"},
		{"offset fetch", "SELECT id FROM customer ORDER BY id OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY", "2\n3"},
		{"offset without fetch", "SELECT id FROM customer ORDER BY id OFFSET 3 ROWS", "4"},
		{"distinct", "SELECT DISTINCT city FROM customer ORDER BY city", "NULL\nOslo\nRome"},
		{"distinct ignores case", "SELECT DISTINCT x FROM (VALUES ('a'), ('A'), ('b')) v(x) ORDER BY x", "a\nb"},
		{"union", "SELECT city FROM customer UNION SELECT 'Paris' ORDER BY city", "NULL\nOslo\nParis\nRome"},
		{"union with NULL", "SELECT 'x' AS a UNION ALL SELECT NULL UNION ALL SELECT 'y'", "x\nNULL\ny"},
		{"union of NULLs with text", "SELECT NULL AS a UNION ALL SELECT NULL UNION ALL SELECT 'y'", "NULL\nNULL\ny"},
		{"union all", "SELECT 1 AS a UNION ALL SELECT 1 UNION ALL SELECT 2.5 ORDER BY a", "1.0\n1.0\n2.5"},
		{"except", "SELECT id FROM customer EXCEPT SELECT customer FROM orders", "3"},
		{"intersect", "SELECT city FROM customer INTERSECT SELECT city FROM customer WHERE id > 2 ORDER BY city", "NULL\nOslo"},
		{"correlated without index", "SELECT name, (SELECT COUNT(*) FROM line l JOIN orders o ON o.id + 0 = l.orderid WHERE o.customer + 0 = c.id AND l.qty > c.id - 2) FROM customer c ORDER BY id", "Ann|3\nBob|1\nCid|0\nDot|0"},
		{"correlated twice", "SELECT c.id FROM customer c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.amount = c.id + 4 AND NOT EXISTS (SELECT 1 FROM line l WHERE l.qty = c.id + 7 AND l.n = o.customer))", "1"},
		{"scalar subquery", "SELECT name, (SELECT MAX(id) FROM orders o WHERE o.customer = c.id) FROM customer c ORDER BY id", "Ann|11\nBob|12\nCid|NULL\nDot|13"},
		{"uncorrelated scalar subquery", "SELECT id FROM orders WHERE amount = (SELECT MAX(amount) FROM orders)", "12"},
		{"exists", "SELECT id FROM customer c WHERE EXISTS (SELECT * FROM orders o WHERE o.customer = c.id) ORDER BY id", "1\n2\n4"},
		{"not exists", "SELECT id FROM customer c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)", "3"},
		{"exists under or", "SELECT id FROM customer c WHERE id = 3 OR EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id AND o.amount > 6) ORDER BY id", "1\n2\n3"},
		{"in subquery", "SELECT name FROM customer WHERE id IN (SELECT customer FROM orders WHERE amount < 6) ORDER BY name", "Ann\nDot"},
		{"not in subquery with null", "SELECT name FROM customer WHERE city NOT IN (SELECT city FROM customer WHERE id = 3)", ""},
		{"correlated in", "SELECT id FROM customer c WHERE N'tea' IN (SELECT product FROM line l JOIN orders o ON o.id = l.orderid WHERE o.customer = c.id)", "1"},
		{"nested correlation", "SELECT c.id FROM customer c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id AND EXISTS (SELECT 1 FROM line l WHERE l.orderid = o.id AND l.qty > c.id + 1)) ORDER BY c.id", "1\n2"},
		{"subquery in derived table", "SELECT d.m FROM (SELECT (SELECT COUNT(*) FROM orders o WHERE o.customer = c.id) AS m, c.id FROM customer c) d ORDER BY d.id", "2\n1\n0\n1"},
		{"cte", "WITH big AS (SELECT id, customer FROM orders WHERE amount > 6), who (n) AS (SELECT c.name FROM customer c JOIN big ON big.customer = c.id) SELECT n FROM who ORDER BY n", "Ann\nBob"},
		{"cte used twice", "WITH o AS (SELECT customer, SUM(amount) AS s FROM orders GROUP BY customer) SELECT a.customer FROM o a LEFT JOIN o b ON b.s > a.s WHERE b.s IS NULL", "2"},
		{"recursive cte", "WITH n (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 5) SELECT k FROM n", "1\n2\n3\n4\n5"},
		{"recursive cte with join", "WITH r AS (SELECT 10 AS id, 0 AS depth UNION ALL SELECT o.id, r.depth + 1 FROM r JOIN orders o ON o.id = r.id + 1) SELECT id, depth FROM r ORDER BY id", "10|0\n11|1\n12|2\n13|3"},
		{"maxrecursion", "WITH n AS (SELECT 1 AS k UNION ALL SELECT k + 1 FROM n WHERE k < 150) SELECT MAX(k) FROM n OPTION (MAXRECURSION 200)", "150"},
		{"string_split", "SELECT value FROM STRING_SPLIT('a,b,,c', ',')", "a\nb\n\nc"},
		{"hints that change nothing", "SELECT id FROM orders WITH (NOLOCK, INDEX(1)) WHERE id = 11", "11"},
		{"snapshot hint", "SELECT id FROM customer c WITH (SNAPSHOT) WHERE id = 1", "1"},
		{"option recompile", "SELECT id FROM customer WHERE id = 2 OPTION (RECOMPILE, MAXDOP 1)", "2"},
		{"options that change nothing", "SELECT id FROM customer WHERE id = 2 OPTION (HASH JOIN, FAST 1, KEEPFIXED PLAN, QUERYTRACEON 4199, OPTIMIZE FOR UNKNOWN, USE HINT ('DISALLOW_BATCH_MODE'), LABEL = 'x')", "2"},
		{"index range", "SELECT id FROM orders WHERE customer = 1 AND amount > 5.0001", "11"},
		{"key of another type", "SELECT id FROM customer WHERE id = '2'", "2"},
		{"key out of the column's range", "SELECT id FROM customer WHERE id = 30000000000", ""},
		{"key with a fraction", "SELECT id FROM customer WHERE id = 2.5", ""},
		{"range with a fraction", "SELECT id FROM orders WHERE id > 11.5 ORDER BY id", "12\n13"},
		{"null key", "DECLARE @x int SELECT id FROM customer WHERE id = @x", ""},
		{"min by index", "SELECT MIN(amount), COUNT(*) FROM orders WHERE customer = 1", "5.00|2"},
		{"max by index", "SELECT MAX(id) FROM orders", "13"},
		{"max of nothing", "SELECT MAX(id) FROM orders WHERE id > 100", "NULL"},
		{"top by index", "SELECT TOP 1 id FROM orders ORDER BY id DESC", "13"},
		{"order by held column", "SELECT amount FROM orders WHERE customer = 1 ORDER BY customer, amount DESC", "7.50\n5.00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got, want := newShop(t).last(t, c.sql), lines(c.want); got != want {
				t.Errorf("%s\ngot\n%s\nwant\n%s", c.sql, got, want)
			}
		})
	}
}
