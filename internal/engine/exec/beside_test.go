package exec

import (
	"strings"
	"sync"
	"testing"
)

// TestDDLBeside changes the catalog while other sessions run.
func TestDDLBeside(t *testing.T) {
	t.Parallel()
	e, s := testDB(t)
	run(t, s, `CREATE TABLE t (id int IDENTITY PRIMARY KEY, v int)`,
		`CREATE PROCEDURE p @v int AS INSERT t (v) VALUES (@v) SELECT @v`,
		`CREATE FUNCTION f (@a int) RETURNS int AS BEGIN RETURN @a + 1 END`)
	const sessions, rounds = 4, 60
	var wg sync.WaitGroup
	for range sessions {
		o := openSession(t, e, "d")
		wg.Go(func() {
			for range rounds {
				got := batch(t, o, `EXEC p 1 SELECT COUNT(*) FROM t SELECT dbo.f(1)
CREATE TABLE #t (a int) INSERT #t SELECT v FROM t WHERE id < 5 DROP TABLE #t
SELECT COUNT(*) FROM sys.objects SELECT COUNT(*) FROM sys.dm_exec_sessions`)
				if strings.Contains(got, "error") || strings.Contains(got, "fatal") {
					t.Error(got)
					return
				}
			}
		})
	}
	wg.Go(func() {
		for range rounds {
			run(t, s, `CREATE TABLE other (a int PRIMARY KEY) INSERT other VALUES (1) SELECT a INTO more FROM other DROP TABLE other DROP TABLE more`,
				`CREATE OR ALTER PROCEDURE p @v int AS INSERT t (v) VALUES (@v + 1) SELECT @v`,
				`CREATE INDEX ix ON t (v)`, `DROP INDEX ix ON t`)
		}
	})
	wg.Wait()
	if got := brief(batch(t, s, `SELECT COUNT(*) FROM t`)); got != "row 240" {
		t.Error(got)
	}
}

// TestSharedPlan lets sessions with settings of their own share one plan.
func TestSharedPlan(t *testing.T) {
	t.Parallel()
	e, _ := testDB(t)
	var wg sync.WaitGroup
	for range 4 {
		o := openSession(t, e, "d")
		wg.Go(func() {
			for range 50 {
				got := brief(batch(t, o, `DECLARE @i int = 0 DECLARE @t TABLE (a int) WHILE @i < 5 BEGIN INSERT @t VALUES (@i) SET @i += 1 END SELECT SUM(a), @@SPID - `+itoa(o.SPID())+` FROM @t`))
				if got != "row 10 | 0" {
					t.Error(got)
					return
				}
			}
		})
	}
	wg.Wait()
}
