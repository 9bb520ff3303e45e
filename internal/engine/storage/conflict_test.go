package storage

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"gostress/internal/engine/types"
)

func TestMemoryConflicts(t *testing.T) {
	t.Parallel()
	s, tab := twoRows(t, Memory)
	a, b := s.Begin(Snapshot), s.Begin(Snapshot)
	if err := set(t, tab, a, 1, "x"); err != nil {
		t.Fatal(err)
	}
	wantNumber(t, set(t, tab, b, 1, "y"), 41302) // uncommitted
	wantNumber(t, set(t, tab, b, 2, "y"), 3930)  // and so doomed
	b.Rollback()
	b = s.Begin(Snapshot)
	mustCommit(t, a)
	wantNumber(t, set(t, tab, b, 1, "y"), 41302) // committed since
	wantNumber(t, b.Commit(), 3930)

	a, b = s.Begin(Snapshot), s.Begin(Snapshot)
	mustInsert(t, tab, a, 3, "c")
	_, err := tab.Insert(b, []types.Value{intv(3), str("c")})
	wantNumber(t, err, 41302)
	a.Rollback()
	b.Rollback()

	a = s.Begin(RepeatableRead)
	find1(t, tab, a, 1)
	b = s.Begin(Snapshot)
	if err := set(t, tab, b, 1, "z"); err != nil {
		t.Fatal(err)
	}
	mustCommit(t, b)
	mustInsert(t, tab, a, 9, "written by a")
	wantNumber(t, a.Commit(), 41305)

	a = s.Begin(Serializable)
	if find1(t, tab, a, 7) != 0 {
		t.Fatal("row 7 is there")
	}
	b = s.Begin(Snapshot)
	mustInsert(t, tab, b, 7, "phantom")
	mustCommit(t, b)
	wantNumber(t, a.Commit(), 41325)
	if n := tab.RowCount(); n != 3 {
		t.Errorf("%d rows", n)
	}
}

func TestDiskWriterWaits(t *testing.T) {
	t.Parallel()
	for _, outcome := range []string{"commit", "rollback", "savepoint"} {
		for _, what := range []string{"update", "insert", "delete"} {
			t.Run(outcome+"-"+what, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s, tab := twoRows(t, Disk)
					a, b := begin1(s), begin1(s)
					sp := a.Savepoint()
					switch what {
					case "update":
						if err := set(t, tab, a, 1, "x"); err != nil {
							t.Fatal(err)
						}
					case "insert":
						mustInsert(t, tab, a, 3, "x")
					case "delete":
						if err := tab.Delete(a, find1(t, tab, a, 1)); err != nil {
							t.Fatal(err)
						}
					}
					done := make(chan error)
					go func() {
						switch what {
						case "insert":
							_, err := tab.Insert(b, []types.Value{intv(3), str("y")})
							done <- err
						case "update":
							done <- set(t, tab, b, 1, "y")
						case "delete": // the key's row may come back
							_, err := tab.Insert(b, []types.Value{intv(1), str("y")})
							done <- err
						}
					}()
					synctest.Wait()
					select {
					case err := <-done:
						t.Fatalf("did not wait: %v", err)
					default:
					}
					switch outcome {
					case "commit":
						mustCommit(t, a)
					case "rollback":
						a.Rollback()
					case "savepoint":
						a.RollbackTo(sp)
					}
					err := <-done
					var u *UniqueError
					switch free := outcome != "commit"; {
					case what == "update" && !free:
						if !errors.Is(err, ErrChanged) {
							t.Fatalf("got %v", err)
						}
						if err := set(t, tab, b, 1, "again"); err != nil {
							t.Fatal(err)
						}
					case what == "insert" && !free, what == "delete" && free:
						if !errors.As(err, &u) {
							t.Fatalf("got %v", err)
						}
					case err != nil:
						t.Fatal(err)
					}
					a.Rollback()
					mustCommit(t, b)
				})
			})
		}
	}
}

