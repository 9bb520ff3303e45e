package expr

import "testing"

// The expressions of the order procedures: none of them allocates.
var hot = []string{
	"@i + 1",
	"price * qty * (1 - $0.05)",
	"CAST(RAND() * 8000 AS int)",
	"DATEADD(day, 7, at)",
	"ISNULL(@null, @i)",
	"CASE WHEN @i > 5 THEN price ELSE $0 END",
	"SYSDATETIME()",
	"ROUND(price * qty, 2)",
	"name + ''",
	"LEN(name)",
}

var hotPredicates = []string{
	"Orders.id = @i",
	"Orders.id = 42 AND qty > 1",
	"name = 'widget'",
	"price BETWEEN $1 AND $3",
	"at >= '2024-01-01'",
	"Orders.id IN (1, 2, 42)",
	"name LIKE 'wid%'",
	"qty IS NOT NULL OR @null = 1",
}

func TestHotExpressionsDoNotAllocate(t *testing.T) {
	for _, sql := range hot {
		b := newBench(t)
		e, err := b.Scalar(parseScalar(t, sql))
		if err != nil {
			t.Fatal(sql, err)
		}
		f := b.ready()
		if _, err := e.Eval(f); err != nil {
			t.Fatal(sql, err)
		}
		if n := testing.AllocsPerRun(100, func() { _, _ = e.Eval(f) }); n != 0 {
			t.Errorf("%s: %v allocations", sql, n)
		}
	}
	for _, sql := range hotPredicates {
		b := newBench(t)
		p, err := b.Bool(parseBool(t, sql))
		if err != nil {
			t.Fatal(sql, err)
		}
		f := b.ready()
		if r, err := p(f); err != nil {
			t.Fatal(sql, r, err)
		}
		if n := testing.AllocsPerRun(100, func() { _, _ = p(f) }); n != 0 {
			t.Errorf("%s: %v allocations", sql, n)
		}
	}
}

func BenchmarkScalar(b *testing.B) {
	for _, sql := range hot {
		b.Run(sql, func(b *testing.B) {
			x := newBench(b)
			e, err := x.Scalar(parseScalar(b, sql))
			if err != nil {
				b.Fatal(err)
			}
			f := x.ready()
			b.ReportAllocs()
			for b.Loop() {
				_, _ = e.Eval(f)
			}
		})
	}
}

func BenchmarkPredicate(b *testing.B) {
	for _, sql := range hotPredicates {
		b.Run(sql, func(b *testing.B) {
			x := newBench(b)
			p, err := x.Bool(parseBool(b, sql))
			if err != nil {
				b.Fatal(err)
			}
			f := x.ready()
			b.ReportAllocs()
			for b.Loop() {
				_, _ = p(f)
			}
		})
	}
}
