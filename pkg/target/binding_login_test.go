package target

import (
	"bytes"
	"crypto/md5"
	"crypto/tls"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	krb "github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/spnego"
	"github.com/jcmturner/gokrb5/v8/types"

	"gostress/internal/tds"
)

// binding is what the server's end of the channel makes of it: the MD5 of a
// gss_channel_bindings_struct (RFC 2744 3.11) with tls-unique (RFC 5929 3) alone.
func (p *peer) binding() []byte {
	unique := p.rw.(*tls.Conn).ConnectionState().TLSUnique
	if len(unique) == 0 {
		p.tb.Error("the channel has no tls-unique")
	}
	data := append([]byte("tls-unique:"), unique...)
	b := binary.LittleEndian.AppendUint32(make([]byte, 16), uint32(len(data)))
	sum := md5.Sum(append(b, data...))
	return sum[:]
}

// realm is a Kerberos realm in files: a user's ticket cache with a ticket for a service.
type realm struct {
	keys    *keytab.Keytab // of the service and of the ticket-granting service
	cache   string
	config  string
	service types.PrincipalName
}

const (
	realmName   = "EXAMPLE.TEST"
	realmUser   = "alice"
	servicePath = "MSSQLSvc/sql.example.test"
)

func newRealm(t *testing.T) realm {
	t.Helper()
	dir := t.TempDir()
	r := realm{keys: keytab.New(), cache: filepath.Join(dir, "cache"), config: filepath.Join(dir, "krb5.conf"),
		service: types.NewPrincipalName(nametype.KRB_NT_SRV_INST, servicePath)}
	granting := types.NewPrincipalName(nametype.KRB_NT_SRV_INST, "krbtgt/"+realmName)
	now := time.Now().UTC().Truncate(time.Second)
	user := types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, realmUser)
	cache := append([]byte{5, 4, 0, 0}, cachedName(user)...)
	for _, name := range []types.PrincipalName{granting, r.service} {
		if err := r.keys.AddEntry(name.PrincipalNameString(), realmName, "a secret", now, 1, etypeID.AES256_CTS_HMAC_SHA1_96); err != nil {
			t.Fatal(err)
		}
		start, end := now.Add(-time.Hour), now.Add(time.Hour)
		ticket, key, err := krb.NewTicket(user, realmName, name, realmName, types.NewKrbFlags(), r.keys, etypeID.AES256_CTS_HMAC_SHA1_96, 1, start, start, end, end)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ticket.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		cache = append(append(cache, cachedName(user)...), cachedName(name)...)
		cache = binary.BigEndian.AppendUint16(cache, uint16(key.KeyType))
		cache = cachedData(cache, key.KeyValue)
		for _, at := range []time.Time{start, start, end, end} {
			cache = binary.BigEndian.AppendUint32(cache, uint32(at.Unix()))
		}
		cache = append(cache, make([]byte, 1+4+4+4)...) // not of a session key; no flags, addresses, data
		cache = cachedData(cachedData(cache, b), nil)
	}
	conf := "[libdefaults]\n default_realm = " + realmName + "\n[realms]\n " + realmName + " = {\n  kdc = 127.0.0.1:1\n }\n"
	for file, b := range map[string][]byte{r.cache: cache, r.config: []byte(conf)} {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// cachedName and cachedData are parts of MIT's credential cache, version 4.
func cachedName(n types.PrincipalName) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(n.NameType))
	b = binary.BigEndian.AppendUint32(b, uint32(len(n.NameString)))
	b = cachedData(b, []byte(realmName))
	for _, s := range n.NameString {
		b = cachedData(b, []byte(s))
	}
	return b
}

func cachedData(b, data []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(data))), data...)
}

func (r realm) env(k string) string {
	return map[string]string{"KRB5CCNAME": "FILE:" + r.cache, "KRB5_CONFIG": r.config}[k]
}

// bound is the binding in the AP-REQ of an SPNEGO token, read with the service's key.
func (r realm) bound(p *peer, token []byte) []byte {
	var hello spnego.SPNEGOToken
	var mech spnego.KRB5Token
	if err := hello.Unmarshal(token); err != nil {
		p.tb.Error(err)
		return nil
	}
	if err := mech.Unmarshal(hello.NegTokenInit.MechTokenBytes); err != nil {
		p.tb.Error(err)
		return nil
	}
	if err := mech.APReq.Ticket.DecryptEncPart(r.keys, &r.service); err != nil {
		p.tb.Error(err)
		return nil
	}
	if err := mech.APReq.DecryptAuthenticator(mech.APReq.Ticket.DecryptedEncPart.Key); err != nil {
		p.tb.Error(err)
		return nil
	}
	a := mech.APReq.Authenticator
	sum := a.Cksum.Checksum
	if a.CName.PrincipalNameString() != realmUser || a.Cksum.CksumType != 0x8003 || len(sum) != 24 || binary.LittleEndian.Uint32(sum) != 16 {
		p.tb.Errorf("the authenticator is %+v", a)
		return nil
	}
	return sum[4:20]
}

// A Kerberos login carries the hash of the channel's binding, as the server's end computes it.
func TestKerberosIsBoundToTheChannel(t *testing.T) { overWires(t, testKerberosIsBound) }

