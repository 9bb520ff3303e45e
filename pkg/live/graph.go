package live

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// sample is what the graph shows of a second.
type sample struct{ p50, p99 time.Duration }

// History is the latency of the last seconds of a run. Its zero value is empty.
type History struct {
	samples []sample // the oldest first
}

// mostSamples is what the widest graph can show.
const mostSamples = 1024

// Add adds a second; zeros are one in which nothing succeeded.
func (h *History) Add(p50, p99 time.Duration) {
	if len(h.samples) == mostSamples {
		copy(h.samples, h.samples[1:])
		h.samples = h.samples[:mostSamples-1]
	}
	h.samples = append(h.samples, sample{p50, p99})
}

// Reset empties it.
func (h *History) Reset() { h.samples = h.samples[:0] }

// last are the newest n samples.
func (h *History) last(n int) []sample { return h.samples[max(len(h.samples)-n, 0):] }

// dot is what stands at a place of a graph.
type dot uint8

const (
	noDot dot = iota
	lowDot
	highDot
)

// plot is a graph as dots, the top row first: from the bottom up to p50 the dots are low, at p99
// one is high. The scale is logarithmic, from floor to ceiling.
func plot(samples []sample, width, height int, floor, ceiling time.Duration) [][]dot {
	dots := make([][]dot, height)
	for y := range dots {
		dots[y] = make([]dot, width)
	}
	span := math.Log(float64(ceiling) / float64(floor))
	// level is the row of a time, counted from the bottom.
	level := func(d time.Duration) int {
		return min(max(int(math.Log(float64(d)/float64(floor))/span*float64(height)), 0), height-1)
	}
	first := width - len(samples)
	for i, s := range samples {
		x := first + i
		if s.p50 > 0 {
			for y := range level(s.p50) + 1 {
				dots[height-1-y][x] = lowDot
			}
		}
		if s.p99 > 0 {
			dots[height-1-level(s.p99)][x] = highDot
		}
	}
	return dots
}

// bounds are the ends of the scale for samples: 1, 2 or 5 times a power of ten around all of them. They
// are false when there is nothing to show.
func bounds(samples []sample) (floor, ceiling time.Duration, ok bool) {
	low, high := time.Duration(math.MaxInt64), time.Duration(0)
	for _, s := range samples {
		for _, d := range []time.Duration{s.p50, s.p99} {
			if d > 0 {
				low, high = min(low, d), max(high, d)
			}
		}
	}
	if high == 0 {
		return 0, 0, false
	}
	steps := scale()
	floor, ceiling = steps[0], steps[len(steps)-1]
	for _, s := range steps {
		if s <= low {
			floor = s
		}
	}
	for i := len(steps) - 1; i >= 0 && steps[i] >= high; i-- {
		ceiling = steps[i]
	}
	if ceiling <= floor {
		// All samples are one step of the scale, which needs some length.
		ceiling = 2 * floor
	}
	return floor, ceiling, true
}

// scale are the ends that a scale can have, 100 ns to 10,000 s.
func scale() []time.Duration {
	var out []time.Duration
	for power := 100 * time.Nanosecond; power <= 10_000*time.Second; power *= 10 {
		out = append(out, power, 2*power, 5*power)
	}
	return out
}

// labelWidth is the room to the left of a graph, for the ends of its scale and a line.
const labelWidth = 10

// graph is the latency as rows of text, none when there is no room or nothing to show.
func graph(h *History, width, height int, style Style) []row {
	cells := width - labelWidth
	perCellX, perCellY := 2, 4 // a braille character
	if style.ASCII {
		perCellX, perCellY = 1, 1
	}
	if cells < 8 || height < 2 {
		return nil
	}
	samples := h.last(cells * perCellX)
	floor, ceiling, ok := bounds(samples)
	if !ok {
		return nil
	}
	dots := plot(samples, cells*perCellX, height*perCellY, floor, ceiling)
	var out []row
	for y := range height {
		label := ""
		switch y {
		case 0:
			label = end(ceiling)
		case height - 1:
			label = end(floor)
		}
		r := row{{text: strings.Repeat(" ", labelWidth-2-len(label)) + label + " ", look: dim}}
		for x := range cells {
			text, at := cell(dots, x*perCellX, y*perCellY, style.ASCII)
			r = append(r, piece{text: text, look: at})
		}
		out = append(out, merged(r))
	}
	return out
}

// end is a label of the scale, of eight characters at most.
func end(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%gms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%gs", d.Seconds())
}

// cell is one character of a graph, its upper left dot being at x and y.
func cell(dots [][]dot, x, y int, ascii bool) (string, look) {
	if ascii {
		switch dots[y][x] {
		case highDot:
			return "*", high
		case lowDot:
			return ":", low
		}
		return " ", none
	}
	// The bits of the dots of a braille character, by row and column (Unicode, Braille Patterns).
	bits := [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}
	r, at := rune(0x2800), none
	for dy := range bits {
		for dx, bit := range bits[dy] {
			switch dots[y+dy][x+dx] {
			case highDot:
				r |= bit
				at = high
			case lowDot:
				r |= bit
				if at == none {
					at = low
				}
			}
		}
	}
	if r == 0x2800 {
		return " ", none
	}
	return string(r), at
}

// merged joins neighbours that look alike.
func merged(r row) row {
	out := r[:1]
	for _, p := range r[1:] {
		if last := &out[len(out)-1]; last.look == p.look {
			last.text += p.text
		} else {
			out = append(out, p)
		}
	}
	return out
}
