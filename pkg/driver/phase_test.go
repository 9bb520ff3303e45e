package driver

import (
	"math"
	"testing"
)

func TestNobodyPlansIterationsWithoutEnd(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 100} {
		p := Plan{Connections: n, Units: make([]Unit, 1), Iterations: math.MaxInt64}
		if got := p.planned(); got != 0 {
			t.Errorf("%d connections: %d", n, got)
		}
		p.Iterations = 7
		if got := p.planned(); got != 7*int64(n) {
			t.Errorf("%d connections: %d", n, got)
		}
	}
}
