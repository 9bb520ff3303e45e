package storage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

func intv(n int64) types.Value { return types.NewInt(types.KindInt, n) }
func str(s string) types.Value { return types.NewString(types.KindNVarChar, s) }

var pairColumns = []Column{{Type: types.Int}, {Type: types.NVarChar(50), Nullable: true}}

// pairs is a table of an int key and a text.
func pairs(kind Kind, key IndexKind) TableDef {
	return TableDef{Columns: pairColumns, Kind: kind, Indexes: []IndexDef{
		{Columns: []int{0}, Unique: true, Kind: key, Buckets: 64},
	}}
}

// keys reads column 0 of the rows that a read finds.
func keys(t *testing.T, tab *Table, read func(fn func(RowID) (bool, error)) error) []int64 {
	t.Helper()
	var out []int64
	err := read(func(id RowID) (bool, error) {
		var v [1]types.Value
		tab.Read(id, []int{0}, v[:])
		out = append(out, v[0].Int())
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func scanKeys(t *testing.T, tab *Table, tx *Tx) []int64 {
	t.Helper()
	out := keys(t, tab, func(fn func(RowID) (bool, error)) error { return tab.Scan(tx, fn) })
	slices.Sort(out)
	return out
}

func find1(t *testing.T, tab *Table, tx *Tx, key int64) RowID {
	t.Helper()
	var id RowID
	if err := tab.Seek(tx, 0, []types.Value{intv(key)}, func(r RowID) (bool, error) { id = r; return false, nil }); err != nil {
		t.Fatal(err)
	}
	return id
}

func mustInsert(t *testing.T, tab *Table, tx *Tx, key int64, text string) RowID {
	t.Helper()
	id, err := tab.Insert(tx, []types.Value{intv(key), str(text)})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func mustCommit(t *testing.T, tx *Tx) {
	t.Helper()
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

func wantNumber(t *testing.T, err error, number int32) {
	t.Helper()
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Number != number {
		t.Fatalf("error %v, want number %d", err, number)
	}
}

// newTable makes a table of any kind in a store.
func newTable(def TableDef) (*Store, *Table) {
	s := NewStore()
	return s, s.NewTable(def)
}

func TestEveryTypeRoundTrips(t *testing.T) {
	t.Parallel()
	guid := [16]byte{1, 2, 3, 15: 9}
	values := []struct {
		typ types.Type
		v   types.Value
	}{
		{types.Bit, types.NewBit(true)},
		{types.TinyInt, types.NewInt(types.KindTinyInt, 255)},
		{types.SmallInt, types.NewInt(types.KindSmallInt, -32768)},
		{types.Int, intv(-1 << 31)},
		{types.BigInt, types.NewInt(types.KindBigInt, -1<<63)},
		{types.Decimal(18, 4), types.NewDecimal64(-123456789, 4)},
		{types.Decimal(38, 2), types.NewDecimalParts(true, 1<<40, 77, 2)},
		{types.Money, types.NewMoney(-99999)},
		{types.SmallMoney, types.NewSmallMoney(-99999)},
		{types.Float, types.NewFloat(-0.1)},
		{types.Real, types.NewReal(1.5)},
		{types.Char(5), types.NewString(types.KindChar, "ab   ")},
		{types.VarChar(types.Max), types.NewString(types.KindVarChar, "")},
		{types.NVarChar(25), str("Grüße, 世界")},
		{types.VarBinary(8), types.NewBytes(types.KindVarBinary, []byte{0, 1, 2})},
		{types.Date, types.NewDate(738000)},
		{types.Time(3), types.NewTime(123450000, 3)},
		{types.DateTime2(7), types.NewDateTime2(638000000000000001, 7)},
		{types.DateTimeOffset(7), types.NewDateTimeOffset(638000000000000001, -330, 7)},
		{types.DateTime, types.NewDateTime(-10, 300)},
		{types.SmallDateTime, types.NewSmallDateTime(40000, 1439)},
		{types.UniqueIdentifier, types.NewGUID(guid)},
		{types.SQLVariant, types.NewDateTime2(5, 7)},
		{types.SQLVariant, types.NewGUID(guid)},
		{types.SQLVariant, types.NewDecimalParts(false, 3, 4, 9)},
		{types.SQLVariant, str("in a variant")},
		{types.SQLVariant, types.NewReal(2.25)},
	}
	def := TableDef{Kind: Memory}
	row := make([]types.Value, len(values))
	for i, v := range values {
		def.Columns = append(def.Columns, Column{Type: v.typ, Nullable: true})
		row[i] = v.v
	}
	for _, kind := range []Kind{Memory, Disk, Local, Temp} {
		def.Kind = kind
		s, tab := newTable(def)
		tx := s.Begin(ReadCommitted)
		id, err := tab.Insert(tx, row)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]types.Value, len(row))
		tab.Read(id, nil, got)
		for i := range row {
			if got[i].Kind() != row[i].Kind() || got[i].Scale() != row[i].Scale() || types.Format(got[i]) != types.Format(row[i]) || types.Compare(got[i], row[i]) != 0 {
				t.Errorf("kind %d, %v: stored %v, read %v", kind, def.Columns[i].Type, types.Format(row[i]), types.Format(got[i]))
			}
		}
		nulls := make([]types.Value, len(row))
		id, err = tab.Insert(tx, nulls)
		if err != nil {
			t.Fatal(err)
		}
		tab.Read(id, nil, got)
		for i := range got {
			if !got[i].IsNull() {
				t.Errorf("column %d: NULL became %v", i, got[i])
			}
		}
		mustCommit(t, tx)
	}
}

func TestRowsOfManySizes(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{Memory, Temp} {
		def := pairs(kind, Ordered)
		def.Columns = []Column{{Type: types.Int}, {Type: types.NVarChar(types.Max)}}
		s, tab := newTable(def)
		sizes := []int{0, 1, 200, 3000, 1020, 1040, 65535, 65536, 100_000, 122_000, 131_072, 2 << 20}
		for round := range 4 {
			tx := s.Begin(Snapshot)
			for i, n := range sizes {
				mustInsert(t, tab, tx, int64(i), strings.Repeat("x", n+round))
			}
			mustCommit(t, tx)
			tx = s.Begin(Snapshot)
			for i, n := range sizes {
				var v [2]types.Value
				tab.Read(find1(t, tab, tx, int64(i)), nil, v[:])
				if len(v[1].Str()) != n+round {
					t.Fatalf("row of %d bytes reads as %d", n+round, len(v[1].Str()))
				}
			}
			if err := tab.Truncate(tx); err != nil {
				t.Fatal(err)
			}
			mustCommit(t, tx)
		}
		if n := tab.RowCount(); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	}
}

func TestUnique(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{Memory, Disk, Local, Temp} {
		for _, ik := range []IndexKind{Hash, Ordered} {
			t.Run(fmt.Sprintf("kind%d-index%d", kind, ik), func(t *testing.T) {
				t.Parallel()
				def := pairs(kind, ik)
				def.Indexes = append(def.Indexes, IndexDef{Columns: []int{1}, Unique: true, Kind: ik})
				s, tab := newTable(def)
				tx := s.Begin(ReadCommitted)
				mustInsert(t, tab, tx, 1, "Anna")
				var u *UniqueError
				if _, err := tab.Insert(tx, []types.Value{intv(1), str("b")}); !errors.As(err, &u) || u.Index != 0 {
					t.Fatalf("same key: %v", err)
				}
				if _, err := tab.Insert(tx, []types.Value{intv(2), str("ANNA ")}); !errors.As(err, &u) || u.Index != 1 {
					t.Fatalf("same text but for case: %v", err)
				}
				mustInsert(t, tab, tx, 2, "b")
				if _, err := tab.Insert(tx, []types.Value{intv(3), {}}); err != nil {
					t.Fatal(err)
				}
				if _, err := tab.Insert(tx, []types.Value{intv(4), {}}); !errors.As(err, &u) || u.Index != 1 {
					t.Fatalf("a second NULL: %v", err)
				}
				tx.StatementBegin()
				if err := tab.Update(tx, find1(t, tab, tx, 2), []types.Value{intv(1), str("b")}); !errors.As(err, &u) || u.Index != 0 {
					t.Fatalf("update to a taken key: %v", err)
				}
				if err := tab.Update(tx, find1(t, tab, tx, 2), []types.Value{intv(2), str("c")}); err != nil {
					t.Fatal(err)
				}
				if err := tab.Delete(tx, find1(t, tab, tx, 1)); err != nil {
					t.Fatal(err)
				}
				mustInsert(t, tab, tx, 1, "anna")
				mustCommit(t, tx)
				tx = s.Begin(ReadCommitted)
				if got := scanKeys(t, tab, tx); !slices.Equal(got, []int64{1, 2, 3}) {
					t.Errorf("rows %v", got)
				}
				if tab.RowCount() != 3 {
					t.Errorf("RowCount %d", tab.RowCount())
				}
				tx.Rollback()
			})
		}
	}
}

func TestRangesAndPrefixes(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{Memory, Temp} {
		for _, desc := range []bool{false, true} {
			s, tab := newTable(TableDef{Kind: kind,
				Columns: []Column{{Type: types.Int, Nullable: true}, {Type: types.BigInt}, {Type: types.NVarChar(10)}},
				Indexes: []IndexDef{
					{Columns: []int{0, 1}, Desc: []bool{desc, false}, Kind: Ordered, Unique: true},
					{Columns: []int{2, 1}, Desc: []bool{desc, desc}, Kind: Ordered},
				}})
			tx := s.Begin(Snapshot)
			for i := range int64(1000) {
				k := i * 7919 % 1000
				a := intv(k/10 - 50)
				if k < 10 {
					a = types.Value{}
				}
				if _, err := tab.Insert(tx, []types.Value{a, types.NewInt(types.KindBigInt, k%10), str(fmt.Sprintf("t%02d", k/10))}); err != nil {
					t.Fatal(err)
				}
			}
			tx.StatementBegin()
			big := func(n int64) types.Value { return types.NewInt(types.KindBigInt, n) }
			seq := func(index int, lo, hi Bound, reverse bool) []string {
				var out []string
				if err := tab.Range(tx, index, lo, hi, reverse, func(id RowID) (bool, error) {
					var v [3]types.Value
					tab.Read(id, nil, v[:])
					out = append(out, fmt.Sprintf("%s/%d", types.Format(v[0]), v[1].Int()))
					return true, nil
				}); err != nil {
					t.Fatal(err)
				}
				return out
			}
			all := seq(0, Bound{}, Bound{}, false)
			if len(all) != 1000 {
				t.Fatalf("%d rows", len(all))
			}
			back := seq(0, Bound{}, Bound{}, true)
			slices.Reverse(back)
			if !slices.Equal(all, back) {
				t.Error("backwards differs")
			}
			first, last := Bound{Key: []types.Value{intv(-3)}, Included: true}, Bound{Key: []types.Value{intv(2), big(4)}}
			want := 0
			for k := int64(10); k < 1000; k++ {
				a, b := k/10-50, k%10
				if !desc && a >= -3 && (a < 2 || a == 2 && b < 4) {
					want++
				}
				if desc && a >= 2 && a <= 5 && (a > 2 || b < 4) {
					want++
				}
			}
			if desc {
				first.Key[0] = intv(5)
			}
			if got := seq(0, first, last, false); len(got) != want {
				t.Errorf("desc %v: range has %d rows, want %d: %v", desc, len(got), want, got)
			}
			for _, n := range []int64{1 << 40, -1 << 40} {
				if got := seq(0, Bound{Key: []types.Value{big(n)}, Included: true}, Bound{Key: []types.Value{big(n)}, Included: true}, false); len(got) != 0 {
					t.Errorf("key out of the column's range: %v", got)
				}
			}
			if got := seq(0, Bound{Key: []types.Value{big(-1 << 40)}}, Bound{Key: []types.Value{big(1 << 40)}}, false); !desc && len(got) != 990 {
				t.Errorf("bounds out of the column's range: %d rows", len(got))
			}
			if got := seq(1, Bound{Key: []types.Value{str("T07")}, Included: true}, Bound{Key: []types.Value{str("T07")}, Included: true}, desc); len(got) != 10 || !strings.HasSuffix(got[0], "/0") {
				t.Errorf("text key: %v", got)
			}
			n := 0
			if err := tab.Seek(tx, 0, []types.Value{{}}, func(RowID) (bool, error) { n++; return true, nil }); err != nil || n != 10 {
				t.Errorf("NULL prefix: %d rows, %v", n, err)
			}
			mustCommit(t, tx)
		}
	}
}

func TestHalloween(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{Memory, Disk, Local, Temp} {
		for _, ik := range []IndexKind{Hash, Ordered} {
			s, tab := newTable(pairs(kind, ik))
			tx := s.Begin(ReadCommitted)
			for i := range int64(100) {
				mustInsert(t, tab, tx, i, "a")
			}
			tx.StatementBegin()
			n := int64(0)
			if err := tab.Scan(tx, func(id RowID) (bool, error) {
				n++
				mustInsert(t, tab, tx, 1000+n, "b")
				return true, nil
			}); err != nil || n != 100 {
				t.Fatalf("kind %d: the insert saw %d rows, %v", kind, n, err)
			}
			if find1(t, tab, tx, 1001) != 0 {
				t.Fatal("the statement sees what it wrote")
			}
			tx.StatementBegin()
			if ik == Ordered { // keys move ahead of the range that reads them
				n = 0
				if err := tab.Range(tx, 0, Bound{}, Bound{}, false, func(id RowID) (bool, error) {
					var v [2]types.Value
					tab.Read(id, nil, v[:])
					n++
					return true, tab.Update(tx, id, []types.Value{intv(v[0].Int() + 100_000), v[1]})
				}); err != nil || n != 200 {
					t.Fatalf("kind %d: the update saw %d rows, %v", kind, n, err)
				}
				if got := find1(t, tab, tx, 5); got == 0 {
					t.Error("a row that the statement replaced is gone for the statement")
				}
				tx.StatementBegin()
				if got := find1(t, tab, tx, 5); got != 0 {
					t.Error("a replaced row is there for the next statement")
				}
			}
			id := find1(t, tab, tx, 1001)
			if ik == Ordered {
				id = find1(t, tab, tx, 101_001)
			}
			if err := tab.Delete(tx, id); err != nil {
				t.Fatal(err)
			}
			if err := tab.Delete(tx, id); !errors.Is(err, ErrGone) {
				t.Errorf("second delete: %v", err)
			}
			mustCommit(t, tx)
			if tab.RowCount() != 199 {
				t.Errorf("kind %d: %d rows", kind, tab.RowCount())
			}
		}
	}
}

func TestSavepoints(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{Memory, Disk, Temp} {
		s, tab := newTable(pairs(kind, Ordered))
		tx := s.Begin(ReadCommitted)
		mustInsert(t, tab, tx, 1, "one")
		mustInsert(t, tab, tx, 2, "two")
		mustCommit(t, tx)
		tx = s.Begin(ReadCommitted)
		mustInsert(t, tab, tx, 3, "three")
		sp := tx.Savepoint()
		tx.StatementBegin()
		if err := tab.Lock(tx, find1(t, tab, tx, 1)); err != nil {
			t.Fatal(err)
		}
		if err := tab.Update(tx, find1(t, tab, tx, 1), []types.Value{intv(1), str("uno")}); err != nil {
			t.Fatal(err)
		}
		if err := tab.Delete(tx, find1(t, tab, tx, 3)); err != nil {
			t.Fatal(err)
		}
		mustInsert(t, tab, tx, 4, "four")
		tx.StatementBegin()
		if got := scanKeys(t, tab, tx); !slices.Equal(got, []int64{1, 2, 4}) {
			t.Errorf("before: %v", got)
		}
		tx.RollbackTo(sp)
		if got := scanKeys(t, tab, tx); !slices.Equal(got, []int64{1, 2, 3}) {
			t.Errorf("after: %v", got)
		}
		var v [2]types.Value
		tab.Read(find1(t, tab, tx, 1), nil, v[:])
		if v[1].Str() != "one" {
			t.Errorf("the update stayed: %s", v[1].Str())
		}
		mustInsert(t, tab, tx, 4, "vier")
		mustCommit(t, tx)
		if tab.RowCount() != 4 {
			t.Errorf("kind %d: %d rows", kind, tab.RowCount())
		}
		tx = s.Begin(ReadCommitted)
		if err := tab.Truncate(tx); err != nil {
			t.Fatal(err)
		}
		tx.Rollback()
		tx.Rollback() // does nothing
		if tab.RowCount() != 4 {
			t.Errorf("kind %d: %d rows after a rollback", kind, tab.RowCount())
		}
		wantNumber(t, tx.Commit(), 3902)
		_, err := tab.Insert(tx, []types.Value{intv(9), str("")})
		wantNumber(t, err, 3971)
	}
}

func TestStructureChanges(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{Memory, Disk, Local, Temp} {
		s, tab := newTable(pairs(kind, Hash))
		tx := s.Begin(ReadCommitted)
		for i := range int64(100) {
			mustInsert(t, tab, tx, i, fmt.Sprint("t", i%10))
		}
		mustCommit(t, tx)
		if err := tab.AddColumn(Column{Type: types.NVarChar(20)}, str("default")); err != nil {
			t.Fatal(err)
		}
		if err := tab.AddIndex(IndexDef{Columns: []int{1}, Kind: Ordered}); err != nil {
			t.Fatal(err)
		}
		var u *UniqueError
		if err := tab.AddIndex(IndexDef{Columns: []int{1}, Kind: Ordered, Unique: true}); !errors.As(err, &u) || u.Index != 2 {
			t.Fatalf("unique index over equal keys: %v", err)
		}
		if err := tab.AddIndex(IndexDef{Columns: []int{2, 0}, Kind: Hash, Unique: true}); err != nil {
			t.Fatal(err)
		}
		tx = s.Begin(ReadCommitted)
		if _, err := tab.Insert(tx, []types.Value{intv(5000), str("t5"), str("new")}); err != nil {
			t.Fatal(err)
		}
		tx.StatementBegin()
		count := func(index int, key ...types.Value) (n int) {
			if err := tab.Seek(tx, index, key, func(id RowID) (bool, error) {
				var v [2]types.Value
				tab.Read(id, []int{2, 0}, v[:])
				if want := map[bool]string{true: "new", false: "default"}[v[1].Int() == 5000]; v[0].Str() != want {
					t.Errorf("the new column reads %q, want %q", v[0].Str(), want)
				}
				n++
				return true, nil
			}); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if n := count(1, str("T5")); n != 11 {
			t.Errorf("kind %d: new index finds %d", kind, n)
		}
		if n := count(2, str("default"), intv(7)); n != 1 {
			t.Errorf("kind %d: late hash index finds %d", kind, n)
		}
		if err := tab.Range(tx, 2, Bound{}, Bound{}, false, nil); err == nil {
			t.Error("a hash index has a range")
		}
		if err := tab.Update(tx, find1(t, tab, tx, 7), []types.Value{intv(7), str("t7"), str("new")}); err != nil {
			t.Fatal(err)
		}
		mustCommit(t, tx)
		tab.DropIndex(1)
		tx = s.Begin(ReadCommitted)
		if n := count(1, str("default"), intv(8)); n != 1 {
			t.Errorf("kind %d: after DropIndex %d", kind, n)
		}
		tx.Rollback()
		if d := tab.Def(); len(d.Columns) != 3 || len(d.Indexes) != 2 {
			t.Errorf("definition %+v", d)
		}
		tab.Close()
	}
}
