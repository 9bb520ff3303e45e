// Package tds is the wire format of TDS 7.1 to 7.4 and 8.0 (MS-TDS), in both
// directions: what a client sends and what a server answers. It parses and
// builds bytes; it opens no sockets, sets no deadlines and decides nothing.
//
// Decoders work on a byte slice and never copy what they can point at, so a
// value is valid only as long as the message it was read from. A decoder that
// meets the end of its slice reports [ErrShort]: for a request, which is always
// complete, that is a malformed message; for a response, which is read as it
// comes, the caller adds bytes and tries again.
package tds

import "fmt"

// Version is a TDS version as LOGIN7 carries it (little-endian there,
// big-endian in LOGINACK).
type Version uint32

// The versions that clients announce.
const (
	V70  Version = 0x70000000
	V71  Version = 0x71000001
	V72  Version = 0x72090002
	V73A Version = 0x730A0003
	V73B Version = 0x730B0003
	V74  Version = 0x74000004
	V80  Version = 0x08000000
)

// level orders versions: 8.0 is the newest although its number is the smallest.
func (v Version) level() uint32 {
	if v == V80 {
		return 0x80000000
	}
	return uint32(v)
}

// AtLeast reports whether v is w or newer.
func (v Version) AtLeast(w Version) bool { return v.level() >= w.level() }

// Has72 reports whether v has what TDS 7.2 brought: ALL_HEADERS, user types and
// line numbers of four bytes, row counts of eight, the MAX types.
func (v Version) Has72() bool { return v.level()>>24 >= 0x72 }

// Has73 reports whether v has the date, time, datetime2 and datetimeoffset types.
func (v Version) Has73() bool { return v.level()>>24 >= 0x73 }

// String gives the version as documents write it.
func (v Version) String() string {
	switch v.level() >> 24 {
	case 0x70:
		return "7.0"
	case 0x71:
		return "7.1"
	case 0x72:
		return "7.2"
	case 0x73:
		return "7.3"
	case 0x74:
		return "7.4"
	case 0x80:
		return "8.0"
	}
	return fmt.Sprintf("0x%08X", uint32(v))
}
