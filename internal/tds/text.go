package tds

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/text/encoding/charmap"
)

// Collation is the five bytes that describe how text of a column is encoded and
// compared: LCID and flags (little-endian), then the sort id.
type Collation [5]byte

// DefaultCollation is SQL_Latin1_General_CP1_CI_AS, code page 1252.
var DefaultCollation = Collation{0x09, 0x04, 0xD0, 0x00, 0x34}

// UTF8 reports whether char and varchar of this collation hold UTF-8 (the
// _UTF8 collations of SQL Server 2019).
func (c Collation) UTF8() bool {
	return binary.LittleEndian.Uint32(c[:4])&0x04000000 != 0
}

// DecodeUTF16 converts UTF-16LE to a string. A lone surrogate becomes U+FFFD; an
// odd last byte is dropped.
func DecodeUTF16(b []byte) string {
	n := len(b) / 2
	if n == 0 {
		return ""
	}
	out := make([]byte, n)
	i := 0
	for ; i+4 <= n; i += 4 {
		u := binary.LittleEndian.Uint64(b[2*i:])
		if u&0xFF80FF80FF80FF80 != 0 {
			break
		}
		out[i], out[i+1], out[i+2], out[i+3] = byte(u), byte(u>>16), byte(u>>32), byte(u>>48)
	}
	for ; i < n; i++ {
		u := binary.LittleEndian.Uint16(b[2*i:])
		if u >= utf8.RuneSelf {
			return decodeWide(b, out[:i])
		}
		out[i] = byte(u)
	}
	// out is never written again, so it may become the string without a copy.
	return unsafe.String(&out[0], n)
}

func decodeWide(b, out []byte) string {
	for i := 2 * len(out); i+1 < len(b); i += 2 {
		r := rune(binary.LittleEndian.Uint16(b[i:]))
		if utf16.IsSurrogate(r) {
			var r2 rune
			if i+3 < len(b) {
				r2 = rune(binary.LittleEndian.Uint16(b[i+2:]))
			}
			if r = utf16.DecodeRune(r, r2); r != utf8.RuneError {
				i += 2
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// AppendUTF16 appends s as UTF-16LE. Bytes that are no UTF-8 become U+FFFD.
func AppendUTF16(b []byte, s string) []byte {
	i := 0
	for ; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			break
		}
		b = append(b, c, 0)
	}
	for _, r := range s[i:] {
		if r > 0xFFFF {
			r1, r2 := utf16.EncodeRune(r)
			b = append(b, byte(r1), byte(r1>>8), byte(r2), byte(r2>>8))
			continue
		}
		b = append(b, byte(r), byte(r>>8))
	}
	return b
}

// UTF16Len is how many UTF-16 code units s has.
func UTF16Len(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < utf8.RuneSelf {
			n++
			continue
		}
		n = 0
		for _, r := range s {
			n += utf16.RuneLen(r)
		}
		return n
	}
	return n
}

// truncateUTF16 cuts s to at most n UTF-16 code units, never inside a pair.
func truncateUTF16(s string, n int) string {
	if len(s) <= n {
		return s
	}
	k := 0
	for i, r := range s {
		k += utf16.RuneLen(r)
		if k > n {
			return s[:i]
		}
	}
	return s
}

// DecodeChar converts the bytes of char, varchar or text to a string: UTF-8
// where the collation says so, code page 1252 otherwise.
func DecodeChar(b []byte, c Collation) string {
	ascii := true
	for _, x := range b {
		if x >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii || c.UTF8() {
		return string(b)
	}
	out := make([]byte, 0, len(b)+len(b)/4)
	for _, x := range b {
		out = utf8.AppendRune(out, charmap.Windows1252.DecodeByte(x))
	}
	return string(out)
}

// AppendChar appends s as the bytes of char, varchar or text. A character that
// code page 1252 lacks becomes a question mark, as SQL Server does it.
func AppendChar(b []byte, s string, c Collation) []byte {
	i := 0
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	if i == len(s) || c.UTF8() {
		return append(b, s...)
	}
	b = append(b, s[:i]...)
	for _, r := range s[i:] {
		x, ok := charmap.Windows1252.EncodeRune(r)
		if !ok {
			x = '?'
		}
		b = append(b, x)
	}
	return b
}

// appendBVarChar appends s with a length byte; what exceeds 255 characters is cut.
func appendBVarChar(b []byte, s string) []byte {
	s = truncateUTF16(s, 255)
	return AppendUTF16(append(b, byte(UTF16Len(s))), s)
}

// appendUSVarChar appends s with a two-byte length; what exceeds n characters is cut.
func appendUSVarChar(b []byte, s string, n int) []byte {
	s = truncateUTF16(s, n)
	b = binary.LittleEndian.AppendUint16(b, uint16(UTF16Len(s)))
	return AppendUTF16(b, s)
}
