package exec

import "testing"

// TestTokens holds the exact order of tokens.
func TestTokens(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	run(t, s,
		`CREATE TABLE t (id int PRIMARY KEY, v nvarchar(10) NULL)`,
		`CREATE PROCEDURE p @a int, @b int OUTPUT AS SELECT @a AS a; SET @b = @a + 1; RETURN 7`,
		`CREATE PROCEDURE quiet_p AS SET NOCOUNT ON; INSERT t VALUES (99, 'z'); DELETE t WHERE id = 99`)
	for _, c := range []struct{ name, text, want string }{
		{"empty", ``, "done other\n"},
		{"select", `SELECT 1 AS a`, "columns a int\nrow 1\ndone SELECT 1\n"},
		{"declare and set send nothing", "DECLARE @x int = 1\nSET @x += 1\nSELECT @x", "columns int\nrow 2\ndone SELECT 1\n"},
		{"only set", "DECLARE @x int = 1 SET @x += 1", "done other\n"},
		{"two statements", `SELECT 1 AS a SELECT 2 AS b`, "columns a int\nrow 1\ndone SELECT 1 more\ncolumns b int\nrow 2\ndone SELECT 1\n"},
		{"select that assigns has no count", "DECLARE @x int SELECT @x = 1", "done SELECT\n"},
		{"insert", `INSERT t VALUES (1, 'x'), (2, NULL)`, "done INSERT 2\n"},
		{"nocount", `SET NOCOUNT ON INSERT t VALUES (3, 'y') SELECT 1 AS a SET NOCOUNT OFF`, "done INSERT more\ncolumns a int\nrow 1\ndone SELECT\n"},
		{"update and delete", `UPDATE t SET v = 'q' WHERE id < 3 DELETE t WHERE id = 3`, "done UPDATE 2 more\ndone DELETE 1\n"},
		{"print", `PRINT 'hello'`, "info 0 0 1 line 1: hello\ndone other\n"},
		{"exec", "DECLARE @o int, @rc int\nEXEC @rc = p 5, @o OUTPUT\nSELECT @o AS o, @rc AS rc", "columns a int\nrow 5\ndoneinproc SELECT 1 more\nstatus 7\ndoneproc EXECUTE more\ncolumns o int, rc int\nrow 6 | 7\ndone SELECT 1\n"},
		{"exec of a procedure with nocount", `EXEC quiet_p`, "status 0\ndoneproc EXECUTE\n"},
		{"dynamic", `EXEC('SELECT 1 AS a')`, "columns a int\nrow 1\ndoneinproc SELECT 1 more\ndoneproc EXECUTE\n"},
		{"transaction", `BEGIN TRAN INSERT t VALUES (7, 'x') ROLLBACK`, "env begin \ndone other tran more\ndone INSERT 1 tran more\nenv rollback \ndone other\n"},
		{"commit", `BEGIN TRAN COMMIT TRAN`, "env begin \ndone other tran more\nenv commit \ndone other\n"},
		{"use", `USE master USE d`, "env database master\ninfo 5701 0 2 line 1: Changed the database context to 'master'.\ndone other more\nenv database d\ninfo 5701 0 2 line 1: Changed the database context to 'd'.\ndone other\n"},
		{"error goes on", "SELECT 1/0\nSELECT 2 AS b", "columns int\nerror 8134 16 1 line 1: Division by zero.\ndone SELECT error more\ncolumns b int\nrow 2\ndone SELECT 1\n"},
		{"fmtonly", `SET FMTONLY ON select * from t SET FMTONLY OFF`, "columns id int, v nvarchar(10)\ndone SELECT 0\n"},
		{"if", "IF 1 = 1 SELECT 1 AS a ELSE SELECT 2 AS a", "columns a int\nrow 1\ndone SELECT 1\n"},
	} {
		if got := batch(t, s, c.text); got != c.want {
			t.Errorf("%s: %s\ngot:\n%s\nwant:\n%s", c.name, c.text, got, c.want)
		}
	}
}
