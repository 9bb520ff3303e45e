package tdsclient

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"gostress/internal/tds"
)

// LoginOptions say how a Login encrypts.
type LoginOptions struct {
	// Encrypt is what the server is asked for: EncryptOn, EncryptOff (the login
	// packet alone) or EncryptNotSupported (nothing).
	Encrypt tds.Encryption
	// TLS is the handshake's configuration; it checks the certificate.
	TLS *tls.Config
	// Answer sees the server's PRELOGIN, a packet with its header, before anything
	// is encrypted or a login is sent; its error ends the login. It may be nil.
	Answer func(raw net.Conn, packet []byte) error
}

// Login is the connection that go-mssqldb logs in over; give it out as a Dialer's
// connection and tell go-mssqldb that encryption is disabled. It negotiates
// encryption with the server itself, does the TLS handshake, and tells go-mssqldb
// that the server has no encryption, so that go-mssqldb puts no TLS of its own on
// top. After the login, Take gives the connection away.
type Login struct {
	raw net.Conn
	opt LoginOptions

	hello []byte // what go-mssqldb wrote of its PRELOGIN
	reply []byte // what it has still to read of the answer's
	err   error  // why the negotiation failed

	tls   *tls.Conn
	state stage
	first bool   // only the next packet is encrypted
	log   []byte // what the server sent since, to learn from

	mu    sync.Mutex
	taken bool
	down  error // why reading failed
}

type stage uint8

const (
	stageHello stage = iota // go-mssqldb writes its PRELOGIN
	stageReply              // it reads the answer
	stageLogin              // it logs in
)

// maxLoginAnswer bounds what is kept of the answers to a login.
const maxLoginAnswer = 1 << 20

// NewLogin makes raw, a connection to a server, one to log in over.
func NewLogin(raw net.Conn, o LoginOptions) *Login { return &Login{raw: raw, opt: o} }

// Write takes what go-mssqldb sends.
func (l *Login) Write(b []byte) (int, error) {
	if l.isTaken() {
		return 0, net.ErrClosed
	}
	switch l.state {
	case stageHello:
		return l.writeHello(b)
	case stageReply:
		return 0, errors.New("a login cannot begin before the answer to its PRELOGIN")
	}
	if l.tls == nil {
		return l.raw.Write(b)
	}
	n, err := l.tls.Write(b)
	if l.first {
		// Encryption of the login alone ends with its first packet, as go-mssqldb has it.
		l.first, l.tls = false, nil
	}
	return n, err
}

// writeHello gathers go-mssqldb's PRELOGIN and sends it with our wish for
// encryption in it.
func (l *Login) writeHello(b []byte) (int, error) {
	l.hello = append(l.hello, b...)
	if len(l.hello) < tds.HeaderSize {
		return len(b), nil
	}
	h, err := tds.ParseHeader(l.hello)
	if err != nil {
		return 0, err
	}
	if h.Type != tds.PacketPrelogin || h.Status&tds.StatusEOM == 0 || len(l.hello) > h.Length {
		return 0, errors.New("a login must begin with a PRELOGIN of one packet")
	}
	if len(l.hello) < h.Length {
		return len(b), nil
	}
	if !tds.SetPreloginEncryption(l.hello[tds.HeaderSize:], l.opt.Encrypt) {
		return 0, errors.New("the PRELOGIN says nothing of encryption")
	}
	l.state = stageReply
	if _, err := l.raw.Write(l.hello); err != nil {
		return 0, err
	}
	l.hello = nil
	return len(b), nil
}

// Read gives go-mssqldb what the server sends.
func (l *Login) Read(b []byte) (int, error) {
	if l.isTaken() {
		return 0, net.ErrClosed
	}
	if l.state == stageHello {
		return 0, errors.New("a login must begin with a PRELOGIN")
	}
	if l.state == stageReply {
		if l.err == nil {
			l.err = l.negotiate()
		}
		if l.err != nil {
			return 0, l.failed(l.err)
		}
		l.state = stageLogin
	}
	if len(l.reply) > 0 {
		n := copy(b, l.reply)
		if l.reply = l.reply[n:]; len(l.reply) == 0 {
			l.reply = nil
		}
		return n, nil
	}
	var src io.Reader = l.raw
	if l.tls != nil {
		src = l.tls
	}
	n, err := src.Read(b)
	l.log = append(l.log, b[:n]...)
	if err == nil && len(l.log) > maxLoginAnswer {
		err = protocol("an answer of more than %d bytes to a login", maxLoginAnswer)
	}
	if err != nil {
		return n, l.failed(err)
	}
	return n, nil
}