func testKerberosIsBound(t *testing.T, w Wire) {
	r, cert := newRealm(t), newCert(t)
	seen := make(chan [2][]byte, 1)
	f := serve(t, func(p *peer) {
		p.cert = cert.tls
		p.prelogin(tds.EncryptOn)
		p.takeLogin(tds.EncryptOn)
		seen <- [2][]byte{r.bound(p, p.login.SSPI), p.binding()}
		p.ack()
		p.wait()
	})
	o := options(w, f)
	o.User, o.Password, o.Env, o.Encrypt = "", "", r.env, EncryptMandatory
	o.ServerSPN, o.ExtendedProtection = servicePath, true
	s, err := connectTo(t, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := <-seen; len(got[0]) == 0 || !bytes.Equal(got[0], got[1]) {
		t.Errorf("bound to %x, the server's end is %x", got[0], got[1])
	}
}

// So does an NTLM login.
func TestNTLMIsBoundToTheChannel(t *testing.T) { overWires(t, testNTLMIsBound) }

func testNTLMIsBound(t *testing.T, w Wire) {
	cert := newCert(t)
	seen := make(chan [2][]byte, 1)
	f := serve(t, func(p *peer) {
		p.cert = cert.tls
		p.prelogin(tds.EncryptOn)
		p.takeLogin(tds.EncryptOn)
		p.send(tds.AppendSSPI(nil, ntlmChallenge()))
		seen <- [2][]byte{ntlmBound(p.read(tds.PacketSSPI).Data), p.binding()}
		p.ack()
		p.wait()
	})
	o := options(w, f)
	o.User, o.Encrypt, o.ExtendedProtection = `DOM\user`, EncryptMandatory, true
	s, err := connectTo(t, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := <-seen; len(got[0]) == 0 || !bytes.Equal(got[0], got[1]) {
		t.Errorf("bound to %x, the server's end is %x", got[0], got[1])
	}
}

// ntlmChallenge is a CHALLENGE_MESSAGE (MS-NLMP 2.2.1.2) with an empty list of what the target is.
func ntlmChallenge() []byte {
	const unicode, ntlm, extended, targetInfo, wide = 1, 0x200, 0x80000, 0x800000, 0x20000000
	b := make([]byte, 52)
	copy(b, "NTLMSSP\x00\x02")
	binary.LittleEndian.PutUint32(b[16:], 48)
	binary.LittleEndian.PutUint32(b[20:], unicode|ntlm|extended|targetInfo|wide)
	copy(b[24:], "12345678")
	b[40], b[42] = 4, 4
	binary.LittleEndian.PutUint32(b[44:], 48)
	return b
}

// ntlmBound is MsvAvChannelBindings of an AUTHENTICATE_MESSAGE's NTLMv2 response (MS-NLMP 2.2.2.7).
func ntlmBound(b []byte) []byte {
	const proof, head, end, binding = 16, 28, 0, 10
	if len(b) < 28 {
		return nil
	}
	n, at := int(binary.LittleEndian.Uint16(b[20:])), int(binary.LittleEndian.Uint32(b[24:]))
	if n < proof+head || at+n > len(b) {
		return nil
	}
	for pairs := b[at+proof+head : at+n]; len(pairs) >= 4; {
		id, n := binary.LittleEndian.Uint16(pairs), int(binary.LittleEndian.Uint16(pairs[2:]))
		if id == end || 4+n > len(pairs) {
			return nil
		}
		if id == binding {
			return pairs[4 : 4+n]
		}
		pairs = pairs[4+n:]
	}
	return nil
}

// A login that was to be bound never goes out unbound.
func TestNoLoginGoesUnbound(t *testing.T) { overWires(t, testNoLoginGoesUnbound) }

func testNoLoginGoesUnbound(t *testing.T, w Wire) {
	r := newRealm(t)
	for name, o := range map[string]Options{
		"Kerberos": {Env: r.env, ServerSPN: servicePath},
		"NTLM":     {User: `DOM\user`, Password: "secret", Env: r.env},
	} {
		for _, enc := range []Encrypt{EncryptMandatory, EncryptOptional, EncryptDisable} {
			f := serve(t, func(p *peer) {
				p.prelogin(tds.EncryptNotSupported)
				p.takeLogin(tds.EncryptNotSupported)
				t.Errorf("%s, %s: a login was sent", name, enc)
			})
			o.Server, o.Wire, o.Encrypt, o.ExtendedProtection = f.addr, w, enc, true
			if s, err := connectTo(t, o); err == nil || !strings.Contains(err.Error(), "extended protection: the connection is not encrypted") {
				t.Errorf("%s, %s: %v", name, enc, err)
				if s != nil {
					_ = s.Close()
				}
			}
		}
	}
	for part, o := range map[string]Options{
		"does not go with strict encryption": {Server: "db,1", Encrypt: EncryptStrict},
		"needs TLS 1.2 or older":             {Server: "db,1", TLSMin: "1.3"},
	} {
		o.User, o.Password, o.ExtendedProtection, o.Env = `DOM\user`, "secret", true, r.env
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", part, err)
		}
	}
}