func TestDeadlock(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s, tab := twoRows(t, Disk)
			a, b := begin1(s), begin1(s)
			a.SetSession(51)
			if first {
				a.SetDeadlockPriority(-5)
			} else {
				mustInsert(t, tab, a, 10, "makes a the dearer one")
			}
			if err := errors.Join(set(t, tab, a, 1, "a"), set(t, tab, b, 2, "b")); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- set(t, tab, a, 2, "a") }()
			synctest.Wait()
			err := set(t, tab, b, 1, "b")
			if first {
				if err != nil {
					t.Fatal(err)
				}
				wantNumber(t, <-done, 1205)
				if !a.Doomed() {
					t.Error("the victim is not doomed")
				}
				a.Rollback()
				mustCommit(t, b)
			} else {
				wantNumber(t, err, 1205)
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				b.Rollback()
				mustCommit(t, a)
			}
			tx := begin1(s)
			defer tx.Rollback()
			var v [2]types.Value
			tab.Read(find1(t, tab, tx, 1), nil, v[:])
			if want := map[bool]string{true: "b", false: "a"}[first]; v[1].Str() != want {
				t.Errorf("row 1 is %q, want %q", v[1].Str(), want)
			}
		})
	}
}

func TestWaitEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, tab := twoRows(t, Disk)
		a, b := begin1(s), begin1(s)
		if err := set(t, tab, a, 1, "a"); err != nil {
			t.Fatal(err)
		}
		b.SetLockTimeout(0)
		wantNumber(t, set(t, tab, b, 1, "b"), 1222)
		b.SetLockTimeout(1500)
		start := time.Now()
		wantNumber(t, set(t, tab, b, 1, "b"), 1222)
		if d := time.Since(start); d != 1500*time.Millisecond {
			t.Errorf("waited %v", d)
		}
		b.SetLockTimeout(-1)
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		b.SetContext(ctx)
		if err := set(t, tab, b, 1, "b"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if b.Doomed() {
			t.Error("a timeout dooms")
		}
		b.StatementBegin()
		if err := tab.Lock(b, find1(t, tab, b, 2)); err != nil {
			t.Fatal(err)
		}
		a.SetLockTimeout(0)
		wantNumber(t, set(t, tab, a, 2, "a"), 1222)
		mustCommit(t, b) // a lock leaves the row as it was
		if err := set(t, tab, a, 2, "a"); err != nil {
			t.Fatal(err)
		}
		mustCommit(t, a)
	})
}

func TestDiskSnapshotConflict(t *testing.T) {
	t.Parallel()
	s, tab := twoRows(t, Disk)
	a, b := s.Begin(Snapshot), begin1(s)
	if err := set(t, tab, b, 1, "b"); err != nil {
		t.Fatal(err)
	}
	mustCommit(t, b)
	wantNumber(t, set(t, tab, a, 1, "a"), 3960)
	a.Rollback()
}

// TestMixedLevels: statements above ReadCommitted share one snapshot, whatever
// the statements between them read.
func TestMixedLevels(t *testing.T) {
	t.Parallel()
	s, tab := twoRows(t, Memory)
	add := func(key int64) {
		tx := begin1(s)
		mustInsert(t, tab, tx, key, "")
		mustCommit(t, tx)
	}
	tx := begin1(s)
	for i, step := range []struct {
		iso  Isolation
		want int
	}{{ReadCommitted, 3}, {Snapshot, 4}, {ReadCommitted, 5}, {Snapshot, 4}, {Serializable, 4}, {ReadCommitted, 8}} {
		add(int64(10 + i))
		tx.SetIsolation(step.iso)
		tx.StatementBegin()
		if got := scanKeys(t, tab, tx); len(got) != step.want {
			t.Errorf("statement %d sees %v, want %d rows", i, got, step.want)
		}
	}
	wantNumber(t, tx.Commit(), 41325)
}
