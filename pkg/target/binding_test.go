package target

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/microsoft/go-mssqldb/integratedauth"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// protected is an authenticator that keeps its binding.
type protected struct {
	got   *integratedauth.ChannelBindings
	freed bool
}

func (p *protected) InitialBytes() ([]byte, error)                        { return nil, nil }
func (p *protected) NextBytes([]byte) ([]byte, error)                     { return nil, nil }
func (p *protected) Free()                                                { p.freed = true }
func (p *protected) SetChannelBinding(cb *integratedauth.ChannelBindings) { p.got = cb }

type unprotected struct {
	integratedauth.IntegratedAuthenticator
}

// handshaken is both ends' state of a TLS connection.
func handshaken(t *testing.T, most uint16) (client, server tls.ConnectionState) {
	t.Helper()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	c := tls.Client(a, &tls.Config{InsecureSkipVerify: true, MaxVersion: most})
	s := tls.Server(b, &tls.Config{Certificates: []tls.Certificate{*newCert(t).tls}, SessionTicketsDisabled: true})
	done := make(chan error, 1)
	go func() {
		err := s.HandshakeContext(context.Background())
		if err == nil {
			_, err = s.Write([]byte("x")) // TLS 1.3 ends with the client's part
		}
		done <- err
	}()
	if err := c.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return c.ConnectionState(), s.ConnectionState()
}

func TestALoginIsBoundToItsChannel(t *testing.T) {
	t.Parallel()
	client, server := handshaken(t, tls.VersionTLS12)
	var p protected
	if err := bindTo(&p, channel{func() (tls.ConnectionState, bool) { return client, true }}); err != nil {
		t.Fatal(err)
	}
	// The server computes the same from its own end.
	if want := "tls-unique:" + string(server.TLSUnique); len(server.TLSUnique) == 0 || string(p.got.ApplicationData) != want {
		t.Errorf("bound to %q, the server's is %q", p.got.ApplicationData, want)
	}
	newer, _ := handshaken(t, tls.VersionTLS13)
	for name, c := range map[string]struct {
		auth integratedauth.IntegratedAuthenticator
		ch   channel
		part string
	}{
		"no state": {&p, channel{}, "is not known"},
		"clear":    {&p, channel{func() (tls.ConnectionState, bool) { return tls.ConnectionState{}, false }}, "is not encrypted"},
		"TLS 1.3":  {&p, channel{func() (tls.ConnectionState, bool) { return newer, true }}, "TLS 1.3 has no binding"},
		"cannot":   {unprotected{&p}, channel{}, "cannot bind a login"},
	} {
		if err := bindTo(c.auth, c.ch); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What go-mssqldb hands to the authenticator by its bound name leads to the binding.
func TestTheBoundNameIsKnown(t *testing.T) {
	t.Parallel()
	client, _ := handshaken(t, tls.VersionTLS12)
	cfg := msdsn.Config{User: `DOMAIN\user`, Password: "p", Parameters: map[string]string{"authenticator": bound + "ntlm"},
		TLSConfig: &tls.Config{KeyLogWriter: channel{func() (tls.ConnectionState, bool) { return client, true }}}}
	auth, err := integratedauth.GetIntegratedAuthenticator(cfg)
	if err != nil || auth == nil {
		t.Fatal(err)
	}
	defer auth.Free()
	if cfg.Parameters["authenticator"] != bound+"ntlm" {
		t.Error("the login's own parameters were changed")
	}
	cfg.TLSConfig = nil
	if _, err := integratedauth.GetIntegratedAuthenticator(cfg); err == nil || !strings.Contains(err.Error(), "extended protection") {
		t.Errorf("without a channel: %v", err)
	}
}

func TestWhoCanBeBound(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	for name, c := range map[string]struct {
		o    Options
		part string
	}{
		"NTLM":             {Options{Server: "db,1433", User: `DOMAIN\user`, Password: "p"}, ""},
		"SQL Server login": {Options{Server: "db,1433", User: "sa", Password: "p"}, "has nothing to bind"},
	} {
		c.o.ExtendedProtection, c.o.Env = true, none
		_, err := New(c.o)
		if (err == nil) != (c.part == "") || err != nil && !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