// negotiate reads the server's PRELOGIN and does the handshake, if there is one.
func (l *Login) negotiate() error {
	packet := make([]byte, tds.HeaderSize)
	if n, err := io.ReadFull(l.raw, packet); err != nil {
		if n > 0 && packet[0] != byte(tds.PacketResponse) {
			return &NotServerError{Sent: packet[:n]}
		}
		return err
	}
	h, err := tds.ParseHeader(packet)
	if err != nil || h.Type != tds.PacketResponse || h.Status&tds.StatusEOM == 0 || h.Length > tds.DefaultPacketSize {
		return &NotServerError{Sent: packet}
	}
	packet = append(packet, make([]byte, h.Length-tds.HeaderSize)...)
	if _, err := io.ReadFull(l.raw, packet[tds.HeaderSize:]); err != nil {
		return err
	}
	if l.opt.Answer != nil {
		if err := l.opt.Answer(l.raw, packet); err != nil {
			return err
		}
	}
	p, err := tds.ParsePrelogin(packet[tds.HeaderSize:])
	if err != nil {
		return err
	}
	encrypted, err := l.agree(p.Encryption)
	if err != nil {
		return err
	}
	if !tds.SetPreloginEncryption(packet[tds.HeaderSize:], tds.EncryptNotSupported) {
		return errors.New("the server's PRELOGIN says nothing of encryption")
	}
	l.reply = packet
	if !encrypted {
		return nil
	}
	return l.handshake(p.Encryption == tds.EncryptOff)
}

// agree says whether the server's answer means TLS.
func (l *Login) agree(answer tds.Encryption) (bool, error) {
	asked := l.opt.Encrypt
	switch {
	case answer == tds.EncryptNotSupported && asked != tds.EncryptOn:
		return false, nil
	case answer == tds.EncryptNotSupported || answer == tds.EncryptOff && asked == tds.EncryptOn:
		return false, errors.New("the server does not support encryption")
	case answer == tds.EncryptOff && asked == tds.EncryptOff, answer == tds.EncryptOn, answer == tds.EncryptRequired:
		return true, nil
	}
	return false, fmt.Errorf("the server answers %d when asked for encryption %d", answer, asked)
}

func (l *Login) handshake(first bool) error {
	cfg := l.opt.TLS
	if cfg == nil {
		return errors.New("there is no TLS configuration")
	}
	if first && (cfg.MaxVersion == 0 || cfg.MaxVersion > tls.VersionTLS12) {
		// TLS 1.3 sends more after the handshake, which would lie between clear packets.
		cfg = cfg.Clone()
		cfg.MaxVersion = tls.VersionTLS12
	}
	wrap := tds.NewHandshakeConn(l.raw)
	t := tls.Client(wrap, cfg)
	if err := t.Handshake(); err != nil {
		return fmt.Errorf("TLS Handshake failed: %w", err)
	}
	if err := wrap.Done(); err != nil {
		return fmt.Errorf("TLS Handshake failed: %w", err)
	}
	l.tls, l.first = t, first
	return nil
}

// failed remembers why reading failed.
func (l *Login) failed(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down == nil {
		l.down = err
	}
	return err
}

// Failure is why reading from the server failed; nil if it did not.
func (l *Login) Failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.down
}

func (l *Login) isTaken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken
}

// ConnectionState is TLS's, which channel binding needs; false without TLS.
func (l *Login) ConnectionState() (tls.ConnectionState, bool) {
	if l.tls == nil {
		return tls.ConnectionState{}, false
	}
	return l.tls.ConnectionState(), true
}

// LoginFacts are what the server said when it let the client in.
type LoginFacts struct {
	Ack        tds.LoginAck
	Database   string
	PacketSize int // bytes
}

