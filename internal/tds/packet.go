package tds

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// PacketType is the kind of a message, in the first byte of each packet.
type PacketType byte

// The packet types.
const (
	PacketSQLBatch    PacketType = 0x01
	PacketRPC         PacketType = 0x03
	PacketResponse    PacketType = 0x04
	PacketAttention   PacketType = 0x06
	PacketBulkLoad    PacketType = 0x07
	PacketFedAuth     PacketType = 0x08
	PacketTransaction PacketType = 0x0E
	PacketLogin7      PacketType = 0x10
	PacketSSPI        PacketType = 0x11
	PacketPrelogin    PacketType = 0x12
)

// Bits of the status byte.
const (
	StatusEOM           = 0x01 // the message's last packet
	StatusIgnore        = 0x02 // with EOM: forget this message
	StatusReset         = 0x08 // reset the session before the request
	StatusResetKeepTran = 0x10 // the same, keeping the transaction
)

// Sizes in bytes, headers included.
const (
	HeaderSize        = 8
	MinPacketSize     = 512
	DefaultPacketSize = 4096
	MaxPacketSize     = 32767
)

// Header starts each packet.
type Header struct {
	Type   PacketType
	Status byte
	Length int // header included
	SPID   uint16
	ID     byte
	Window byte
}

// ParseHeader reads a header of 8 bytes. The length is checked against the
// header's own size only.
func ParseHeader(b []byte) (Header, error) {
	if len(b) < HeaderSize {
		return Header{}, ErrShort
	}
	h := Header{
		Type: PacketType(b[0]), Status: b[1], Length: int(binary.BigEndian.Uint16(b[2:])),
		SPID: binary.BigEndian.Uint16(b[4:]), ID: b[6], Window: b[7],
	}
	if h.Length < HeaderSize {
		return h, &FormatError{What: "packet", Detail: fmt.Sprintf("length %d is smaller than its header", h.Length)}
	}
	return h, nil
}

// Append appends the header's 8 bytes.
func (h Header) Append(b []byte) []byte {
	return append(b, byte(h.Type), h.Status, byte(h.Length>>8), byte(h.Length), byte(h.SPID>>8), byte(h.SPID), h.ID, h.Window)
}

// NegotiatePacketSize gives the packet size for what LOGIN7 asked for.
func NegotiatePacketSize(asked int) int {
	switch {
	case asked == 0:
		return DefaultPacketSize
	case asked < MinPacketSize:
		return MinPacketSize
	case asked > MaxPacketSize:
		return MaxPacketSize
	}
	return asked
}

// ErrTooLarge says that a message exceeds the reader's limit.
var ErrTooLarge = errors.New("tds: the message is larger than the limit")

// Message is one request or response, its packets joined.
type Message struct {
	Type   PacketType
	Status byte   // of the first packet, and EOM and ignore of the last
	Data   []byte // valid until the next read
}

// Reset reports whether the session is to be reset first, and whether its
// transaction stays.
func (m Message) Reset() (reset, keepTran bool) {
	return m.Status&(StatusReset|StatusResetKeepTran) != 0, m.Status&StatusResetKeepTran != 0
}

// Ignored reports whether the sender took the message back.
func (m Message) Ignored() bool { return m.Status&StatusIgnore != 0 }

// Reader splits a byte stream into packets and messages. Who reads the stream
// is the caller's affair: either Fill with an io.Reader, or Space and Advance.
// The buffer holds a packet, grows only to a packet that is larger, and can be
// given away while nothing is in it.
type Reader struct {
	Max   int // a message's largest size in bytes; 0 = 64 MiB
	Get   func() []byte
	Put   func([]byte)
	buf   []byte
	r, w  int
	large []byte // joins messages of several packets
	msg   Message
	part  bool // a message was begun
	bytes int64
}

const defaultMaxMessage = 64 << 20

// Buffered is how many bytes were read but not handed out.
func (r *Reader) Buffered() int { return r.w - r.r }

// Bytes is how many bytes were read in all.
func (r *Reader) Bytes() int64 { return r.bytes }

// Space returns where the next bytes may be read to, at least one.
func (r *Reader) Space() []byte {
	if r.buf == nil {
		if r.Get != nil {
			r.buf = r.Get()
		} else {
			r.buf = make([]byte, DefaultPacketSize)
		}
		r.r, r.w = 0, 0
	}
	if r.r == r.w {
		r.r, r.w = 0, 0
	}
	need := HeaderSize
	if r.w-r.r >= HeaderSize {
		need = int(binary.BigEndian.Uint16(r.buf[r.r+2:]))
	}
	if r.r+need > len(r.buf) || r.w == len(r.buf) {
		if need > len(r.buf) {
			grown := make([]byte, need)
			copy(grown, r.buf[r.r:r.w])
			r.drop()
			r.buf = grown
		} else {
			copy(r.buf, r.buf[r.r:r.w])
		}
		r.r, r.w = 0, r.w-r.r
		if r.w == len(r.buf) { // a whole packet nobody took
			r.buf = append(r.buf, make([]byte, len(r.buf))...)
		}
	}
	return r.buf[r.w:]
}

