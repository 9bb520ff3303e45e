package server

import (
	"crypto/rand"
	"encoding/asn1"
	"encoding/binary"
	"errors"
	"time"

	"golang.org/x/crypto/cryptobyte"
	casn1 "golang.org/x/crypto/cryptobyte/asn1"

	"gostress/internal/tds"
)

// ntlmExchange answers the client's side of NTLM (MS-NLMP), bare or wrapped in
// SPNEGO (RFC 4178) as Windows clients do it. It never checks a response: there
// is no password to check it with.
type ntlmExchange struct {
	spnego       bool
	domain, user string
}

const (
	ntlmSignature = "NTLMSSP\x00"

	ntlmUnicode     = 0x00000001
	ntlmTarget      = 0x00000004
	ntlmNTLM        = 0x00000200
	ntlmAlwaysSign  = 0x00008000
	ntlmTypeServer  = 0x00020000
	ntlmExtended    = 0x00080000
	ntlmTargetInfo  = 0x00800000
	ntlmVersion     = 0x02000000
	ntlm128         = 0x20000000
	ntlmKeyExchange = 0x40000000
	ntlm56          = 0x80000000
)

var (
	oidSPNEGO = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 2}
	oidNTLM   = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 2, 2, 10}

	oidKerberos   = asn1.ObjectIdentifier{1, 2, 840, 113554, 1, 2, 2}
	oidMSKerberos = asn1.ObjectIdentifier{1, 2, 840, 48018, 1, 2, 2}
)

// errKerberos tells a client that knows nothing else what to do.
var errKerberos = errors.New("offers Kerberos alone, of which this server has none; let the client offer NTLM too, or use a SQL login")

// challenge answers the first token, in LOGIN7.
func (x *ntlmExchange) challenge(token []byte, host string, now time.Time) ([]byte, error) {
	inner := token
	if len(token) > 0 && token[0] == 0x60 {
		x.spnego = true
		if bareKerberos(token) {
			return nil, errKerberos
		}
		offered, mech, err := parseNegTokenInit(token)
		if err != nil {
			return nil, err
		}
		if !offered {
			return nil, errKerberos
		}
		if inner = mech; messageType(inner) != 1 {
			// The token is for a mechanism the client likes better.
			return negTokenResp(nil), nil
		}
	}
	return x.answer(inner, host, now)
}

// next answers a later token; nil means that the exchange is over.
func (x *ntlmExchange) next(token []byte, host string, now time.Time) ([]byte, error) {
	if x.spnego {
		inner, err := parseNegTokenResp(token)
		if err != nil {
			return nil, err
		}
		token = inner
	}
	if messageType(token) == 3 {
		return nil, x.authenticate(token)
	}
	return x.answer(token, host, now)
}

func (x *ntlmExchange) answer(token []byte, host string, now time.Time) ([]byte, error) {
	if messageType(token) != 1 || len(token) < 16 {
		return nil, errors.New("no NEGOTIATE message")
	}
	c, err := ntlmChallenge(binary.LittleEndian.Uint32(token[12:]), hostName(host), now)
	if err != nil {
		return nil, err
	}
	if x.spnego {
		return negTokenResp(c), nil
	}
	return c, nil
}

