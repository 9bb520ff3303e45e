package server

import (
	"encoding/asn1"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/cryptobyte"
	casn1 "golang.org/x/crypto/cryptobyte/asn1"

	"gostress/internal/tds"
)

func negotiateMessage() []byte {
	b := append([]byte(ntlmSignature), 1, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, ntlmUnicode|ntlmNTLM|ntlmExtended)
	return append(b, make([]byte, 16)...)
}

func authenticateMessage(domain, user string) []byte {
	b := append([]byte(ntlmSignature), 3, 0, 0, 0)
	b = append(b, make([]byte, 52)...)
	binary.LittleEndian.PutUint32(b[60:], ntlmUnicode)
	put := func(at int, s string) {
		w := tds.AppendUTF16(nil, s)
		binary.LittleEndian.PutUint16(b[at:], uint16(len(w)))
		binary.LittleEndian.PutUint32(b[at+4:], uint32(len(b)))
		b = append(b, w...)
	}
	put(28, domain)
	put(36, user)
	return b
}

func negTokenInit(mechs []asn1.ObjectIdentifier, token []byte) []byte {
	var b cryptobyte.Builder
	b.AddASN1(casn1.Tag(0).Constructed()|0x40, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidSPNEGO)
		b.AddASN1(contextTag(0), func(b *cryptobyte.Builder) {
			b.AddASN1(casn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1(contextTag(0), func(b *cryptobyte.Builder) {
					b.AddASN1(casn1.SEQUENCE, func(b *cryptobyte.Builder) {
						for _, m := range mechs {
							b.AddASN1ObjectIdentifier(m)
						}
					})
				})
				if token != nil {
					b.AddASN1(contextTag(2), func(b *cryptobyte.Builder) { b.AddASN1OctetString(token) })
				}
			})
		})
	})
	return b.BytesOrPanic()
}

func TestNTLM(t *testing.T) {
	t.Parallel()
	now := time.Unix(1700000000, 0)
	kerberos := oidKerberos
	bare := func(oid asn1.ObjectIdentifier) []byte {
		id, err := asn1.Marshal(oid)
		if err != nil {
			t.Fatal(err)
		}
		return append([]byte{0x60, byte(len(id) + 4)}, append(id, 1, 0, 'a', 'p')...)
	}
	for _, tc := range []struct {
		name   string
		first  []byte
		rounds [][]byte // what the client says after each answer
		want   string
		fails  string
	}{
		{name: "bare", first: negotiateMessage(), rounds: [][]byte{authenticateMessage("HOST", "joe")}, want: `HOST\joe`},
		{name: "anonymous", first: negotiateMessage(), rounds: [][]byte{authenticateMessage("", "")}, want: `SRV\ANONYMOUS LOGON`},
		{name: "SPNEGO", first: negTokenInit([]asn1.ObjectIdentifier{oidNTLM}, negotiateMessage()),
			rounds: [][]byte{negTokenResp(authenticateMessage("D", "u"))}, want: `D\u`},
		{name: "SPNEGO, Kerberos first", first: negTokenInit([]asn1.ObjectIdentifier{kerberos, oidNTLM}, []byte("kerberos")),
			rounds: [][]byte{negTokenResp(negotiateMessage()), negTokenResp(authenticateMessage("D", "u"))}, want: `D\u`},
		{name: "SPNEGO without NTLM", first: negTokenInit([]asn1.ObjectIdentifier{kerberos}, nil), fails: "offers Kerberos alone"},
		{name: "Kerberos without SPNEGO", first: bare(oidKerberos), fails: "offers Kerberos alone"},
		{name: "Microsoft's Kerberos without SPNEGO", first: bare(oidMSKerberos), fails: "offers Kerberos alone"},
		{name: "SPNEGO cut", first: negTokenInit([]asn1.ObjectIdentifier{oidNTLM}, negotiateMessage())[:20], fails: "malformed"},
		{name: "nothing", fails: "no NEGOTIATE"},
		{name: "cut", first: negotiateMessage(), rounds: [][]byte{authenticateMessage("D", "u")[:50]}, fails: "ends early"},
		{name: "beyond", first: negotiateMessage(), rounds: [][]byte{authenticateMessage("D", "u")[:65]}, fails: "beyond"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var x ntlmExchange
			answer, err := x.challenge(tc.first, "srv.example.org", now)
			for _, m := range tc.rounds {
				if err != nil || answer == nil {
					t.Fatalf("answer %x, %v", answer, err)
				}
				answer, err = x.next(m, "srv.example.org", now)
			}
			if tc.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fails) {
					t.Fatalf("error %v, want %q", err, tc.fails)
				}
				return
			}
			if err != nil || answer != nil {
				t.Fatalf("answer %x, %v", answer, err)
			}
			if got := x.name("srv.example.org"); got != tc.want {
				t.Fatalf("name %q, want %q", got, tc.want)
			}
		})
	}
}

func FuzzNTLM(f *testing.F) {
	f.Add(negTokenInit([]asn1.ObjectIdentifier{oidNTLM}, negotiateMessage()), negTokenResp(authenticateMessage("D", "u")))
	f.Add(negotiateMessage(), authenticateMessage("D", "u"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var x ntlmExchange
		if _, err := x.challenge(first, "h", time.Unix(0, 0)); err == nil {
			_, _ = x.next(second, "h", time.Unix(0, 0))
		}
	})
}

func TestFailures(t *testing.T) {
	t.Parallel()
	f := newFailures(time.Second)
	now := time.Unix(1700000000, 0)
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 16} {
		wait, done := f.add("1.2.3.4", now)
		if wait != want*time.Second {
			t.Errorf("failure %d waits %v", i+1, wait)
		}
		done()
	}
	if wait, done := f.add("5.6.7.8", now); wait != time.Second {
		t.Errorf("another address waits %v", wait)
	} else {
		done()
	}
	if wait, done := f.add("1.2.3.4", now.Add(2*time.Minute)); wait != time.Second {
		t.Errorf("after two minutes a failure waits %v", wait)
	} else {
		done()
	}
	for range failureWaiting {
		f.add("9.9.9.9", now)
	}
	if !f.busy("9.9.9.9") || f.busy("1.2.3.4") {
		t.Error("an address with many failures is not held off, or another one is")
	}
	for i := range 3 * failureHosts {
		_, done := f.add(strings.Repeat("x", i%7)+time.Duration(i).String(), now)
		done()
	}
	if len(f.hosts) > failureHosts {
		t.Errorf("%d addresses are remembered", len(f.hosts))
	}
}
