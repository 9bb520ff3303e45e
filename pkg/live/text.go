package live

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/width"
)

// count is a number with its thousands apart, or, when it is long, rounded to three figures.
func count(n int64) string {
	if n < 0 {
		return "-" + count(-max(n, -math.MaxInt64))
	}
	if n >= 10_000_000 {
		return rounded(float64(n))
	}
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// rate is a number a second, with a fraction when it is small.
func rate(r float64) string {
	switch {
	case math.IsNaN(r) || r < 0:
		return "0"
	case r < 100:
		return fmt.Sprintf("%.2f", r)
	case r >= 10_000_000:
		return rounded(r)
	}
	return count(int64(r + 0.5))
}

// rounded is a number of a million and more with a prefix of the SI.
func rounded(v float64) string {
	const prefixes = "MGTPE"
	v /= 1e6
	for i, p := range prefixes {
		if v < 999.5 {
			return figures(v) + string(p)
		}
		if i < len(prefixes)-1 {
			v /= 1000
		}
	}
	return ">999E"
}

// figures is a number below 1000 to three figures.
func figures(v float64) string {
	switch {
	case v < 9.995:
		return fmt.Sprintf("%.2f", v)
	case v < 99.95:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// took is a time that something took, in the unit that suits it; none is a dash.
func took(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case d <= 0:
		return "-"
	case ms < 0.0005:
		return "<0.001 ms"
	case ms < 0.9995:
		return fmt.Sprintf("%.3f ms", ms)
	case ms < 999.5:
		return figures(ms) + " ms"
	case d < 100*time.Second:
		return figures(d.Seconds()) + " s"
	}
	return clock(d)
}

// clock is a duration to the second, with days once there are any.
func clock(d time.Duration) string {
	s := int64(max(d, 0).Round(time.Second) / time.Second)
	switch {
	case s >= 86_400:
		return fmt.Sprintf("%dd %02d:%02d:%02d", s/86_400, s/3600%24, s/60%60, s%60)
	case s >= 3600:
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// numbered is one error number and how often it came.
type numbered struct {
	number int32
	times  int64
}

// byNumber are errors by number, the most frequent first.
func byNumber(errors map[int32]int64) []numbered {
	out := make([]numbered, 0, len(errors))
	for number, times := range errors {
		out = append(out, numbered{number, times})
	}
	slices.SortFunc(out, func(a, b numbered) int {
		return cmp.Or(cmp.Compare(b.times, a.times), cmp.Compare(a.number, b.number))
	})
	return out
}

// columns is the most columns of a terminal that a character takes. Where terminals differ it is
// the larger.
func columns(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth, width.EastAsianAmbiguous:
		return 2
	}
	return 1
}

func wide(s string) int {
	n := 0
	for _, r := range s {
		n += columns(r)
	}
	return n
}

// cut is the beginning of s that fits into so many columns.
func cut(s string, most int) string {
	n := 0
	for i, r := range s {
		if n += columns(r); n > most {
			return s[:i]
		}
	}
	return s
}

// plain is text without what moves a terminal's cursor or hides what stands there.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7F && r < 0xA0 || r >= 0x200B && r <= 0x200F || r >= 0x2028 && r <= 0x202E || r >= 0x2060 && r <= 0x206F || r == 0xFEFF || r == 0xFFFD {
			return '?'
		}
		return r
	}, s)
}
