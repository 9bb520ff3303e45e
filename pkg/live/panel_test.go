package live

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gostress/pkg/result"
)

var update = flag.Bool("update", false, "write the golden files anew")

func working() result.Progress {
	return result.Progress{
		Phase: result.PhaseMeasuring, Measuring: true, Stage: "50:1m", Elapsed: 42 * time.Second, Left: 78 * time.Second,
		Done: 518_203, Planned: 1_000_000, Batches: 518_200, Failed: 3, Errors: 4, ErrorsByNumber: map[int32]int64{1205: 3, 2627: 1},
		BatchesPerS: 12_345.6, P50: 1_234 * time.Microsecond, P99: 8_900 * time.Microsecond, Connections: 50, ConnectionsAsked: 50,
	}
}

// past is a latency that rises and falls, with a gap and a stall.
func past(n int) *History {
	h := &History{}
	for i := range n {
		d := time.Duration(1_000_000 * (1.5 + math.Sin(float64(i)/7)))
		switch {
		case i%50 == 20:
			h.Add(0, 0)
		case i%50 == 40:
			h.Add(d, 2*time.Second)
		default:
			h.Add(d, 6*d)
		}
	}
	return h
}

func manyErrors(n int) map[int32]int64 {
	out := map[int32]int64{}
	for i := range n {
		out[int32(50_000+i)] = int64(i + 1)
	}
	return out
}

func huge() result.Progress {
	return result.Progress{
		Phase: result.PhaseCooldown, Stage: strings.Repeat("長い", 40), Elapsed: math.MaxInt64, Left: math.MaxInt64, Done: math.MaxInt64, Planned: math.MaxInt64,
		Batches: math.MaxInt64, Failed: math.MaxInt64, Errors: math.MaxInt64, ErrorsByNumber: map[int32]int64{math.MaxInt32: math.MaxInt64, math.MinInt32: math.MaxInt64},
		BatchesPerS: math.MaxFloat64, P50: math.MaxInt64, P99: math.MaxInt64, Connections: math.MaxInt, ConnectionsAsked: math.MaxInt, Late: math.MaxInt64, SkippedLate: math.MaxInt64,
	}
}

