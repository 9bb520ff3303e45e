package exec

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestImplicitTransactions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		count      string // @@TRANCOUNT after it
	}{
		{"select of a table", `SELECT id FROM t`, "1"},
		{"select of a #table", `SELECT id FROM #t`, "1"},
		{"select of a table variable", `DECLARE @v TABLE (id int) SELECT id FROM @v`, "1"},
		{"select of a system view", `SELECT name FROM sys.databases`, "1"},
		{"select of no table", `SELECT 1`, "0"},
		{"assignment of no table", `DECLARE @x int SELECT @x = 1`, "0"},
		{"assignment of a table", `DECLARE @x int SELECT @x = id FROM t`, "1"},
		{"subquery", `SELECT (SELECT MAX(id) FROM t)`, "1"},
		{"insert", `INSERT t VALUES (9)`, "1"},
		{"update", `UPDATE t SET id = id`, "1"},
		{"delete", `DELETE FROM t`, "1"},
		{"merge", `MERGE t USING (SELECT 1 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (s.id);`, "1"},
		{"truncate", `TRUNCATE TABLE t`, "1"},
		{"create", `CREATE TABLE u (i int)`, "1"},
		{"create a #table", `CREATE TABLE #u (i int)`, "1"},
		{"create a procedure", `CREATE PROCEDURE p AS RETURN`, "1"},
		{"alter table", `ALTER TABLE t ADD v int`, "1"},
		{"drop", `DROP TABLE t`, "1"},
		{"select into", `SELECT 1 AS a INTO u`, "1"},
		{"begin opens two", `BEGIN TRANSACTION`, "2"},
		{"one for all", `SELECT id FROM t SELECT id FROM t`, "1"},
		{"open", `DECLARE c CURSOR FOR SELECT id FROM t OPEN c`, "1"},
		{"a statement that fails", `INSERT t VALUES (1) INSERT t VALUES (1)`, "1"},
		{"print, set, if, declare", `DECLARE @i int = 1 SET @i = 2 IF @i = 2 PRINT 'x'`, "0"},
		{"a procedure's insert", `EXEC ins`, "1"},
		{"create database", `CREATE DATABASE x`, "1"},
		{"committed", `INSERT t VALUES (9) COMMIT`, "0"},
	} {
		_, s := testDB(t)
		run(t, s, `CREATE TABLE t (id int PRIMARY KEY)`, `CREATE TABLE #t (id int)`, `CREATE PROCEDURE ins AS INSERT t VALUES (5)`, `SET IMPLICIT_TRANSACTIONS ON`)
		got := batch(t, s, c.text)
		if count := brief(batch(t, s, `SELECT @@TRANCOUNT`)); count != "row "+c.count {
			t.Errorf("%s: @@TRANCOUNT is %s, want %s\n%s", c.name, count, c.count, got)
		}
		if (c.count != "0") != (strings.Count(got, "env begin") == 1 && !strings.Contains(got, "env commit")) && c.name != "committed" {
			t.Errorf("%s: \n%s", c.name, got)
		}
		if c.name == "create database" && !strings.Contains(got, "error 226 ") {
			t.Errorf("%s: \n%s", c.name, got)
		}
		if c.count != "0" {
			run(t, s, `ROLLBACK`)
			if got := brief(batch(t, s, `SET IMPLICIT_TRANSACTIONS OFF SELECT COUNT(*) FROM t SELECT @@TRANCOUNT`)); got != "row 0\nrow 0" {
				t.Errorf("%s: after a rollback %s", c.name, got)
			}
		}
	}
}

func TestQuotedIdentifierOff(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	run(t, s, `CREATE TABLE t (id int PRIMARY KEY, "select" nvarchar(10))`, `INSERT t VALUES (1, N'x')`)
	runBrief(t, s, []briefCase{
		{"on", `SELECT "select" FROM t`, "row x"},
		{"off within the batch", `SET QUOTED_IDENTIFIER OFF SELECT "it's"`, "row it's"},
		{"off", `SELECT "select", 'a "b"', [select] FROM t WHERE [select] = "x"`, `row select | a "b" | x`},
		{"insert and print", `INSERT t VALUES (2, "y") PRINT "done"`, "info 0 0 1 line 1: done"},
		{"dynamic", `EXEC ("SELECT 'in' + ""side""")`, "row inside"},
		{"a procedure keeps it", "CREATE PROCEDURE p AS SELECT \"text\"", ""},
		{"on again", `SET QUOTED_IDENTIFIER ON SELECT "select" FROM t WHERE id = 2`, "row y"},
		{"the procedure", `EXEC p`, "row text"},
	})
}

