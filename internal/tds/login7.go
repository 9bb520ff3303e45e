package tds

import (
	"encoding/binary"
	"fmt"
)

// Bits of LOGIN7's option bytes that matter.
const (
	OptionUseDB       = 0x20 // OptionFlags1: fail if the database is not there
	OptionSetLanguage = 0x80 // OptionFlags1

	OptionODBC     = 0x02 // OptionFlags2: ODBC's SET defaults
	OptionSecurity = 0x80 // OptionFlags2: integrated security

	OptionChangePassword = 0x01 // OptionFlags3
	OptionExtension      = 0x10 // OptionFlags3: FeatureExt is there

	TypeReadOnlyIntent = 0x20 // TypeFlags
)

// FeatureID names a feature of FeatureExt.
type FeatureID byte

// The features that clients ask for.
const (
	FeatureSessionRecovery FeatureID = 0x01
	FeatureFedAuth         FeatureID = 0x02
	FeatureColumnEncrypt   FeatureID = 0x04
	FeatureGlobalTran      FeatureID = 0x05
	FeatureDataClass       FeatureID = 0x09
	FeatureUTF8            FeatureID = 0x0A
	FeatureDNSCaching      FeatureID = 0x0B

	featureEnd = 0xFF
)

// Feature is one entry of FeatureExt or FEATUREEXTACK.
type Feature struct {
	ID   FeatureID
	Data []byte
}

// Login7 is the login request.
type Login7 struct {
	Version       Version
	PacketSize    uint32
	ClientVersion uint32
	ClientPID     uint32
	ConnectionID  uint32
	Flags1        byte
	Flags2        byte
	TypeFlags     byte
	Flags3        byte
	TimeZone      int32 // minutes
	LCID          uint32
	HostName      string
	UserName      string
	Password      string
	AppName       string
	ServerName    string
	Library       string
	Language      string
	Database      string
	AttachFile    string
	NewPassword   string // with OptionChangePassword
	ClientID      [6]byte
	SSPI          []byte
	Features      []Feature
}

const login7Fixed = 94

