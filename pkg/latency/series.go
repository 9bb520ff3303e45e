package latency

import (
	"time"

	"gostress/pkg/result"
)

// Series is a run over time in points of equal length. When it is full, neighbours are joined
// and points become twice as long, so that its memory is bounded however long the run.
type Series struct {
	step   time.Duration
	most   int
	points []result.Point
	parts  int // steps of the first length in the last point
	every  int // steps of the first length in a point
}

// NewSeries returns a series whose points are step long at first and never more than most, which
// must be even.
func NewSeries(step time.Duration, most int) *Series {
	return &Series{step: step, most: most, every: 1}
}

// Add adds what happened in a step; a step that took longer than it should is still one.
func (s *Series) Add(p result.Point) {
	if s.parts > 0 && s.parts < s.every {
		last := &s.points[len(s.points)-1]
		*last = join(*last, p)
		s.parts++
		return
	}
	if len(s.points) == s.most {
		for i := range s.most / 2 {
			s.points[i] = join(s.points[2*i], s.points[2*i+1])
		}
		s.points = s.points[:s.most/2]
		s.every *= 2
	}
	s.points = append(s.points, p)
	s.parts = 1
}

// Step is the length of a point.
func (s *Series) Step() time.Duration { return s.step * time.Duration(s.every) }

// Points are the points so far, rates filled in; the last may be shorter than Step.
func (s *Series) Points() []result.Point {
	from := 0.0
	for i := range s.points {
		p := &s.points[i]
		if length := p.AtS - from; length > 0 {
			p.BatchesPerS = float64(p.Batches) / length
		}
		from = p.AtS
	}
	return s.points
}

// join is two neighbouring points as one. Quantiles of the whole lie between those of the parts;
// the larger is given, so that a bad second does not vanish in a long run.
func join(a, b result.Point) result.Point {
	b.Batches += a.Batches
	b.Failed += a.Failed
	b.P50US = max(a.P50US, b.P50US)
	b.P99US = max(a.P99US, b.P99US)
	b.MaxUS = max(a.MaxUS, b.MaxUS)
	return b
}
