package storage

import (
	"errors"
	"flag"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gostress/internal/engine/types"
)

// headers and lines are the shape of the sample's order tables.
func headers(kind Kind, buckets int) TableDef {
	i, d, m := Column{Type: types.Int}, Column{Type: types.DateTime2(7)}, Column{Type: types.Money}
	ni, nd := i, d
	ni.Nullable, nd.Nullable = true, true
	text := func(n int) Column { return Column{Type: types.NVarChar(n), Nullable: true} }
	def := TableDef{Kind: kind, Columns: []Column{
		i, {Type: types.TinyInt}, d, d, nd, {Type: types.TinyInt}, {Type: types.Bit}, text(25), text(15), i, i, ni, i, i, i, ni, text(15), ni, m, m, m, text(128), d,
	}, Indexes: []IndexDef{
		{Columns: []int{0}, Unique: true, Buckets: buckets},
		{Columns: []int{10}, Buckets: 1_000_000},
		{Columns: []int{9}, Buckets: 1_000_000},
	}}
	return ordered(def)
}

func lines(kind Kind, buckets int) TableDef {
	i, m := Column{Type: types.Int}, Column{Type: types.Money}
	def := TableDef{Kind: kind, Columns: []Column{
		i, {Type: types.BigInt}, {Type: types.NVarChar(25), Nullable: true}, {Type: types.SmallInt}, i, i, m, m, {Type: types.DateTime2(7)},
	}, Indexes: []IndexDef{
		{Columns: []int{0, 1}, Unique: true, Buckets: 5 * buckets},
		{Columns: []int{0}, Buckets: buckets},
		{Columns: []int{4}, Buckets: 1_000_000},
	}}
	return ordered(def)
}

func ordered(def TableDef) TableDef {
	for i := range def.Indexes {
		if def.Kind == Disk {
			def.Indexes[i].Kind = Ordered
		}
	}
	return def
}

// orders inserts orders of one header and five lines.
type orders struct {
	store         *Store
	header, lines *Table
	ids, details  atomic.Int64
}

func newOrders(kind Kind, buckets int) *orders {
	o := &orders{store: NewStore()}
	o.header, o.lines = o.store.NewTable(headers(kind, buckets)), o.store.NewTable(lines(kind, buckets))
	return o
}

