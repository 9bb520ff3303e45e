package pace

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	highResolution = 0x2      // CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, Windows 10 1803 and later
	timerAccess    = 0x1f0003 // TIMER_ALL_ACCESS
)

// newSleeper returns a sleep on a high-resolution waitable timer, or on Go's own where there is none.
func newSleeper() (sleep func(time.Duration) error, end func()) {
	kernel := windows.NewLazySystemDLL("kernel32.dll")
	create, set := kernel.NewProc("CreateWaitableTimerExW"), kernel.NewProc("SetWaitableTimer")
	if create.Find() != nil || set.Find() != nil {
		return goSleep, func() {}
	}
	h, _, _ := create.Call(0, 0, highResolution, timerAccess)
	if h == 0 {
		return goSleep, func() {}
	}
	timer := windows.Handle(h)
	sleep = func(d time.Duration) error {
		due := -int64((d + 99) / 100) // negative is relative, in 100 ns
		if ok, _, err := set.Call(uintptr(timer), uintptr(unsafe.Pointer(&due)), 0, 0, 0, 0); ok == 0 {
			return fmt.Errorf("set a waitable timer: %w", err)
		}
		if _, err := windows.WaitForSingleObject(timer, windows.INFINITE); err != nil {
			return fmt.Errorf("sleep: %w", err)
		}
		return nil
	}
	return sleep, func() { _ = windows.CloseHandle(timer) }
}

func goSleep(d time.Duration) error { time.Sleep(d); return nil }
