package exec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestTransactions(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	run(t, s, `CREATE TABLE t (id int PRIMARY KEY)`,
		`CREATE PROCEDURE opens AS BEGIN TRAN`,
		`CREATE PROCEDURE closes AS COMMIT`)
	runBrief(t, s, []briefCase{
		{"commit without begin", "COMMIT SELECT 1", "error 3902 16 1 line 1\nrow 1"},
		{"rollback without begin", "ROLLBACK SELECT 1", "error 3903 16 1 line 1\nrow 1"},
		{"save without begin", "SAVE TRAN a", "error 628 16 0 line 1"},
		{"nesting", "BEGIN TRAN BEGIN TRAN SELECT @@TRANCOUNT COMMIT SELECT @@TRANCOUNT ROLLBACK SELECT @@TRANCOUNT", "row 2\nrow 1\nrow 0"},
		{"savepoint", "BEGIN TRAN INSERT t VALUES (1) SAVE TRAN a INSERT t VALUES (2) ROLLBACK TRAN a SELECT @@TRANCOUNT INSERT t VALUES (3) COMMIT SELECT id FROM t ORDER BY id DELETE t", "row 1\nrow 1\nrow 3"},
		{"name", "BEGIN TRAN outer_one ROLLBACK TRAN outer_one SELECT @@TRANCOUNT", "row 0"},
		{"unknown name", "BEGIN TRAN ROLLBACK TRAN nope ROLLBACK", "error 6401 16 1 line 1"},
		{"name in a variable", "DECLARE @n varchar(9) = 'sp' BEGIN TRAN SAVE TRAN @n INSERT t VALUES (9) ROLLBACK TRAN @n COMMIT SELECT COUNT(*) FROM t", "row 0"},
		{"266 from opening", "EXEC opens SELECT @@TRANCOUNT ROLLBACK", "error 266 16 2 line 0 in dbo.opens\nrow 1"},
		{"266 from closing", "BEGIN TRAN EXEC closes SELECT @@TRANCOUNT", "error 266 16 2 line 0 in dbo.closes\nrow 0"},
		{"implicit", "SET IMPLICIT_TRANSACTIONS ON SELECT COUNT(*) FROM t SELECT @@TRANCOUNT COMMIT SET IMPLICIT_TRANSACTIONS OFF SELECT @@TRANCOUNT", "row 0\nrow 1\nrow 0"},
		{"implicit without tables", "SET IMPLICIT_TRANSACTIONS ON SELECT 1 SELECT @@TRANCOUNT SET IMPLICIT_TRANSACTIONS OFF", "row 1\nrow 0"},
		{"ddl is undone", "BEGIN TRAN CREATE TABLE u (a int) INSERT u VALUES (1) ROLLBACK SELECT OBJECT_ID('u')", "row NULL"},
		{"drop is undone", "BEGIN TRAN DROP TABLE t ROLLBACK SELECT COUNT(*) FROM t", "row 0"},
		{"create database in a transaction", "BEGIN TRAN CREATE DATABASE e; ROLLBACK", "error 226 16 6 line 1"},
		{"xact_state", "SELECT XACT_STATE() BEGIN TRAN SELECT XACT_STATE() ROLLBACK", "row 0\nrow 1"},
		{"table variables keep their rows", "DECLARE @v TABLE (a int) BEGIN TRAN INSERT @v VALUES (1) ROLLBACK SELECT COUNT(*) FROM @v", "row 1"},
		{"temp tables do not", "CREATE TABLE #x (a int) BEGIN TRAN INSERT #x VALUES (1) ROLLBACK SELECT COUNT(*) FROM #x DROP TABLE #x", "row 0"},
		{"serializable over disk tables", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE SELECT * FROM t SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "error 40514 16 1 line 1"},
		{"snapshot not allowed", "SET TRANSACTION ISOLATION LEVEL SNAPSHOT SELECT * FROM t SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "error 3952 16 1 line 1"},
	})
}

func TestMemoryOptimized(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	run(t, s,
		`CREATE TABLE m (id int NOT NULL PRIMARY KEY NONCLUSTERED, v int) WITH (MEMORY_OPTIMIZED = ON)`,
		`CREATE TABLE disk (id int PRIMARY KEY)`,
		`CREATE PROCEDURE two @a int, @b int WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
INSERT dbo.m (id, v) VALUES (@a, 0)
INSERT dbo.m (id, v) VALUES (@b, 0)
END`,
		`CREATE PROCEDURE caught @a int, @b int WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
BEGIN TRY INSERT dbo.m (id, v) VALUES (@a, 1); INSERT dbo.m (id, v) VALUES (@b, 1); END TRY BEGIN CATCH UPDATE dbo.m SET v = 2 WHERE id = @a; END CATCH
END`)
	runBrief(t, s, []briefCase{
		{"read committed in a transaction", "BEGIN TRAN SELECT * FROM m ROLLBACK", "error 41368 16 0 line 1"},
		{"with the hint", "BEGIN TRAN SELECT COUNT(*) FROM m WITH (SNAPSHOT) ROLLBACK", "row 0"},
		{"autocommit", "SELECT COUNT(*) FROM m", "row 0"},
		{"elevated", "ALTER DATABASE d SET MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT ON BEGIN TRAN SELECT COUNT(*) FROM m ROLLBACK ALTER DATABASE d SET MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT OFF", "row 0"},
		{"snapshot session", "SET TRANSACTION ISOLATION LEVEL SNAPSHOT SELECT * FROM m SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "error 41332 16 0 line 1"},
		{"both kinds under rcsi", "ALTER DATABASE d SET READ_COMMITTED_SNAPSHOT ON SELECT COUNT(*) FROM m, disk ALTER DATABASE d SET READ_COMMITTED_SNAPSHOT OFF", "error 41359 16 0 line 1"},
		{"all or nothing", "EXEC two 1, 1 SELECT COUNT(*) FROM m", "error 2627 14 1 line 3 in dbo.two\nrow 0"},
		{"all", "EXEC two 1, 2 SELECT COUNT(*) FROM m DELETE m", "row 2"},
		{"in a transaction, to its savepoint", "BEGIN TRAN INSERT disk VALUES (1) EXEC two 5, 5 SELECT @@TRANCOUNT, XACT_STATE() COMMIT SELECT COUNT(*) FROM disk SELECT COUNT(*) FROM m", "error 2627 14 1 line 3 in dbo.two\nrow 1 | 1\nrow 1\nrow 0"},
		{"undone by the caller", "BEGIN TRAN EXEC two 5, 6 ROLLBACK SELECT COUNT(*) FROM m", "row 0"},
		{"try within", "EXEC caught 7, 7 SELECT id, v FROM m DELETE m", "row 7 | 2"},
		{"caught by the caller", "BEGIN TRY EXEC two 1, 1 END TRY BEGIN CATCH SELECT ERROR_NUMBER(), XACT_STATE() END CATCH", "row 2627 | 0"},
		{"no options", "CREATE PROCEDURE bad WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH (LANGUAGE = N'us_english') SELECT 1 END", "error 10784 16 1 line 1"},
	})
}

// TestConflicts meets two sessions in one row.
func TestConflicts(t *testing.T) {
	t.Parallel()
	e, a := testDB(t)
	run(t, a, `CREATE TABLE m (id int NOT NULL PRIMARY KEY NONCLUSTERED, v int) WITH (MEMORY_OPTIMIZED = ON)`,
		`ALTER DATABASE d SET MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT ON`,
		`CREATE TABLE k (id int PRIMARY KEY, v int)`,
		`INSERT m VALUES (1, 0) INSERT k VALUES (1, 0), (2, 0)`)
	b := openSession(t, e, "d")
	t.Run("write conflict", func(t *testing.T) {
		run(t, a, `BEGIN TRAN UPDATE m SET v = 1 WHERE id = 1`)
		if got := brief(batch(t, b, "BEGIN TRAN UPDATE m SET v = 2 WHERE id = 1 SELECT 'no'")); got != "error 41302 16 110 line 1\nerror 3998 16 1 line 1" {
			t.Error(got)
		}
		if got := brief(batch(t, b, "BEGIN TRAN BEGIN TRY UPDATE m SET v = 2 WHERE id = 1 END TRY BEGIN CATCH SELECT ERROR_NUMBER(), XACT_STATE() ROLLBACK END CATCH SELECT @@TRANCOUNT")); got != "row 41302 | -1\nrow 0" {
			t.Error(got)
		}
		run(t, a, `COMMIT`)
		run(t, b, `UPDATE m SET v = 3 WHERE id = 1`)
	})
	t.Run("lock timeout", func(t *testing.T) {
		run(t, a, `BEGIN TRAN UPDATE k SET v = 1 WHERE id = 1`)
		if got := brief(batch(t, b, "SET LOCK_TIMEOUT 10 UPDATE k SET v = 2 WHERE id = 1 SET LOCK_TIMEOUT -1 SELECT @@LOCK_TIMEOUT")); !strings.HasPrefix(got, "error 1222 16 51 line 1") || !strings.HasSuffix(got, "row -1") {
			t.Error(got)
		}
		run(t, a, `ROLLBACK`)
	})
	t.Run("deadlock", func(t *testing.T) {
		run(t, a, `BEGIN TRAN UPDATE k SET v = 1 WHERE id = 1`)
		run(t, b, `SET DEADLOCK_PRIORITY LOW BEGIN TRAN UPDATE k SET v = 2 WHERE id = 2`)
		got := make(chan string)
		go func() { got <- brief(batch(t, a, `UPDATE k SET v = 1 WHERE id = 2 SELECT @@ROWCOUNT COMMIT`)) }()
		full := batch(t, b, `UPDATE k SET v = 2 WHERE id = 1 SELECT 'no'`)
		if !strings.Contains(full, fmt.Sprintf("process ID %d)", b.SPID())) {
			t.Errorf("the victim %d is not named: %s", b.SPID(), full)
		}
		victim := brief(full)
		if !strings.HasPrefix(victim, "error 1205 13") || strings.Contains(victim, "row") {
			t.Error(victim)
		}
		if g := <-got; g != "row 1" {
			t.Error(g)
		}
		if g := brief(batch(t, b, `SELECT @@TRANCOUNT SELECT v FROM k ORDER BY id`)); g != "row 0\nrow 1\nrow 1" {
			t.Error(g)
		}
	})
	t.Run("a writer waits for the other", func(t *testing.T) {
		run(t, a, `UPDATE k SET v = 0 BEGIN TRAN UPDATE k SET v = v + 1 WHERE id = 1`)
		done := make(chan string)
		go func() { done <- brief(batch(t, b, `UPDATE k SET v = v + 1 WHERE id = 1`)) }()
		run(t, a, `COMMIT`)
		if g := <-done; g != "" {
			t.Error(g)
		}
		if g := brief(batch(t, a, `SELECT v FROM k WHERE id = 1`)); g != "row 2" {
			t.Error(g)
		}
	})
}

// cancelling cancels a request at its first message.
type cancelling struct {
	discard
	cancel func()
}

func (c cancelling) Event(e Event) error {
	if _, ok := e.(*Message); ok {
		c.cancel()
	}
	return nil
}

// TestCancel cancels requests that would never end.
func TestCancel(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	run(t, s, `CREATE TABLE t (id int PRIMARY KEY)`)
	for _, c := range []struct{ name, text string }{
		{"tight loop", `WHILE 1 = 1 SELECT 1`},
		{"loop of assignments", `DECLARE @i bigint = 0 WHILE 1 = 1 SET @i += 1`},
		{"waitfor", `WAITFOR DELAY '01:00'`},
		{"in a procedure", `EXEC('WAITFOR DELAY ''01:00''')`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			err := s.Batch(ctx, `BEGIN TRAN INSERT t VALUES (1) PRINT 'now' `+c.text, cancelling{cancel: cancel})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			if got := brief(batch(t, s, `SELECT @@TRANCOUNT ROLLBACK SELECT COUNT(*) FROM t`)); got != "row 1\nrow 0" {
				t.Error(got)
			}
		})
	}
	t.Run("with xact_abort", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		_ = s.Batch(ctx, `SET XACT_ABORT ON BEGIN TRAN PRINT 'now' WAITFOR DELAY '01:00'`, cancelling{cancel: cancel})
		if got := brief(batch(t, s, `SELECT @@TRANCOUNT SET XACT_ABORT OFF`)); got != "row 0" {
			t.Error(got)
		}
	})
}

