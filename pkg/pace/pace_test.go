package pace

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseRate(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]Rate{
		"2000/s": 2000, "2000": 2000, " 2000 / sec ": 2000, "120/min": 2, "120/m": 2, "36000/h": 10, "0.5/s": 0.5, "1e3/s": 1000, "1000000/s": 1e6,
	} {
		got, err := ParseRate(in)
		if err != nil || got != want {
			t.Errorf("ParseRate(%q) = %v, %v; want %v", in, got, err, want)
		}
		if again, err := ParseRate(got.String()); err != nil || again != got {
			t.Errorf("%v reads back as %v, %v", got, again, err)
		}
	}
	for _, in := range []string{"", "/s", "x/s", "0/s", "-1/s", "NaN", "Inf/s", "1/d", "1/", "2000001/s", "1e-9/s", "1/s/s"} {
		if got, err := ParseRate(in); err == nil {
			t.Errorf("ParseRate(%q) = %v", in, got)
		} else if !strings.Contains(err.Error(), "rate") {
			t.Errorf("ParseRate(%q): %v", in, err)
		}
	}
}

func TestParseThink(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]Think{
		"50ms":                {from: 50 * time.Millisecond},
		"0s":                  {},
		"uniform(10ms,90ms)":  {thinkUniform, 10 * time.Millisecond, 90 * time.Millisecond},
		" uniform( 1s , 1s )": {thinkUniform, time.Second, time.Second},
		"exp(50ms)":           {kind: thinkExponential, from: 50 * time.Millisecond},
	} {
		got, err := ParseThink(in)
		if err != nil || got != want {
			t.Errorf("ParseThink(%q) = %v, %v; want %v", in, got, err, want)
		}
		if again, err := ParseThink(got.String()); err != nil || again != got {
			t.Errorf("%v reads back as %v, %v", got, again, err)
		}
	}
	for _, in := range []string{"", "50", "uniform(1ms)", "uniform(90ms,10ms)", "uniform(1ms,2ms", "exp()", "exp(1ms,2ms)", "normal(1ms)", "-1ms", "25h", "exp(-1s)"} {
		if got, err := ParseThink(in); err == nil {
			t.Errorf("ParseThink(%q) = %v", in, got)
		}
	}
}

func TestThinkDraws(t *testing.T) {
	t.Parallel()
	const n = 20_000
	r := rand.New(rand.NewPCG(5, 6))
	for name, c := range map[string]struct {
		think    Think
		least    time.Duration
		most     time.Duration
		mean, by float64
	}{
		"none":        {Think{}, 0, 0, 0, 0},
		"constant":    {Think{from: time.Millisecond}, time.Millisecond, time.Millisecond, 1e6, 0},
		"uniform":     {Think{thinkUniform, 10, 20}, 10, 20, 15, 0.2},
		"exponential": {Think{kind: thinkExponential, from: time.Second}, 0, MaxThink, 1e9, 3e7},
	} {
		sum := 0.0
		for range n {
			d := c.think.Draw(r)
			if d < c.least || d > c.most {
				t.Fatalf("%s: drew %v", name, d)
			}
			sum += float64(d)
		}
		if got := sum / n; math.Abs(got-c.mean) > c.by {
			t.Errorf("%s: mean %v, want %v", name, got, c.mean)
		}
	}
}

func all(s Schedule) []time.Duration {
	var out []time.Duration
	for at, ok := s.Next(); ok; at, ok = s.Next() {
		out = append(out, at)
	}
	return out
}

