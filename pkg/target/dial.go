package target

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"gostress/internal/tds"
	"gostress/internal/tdsclient"
)

// dialer dials for one login, and watches over it: it sees the server's answer
// to the encryption request before a password can be sent, checks the
// certificate, and can end the login by closing the socket.
type dialer struct {
	target   *Target
	password string // whether the login carries one that must not be seen
	mayClear bool
	strict   bool
	enc      Encrypt
	direct   bool        // the connection ends TLS itself, and is taken over after the login
	tls      *tls.Config // of the direct connection

	mu      sync.Mutex
	conn    *conn
	login   *tdsclient.Login // over conn, if direct
	browser net.Conn         // to SQL Browser
	fault   error            // why the dialer itself refused
	ended   bool
	facts   facts
}

// HostName makes go-mssqldb leave names to DialContext: its own look-up does not
// end with the context.
func (d *dialer) HostName() string { return "" }

// DialContext implements mssql.Dialer; SQL Browser's UDP goes through it too.
func (d *dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := d.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	if network != "tcp" {
		d.browser = browserConn{c}
		return d.browser, nil
	}
	w := &conn{Conn: c, first: d.prelogin}
	if d.strict {
		w.first = nil // TLS comes first, so there is no negotiation to see
	}
	routed := d.conn != nil
	d.conn = w
	if !d.direct {
		return w, nil
	}
	d.login = tdsclient.NewLogin(w, tdsclient.LoginOptions{Encrypt: d.asks(), TLS: d.handshake(addr, routed)})
	return d.login, nil
}

// asks is what PRELOGIN says of encryption.
func (d *dialer) asks() tds.Encryption {
	switch d.enc {
	case EncryptOptional:
		return tds.EncryptOff
	case EncryptDisable:
		return tds.EncryptNotSupported
	}
	return tds.EncryptOn
}

// handshake is the TLS configuration for addr. A server that the first one routed
// the login to has a certificate of its own name.
func (d *dialer) handshake(addr string, routed bool) *tls.Config {
	host, _, err := net.SplitHostPort(addr)
	if err != nil || !routed || d.target.opt.HostNameInCertificate != "" {
		return d.tls
	}
	cfg := d.tls.Clone()
	cfg.ServerName = host
	return cfg
}

func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	nd := &net.Dialer{KeepAlive: 30 * time.Second}
	host, port, err := net.SplitHostPort(addr)
	if err != nil || network != "tcp" || !d.target.opt.MultiSubnetFailover || net.ParseIP(host) != nil {
		return nd.DialContext(ctx, network, addr)
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	addrs := make([]string, len(ips))
	for i, ip := range ips {
		addrs[i] = net.JoinHostPort(ip.Unmap().String(), port)
	}
	return dialAll(ctx, nd, addrs)
}

// dialAll dials all addresses of a listener at once and takes the first that
// answers: only one of them is alive, and the others may not even refuse.
func dialAll(ctx context.Context, nd *net.Dialer, addrs []string) (net.Conn, error) {
	if len(addrs) == 0 {
		return nil, errors.New("the name has no address")
	}
	type dialed struct {
		c   net.Conn
		err error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan dialed)
	for _, a := range addrs {
		go func() {
			c, err := nd.DialContext(ctx, "tcp", a)
			done <- dialed{c, err}
		}()
	}
	var won net.Conn
	var failed error
	for range addrs {
		switch d := <-done; {
		case d.err != nil:
			if failed == nil {
				failed = d.err
			}
		case won != nil:
			_ = d.c.Close()
		default:
			won = d.c
			cancel()
		}
	}
	if won != nil {
		return won, nil
	}
	return nil, failed
}

func (d *dialer) close() {
	d.mu.Lock()
	d.ended = true
	c, b := d.conn, d.browser
	d.mu.Unlock()
	if c != nil {
		_ = c.Close()
	}
	if b != nil {
		_ = b.Close()
	}
}

// channel is the TLS state of the connection that is logging in; false without TLS.
func (d *dialer) channel() (tls.ConnectionState, bool) {
	d.mu.Lock()
	l := d.login
	d.mu.Unlock()
	if l == nil {
		return tls.ConnectionState{}, false
	}
	return l.ConnectionState()
}

func (d *dialer) dialed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.conn != nil
}

func (d *dialer) cause() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fault
}

func (d *dialer) refuse(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = err
	return err
}

// hasNoTLS says that the server answered so.
func (d *dialer) hasNoTLS() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.facts.answered && d.facts.encryption == encryptNotSupported
}

// Values and tokens of PRELOGIN (MS-TDS 2.2.6.5).
const (
	preloginVersion     = 0
	preloginEncryption  = 1
	encryptOff          = 0
	encryptNotSupported = 2
)

// prelogin looks at the server's answer before go-mssqldb does.
func (d *dialer) prelogin(c net.Conn, packet []byte) error {
	enc, ok := preloginOption(packet, preloginEncryption)
	if !ok {
		return d.refuse(errors.New("what answers is not a SQL Server: its first answer does not say whether it encrypts"))
	}
	version, _ := preloginOption(packet, preloginVersion)
	d.mu.Lock()
	d.facts.answered, d.facts.encryption = true, enc[0]
	copy(d.facts.version[:], version)
	d.mu.Unlock()
	if enc[0] != encryptNotSupported {
		return nil
	}
	t := d.target
	if t.opt.ExtendedProtection {
		return d.refuse(errors.New("extended protection: the connection is not encrypted, so there is no channel to bind the login to"))
	}
	why := fmt.Sprintf("%s does not support encryption", t.server)
	if t.opt.Encrypt == EncryptDisable {
		// A server that could encrypt answers the same.
		why = fmt.Sprintf("encryption is switched off for %s", t.server)
	}
	switch {
	case remoteLoopback(c):
		if t.opt.Encrypt != EncryptDisable {
			t.notes.say(why + ": the connection is in clear, which stays on this machine")
		}
	case d.password == "" || t.auth.integrated:
		t.notes.say(why + ": the connection is in clear")
	case d.mayClear:
		t.notes.say(why + ": the password is sent in clear, as --allow-cleartext-login permits")
	default:
		return d.refuse(errors.New(why + ", so the password would cross the network in clear; --allow-cleartext-login permits that"))
	}
	return nil
}

// verify checks the server's certificate once the handshake has shown it.
func (d *dialer) verify(cs tls.ConnectionState, cfg *tls.Config) error {
	d.mu.Lock()
	c := d.conn
	d.facts.tls, d.facts.cipher = cs.Version, cs.CipherSuite
	d.mu.Unlock()
	t := d.target
	if t.opt.TrustServerCertificate || d.enc == EncryptOptional {
		// Where encryption is not asked for, ODBC does not check it either.
		return nil
	}
	err := checkChain(cs, cfg.RootCAs, cs.ServerName)
	if err == nil {
		return nil
	}
	if c != nil && remoteLoopback(c) && t.opt.CAFile == "" {
		t.notes.say(fmt.Sprintf("the certificate of %s cannot be checked (%v): accepted, since the server is this machine", t.server, err))
		return nil
	}
	return d.refuse(fmt.Errorf("the server's certificate cannot be trusted: %w; %s", err, trustHint))
}
