package script

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Encoding is how the bytes of an input were read.
type Encoding string

// The encodings that are told apart.
const (
	UTF8        Encoding = "UTF-8"
	UTF8BOM     Encoding = "UTF-8 with BOM"
	UTF16LE     Encoding = "UTF-16LE"
	UTF16BE     Encoding = "UTF-16BE"
	Windows1252 Encoding = "Windows-1252"
)

// Decode finds the encoding of b and returns its text: by the byte order mark,
// else UTF-16 where every other byte is mostly zero, else UTF-8 where that is
// valid, else Windows-1252. A NUL character is an *Error with its line.
func Decode(b []byte) (string, Encoding, error) { return CodePage(0).Decode(b) }

// Decode reads b by its byte order mark, or by the code page where it has none; page 0
// finds out, as the function Decode does. A character that the page has not, and a NUL
// character, are an *Error with its line.
func (p CodePage) Decode(b []byte) (string, Encoding, error) {
	var text string
	var enc Encoding
	switch {
	case bytes.HasPrefix(b, []byte{0xEF, 0xBB, 0xBF}):
		b = b[3:]
		if !utf8.Valid(b) {
			at := firstInvalid(b)
			return "", UTF8BOM, &Error{Line: 1 + bytes.Count(b[:at], []byte{'\n'}),
				Text: fmt.Sprintf("byte 0x%02X is not valid UTF-8, though the file begins with a UTF-8 byte order mark", b[at])}
		}
		text, enc = string(b), UTF8BOM
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}):
		text, enc = utf16Text(b[2:], false), UTF16LE
	case bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		text, enc = utf16Text(b[2:], true), UTF16BE
	case p != 0:
		var err error
		if text, enc, err = p.decode(b); err != nil {
			return "", enc, err
		}
	default:
		switch le, be := zeros(b); {
		case le:
			text, enc = utf16Text(b, false), UTF16LE
		case be:
			text, enc = utf16Text(b, true), UTF16BE
		case utf8.Valid(b):
			text, enc = string(b), UTF8
		default:
			out, err := charmap.Windows1252.NewDecoder().Bytes(b)
			if err != nil {
				return "", Windows1252, &Error{Text: "cannot read the text as Windows-1252: " + err.Error(), Err: err}
			}
			text, enc = string(out), Windows1252
		}
	}
	if (enc == UTF16LE || enc == UTF16BE) && len(b)%2 != 0 {
		return "", enc, &Error{Line: 1 + lineBreaks(text), Text: "the file ends in the middle of a " + string(enc) + " character"}
	}
	for i := 0; i < len(text); i++ {
		if text[i] == 0 {
			return "", enc, &Error{Line: 1 + lineBreaks(text[:i]), Text: "a NUL character stands in the text (" + string(enc) + ")"}
		}
	}
	return strings.TrimSuffix(text, endOfFile), enc, nil
}

// endOfFile is what copy of cmd.exe puts at the end of files that it joins.
const endOfFile = "\x1a"

func firstInvalid(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return 0
}

// zeros tells UTF-16 without a byte order mark from its mostly Latin content, which
// begins with such a letter: what does not is UTF-16 that was appended to something else.
func zeros(b []byte) (le, be bool) {
	n := min(len(b), 4096) &^ 1
	if n < 2 {
		return false, false
	}
	var even, odd int
	for i := 0; i < n; i += 2 {
		if b[i] == 0 {
			even++
		}
		if b[i+1] == 0 {
			odd++
		}
	}
	half := n / 4
	return b[1] == 0 && odd > half && even <= half/8, b[0] == 0 && even > half && odd <= half/8
}

func utf16Text(b []byte, big bool) string {
	u := make([]uint16, len(b)/2)
	for i := range u {
		if big {
			u[i] = uint16(b[2*i])<<8 | uint16(b[2*i+1])
		} else {
			u[i] = uint16(b[2*i+1])<<8 | uint16(b[2*i])
		}
	}
	return string(utf16.Decode(u))
}
