package script

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// position is a place in a file, from 1; col counts characters.
type position struct{ line, col int }

// rmlSource turns the bytes of an .rml file into UTF-8 as an XML decoder asks for
// them, a byte at a time, and knows the place of the byte that comes next. It
// holds no more of the file than a buffer.
type rmlSource struct {
	enc   Encoding
	in    *bufio.Reader
	known bool   // the encoding was given, and in is decoded
	latin bool   // bytes of in are Windows-1252
	rest  []byte // of a character that takes more than one byte
	err   error  // what ended the reading, if not the file's end

	read       int64    // bytes given out
	at, before position // of the next byte, and of the last one
	cr         bool     // the last byte was a carriage return
}

// newRMLSource finds the encoding as Decode does, without holding the file.
func newRMLSource(r io.ReadSeeker) (*rmlSource, error) {
	s := &rmlSource{at: position{1, 1}, before: position{1, 1}}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	head := make([]byte, 4096)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	head = head[:n]
	skip := int64(0)
	le, be := zeros(head)
	has := func(bom string) bool { return strings.HasPrefix(string(head), bom) }
	switch {
	case has("\xEF\xBB\xBF"):
		s.enc, skip = UTF8BOM, 3
	case has("\xFF\xFE"):
		s.enc, skip = UTF16LE, 2
	case has("\xFE\xFF"):
		s.enc, skip = UTF16BE, 2
	case le:
		s.enc = UTF16LE
	case be:
		s.enc = UTF16BE
	default:
		if s.enc, err = utf8Or1252(head, r); err != nil {
			return nil, err
		}
		s.latin = s.enc == Windows1252
	}
	if s.enc == UTF16LE || s.enc == UTF16BE {
		size, err := r.Seek(0, io.SeekEnd)
		if err != nil {
			return nil, err
		}
		if size%2 != 0 {
			return nil, fmt.Errorf("the file ends in the middle of a %s character", s.enc)
		}
	}
	if _, err := r.Seek(skip, io.SeekStart); err != nil {
		return nil, err
	}
	var text io.Reader = r
	switch s.enc {
	case UTF16LE:
		text = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().Reader(r)
	case UTF16BE:
		text = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder().Reader(r)
	}
	s.in = bufio.NewReaderSize(text, 64<<10)
	return s, nil
}

// newRMLText is a source of text that is decoded.
func newRMLText(text string, enc Encoding) *rmlSource {
	in := bufio.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	return &rmlSource{enc: enc, in: in, known: true, at: position{1, 1}, before: position{1, 1}}
}

// utf8Or1252 reads head and what follows it to the end, to see whether it is UTF-8.
func utf8Or1252(head []byte, r io.Reader) (Encoding, error) {
	buf := make([]byte, 64<<10)
	b := head
	for last := false; ; {
		// A character may be cut at the end of what has been read.
		valid := b
		if !last {
			for i := 1; i <= min(utf8.UTFMax-1, len(b)); i++ {
				if c := b[len(b)-i]; utf8.RuneStart(c) {
					if !utf8.FullRune(b[len(b)-i:]) {
						valid = b[:len(b)-i]
					}
					break
				}
			}
		}
		if !utf8.Valid(valid) {
			return Windows1252, nil
		}
		if last {
			return UTF8, nil
		}
		kept := copy(buf, b[len(valid):])
		n, err := r.Read(buf[kept:])
		switch {
		case errors.Is(err, io.EOF):
			last = true
		case err != nil:
			return "", err
		}
		b = buf[:kept+n]
	}
}

// declare takes the encoding that the XML declaration names. UTF-8 and UTF-16 are
// told by the bytes, whatever it says: files are converted and keep their
// declaration.
func (s *rmlSource) declare(name string) error {
	if s.known {
		return nil
	}
	switch n := strings.ToLower(strings.TrimSpace(name)); n {
	case "utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "utf16", "ucs-2", "unicode", "us-ascii", "ascii":
	case "windows-1252", "iso-8859-1", "latin1":
		if s.enc == UTF8 {
			s.enc, s.latin = Windows1252, true
		}
	default:
		s.err = fmt.Errorf("encoding %q is not known: save the file as UTF-8 or UTF-16", clip(name))
		return s.err
	}
	return nil
}

// ReadByte gives the next byte of the text in UTF-8.
func (s *rmlSource) ReadByte() (byte, error) {
	if s.err != nil {
		return 0, s.err
	}
	var b byte
	if len(s.rest) > 0 {
		b, s.rest = s.rest[0], s.rest[1:]
	} else {
		var err error
		if b, err = s.in.ReadByte(); err != nil {
			if !errors.Is(err, io.EOF) {
				s.err = err
			}
			return 0, err
		}
		if b == endOfFile[0] {
			if _, err := s.in.Peek(1); errors.Is(err, io.EOF) {
				return 0, io.EOF
			}
		}
		if s.latin && b >= utf8.RuneSelf {
			s.rest = utf8.AppendRune(nil, charmap.Windows1252.DecodeByte(b))
			b, s.rest = s.rest[0], s.rest[1:]
		}
	}
	s.read++
	s.before = s.at
	switch {
	case b == '\n' && s.cr:
	case b == '\n' || b == '\r':
		s.at = position{s.at.line + 1, 1}
	case utf8.RuneStart(b):
		s.at.col++
	}
	s.cr = b == '\r'
	return b, nil
}

// Read makes it an io.Reader, which the decoder's interface asks for; the decoder
// reads bytes.
func (s *rmlSource) Read(p []byte) (int, error) {
	for i := range p {
		b, err := s.ReadByte()
		if err != nil {
			return i, err
		}
		p[i] = b
	}
	return len(p), nil
}

// place is where the byte with the given offset stands, which is the next one or
// the one that the decoder has put back.
func (s *rmlSource) place(offset int64) position {
	if offset < s.read {
		return s.before
	}
	return s.at
}
