package target

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
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
	notSup   atomic.Bool // the server has no TLS

	mu    sync.Mutex
	conn  *conn
	fault error // why the dialer itself refused
	ended bool
}

// DialContext implements mssql.Dialer; SQL Browser's UDP goes through it too.
func (d *dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	nd := net.Dialer{KeepAlive: 30 * time.Second}
	c, err := nd.DialContext(ctx, network, addr)
	if err != nil || network != "tcp" {
		return c, err
	}
	w := &conn{Conn: c, first: d.prelogin}
	if d.strict {
		w.first = nil // TLS comes first, so there is no negotiation to see
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	d.conn = w
	return w, nil
}

func (d *dialer) close() {
	d.mu.Lock()
	d.ended = true
	c := d.conn
	d.mu.Unlock()
	if c != nil {
		_ = c.Close()
	}
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

// prelogin looks at the first packet of the server's answer.
func (d *dialer) prelogin(c net.Conn, packet []byte) error {
	const notSupported = 2
	enc, ok := preloginEncryption(packet)
	if !ok || enc != notSupported {
		return nil
	}
	d.notSup.Store(true)
	if d.password == "" || d.target.auth.integrated {
		return nil
	}
	switch {
	case remoteLoopback(c):
		if d.enc != EncryptDisable {
			d.target.notes.say(fmt.Sprintf("%s does not support encryption: the login is sent in clear, which stays on this machine", d.target.server))
		}
	case d.mayClear:
		d.target.notes.say(fmt.Sprintf("%s does not support encryption: the password is sent in clear, as --allow-cleartext-login permits", d.target.server))
	default:
		return d.refuse(errors.New("the server does not support encryption, so the password would cross the network in clear; --allow-cleartext-login permits that"))
	}
	return nil
}

// verify checks the server's certificate once the handshake has shown it.
func (d *dialer) verify(cs tls.ConnectionState, cfg *tls.Config) error {
	t := d.target
	if t.opt.TrustServerCertificate || d.enc == EncryptOptional {
		// Where encryption is not asked for, ODBC does not check it either.
		return nil
	}
	err := checkChain(cs, cfg.RootCAs, cs.ServerName)
	if err == nil {
		return nil
	}
	d.mu.Lock()
	c := d.conn
	d.mu.Unlock()
	if c != nil && remoteLoopback(c) && t.opt.CAFile == "" {
		t.notes.say(fmt.Sprintf("the certificate of %s cannot be checked (%v): accepted, since the server is this machine", t.server, err))
		return nil
	}
	return d.refuse(fmt.Errorf("the server's certificate cannot be trusted: %w; %s", err, trustHint))
}

// preloginEncryption finds the ENCRYPTION option in a PRELOGIN answer, header
// included (MS-TDS 2.2.6.5).
func preloginEncryption(packet []byte) (byte, bool) {
	const header, option, end, encryption = 8, 5, 0xFF, 1
	if len(packet) < header {
		return 0, false
	}
	body := packet[header:]
	for at := 0; at+option <= len(body) && body[at] != end; at += option {
		off, n := int(binary.BigEndian.Uint16(body[at+1:])), int(binary.BigEndian.Uint16(body[at+3:]))
		if body[at] == encryption {
			if n < 1 || off >= len(body) {
				return 0, false
			}
			return body[off], true
		}
	}
	return 0, false
}

// conn is the socket below go-mssqldb. It shows the first packet to first, and
// tells onBroken when reading fails: go-mssqldb does not tell its own message
// queue, on which a request would wait for ever.
type conn struct {
	net.Conn
	first  func(net.Conn, []byte) error
	buf    []byte
	mu     sync.Mutex
	onDown func(error)
	down   error
}

func (c *conn) Read(b []byte) (int, error) {
	if c.first != nil {
		check := c.first
		c.first = nil
		if err := c.readPacket(check); err != nil {
			return 0, err
		}
	}
	if len(c.buf) > 0 {
		n := copy(b, c.buf)
		if c.buf = c.buf[n:]; len(c.buf) == 0 {
			c.buf = nil
		}
		return n, nil
	}
	n, err := c.Conn.Read(b)
	if err != nil {
		c.broken(err)
	}
	return n, err
}

func (c *conn) readPacket(check func(net.Conn, []byte) error) error {
	p := make([]byte, 8)
	if _, err := io.ReadFull(c.Conn, p); err != nil {
		return notTDS(err)
	}
	n := int(binary.BigEndian.Uint16(p[2:]))
	if p[0] != 4 || n < 8 {
		return fmt.Errorf("what answers is not a SQL Server: it sent %q", p)
	}
	p = append(p, make([]byte, n-8)...)
	if _, err := io.ReadFull(c.Conn, p[8:]); err != nil {
		return notTDS(err)
	}
	c.buf = p
	return check(c.Conn, p)
}

func notTDS(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the server closed the connection before the login")
	}
	return err
}

// watch names who is told that the connection broke; nil is nobody.
func (c *conn) watch(f func(error)) {
	c.mu.Lock()
	c.onDown = f
	down := c.down
	c.mu.Unlock()
	if down != nil && f != nil {
		f(down)
	}
}

func (c *conn) broken(err error) {
	c.mu.Lock()
	if c.down == nil {
		c.down = err
	}
	f := c.onDown
	c.mu.Unlock()
	if f != nil {
		f(err)
	}
}