// Take gives the connection away, after go-mssqldb has logged in. From then on
// go-mssqldb's own reads and writes fail, and its Close, which gives its buffers
// back, leaves the connection open.
func (l *Login) Take() (*Conn, LoginFacts, error) {
	f, err := readLogin(l.log)
	if err != nil {
		return nil, f, err
	}
	if l.state != stageLogin || len(l.reply) > 0 {
		return nil, f, errors.New("the login is not over")
	}
	if !f.Ack.Version.Has72() {
		return nil, f, fmt.Errorf("the server speaks TDS %s, and 7.2 is needed", f.Ack.Version)
	}
	l.mu.Lock()
	if l.taken {
		l.mu.Unlock()
		return nil, f, errors.New("the connection was taken already")
	}
	l.taken = true
	l.mu.Unlock()
	l.log = nil
	if err := l.raw.SetDeadline(time.Time{}); err != nil {
		return nil, f, err
	}
	var nc net.Conn = l.raw
	if l.tls != nil {
		nc = l.tls
	}
	return newConn(nc, l.raw, f.PacketSize, f.Database), f, nil
}

// readLogin reads the answers to a login: one message, or several when the login
// took more than one step.
func readLogin(log []byte) (LoginFacts, error) {
	f := LoginFacts{PacketSize: tds.DefaultPacketSize}
	var body []byte
	open := false
	for len(log) > 0 {
		h, err := tds.ParseHeader(log)
		if err != nil || h.Length > len(log) || h.Type != tds.PacketResponse {
			return f, protocol("the answer to the login")
		}
		body = append(body, log[tds.HeaderSize:h.Length]...)
		log = log[h.Length:]
		open = h.Status&tds.StatusEOM == 0
	}
	if open {
		return f, errors.New("the login is not over")
	}
	r, d, seen := tds.TokenReader{Version: tds.V74}, tds.NewDecoder(body), false
	var t tds.Token
	for d.Len() > 0 {
		if err := r.Next(d, &t); err != nil {
			return f, err
		}
		switch {
		case t.ID == tds.TokenLoginAck:
			f.Ack, seen = t.Ack, true
		case t.ID == tds.TokenEnvChange && t.Env.Type == tds.EnvDatabase:
			f.Database = t.Env.New
		case t.ID == tds.TokenEnvChange && t.Env.Type == tds.EnvPacketSize:
			n, err := strconv.Atoi(t.Env.New)
			if err != nil || n < tds.MinPacketSize || n > tds.MaxPacketSize+1 {
				return f, protocol("a packet size of %q", t.Env.New)
			}
			f.PacketSize = n
		case t.ID == tds.TokenEnvChange && t.Env.Type == tds.EnvRouting:
			return f, errors.New("the server sends the client to another one")
		}
	}
	if !seen {
		return f, errors.New("the server did not acknowledge the login")
	}
	return f, nil
}

// Close ends the connection, unless it was taken.
func (l *Login) Close() error {
	if l.isTaken() {
		return nil
	}
	return l.raw.Close()
}

// LocalAddr is the socket's.
func (l *Login) LocalAddr() net.Addr { return l.raw.LocalAddr() }

// RemoteAddr is the socket's.
func (l *Login) RemoteAddr() net.Addr { return l.raw.RemoteAddr() }

// SetDeadline is the socket's, until the connection is taken.
func (l *Login) SetDeadline(t time.Time) error {
	if l.isTaken() {
		return nil
	}
	return l.raw.SetDeadline(t)
}

// SetReadDeadline is the socket's, until the connection is taken.
func (l *Login) SetReadDeadline(t time.Time) error {
	if l.isTaken() {
		return nil
	}
	return l.raw.SetReadDeadline(t)
}

// SetWriteDeadline is the socket's, until the connection is taken.
func (l *Login) SetWriteDeadline(t time.Time) error {
	if l.isTaken() {
		return nil
	}
	return l.raw.SetWriteDeadline(t)
}

// NotServerError is an answer that no SQL Server gives.
type NotServerError struct{ Sent []byte }

func (e *NotServerError) Error() string {
	return fmt.Sprintf("what answers is not a SQL Server: it sent %q", e.Sent)
}