func TestRowCountOption(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	run(t, s, `CREATE TABLE t (id int PRIMARY KEY, v int)`, `CREATE TABLE u (id int PRIMARY KEY)`)
	runBrief(t, s, []briefCase{
		{"insert", `SET ROWCOUNT 3 INSERT t VALUES (1,0),(2,0),(3,0),(4,0) SELECT @@ROWCOUNT`, "row 3"},
		{"insert select", `SET ROWCOUNT 2 INSERT u SELECT id FROM t SELECT @@ROWCOUNT`, "row 2"},
		{"update", `UPDATE t SET v = 1 SELECT @@ROWCOUNT`, "row 2"},
		{"update with a smaller top", `UPDATE TOP (1) t SET v = 2 SELECT @@ROWCOUNT`, "row 1"},
		{"delete with a larger top", `DELETE TOP (9) t SELECT @@ROWCOUNT`, "row 2"},
		{"select", `SELECT id FROM u`, "row 1\nrow 2"},
		{"assignment", `DECLARE @x int SELECT @x = id FROM u`, "error 40514 16 1 line 1"},
		{"all", `SET ROWCOUNT 0 DELETE t SELECT @@ROWCOUNT`, "row 1"},
	})
}

// TestCompileCancelled cancels batches of many statements while they are parsed
// and compiled.
func TestCompileCancelled(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	text := strings.Repeat("SELECT 1 AS a, 2 AS b\n", 300_000)
	for _, after := range []time.Duration{0, 20 * time.Millisecond, 300 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(context.Background(), after)
		err := s.Batch(ctx, text, discard{})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("cancelled after %s: %v", after, err)
		}
		// What was compiled to the end is kept.
		if s.e.plans.get(planKey{db: s.db(), opts: s.set.planBits(), text: text, kind: kindBatch}) != nil {
			t.Errorf("cancelled after %s: the batch was compiled all the same", after)
		}
	}
	run(t, s, `SELECT 1`)
}

func TestQuantifiedComparisons(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	run(t, s, `CREATE TABLE t (id int)`, `INSERT t VALUES (1),(2),(3)`, `CREATE TABLE n (id int)`, `INSERT n VALUES (1),(NULL)`, `CREATE TABLE e (id int)`)
	runBrief(t, s, []briefCase{
		{"all", `SELECT id FROM t WHERE id >= ALL (SELECT id FROM t)`, "row 3"},
		{"any", `SELECT id FROM t WHERE id < ANY (SELECT id FROM t WHERE id < 3)`, "row 1"},
		{"some", `SELECT id FROM t WHERE id =SOME(SELECT 2 UNION SELECT 9)`, "row 2"},
		{"equal to all", `SELECT 1 WHERE 2 = ALL (SELECT 2 UNION ALL SELECT 2)`, "row 1"},
		{"different from any", `SELECT id FROM t WHERE id <> ANY (SELECT 1)`, "row 2\nrow 3"},
		{"not", `SELECT id FROM t WHERE NOT id != ALL (SELECT 1)`, "row 1"},
		{"not less", `SELECT id FROM t WHERE id !< ALL (SELECT id FROM t)`, "row 3"},
		{"two signs apart", `SELECT id FROM t WHERE id > = ALL (SELECT id FROM t)`, "row 3"},
		{"all of none", `SELECT COUNT(*) FROM t WHERE id > ALL (SELECT id FROM e)`, "row 3"},
		{"any of none", `SELECT COUNT(*) FROM t WHERE id > ANY (SELECT id FROM e)`, "row 0"},
		{"all with NULL", `SELECT COUNT(*) FROM t WHERE id >= ALL (SELECT id FROM n)`, "row 0"},
		{"any with NULL", `SELECT id FROM t WHERE id = ANY (SELECT id FROM n)`, "row 1"},
		{"correlated", `SELECT id FROM t a WHERE id > ALL (SELECT id FROM t b WHERE b.id < a.id) AND id > 1`, "row 2\nrow 3"},
		{"in a case", `SELECT CASE WHEN 5 > ALL (SELECT id FROM t) THEN 'ü' ELSE 'n' END`, "row ü"},
		{"in an if", `IF 3 = ANY (SELECT id FROM t) PRINT 'yes'`, "info 0 0 1 line 1: yes"},
		{"after text beyond ASCII and an insertion", `SELECT N'🙂', .5 WHERE 1 < ALL (SELECT 2)`, "row 🙂 | 0.5"},
		{"two of them", `SELECT 1 WHERE 1 = ANY (SELECT id FROM t WHERE id <= ALL (SELECT id FROM t))`, "row 1"},
		{"two columns", `SELECT 1 WHERE 1 = ANY (SELECT 1, 2)`, "error 116 16 1 line 1"},
	})
}

