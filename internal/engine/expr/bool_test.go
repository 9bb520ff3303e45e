package expr

import (
	"testing"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

func TestPredicates(t *testing.T) {
	t.Parallel()
	const (
		yes, no, unknown = "true", "false", "unknown"
	)
	tests := []scalarTest{
		{"1 = 1", yes}, {"1 <> 1", no}, {"1 != 2", yes}, {"1 < 2", yes}, {"1 !> 2", yes}, {"3 !< 3", yes},
		{"1 = NULL", unknown}, {"@null = @null", unknown}, {"NOT (@null = 1)", unknown},
		{"@null = 1 AND 1 = 2", no}, {"@null = 1 AND 1 = 1", unknown},
		{"@null = 1 OR 1 = 1", yes}, {"@null = 1 OR 1 = 2", unknown},
		{"1 = 2 AND 1 / @null = 1", no},
		{"1 = 1 AND 2 = 2 AND 3 = 4", no}, {"1 = 2 OR 2 = 3 OR 3 = 3", yes},
		{"1 = 1.0", yes}, {"1 = '1'", yes}, {"1 = 'x'", "error 245"}, {"$1 = 1", yes}, {"1.5 > 1", yes},
		{"CAST(0.1 AS float) = 0.1", yes}, {"$1.2345 < 1.23451", yes},
		{"'abc' = 'ABC'", yes}, {"'abc' = 'abc  '", yes}, {"'a' < 'B'", yes}, {"'e' = 'é'", no}, {"'É' = 'é'", yes},
		{"'a b' < 'a1'", yes}, {"'_' < 'a'", yes}, {"'' = '   '", yes}, {"'é' < 'f'", yes},
		{"name = 'widget'", yes},
		{"'aB' = code", yes}, {"'ab' = code", no}, {"code = 'AB'", no},
		{"at = '2024-01-31'", yes}, {"at > CAST('2024-01-30' AS date)", yes}, {"at = 5", "error 206"},
		{"CAST('10:00' AS time) = CAST('2024-01-01' AS date)", "error 206"},
		{"0x01 = 0x0100", yes}, {"0x01 < 0x02", yes},
		{"CAST('x' AS text) = 'x'", "error 402"},
		{"5 BETWEEN 1 AND 5", yes}, {"5 NOT BETWEEN 1 AND 5", no}, {"5 BETWEEN @null AND 4", no}, {"5 BETWEEN @null AND 6", unknown},
		{"@null IS NULL", yes}, {"1 IS NULL", no}, {"1 IS NOT NULL", yes},
		{"1 IS DISTINCT FROM @null", yes}, {"@null IS NOT DISTINCT FROM @null", yes}, {"1 IS DISTINCT FROM 1", no},
		{"2 IN (1, 2, 3)", yes}, {"5 IN (1, NULL)", unknown}, {"5 NOT IN (1, NULL)", unknown}, {"5 NOT IN (1, 2)", yes},
		{"@i IN (1, 2, 3, 4, 5, 6, 7, 8, 9)", yes}, {"@i IN (11, 12, 13, 14, 15, 16, 17, 18)", no},
		{"@null IN (1, 2, 3, 4, 5, 6, 7, 8, 9)", unknown},
		{"'b' IN ('A', 'B')", yes},
		// LIKE
		{"'hello' LIKE 'h%o'", yes}, {"'hello' LIKE 'H_LLO'", yes}, {"'hello' LIKE 'h[aeiou]llo'", yes},
		{"'hello' LIKE 'h[^aeiou]llo'", no}, {"'hello' LIKE 'h[a-f]llo'", yes}, {"'hello' LIKE 'ell'", no},
		{"'50%' LIKE '50!%' ESCAPE '!'", yes}, {"'50x' LIKE '50!%' ESCAPE '!'", no}, {"'a[b' LIKE 'a[[]b'", yes},
		{"'hello ' LIKE 'hello'", yes}, {"'hello' LIKE 'hello '", no}, {"'' LIKE '%'", yes}, {"@null LIKE '1'", unknown},
		{"'x' LIKE NULL", unknown}, {"'x' NOT LIKE 'y'", yes}, {"'a' LIKE 'b' ESCAPE '!!'", "error 506"},
		{"123 LIKE '1%'", yes}, {"'a-b' LIKE 'a[-]b'", yes}, {"'x]' LIKE 'x]'", yes},
		{"code LIKE 'AB'", no}, {"code LIKE 'a_'", yes},
		// Subqueries
		{"EXISTS (SELECT v FROM one)", yes}, {"EXISTS (SELECT v FROM empty)", no}, {"NOT EXISTS (SELECT v FROM empty)", yes},
		{"EXISTS (SELECT v FROM big WHERE v > Orders.id)", yes}, {"EXISTS (SELECT v FROM some WHERE v > Orders.id)", no},
		{"2 IN (SELECT v FROM some)", yes}, {"5 IN (SELECT v FROM some)", no}, {"5 IN (SELECT v FROM withnull)", unknown},
		{"3 IN (SELECT v FROM withnull)", yes}, {"@null IN (SELECT v FROM some)", unknown}, {"@null IN (SELECT v FROM empty)", no},
		{"5 NOT IN (SELECT v FROM withnull)", unknown}, {"5 NOT IN (SELECT v FROM some)", yes}, {"'2' IN (SELECT v FROM some)", yes},
		{"50 IN (SELECT v FROM big WHERE v > Orders.id)", yes},
		{"2 IN (SELECT v, v FROM some)", "error 116"},
		{"(SELECT v FROM one) = 1", yes},
	}
	for _, tt := range tests {
		t.Run(tt.sql, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			p, err := b.Bool(parseBool(t, tt.sql))
			var r Tri
			if err == nil {
				r, err = p(b.ready())
			}
			got := [...]string{no, yes, unknown}[r]
			if err != nil {
				got = show(Expr{}, types.Value{}, err)
			}
			if got != tt.want {
				t.Errorf("got %s, want %s (%v)", got, tt.want, err)
			}
		})
	}
}

