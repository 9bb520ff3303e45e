package pace

import (
	"math"
	"math/rand/v2"
	"time"
)

// Schedule is the intended starts of a run, as offsets from its beginning, in ascending order.
type Schedule interface {
	// Next is the next intended start; ok is false when there is none.
	Next() (at time.Duration, ok bool)
}

// Stage is a part of a schedule with a rate of its own.
type Stage struct {
	Rate Rate
	// For is how long it lasts; 0, in the last stage alone, is without end.
	For time.Duration
}

// Constant is a schedule of evenly spaced arrivals, the first of them at once. A stage of rate R
// and length D brings exactly R x D of them where that is a whole number; what remains of a gap
// when a stage ends goes on in the next.
func Constant(stages []Stage) Schedule {
	n := -1.0
	return newStaged(stages, func() float64 { n++; return n })
}

// Poisson is a schedule of arrivals that know nothing of each other: the gaps are exponentially
// distributed. It depends on the seed alone.
func Poisson(stages []Stage, seed uint64) Schedule {
	random := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	sum := 0.0
	return newStaged(stages, func() float64 { sum += random.ExpFloat64(); return sum })
}

// staged turns arrivals of a process of rate one into those of a rate that changes: an arrival
// comes when the integral of the rate has grown to its place.
type staged struct {
	stages []Stage
	place  func() float64

	began  time.Duration // of the stage at work
	before float64       // arrivals expected before it
}

func newStaged(stages []Stage, place func() float64) *staged {
	return &staged{stages: stages, place: place}
}

func (s *staged) Next() (time.Duration, bool) {
	// A product such as 0.1/s x 10s must not bring an arrival more through the last bit.
	const bit = 1e-9
	at := s.place()
	for len(s.stages) > 0 {
		now := s.stages[0]
		expected := float64(now.Rate) * now.For.Seconds()
		if now.For == 0 || at < s.before+expected-bit*math.Max(1, s.before+expected) {
			offset := (at - s.before) / float64(now.Rate) * float64(time.Second)
			if offset > float64(math.MaxInt64/2) {
				return 0, false
			}
			return s.began + time.Duration(math.Max(0, math.Round(offset))), true
		}
		s.began += now.For
		s.before += expected
		s.stages = s.stages[1:]
	}
	return 0, false
}