func TestRowSize(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	runBrief(t, s, []briefCase{
		{"too large", `CREATE TABLE a (x char(5000), y char(5000))`, "error 1701 16 1 line 1"},
		{"just", `CREATE TABLE b (x char(8000), y char(53))`, ""},
		{"one more", `CREATE TABLE c (x char(8000), y char(54))`, "error 1701 16 1 line 1"},
		{"variable ones may be longer", `CREATE TABLE d (x char(5000), y varchar(8000), z nvarchar(4000)) INSERT d VALUES ('x', REPLICATE('y', 8000), REPLICATE(N'z', 4000)) SELECT LEN(y), LEN(z) FROM d`, "row 8000 | 4000"},
		{"added", `ALTER TABLE b ADD z int`, "error 1701 16 1 line 1"},
		{"a row with many", `CREATE TABLE w (x char(8000), a varchar(50), b varchar(50), c varchar(50)) INSERT w (x, a) VALUES ('x', 'short') SELECT a FROM w`, "row short"},
		{"a row with too many", `INSERT w VALUES ('x', REPLICATE('a', 50), REPLICATE('b', 50), REPLICATE('c', 50))`, "error 511 16 1 line 1\ninfo 3621 0 0 line 1"},
		{"an update to too many", `UPDATE w SET a = REPLICATE('a', 50), b = REPLICATE('b', 50), c = REPLICATE('c', 50)`, "error 511 16 1 line 1\ninfo 3621 0 0 line 1"},
		{"into", `SELECT CAST('x' AS char(8000)) AS x, CAST('y' AS char(100)) AS y INTO e`, "error 1701 16 1 line 1"},
		{"memory-optimized", `CREATE TABLE m (id int NOT NULL PRIMARY KEY NONCLUSTERED, x char(8000), y char(100)) WITH (MEMORY_OPTIMIZED = ON)`, "error 41307 16 1 line 1"},
	})
}

func TestNativeNotNullParameters(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	run(t, s, `CREATE PROCEDURE p @a int NOT NULL, @b int = NULL, @o int OUTPUT WITH NATIVE_COMPILATION, SCHEMABINDING AS
		BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english') SET @o = @a END`)
	runBrief(t, s, []briefCase{
		{"value", `DECLARE @o int EXEC p 4, NULL, @o OUTPUT SELECT @o`, "row 4"},
		{"NULL", `DECLARE @o int EXEC p NULL, 1, @o OUTPUT SELECT @@TRANCOUNT`, "error 8178 16 1 line 1\nrow 0"},
		{"NULL variable", `DECLARE @o int, @n int EXEC p @n, 1, @o OUTPUT`, "error 8178 16 1 line 1"},
		{"caught", `DECLARE @o int BEGIN TRY EXEC p NULL, 1, @o OUTPUT END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH`, "row 8178"},
	})
	if got := rpc(t, s, "p", nil, nil, out{}); got != "error 8178" {
		t.Error(got)
	}
}

func TestCursorCloseOnCommit(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	runBrief(t, s, []briefCase{
		{"off", `DECLARE a CURSOR FOR SELECT 1 OPEN a BEGIN TRAN COMMIT FETCH NEXT FROM a CLOSE a`, "row 1"},
		{"on", `SET CURSOR_CLOSE_ON_COMMIT ON OPEN a BEGIN TRAN COMMIT FETCH NEXT FROM a`, "error 16917 16 1 line 1"},
		{"a local one", `DECLARE b CURSOR LOCAL FOR SELECT 1 OPEN b BEGIN TRAN ROLLBACK FETCH NEXT FROM b`, "error 16917 16 1 line 1"},
		{"it can be opened again", `OPEN a FETCH NEXT FROM a CLOSE a`, "row 1"},
	})
}
