package storage

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"gostress/internal/engine/types"
)

func begin1(s *Store) *Tx { return s.Begin(ReadCommitted) }

// twoRows is a table with rows 1 and 2.
func twoRows(t *testing.T, kind Kind) (*Store, *Table) {
	s, tab := newTable(pairs(kind, Ordered))
	tx := begin1(s)
	mustInsert(t, tab, tx, 1, "a")
	mustInsert(t, tab, tx, 2, "b")
	mustCommit(t, tx)
	return s, tab
}

func set(t *testing.T, tab *Table, tx *Tx, key int64, text string) error {
	tx.StatementBegin()
	return tab.Update(tx, find1(t, tab, tx, key), []types.Value{intv(key), str(text)})
}

// accounts runs transfers between accounts by several goroutines while others
// check that every snapshot has the same sum.
func accounts(t *testing.T, kind Kind, iso Isolation, ik IndexKind) {
	const n, workers, transfers = 20, 4, 400
	s, tab := newTable(TableDef{Kind: kind, Columns: []Column{{Type: types.Int}, {Type: types.BigInt}}, Indexes: []IndexDef{
		{Columns: []int{0}, Unique: true, Kind: ik, Buckets: 8},
		{Columns: []int{1}, Kind: ik, Buckets: 8},
		{Columns: []int{1, 0}, Kind: Ordered, Unique: true},
	}})
	big := func(n int64) types.Value { return types.NewInt(types.KindBigInt, n) }
	tx := begin1(s)
	for i := range int64(n) {
		if _, err := tab.Insert(tx, []types.Value{intv(i), big(100)}); err != nil {
			t.Fatal(err)
		}
	}
	mustCommit(t, tx)
	add := func(tx *Tx, key, amount int64) error {
		for {
			sp := tx.Savepoint()
			tx.StatementBegin()
			id := find1(t, tab, tx, key)
			if id == 0 {
				return errors.New("an account is gone")
			}
			var v [2]types.Value
			tab.Read(id, nil, v[:])
			err := tab.Update(tx, id, []types.Value{v[0], big(v[1].Int() + amount)})
			if !errors.Is(err, ErrChanged) {
				return err
			}
			tx.RollbackTo(sp)
		}
	}
	var retries, moved atomic.Int64
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for w := range workers {
		writers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 1))
			for i := 0; i < transfers; {
				tx := s.Begin(iso)
				a, b := r.Int64N(n), r.Int64N(n)
				err := add(tx, a, -1)
				if err == nil {
					err = add(tx, b, 1)
				}
				if err == nil {
					err = tx.Commit()
				} else {
					tx.Rollback()
				}
				switch number(err) {
				case 0:
					if err != nil {
						t.Error(err)
						return
					}
					i++
					moved.Add(1)
				case 41302, 41305, 41325, 1205, 3960:
					retries.Add(1)
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				tx := s.Begin(Snapshot)
				sum, rows := int64(0), 0
				count := func(id RowID) (bool, error) {
					var v [1]types.Value
					tab.Read(id, []int{1}, v[:])
					sum += v[0].Int()
					rows++
					return true, nil
				}
				var err error
				if i == 0 {
					err = tab.Scan(tx, count)
				} else {
					err = tab.Range(tx, 2, Bound{}, Bound{}, true, count)
				}
				if err != nil || sum != n*100 || rows != n {
					t.Errorf("a snapshot has %d in %d accounts, %v", sum, rows, err)
				}
				tx.Rollback()
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	if tab.RowCount() != n || moved.Load() != workers*transfers {
		t.Errorf("%d rows, %d transfers", tab.RowCount(), moved.Load())
	}
	t.Logf("%d retries", retries.Load())
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind Kind
		iso  Isolation
		ik   IndexKind
	}{
		"memory-snapshot-hash":     {Memory, Snapshot, Hash},
		"memory-repeatable-hash":   {Memory, RepeatableRead, Hash},
		"memory-serializable-tree": {Memory, Serializable, Ordered},
		"disk-readcommitted-tree":  {Disk, ReadCommitted, Ordered},
		"disk-snapshot-tree":       {Disk, Snapshot, Ordered},
		"disk-readcommitted-hash":  {Disk, ReadCommitted, Hash},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			accounts(t, c.kind, c.iso, c.ik)
		})
	}
}