// ParseLogin7 reads a LOGIN7 payload. Offsets and lengths are checked against
// the packet; names longer than the protocol's 128 characters are refused.
func ParseLogin7(b []byte) (*Login7, error) {
	fail := func(off int, format string, args ...any) (*Login7, error) {
		return nil, &FormatError{What: "LOGIN7", Detail: fmt.Sprintf(format, args...), Offset: off}
	}
	// TDS 7.1 has no change-password, attach and long SSPI fields: 86 bytes.
	if len(b) < 86 {
		return fail(len(b), "%d bytes are too few", len(b))
	}
	total := int(binary.LittleEndian.Uint32(b))
	if total < 86 || total > len(b) {
		return fail(0, "length %d does not fit the packet of %d", total, len(b))
	}
	b = b[:total]
	l := &Login7{
		Version:       Version(binary.LittleEndian.Uint32(b[4:])),
		PacketSize:    binary.LittleEndian.Uint32(b[8:]),
		ClientVersion: binary.LittleEndian.Uint32(b[12:]),
		ClientPID:     binary.LittleEndian.Uint32(b[16:]),
		ConnectionID:  binary.LittleEndian.Uint32(b[20:]),
		Flags1:        b[24], Flags2: b[25], TypeFlags: b[26], Flags3: b[27],
		TimeZone: int32(binary.LittleEndian.Uint32(b[28:])),
		LCID:     binary.LittleEndian.Uint32(b[32:]),
	}
	var err error
	field := func(what string, at, max int) []byte {
		if err != nil {
			return nil
		}
		off, n := int(binary.LittleEndian.Uint16(b[at:])), int(binary.LittleEndian.Uint16(b[at+2:]))
		if n == 0 {
			return nil
		}
		if n > max {
			_, err = fail(at, "%s has %d characters, at most %d are allowed", what, n, max)
			return nil
		}
		if off+2*n > len(b) {
			_, err = fail(at, "%s lies beyond the packet", what)
			return nil
		}
		return b[off : off+2*n]
	}
	l.HostName = DecodeUTF16(field("the host name", 36, 128))
	l.UserName = DecodeUTF16(field("the user name", 40, 128))
	l.Password = decodePassword(field("the password", 44, 128))
	l.AppName = DecodeUTF16(field("the application name", 48, 128))
	l.ServerName = DecodeUTF16(field("the server name", 52, 128))
	l.Library = DecodeUTF16(field("the library name", 60, 128))
	l.Language = DecodeUTF16(field("the language", 64, 128))
	l.Database = DecodeUTF16(field("the database", 68, 128))
	copy(l.ClientID[:], b[72:78])
	l.AttachFile = DecodeUTF16(field("the attached file", 82, 260))
	if err != nil {
		return nil, err
	}
	sspiOff, sspiLen := int(binary.LittleEndian.Uint16(b[78:])), int(binary.LittleEndian.Uint16(b[80:]))
	if len(b) >= login7Fixed && l.Version.Has72() {
		if l.Flags3&OptionChangePassword != 0 {
			l.NewPassword = decodePassword(field("the new password", 86, 128))
			if err != nil {
				return nil, err
			}
		}
		if long := binary.LittleEndian.Uint32(b[90:]); sspiLen == 0xFFFF && long > 0 {
			if long > uint32(len(b)) {
				return fail(90, "the SSPI data lies beyond the packet")
			}
			sspiLen = int(long)
		}
	}
	if sspiLen > 0 {
		if sspiOff+sspiLen > len(b) {
			return fail(78, "the SSPI data lies beyond the packet")
		}
		l.SSPI = b[sspiOff : sspiOff+sspiLen]
	}
	if l.Flags3&OptionExtension != 0 {
		if l.Features, err = parseFeatureExt(b); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// parseFeatureExt follows the pointer that stands at the unused field's offset.
func parseFeatureExt(b []byte) ([]Feature, error) {
	off, n := int(binary.LittleEndian.Uint16(b[56:])), int(binary.LittleEndian.Uint16(b[58:]))
	if n < 4 || off+4 > len(b) {
		return nil, &FormatError{What: "LOGIN7", Detail: "the extension lies beyond the packet", Offset: 56}
	}
	at := binary.LittleEndian.Uint32(b[off:])
	if at >= uint32(len(b)) {
		return nil, &FormatError{What: "LOGIN7", Detail: "FeatureExt lies beyond the packet", Offset: off}
	}
	d := NewDecoder(b)
	d.off = int(at)
	return parseFeatures("LOGIN7 FeatureExt", d)
}

func parseFeatures(what string, d *Decoder) ([]Feature, error) {
	var out []Feature
	for {
		id := d.Byte()
		if d.err != nil {
			return nil, complete(what, d)
		}
		if id == featureEnd {
			return out, nil
		}
		n := d.Uint32()
		if uint64(n) > uint64(d.Len()) {
			if d.err == nil {
				d.err = ErrShort
			}
			return nil, complete(what, d)
		}
		out = append(out, Feature{FeatureID(id), d.Take(int(n))})
		if len(out) > 64 {
			d.fail(what, "too many features")
			return nil, d.err
		}
	}
}

func decodePassword(b []byte) string {
	p := make([]byte, len(b))
	for i, c := range b {
		c ^= 0xA5
		p[i] = c<<4 | c>>4
	}
	s := DecodeUTF16(p)
	clear(p)
	return s
}

func appendPassword(b []byte, s string) []byte {
	at := len(b)
	b = AppendUTF16(b, s)
	for i := at; i < len(b); i++ {
		b[i] = (b[i]<<4 | b[i]>>4) ^ 0xA5
	}
	return b
}

// Append appends the LOGIN7 payload. Names are cut at 128 characters.
func (l *Login7) Append(b []byte) []byte {
	start := len(b)
	b = append(b, make([]byte, login7Fixed)...)
	put32 := func(at int, v uint32) { binary.LittleEndian.PutUint32(b[start+at:], v) }
	put16 := func(at int, v int) { binary.LittleEndian.PutUint16(b[start+at:], uint16(v)) }
	put32(4, uint32(l.Version))
	put32(8, l.PacketSize)
	put32(12, l.ClientVersion)
	put32(16, l.ClientPID)
	put32(20, l.ConnectionID)
	f3 := l.Flags3 &^ OptionExtension
	if l.Features != nil {
		f3 |= OptionExtension
	}
	copy(b[start+24:], []byte{l.Flags1, l.Flags2, l.TypeFlags, f3})
	put32(28, uint32(l.TimeZone))
	put32(32, l.LCID)
	text := func(at, max int, s string, enc func([]byte, string) []byte) {
		s = truncateUTF16(s, max)
		put16(at, len(b)-start)
		put16(at+2, UTF16Len(s))
		b = enc(b, s)
	}
	text(36, 128, l.HostName, AppendUTF16)
	text(40, 128, l.UserName, AppendUTF16)
	text(44, 128, l.Password, appendPassword)
	text(48, 128, l.AppName, AppendUTF16)
	text(52, 128, l.ServerName, AppendUTF16)
	text(60, 128, l.Library, AppendUTF16)
	text(64, 128, l.Language, AppendUTF16)
	text(68, 128, l.Database, AppendUTF16)
	copy(b[start+72:], l.ClientID[:])
	put16(78, len(b)-start)
	if n := len(l.SSPI); n >= 0xFFFF {
		put16(80, 0xFFFF)
		put32(90, uint32(n))
	} else {
		put16(80, n)
	}
	b = append(b, l.SSPI...)
	text(82, 260, l.AttachFile, AppendUTF16)
	if l.Flags3&OptionChangePassword != 0 {
		text(86, 128, l.NewPassword, appendPassword)
	}
	if l.Features != nil {
		put16(56, len(b)-start)
		put16(58, 4)
		at := len(b)
		b = append(b, 0, 0, 0, 0)
		binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-start))
		b = appendFeatures(b, l.Features)
	}
	put32(0, uint32(len(b)-start))
	return b
}

func appendFeatures(b []byte, fs []Feature) []byte {
	for _, f := range fs {
		b = append(b, byte(f.ID))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(f.Data)))
		b = append(b, f.Data...)
	}
	return append(b, featureEnd)
}
