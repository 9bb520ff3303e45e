package types

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// UTF16Len is the length of a text in UTF-16 units, which is how LEN counts.
func UTF16Len(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		// Lead bytes count one, those of four-byte runes two: invalid bytes
		// decode to one unit each and count so too.
		c := s[i]
		if c < utf8.RuneSelf {
			n++
			continue
		}
		return n + utf16Tail(s[i:])
	}
	return n
}

func utf16Tail(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// units is the length of a value of kind k in the units of its declared length.
func units(k Kind, s string) int {
	if k.IsUnicode() {
		return UTF16Len(s)
	}
	return utf8.RuneCountInString(s)
}

// cutUnits is the first n units of a text; a pair of surrogates is not split.
func cutUnits(k Kind, s string, n int) string {
	if len(s) <= n {
		return s
	}
	used := 0
	for i, r := range s {
		w := 1
		if r > 0xFFFF && k.IsUnicode() {
			w = 2
		}
		if used+w > n {
			return s[:i]
		}
		used += w
	}
	return s
}

// Encode1252 is a text in code page 1252, with ? for what it has not.
func Encode1252(s string) []byte {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		b, ok := encodeRune(r)
		if !ok {
			b = '?'
		}
		out = append(out, b)
	}
	return out
}

// Decode1252 is the inverse of Encode1252.
func Decode1252(b []byte) string {
	ascii := true
	for _, c := range b {
		if c >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return string(b)
	}
	var sb strings.Builder
	sb.Grow(len(b) + len(b)/4)
	for _, c := range b {
		r := charmap.Windows1252.DecodeByte(c)
		if r == utf8.RuneError {
			r = rune(c) // the five holes of the code page are C1 controls
		}
		sb.WriteRune(r)
	}
	return sb.String()
}

func encodeRune(r rune) (byte, bool) {
	switch r {
	case 0x81, 0x8d, 0x8f, 0x90, 0x9d:
		return byte(r), true
	}
	return charmap.Windows1252.EncodeRune(r)
}

// narrowed is a text as a varchar can hold it.
func narrowed(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return narrow(s)
		}
	}
	return s
}

func narrow(s string) string {
	clean := true
	for _, r := range s {
		if _, ok := encodeRune(r); !ok {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var sb strings.Builder
	for _, r := range s {
		if _, ok := encodeRune(r); ok {
			sb.WriteRune(r)
			continue
		}
		sb.WriteByte('?')
		if r > 0xFFFF {
			sb.WriteByte('?')
		}
	}
	return sb.String()
}

// utf16Bytes is a text as little-endian UTF-16.
func utf16Bytes(s string) []byte {
	out := make([]byte, 0, 2*len(s))
	for _, r := range s {
		if r > 0xFFFF {
			r -= 0x10000
			hi, lo := 0xD800+r>>10, 0xDC00+r&0x3FF
			out = append(out, byte(hi), byte(hi>>8), byte(lo), byte(lo>>8))
			continue
		}
		out = append(out, byte(r), byte(r>>8))
	}
	return out
}

// fromUTF16Bytes is its inverse; an odd last byte is dropped.
func fromUTF16Bytes(b []byte) string {
	var sb strings.Builder
	sb.Grow(len(b) / 2)
	for i := 0; i+1 < len(b); i += 2 {
		r := rune(b[i]) | rune(b[i+1])<<8
		if r >= 0xD800 && r < 0xDC00 && i+3 < len(b) {
			lo := rune(b[i+2]) | rune(b[i+3])<<8
			if lo >= 0xDC00 && lo < 0xE000 {
				r = (r-0xD800)<<10 + (lo - 0xDC00) + 0x10000
				i += 2
			}
		}
		sb.WriteRune(r)
	}
	return sb.String()
}

// pad fills a text with blanks up to n units.
func pad(k Kind, s string, n int) string {
	if d := n - units(k, s); d > 0 {
		return s + strings.Repeat(" ", d)
	}
	return s
}
