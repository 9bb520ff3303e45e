package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os/user"
	"strconv"
	"strings"
	"time"

	"gostress/internal/engine/exec"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/tds"
)

// The version that PRELOGIN and LOGINACK tell: that of @@VERSION's language level.
const (
	versionMajor = 16
	versionBuild = 4000
)

// maxLogin is the largest message of the login exchange in bytes.
const maxLogin = 128 << 10

// errRefused is a login that was answered with an error.
var errRefused = errors.New("login refused")

// login takes the connection from its first byte to the end of the login's
// answer. What it returns is for the log: the client has been told already.
func (c *conn) login() error {
	started := time.Now()
	_ = c.tcp.SetDeadline(started.Add(c.srv.opts.PreloginTimeout))
	c.rd.Max = maxLogin
	c.wr.SetPacketSize(tds.DefaultPacketSize)

	strict, err := c.firstByte()
	if err != nil {
		return err
	}
	if strict {
		if err := c.tlsFirst(); err != nil {
			return err
		}
	}
	answer, err := c.prelogin(strict)
	if err != nil {
		return err
	}
	_ = c.tcp.SetDeadline(started.Add(c.srv.opts.LoginTimeout))
	if !strict && answer.Encryption != tds.EncryptNotSupported {
		if err := c.handshake(); err != nil {
			return fmt.Errorf("TLS handshake: %w", err)
		}
	}
	m, err := c.next()
	if err != nil {
		return err
	}
	if !strict && answer.Encryption == tds.EncryptOff {
		c.nc = c.tcp // only the login packet was encrypted
	}
	if m.Type != tds.PacketLogin7 {
		return fmt.Errorf("a message of type 0x%02X instead of LOGIN7", byte(m.Type))
	}
	l, err := tds.ParseLogin7(m.Data)
	if err != nil {
		c.ver = tds.V74
		_ = c.fail(protocolError(err))
		return err
	}
	if c.ver, err = negotiate(l.Version, strict); err != nil {
		return err
	}
	if c.srv.opts.RequireEncryption && c.nc == c.tcp && !strict {
		return c.fail(sqlerr.New(18456, 14, 1, "Login failed for user '%s': this server takes encrypted connections only.", l.UserName))
	}
	encrypted := strict || c.nc != c.tcp
	name, scheme, err := c.authenticate(l)
	if err != nil {
		return err
	}
	return c.open(l, name, scheme, encrypted)
}

// firstByte tells TLS (TDS 8) from PRELOGIN.
func (c *conn) firstByte() (strict bool, err error) {
	for c.rd.Buffered() == 0 {
		if err := c.rd.Fill(c.nc); err != nil {
			return false, err
		}
	}
	return c.rd.First() == 0x16, nil
}

func (c *conn) tlsFirst() error {
	p := &prefixed{Conn: c.tcp, head: c.rd.TakeBuffered()}
	t := tls.Server(p, c.srv.strict)
	if err := t.Handshake(); err != nil {
		return fmt.Errorf("TLS handshake (strict): %w", err)
	}
	c.nc = t
	return nil
}

func (c *conn) prelogin(strict bool) (answer tds.Prelogin, err error) {
	m, err := c.next()
	if err != nil {
		return answer, err
	}
	if m.Type != tds.PacketPrelogin {
		return answer, fmt.Errorf("a message of type 0x%02X instead of PRELOGIN", byte(m.Type))
	}
	asked, err := tds.ParsePrelogin(m.Data)
	if err != nil {
		return answer, err
	}
	answer.Version = [6]byte{versionMajor, 0, versionBuild >> 8, versionBuild & 0xFF, 1, 0}
	switch {
	case strict:
		answer.Encryption = tds.EncryptNotSupported // nothing to add to the TLS that is there
	case asked.Encryption == tds.EncryptOn || asked.Encryption == tds.EncryptRequired:
		answer.Encryption = tds.EncryptOn
	case c.srv.opts.RequireEncryption:
		answer.Encryption = tds.EncryptRequired
	case asked.Encryption == tds.EncryptNotSupported:
		answer.Encryption = tds.EncryptNotSupported
	default:
		answer.Encryption = tds.EncryptOff
	}
	c.begin()
	c.wr.Buf = answer.AppendResponse(c.wr.Buf, asked.FedAuth)
	return answer, c.wr.End()
}

