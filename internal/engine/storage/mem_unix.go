//go:build unix && !race

package storage

import "golang.org/x/sys/unix"

// takeMemory gets n zeroed bytes from the system, outside the Go heap, so that
// the rows do not count towards the collector's pace. It returns nil when
// there is no memory.
func takeMemory(n int) []byte {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return b
}

// giveMemory returns what takeMemory got. An error could only mean that the
// range is not a mapping, which takeMemory rules out.
func giveMemory(b []byte) { _ = unix.Munmap(b) }
