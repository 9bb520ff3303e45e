package server

import "sync"

// bufferSize holds a packet of the default size and its answer. Larger buffers
// are not kept.
const bufferSize = 8 << 10

// buffers lends packet buffers: a connection has one only while it has
// something to read or to write, so an idle one costs next to nothing.
type buffers struct{ pool sync.Pool }

func newBuffers() *buffers {
	return &buffers{pool: sync.Pool{New: func() any { return new([bufferSize]byte) }}}
}

func (b *buffers) get() []byte { return b.pool.Get().(*[bufferSize]byte)[:] }

func (b *buffers) put(p []byte) {
	if cap(p) == bufferSize {
		b.pool.Put((*[bufferSize]byte)(p[:bufferSize]))
	}
}
