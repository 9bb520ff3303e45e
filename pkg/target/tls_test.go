package target

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gostress/internal/tds"
	"gostress/pkg/driver"
)

// certificate is a server's, signed by itself.
type certificate struct {
	tls *tls.Certificate
	der []byte
}

// newCert makes a certificate for 127.0.0.1 and sql.example.
func newCert(tb testing.TB) certificate {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(0x7A5A5A5A5A5A5A5A), Subject: pkix.Name{CommonName: "SSL_Self_Signed_Fallback"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"sql.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		tb.Fatal(err)
	}
	return certificate{&tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, der}
}

// negativeSerial signs the certificate again, with a serial number below zero as
// SQL Server's own can have.
func (c certificate) negativeSerial(tb testing.TB) certificate {
	tb.Helper()
	var parts struct {
		TBS       asn1.RawValue
		Algorithm pkix.AlgorithmIdentifier
		Signature asn1.BitString
	}
	if _, err := asn1.Unmarshal(c.der, &parts); err != nil {
		tb.Fatal(err)
	}
	tbs := bytes.Clone(parts.TBS.FullBytes)
	at := bytes.Index(tbs, []byte{0x7A, 0x5A, 0x5A, 0x5A})
	tbs[at] = 0xFA
	sum := sha256.Sum256(tbs)
	sig, err := c.tls.PrivateKey.(crypto.Signer).Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		tb.Fatal(err)
	}
	parts.TBS = asn1.RawValue{FullBytes: tbs}
	parts.Signature = asn1.BitString{Bytes: sig, BitLength: 8 * len(sig)}
	der, err := asn1.Marshal(parts)
	if err != nil {
		tb.Fatal(err)
	}
	return certificate{&tls.Certificate{Certificate: [][]byte{der}, PrivateKey: c.tls.PrivateKey}, der}
}

// file writes the certificate as PEM.
func (c certificate) file(tb testing.TB) string {
	tb.Helper()
	name := filepath.Join(tb.TempDir(), "ca.pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.der}), 0o600); err != nil {
		tb.Fatal(err)
	}
	return name
}

// tlsServer accepts logins with the encryption enc; strict is TDS 8.
func tlsServer(tb testing.TB, c certificate, enc tds.Encryption, strict bool) *fake {
	return serve(tb, func(p *peer) {
		p.cert = c.tls
		if strict {
			t := tls.Server(p.raw, &tls.Config{Certificates: []tls.Certificate{*c.tls}, NextProtos: []string{"tds/8.0"}})
			if t.Handshake() != nil {
				p.gone()
			}
			p.rw, p.wr.Dst, p.version = t, t, tds.V80
		}
		p.accept(enc)
		for {
			p.batch()
			p.send(intColumns(1), intRow(1), done(0))
		}
	})
}

func TestTLS(t *testing.T) { overWires(t, testTLS) }

