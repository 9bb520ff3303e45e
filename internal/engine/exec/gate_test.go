package exec

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestLayoutBeside changes indexes and columns of a table while other sessions
// look up rows by them: no statement runs on a plan of another layout.
func TestLayoutBeside(t *testing.T) {
	t.Parallel()
	e, s := testDB(t)
	run(t, s, `CREATE TABLE t (id int IDENTITY PRIMARY KEY, a int NOT NULL, b int NOT NULL, c varchar(9) NOT NULL DEFAULT 'c')`,
		`INSERT t (a, b) SELECT value, 1000 + value FROM GENERATE_SERIES(1, 50)`,
		`CREATE INDEX ia ON t (a)`, `CREATE INDEX ib ON t (b)`)
	const sessions, rounds = 4, 150
	var readers, changers sync.WaitGroup
	stop := make(chan struct{})
	for range sessions {
		o := openSession(t, e, "d")
		readers.Go(func() {
			for range rounds {
				got := brief(batch(t, o, `DECLARE @i int = 7 SELECT b FROM t WHERE a = @i SELECT a, c FROM t WHERE b = 1000 + @i UPDATE t SET c = 'c' WHERE b = 1008
IF EXISTS (SELECT 1 FROM t WHERE a = 9) SELECT COUNT(*) FROM t x JOIN t y ON x.a = y.b - 1000`))
				if got != "row 1007\nrow 7 | c\nrow 50" {
					t.Error(got)
					return
				}
			}
		})
	}
	changers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			run(t, s, `DROP INDEX ia ON t`, `ALTER TABLE t ADD d int NULL`, `CREATE INDEX ia ON t (a)`, `DROP INDEX ib ON t`,
				`ALTER TABLE t DROP COLUMN d`, `CREATE INDEX ib ON t (b)`, `BEGIN TRAN DROP INDEX ia ON t UPDATE t SET c = 'x' DROP INDEX ib ON t ROLLBACK`,
				`BEGIN TRAN DROP INDEX ib ON t CREATE INDEX ib ON t (b) INCLUDE (c) COMMIT`)
		}
	})
	readers.Wait()
	close(stop)
	changers.Wait()
}

// TestLayoutGivesWay has a change of layout meet a statement that waits for a row
// lock, whose holder must go on.
func TestLayoutGivesWay(t *testing.T) {
	t.Parallel()
	e, holder := testDB(t)
	run(t, holder, `CREATE TABLE t (id int PRIMARY KEY, v int)`, `INSERT t VALUES (1, 0)`, `BEGIN TRAN UPDATE t SET v = 1 WHERE id = 1`)
	waiter, changer := openSession(t, e, "d"), openSession(t, e, "d")
	var wg sync.WaitGroup
	wg.Go(func() { run(t, waiter, `UPDATE t SET v = v + 10 WHERE id = 1`) })
	for e.gate.state.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if got := brief(batch(t, changer, `SET LOCK_TIMEOUT 0 CREATE INDEX iv ON t (v)`)); !strings.HasPrefix(got, "error 1222") {
		t.Error(got)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := changer.Batch(ctx, `SET LOCK_TIMEOUT -1 CREATE INDEX iv ON t (v)`, discard{}); err == nil {
		t.Error("a change that was cancelled has no error")
	}
	wg.Go(func() { run(t, changer, `CREATE INDEX iv ON t (v)`) })
	for e.gate.state.Load() < shut {
		time.Sleep(time.Millisecond)
	}
	run(t, holder, `SELECT v FROM t`, `COMMIT`)
	wg.Wait()
	if got := brief(batch(t, holder, `SELECT v FROM t WHERE v = 11 SELECT COUNT(*) FROM sys.indexes WHERE name = 'iv'`)); got != "row 11\nrow 1" {
		t.Error(got)
	}
	if n := e.gate.state.Load(); n != 0 {
		t.Errorf("the gate is left at %d", n)
	}
}

// TestLayoutInTransaction keeps other sessions out until the transaction ends: what
// they would meet may yet be taken back.
func TestLayoutInTransaction(t *testing.T) {
	t.Parallel()
	e, s := testDB(t)
	run(t, s, `CREATE TABLE t (id int PRIMARY KEY, v int)`, `INSERT t VALUES (1, 5)`)
	e.gate.tran = 20 * time.Millisecond
	o := openSession(t, e, "d")
	for _, end := range []string{"COMMIT", "ROLLBACK"} {
		run(t, s, `BEGIN TRAN SAVE TRAN a CREATE INDEX iv ON t (v) ROLLBACK TRAN a CREATE INDEX iv ON t (v) UPDATE t SET v = 6`)
		for query, want := range map[string]string{
			`SET LOCK_TIMEOUT 0 SELECT v FROM t`:                                    "error 1222 16 51 line 1",
			`SET LOCK_TIMEOUT -1 BEGIN TRAN SELECT v FROM t`:                        "error 1205 13 51 line 1",
			`SET LOCK_TIMEOUT 0 CREATE INDEX other ON t (v) SET LOCK_TIMEOUT -1`:    "error 1222 16 51 line 1",
			`CREATE TABLE #t (a int) INSERT #t VALUES (3) DROP TABLE #t SELECT 'x'`: "",
		} {
			if got := brief(batch(t, o, query)); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s", query, got)
			}
			run(t, o, `IF @@TRANCOUNT > 0 ROLLBACK SET LOCK_TIMEOUT -1`)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if got := brief(batch(t, o, `SELECT id FROM t WHERE v IN (5, 6)`)); got != "row 1" {
				t.Error(got)
			}
		})
		run(t, s, end, `DROP INDEX IF EXISTS iv ON t`)
		wg.Wait()
	}
	run(t, s, `SET IMPLICIT_TRANSACTIONS ON`, `CREATE INDEX iv ON t (v)`)
	s.Close()
	if got := brief(batch(t, o, `SELECT id FROM t WHERE v IN (5, 6) SELECT COUNT(*) FROM sys.indexes WHERE name = 'iv'`)); got != "row 1\nrow 0" {
		t.Error(got)
	}
	if n := e.gate.state.Load(); n != 0 {
		t.Errorf("the gate is left at %d", n)
	}
}

// TestCursorOverAnotherLayout opens a cursor whose table changed since it was declared.
func TestCursorOverAnotherLayout(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	run(t, s, `CREATE TABLE t (id int PRIMARY KEY, v int)`, `INSERT t VALUES (1, 5)`, `CREATE INDEX iv ON t (v)`)
	got := brief(batch(t, s, `DECLARE c CURSOR FOR SELECT id FROM t WHERE v = 5
DROP INDEX iv ON t
OPEN c
DEALLOCATE c
DECLARE c CURSOR FOR SELECT id FROM t WHERE v = 5 OPEN c FETCH c DEALLOCATE c`))
	if !strings.HasPrefix(got, "error 16943 16") || !strings.HasSuffix(got, "row 1") {
		t.Error(got)
	}
	run(t, s, `CREATE TABLE #t (id int PRIMARY KEY, v int)`, `INSERT #t VALUES (1, 5)`, `CREATE INDEX iv ON #t (v)`)
	got = brief(batch(t, s, `DECLARE c CURSOR FOR SELECT id FROM #t WHERE v = 5
CREATE TABLE #other (a int)
OPEN c FETCH c CLOSE c
ALTER TABLE #t ADD w int
OPEN c`))
	if !strings.HasPrefix(got, "row 1\nerror 16943 16") {
		t.Error(got)
	}
}