// TestSerializable: pairs of rows of which at most one may be set; snapshots
// alone would let two transactions set both (write skew).
func TestSerializable(t *testing.T) {
	t.Parallel()
	s, tab := newTable(pairs(Memory, Ordered))
	var wg sync.WaitGroup
	var set atomic.Int64
	for w := range int64(4) {
		wg.Go(func() {
			for pair := range int64(300) {
				tx := s.Begin(Serializable)
				free := true
				for k := pair * 10; k < pair*10+4; k++ {
					free = free && find1(t, tab, tx, k) == 0
				}
				if free {
					if _, err := tab.Insert(tx, []types.Value{intv(pair*10 + w), str("")}); err != nil {
						t.Error(err)
					}
				}
				switch err := tx.Commit(); number(err) {
				case 0:
					if free {
						set.Add(1)
					}
				case 41325:
				default:
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	tx := begin1(s)
	defer tx.Rollback()
	seen := map[int64]bool{}
	for _, k := range scanKeys(t, tab, tx) {
		if seen[k/10] {
			t.Fatalf("pair %d is set twice", k/10)
		}
		seen[k/10] = true
	}
	if int64(len(seen)) != set.Load() {
		t.Errorf("%d pairs are set, %d commits said so", len(seen), set.Load())
	}
}

// TestUniqueRace: of many who insert one key exactly one succeeds.
func TestUniqueRace(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{Memory, Disk} {
		for _, ik := range []IndexKind{Hash, Ordered} {
			s, tab := newTable(pairs(kind, ik))
			var wg sync.WaitGroup
			var won atomic.Int64
			for range 4 {
				wg.Go(func() {
					for k := range int64(500) {
						tx := begin1(s)
						_, err := tab.Insert(tx, []types.Value{intv(k), {}})
						if err != nil {
							if n := number(err); n != 2627 && n != 41302 {
								t.Error(err)
							}
							tx.Rollback()
							continue
						}
						won.Add(1)
						if err := tx.Commit(); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			if tab.RowCount() != won.Load() {
				t.Errorf("%d rows, %d inserts", tab.RowCount(), won.Load())
			}
			tx := begin1(s)
			if got := scanKeys(t, tab, tx); int64(len(got)) != won.Load() || kind == Disk && len(got) != 500 {
				t.Errorf("%d keys after %d inserts", len(got), won.Load())
			}
			tx.Rollback()
		}
	}
}

// TestStructureChangesUnderLoad adds and drops an index and a column while
// others write; the index must then have every row.
func TestStructureChangesUnderLoad(t *testing.T) {
	t.Parallel()
	s, tab := newTable(pairs(Memory, Hash))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range int64(3) {
		wg.Go(func() {
			for i := int64(0); ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				row := []types.Value{intv(w*1_000_000 + i), str("x")}
				tx := begin1(s)
				if _, err := tab.Insert(tx, row); err != nil {
					t.Error(err)
				}
				if i%3 == 0 {
					tx.Rollback()
				} else if err := tx.Commit(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 20 {
		if err := tab.AddIndex(IndexDef{Columns: []int{1, 0}, Kind: Ordered}); err != nil {
			t.Fatal(err)
		}
		tx := s.Begin(Snapshot)
		all := scanKeys(t, tab, tx)
		found := keys(t, tab, func(fn func(RowID) (bool, error)) error { return tab.Seek(tx, 1, []types.Value{str("x")}, fn) })
		if len(all) != len(found) {
			t.Errorf("the table has %d rows, its new index %d", len(all), len(found))
		}
		tx.Rollback()
		tab.DropIndex(1)
	}
	close(stop)
	wg.Wait()
}

func TestGarbageIsReused(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{Memory, Disk, Local, Temp} {
		s, tab := newTable(pairs(kind, Hash))
		tx := begin1(s)
		mustInsert(t, tab, tx, 1, "v")
		mustInsert(t, tab, tx, 2, "v")
		mustCommit(t, tx)
		update := func(n int) {
			for range n {
				tx := begin1(s)
				if err := set(t, tab, tx, 1, "w"); err != nil {
					t.Fatal(err)
				}
				mustCommit(t, tx)
			}
		}
		update(8_000)
		if b, _ := tab.MemoryBytes(); b > 2_000_000 {
			t.Errorf("kind %d: %d bytes after updates of one row", kind, b)
		}
		if tab.local != nil {
			continue
		}
		// A reader keeps what it reads, and no more is lost than while it reads.
		old := s.Begin(Snapshot)
		update(2000)
		var v [2]types.Value
		tab.Read(find1(t, tab, old, 1), nil, v[:])
		if v[1].Str() != "w" {
			t.Errorf("the snapshot reads %q", v[1].Str())
		}
		old.Rollback()
		before, _ := tab.MemoryBytes()
		update(5000)
		if after, _ := tab.MemoryBytes(); after > before+500_000 {
			t.Errorf("kind %d: %d bytes became %d", kind, before, after)
		}
	}
}

// TestEpochs: the memory of a version that nobody reads any more is not used
// again while a statement runs that could stand on it in an index.
func TestEpochs(t *testing.T) {
	t.Parallel()
	s, tab := newTable(pairs(Memory, Hash))
	tx := begin1(s)
	for i := range int64(200) {
		mustInsert(t, tab, tx, i, "")
	}
	mustCommit(t, tx)
	tab.garbage.working.Lock() // nobody collects yet
	tx = begin1(s)
	if err := tab.Truncate(tx); err != nil {
		t.Fatal(err)
	}
	mustCommit(t, tx)
	reader := begin1(s)
	if n := tab.clear(s); n != 200 {
		t.Errorf("%d versions were taken from the index", n)
	}
	tab.clear(s)
	if n := tab.slab.spare.Load(); n != 0 {
		t.Errorf("%d bytes are free while a reader may hold them", n)
	}
	reader.StatementBegin()
	tab.clear(s)
	if tab.slab.spare.Load() == 0 {
		t.Error("nothing is free after the reader's statement")
	}
	tab.garbage.working.Unlock()
	reader.Rollback()
}

func TestDeleteAllUnlinksLongChains(t *testing.T) {
	t.Parallel()
	s, tab := newTable(TableDef{Kind: Memory, Columns: pairColumns, Indexes: []IndexDef{
		{Columns: []int{0}, Unique: true, Buckets: 100_000}, {Columns: []int{1}, Buckets: 8},
	}})
	for range 3 {
		tx := s.Begin(Snapshot)
		for i := range int64(20_000) {
			mustInsert(t, tab, tx, i, "all the same")
		}
		mustCommit(t, tx)
		tx = s.Begin(Snapshot)
		if err := tab.Truncate(tx); err != nil {
			t.Fatal(err)
		}
		mustCommit(t, tx)
	}
	if b, _ := tab.MemoryBytes(); b > 8_000_000 {
		t.Errorf("%d bytes", b)
	}
	tx := s.Begin(Snapshot)
	defer tx.Rollback()
	n := 0
	if err := tab.Seek(tx, 1, []types.Value{str("all the same")}, func(RowID) (bool, error) { n++; return true, nil }); err != nil || n != 0 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// TestCloseUnderAnOpenTransaction: a table can go while a transaction's log
// still names it.
func TestCloseUnderAnOpenTransaction(t *testing.T) {
	t.Parallel()
	for _, commit := range []bool{true, false} {
		s, tab := twoRows(t, Disk)
		other := s.NewTable(pairs(Disk, Ordered))
		tx := begin1(s)
		mustInsert(t, tab, tx, 3, "c")
		mustInsert(t, other, tx, 3, "c")
		tab.Close()
		if commit {
			mustCommit(t, tx)
		} else {
			tx.Rollback()
		}
		if n := other.RowCount(); (n == 1) != commit || tab.RowCount() != 0 {
			t.Errorf("%d and %d rows", n, tab.RowCount())
		}
	}
}