func testTLS(t *testing.T, w Wire) {
	cert := newCert(t)
	other := newCert(t)
	negative := cert.negativeSerial(t)
	tests := map[string]struct {
		cert     certificate
		enc      Encrypt
		server   tds.Encryption
		options  func(*Options)
		refused  string
		note     string
		describe string
	}{
		"full, unknown certificate on loopback": {
			cert: cert, enc: EncryptMandatory, server: tds.EncryptOn,
			note: "accepted, since the server is this machine", describe: "encryption of everything, TLS 1.2 TLS_ECDHE_ECDSA",
		},
		"full, trusted": {
			cert: cert, enc: EncryptMandatory, server: tds.EncryptOn, options: func(o *Options) { o.TrustServerCertificate = true },
		},
		"full, right authority": {
			cert: cert, enc: EncryptMandatory, server: tds.EncryptOn, options: func(o *Options) { o.CAFile = cert.file(t) },
		},
		"full, right authority and name": {
			cert: cert, enc: EncryptMandatory, server: tds.EncryptOn,
			options: func(o *Options) { o.CAFile, o.HostNameInCertificate = cert.file(t), "sql.example" },
		},
		"full, other authority": {
			cert: cert, enc: EncryptMandatory, server: tds.EncryptOn, options: func(o *Options) { o.CAFile = other.file(t) },
			refused: "certificate cannot be trusted",
		},
		"full, other name": {
			cert: cert, enc: EncryptMandatory, server: tds.EncryptOn,
			options: func(o *Options) { o.CAFile, o.HostNameInCertificate = cert.file(t), "other.example" },
			refused: "not other.example",
		},
		"full, negative serial number": {
			cert: negative, enc: EncryptMandatory, server: tds.EncryptOn, note: "accepted, since the server is this machine",
		},
		"full, negative serial number, right authority": {
			cert: negative, enc: EncryptMandatory, server: tds.EncryptOn, options: func(o *Options) { o.CAFile = negative.file(t) },
		},
		"login only": {
			cert: cert, enc: EncryptOptional, server: tds.EncryptOff, describe: "encryption of the login only, TLS 1.2",
		},
		"asked for the login only, the server insists on all": {
			cert: cert, enc: EncryptOptional, server: tds.EncryptRequired, describe: "encryption of everything, TLS 1.2",
		},
		"asked for nothing, the server insists on all": {
			cert: cert, enc: EncryptDisable, server: tds.EncryptRequired, note: "accepted, since", describe: "encryption of everything, TLS 1.2",
		},
		"the server encrypts the login only": {
			cert: cert, enc: EncryptMandatory, server: tds.EncryptOff, refused: "does not support encryption",
		},
		"strict, unknown certificate on loopback": {
			cert: cert, enc: EncryptStrict, server: tds.EncryptOn, note: "accepted, since the server is this machine",
			describe: "TDS 8.0, encryption strict, TLS 1.3",
		},
		"strict, right authority": {
			cert: cert, enc: EncryptStrict, server: tds.EncryptOn, options: func(o *Options) { o.CAFile = cert.file(t) },
		},
		"strict, other authority": {
			cert: cert, enc: EncryptStrict, server: tds.EncryptOn, options: func(o *Options) { o.CAFile = other.file(t) },
			refused: "certificate cannot be trusted",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var n said
			o := options(w, tlsServer(t, tt.cert, tt.server, tt.enc == EncryptStrict))
			o.Encrypt, o.Note, o.Wire = tt.enc, n.note, wireFor(w, tt.enc)
			if tt.options != nil {
				tt.options(&o)
			}
			tg, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				s, err := tg.Connect(context.Background())
				if tt.refused != "" {
					var ce *driver.ConnectError
					if !errors.As(err, &ce) || !strings.Contains(err.Error(), tt.refused) {
						t.Errorf("got %v; want %q", err, tt.refused)
					}
					if strings.Contains(tt.refused, "certificate") && !strings.Contains(err.Error(), "GOSTRESS_TRUST_SERVER_CERTIFICATE=1") {
						t.Errorf("%v does not say what to do", err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if out, err := do(t, s, context.Background(), text("select 1"), nil); err != nil || out.Rows != 1 {
						t.Errorf("got %+v, %v", out, err)
					}
				}
				if d := s.(interface{ Describe() string }).Describe(); !strings.Contains(d, tt.describe) || strings.Contains(d, o.Password) {
					t.Errorf("got %s; want %q", d, tt.describe)
				}
				s.Close()
			}
			got := n.all()
			if tt.note == "" && len(got) > 0 || tt.note != "" && (len(got) != 1 || !strings.Contains(got[0], tt.note)) {
				t.Errorf("got the notes %q; want one with %q", got, tt.note)
			}
		})
	}
}

// TestCertificateBeyondLoopback refuses what loopback accepts.
func TestCertificateBeyondLoopback(t *testing.T) {
	t.Parallel()
	cert := newCert(t)
	parsed, err := x509.ParseCertificate(cert.der)
	if err != nil {
		t.Fatal(err)
	}
	state := tls.ConnectionState{ServerName: "sql.example", PeerCertificates: []*x509.Certificate{parsed}}
	for name, tt := range map[string]struct {
		trust bool
		enc   Encrypt
		ok    bool
	}{
		"mandatory": {false, EncryptMandatory, false},
		"strict":    {false, EncryptStrict, false},
		"trusted":   {true, EncryptMandatory, true},
		"optional":  {false, EncryptOptional, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tg, err := New(Options{Server: "sql.example", User: "sa", Password: "x", Encrypt: tt.enc, TrustServerCertificate: tt.trust})
			if err != nil {
				t.Fatal(err)
			}
			d := &dialer{target: tg, enc: tt.enc, conn: &conn{Conn: fakeAddr{addr: "10.0.0.1:1433"}}}
			err = d.verify(state, tg.tls)
			if (err == nil) != tt.ok || err != nil && !strings.Contains(err.Error(), "--trust-server-certificate") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestTLSCancel sends the attention through TLS.
func TestTLSCancel(t *testing.T) { overWires(t, testTLSCancel) }

func testTLSCancel(t *testing.T, w Wire) {
	cert := newCert(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f := serve(t, func(p *peer) {
		p.cert = cert.tls
		p.accept(tds.EncryptOn)
		p.batch()
		p.part(intColumns(1), intRow(1))
		cancel()
		p.read(tds.PacketAttention)
		p.send(done(tds.DoneAttn))
		p.batch()
		p.send(intColumns(1), intRow(1), intRow(2), done(0))
		p.wait()
	})
	o := options(w, f)
	o.Encrypt = EncryptMandatory
	s, err := connectTo(t, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := do(t, s, ctx, text("select 1"), nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if out, err := do(t, s, context.Background(), text("select 2"), nil); err != nil || out.Rows != 2 {
		t.Errorf("got %+v, %v", out, err)
	}
}
