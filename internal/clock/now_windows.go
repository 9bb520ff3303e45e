package clock

import (
	"math/bits"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Go's own clock moves in steps of half a millisecond or more here, so the performance counter
// is read instead.
var queryPerformanceCounter = windows.NewLazySystemDLL("kernel32.dll").NewProc("QueryPerformanceCounter")

// Clock reads monotonic time. Make one with New.
type Clock struct {
	base      int64
	frequency int64 // ticks a second
}

// New returns a clock that reads about zero now.
func New() Clock {
	c := Clock{frequency: frequency()}
	c.base = counter()
	return c
}

// Now is the time since New.
func (c Clock) Now() time.Duration {
	hi, lo := bits.Mul64(uint64(counter()-c.base), uint64(time.Second))
	ns, _ := bits.Div64(hi, lo, uint64(c.frequency))
	return time.Duration(ns)
}

func counter() int64 {
	var ticks int64
	// It cannot fail on Windows XP and later, its documentation says.
	_, _, _ = queryPerformanceCounter.Call(uintptr(unsafe.Pointer(&ticks)))
	return ticks
}

func frequency() int64 {
	var perSecond int64
	proc := windows.NewLazySystemDLL("kernel32.dll").NewProc("QueryPerformanceFrequency")
	_, _, _ = proc.Call(uintptr(unsafe.Pointer(&perSecond)))
	return max(perSecond, 1)
}
