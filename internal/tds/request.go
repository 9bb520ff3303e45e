package tds

import "encoding/binary"

// Headers are the ALL_HEADERS of a request of TDS 7.2 and later.
type Headers struct {
	Transaction  uint64 // descriptor of the client's transaction; 0 = none
	Requests     uint32 // outstanding requests; 1 without MARS
	Notification []byte // a query notification, if one is asked for
}

const (
	headerNotification = 1
	headerTransaction  = 2
	headerTrace        = 3
)

// readHeaders reads ALL_HEADERS, where the version has them.
func readHeaders(d *Decoder, v Version) Headers {
	var h Headers
	if !v.Has72() {
		return h
	}
	total := d.Uint32()
	if d.err == nil && (total < 4 || total-4 > uint32(d.Len())) {
		d.fail("ALL_HEADERS", "length %d does not fit a message with %d bytes left", total, d.Len())
		return h
	}
	in := Decoder{buf: d.Take(int(total) - 4)}
	for in.Len() > 0 && in.err == nil && d.err == nil {
		n := in.Uint32()
		if n < 6 || int(n)-4 > in.Len() {
			d.fail("ALL_HEADERS", "a header of %d bytes", n)
			return h
		}
		kind := in.Uint16()
		body := Decoder{buf: in.Take(int(n) - 6)}
		switch kind {
		case headerTransaction:
			h.Transaction, h.Requests = body.Uint64(), body.Uint32()
			if body.err != nil {
				d.fail("ALL_HEADERS", "the transaction descriptor ends early")
			}
		case headerNotification:
			h.Notification = body.Rest()
		case headerTrace:
		default:
			d.fail("ALL_HEADERS", "unknown header %d", kind)
		}
	}
	return h
}

// AppendHeaders appends ALL_HEADERS with a transaction descriptor; nothing for
// versions that have none.
func AppendHeaders(b []byte, v Version, transaction uint64) []byte {
	if !v.Has72() {
		return b
	}
	b = append(b, 22, 0, 0, 0, 18, 0, 0, 0, headerTransaction, 0)
	b = binary.LittleEndian.AppendUint64(b, transaction)
	return append(b, 1, 0, 0, 0)
}

// ParseBatch reads a SQLBatch: its headers and the T-SQL text.
func ParseBatch(b []byte, v Version) (Headers, string, error) {
	d := Decoder{buf: b}
	h := readHeaders(&d, v)
	if d.err != nil {
		return h, "", complete("SQLBatch", &d)
	}
	if d.Len()%2 != 0 {
		d.fail("SQLBatch", "text of %d bytes is no UTF-16", d.Len())
		return h, "", d.err
	}
	return h, DecodeUTF16(d.Rest()), nil
}

// TranRequest is the kind of a transaction manager request.
type TranRequest uint16

// The transaction manager requests that need no coordinator.
const (
	TranBegin    TranRequest = 5
	TranCommit   TranRequest = 7
	TranRollback TranRequest = 8
	TranSave     TranRequest = 9
)

// Transaction is a transaction manager request.
type Transaction struct {
	Headers   Headers
	Request   TranRequest
	Isolation byte   // of the transaction that begins; 0 = as it is, 1 to 5 as in SET TRANSACTION
	Name      string // of the transaction or savepoint
	Begin     bool   // commit and rollback: begin the next one (NextIso, NextName)
	NextIso   byte
	NextName  string
}

// ParseTransaction reads a transaction manager request.
func ParseTransaction(b []byte, v Version) (Transaction, error) {
	d := NewDecoder(b)
	t := Transaction{Headers: readHeaders(d, v)}
	t.Request = TranRequest(d.Uint16())
	name := func() string {
		n := d.BVarByte()
		if len(n)%2 != 0 {
			d.fail("transaction request", "a name of %d bytes", len(n))
			return ""
		}
		return DecodeUTF16(n)
	}
	switch t.Request {
	case TranBegin:
		t.Isolation, t.Name = d.Byte(), name()
	case TranCommit, TranRollback:
		t.Name = name()
		if t.Begin = d.Byte()&1 != 0; t.Begin {
			t.NextIso, t.NextName = d.Byte(), name()
		}
	case TranSave:
		t.Name = name()
	}
	return t, complete("transaction request", d)
}