func TestQuantifiedComparison(t *testing.T) {
	t.Parallel()
	tests := []struct {
		left, op, quantifier, list string
		want                       Tri
	}{
		{"2", "GreaterThan", "All", "some", False},
		{"4", "GreaterThan", "All", "some", True},
		{"4", "GreaterThan", "All", "empty", True},
		{"4", "GreaterThan", "All", "withnull", Unknown},
		{"0", "GreaterThan", "All", "withnull", False},
		{"@null", "Equals", "All", "some", Unknown},
		{"2", "Equals", "Any", "some", True},
		{"'2'", "Equals", "Any", "some", True},
		{"9", "Equals", "Any", "some", False},
		{"9", "Equals", "Any", "withnull", Unknown},
		{"9", "Equals", "Any", "empty", False},
	}
	for _, tt := range tests {
		t.Run(tt.left+tt.op+tt.quantifier+tt.list, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			p, err := b.Bool(&ast.SubqueryComparisonPredicate{
				Expression: parseScalar(t, tt.left), ComparisonType: tt.op, SubqueryComparisonPredicateType: tt.quantifier,
				Subquery: parseScalar(t, "(SELECT v FROM "+tt.list+")").(*ast.ScalarSubquery),
			})
			if err != nil {
				t.Fatal(err)
			}
			if r, err := p(b.ready()); err != nil || r != tt.want {
				t.Errorf("got %v, %v; want %v", r, err, tt.want)
			}
		})
	}
}