// handshake runs TLS inside PRELOGIN packets; afterwards nc is the TLS stream.
func (c *conn) handshake() error {
	h := tds.NewHandshakeConn(&prefixed{Conn: c.tcp, head: c.rd.TakeBuffered()})
	t := tls.Server(h, c.srv.tls)
	if err := t.Handshake(); err != nil {
		_ = h.Done() // the alert
		return err
	}
	if err := h.Done(); err != nil {
		return err
	}
	c.nc = t
	return nil
}

// negotiate gives the version to speak for the one the client announced.
func negotiate(v tds.Version, strict bool) (tds.Version, error) {
	switch {
	case strict && v == tds.V80:
		return v, nil
	case v.AtLeast(tds.V74):
		return tds.V74, nil
	case v.AtLeast(tds.V73B):
		return tds.V73B, nil
	case v.Has73():
		return tds.V73A, nil
	case v.Has72():
		return tds.V72, nil
	case uint32(v)>>24 == 0x71: // clients do not agree on the rest of the number
		return tds.V71, nil
	}
	return 0, fmt.Errorf("TDS %s is too old", v)
}

// authenticate finds out who the client is, or answers that it is nobody.
func (c *conn) authenticate(l *tds.Login7) (name, scheme string, err error) {
	for _, f := range l.Features {
		if f.ID == tds.FeatureFedAuth {
			return "", "", c.fail(sqlerr.New(18456, 14, 1, "Login failed: federated authentication (Entra ID) is not supported by this engine."))
		}
	}
	switch {
	case l.Flags3&tds.OptionChangePassword != 0:
		return "", "", c.fail(sqlerr.Unsupported("change of password at login"), loginFailed(l.UserName))
	case l.AttachFile != "":
		return "", "", c.fail(sqlerr.Unsupported("AttachDBFilename"), loginFailed(l.UserName))
	case l.Flags2&tds.OptionSecurity != 0 || len(l.SSPI) > 0:
		name, err = c.trusted(l.SSPI)
		return name, "NTLM", err
	}
	host := hostOf(c.tcp.RemoteAddr())
	if c.srv.fails.busy(host) || !c.srv.checkPassword(l.UserName, l.Password) {
		return "", "", c.failSlowly(host, loginFailed(l.UserName))
	}
	return l.UserName, "SQL", nil
}

func loginFailed(user string) *sqlerr.Error {
	return sqlerr.New(18456, 14, 1, "Login failed for user '%s'.", user)
}

// failSlowly holds the answer back the longer, the more logins of this address failed.
func (c *conn) failSlowly(host string, e *sqlerr.Error) error {
	wait, done := c.srv.fails.add(host, time.Now())
	defer done()
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.srv.ctx.Done():
	}
	return c.fail(e)
}

// fail answers a login with errors.
func (c *conn) fail(errs ...*sqlerr.Error) error {
	c.begin()
	for _, e := range errs {
		if e.Server == "" {
			e.Server = c.srv.opts.ServerName
		}
		if e.Line == 0 {
			e.Line = 1
		}
		c.out.message(e)
	}
	c.out.finish(true)
	if err := c.wr.End(); err != nil {
		return err
	}
	return fmt.Errorf("%w: %w", errRefused, errs[len(errs)-1])
}

