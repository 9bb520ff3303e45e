package tds

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrShort says that the bytes end before the thing being decoded does.
var ErrShort = errors.New("tds: the message ends early")

// FormatError is a message that breaks the protocol.
type FormatError struct {
	What   string // the structure, e.g. "LOGIN7"
	Detail string
	Offset int // bytes from the start of the message, after the packet headers
}

// Error says what is wrong and where.
func (e *FormatError) Error() string {
	return fmt.Sprintf("tds: %s: %s (at byte %d)", e.What, e.Detail, e.Offset)
}

// Decoder reads little-endian values from a message. The first failure sticks:
// everything after it returns zeros, and Err tells.
type Decoder struct {
	buf []byte
	off int
	err error
}

// NewDecoder reads b from its start.
func NewDecoder(b []byte) *Decoder { return &Decoder{buf: b} }

// Reset makes d read b from its start.
func (d *Decoder) Reset(b []byte) { *d = Decoder{buf: b} }

// Err is the first failure: nil, ErrShort or a *FormatError.
func (d *Decoder) Err() error { return d.err }

// Len is how many bytes are left.
func (d *Decoder) Len() int { return len(d.buf) - d.off }

// Offset is how many bytes were read.
func (d *Decoder) Offset() int { return d.off }

// Rest returns the bytes not read yet, without reading them.
func (d *Decoder) Rest() []byte { return d.buf[d.off:] }

func (d *Decoder) fail(what, format string, args ...any) {
	if d.err == nil {
		d.err = &FormatError{What: what, Detail: fmt.Sprintf(format, args...), Offset: d.off}
	}
}

// Take returns the next n bytes, which stay the message's.
func (d *Decoder) Take(n int) []byte {
	if d.err != nil {
		return nil
	}
	if n < 0 || n > len(d.buf)-d.off {
		d.err = ErrShort
		return nil
	}
	b := d.buf[d.off : d.off+n : d.off+n]
	d.off += n
	return b
}

// Skip passes over n bytes.
func (d *Decoder) Skip(n int) { d.Take(n) }

// Byte reads one byte.
func (d *Decoder) Byte() byte {
	if d.err != nil {
		return 0
	}
	if d.off >= len(d.buf) {
		d.err = ErrShort
		return 0
	}
	b := d.buf[d.off]
	d.off++
	return b
}

// Peek returns the next byte without reading it; false at the end.
func (d *Decoder) Peek() (byte, bool) {
	if d.err != nil || d.off >= len(d.buf) {
		return 0, false
	}
	return d.buf[d.off], true
}

// Uint16 reads two bytes.
func (d *Decoder) Uint16() uint16 {
	if b := d.Take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// Uint32 reads four bytes.
func (d *Decoder) Uint32() uint32 {
	if b := d.Take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// Uint64 reads eight bytes.
func (d *Decoder) Uint64() uint64 {
	if b := d.Take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// BVarChar reads a string with a length of one byte, in characters.
func (d *Decoder) BVarChar() string { return DecodeUTF16(d.Take(2 * int(d.Byte()))) }

// USVarChar reads a string with a length of two bytes, in characters.
func (d *Decoder) USVarChar() string { return DecodeUTF16(d.Take(2 * int(d.Uint16()))) }

// BVarByte reads bytes with a length of one byte.
func (d *Decoder) BVarByte() []byte { return d.Take(int(d.Byte())) }

// USVarByte reads bytes with a length of two bytes.
func (d *Decoder) USVarByte() []byte { return d.Take(int(d.Uint16())) }

// complete turns ErrShort into a *FormatError: the message was all there was.
func complete(what string, d *Decoder) error {
	if errors.Is(d.err, ErrShort) {
		return &FormatError{What: what, Detail: "the message ends early", Offset: d.off}
	}
	return d.err
}
