package ostress

import (
	"io"
	"unicode/utf16"
)

// utf16Writer buffers text and writes it as UTF-16LE with Windows line ends.
// After its first error it drops what comes.
type utf16Writer struct {
	w    io.Writer
	buf  []byte
	last rune
	err  error
}

const flushAt = 32 << 10

// WriteString takes s. What it holds of it in memory has an upper bound.
func (u *utf16Writer) WriteString(s string) {
	if u.err != nil {
		return
	}
	for _, c := range s {
		switch {
		case c == '\n' && u.last != '\r':
			u.buf = append(u.buf, '\r', 0, '\n', 0)
		case c < 0x10000:
			u.buf = append(u.buf, byte(c), byte(c>>8))
		default:
			hi, lo := utf16.EncodeRune(c)
			u.buf = append(u.buf, byte(hi), byte(hi>>8), byte(lo), byte(lo>>8))
		}
		u.last = c
		if len(u.buf) >= flushAt {
			if u.flush() != nil {
				return
			}
		}
	}
}

// flush writes what is buffered, and gives the first error.
func (u *utf16Writer) flush() error {
	if u.err == nil && len(u.buf) > 0 {
		_, u.err = u.w.Write(u.buf)
	}
	u.buf = u.buf[:0]
	return u.err
}
