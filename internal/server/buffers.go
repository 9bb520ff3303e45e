package server

import "sync"

// bufferSize holds a packet of the default size and its answer. A connection
// whose last answer was larger starts the next one in largeSize, which holds
// what the writer gathers before it writes (32 KiB) and a row more.
const (
	bufferSize = 8 << 10
	largeSize  = 48 << 10
)

// buffers lends packet buffers: a connection has one only while it has
// something to read or to write, so an idle one costs next to nothing. Buffers
// that have grown are not kept.
type buffers struct{ small, large sync.Pool }

func newBuffers() *buffers {
	return &buffers{
		small: sync.Pool{New: func() any { return new([bufferSize]byte) }},
		large: sync.Pool{New: func() any { return new([largeSize]byte) }},
	}
}

func (b *buffers) get() []byte { return b.small.Get().(*[bufferSize]byte)[:] }

func (b *buffers) getLarge() []byte { return b.large.Get().(*[largeSize]byte)[:] }

func (b *buffers) put(p []byte) {
	switch cap(p) {
	case bufferSize:
		b.small.Put((*[bufferSize]byte)(p[:bufferSize]))
	case largeSize:
		b.large.Put((*[largeSize]byte)(p[:largeSize]))
	}
}
