package param

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gostress/pkg/driver"
)

func numbers(n int) Table {
	t := Table{Columns: []Column{{"id", driver.SQLType{Name: "int"}}}}
	for i := range n {
		t.Rows = append(t.Rows, []any{int64(i)})
	}
	return t
}

func drawn(t *testing.T, s *Set, workers, iterations int) [][]int64 {
	t.Helper()
	out := make([][]int64, workers)
	for i := range iterations {
		for w := range workers {
			v := s.Draw(driver.Worker{ID: w, Conn: w, Connections: workers}, int64(i))
			out[w] = append(out[w], v[0].(int64))
		}
	}
	return out
}

func TestOrders(t *testing.T) {
	t.Parallel()
	set := func(order Order, seed uint64) *Set {
		s, err := NewSet(numbers(10), order, nil, seed)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if got := drawn(t, set(Sequential, 1), 2, 6); !reflect.DeepEqual(got, [][]int64{{0, 2, 4, 6, 8, 0}, {1, 3, 5, 7, 9, 1}}) {
		t.Errorf("sequential: %v", got)
	}
	if got := drawn(t, set(Slice, 1), 3, 4); !reflect.DeepEqual(got, [][]int64{{0, 3, 6, 9}, {1, 4, 7, 0}, {2, 5, 8, 1}}) {
		t.Errorf("slice: %v", got)
	}
	a, b, c := drawn(t, set(Shuffled, 1), 1, 20)[0], drawn(t, set(Shuffled, 1), 1, 20)[0], drawn(t, set(Shuffled, 2), 1, 20)[0]
	if !slices.Equal(a, b) || slices.Equal(a, c) || !slices.Equal(a[:10], a[10:]) || slices.IsSorted(a[:10]) {
		t.Errorf("shuffled: %v %v %v", a, b, c)
	}
	sorted := slices.Clone(a[:10])
	slices.Sort(sorted)
	if !slices.Equal(sorted, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("shuffled leaves out some: %v", a)
	}
	r, again := drawn(t, set(Random, 7), 4, 500), drawn(t, set(Random, 7), 4, 500)
	if !reflect.DeepEqual(r, again) {
		t.Error("random: one seed, two draws")
	}
	counts := make([]int, 10)
	for _, w := range r {
		for _, v := range w {
			counts[v]++
		}
	}
	for v, n := range counts {
		if n < 140 || n > 260 { // 200 are expected; more than four standard deviations
			t.Errorf("random: row %d was drawn %d times", v, n)
		}
	}
}

func TestSequentialIsSharedByAllConnections(t *testing.T) {
	t.Parallel()
	s, err := NewSet(numbers(1000), Sequential, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	seen := map[int64]int{}
	var wg sync.WaitGroup
	for w := range 10 {
		wg.Go(func() {
			for i := range 100 {
				v := s.Draw(driver.Worker{ID: w}, int64(i))[0].(int64)
				mu.Lock()
				seen[v]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) != 1000 {
		t.Errorf("%d of 1000 rows were handed out", len(seen))
	}
}

func TestVars(t *testing.T) {
	t.Parallel()
	draws := func(spec string, n int) []any {
		v, err := ParseVar(spec)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSet(Table{}, Sequential, []Var{v}, 3)
		if err != nil {
			t.Fatal(err)
		}
		var out []any
		for i := range n {
			out = append(out, s.Draw(driver.Worker{}, int64(i))[0])
		}
		return out
	}
	each := func(spec, typ string, holds func(v any) bool) {
		t.Helper()
		v, err := ParseVar(spec)
		if err != nil {
			t.Error(err)
			return
		}
		if got := TypeName(v.Type); got != typ {
			t.Errorf("%s is a %s, want %s", spec, got, typ)
		}
		for _, v := range draws(spec, 300) {
			if !holds(v) {
				t.Errorf("%s drew %#v", spec, v)
				return
			}
		}
	}
	each("id=uniform(1,8000)", "bigint", func(v any) bool { n, ok := v.(int64); return ok && n >= 1 && n <= 8000 })
	each("@id:int = uniform( -5 , -5 )", "int", func(v any) bool { return v == int64(-5) })
	each("f=uniform(0.5,1.5)", "float", func(v any) bool { f, ok := v.(float64); return ok && f >= 0.5 && f < 1.5 })
	each("z=zipf(10,20,1.5)", "bigint", func(v any) bool { n, ok := v.(int64); return ok && n >= 10 && n <= 20 })
	each("u=uuid", "uniqueidentifier", func(v any) bool { s, ok := v.(string); return ok && len(s) == 36 && s[14] == '4' })
	each("d=now", "datetime2(7)", func(v any) bool { _, ok := v.(time.Time); return ok })
	each("d:date=now", "date", func(v any) bool { _, ok := v.(time.Time); return ok })
	each("c=choice(red, green,blue)", "nvarchar(5)", func(v any) bool { return slices.Contains([]any{"red", "green", "blue"}, v) })
	each("c:int=choice(1,2)", "int", func(v any) bool { return v == int64(1) || v == int64(2) })
	each("s=text(3,5)", "nvarchar(5)", func(v any) bool { s, ok := v.(string); return ok && len(s) >= 3 && len(s) <= 5 })
	each("s:varchar(10)=text(4)", "varchar(10)", func(v any) bool { s, ok := v.(string); return ok && len(s) == 4 })
	if got := draws("n=seq(5,10)", 4); !reflect.DeepEqual(got, []any{int64(5), int64(15), int64(25), int64(35)}) {
		t.Errorf("seq: %v", got)
	}
	if a, b := draws("id=uniform(1,1000000)", 50), draws("id=uniform(1,1000000)", 50); !reflect.DeepEqual(a, b) {
		t.Error("one seed, two draws")
	}
	first := 0
	for _, v := range draws("z=zipf(1,1000)", 2000) {
		if v == int64(1) {
			first++
		}
	}
	if first < 200 {
		t.Errorf("zipf drew its first %d times of 2000", first)
	}
	for spec, part := range map[string]string{
		"id":                    "write NAME=GENERATOR",
		"id=":                   `"" is no generator`,
		"id=gauss(1)":           `"gauss" is no generator`,
		"id=uniform(1)":         "write uniform(FROM,TO)",
		"id=uniform(2,1)":       "is no range",
		"id=uniform(a,b)":       `"a" is no number`,
		"id=uniform(1,2":        "parenthesis of uniform is missing",
		"id=zipf(1,2,1)":        "skew of zipf lies above 1",
		"id:tinyint=seq(1000)":  `"1000" is no tinyint`,
		"id:int=choice(1,x)":    `"x" is no int`,
		"s=text(5000)":          "between 0 and 4000",
		"s:nvarchar(3)=text(5)": "too long for nvarchar(3)",
		"a b=uuid":              "is no parameter's name",
		"id=uuid(1)":            "write uuid",
		fmt.Sprintf("id=uniform(%d,%d)", math.MinInt64, math.MaxInt64): "is no range",
	} {
		if _, err := ParseVar(spec); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, want %q in it", spec, err, part)
		}
	}
}

func TestSetErrors(t *testing.T) {
	t.Parallel()
	v, err := ParseVar("ID=uuid")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewSet(numbers(1), Sequential, []Var{v}, 1); err == nil || !strings.Contains(err.Error(), "@ID is given twice") {
		t.Errorf("%v", err)
	}
	if _, err := NewSet(Table{}, Sequential, nil, 1); err == nil {
		t.Error("no parameters")
	}
	if _, err := ParseOrder("sorted"); err == nil || !strings.Contains(err.Error(), "sequential, shuffled, random and slice") {
		t.Errorf("%v", err)
	}
}

func FuzzVar(f *testing.F) {
	for _, s := range []string{"id=uniform(1,8000)", "z:int=zipf(1,2,1.5)", "n=seq(1,-1)", "s=text(0,4)", "c=choice(a,b)", "u=uuid", "d=now", "f=uniform(-1.5,1e300)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		v, err := ParseVar(spec)
		if err != nil {
			return
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 3 {
			literal(v.draw(r), v.Type)
		}
	})
}