// name is who logged in, DOMAIN\user, as the client says it.
func (x *ntlmExchange) name(host string) string {
	user, domain := x.user, x.domain
	if user == "" {
		user = "ANONYMOUS LOGON"
	}
	if domain == "" {
		domain = hostName(host)
	}
	return domain + `\` + user
}

func messageType(b []byte) uint32 {
	if len(b) < 12 || string(b[:8]) != ntlmSignature {
		return 0
	}
	return binary.LittleEndian.Uint32(b[8:])
}

// ntlmChallenge builds a CHALLENGE message.
func ntlmChallenge(asked uint32, host string, now time.Time) ([]byte, error) {
	const fixed = 56
	name := tds.AppendUTF16(nil, host)
	var info []byte
	pair := func(id uint16, v []byte) {
		info = binary.LittleEndian.AppendUint16(info, id)
		info = binary.LittleEndian.AppendUint16(info, uint16(len(v)))
		info = append(info, v...)
	}
	pair(2, name) // NetBIOS domain
	pair(1, name) // NetBIOS computer
	pair(4, name) // DNS domain
	pair(3, name) // DNS computer
	// 100 ns since 1601-01-01
	pair(7, binary.LittleEndian.AppendUint64(nil, uint64(now.Unix()+11644473600)*1e7+uint64(now.Nanosecond()/100)))
	pair(0, nil)

	flags := uint32(ntlmUnicode | ntlmTarget | ntlmNTLM | ntlmTypeServer | ntlmTargetInfo)
	flags |= asked & (ntlmAlwaysSign | ntlmExtended | ntlmVersion | ntlm128 | ntlmKeyExchange | ntlm56)
	b := append([]byte(ntlmSignature), 2, 0, 0, 0)
	field := func(n, off int) {
		b = binary.LittleEndian.AppendUint16(b, uint16(n))
		b = binary.LittleEndian.AppendUint16(b, uint16(n))
		b = binary.LittleEndian.AppendUint32(b, uint32(off))
	}
	field(len(name), fixed)
	b = binary.LittleEndian.AppendUint32(b, flags)
	var nonce [8]byte
	if _, err := rand.Read(nonce[:]); err != nil {
		return nil, err
	}
	b = append(b, nonce[:]...)
	b = append(b, make([]byte, 8)...)
	field(len(info), fixed+len(name))
	b = append(b, 10, 0, 0, 0, 0, 0, 0, 15) // version; NTLM revision 15
	return append(append(b, name...), info...), nil
}

// authenticate reads the names of an AUTHENTICATE message.
func (x *ntlmExchange) authenticate(b []byte) error {
	if len(b) < 64 {
		return errors.New("the AUTHENTICATE message ends early")
	}
	wide := binary.LittleEndian.Uint32(b[60:])&ntlmUnicode != 0
	var err error
	field := func(at int) string {
		n, off := int(binary.LittleEndian.Uint16(b[at:])), binary.LittleEndian.Uint32(b[at+4:])
		if n == 0 {
			return ""
		}
		if n > 512 || uint64(off)+uint64(n) > uint64(len(b)) {
			err = errors.New("a name of the AUTHENTICATE message lies beyond it")
			return ""
		}
		if wide {
			return tds.DecodeUTF16(b[off : int(off)+n])
		}
		return string(b[off : int(off)+n])
	}
	x.domain, x.user = field(28), field(36)
	return err
}

var errSPNEGO = errors.New("malformed SPNEGO")

// parseNegTokenInit reads whether NTLM is offered, and the optimistic token.
func parseNegTokenInit(b []byte) (ntlm bool, token []byte, err error) {
	in := cryptobyte.String(b)
	var app, neg, seq cryptobyte.String
	var oid asn1.ObjectIdentifier
	if !in.ReadASN1(&app, casn1.Tag(0).Constructed()|0x40) || !app.ReadASN1ObjectIdentifier(&oid) || !oid.Equal(oidSPNEGO) ||
		!app.ReadASN1(&neg, contextTag(0)) || !neg.ReadASN1(&seq, casn1.SEQUENCE) {
		return false, nil, errSPNEGO
	}
	var list, mechs, tok cryptobyte.String
	var has bool
	if !seq.ReadASN1(&list, contextTag(0)) || !list.ReadASN1(&mechs, casn1.SEQUENCE) {
		return false, nil, errSPNEGO
	}
	for !mechs.Empty() {
		if !mechs.ReadASN1ObjectIdentifier(&oid) {
			return false, nil, errSPNEGO
		}
		ntlm = ntlm || oid.Equal(oidNTLM)
	}
	if !seq.SkipOptionalASN1(contextTag(1)) || !seq.ReadOptionalASN1(&tok, &has, contextTag(2)) {
		return false, nil, errSPNEGO
	}
	if has {
		var inner cryptobyte.String
		if !tok.ReadASN1(&inner, casn1.OCTET_STRING) {
			return false, nil, errSPNEGO
		}
		token = inner
	}
	return ntlm, token, nil
}

// bareKerberos reports whether a token is Kerberos' own, without SPNEGO around it.
func bareKerberos(b []byte) bool {
	in := cryptobyte.String(b)
	var app cryptobyte.String
	var oid asn1.ObjectIdentifier
	return in.ReadASN1(&app, casn1.Tag(0).Constructed()|0x40) && app.ReadASN1ObjectIdentifier(&oid) &&
		(oid.Equal(oidKerberos) || oid.Equal(oidMSKerberos))
}

func parseNegTokenResp(b []byte) ([]byte, error) {
	in := cryptobyte.String(b)
	var neg, seq, tok, inner cryptobyte.String
	var has bool
	if !in.ReadASN1(&neg, contextTag(1)) || !neg.ReadASN1(&seq, casn1.SEQUENCE) || !seq.SkipOptionalASN1(contextTag(0)) ||
		!seq.SkipOptionalASN1(contextTag(1)) || !seq.ReadOptionalASN1(&tok, &has, contextTag(2)) || !has ||
		!tok.ReadASN1(&inner, casn1.OCTET_STRING) {
		return nil, errSPNEGO
	}
	return inner, nil
}

// negTokenResp says that NTLM it is, with its next message if there is one.
func negTokenResp(token []byte) []byte {
	var b cryptobyte.Builder
	b.AddASN1(contextTag(1), func(b *cryptobyte.Builder) {
		b.AddASN1(casn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1(contextTag(0), func(b *cryptobyte.Builder) {
				b.AddASN1(casn1.ENUM, func(b *cryptobyte.Builder) { b.AddUint8(1) }) // accept-incomplete
			})
			b.AddASN1(contextTag(1), func(b *cryptobyte.Builder) { b.AddASN1ObjectIdentifier(oidNTLM) })
			if token != nil {
				b.AddASN1(contextTag(2), func(b *cryptobyte.Builder) { b.AddASN1OctetString(token) })
			}
		})
	})
	return b.BytesOrPanic()
}

func contextTag(n uint8) casn1.Tag { return casn1.Tag(n).Constructed().ContextSpecific() }
