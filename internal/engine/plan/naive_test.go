package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// cell is an int or NULL.
type cell struct {
	n    int
	null bool
}

func (c cell) String() string {
	if c.null {
		return "NULL"
	}
	return strconv.Itoa(c.n)
}

type naiveRow [3]cell // id, x, y

func naiveTable(r *rand.Rand, n int) []naiveRow {
	val := func(max int) cell { return cell{r.IntN(max), r.IntN(8) == 0} }
	rows := make([]naiveRow, n)
	for i := range rows {
		rows[i] = naiveRow{{i, false}, val(6), val(10)}
	}
	return rows
}

// naivePred is a condition on a pair of rows with its SQL.
type naivePred struct {
	sql string
	ok  func(a, b naiveRow) bool
}

func naivePreds(r *rand.Rand) []naivePred {
	k := r.IntN(8)
	eq := func(a, b cell) bool { return !a.null && !b.null && a.n == b.n }
	return []naivePred{
		{"a.x = b.x", func(a, b naiveRow) bool { return eq(a[1], b[1]) }},
		{"a.id = b.id", func(a, b naiveRow) bool { return eq(a[0], b[0]) }},
		{"b.id = a.y", func(a, b naiveRow) bool { return eq(b[0], a[2]) }},
		{"a.y < b.y", func(a, b naiveRow) bool { return !a[2].null && !b[2].null && a[2].n < b[2].n }},
		{fmt.Sprintf("a.y > %d", k), func(a, _ naiveRow) bool { return !a[2].null && a[2].n > k }},
		{fmt.Sprintf("b.x = %d", k), func(_, b naiveRow) bool { return !b[1].null && b[1].n == k }},
		{fmt.Sprintf("b.y BETWEEN %d AND %d", k, k+3), func(_, b naiveRow) bool { return !b[2].null && b[2].n >= k && b[2].n <= k+3 }},
		{fmt.Sprintf("a.x IN (%d, 1)", k), func(a, _ naiveRow) bool { return !a[1].null && (a[1].n == k || a[1].n == 1) }},
		{"b.y IS NULL", func(_, b naiveRow) bool { return b[2].null }},
		{fmt.Sprintf("b.id >= %d", k), func(_, b naiveRow) bool { return !b[0].null && b[0].n >= k }},
	}
}

func choose(r *rand.Rand, preds []naivePred, most int) []naivePred {
	var list []naivePred
	for range r.IntN(most + 1) {
		list = append(list, preds[r.IntN(len(preds))])
	}
	return list
}

func sqlOf(list []naivePred) string {
	var s []string
	for _, p := range list {
		s = append(s, p.sql)
	}
	return strings.Join(s, " AND ")
}

func allOf(list []naivePred, a, b naiveRow) bool {
	for _, p := range list {
		if !p.ok(a, b) {
			return false
		}
	}
	return true
}

// naiveJoin joins as the words say, every row with every row.
func naiveJoin(kind string, as, bs []naiveRow, on []naivePred) [][2]naiveRow {
	none := naiveRow{{null: true}, {null: true}, {null: true}}
	var out [][2]naiveRow
	hit := make([]bool, len(bs))
	for _, a := range as {
		found := false
		for i, b := range bs {
			if allOf(on, a, b) {
				found, hit[i] = true, true
				out = append(out, [2]naiveRow{a, b})
			}
		}
		if !found && (kind == "LEFT" || kind == "FULL") {
			out = append(out, [2]naiveRow{a, none})
		}
	}
	for i, b := range bs {
		if !hit[i] && (kind == "RIGHT" || kind == "FULL") {
			out = append(out, [2]naiveRow{none, b})
		}
	}
	return out
}

func naiveGroups(rows [][2]naiveRow) []string {
	type agg struct{ n, count, sum, min, max int }
	groups := map[string]*agg{}
	for _, r := range rows {
		k := r[0][1].String()
		g := groups[k]
		if g == nil {
			g = &agg{}
			groups[k] = g
		}
		g.n++
		y := r[1][2]
		if y.null {
			continue
		}
		if g.count == 0 || y.n < g.min {
			g.min = y.n
		}
		if g.count == 0 || y.n > g.max {
			g.max = y.n
		}
		g.count++
		g.sum += y.n
	}
	var out []string
	for k, g := range groups {
		v := func(n int) string { return cell{n, g.count == 0}.String() }
		out = append(out, strings.Join([]string{k, strconv.Itoa(g.n), strconv.Itoa(g.count), v(g.sum), v(g.min), v(g.max)}, "|"))
	}
	return out
}

