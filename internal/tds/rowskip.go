package tds

import (
	"encoding/binary"
	"math"
)

// Length is how the values of a type say how long they are.
type Length = lengthKind

// The ways of saying a length.
const (
	LengthFixed   Length = lenFixed   // none: TypeInfo.Size bytes
	LengthByte    Length = lenByte    // one byte, 0 = NULL
	LengthByteFF  Length = lenByteFF  // one byte, 0xFF = NULL
	LengthShort   Length = lenShort   // two bytes, 0xFFFF = NULL
	LengthLong    Length = lenLong    // in rows: text pointer, timestamp, four bytes
	LengthPLP     Length = lenPLP     // eight bytes and chunks
	LengthVariant Length = lenVariant // four bytes, 0 = NULL
	LengthTable   Length = lenTable   // a table-valued parameter
)

// Length says how t's values tell their length.
func (t *TypeInfo) Length() Length { return t.lengthKind() }

// Fits reports whether a value whose length is one byte may have n bytes.
func (t *TypeInfo) Fits(n int) bool { return t.fits(n) }

// MaxVariant is the largest sql_variant in bytes, its description included.
const MaxVariant = 8016 + 64

// Total lengths of a chunked value that are none.
const (
	PLPNull    uint64 = plpNull
	PLPUnknown uint64 = plpUnknown
)

// RowSkipper finds the ends of rows without reading their values.
type RowSkipper struct {
	ops  []skipOp // neighbours of fixed length are one
	each []skipOp // one per column, for rows with a NULL bitmap
}

type skipOp struct {
	kind lengthKind
	size int    // lenFixed: bytes; lenShort: the most that are allowed
	fits uint32 // lenByte: bit n says that n bytes are a value, or NULL
}

// Set makes s skip rows of cols.
func (s *RowSkipper) Set(cols []Column) {
	s.ops, s.each = s.ops[:0], s.each[:0]
	for i := range cols {
		t := &cols[i].Type
		op := skipOp{kind: t.lengthKind(), size: t.Size}
		if op.kind == lenByte {
			op.fits = 1
			for n := 1; n < 32; n++ {
				if t.fits(n) {
					op.fits |= 1 << n
				}
			}
		}
		s.each = append(s.each, op)
		if n := len(s.ops); op.kind == lenFixed && n > 0 && s.ops[n-1].kind == lenFixed {
			s.ops[n-1].size += op.size
			continue
		}
		s.ops = append(s.ops, op)
	}
}

// Rows passes over the whole ROW and NBCROW tokens that b begins with, and says
// how many bytes and rows they are. It stops in front of what is no row, of a row
// that b holds only in part, and of one that is malformed.
func (s *RowSkipper) Rows(b []byte) (n, rows int) {
	for n < len(b) {
		var m int
		switch TokenID(b[n]) {
		case TokenRow:
			m = skipOps(b[n+1:], s.ops)
		case TokenNBCRow:
			m = s.nbc(b[n+1:])
		default:
			return n, rows
		}
		if m < 0 {
			return n, rows
		}
		n += 1 + m
		rows++
	}
	return n, rows
}

// nbc is the size of a row behind its bitmap of NULLs, the bitmap included.
func (s *RowSkipper) nbc(b []byte) int {
	n := (len(s.each) + 7) / 8
	if n > len(b) {
		return -1
	}
	nulls := b[:n]
	for i := range s.each {
		if nulls[i/8]&(1<<(i%8)) != 0 {
			continue
		}
		m := skipOps(b[n:], s.each[i:i+1])
		if m < 0 {
			return -1
		}
		n += m
	}
	return n
}

// skipOps is the size of the values at b's start; -1 if it cannot be told.
func skipOps(b []byte, ops []skipOp) int {
	if len(ops) == 0 {
		return -1
	}
	i := 0
	for k := range ops {
		op := &ops[k]
		switch op.kind {
		case lenFixed:
			i += op.size
		case lenByte:
			if i >= len(b) {
				return -1
			}
			n := b[i]
			if n > 31 || op.fits>>n&1 == 0 {
				return -1
			}
			i += 1 + int(n)
		case lenShort:
			if i+2 > len(b) {
				return -1
			}
			n := int(binary.LittleEndian.Uint16(b[i:]))
			i += 2
			if n == 0xFFFF {
				continue
			}
			if n > op.size {
				return -1
			}
			i += n
		default:
			if i > len(b) {
				return -1
			}
			n := skipLong(b[i:], op.kind)
			if n < 0 {
				return -1
			}
			i += n
		}
	}
	if i > len(b) {
		return -1
	}
	return i
}

// skipLong is skipOps for the rarer kinds of lengths.
func skipLong(b []byte, kind lengthKind) int {
	switch kind {
	case lenByteFF:
		if len(b) < 1 {
			return -1
		}
		if b[0] == 0xFF {
			return 1
		}
		return 1 + int(b[0])
	case lenVariant:
		if len(b) < 4 {
			return -1
		}
		n := binary.LittleEndian.Uint32(b)
		if n > MaxVariant {
			return -1
		}
		return 4 + int(n)
	case lenLong:
		if len(b) < 1 {
			return -1
		}
		if b[0] == 0 {
			return 1
		}
		i := 1 + int(b[0]) + 8
		if i+4 > len(b) {
			return -1
		}
		n := binary.LittleEndian.Uint32(b[i:])
		if n == math.MaxUint32 {
			return i + 4
		}
		if n > math.MaxInt32 || int(n) > len(b) {
			return -1
		}
		return i + 4 + int(n)
	case lenPLP:
		return skipPLP(b)
	}
	return -1
}

func skipPLP(b []byte) int {
	if len(b) < 8 {
		return -1
	}
	total, sum := binary.LittleEndian.Uint64(b), uint64(0)
	if total == plpNull {
		return 8
	}
	for i := 8; i+4 <= len(b); {
		n := binary.LittleEndian.Uint32(b[i:])
		i += 4
		if n == 0 {
			if total != plpUnknown && sum != total {
				return -1
			}
			return i
		}
		if uint64(n) > uint64(len(b)-i) {
			return -1
		}
		i += int(n)
		sum += uint64(n)
	}
	return -1
}

// AppendName appends a parameter's name as AppendParam does.
func AppendName(b []byte, name string) []byte { return appendBVarChar(b, name) }
