package tds

import (
	"bytes"
	"crypto/tls"
	"encoding/hex"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPreloginBytes(t *testing.T) {
	t.Parallel()
	p := Prelogin{Version: [6]byte{9, 0, 0, 0, 0, 0}, Encryption: EncryptOn, ThreadID: 0xB80D, MARS: true}
	// The layout of MS-TDS 4.1, with an instance of one zero byte.
	want := unhex(t, `00 001A 0006 01 0020 0001 02 0021 0001 03 0022 0004 04 0026 0001 FF
		09 00 00 00 00 00 01 00 0D B8 00 00 01`)
	if got := p.AppendRequest(nil); !bytes.Equal(got, want) {
		t.Fatalf("got  %x\nwant %x", got, want)
	}
	back, err := ParsePrelogin(want)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p, back); d != "" {
		t.Fatal(d)
	}
}

func TestPreloginRefuses(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]string{
		"empty":                 "",
		"no options":            "FF",
		"no end":                "00 0006 0000",
		"cut option":            "00 00",
		"beyond the packet":     "00 0006 0006 FF 0900",
		"version of five bytes": "00 0006 0005 FF 0900000000",
		"encryption of none":    "01 0006 0000 FF",
	} {
		t.Run(name, func(t *testing.T) {
			if p, err := ParsePrelogin(unhex(t, b)); err == nil {
				t.Fatalf("accepted as %+v", p)
			}
		})
	}
}

func TestLogin7RoundTrip(t *testing.T) {
	t.Parallel()
	full := Login7{
		Version: V74, PacketSize: 8000, ClientVersion: 7, ClientPID: 4711, ConnectionID: 1, Flags1: OptionUseDB, Flags2: OptionODBC,
		TypeFlags: TypeReadOnlyIntent, Flags3: OptionChangePassword, TimeZone: -60, LCID: 0x409, HostName: "häst", UserName: "sa",
		Password: "p;w={🙂}'", AppName: "app", ServerName: "srv", Library: "lib", Language: "us_english", Database: "db",
		NewPassword: "new", ClientID: [6]byte{1, 2, 3, 4, 5, 6},
		Features: []Feature{{FeatureUTF8, []byte{1}}, {FeatureDataClass, []byte{2, 3}}},
	}
	long := Login7{Version: V74, SSPI: bytes.Repeat([]byte{7}, 70000)}
	for name, l := range map[string]Login7{
		"full": full, "empty": {Version: V71}, "SSPI": {Version: V74, Flags2: OptionSecurity, SSPI: []byte("NTLMSSP\x00")}, "long SSPI": long,
	} {
		t.Run(name, func(t *testing.T) {
			b := l.Append(nil)
			got, err := ParseLogin7(b)
			if err != nil {
				t.Fatal(err)
			}
			want := l
			if l.Features != nil {
				want.Flags3 |= OptionExtension
			}
			if d := cmp.Diff(&want, got); d != "" {
				t.Fatal(d)
			}
			if bytes.Contains(b, AppendUTF16(nil, l.Password)) && l.Password != "" {
				t.Fatal("the password is in clear")
			}
			for n := range len(b) {
				if n > 400 {
					break
				}
				if _, err := ParseLogin7(b[:n]); err == nil {
					t.Fatalf("accepted when cut at %d", n)
				}
			}
		})
	}
}

func FuzzPrelogin(f *testing.F) {
	f.Add((&Prelogin{Instance: "i", Nonce: make([]byte, 32), FedAuth: true}).AppendRequest(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParsePrelogin(b)
		if err != nil {
			return
		}
		p.TraceID, p.Nonce = nil, nil
		if len(p.Instance) > 1000 {
			return
		}
		back, err := ParsePrelogin(p.AppendRequest(nil))
		if err != nil || back.Instance != p.Instance || back.Encryption != p.Encryption || back.Version != p.Version {
			t.Fatalf("%+v became %+v, %v", p, back, err)
		}
	})
}

func FuzzLogin7(f *testing.F) {
	f.Add((&Login7{Version: V74, UserName: "sa", Password: "x", Features: []Feature{{FeatureUTF8, []byte{1}}}}).Append(nil))
	f.Add((&Login7{Version: V71, SSPI: []byte{1, 2, 3}}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ParseLogin7(b)
		if err != nil {
			return
		}
		if len(l.SSPI) > len(b) || len(l.UserName) > 3*128 {
			t.Fatalf("more than was sent: %+v", l)
		}
	})
}

// TestHandshake runs TLS inside PRELOGIN packets over a pipe, both sides being
// ours, and then talks through it.
func TestHandshake(t *testing.T) {
	t.Parallel()
	cert := testCertificate(t)
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	done := make(chan error, 1)
	go func() {
		h := NewHandshakeConn(a)
		s := tls.Server(h, &tls.Config{Certificates: []tls.Certificate{cert}, MaxVersion: tls.VersionTLS12, SessionTicketsDisabled: true})
		err := s.Handshake()
		if err == nil {
			err = h.Done()
		}
		if err == nil {
			_, err = io.CopyN(s, s, 5)
		}
		done <- err
	}()
	h := NewHandshakeConn(b)
	c := tls.Client(h, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12})
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	if err := h.Done(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(c, got); err != nil || string(got) != "hello" {
		t.Fatalf("%q, %v", got, err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