func TestKill(t *testing.T) {
	t.Parallel()
	e, s := testDB(t)
	o := openSession(t, e, "d")
	run(t, s, `CREATE TABLE t (id int PRIMARY KEY)`)
	done := make(chan error)
	go func() {
		done <- o.Batch(context.Background(), `BEGIN TRAN INSERT t VALUES (1) WAITFOR DELAY '01:00'`, discard{})
	}()
	for !o.live.active() {
		time.Sleep(time.Millisecond)
	}
	run(t, s, `KILL `+itoa(o.SPID()))
	if err := <-done; err == nil || !strings.Contains(err.Error(), "596") {
		t.Errorf("error %v", err)
	}
	select {
	case <-o.Killed():
	default:
		t.Error("not killed")
	}
	if got := brief(batch(t, s, `SELECT COUNT(*) FROM t`)); got != "row 0" {
		t.Error(got)
	}
	runBrief(t, s, []briefCase{
		{"yourself", "KILL " + itoa(s.SPID()), "error 6104 16 1 line 1"},
		{"nobody", "KILL 999", "error 6106 16 2 line 1"},
	})
}

func TestManager(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	ctx := context.Background()
	var out transcript
	for _, f := range []func() error{
		func() error { return s.Begin(ctx, 2, "a", &out) },
		func() error { return s.Save(ctx, "p", &out) },
		func() error { return s.Rollback(ctx, "p", false, 0, "", &out) },
		func() error { return s.Commit(ctx, true, 0, "", &out) },
		func() error { return s.Rollback(ctx, "", false, 0, "", &out) },
		func() error { return s.Commit(ctx, false, 0, "", &out) },
	} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	want := "env begin \ndone other tran\ndone other tran\ndone other tran\nenv commit \nenv begin \ndone other tran\nenv rollback \ndone other\n"
	got := out.b.String()
	if !strings.HasPrefix(got, want) || !strings.Contains(got[len(want):], "error 3902 16 1") {
		t.Errorf("got\n%s", got)
	}
}
