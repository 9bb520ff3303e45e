package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// TestForeignKeyRaces lets sessions insert children, delete and update their
// parents at the same time: no child may be left without its parent.
func TestForeignKeyRaces(t *testing.T) {
	t.Parallel()
	const (
		disk   = `CREATE TABLE %s (%s)`
		memory = `CREATE TABLE %s (%s) WITH (MEMORY_OPTIMIZED = ON)`
		parent = `id int NOT NULL PRIMARY KEY NONCLUSTERED, v int`
	)
	for _, c := range []struct{ name, table, child string }{
		{"disk", disk, `id int IDENTITY PRIMARY KEY, pid int FOREIGN KEY REFERENCES p (id)`},
		{"disk, indexed", disk, `id int IDENTITY PRIMARY KEY, pid int FOREIGN KEY REFERENCES p (id), INDEX ix (pid)`},
		{"disk, cascade", disk, `id int IDENTITY PRIMARY KEY, pid int FOREIGN KEY REFERENCES p (id) ON DELETE CASCADE, INDEX ix (pid)`},
		{"memory", memory, `id int IDENTITY(1,1) NOT NULL PRIMARY KEY NONCLUSTERED, pid int FOREIGN KEY REFERENCES p (id), INDEX ix NONCLUSTERED (pid)`},
		{"memory, hash", memory, `id int IDENTITY(1,1) NOT NULL PRIMARY KEY NONCLUSTERED, pid int FOREIGN KEY REFERENCES p (id), INDEX ix HASH (pid) WITH (BUCKET_COUNT = 16)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e, s := testDB(t)
			run(t, s, fmt.Sprintf(c.table, "p", parent), fmt.Sprintf(c.table, "c", c.child))
			var wg sync.WaitGroup
			for w := range 6 {
				o := openSession(t, e, "d")
				run(t, o, `SET LOCK_TIMEOUT 5000`)
				if strings.HasPrefix(c.name, "memory") {
					run(t, s, `ALTER DATABASE d SET MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT ON`)
				}
				rng := rand.New(rand.NewPCG(1, uint64(w)))
				wg.Add(1)
				go func() {
					defer wg.Done()
					for range 400 {
						id := rng.IntN(3)
						text := [...]string{
							`INSERT p VALUES (%d, 0)`, `INSERT c (pid) VALUES (%d)`, `INSERT c (pid) VALUES (%d)`,
							`DELETE p WHERE id = %d`, `DELETE c WHERE pid = %d`, `UPDATE p SET v = v + 1 WHERE id = %d`,
							`UPDATE c SET pid = %d WHERE id % 3 = 0`,
						}[rng.IntN(7)]
						text = strings.Replace(text, "%d", fmt.Sprint(id), 1)
						if rng.IntN(2) == 0 {
							text = "BEGIN TRAN " + text + " IF XACT_STATE() = 1 COMMIT ELSE IF @@TRANCOUNT > 0 ROLLBACK"
						}
						var out transcript
						if err := o.Batch(context.Background(), text, &out); err != nil {
							t.Errorf("%s: %v", text, err)
							return
						}
						for _, l := range strings.Split(out.b.String(), "\n") {
							var n int
							if _, err := fmt.Sscanf(l, "error %d ", &n); err == nil {
								switch n {
								case 547, 2627, 1205, 41302, 41305, 41325, 3998:
								default:
									t.Errorf("%s: %s", text, l)
								}
							}
						}
					}
				}()
			}
			wg.Wait()
			if got := brief(batch(t, s, `SELECT COUNT(*) FROM c WHERE pid IS NOT NULL AND pid NOT IN (SELECT id FROM p)`)); got != "row 0" {
				t.Errorf("children without a parent: %s", got)
			}
		})
	}
}

// TestForeignKeyMeets takes two sessions step by step: what one has done to a
// parent or a child and not committed, the other must meet.
func TestForeignKeyMeets(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct{ name, with, met string }{
		{"disk", ``, "error 1222 "},
		{"memory", ` WITH (MEMORY_OPTIMIZED = ON)`, "error 41302 "},
	} {
		for _, c := range []struct {
			name          string
			first, second string
			end, again    string // what the first session does then, and what the second one's statement gives after it
		}{
			{"a child came", `INSERT c VALUES (10, 1)`, `DELETE p WHERE id = 1`, `COMMIT`, "error 547 "},
			{"a child came and went", `INSERT c VALUES (10, 1)`, `DELETE p WHERE id = 1`, `ROLLBACK`, "done DELETE 1"},
			{"a child moved", `UPDATE c SET pid = 1 WHERE id = 20`, `DELETE p WHERE id = 1`, `COMMIT`, "error 547 "},
			{"the parent went", `DELETE p WHERE id = 1`, `INSERT c VALUES (10, 1)`, `COMMIT`, "error 547 "},
			{"the parent stays", `DELETE p WHERE id = 1`, `INSERT c VALUES (10, 1)`, `ROLLBACK`, "done INSERT 1"},
			{"the parent went from under an update", `DELETE p WHERE id = 1`, `UPDATE c SET pid = 1 WHERE id = 20`, `COMMIT`, "error 547 "},
			{"the parent changed", `UPDATE p SET v = 5 WHERE id = 1`, `INSERT c VALUES (10, 1)`, `COMMIT`, "done INSERT 1"},
			{"by merge", `DELETE p WHERE id = 1`, `MERGE c USING (SELECT 10 AS id) s ON c.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (10, 1);`, `COMMIT`, "error 547 "},
		} {
			t.Run(kind.name+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				e, a := testDB(t)
				run(t, a, `ALTER DATABASE d SET MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT ON`,
					`CREATE TABLE p (id int NOT NULL PRIMARY KEY NONCLUSTERED, v int)`+kind.with,
					`CREATE TABLE c (id int NOT NULL PRIMARY KEY NONCLUSTERED, pid int FOREIGN KEY REFERENCES p (id))`+kind.with,
					`INSERT p VALUES (1, 0), (2, 0)`, `INSERT c VALUES (20, 2)`)
				b := openSession(t, e, "d")
				run(t, b, `SET LOCK_TIMEOUT 0`)
				run(t, a, `BEGIN TRAN `+c.first)
				if got := batch(t, b, c.second); !strings.Contains(got, kind.met) {
					t.Errorf("%s while %s is open:\n%s", c.second, c.first, got)
				}
				run(t, a, c.end)
				if got := batch(t, b, c.second); !strings.Contains(got, c.again) {
					t.Errorf("%s after %s:\n%s", c.second, c.end, got)
				}
			})
		}
	}
}