func (o *orders) insert(h, l []types.Value, seed *uint64) error {
	tx := o.store.Begin(Snapshot)
	id := o.ids.Add(1)
	*seed = *seed*6364136223846793005 + 1442695040888963407
	h[0], h[9] = intv(id), intv(int64(*seed>>33%30_000))
	if _, err := o.header.Insert(tx, h); err != nil {
		return err
	}
	for i := range uint64(5) {
		l[0], l[1] = h[0], types.NewInt(types.KindBigInt, o.details.Add(1))
		l[4] = intv(int64((*seed>>40 + i*97) % 504))
		if _, err := o.lines.Insert(tx, l); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func orderRows() (h, l []types.Value) {
	now := types.NewDateTime2(638_000_000_000_000_000, 7)
	m := types.NewMoney(1234500)
	null := types.Value{}
	h = []types.Value{intv(0), types.NewInt(types.KindTinyInt, 0), now, now, null, types.NewInt(types.KindTinyInt, 1), types.NewBit(true), null, null,
		intv(0), intv(-1), null, intv(985), intv(985), intv(5), null, null, null, m, m, m, null, now}
	l = []types.Value{intv(0), null, null, types.NewInt(types.KindSmallInt, 3), intv(0), intv(1), m, m, now}
	return h, l
}

func benchmarkOrders(b *testing.B, kind Kind) {
	o := newOrders(kind, 10_000_000)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		h, l := orderRows()
		seed := uint64(o.ids.Add(1)) * 7919
		for pb.Next() {
			if err := o.insert(h, l, &seed); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
	t1, i1 := o.header.MemoryBytes()
	t2, i2 := o.lines.MemoryBytes()
	n := float64(o.header.RowCount())
	b.ReportMetric(float64(t1)/n, "header-B")
	b.ReportMetric(float64(t2)/n/5, "line-B")
	b.ReportMetric(float64(i1+i2)/n, "index-B/order")
}

func BenchmarkOrderMemory(b *testing.B) { benchmarkOrders(b, Memory) }
func BenchmarkOrderDisk(b *testing.B)   { benchmarkOrders(b, Disk) }

func BenchmarkCommitOneRow(b *testing.B) {
	def := pairs(Memory, Hash)
	def.Indexes[0].Buckets = 1 << 20
	s, tab := newTable(def)
	row := []types.Value{intv(0), {}}
	b.ReportAllocs()
	for i := range b.N {
		tx := s.Begin(Snapshot)
		row[0] = intv(int64(i % (1 << 30)))
		if _, err := tab.Insert(tx, row); err != nil {
			b.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSeek(b *testing.B) {
	for _, kind := range []Kind{Memory, Disk} {
		b.Run(map[Kind]string{Memory: "hash", Disk: "ordered"}[kind], func(b *testing.B) {
			o := newOrders(kind, 200_000)
			h, l := orderRows()
			seed := uint64(1)
			for range 200_000 {
				if err := o.insert(h, l, &seed); err != nil {
					b.Fatal(err)
				}
			}
			var found atomic.Int64
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				tx := o.store.Begin(Snapshot)
				defer tx.Rollback()
				var key, out [3]types.Value
				n := int64(0)
				for i := int64(1); pb.Next(); i = i*48271%199_999 + 1 {
					key[0] = intv(i)
					_ = o.header.Seek(tx, 0, key[:1], func(id RowID) (bool, error) {
						o.header.Read(id, []int{9, 18}, out[:])
						n++
						return false, nil
					})
				}
				found.Add(n)
			})
			if found.Load() == 0 {
				b.Error("nothing found")
			}
		})
	}
}

// BenchmarkHotRow: 64 sessions that all update one row of a Disk table.
func BenchmarkHotRow(b *testing.B) {
	s, tab := newTable(pairs(Disk, Ordered))
	tx := s.Begin(ReadCommitted)
	if _, err := tab.Insert(tx, []types.Value{intv(1), {}}); err != nil {
		b.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		row := []types.Value{intv(1), {}}
		for pb.Next() {
			tx := s.Begin(ReadCommitted)
			err := ErrChanged
			for errors.Is(err, ErrChanged) {
				tx.StatementBegin()
				err = tab.Seek(tx, 0, row[:1], func(id RowID) (bool, error) { return false, tab.Update(tx, id, row) })
			}
			if err == nil {
				err = tx.Commit()
			}
			if err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkNewLocal(b *testing.B) {
	def := TableDef{Kind: Local, Columns: []Column{{Type: types.SmallInt}, {Type: types.Int}, {Type: types.Int}}, Indexes: []IndexDef{
		{Columns: []int{1}, Buckets: 8}, {Columns: []int{2}, Buckets: 8},
	}}
	ordered := def
	ordered.Indexes = []IndexDef{{Columns: []int{1}, Kind: Ordered}, {Columns: []int{2}, Kind: Ordered}}
	for name, def := range map[string]TableDef{"plain": def, "hash": def.Prepared(), "ordered": ordered.Prepared()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			row := make([]types.Value, 3)
			s := NewStore()
			tx := s.Begin(Snapshot)
			for range b.N {
				t := NewLocal(def)
				for i := range int64(5) {
					row[0], row[1], row[2] = types.NewInt(types.KindSmallInt, i), intv(i*100), intv(i)
					if _, err := t.Insert(tx, row); err != nil {
						b.Fatal(err)
					}
				}
				t.Close()
			}
		})
	}
}

var manyOrders = flag.Int("orders", 0, "how many orders TestManyOrders inserts")

// TestManyOrders measures memory and the collector's pauses with as many
// orders as asked for: go test -run ManyOrders -orders 10000000 -v
func TestManyOrders(t *testing.T) {
	if *manyOrders == 0 {
		t.Skip("needs -orders")
	}
	o := newOrders(Memory, *manyOrders)
	start := time.Now()
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			h, l := orderRows()
			seed := uint64(w + 1)
			for range *manyOrders / workers {
				if err := o.insert(h, l, &seed); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	t1, i1 := o.header.MemoryBytes()
	t2, i2 := o.lines.MemoryBytes()
	var stats debug.GCStats
	gc := time.Now()
	runtime.GC()
	gcTook := time.Since(gc)
	debug.ReadGCStats(&stats)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d orders in %v, %v each", o.header.RowCount(), took, took/time.Duration(*manyOrders))
	t.Logf("headers %d MB + indexes %d MB, lines %d MB + indexes %d MB, heap %d MB", t1>>20, i1>>20, t2>>20, i2>>20, m.HeapAlloc>>20)
	t.Logf("a collection takes %v, the longest pause was %v", gcTook, slicesMax(stats.Pause))
	start = time.Now()
	tx := o.store.Begin(Snapshot)
	for _, tab := range []*Table{o.lines, o.header} {
		if err := tab.Truncate(tx); err != nil {
			t.Fatal(err)
		}
	}
	deleted := time.Since(start)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	t.Logf("deleting all took %v, its commit with collection %v", deleted, time.Since(start)-deleted)
	h, l := orderRows()
	seed := uint64(1)
	for range *manyOrders {
		if err := o.insert(h, l, &seed); err != nil {
			t.Fatal(err)
		}
	}
	t1, _ = o.header.MemoryBytes()
	t2, _ = o.lines.MemoryBytes()
	t.Logf("after inserting as many again: headers %d MB, lines %d MB", t1>>20, t2>>20)
}

func slicesMax(d []time.Duration) (m time.Duration) {
	for _, p := range d {
		m = max(m, p)
	}
	return m
}