// open opens the session and answers the login.
func (c *conn) open(l *tds.Login7, name, scheme string, encrypted bool) error {
	size := tds.NegotiatePacketSize(int(min(l.PacketSize, tds.MaxPacketSize)))
	sess, err := c.srv.open(exec.SessionOptions{
		Login: name, Database: l.Database, App: l.AppName, Host: l.HostName, PID: int(l.ClientPID), Library: l.Library,
		Language: l.Language, Address: hostOf(c.tcp.RemoteAddr()), PacketSize: size, ODBC: l.Flags2&tds.OptionODBC != 0,
		Encrypted: encrypted, AuthScheme: scheme,
	})
	if err != nil {
		var e *sqlerr.Error
		if !errors.As(err, &e) {
			e = sqlerr.New(17809, 20, 1, "The session cannot be opened: %s.", err)
		}
		return c.fail(e, loginFailed(name))
	}
	c.sess = sess
	c.wr.SPID = uint16(sess.SPID())
	c.begin()
	w := &c.wr
	env := func(e tds.EnvChange) { w.Buf = tds.AppendEnvChange(w.Buf, &e) }
	info := func(number int32, text string) {
		e := sqlerr.New(number, 10, 1, "%s", text)
		e.Server, e.Line = c.srv.opts.ServerName, 1
		if number == 5701 {
			e.State = 2
		}
		c.out.message(e)
	}
	env(tds.EnvChange{Type: tds.EnvDatabase, New: sess.Database(), Old: "master"})
	info(5701, "Changed database context to '"+sess.Database()+"'.")
	env(tds.EnvChange{Type: tds.EnvCollation, NewBytes: tds.DefaultCollation[:]})
	env(tds.EnvChange{Type: tds.EnvLanguage, New: sess.Language()})
	info(5703, "Changed language setting to "+sess.Language()+".")
	ack := tds.LoginAck{Interface: 1, Version: c.ver, Program: "Microsoft SQL Server", Major: versionMajor, Build: versionBuild}
	w.Buf = tds.AppendLoginAck(w.Buf, &ack)
	env(tds.EnvChange{Type: tds.EnvPacketSize, New: strconv.Itoa(size), Old: strconv.Itoa(tds.DefaultPacketSize)})
	if l.Flags3&tds.OptionExtension != 0 {
		w.Buf = tds.AppendFeatureExtAck(w.Buf, nil)
	}
	c.out.finish(false)
	if err := w.End(); err != nil {
		return err
	}
	w.SetPacketSize(size)
	c.rd.Max = c.srv.opts.MaxRequest
	if err := c.tcp.SetDeadline(time.Time{}); err != nil {
		return err
	}
	if c.srv.ctx.Err() != nil {
		return context.Cause(c.srv.ctx)
	}
	c.mu.Lock()
	c.killed = sess.Killed()
	c.mu.Unlock()
	if c.nc == c.tcp {
		c.readRaw()
	}
	return nil
}

// trusted runs the NTLM exchange, which tells the name only: there is no
// password to check it against. What counts is the socket: it must come from
// this machine and, unless any user of it is trusted, from the server's own user.
func (c *conn) trusted(token []byte) (string, error) {
	var x ntlmExchange
	challenge, err := x.challenge(token, c.srv.opts.ServerName, time.Now())
	for err == nil && challenge != nil {
		c.begin()
		c.wr.Buf = tds.AppendSSPI(c.wr.Buf, challenge)
		if err := c.wr.End(); err != nil {
			return "", err
		}
		m, rerr := c.next()
		if rerr != nil {
			return "", rerr
		}
		if m.Type != tds.PacketSSPI {
			return "", fmt.Errorf("a message of type 0x%02X instead of SSPI data", byte(m.Type))
		}
		challenge, err = x.next(m.Data, c.srv.opts.ServerName, time.Now())
	}
	refused := func(why string) (string, error) {
		return "", c.failSlowly(hostOf(c.tcp.RemoteAddr()), sqlerr.New(18452, 14, 1, "Login failed. A trusted login %s.", why))
	}
	if errors.Is(err, errKerberos) {
		return refused(err.Error())
	}
	if err != nil {
		return refused("sent data that is neither NTLM nor SPNEGO with NTLM: " + err.Error())
	}
	if !isLoopback(c.tcp.RemoteAddr()) || !isLoopback(c.tcp.LocalAddr()) {
		return refused("is possible over loopback only; use a SQL login")
	}
	own, err := sameUser(c.tcp.RemoteAddr(), c.tcp.LocalAddr())
	if !c.srv.opts.TrustLocal {
		if err != nil {
			return refused("needs to be of the user who runs the server, and that cannot be told here (" + err.Error() + "); use a SQL login or --trust-local")
		}
		if !own {
			return refused("is possible only for the user who runs the server; use a SQL login or --trust-local")
		}
	}
	if own {
		if u, err := user.Current(); err == nil && u.Username != "" {
			x.user = u.Username[strings.LastIndexByte(u.Username, '\\')+1:]
		}
	}
	return x.name(c.srv.opts.ServerName), nil
}

func isLoopback(a net.Addr) bool {
	t, ok := a.(*net.TCPAddr)
	return ok && t.IP.IsLoopback()
}

// hostName is the machine's name as NTLM spells it: short, in capitals.
func hostName(s string) string {
	s, _, _ = strings.Cut(s, ".")
	if s == "" {
		s = "LOCALHOST"
	}
	return strings.ToUpper(s)
}