func TestPanel(t *testing.T) {
	t.Parallel()
	noEnd := working()
	noEnd.Left, noEnd.Planned, noEnd.Stage, noEnd.Errors, noEnd.ErrorsByNumber, noEnd.Failed = -1, 0, "", 0, nil, 0
	storm := working()
	storm.Errors, storm.ErrorsByNumber = 20_100, manyErrors(200)
	late := working()
	late.Late, late.SkippedLate, late.Connections = 12_345, 67, 48
	for _, c := range []struct {
		name          string
		p             result.Progress
		h             *History
		width, height int
		style         Style
	}{
		{"wide", working(), past(500), 120, 40, Style{}},
		{"usual", working(), past(500), 80, 24, Style{}},
		{"young", working(), past(9), 80, 24, Style{}},
		{"ascii", working(), past(500), 80, 24, Style{ASCII: true}},
		{"colour", working(), past(30), 60, 24, Style{Colour: true}},
		{"narrow", working(), past(500), 20, 24, Style{}},
		{"low", working(), past(500), 80, 5, Style{}},
		{"one-row", working(), past(500), 80, 1, Style{}},
		{"unknown-size", working(), past(500), 0, 0, Style{}},
		{"no-end", noEnd, &History{}, 80, 24, Style{}},
		{"storm", storm, past(500), 60, 24, Style{}},
		{"late", late, past(500), 80, 24, Style{}},
		{"connecting", result.Progress{Connecting: true, Phase: result.PhaseConnecting, Connections: 1234, ConnectionsAsked: 5000, Left: -1}, past(500), 80, 24, Style{}},
		{"empty", result.Progress{}, &History{}, 80, 24, Style{}},
		{"huge", huge(), past(500), 80, 24, Style{}},
		{"huge-narrow", huge(), past(500), 20, 24, Style{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(Panel(c.p, c.h, c.width, c.height, c.style), "\n") + "\n"
			got = strings.ReplaceAll(got, "\x1b", "ESC")
			path := filepath.Join("testdata", c.name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9]*m")

// fits holds a panel to its terminal.
func fits(t *testing.T, p result.Progress, h *History, width, height int, style Style) {
	t.Helper()
	lines := Panel(p, h, width, height, style)
	if width <= 0 {
		width = assumedWidth
	}
	if height <= 0 {
		height = assumedHeight
	}
	if len(lines) == 0 || len(lines) > max(height-1, 1) {
		t.Errorf("%d lines on %d rows", len(lines), height)
	}
	for _, l := range lines {
		if style.Colour {
			l = escapes.ReplaceAllString(l, "")
		}
		if wide(l) > max(width-1, 1) {
			t.Errorf("%d columns on %d: %q", wide(l), width, l)
		}
		for _, r := range l {
			if r < ' ' || r == 0x7F || r >= 0x80 && r < 0xA0 {
				t.Errorf("%q has a control character", l)
			}
		}
		if !utf8.ValidString(l) {
			t.Errorf("%q is not UTF-8", l)
		}
	}
}

func TestPanelFitsEveryTerminal(t *testing.T) {
	t.Parallel()
	odd := working()
	odd.Stage, odd.BatchesPerS, odd.Errors, odd.ErrorsByNumber = "a\x1b[2J\r\nb\u202e\xff", math.NaN(), 300, manyErrors(30)
	connecting := huge()
	connecting.Connecting = true
	h := past(300)
	for _, p := range []result.Progress{working(), {}, huge(), odd, connecting} {
		for width := 0; width < 100; width++ {
			for _, height := range []int{0, 1, 3, 10} {
				for _, style := range []Style{{Colour: true}, {ASCII: true}} {
					fits(t, p, h, width, height, style)
				}
			}
		}
	}
}

func FuzzPanel(f *testing.F) {
	f.Add("50:1m", 80, 24, int64(1000), 12.5, int64(1234), int64(5678), true)
	f.Add("\x1b[2J", 20, 3, int64(math.MaxInt64), math.Inf(1), int64(-1), int64(math.MaxInt64), false)
	f.Fuzz(func(t *testing.T, stage string, width, height int, n int64, per float64, p50, p99 int64, ascii bool) {
		if width > 100_000 || height > 100_000 {
			return // no terminal is that large, and the graph would be
		}
		p := result.Progress{Phase: result.PhaseMeasuring, Stage: stage, Elapsed: time.Duration(n), Left: time.Duration(-n), Done: n, Planned: n / 2, Batches: n, Failed: n,
			Errors: n, ErrorsByNumber: map[int32]int64{int32(n): n, 1: 1}, BatchesPerS: per, P50: time.Duration(p50), P99: time.Duration(p99), Connections: int(n), Late: n}
		h := past(30)
		h.Add(time.Duration(p50), time.Duration(p99))
		fits(t, p, h, width, height, Style{ASCII: ascii})
	})
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	h := &History{}
	for i := range 3 * mostSamples {
		h.Add(time.Duration(i), time.Duration(i))
	}
	if last := h.last(2); len(h.samples) != mostSamples || last[1].p50 != 3*mostSamples-1 || last[0].p50 != 3*mostSamples-2 {
		t.Errorf("%d samples, the last %v", len(h.samples), last)
	}
}

func TestPlotPlacesTimesOnALogarithmicScale(t *testing.T) {
	t.Parallel()
	// Ten levels from 1 ms to 1024 ms: each is twice the one below.
	ms := time.Millisecond
	samples := []sample{{p50: ms, p99: 1024 * ms}, {p50: 5 * ms, p99: 40 * ms}, {}, {p50: 1500 * ms, p99: ms / 2}}
	dots := plot(samples, 5, 10, ms, 1024*ms)
	var got []string
	for _, line := range dots {
		text := ""
		for _, d := range line {
			text += string(" .*"[d])
		}
		got = append(got, text)
	}
	want := []string{
		" *  .",
		"    .",
		"    .",
		"    .",
		"  * .",
		"    .",
		"    .",
		"  . .",
		"  . .",
		" .. *",
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		low, high, floor, ceiling time.Duration
	}{
		{300 * time.Microsecond, 9 * time.Millisecond, 200 * time.Microsecond, 10 * time.Millisecond},
		{time.Millisecond, 10 * time.Millisecond, time.Millisecond, 10 * time.Millisecond},
		{time.Millisecond, time.Millisecond, time.Millisecond, 2 * time.Millisecond},
		{1, math.MaxInt64, 100, 50_000 * time.Second},
	} {
		floor, ceiling, ok := bounds([]sample{{}, {c.low, c.high}})
		if floor != c.floor || ceiling != c.ceiling || !ok {
			t.Errorf("bounds of %v and %v are %v and %v, %v", c.low, c.high, floor, ceiling, ok)
		}
	}
	if _, _, ok := bounds([]sample{{}, {}}); ok {
		t.Error("nothing has bounds")
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		count(0): "0", count(999): "999", count(1000): "1,000", count(9_999_999): "9,999,999", count(10_000_000): "10.0M", count(999_600_000): "1.00G",
		count(math.MaxInt64): "9.22E", count(math.MinInt64): "-9.22E", count(-1234): "-1,234",
		rate(0): "0.00", rate(99.994): "99.99", rate(12_345.6): "12,346", rate(math.MaxFloat64): ">999E", rate(math.Inf(1)): ">999E",
		took(0): "-", took(100): "<0.001 ms", took(123_456): "0.123 ms", took(999_700): "1.00 ms", took(12_345_678): "12.3 ms", took(1500 * time.Millisecond): "1.50 s", took(150 * time.Second): "2:30",
		clock(0): "0:00", clock(61 * time.Second): "1:01", clock(3601 * time.Second): "1:00:01", clock(90_061 * time.Second): "1d 01:01:01", clock(-time.Hour): "0:00",
		cut("ab長c", 3): "ab", cut("ab長c", 4): "ab長", plain("a\x1b[m\nb"): "a?[m?b",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
