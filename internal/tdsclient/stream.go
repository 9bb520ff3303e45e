package tdsclient

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"gostress/internal/tds"
)

// Buffers are held only while a request runs, so an idle connection has none.
const (
	smallBuffer  = 8 << 10  // holds an answer of one packet of the usual size
	expectBuffer = 32 << 10 // the most that is held ready for an answer
	largeBuffer  = 64 << 10 // for answers that keep coming
)

// pools hold blocks of 8, 16, 32 and 64 KiB.
var pools [4]sync.Pool

// block is pooled memory.
type block struct {
	b    []byte
	pool *sync.Pool
}

// buffer is memory of a pool, or of none when a value needs more.
type buffer struct {
	b     []byte
	block *block
}

// get makes b hold at least n bytes, empty.
func (b *buffer) get(n int) {
	for k, size := 0, smallBuffer; k < len(pools); k, size = k+1, 2*size {
		if n > size {
			continue
		}
		var ok bool
		if b.block, ok = pools[k].Get().(*block); !ok {
			b.block = &block{make([]byte, size), &pools[k]}
		}
		b.b = b.block.b
		return
	}
	b.b = make([]byte, n)
}

func (b *buffer) put() {
	if b.block != nil {
		b.block.pool.Put(b.block)
	}
	*b = buffer{}
}

// errEnd says that the message ended where more of it was needed.
var errEnd = errors.New("it ends early")

// stream takes the packet headers out of what is read, and shows the payload as
// one piece: buf.b[r:end] is payload that is contiguous, buf.b[end:w] is as it
// came, a packet's rest of left bytes first.
type stream struct {
	src       io.Reader
	buf       buffer
	r, end, w int
	left      int
	last      bool // the current packet ends the message
	full      bool // the last read filled the buffer: more waits
	total     int  // bytes read since begin
	expect    int  // bytes that the last answer had, up to expectBuffer
}

// begin starts reading a message.
func (s *stream) begin() {
	s.last, s.left = false, 0
	if s.buf.b == nil {
		s.buf.get(s.expect)
		s.r, s.end, s.w, s.total = 0, 0, 0, 0
	}
}

// release gives the memory back.
func (s *stream) release() {
	s.buf.put()
	s.r, s.end, s.w, s.full = 0, 0, 0, false
	s.expect = min(s.total, expectBuffer)
}

// window is the payload that can be seen now.
func (s *stream) window() []byte { return s.buf.b[s.r:s.end] }

// more makes the window longer, reading if need be. errEnd says that the message
// has no more.
func (s *stream) more() error {
	for {
		if s.left > 0 {
			if n := min(s.w-s.end, s.left); n > 0 {
				s.end += n
				s.left -= n
				return nil
			}
			if err := s.fill(); err != nil {
				return err
			}
			continue
		}
		if s.last {
			return errEnd
		}
		if err := s.header(); err != nil {
			return err
		}
	}
}

// header takes the next packet's header out of the way.
func (s *stream) header() error {
	for s.w-s.end < tds.HeaderSize {
		if err := s.fill(); err != nil {
			return err
		}
	}
	h := s.buf.b[s.end : s.end+tds.HeaderSize]
	n := int(binary.BigEndian.Uint16(h[2:]))
	if tds.PacketType(h[0]) != tds.PacketResponse {
		return protocol("a packet of type 0x%02X", h[0])
	}
	if n < tds.HeaderSize || n > tds.MaxPacketSize+1 {
		return protocol("a packet of %d bytes", n)
	}
	s.last = h[1]&tds.StatusEOM != 0
	s.left = n - tds.HeaderSize
	copy(s.buf.b[s.r+tds.HeaderSize:], s.buf.b[s.r:s.end]) // mostly nothing
	s.r += tds.HeaderSize
	s.end += tds.HeaderSize
	return nil
}

// fill reads once.
func (s *stream) fill() error {
	if s.r == s.w {
		s.r, s.end, s.w = 0, 0, 0
	}
	if s.full && len(s.buf.b) < largeBuffer {
		s.resize(largeBuffer)
	}
	if s.w == len(s.buf.b) {
		if s.r > 0 {
			copy(s.buf.b, s.buf.b[s.r:s.w])
			s.end, s.w, s.r = s.end-s.r, s.w-s.r, 0
		} else {
			s.resize(max(largeBuffer, 2*len(s.buf.b)))
		}
	}
	space := s.buf.b[s.w:]
	for range 100 {
		n, err := s.src.Read(space)
		if n > 0 {
			s.w += n
			s.total += n
			s.full = n == len(space)
			return nil
		}
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return errServerClosed
			}
			return err
		}
	}
	return io.ErrNoProgress
}

func (s *stream) resize(n int) {
	var b buffer
	b.get(n)
	copy(b.b, s.buf.b[s.r:s.w])
	s.buf.put()
	s.buf = b
	s.end, s.w, s.r = s.end-s.r, s.w-s.r, 0
}

// need makes the window at least n bytes long.
func (s *stream) need(n int) error {
	for s.end-s.r < n {
		if err := s.more(); err != nil {
			return err
		}
	}
	return nil
}

// take is the next n bytes, valid until anything else is read.
func (s *stream) take(n int) ([]byte, error) {
	if s.end-s.r < n {
		if err := s.need(n); err != nil {
			return nil, err
		}
	}
	b := s.buf.b[s.r : s.r+n : s.r+n]
	s.r += n
	return b, nil
}

// skip passes over n bytes without holding them.
func (s *stream) skip(n uint64) error {
	for {
		have := uint64(s.end - s.r)
		if have >= n {
			s.r += int(n)
			return nil
		}
		n -= have
		s.r = s.end
		if err := s.more(); err != nil {
			return err
		}
	}
}

func (s *stream) byte() (byte, error) {
	b, err := s.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

func (s *stream) uint16() (uint16, error) {
	b, err := s.take(2)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint16(b), nil
}

func (s *stream) uint32() (uint32, error) {
	b, err := s.take(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (s *stream) uint64() (uint64, error) {
	b, err := s.take(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// ended reports whether the message ends here. It reads on only if the window is
// empty and the message's last packet has not been seen.
func (s *stream) ended() (bool, error) {
	for {
		if s.r < s.end || s.left > 0 {
			return false, nil
		}
		if s.last {
			return true, nil
		}
		if err := s.header(); err != nil {
			return false, err
		}
	}
}
