package exec

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestWaitsAreShown looks at sessions that wait for each other, as an observer does.
func TestWaitsAreShown(t *testing.T) {
	t.Parallel()
	const seen = `SELECT w.session_id, w.wait_type, w.blocking_session_id, r.blocking_session_id, r.wait_type, r.status, r.wait_time
		FROM sys.dm_os_waiting_tasks AS w JOIN sys.dm_exec_requests AS r ON r.session_id = w.session_id ORDER BY w.session_id`
	for _, c := range []struct{ name, hold, wait, kind string }{
		{"update", `BEGIN TRAN UPDATE t SET v = 1 WHERE id = 1`, `UPDATE t SET v = 2 WHERE id = 1`, "LCK_M_X"},
		{"delete", `BEGIN TRAN DELETE t WHERE id = 1`, `DELETE t`, "LCK_M_X"},
		{"insert of the same key", `BEGIN TRAN INSERT t VALUES (2, 0)`, `INSERT t VALUES (2, 0)`, "LCK_M_X"},
		{"update lock", `BEGIN TRAN UPDATE t SET v = 1 WHERE id = 1`, `SELECT * FROM t WITH (UPDLOCK) WHERE id = 1`, "LCK_M_U"},
		{"foreign key", `BEGIN TRAN DELETE t WHERE id = 1`, `INSERT child VALUES (1)`, "LCK_M_S"},
		{"application lock", `BEGIN TRAN EXEC sp_getapplock 'a', 'Exclusive'`, `BEGIN TRAN EXEC sp_getapplock 'a', 'Shared'`, "LCK_M_S"},
		{"change of the layout", `BEGIN TRAN ALTER TABLE t ADD w int NULL`, `UPDATE t SET v = 2 WHERE id = 1`, "LCK_M_SCH_S"},
		{"two changes of the layout", `BEGIN TRAN ALTER TABLE t ADD w int NULL`, `ALTER TABLE t ADD x int NULL`, "LCK_M_SCH_M"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e, s := testDB(t)
			run(t, s, `CREATE TABLE t (id int PRIMARY KEY, v int)`)
			run(t, s, `CREATE TABLE child (id int REFERENCES t (id))`)
			run(t, s, `INSERT t VALUES (1, 0)`)
			holder, waiter := openSession(t, e, "d"), openSession(t, e, "d")
			run(t, holder, c.hold)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- waiter.Batch(ctx, c.wait, discard{}) }()
			want := fmt.Sprintf("row %d | %s | %[3]d | %[3]d | %[2]s | suspended | ", waiter.SPID(), c.kind, holder.SPID())
			look := openSession(t, e, "d")
			var got string
			for deadline := time.Now().Add(30 * time.Second); !strings.HasPrefix(got, want); time.Sleep(time.Millisecond) {
				got = ""
				for _, r := range e.Sessions() {
					if q := r.Request; q != nil && q.WaitType != "" {
						got = fmt.Sprintf("row %d | %s | %[3]d | %[3]d | %[2]s | %[4]s | ", r.ID, q.WaitType, q.Blocking, q.Status)
					}
				}
				if time.Now().After(deadline) {
					t.Fatalf("got %q, want %q", got, want)
				}
			}
			if !strings.Contains(c.name, "layout") { // which keeps queries out
				if rows := batch(t, look, seen); !strings.Contains(rows, want) {
					t.Errorf("got\n%s\nwant %s", rows, want)
				}
			}
			run(t, holder, `ROLLBACK`)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if rows := batch(t, look, seen); strings.Contains(rows, "row ") {
				t.Errorf("still\n%s", rows)
			}
		})
	}
}
