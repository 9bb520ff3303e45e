package tds

import (
	"encoding/binary"
	"fmt"
)

// Encryption is what PRELOGIN says about TLS.
type Encryption byte

// The values of the ENCRYPTION option.
const (
	EncryptOff          Encryption = 0 // TLS for the login packet only
	EncryptOn           Encryption = 1
	EncryptNotSupported Encryption = 2
	EncryptRequired     Encryption = 3
)

// PreloginOption is the token of one PRELOGIN option.
type PreloginOption byte

// The options of PRELOGIN.
const (
	PreloginVersion    PreloginOption = 0
	PreloginEncryption PreloginOption = 1
	PreloginInstance   PreloginOption = 2
	PreloginThreadID   PreloginOption = 3
	PreloginMARS       PreloginOption = 4
	PreloginTraceID    PreloginOption = 5
	PreloginFedAuth    PreloginOption = 6
	PreloginNonce      PreloginOption = 7

	preloginEnd = 0xFF
)

// Prelogin is the first message of both sides. Of a client without an
// ENCRYPTION option it is said that it does not support encryption.
type Prelogin struct {
	Version    [6]byte // major, minor, build (big-endian), sub-build (little-endian)
	Encryption Encryption
	Instance   string // what the client asks for; "" in answers
	ThreadID   uint32
	MARS       bool
	FedAuth    bool
	TraceID    []byte
	Nonce      []byte
}

// ParsePrelogin reads a PRELOGIN payload.
func ParsePrelogin(b []byte) (Prelogin, error) {
	p := Prelogin{Encryption: EncryptNotSupported}
	fail := func(off int, format string, args ...any) (Prelogin, error) {
		return p, &FormatError{What: "PRELOGIN", Detail: fmt.Sprintf(format, args...), Offset: off}
	}
	for i := 0; ; i += 5 {
		if i >= len(b) {
			return fail(i, "the option list has no end")
		}
		if b[i] == preloginEnd {
			if i == 0 {
				return fail(0, "no options")
			}
			return p, nil
		}
		if i+5 > len(b) {
			return fail(i, "the option list ends early")
		}
		off, n := int(binary.BigEndian.Uint16(b[i+1:])), int(binary.BigEndian.Uint16(b[i+3:]))
		if off+n > len(b) {
			return fail(i, "option %d lies beyond the packet (%d bytes at %d of %d)", b[i], n, off, len(b))
		}
		v := b[off : off+n]
		switch PreloginOption(b[i]) {
		case PreloginVersion:
			if n != 6 {
				return fail(i, "VERSION has %d bytes, not 6", n)
			}
			copy(p.Version[:], v)
		case PreloginEncryption:
			if n != 1 {
				return fail(i, "ENCRYPTION has %d bytes, not 1", n)
			}
			p.Encryption = Encryption(v[0])
		case PreloginInstance:
			for k, c := range v {
				if c == 0 {
					v = v[:k]
					break
				}
			}
			p.Instance = string(v)
		case PreloginThreadID:
			if n >= 4 {
				p.ThreadID = binary.LittleEndian.Uint32(v)
			}
		case PreloginMARS:
			p.MARS = n > 0 && v[0] != 0
		case PreloginFedAuth:
			p.FedAuth = n > 0 && v[0] != 0
		case PreloginTraceID:
			p.TraceID = v
		case PreloginNonce:
			p.Nonce = v
		}
	}
}

// AppendRequest appends the PRELOGIN of a client.
func (p *Prelogin) AppendRequest(b []byte) []byte {
	opts := []preloginField{
		{PreloginVersion, p.Version[:]},
		{PreloginEncryption, []byte{byte(p.Encryption)}},
		{PreloginInstance, append([]byte(p.Instance), 0)},
		{PreloginThreadID, binary.LittleEndian.AppendUint32(nil, p.ThreadID)},
		{PreloginMARS, boolByte(p.MARS)},
	}
	if len(p.TraceID) > 0 {
		opts = append(opts, preloginField{PreloginTraceID, p.TraceID})
	}
	if p.FedAuth {
		opts = append(opts, preloginField{PreloginFedAuth, boolByte(true)})
	}
	if len(p.Nonce) > 0 {
		opts = append(opts, preloginField{PreloginNonce, p.Nonce})
	}
	return appendPrelogin(b, opts)
}

// AppendResponse appends the answer of a server: VERSION, ENCRYPTION, instance
// right, no MARS, and no federated authentication if it was asked about.
func (p *Prelogin) AppendResponse(b []byte, askedFedAuth bool) []byte {
	opts := []preloginField{
		{PreloginVersion, p.Version[:]},
		{PreloginEncryption, []byte{byte(p.Encryption)}},
		{PreloginInstance, []byte{0}},
		{PreloginThreadID, nil},
		{PreloginMARS, boolByte(p.MARS)},
	}
	if askedFedAuth {
		opts = append(opts, preloginField{PreloginFedAuth, boolByte(p.FedAuth)})
	}
	return appendPrelogin(b, opts)
}

type preloginField struct {
	option PreloginOption
	value  []byte
}

func appendPrelogin(b []byte, opts []preloginField) []byte {
	off := 5*len(opts) + 1
	for _, o := range opts {
		b = append(b, byte(o.option))
		b = binary.BigEndian.AppendUint16(b, uint16(off))
		b = binary.BigEndian.AppendUint16(b, uint16(len(o.value)))
		off += len(o.value)
	}
	b = append(b, preloginEnd)
	for _, o := range opts {
		b = append(b, o.value...)
	}
	return b
}

func boolByte(v bool) []byte {
	if v {
		return []byte{1}
	}
	return []byte{0}
}
