package storage

import (
	"sync/atomic"
	"unsafe"
)

// A row in memory:
//
//	 0  begin   the stamp that made the version
//	 8  end     the stamp that ended it
//	16  size    of the block, in units
//	20  layout  which of the table's layouts the columns follow
//	22  flags
//	24  links   per hash index the next row of the bucket's chain, and for
//	            indexes that are not unique the one before it
//	    null bitmap, fixed columns, ends of the variable columns, their bytes
const (
	offEnd    = 8
	offSize   = 16
	offLayout = 20
	offFlags  = 22
	offLinks  = 24

	flagWide = 1 // the ends of variable columns take four bytes, not two
)

func begin(p unsafe.Pointer) *uint64    { return (*uint64)(p) }
func end(p unsafe.Pointer) *uint64      { return (*uint64)(unsafe.Add(p, offEnd)) }
func freeLink(p unsafe.Pointer) *uint64 { return (*uint64)(unsafe.Add(p, offEnd)) }

func size(p unsafe.Pointer) uint32 {
	return atomic.LoadUint32((*uint32)(unsafe.Add(p, offSize)))
}

func setSize(p unsafe.Pointer, units uint32) {
	atomic.StoreUint32((*uint32)(unsafe.Add(p, offSize)), units)
}

func layoutOf(p unsafe.Pointer) uint16 { return *(*uint16)(unsafe.Add(p, offLayout)) }
func flagsOf(p unsafe.Pointer) uint16  { return *(*uint16)(unsafe.Add(p, offFlags)) }

func setLayout(p unsafe.Pointer, version, flags uint16) {
	*(*uint16)(unsafe.Add(p, offLayout)) = version
	*(*uint16)(unsafe.Add(p, offFlags)) = flags
}

// link is a row number in a row's header.
func link(p unsafe.Pointer, off uintptr) *uint32 { return (*uint32)(unsafe.Add(p, off)) }

// rowMemory finds rows by their numbers: in a shared slab or in the buffer of
// a local table.
type rowMemory struct {
	slab  *slab
	local unsafe.Pointer
}

func (m *rowMemory) row(no rowNo) unsafe.Pointer {
	if m.slab != nil {
		return m.slab.row(no)
	}
	return unsafe.Add(m.local, uintptr(no)<<unitBits)
}
