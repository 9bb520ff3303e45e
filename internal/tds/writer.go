package tds

import "io"

// Writer builds messages: append the payload to Buf, call Commit after each
// token, and End at the end. Packet headers are put between the bytes as the
// packets fill, so that a message that fits FlushAt leaves in one write.
type Writer struct {
	Dst     io.Writer
	Buf     []byte // the payload goes here, by append
	FlushAt int    // bytes that Commit lets gather before it writes; 0 = 32 KiB
	SPID    uint16
	size    int
	start   int // of the open packet's header in Buf
	typ     PacketType
	status  byte // of the next packet
	id      byte
	wrote   bool // some packet of the open message left already
	bytes   int64
}

// SetPacketSize sets the size of the packets of the messages to come, in bytes.
func (w *Writer) SetPacketSize(n int) { w.size = n }

// Bytes is how many bytes were written in all.
func (w *Writer) Bytes() int64 { return w.bytes }

// Begin starts a message; status goes into its first packet's header (the reset
// bits; 0 otherwise). An earlier message may still wait in Buf: it leaves with
// this one.
func (w *Writer) Begin(t PacketType, status byte) {
	if w.size == 0 {
		w.size = DefaultPacketSize
	}
	w.typ, w.status, w.id, w.wrote = t, status, 1, false
	w.start = len(w.Buf)
	w.Buf = append(w.Buf, 0, 0, 0, 0, 0, 0, 0, 0)
}

// Empty reports whether the open message has no payload yet.
func (w *Writer) Empty() bool { return !w.wrote && w.id == 1 && len(w.Buf) == w.start+HeaderSize }

func (w *Writer) header(at, length int, status byte) {
	b := w.Buf[at:]
	b[0], b[1], b[2], b[3] = byte(w.typ), status|w.status, byte(length>>8), byte(length)
	b[4], b[5], b[6], b[7] = byte(w.SPID>>8), byte(w.SPID), w.id, 0
	w.id++
	w.status = 0
}

// Commit closes the packets that are full, and writes them when enough have
// gathered. Call it after each token.
func (w *Writer) Commit() error {
	if len(w.Buf)-w.start > w.size {
		w.split()
		limit := w.FlushAt
		if limit == 0 {
			limit = 32 << 10
		}
		if w.start >= limit {
			return w.flushFull()
		}
	}
	return nil
}

// split puts headers into a payload that is longer than its packet. From the
// back, so that each byte moves once.
func (w *Writer) split() {
	room := w.size - HeaderSize
	payload := len(w.Buf) - w.start - HeaderSize
	n := (payload - 1) / room // full packets in front of the last one, which is never empty
	end := len(w.Buf)
	for range n {
		w.Buf = append(w.Buf, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	for k := n; k > 0; k-- {
		from := w.start + HeaderSize + k*room
		copy(w.Buf[from+k*HeaderSize:], w.Buf[from:end])
		end = from
	}
	for range n {
		w.header(w.start, w.size, 0)
		w.start += w.size
	}
}

func (w *Writer) write(b []byte) error {
	n, err := w.Dst.Write(b)
	w.bytes += int64(n)
	return err
}

// flushFull writes the full packets and keeps the open one.
func (w *Writer) flushFull() error {
	err := w.write(w.Buf[:w.start])
	n := copy(w.Buf, w.Buf[w.start:])
	w.Buf = w.Buf[:n]
	w.start = 0
	w.wrote = true
	return err
}

// Flush sends what there is, the open packet too, without ending the message:
// for messages that must not wait.
func (w *Writer) Flush() error {
	if len(w.Buf)-w.start > w.size {
		w.split()
	}
	if len(w.Buf) == w.start+HeaderSize {
		if w.start > 0 {
			return w.flushFull()
		}
		return nil
	}
	w.header(w.start, len(w.Buf)-w.start, 0)
	w.start = len(w.Buf)
	w.Buf = append(w.Buf, 0, 0, 0, 0, 0, 0, 0, 0)
	return w.flushFull()
}

// Close ends the message without writing it, so that another one can leave in
// the same write.
func (w *Writer) Close() {
	if len(w.Buf)-w.start > w.size {
		w.split()
	}
	w.header(w.start, len(w.Buf)-w.start, StatusEOM)
	w.start = len(w.Buf)
}

// End ends the message and writes all there is.
func (w *Writer) End() error {
	w.Close()
	err := w.write(w.Buf)
	w.Buf, w.start = w.Buf[:0], 0
	return err
}

// Abandon throws the unsent rest of the open message away.
func (w *Writer) Abandon() { w.Buf, w.start = w.Buf[:0], 0 }
