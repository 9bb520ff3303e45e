package exec

import (
	"context"
	"errors"
	"testing"
	"time"
)

// waiting is an Output that tells when a request has sent its first token.
type waiting struct {
	transcript
	once chan struct{}
}

func (w *waiting) Event(e Event) error {
	if _, ok := e.(*Message); ok {
		select {
		case w.once <- struct{}{}:
		default:
		}
	}
	return w.transcript.Event(e)
}

// TestAttention cancels statements of every kind in their middle: the request
// ends, and the transaction stays open unless XACT_ABORT is ON.
func TestAttention(t *testing.T) {
	t.Parallel()
	const rows = `;WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 2000) `
	for _, c := range []struct{ name, text string }{
		{"waitfor delay", `WAITFOR DELAY '01:00:00'`},
		{"waitfor time", `DECLARE @t char(8) = CONVERT(char(8), DATEADD(hour, 2, GETDATE()), 108) WAITFOR TIME @t`},
		{"loop", `DECLARE @x int WHILE 1 = 1 SET @x = 1`},
		{"cross join", `SELECT COUNT_BIG(*) FROM big a CROSS JOIN big b CROSS JOIN big c`},
		{"rows to the client", `SELECT a.i FROM big a CROSS JOIN big b CROSS JOIN big c`},
		{"sort", `SELECT TOP 1 a.i FROM big a CROSS JOIN big b CROSS JOIN big c ORDER BY a.i + b.i + c.i`},
		{"hash join", `SELECT COUNT_BIG(*) FROM big a JOIN big b ON a.i % 2 = b.i % 2 JOIN big c ON b.i % 2 = c.i % 2`},
		{"recursion", `;WITH r AS (SELECT 1 AS i UNION ALL SELECT 1 - i FROM r) SELECT COUNT_BIG(*) FROM r OPTION (MAXRECURSION 0)`},
		{"insert", `INSERT sink SELECT a.i FROM big a CROSS JOIN big b CROSS JOIN big c`},
		{"update", `UPDATE big SET i = (SELECT COUNT_BIG(*) FROM big a CROSS JOIN big b CROSS JOIN big c)`},
		{"delete", `DELETE big WHERE (SELECT COUNT_BIG(*) FROM big a CROSS JOIN big b CROSS JOIN big c WHERE a.i + big.i > 0) = 0`},
		{"select into", `SELECT a.i INTO #x FROM big a CROSS JOIN big b CROSS JOIN big c`},
		{"assignment", `DECLARE @n bigint SELECT @n = COUNT_BIG(*) FROM big a CROSS JOIN big b CROSS JOIN big c`},
		{"if", `IF (SELECT COUNT_BIG(*) FROM big a CROSS JOIN big b CROSS JOIN big c) = 0 PRINT 'x'`},
		{"row lock", `UPDATE held SET v = 2`},
		{"application lock", `EXEC sp_getapplock 'held', 'Exclusive', 'Session'`},
		{"cursor", `DECLARE c CURSOR LOCAL FOR SELECT a.i FROM big a CROSS JOIN big b CROSS JOIN big c WHERE a.i + b.i + c.i < 0 OPEN c`},
		{"procedure", `EXEC forever`},
		{"dynamic", `EXEC ('WAITFOR DELAY ''01:00:00''')`},
		{"scalar function", `SELECT dbo.endless(1)`},
		{"caught", `BEGIN TRY WAITFOR DELAY '01:00:00' END TRY BEGIN CATCH SELECT 1 END CATCH SELECT 2`},
		{"native", `EXEC spin`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e, s := testDB(t)
			run(t, s, `CREATE TABLE big (i bigint)`, rows+`INSERT big SELECT i FROM n OPTION (MAXRECURSION 0)`, `CREATE TABLE sink (i bigint)`,
				`CREATE TABLE held (id int PRIMARY KEY, v int)`, `INSERT held VALUES (1, 1)`, `CREATE TABLE mark (i int)`,
				`CREATE PROCEDURE forever AS WHILE 1 = 1 WAITFOR DELAY '00:10:00'`,
				`CREATE FUNCTION endless(@i int) RETURNS int AS BEGIN WHILE 1 = 1 SET @i = 1 - @i RETURN @i END`,
				`CREATE PROCEDURE spin WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
					DECLARE @i int = 1; WHILE @i > 0 BEGIN SET @i = 3 - @i END END`)
			other := openSession(t, e, "d")
			run(t, other, `BEGIN TRAN UPDATE held SET v = 5`, `EXEC sp_getapplock 'held', 'Exclusive', 'Session'`)
			for _, abort := range []bool{false, true} {
				set, left := `SET XACT_ABORT OFF`, "row 1 | 1"
				if abort {
					set, left = `SET XACT_ABORT ON`, "row 0 | 0"
				}
				run(t, s, `IF @@TRANCOUNT > 0 ROLLBACK`, `TRUNCATE TABLE mark`, set, `BEGIN TRAN INSERT mark VALUES (1)`)
				ctx, cancel := context.WithCancel(context.Background())
				out := &waiting{once: make(chan struct{}, 1)}
				go func() {
					<-out.once
					time.Sleep(20 * time.Millisecond) // into the statement
					cancel()
				}()
				ended := make(chan error, 1)
				go func() { ended <- s.Batch(ctx, "RAISERROR ('now', 0, 1) WITH NOWAIT "+c.text, out) }()
				select {
				case err := <-ended:
					if !errors.Is(err, context.Canceled) {
						t.Fatalf("XACT_ABORT %v: %v\n%.300s", abort, err, out.b.String())
					}
				case <-time.After(60 * time.Second):
					t.Fatalf("XACT_ABORT %v: the statement does not stop", abort)
				}
				if got := brief(batch(t, s, `SELECT @@TRANCOUNT, COUNT(*) FROM mark`)); got != left {
					t.Errorf("XACT_ABORT %v: @@TRANCOUNT and rows are %s, want %s", abort, got, left)
				}
			}
		})
	}
}
