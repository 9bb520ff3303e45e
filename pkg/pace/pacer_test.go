package pace

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gostress/internal/clock"
)

func simulated(t *testing.T, f func(t *testing.T, p Pacer)) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the performance counter is not simulated")
	}
	synctest.Test(t, func(t *testing.T) {
		f(t, Pacer{Clock: clock.New(), Sleep: func(d time.Duration) error { time.Sleep(d); return nil }})
	})
}

func TestPacerKeepsTheSchedule(t *testing.T) {
	t.Parallel()
	simulated(t, func(t *testing.T, p Pacer) {
		stages := []Stage{{1000, time.Second}, {10, 10 * time.Second}}
		want := all(Poisson(stages, 7))
		var got []time.Duration
		err := p.Run(t.Context(), 0, Poisson(stages, 7), func(at time.Duration) {
			if now := p.Clock.Now(); now != at {
				t.Errorf("released at %v, due at %v", now, at)
			}
			got = append(got, at)
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d arrivals of %d, %v", len(got), len(want), err)
		}
	})
}

func TestPacerCatchesUp(t *testing.T) {
	t.Parallel()
	simulated(t, func(t *testing.T, p Pacer) {
		var at []time.Duration
		// A release that stops for 2.5 s makes the three arrivals meanwhile late, and none is lost.
		err := p.Run(t.Context(), 0, Constant([]Stage{{1, 6 * time.Second}}), func(due time.Duration) {
			at = append(at, p.Clock.Now())
			if due == time.Second {
				time.Sleep(2500 * time.Millisecond)
			}
		})
		want := []time.Duration{0, 1e9, 3.5e9, 3.5e9, 4e9, 5e9}
		if err != nil || !slices.Equal(at, want) {
			t.Errorf("released at %v, %v; want %v", at, err, want)
		}
	})
}

func TestPacerEndsWithItsContext(t *testing.T) {
	t.Parallel()
	simulated(t, func(t *testing.T, p Pacer) {
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Second, func() { cancel(why) })
		n := 0
		err := p.Run(ctx, 0, Constant([]Stage{{Rate: 0.25}}), func(time.Duration) { n++ })
		if !errors.Is(err, why) || n != 3 || p.Clock.Now() > 10*time.Second+longest {
			t.Errorf("%v after %d arrivals at %v", err, n, p.Clock.Now())
		}
	})
}

func TestPacerIsNeverEarly(t *testing.T) {
	t.Parallel()
	c := clock.New()
	n := 0
	err := Pacer{Clock: c}.Run(t.Context(), c.Now(), Poisson([]Stage{{5000, 100 * time.Millisecond}}, 3), func(at time.Duration) {
		n++
		if now := c.Now(); now < at {
			t.Errorf("released at %v, due at %v", now, at)
		}
	})
	if want := len(all(Poisson([]Stage{{5000, 100 * time.Millisecond}}, 3))); err != nil || n != want {
		t.Errorf("%d arrivals of %d, %v", n, want, err)
	}
}
