package exec

import "testing"

type briefCase struct{ name, text, want string }

func runBrief(t *testing.T, s *Session, cases []briefCase) {
	t.Helper()
	for _, c := range cases {
		if got := brief(batch(t, s, c.text)); got != c.want {
			t.Errorf("%s: %s\ngot:\n%s\nwant:\n%s", c.name, c.text, got, c.want)
		}
	}
}

func TestFlow(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	runBrief(t, s, []briefCase{
		{"while with break and continue", `DECLARE @i int = 0, @s int = 0
WHILE @i < 10 BEGIN
	SET @i += 1
	IF @i = 3 CONTINUE
	IF @i = 6 BREAK
	SET @s += @i
END
SELECT @i, @s`, "row 6 | 12"},
		{"nested loops", `DECLARE @i int = 0, @j int, @n int = 0
WHILE @i < 3 BEGIN SET @i += 1 SET @j = 0 WHILE 1 = 1 BEGIN SET @j += 1 SET @n += 1 IF @j = 4 BREAK END END
SELECT @n`, "row 12"},
		{"goto", `DECLARE @i int = 0
again: SET @i += 1
IF @i < 5 GOTO again
SELECT @i`, "row 5"},
		{"goto forward", "GOTO done SELECT 1;\ndone: SELECT 2", "row 2"},
		{"unknown label", "GOTO nowhere", "error 133 15 1 line 1"},
		{"break outside", "BREAK", "error 135 15 1 line 1"},
		{"return", "SELECT 1 RETURN SELECT 2", "row 1"},
		{"return value in a batch", "RETURN 1", "error 178 15 1 line 1"},
		{"if with null", "IF NULL = 1 SELECT 'yes' ELSE SELECT 'no'", "row no"},
		{"if exists", "IF EXISTS (SELECT 1) SELECT 'yes'", "row yes"},
		{"compound assignment", "DECLARE @x int = 10 SET @x -= 3 SET @x *= 2 SET @x /= 4 SET @x %= 2 SELECT @x", "row 1"},
		{"undeclared", "SET @nope = 1", "error 137 15 2 line 1"},
		{"declared twice", "DECLARE @a int DECLARE @a int", "error 134 15 2 line 1"},
		{"select assigns", "DECLARE @a int, @b int SELECT @a = 1, @b = @a + 1 SELECT @a, @b", "row 1 | 2"},
		{"declare in a loop keeps its value", "DECLARE @i int = 0 WHILE @i < 2 BEGIN DECLARE @n int SET @n = ISNULL(@n, 0) + 1 SET @i += 1 END SELECT @n", "row 2"},
		{"syntax error runs nothing", "SELECT 1 SELECT )", "error 102 15 1 line 1"},
		{"table variable", "DECLARE @t TABLE (a int PRIMARY KEY, b int) INSERT @t VALUES (1, 2), (3, 4) SELECT SUM(b) FROM @t UPDATE @t SET b = 0 DELETE @t WHERE a = 1 SELECT a, b FROM @t", "row 6\nrow 3 | 0"},
		{"print", "DECLARE @n int = 5 PRINT 'n = ' + CAST(@n AS varchar(9)) PRINT @n PRINT NULL", "info 0 0 1 line 1: n = 5\ninfo 0 0 1 line 1: 5\ninfo 0 0 1 line 1:  "},
		{"raiserror low", "RAISERROR('%s has %d (%5d|%-5d|%05d|%x) %%', 10, 3, 'it', 4, 6, 7, 8, 255)", "info 50000 10 3 line 1"},
		{"raiserror", "RAISERROR(N'bad %s', 16, 2, N'thing')\nSELECT @@ERROR", "error 50000 16 2 line 1: bad thing\nrow 50000"},
		{"raiserror above 18", "RAISERROR('x', 19, 1)", "error 2754 16 1 line 1"},
		{"throw ends the batch", "THROW 50001, 'gone', 3\nSELECT 1", "error 50001 16 3 line 1"},
		{"throw number", "THROW 40000, 'x', 1", "error 35100 16 10 line 1"},
		{"throw alone", "THROW", "error 10704 15 1 line 1"},
		{"waitfor", "WAITFOR DELAY '00:00:00.001' SELECT 1", "row 1"},
		{"waitfor wrong", "WAITFOR DELAY '99:00'", "error 148 15 1 line 1"},
		{"rowcount", "DECLARE @t TABLE (a int) INSERT @t VALUES (1), (2) SELECT @@ROWCOUNT SELECT a FROM @t IF 1 = 1 SELECT @@ROWCOUNT", "row 2\nrow 1\nrow 2\nrow 0"},
		{"error function", "SELECT 1/0 SELECT @@ERROR SELECT @@ERROR", "error 8134 16 1 line 1\nrow 8134\nrow 0"},
		{"set rowcount", "SET ROWCOUNT 2 SELECT v FROM (VALUES (1), (2), (3)) AS t(v) SET ROWCOUNT 0", "row 1\nrow 2"},
		{"noexec", "SET NOEXEC ON SELECT 1 SET NOEXEC OFF SELECT 2", "row 2"},
		{"unsupported is named", "CREATE SEQUENCE q", "error 40514 16 1 line 1"},
		{"materialized views are refused", "ALTER MATERIALIZED VIEW v REBUILD", "error 40514 16 1 line 1"},
		{"modify file without a file", "ALTER DATABASE d MODIFY FILE", "error 102 15 1 line 1"},
		{"grant is refused", "GRANT SELECT ON t TO x", "error 40514 16 1 line 1"},
	})
}