// Advance says that n bytes were read into Space.
func (r *Reader) Advance(n int) { r.w += n; r.bytes += int64(n) }

func (r *Reader) drop() {
	if r.Put != nil && r.buf != nil {
		r.Put(r.buf)
	}
	r.buf = nil
}

// Release gives the buffers away if they are empty. Data of the last message is
// gone then.
func (r *Reader) Release() {
	if r.r != r.w || r.buf == nil {
		return
	}
	r.drop()
	r.r, r.w = 0, 0
	if !r.part {
		r.large = nil
	}
}

// Packet takes the next packet out of what is buffered; ok is false when it is
// not there in full. The payload is valid until the next Space.
func (r *Reader) Packet() (h Header, payload []byte, ok bool, err error) {
	b := r.buf[r.r:r.w]
	if len(b) < HeaderSize {
		return h, nil, false, nil
	}
	if h, err = ParseHeader(b); err != nil {
		return h, nil, false, err
	}
	if h.Length > MaxPacketSize+1 {
		return h, nil, false, &FormatError{What: "packet", Detail: fmt.Sprintf("length %d is beyond %d", h.Length, MaxPacketSize)}
	}
	if len(b) < h.Length {
		return h, nil, false, nil
	}
	r.r += h.Length
	return h, b[HeaderSize:h.Length:h.Length], true, nil
}

// Message takes the next message out of what is buffered; ok is false when more
// bytes are needed (read them with Fill, or Space and Advance).
func (r *Reader) Message() (m Message, ok bool, err error) {
	limit := r.Max
	if limit == 0 {
		limit = defaultMaxMessage
	}
	for {
		h, p, ok, err := r.Packet()
		if err != nil || !ok {
			return Message{}, false, err
		}
		last := h.Status & StatusEOM
		if !r.part {
			if len(p) > limit {
				return Message{}, false, ErrTooLarge
			}
			r.msg = Message{Type: h.Type, Status: h.Status}
			if last != 0 {
				r.msg.Data = p
				return r.msg, true, nil
			}
			r.part = true
			r.large = append(r.large[:0], p...)
			continue
		}
		if h.Type == PacketAttention && r.msg.Type != PacketAttention {
			// An attention in the middle of a request takes the request back.
			r.part = false
			r.msg = Message{Type: h.Type, Status: h.Status}
			return r.msg, true, nil
		}
		if h.Type != r.msg.Type {
			return Message{}, false, &FormatError{What: "packet", Detail: fmt.Sprintf("type 0x%02X inside a message of type 0x%02X", byte(h.Type), byte(r.msg.Type))}
		}
		if len(r.large)+len(p) > limit {
			return Message{}, false, ErrTooLarge
		}
		r.large = append(r.large, p...)
		r.msg.Status |= h.Status & (StatusEOM | StatusIgnore)
		if last != 0 {
			r.part = false
			r.msg.Data = r.large
			return r.msg, true, nil
		}
	}
}

// Shrink forgets the buffer that joined a large message if it is larger than n
// bytes; the last message's Data is gone then.
func (r *Reader) Shrink(n int) {
	if !r.part && cap(r.large) > n {
		r.large = nil
	}
}

// Fill reads once from src.
func (r *Reader) Fill(src io.Reader) error {
	n, err := src.Read(r.Space())
	r.Advance(n)
	if n > 0 {
		return nil
	}
	if err == nil {
		return io.ErrNoProgress
	}
	if err == io.EOF && (r.Buffered() > 0 || r.part) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// ReadMessage reads src until a whole message is there.
func (r *Reader) ReadMessage(src io.Reader) (Message, error) {
	for {
		m, ok, err := r.Message()
		if err != nil || ok {
			return m, err
		}
		if err := r.Fill(src); err != nil {
			return Message{}, err
		}
	}
}

// Peek returns the type of the next packet if its header is buffered.
func (r *Reader) Peek() (PacketType, bool) {
	if r.w-r.r < HeaderSize {
		return 0, false
	}
	return PacketType(r.buf[r.r]), true
}

// First is the first byte that is buffered; 0 if none is.
func (r *Reader) First() byte {
	if r.r == r.w {
		return 0
	}
	return r.buf[r.r]
}

// TakeBuffered takes out the bytes that are buffered, as they came: for a
// stream whose rest is somebody else's to read.
func (r *Reader) TakeBuffered() []byte {
	b := append([]byte(nil), r.buf[r.r:r.w]...)
	r.r, r.w = 0, 0
	return b
}