func TestScalarSubquery(t *testing.T) {
	t.Parallel()
	runScalars(t, []scalarTest{
		{"(SELECT v FROM one)", "int 1"},
		{"(SELECT v FROM empty)", "int NULL"},
		{"(SELECT v FROM some)", "error 512"},
		{"(SELECT v, v FROM one)", "error 116"},
		{"(SELECT v FROM big WHERE v > Orders.id) + 1", "int 51"},
	})
}

// A subquery that looks at nothing outside runs once per execution of its
// statement, a correlated one each time.
func TestUncorrelatedSubqueryRunsOnce(t *testing.T) {
	t.Parallel()
	tests := []struct {
		sql  string
		want int64
	}{
		{"2 IN (SELECT v FROM some)", 3},
		{"EXISTS (SELECT v FROM one)", 1},
		{"(SELECT v FROM one) = 1", 1},
		{"EXISTS (SELECT v FROM big WHERE v > Orders.id)", 5},
	}
	for _, tt := range tests {
		t.Run(tt.sql, func(t *testing.T) {
			b := newBench(t)
			p, err := b.Bool(parseBool(t, tt.sql))
			if err != nil {
				t.Fatal(err)
			}
			f := b.ready()
			for statement := range int64(2) {
				f.BeginStatement()
				f.RowCount = 0
				for range 5 {
					if r, err := p(f); err != nil || r != True {
						t.Fatal(r, err)
					}
				}
				if f.RowCount != tt.want {
					t.Errorf("statement %d read %d rows, want %d", statement, f.RowCount, tt.want)
				}
			}
		})
	}
}

// WHERE OrderID = cast((rand()*106)+1 as int) compares every row with the same
// number; each reference and each execution has its own.
func TestRandIsOneValuePerStatement(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	e, err := b.Scalar(parseScalar(t, "CAST((RAND()*106)+1 AS int)"))
	if err != nil {
		t.Fatal(err)
	}
	two, err := b.Scalar(parseScalar(t, "RAND() - RAND()"))
	if err != nil {
		t.Fatal(err)
	}
	f := b.ready()
	eval := func(e Expr) types.Value {
		t.Helper()
		v, err := e.Eval(f)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	f.BeginStatement()
	first := eval(e).Int()
	for range 3 {
		if n := eval(e).Int(); n != first {
			t.Fatalf("%d after %d within one statement", n, first)
		}
	}
	f.BeginStatement()
	if n := eval(e).Int(); n == first {
		t.Errorf("still %d in the next statement", n)
	}
	if d := eval(two).Float(); d == 0 {
		t.Error("two references to RAND() have the same value")
	}
}

func TestClockStandsStillWithinAStatement(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.frame.Session.(*fakeSession)
	var es [3]Expr
	for i, sql := range []string{"SYSDATETIME()", "GETUTCDATE()", "SYSDATETIMEOFFSET()"} {
		e, err := b.Scalar(parseScalar(t, sql))
		if err != nil {
			t.Fatal(err)
		}
		es[i] = e
	}
	f := b.ready()
	f.BeginStatement()
	want := [3]string{"2024-02-29 13:14:15.1234567", "Feb 29 2024 12:14PM", "2024-02-29 13:14:15.1234567 +01:00"}
	for i, e := range es {
		v, err := e.Eval(f)
		if got := types.Format(v); err != nil || got != want[i] {
			t.Errorf("got %s (%v), want %s", got, err, want[i])
		}
		s.now = s.now.Add(1e9)
	}
	f.BeginStatement()
	if v, _ := es[0].Eval(f); types.Format(v) != "2024-02-29 13:14:18.1234567" {
		t.Errorf("the next statement still has %s", types.Format(v))
	}
}

func TestCollationConflict(t *testing.T) {
	t.Parallel()
	cs, ci := types.VarChar(5), types.VarChar(5)
	cs.Coll = types.CollCS
	_, err := Compare("Equals", Register(0, cs, "a", false), Register(1, ci, "b", false))
	if sqlerr.Number(err) != 468 {
		t.Errorf("got %v, want 468", err)
	}
}