func TestTryCatch(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	run(t, s, `CREATE TABLE t (id int PRIMARY KEY)`,
		`CREATE PROCEDURE fails AS SELECT 1/0`,
		`CREATE PROCEDURE missing AS SELECT * FROM nothere`,
		"CREATE PROCEDURE deep AS\n\nRAISERROR('deep', 16, 1)\nSELECT 'after'")
	runBrief(t, s, []briefCase{
		{"functions", "BEGIN TRY\n SELECT 1/0\nEND TRY BEGIN CATCH SELECT ERROR_NUMBER(), ERROR_SEVERITY(), ERROR_STATE(), ERROR_LINE(), ERROR_PROCEDURE() END CATCH", "row 8134 | 16 | 1 | 2 | NULL"},
		{"nothing caught", "SELECT ERROR_NUMBER()", "row NULL"},
		{"after catch", "BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH END CATCH SELECT ERROR_NUMBER()", "row NULL"},
		{"in a procedure", "BEGIN TRY EXEC fails END TRY BEGIN CATCH SELECT ERROR_NUMBER(), ERROR_LINE(), ERROR_PROCEDURE() END CATCH", "row 8134 | 1 | dbo.fails"},
		{"the rest of the procedure is left out", "BEGIN TRY EXEC deep END TRY BEGIN CATCH SELECT ERROR_MESSAGE(), ERROR_LINE() END CATCH", "row deep | 3"},
		{"compile error of the same batch", "BEGIN TRY SELECT * FROM nothere END TRY BEGIN CATCH SELECT 'caught' END CATCH SELECT 'next'", "error 208 16 1 line 1"},
		{"compile error of a procedure", "BEGIN TRY EXEC missing END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH SELECT 'next'", "row 208\nrow next"},
		{"compile error of dynamic SQL", "BEGIN TRY EXEC('SELECT * FROM nothere') END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH", "row 208"},
		{"syntax error of dynamic SQL", "BEGIN TRY EXEC('SELEC 1 FROM') END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH", "row 156"},
		{"nested", "BEGIN TRY BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH RAISERROR('inner', 16, 1) END CATCH END TRY BEGIN CATCH SELECT ERROR_MESSAGE() END CATCH", "row inner"},
		{"rethrow", "BEGIN TRY BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH THROW; END CATCH END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH", "row 8134"},
		{"rethrow to the client", "BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH THROW; END CATCH SELECT 'no'", "error 8134 16 1 line 1"},
		{"warnings are not caught", "BEGIN TRY RAISERROR('w', 10, 1) SELECT 'on' END TRY BEGIN CATCH SELECT 'caught' END CATCH", "info 50000 10 1 line 1\nrow on"},
		{"goto out of catch", "BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH GOTO x END CATCH\nx: SELECT ERROR_NUMBER()", "row NULL"},
		{"statement error rolls back its rows only", "BEGIN TRAN INSERT t VALUES (1) BEGIN TRY INSERT t VALUES (2), (1) END TRY BEGIN CATCH SELECT ERROR_NUMBER(), XACT_STATE() END CATCH COMMIT SELECT id FROM t DELETE t", "row 2627 | 1\nrow 1"},
		{"xact_abort dooms", "SET XACT_ABORT ON BEGIN TRAN BEGIN TRY INSERT t VALUES (1), (1) END TRY BEGIN CATCH SELECT XACT_STATE(), @@TRANCOUNT ROLLBACK END CATCH SET XACT_ABORT OFF SELECT @@TRANCOUNT", "row -1 | 1\nrow 0"},
		{"conversion dooms", "BEGIN TRAN BEGIN TRY SELECT CAST('x' AS int) END TRY BEGIN CATCH SELECT XACT_STATE() ROLLBACK END CATCH", "row -1"},
		{"doomed refuses writes", "BEGIN TRAN BEGIN TRY SELECT CAST('x' AS int) END TRY BEGIN CATCH INSERT t VALUES (5) END CATCH SELECT 'no'", "error 3930 16 1 line 1"},
		{"doomed at the end", "BEGIN TRAN BEGIN TRY SELECT CAST('x' AS int) END TRY BEGIN CATCH END CATCH", "error 3998 16 1 line 1"},
		{"after all that", "SELECT @@TRANCOUNT, COUNT(*) FROM t", "row 0 | 0"},
	})
}

