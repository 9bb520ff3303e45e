package tdsclient

import (
	"encoding/binary"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"gostress/internal/tds"
)

// charText decodes the bytes of char, varchar or text. Bytes that its code page
// lacks become U+FFFD.
func charText(b []byte, c tds.Collation) string {
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
	s, err := codePage(c).NewDecoder().Bytes(b)
	if err != nil {
		return tds.DecodeChar(b, c)
	}
	return string(s)
}

// codePage is the code page of a collation: by its sort order, which the older
// SQL collations have, else by its language (the tables of "Collation and Unicode
// support" and MS-LCID).
func codePage(c tds.Collation) encoding.Encoding {
	switch id := c[4]; {
	case id >= 30 && id <= 34:
		return charmap.CodePage437
	case id >= 40 && id <= 49, id >= 55 && id <= 61:
		return charmap.CodePage850
	case id >= 80 && id <= 96:
		return charmap.Windows1250
	case id >= 104 && id <= 108:
		return charmap.Windows1251
	case id >= 112 && id <= 124:
		return charmap.Windows1253
	case id >= 128 && id <= 130:
		return charmap.Windows1254
	case id >= 136 && id <= 138:
		return charmap.Windows1255
	case id >= 144 && id <= 146:
		return charmap.Windows1256
	case id >= 152 && id <= 160:
		return charmap.Windows1257
	case id == 192 || id == 193 || id == 200:
		return japanese.ShiftJIS
	case id == 194 || id == 195 || id == 201:
		return korean.EUCKR
	case id == 196 || id == 197 || id == 202:
		return traditionalchinese.Big5
	case id == 198 || id == 199 || id == 203:
		return simplifiedchinese.GBK
	case id >= 204 && id <= 206:
		return charmap.Windows874
	case id != 0:
		return charmap.Windows1252
	}
	switch binary.LittleEndian.Uint32(c[:4]) & 0xFFFF { // the rest is the order within the language
	case 0x041E:
		return charmap.Windows874
	case 0x0411:
		return japanese.ShiftJIS
	case 0x0804, 0x1004:
		return simplifiedchinese.GBK
	case 0x0412:
		return korean.EUCKR
	case 0x0404, 0x0C04, 0x1404, 0x7C04:
		return traditionalchinese.Big5
	case 0x0405, 0x040E, 0x0415, 0x0418, 0x041A, 0x041B, 0x041C, 0x0424, 0x0442, 0x081A, 0x104E, 0x141A:
		return charmap.Windows1250
	case 0x0402, 0x0419, 0x0422, 0x0423, 0x042F, 0x043F, 0x0444, 0x046D, 0x0485, 0x082C, 0x0C1A, 0x201A:
		return charmap.Windows1251
	case 0x0408:
		return charmap.Windows1253
	case 0x041F, 0x042C, 0x0443:
		return charmap.Windows1254
	case 0x040D:
		return charmap.Windows1255
	case 0x0401, 0x0420, 0x0429, 0x0480, 0x048C, 0x0801, 0x0C01, 0x1001, 0x1401, 0x1801, 0x1C01,
		0x2001, 0x2401, 0x2801, 0x2C01, 0x3001, 0x3401, 0x3801, 0x3C01, 0x4001:
		return charmap.Windows1256
	case 0x0425, 0x0426, 0x0427, 0x0827:
		return charmap.Windows1257
	case 0x042A:
		return charmap.Windows1258
	}
	return charmap.Windows1252
}
