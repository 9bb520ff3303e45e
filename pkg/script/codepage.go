package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// CodePage is a code page of Windows, by its number; 0 is none.
type CodePage int

// The code pages of Unicode.
const (
	pageUTF8    CodePage = 65001
	pageUTF16LE CodePage = 1200
	pageUTF16BE CodePage = 1201
)

// codePages are the others that inputs can have.
var codePages = map[CodePage]encoding.Encoding{
	437: charmap.CodePage437, 850: charmap.CodePage850, 852: charmap.CodePage852, 855: charmap.CodePage855,
	858: charmap.CodePage858, 860: charmap.CodePage860, 862: charmap.CodePage862, 863: charmap.CodePage863,
	865: charmap.CodePage865, 866: charmap.CodePage866, 874: charmap.Windows874,
	932: japanese.ShiftJIS, 936: simplifiedchinese.GBK, 949: korean.EUCKR, 950: traditionalchinese.Big5,
	1250: charmap.Windows1250, 1251: charmap.Windows1251, 1252: charmap.Windows1252, 1253: charmap.Windows1253,
	1254: charmap.Windows1254, 1255: charmap.Windows1255, 1256: charmap.Windows1256, 1257: charmap.Windows1257, 1258: charmap.Windows1258,
	20866: charmap.KOI8R, 21866: charmap.KOI8U, 20932: japanese.EUCJP, 51932: japanese.EUCJP, 54936: simplifiedchinese.GB18030,
	28591: charmap.ISO8859_1, 28592: charmap.ISO8859_2, 28593: charmap.ISO8859_3, 28594: charmap.ISO8859_4, 28595: charmap.ISO8859_5,
	28596: charmap.ISO8859_6, 28597: charmap.ISO8859_7, 28598: charmap.ISO8859_8, 28599: charmap.ISO8859_9, 28605: charmap.ISO8859_15,
}

// ParseCodePage reads the number of a code page.
func ParseCodePage(s string) (CodePage, error) {
	n, err := strconv.Atoi(s)
	p := CodePage(n)
	if _, ok := codePages[p]; err == nil && (ok || p == pageUTF8 || p == pageUTF16LE || p == pageUTF16BE) {
		return p, nil
	}
	known := []int{int(pageUTF8), int(pageUTF16LE), int(pageUTF16BE)}
	for k := range codePages {
		known = append(known, int(k))
	}
	slices.Sort(known)
	return 0, fmt.Errorf("not a code page that is known here: %s", strings.Trim(fmt.Sprint(known), "[]"))
}

// decode reads b, which has no byte order mark.
func (p CodePage) decode(b []byte) (string, Encoding, error) {
	enc := Encoding("code page " + strconv.Itoa(int(p)))
	var text string
	switch p {
	case pageUTF16LE:
		return utf16Text(b, false), UTF16LE, nil
	case pageUTF16BE:
		return utf16Text(b, true), UTF16BE, nil
	case pageUTF8:
		if !utf8.Valid(b) {
			at := firstInvalid(b)
			return "", UTF8, &Error{Line: 1 + lineBreaks(string(b[:at])), Text: fmt.Sprintf("byte 0x%02X is not valid UTF-8", b[at])}
		}
		return string(b), UTF8, nil
	default:
		out, err := codePages[p].NewDecoder().Bytes(b)
		if err != nil {
			return "", enc, &Error{Text: "cannot read the text as " + string(enc) + ": " + err.Error(), Err: err}
		}
		text = string(out)
	}
	if i := strings.IndexRune(text, utf8.RuneError); i >= 0 {
		return "", enc, &Error{Line: 1 + lineBreaks(text[:i]), Text: "the bytes are not text of " + string(enc)}
	}
	return text, enc, nil
}