// TestAgainstNaive holds joins, conditions and groups over random rows against
// the plainest evaluation there is, whatever indexes the tables have.
func TestAgainstNaive(t *testing.T) {
	t.Parallel()
	indexes := [][2]string{
		{"", ""},
		{"CREATE INDEX i1 ON a (x, y)", "CREATE INDEX i2 ON b (x) CREATE INDEX i3 ON b (y DESC)"},
		{"CREATE UNIQUE INDEX i1 ON a (id) CREATE INDEX i4 ON a (y DESC, x)", "CREATE UNIQUE INDEX i2 ON b (id DESC)"},
		{"CREATE INDEX i1 ON a (x)", "CREATE UNIQUE INDEX i2 ON b (id) CREATE INDEX i3 ON b (x, y)"},
	}
	for seed := range uint64(8) {
		t.Run(strconv.Itoa(int(seed)), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 7))
			l := newLab(t)
			as, bs := naiveTable(r, 25), naiveTable(r, 20)
			ix := indexes[int(seed)%len(indexes)]
			l.must(t, "CREATE TABLE a (id int NOT NULL, x int NULL, y int NULL) CREATE TABLE b (id int NOT NULL, x int NULL, y int NULL) "+ix[0]+" "+ix[1])
			for name, rows := range map[string][]naiveRow{"a": as, "b": bs} {
				for _, row := range rows {
					l.must(t, fmt.Sprintf("INSERT %s VALUES (%v, %v, %v)", name, row[0], row[1], row[2]))
				}
			}
			for range 120 {
				preds := naivePreds(r)
				kind := []string{"INNER", "LEFT", "RIGHT", "FULL"}[r.IntN(4)]
				on, where := choose(r, preds, 3), choose(r, preds, 2)
				if len(on) == 0 {
					on = preds[:1]
				}
				joined := naiveJoin(kind, as, bs, on)
				joined = slices.DeleteFunc(joined, func(p [2]naiveRow) bool { return !allOf(where, p[0], p[1]) })
				from := " FROM a " + kind + " JOIN b ON " + sqlOf(on)
				if r.IntN(3) == 0 {
					from = " FROM a " + kind + " JOIN (SELECT id, x, y FROM b) b ON " + sqlOf(on)
				}
				if len(where) > 0 {
					from += " WHERE " + sqlOf(where)
				}
				var want []string
				for _, p := range joined {
					want = append(want, fmt.Sprintf("%v|%v|%v|%v", p[0][0], p[0][1], p[1][0], p[1][2]))
				}
				same(t, l, "SELECT a.id, a.x, b.id, b.y"+from, want)
				same(t, l, "SELECT a.x, COUNT(*), COUNT(b.y), SUM(b.y), MIN(b.y), MAX(b.y)"+from+" GROUP BY a.x", naiveGroups(joined))
				if kind == "INNER" && len(where) == 0 {
					correlated(t, l, as, bs, on)
				}
			}
		})
	}
}

// correlated holds subqueries over the rows of another query.
func correlated(t *testing.T, l *lab, as, bs []naiveRow, on []naivePred) {
	t.Helper()
	var counts, with, without, in []string
	for _, a := range as {
		n, among, unknown := 0, false, false
		for _, b := range bs {
			if !allOf(on, a, b) {
				continue
			}
			n++
			if a[2].null || b[1].null {
				unknown = true
			} else if a[2].n == b[1].n {
				among = true
			}
		}
		id := a[0].String()
		counts = append(counts, id+"|"+strconv.Itoa(n))
		if n > 0 {
			with = append(with, id)
		} else {
			without = append(without, id)
		}
		if !among && !unknown {
			in = append(in, id)
		}
	}
	sub := " FROM b WHERE " + sqlOf(on) + ")"
	same(t, l, "SELECT a.id, (SELECT COUNT(*)"+sub+" FROM a", counts)
	same(t, l, "SELECT a.id FROM a WHERE EXISTS (SELECT 1"+sub, with)
	same(t, l, "SELECT a.id FROM a WHERE NOT EXISTS (SELECT 1"+sub, without)
	same(t, l, "SELECT a.id FROM a WHERE a.y NOT IN (SELECT b.x"+sub, in)
	same(t, l, "SELECT a.id FROM a OUTER APPLY (SELECT COUNT(*) AS n"+sub+" x WHERE x.n > 0", with)
}

func same(t *testing.T, l *lab, sql string, want []string) {
	t.Helper()
	sets := l.must(t, sql)
	got := slices.Clone(sets[0].rows)
	want = slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("%s\ngot  %v\nwant %v", sql, got, want)
	}
}
