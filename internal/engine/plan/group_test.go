package plan

import "testing"

func TestGroup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, sql, want string }{
		{"count star", "SELECT COUNT(*) FROM orders", "4"},
		{"count of nothing", "SELECT COUNT(*), SUM(amount) FROM orders WHERE id < 0", "0|NULL"},
		{"count of nothing by group", "SELECT customer, COUNT(*) FROM orders WHERE id < 0 GROUP BY customer", ""},
		{"count column", "SELECT COUNT(placed), COUNT_BIG(*) FROM orders", "3|4"},
		{"count distinct", "SELECT COUNT(DISTINCT city), COUNT(city) FROM customer", "2|3"},
		{"sum distinct", "SELECT SUM(DISTINCT x), AVG(DISTINCT x) FROM (VALUES (1), (1), (4)) v(x)", "5|2"},
		{"group by", "SELECT customer, SUM(amount), COUNT(*) FROM orders GROUP BY customer ORDER BY customer", "1|12.50|2\n2|20.00|1\n4|1.00|1"},
		{"group by null", "SELECT city, COUNT(*) FROM customer GROUP BY city ORDER BY city", "NULL|1\nOslo|2\nRome|1"},
		{"group by expression", "SELECT id % 2, MIN(name), MAX(name) FROM customer GROUP BY id % 2 ORDER BY id % 2", "0|Bob|Dot\n1|Ann|Cid"},
		{"expression over group and aggregate", "SELECT customer * 10 + COUNT(*) FROM orders GROUP BY customer ORDER BY 1", "12\n21\n41"},
		{"qualified and plain names", "SELECT o.customer FROM orders o GROUP BY customer ORDER BY o.customer", "1\n2\n4"},
		{"having", "SELECT customer FROM orders GROUP BY customer HAVING COUNT(*) > 1", "1"},
		{"having without group", "SELECT COUNT(*) FROM orders HAVING COUNT(*) > 10", ""},
		{"order by aggregate", "SELECT customer FROM orders GROUP BY customer ORDER BY SUM(amount) DESC", "2\n1\n4"},
		{"avg of int cuts", "SELECT AVG(x) FROM (VALUES (1), (2)) v(x)", "1"},
		{"avg of money", "SELECT AVG(amount) FROM orders", "8.38"},
		{"avg of decimal", "SELECT AVG(x) FROM (VALUES (1.0), (2.0), (2.0)) v(x)", "1.666666"},
		{"sum of decimal", "SELECT SUM(x) FROM (VALUES (1.25), (2.50)) v(x)", "3.75"},
		{"sum of float", "SELECT SUM(x) FROM (VALUES (1.5e0), (2.5e0)) v(x)", "4"},
		{"stdev and var", "SELECT VAR(x), VARP(x), STDEV(x) FROM (VALUES (2), (4), (6)) v(x)", "4|2.66667|2"},
		{"stdev of one", "SELECT STDEV(x) FROM (VALUES (2)) v(x)", "NULL"},
		{"string_agg", "SELECT STRING_AGG(name, ', ') WITHIN GROUP (ORDER BY name DESC) FROM customer", "Dot, Cid, Bob, Ann"},
		{"string_agg skips null", "SELECT STRING_AGG(city, '-') FROM customer", "Oslo-Rome-Oslo"},
		{"checksum_agg", "SELECT CHECKSUM_AGG(x) FROM (VALUES (5), (3), (5)) v(x)", "3"},
		{"aggregate within expression", "SELECT ISNULL(SUM(ROUND(qty * 1.5, 0)), 0) FROM line WHERE orderid = 10", "5.0"},
		{"group over join", "SELECT c.name, SUM(l.qty) FROM customer c JOIN orders o ON o.customer = c.id JOIN line l ON l.orderid = o.id GROUP BY c.name ORDER BY c.name", "Ann|6\nBob|9"},
		{"subquery with group column", "SELECT customer, (SELECT name FROM customer c WHERE c.id = o.customer) FROM orders o GROUP BY customer ORDER BY customer", "1|Ann\n2|Bob\n4|Dot"},
		{"distinct aggregates", "SELECT DISTINCT COUNT(*) FROM orders GROUP BY customer ORDER BY 1", "1\n2"},
		{"group in derived table", "SELECT SUM(d.c) FROM (SELECT COUNT(*) AS c FROM orders GROUP BY customer) d", "4"},
		{"case over aggregate", "SELECT CASE WHEN COUNT(*) > 3 THEN 'many' ELSE 'few' END FROM orders", "many"},
		{"group by case", "SELECT CASE WHEN amount > 6 THEN 'big' ELSE 'small' END AS s, COUNT(*) FROM orders GROUP BY CASE WHEN amount > 6 THEN 'big' ELSE 'small' END ORDER BY s", "big|2\nsmall|2"},

		{"row_number", "SELECT id, ROW_NUMBER() OVER (ORDER BY name DESC) FROM customer ORDER BY id", "1|4\n2|3\n3|2\n4|1"},
		{"row_number by partition", "SELECT id, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY amount DESC) AS r FROM orders ORDER BY id", "10|2\n11|1\n12|1\n13|1"},
		{"rank and dense_rank", "SELECT x, RANK() OVER (ORDER BY x), DENSE_RANK() OVER (ORDER BY x) FROM (VALUES (1), (1), (2)) v(x) ORDER BY x", "1|1|1\n1|1|1\n2|3|2"},
		{"ntile", "SELECT x, NTILE(3) OVER (ORDER BY x) FROM (VALUES (1), (2), (3), (4), (5)) v(x) ORDER BY x", "1|1\n2|1\n3|2\n4|2\n5|3"},
		{"ntile with few rows", "SELECT x, NTILE(5) OVER (ORDER BY x) FROM (VALUES (1), (2)) v(x) ORDER BY x", "1|1\n2|2"},
		{"lag and lead", "SELECT id, LAG(id) OVER (ORDER BY id), LEAD(id, 2, -1) OVER (ORDER BY id) FROM customer ORDER BY id", "1|NULL|3\n2|1|4\n3|2|-1\n4|3|-1"},
		{"first and last value", "SELECT id, FIRST_VALUE(name) OVER (ORDER BY id), LAST_VALUE(name) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM customer ORDER BY id", "1|Ann|Dot\n2|Ann|Dot\n3|Ann|Dot\n4|Ann|Dot"},
		{"running sum", "SELECT x, SUM(x) OVER (ORDER BY x) FROM (VALUES (1), (2), (2), (3)) v(x) ORDER BY x", "1|1\n2|5\n2|5\n3|8"},
		{"running sum by rows", "SELECT x, SUM(x) OVER (ORDER BY x ROWS UNBOUNDED PRECEDING) FROM (VALUES (1), (2), (2), (3)) v(x) ORDER BY x", "1|1\n2|3\n2|5\n3|8"},
		{"moving sum", "SELECT x, SUM(x) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM (VALUES (1), (2), (3), (4)) v(x) ORDER BY x", "1|3\n2|6\n3|9\n4|7"},
		{"sum over partition", "SELECT id, SUM(amount) OVER (PARTITION BY customer), COUNT(*) OVER () FROM orders ORDER BY id", "10|12.50|4\n11|12.50|4\n12|20.00|4\n13|1.00|4"},
		{"window over groups", "SELECT customer, SUM(SUM(amount)) OVER () FROM orders GROUP BY customer ORDER BY customer", "1|33.50\n2|33.50\n4|33.50"},
		{"row_number over groups", "SELECT customer, ROW_NUMBER() OVER (ORDER BY SUM(amount) DESC) FROM orders GROUP BY customer ORDER BY customer", "1|2\n2|1\n4|3"},
		{"two windows", "SELECT id, ROW_NUMBER() OVER (ORDER BY id DESC), ROW_NUMBER() OVER (ORDER BY id) FROM customer ORDER BY id", "1|4|1\n2|3|2\n3|2|3\n4|1|4"},
		{"window in cte", "WITH r AS (SELECT id, customer, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY id) AS n FROM orders) SELECT id FROM r WHERE n = 1 ORDER BY id", "10\n12\n13"},
		{"order by window", "SELECT id FROM customer ORDER BY ROW_NUMBER() OVER (ORDER BY name DESC)", "4\n3\n2\n1"},
		{"percent_rank and cume_dist", "SELECT x, PERCENT_RANK() OVER (ORDER BY x), CUME_DIST() OVER (ORDER BY x) FROM (VALUES (1), (2), (2), (3), (4)) v(x) ORDER BY x", "1|0|0.2\n2|0.25|0.6\n2|0.25|0.6\n3|0.75|0.8\n4|1|1"},

		{"assign", "DECLARE @a int, @b nvarchar(5) SELECT @a = id, @b = name FROM customer WHERE id = 2 SELECT @a, @b", "2|Bob"},
		{"assign nothing keeps the value", "DECLARE @a int = 7 SELECT @a = id FROM customer WHERE id = 99 SELECT @a", "7"},
		{"assign in order", "DECLARE @s nvarchar(100) = '' SELECT @s = @s + name FROM customer ORDER BY id DESC SELECT @s", "DotCidBobAnn"},
		{"assign with operator", "DECLARE @n int = 1 SELECT @n += id FROM customer SELECT @n", "11"},
		{"assign cuts", "DECLARE @s varchar(2) SELECT @s = name FROM customer WHERE id = 1 SELECT @s", "An"},
		{"assign aggregate", "DECLARE @m money SELECT @m = ISNULL(SUM(amount), 0) FROM orders WHERE customer = 1 SELECT @m", "12.50"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got, want := newShop(t).last(t, c.sql), lines(c.want); got != want {
				t.Errorf("%s\ngot\n%s\nwant\n%s", c.sql, got, want)
			}
		})
	}
}

func TestSelectErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, sql string
		number    int32
		line      int32
	}{
		{"column", "SELECT id,\n nix FROM customer", 207, 2},
		{"column of a known alias", "SELECT c.nix FROM customer c", 207, 1},
		{"alias", "SELECT x.id FROM customer c", 4104, 1},
		{"alias hides the table's name", "SELECT customer.id FROM customer c", 4104, 1},
		{"table", "SELECT 1\nFROM nix", 208, 2},
		{"ambiguous", "SELECT id FROM customer c JOIN orders o ON o.customer = c.id", 209, 1},
		{"later source in ON", "SELECT 1 FROM customer c JOIN orders o ON l.orderid = o.id JOIN line l ON l.orderid = o.id", 4104, 1},
		{"same alias", "SELECT 1 FROM customer c, orders c", 1011, 1},
		{"same table twice", "SELECT 1 FROM customer, customer", 1013, 1},
		{"not grouped", "SELECT name, COUNT(*) FROM customer", 8120, 1},
		{"not grouped beside a key", "SELECT city, name FROM customer GROUP BY city", 8120, 1},
		{"not grouped in having", "SELECT city FROM customer GROUP BY city HAVING id > 1", 8121, 1},
		{"not grouped in order by", "SELECT city FROM customer GROUP BY city ORDER BY id", 8127, 1},
		{"star with group", "SELECT * FROM customer GROUP BY id", 8120, 1},
		{"aggregate in where", "SELECT 1 FROM customer WHERE COUNT(*) > 1", 147, 1},
		{"aggregate in group by", "SELECT 1 FROM customer GROUP BY COUNT(*)", 144, 1},
		{"nested aggregate", "SELECT SUM(COUNT(*)) FROM customer", 130, 1},
		{"sum of text", "SELECT SUM(name) FROM customer", 8117, 1},
		{"sum overflow", "SELECT SUM(x) FROM (VALUES (2147483647), (1)) v(x)", 8115, 0},
		{"window in where", "SELECT 1 FROM customer WHERE ROW_NUMBER() OVER (ORDER BY id) = 1", 4108, 1},
		{"window without order", "SELECT ROW_NUMBER() OVER (PARTITION BY id) FROM customer", 4112, 1},
		{"two rows", "SELECT (SELECT id FROM customer)", 512, 0},
		{"two columns", "SELECT (SELECT 1, 2)", 116, 1},
		{"two columns in IN", "SELECT 1 WHERE 1 IN (SELECT 1, 2)", 116, 1},
		{"order by position", "SELECT id FROM customer ORDER BY 2", 108, 1},
		{"distinct order", "SELECT DISTINCT name FROM customer ORDER BY id", 145, 1},
		{"union order", "SELECT id FROM customer UNION SELECT id FROM orders ORDER BY amount", 104, 1},
		{"union columns", "SELECT 1 UNION SELECT 1, 2", 205, 1},
		{"order in derived table", "SELECT 1 FROM (SELECT id FROM customer ORDER BY id) d", 1033, 1},
		{"assign and retrieve", "DECLARE @a int SELECT @a = id, name FROM customer", 141, 1},
		{"undeclared variable", "SELECT @nix = 1", 137, 1},
		{"undeclared table variable", "SELECT * FROM @nix", 1087, 1},
		{"no column name in derived table", "SELECT 1 FROM (SELECT 1) d", 8155, 1},
		{"same column twice in derived table", "SELECT 1 FROM (SELECT 1 AS a, 2 AS a) d", 8156, 1},
		{"recursion", "WITH n AS (SELECT 1 AS k UNION ALL SELECT k + 1 FROM n) SELECT COUNT(*) FROM n", 530, 0},
		{"recursion types", "WITH n AS (SELECT 1 AS k UNION ALL SELECT 'a' FROM n) SELECT COUNT(*) FROM n", 240, 1},
		{"recursion without anchor", "WITH n AS (SELECT 1 AS k FROM n UNION ALL SELECT k + 1 FROM n) SELECT 1 FROM n", 246, 1},
		{"negative top", "DECLARE @n int = -1 SELECT TOP (@n) 1", 127, 0},
		{"percent", "SELECT TOP 101 PERCENT id FROM customer", 1031, 0},
		{"for xml", "SELECT id FROM customer FOR XML AUTO", 40514, 1},
		{"for json", "SELECT id FROM customer FOR JSON PATH", 40514, 1},
		{"pivot", "SELECT * FROM customer PIVOT (COUNT(id) FOR city IN ([Oslo])) p", 40514, 1},
		{"tablesample", "SELECT 1 FROM customer TABLESAMPLE (10 PERCENT)", 40514, 1},
		{"rollup", "SELECT city FROM customer GROUP BY ROLLUP (city)", 40514, 1},
		{"readpast", "SELECT 1 FROM customer WITH (READPAST)", 40517, 1},
		{"holdlock", "SELECT 1 FROM customer WITH (HOLDLOCK)", 40517, 1},
		{"index hint", "SELECT 1 FROM customer WITH (INDEX(nix))", 308, 1},
		{"unknown function", "SELECT NIX(1)", 195, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := newShop(t).fails(t, c.sql, c.number)
			if c.line > 0 && e.Line != c.line {
				t.Errorf("%s\nline %d, want %d", c.sql, e.Line, c.line)
			}
		})
	}
}
