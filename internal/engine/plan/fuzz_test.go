package plan

import (
	"testing"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/tsql"
)

// FuzzCompile holds that whatever parses is compiled or refused.
func FuzzCompile(f *testing.F) {
	for _, sql := range []string{
		"WITH c (a, b) AS (SELECT id, name FROM customer) SELECT TOP 5 WITH TIES a, COUNT(DISTINCT b) OVER (PARTITION BY a ORDER BY b ROWS 2 PRECEDING) FROM c GROUP BY a, b HAVING COUNT(*) > 1 ORDER BY 1 DESC",
		"SELECT DISTINCT o.*, (SELECT TOP 1 name FROM customer WHERE id = o.customer) x FROM orders o LEFT JOIN line l ON l.orderid = o.id AND l.qty BETWEEN 1 AND 3 WHERE o.id IN (1, 2) OR NOT EXISTS (SELECT * FROM line WHERE n = o.id) ORDER BY o.id OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY",
		"SELECT 1 AS a UNION ALL SELECT id FROM customer EXCEPT (SELECT 2 INTERSECT SELECT 3) ORDER BY a",
		"WITH n AS (SELECT 1 k UNION ALL SELECT k + 1 FROM n WHERE k < 9) INSERT TOP (3) INTO line (orderid, n, product, qty) OUTPUT inserted.*, inserted.n + 1 SELECT k, k, N'x', DEFAULT FROM n",
		"UPDATE o SET amount += 1, placed = DEFAULT OUTPUT deleted.id INTO line (n) FROM orders o CROSS APPLY (VALUES (1), (2)) v(x) WHERE o.id = v.x",
		"DELETE TOP (10) PERCENT c FROM customer c FULL JOIN orders o ON o.customer = c.id",
		"MERGE customer AS t USING orders s ON s.customer = t.id WHEN MATCHED AND s.id > 1 THEN UPDATE SET name = N'x' WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, N'y') WHEN NOT MATCHED BY SOURCE THEN DELETE OUTPUT $action;",
		"TRUNCATE TABLE customer",
		"SELECT STRING_AGG(name, ',') WITHIN GROUP (ORDER BY id), MIN(id), STDEV(id), LAG(MAX(id), 1, 0) OVER (ORDER BY city) FROM customer GROUP BY city",
		"INSERT customer DEFAULT VALUES",
		"SELECT * FROM STRING_SPLIT('a b', ' ') s JOIN GENERATE_SERIES(1, 3) g ON g.value = 1 WHERE s.value LIKE 'a%'",
	} {
		f.Add(sql)
	}
	l := newLab(f)
	l.must(f, shopSchema)
	f.Fuzz(func(t *testing.T, sql string) {
		b, err := tsql.Parse(sql)
		if err != nil {
			return
		}
		s := l.script()
		for _, st := range b.Statements {
			if !catalog.Handles(st) {
				_, _, _ = s.compile(st)
			}
		}
	})
}