func TestConstantIsExact(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stages []Stage
		want   int
	}{
		"one stage":              {[]Stage{{10_000, time.Minute}}, 600_000},
		"tenths":                 {[]Stage{{0.1, 100 * time.Second}}, 10},
		"thirds":                 {[]Stage{{3, 10 * time.Second}}, 30},
		"sevenths of a long run": {[]Stage{{7.0 / 3, 3 * time.Hour}}, 25_200},
		"stages":                 {[]Stage{{10, time.Second}, {20, 2 * time.Second}, {5, time.Second}}, 55},
		"a gap over a boundary":  {[]Stage{{1, 1500 * time.Millisecond}, {1, 1500 * time.Millisecond}}, 3},
		"less than one":          {[]Stage{{0.5, time.Second}}, 1},
		"stages that bring none": {[]Stage{{0.001, time.Second}, {1, time.Second}, {0.001, time.Second}}, 2},
		"nothing":                {nil, 0},
	} {
		got := all(Constant(c.stages))
		if len(got) != c.want {
			t.Errorf("%s: %d arrivals, want %d", name, len(got), c.want)
		}
		if !slices.IsSorted(got) {
			t.Errorf("%s: not ascending", name)
		}
	}
	got := all(Constant([]Stage{{4, time.Second}, {2, time.Second}}))
	want := []time.Duration{0, 250e6, 500e6, 750e6, 1000e6, 1500e6}
	if !slices.Equal(got, want) {
		t.Errorf("arrivals at %v, want %v", got, want)
	}
}

func TestWithoutEnd(t *testing.T) {
	t.Parallel()
	s := Constant([]Stage{{2, time.Second}, {Rate: 10}})
	for i := range 100_000 {
		at, ok := s.Next()
		want := time.Duration(i) * 500 * time.Millisecond
		if i >= 2 {
			want = time.Second + time.Duration(i-2)*100*time.Millisecond
		}
		if !ok || at != want {
			t.Fatalf("arrival %d at %v, %v; want %v", i, at, ok, want)
		}
	}
}

// The gaps of a Poisson process are exponential: Kolmogorov-Smirnov at one per cent, whose
// critical value for many samples is 1.628 over the root of their number.
func TestPoissonGapsAreExponential(t *testing.T) {
	t.Parallel()
	const rate, n = 500.0, 50_000
	s := Poisson([]Stage{{Rate: rate}}, 42)
	gaps, last := make([]float64, n), time.Duration(0)
	for i := range gaps {
		at, ok := s.Next()
		if !ok || at < last {
			t.Fatalf("arrival %d at %v behind %v", i, at, last)
		}
		gaps[i], last = (at - last).Seconds(), at
	}
	slices.Sort(gaps)
	worst := 0.0
	for i, g := range gaps {
		f := 1 - math.Exp(-rate*g)
		worst = max(worst, math.Abs(f-float64(i)/n), math.Abs(f-float64(i+1)/n))
	}
	if critical := 1.628 / math.Sqrt(n); worst > critical {
		t.Errorf("the gaps are off by %v, above %v", worst, critical)
	}
}

func TestPoissonDependsOnItsSeedAlone(t *testing.T) {
	t.Parallel()
	stages := []Stage{{100, 10 * time.Second}, {1000, 10 * time.Second}}
	a, b, c := all(Poisson(stages, 1)), all(Poisson(stages, 1)), all(Poisson(stages, 2))
	if !slices.Equal(a, b) {
		t.Error("one seed, two schedules")
	}
	if slices.Equal(a, c) {
		t.Error("two seeds, one schedule")
	}
	// 11,000 are expected; five standard deviations.
	if n := float64(len(a)); math.Abs(n-11_000) > 5*math.Sqrt(11_000) {
		t.Errorf("%v arrivals", n)
	}
	slow := 0
	for _, at := range a {
		if at < 10*time.Second {
			slow++
		}
	}
	if math.Abs(float64(slow)-1000) > 5*math.Sqrt(1000) {
		t.Errorf("%d arrivals in the first stage", slow)
	}
}

func FuzzGrammar(f *testing.F) {
	for _, s := range []string{"2000/s", "uniform(10ms,90ms)", "exp(50ms)", "1e309/s", "uniform(", "exp(1e400s)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if r, err := ParseRate(s); err == nil {
			if again, err := ParseRate(r.String()); err != nil || again != r {
				t.Errorf("%q: %v reads back as %v, %v", s, r, again, err)
			}
		}
		if think, err := ParseThink(s); err == nil {
			if again, err := ParseThink(think.String()); err != nil || again != think {
				t.Errorf("%q: %v reads back as %v, %v", s, think, again, err)
			}
			if d := think.Draw(rand.New(rand.NewPCG(1, 2))); d < 0 || d > MaxThink {
				t.Errorf("%q draws %v", s, d)
			}
		}
	})
}