func TestErrorLevels(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	run(t, s, `CREATE TABLE t (id int PRIMARY KEY, v varchar(3) NOT NULL, CHECK (id < 100))`,
		`CREATE PROCEDURE scope AS SELECT * FROM nothere SELECT 'no'`,
		`CREATE PROCEDURE stmt AS INSERT t VALUES (1, NULL) SELECT 'after' RETURN 3`,
		`CREATE PROCEDURE conv AS SELECT CAST('x' AS int) SELECT 'no'`)
	runBrief(t, s, []briefCase{
		{"statement", "INSERT t VALUES (1, NULL) SELECT 'on'", "error 515 16 2 line 1\ninfo 3621 0 0 line 1\nrow on"},
		{"check", "INSERT t VALUES (100, 'a')", "error 547 16 0 line 1\ninfo 3621 0 0 line 1"},
		{"truncation", "INSERT t VALUES (1, 'abcd')", "error 2628 16 1 line 1\ninfo 3621 0 0 line 1"},
		{"duplicate", "INSERT t VALUES (1, 'a'), (1, 'b') SELECT COUNT(*) FROM t", "error 2627 14 1 line 1\ninfo 3621 0 0 line 1\nrow 0"},
		{"conversion ends the batch", "SELECT CAST('x' AS int) SELECT 'no'", "error 245 16 1 line 1"},
		{"conversion rolls back", "BEGIN TRAN INSERT t VALUES (1, 'a') SELECT CAST('x' AS int)", "error 245 16 1 line 1"},
		{"rolled back", "SELECT @@TRANCOUNT, COUNT(*) FROM t", "row 0 | 0"},
		{"object not found ends the scope", "EXEC scope SELECT 'on'", "error 208 16 1 line 1 in dbo.scope\nrow on"},
		{"statement error in a procedure", "DECLARE @rc int EXEC @rc = stmt SELECT @rc", "error 515 16 2 line 1 in dbo.stmt\ninfo 3621 0 0 line 1 in dbo.stmt\nrow after\nrow 3"},
		{"conversion in a procedure ends all", "EXEC conv SELECT 'no'", "error 245 16 1 line 1 in dbo.conv"},
		{"xact_abort ends the batch", "SET XACT_ABORT ON BEGIN TRAN INSERT t VALUES (1, 'a') INSERT t VALUES (1, 'a') SELECT 'no'", "error 2627 14 1 line 1"},
		{"xact_abort rolled back", "SET XACT_ABORT OFF SELECT @@TRANCOUNT, COUNT(*) FROM t", "row 0 | 0"},
		{"missing procedure", "EXEC nope SELECT 'on'", "error 2812 16 62 line 1\nrow on"},
		{"unknown first word", "nope", "error 2812 16 62 line 1"},
		{"column error keeps the batch from running", "SELECT 1 SELECT nope FROM t", "error 207 16 1 line 1"},
		{"several compile errors", "SELECT nope FROM t\nSELECT nope2 FROM t", "error 207 16 1 line 1\nerror 207 16 1 line 2"},
		{"object missing runs what is before it", "SELECT 1 SELECT * FROM nothere SELECT 2", "row 1\nerror 208 16 1 line 1"},
		{"deferred name", "CREATE TABLE later (a int)\nINSERT later VALUES (4)\nSELECT a FROM later\nDROP TABLE later", "row 4"},
		{"lines", "\n\nSELECT 1/0", "error 8134 16 1 line 3"},
		{"nesting", "EXEC('EXEC nestme') SELECT 1", "error 2812 16 62 line 1\nrow 1"},
	})
	run(t, s, `CREATE PROCEDURE nestme AS EXEC nestme`)
	runBrief(t, s, []briefCase{{"nesting limit", "EXEC nestme SELECT 'no'", "error 217 16 1 line 1 in dbo.nestme"}})
}
