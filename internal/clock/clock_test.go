package clock

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

func TestNowNeverGoesBack(t *testing.T) {
	t.Parallel()
	c := New()
	last := c.Now()
	for range 100_000 {
		now := c.Now()
		if now < last {
			t.Fatalf("the clock went back from %v to %v", last, now)
		}
		last = now
	}
}

func TestNowFollowsASimulatedClock(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the performance counter is not simulated")
	}
	synctest.Test(t, func(t *testing.T) {
		c := New()
		time.Sleep(1234567 * time.Nanosecond)
		if got := c.Now(); got != 1234567 {
			t.Errorf("Now() = %v after 1.234567 ms", got)
		}
		if got := c.Resolution(); got != 1 {
			t.Errorf("Resolution() = %v of a clock that stands still", got)
		}
	})
}

func TestResolution(t *testing.T) {
	t.Parallel()
	if got := New().Resolution(); got < 1 || got > 20*time.Millisecond {
		t.Errorf("Resolution() = %v", got)
	}
}

func TestProcessCPU(t *testing.T) {
	t.Parallel()
	before, err := ProcessCPU()
	if err != nil {
		t.Fatal(err)
	}
	// Burn until it shows: systems account in steps of up to 16 ms.
	c, x := New(), uint64(1)
	for used := (CPU{}); used.Total() == 0; {
		if c.Now() > 30*time.Second {
			t.Fatal("half a minute of work and no CPU time")
		}
		for range 1_000_000 {
			x = x*6364136223846793005 + 1
		}
		after, err := ProcessCPU()
		if err != nil {
			t.Fatal(err)
		}
		used = after.Sub(before)
	}
	if x == 0 {
		t.Log("unlikely")
	}
}

func BenchmarkNow(b *testing.B) {
	c := New()
	for b.Loop() {
		_ = c.Now()
	}
}
