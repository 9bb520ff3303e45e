package target

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"runtime"
	"strings"
	"sync"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"

	"gostress/pkg/driver"
)

// Encrypt says how much of a connection is encrypted.
type Encrypt string

// The kinds of encryption.
const (
	EncryptMandatory Encrypt = "mandatory" // all of it, or no connection (the default)
	EncryptOptional  Encrypt = "optional"  // the login packet; all of it if the server insists (-T146)
	EncryptStrict    Encrypt = "strict"    // TDS 8: TLS first
	EncryptDisable   Encrypt = "disable"   // nothing, the password included
)

// ParseEncrypt reads the spellings that connection strings know.
func ParseEncrypt(s string) (Encrypt, error) {
	switch strings.ToLower(s) {
	case "", "mandatory", "yes", "true", "1":
		return EncryptMandatory, nil
	case "optional", "no", "false", "0":
		return EncryptOptional, nil
	case "strict":
		return EncryptStrict, nil
	case "disable":
		return EncryptDisable, nil
	}
	return "", fmt.Errorf("encryption %q is not known: write mandatory, optional, strict or disable", s)
}

// Options say where to connect, as whom, and how.
type Options struct {
	Server   string // the value of -S
	Database string // "" for the login's default

	User     string // a SQL Server login; "" for integrated authentication
	Password string

	Encrypt                Encrypt // "" is EncryptMandatory
	TrustServerCertificate bool
	CAFile                 string // PEM file of the authority that signed the server's certificate
	HostNameInCertificate  string
	TLSMin                 string // "1.0" to "1.3"; "" is Go's default
	AllowCleartextLogin    bool   // a password may leave this machine unencrypted

	AppName             string
	ReadOnlyIntent      bool
	ServerSPN           string
	MultiSubnetFailover bool
	PacketSize          int // bytes, 512 to 32767; 0 is the server's default
	// SSMS sets the session options of Management Studio (ARITHABORT ON) in
	// place of ODBC's.
	SSMS bool

	// Env reads the environment; nil is os.Getenv.
	Env func(string) string
	// Note takes a line for the user, each line once; it may be nil.
	Note func(string)
}

// Target opens sessions on one server. It is safe for concurrent use.
type Target struct {
	opt    Options
	server Server
	auth   auth
	notes  *notes
}

// New checks o; it sends nothing. Its errors are meant for the user.
func New(o Options) (*Target, error) {
	srv, err := ParseServer(o.Server)
	if err != nil {
		return nil, err
	}
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if o.Encrypt == "" {
		o.Encrypt = EncryptMandatory
	}
	if o.PacketSize != 0 && (o.PacketSize < 512 || o.PacketSize > 32767) {
		return nil, fmt.Errorf("packet size %d: it must be from 512 to 32767 bytes", o.PacketSize)
	}
	if o.ReadOnlyIntent && o.Database == "" {
		return nil, errors.New("a read-only application intent needs a database (-d): the listener routes by it")
	}
	if _, err := tlsConfig(o, srv); err != nil {
		return nil, err
	}
	t := &Target{opt: o, server: srv, notes: &notes{to: o.Note}}
	t.auth, err = chooseAuth(o, srv)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// WithDatabase is the same target, with another database.
func (t *Target) WithDatabase(db string) *Target {
	u := *t
	u.opt.Database = db
	return &u
}

// Server is the address.
func (t *Target) Server() Server { return t.server }

// Login says as whom the target logs in.
func (t *Target) Login() string { return t.auth.login }

// Connect dials, logs in and sets the session's options. ctx bounds all of it.
// The error is a *driver.LoginError when the server refused the login, else a
// *driver.ConnectError.
func (t *Target) Connect(ctx context.Context) (driver.Session, error) {
	s, dialed, err := t.open(ctx, t.opt.Encrypt)
	if err != nil && dialed.notSup.Load() && dialed.cause() == nil && t.opt.Encrypt == EncryptMandatory {
		// The server has no TLS. The dialed connection has already refused to go
		// on where that would show a password to the network.
		t.notes.say(fmt.Sprintf("%s does not support encryption: the connection is in clear", t.server))
		s, dialed, err = t.open(ctx, EncryptDisable)
	}
	if err == nil {
		return s, nil
	}
	return nil, t.explain(ctx, dialed, err)
}

func (t *Target) open(ctx context.Context, enc Encrypt) (driver.Session, *dialer, error) {
	d := &dialer{target: t, password: t.auth.password, mayClear: t.opt.AllowCleartextLogin,
		strict: enc == EncryptStrict, enc: enc}
	cfg, err := t.config(enc)
	if err != nil {
		return nil, d, err
	}
	verified := cfg.TLSConfig
	cfg.TLSConfig.VerifyConnection = func(cs tls.ConnectionState) error { return d.verify(cs, verified) }
	useLogger()
	c := mssql.NewConnectorConfig(cfg)
	c.Dialer = d
	// go-mssqldb's handshake takes no context: closing the socket ends it.
	stop := context.AfterFunc(ctx, d.close)
	raw, err := c.Connect(ctx)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		d.close()
		return nil, d, err
	}
	conn, ok := raw.(*mssql.Conn)
	if !ok {
		d.close()
		return nil, d, fmt.Errorf("the driver returned a %T", raw)
	}
	s := newSession(conn, d.conn)
	if t.opt.SSMS {
		if out, err := s.Do(ctx, &driver.Request{Text: "SET ARITHABORT ON\n"}, nil); err != nil || len(out.Errors) > 0 {
			_ = s.Close()
			if err == nil {
				err = out.Errors[0]
			}
			return nil, d, fmt.Errorf("cannot set the session's options: %w", err)
		}
	}
	return s, d, nil
}

func (t *Target) config(enc Encrypt) (msdsn.Config, error) {
	tc, err := tlsConfig(t.opt, t.server)
	if err != nil {
		return msdsn.Config{}, err
	}
	host, _ := os.Hostname()
	cfg := msdsn.Config{
		Host:                   t.server.Host,
		Port:                   uint64(t.server.Port),
		Database:               t.opt.Database,
		User:                   t.auth.user,
		Password:               t.auth.password,
		ServerSPN:              t.opt.ServerSPN,
		Workstation:            host,
		AppName:                t.opt.AppName,
		ReadOnlyIntent:         t.opt.ReadOnlyIntent,
		MultiSubnetFailover:    t.opt.MultiSubnetFailover,
		KeepAlive:              30 * time.Second,
		DialTimeout:            -1, // ctx bounds the dial
		PacketSize:             uint16(t.opt.PacketSize),
		DisableRetry:           true,
		Protocols:              []string{"tcp"},
		Parameters:             t.auth.parameters,
		ProtocolParameters:     map[string]any{},
		BrowserMessage:         msdsn.BrowserDefault,
		Encoding:               msdsn.EncodeParameters{Timezone: time.UTC},
		LogFlags:               msdsn.LogTransaction, // tells which sessions have a transaction open
		TrustServerCertificate: t.opt.TrustServerCertificate,
		TLSConfig:              tc,
	}
	if t.server.Port == 0 {
		cfg.Instance = t.server.Instance
	}
	if cfg.AppName == "" {
		cfg.AppName = "gostress"
	}
	cfg.HostInCertificateProvided = t.opt.HostNameInCertificate != ""
	switch enc {
	case EncryptMandatory:
		cfg.Encryption = msdsn.EncryptionRequired
	case EncryptOptional:
		cfg.Encryption = msdsn.EncryptionOff
	case EncryptStrict:
		cfg.Encryption = msdsn.EncryptionStrict
	case EncryptDisable:
		cfg.Encryption = msdsn.EncryptionDisabled
	}
	return cfg, nil
}

// explain turns what go-mssqldb says into what a DBA can act on.
func (t *Target) explain(ctx context.Context, d *dialer, err error) error {
	var me mssql.Error
	if errors.As(err, &me) {
		return &driver.LoginError{Number: me.Number, State: me.State, Class: me.Class, Server: t.server.String(),
			Login: t.auth.login, Message: loginText(me, t.auth)}
	}
	cause := err
	if own := d.cause(); own != nil {
		cause = own
	} else if ctx.Err() != nil {
		cause = ctx.Err()
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) || errors.Is(cause, context.DeadlineExceeded) {
			what := "the login did not end in time (-l)"
			if !d.dialed() {
				what = "nothing answered in time (-l)"
			}
			cause = &timeoutError{what}
		}
	} else if t.server.Instance != "" && t.server.Port == 0 && !d.dialed() {
		cause = fmt.Errorf("%w; SQL Server Browser tells an instance's port on UDP 1434, or write host,port", err)
	} else if isTLS(err) {
		cause = fmt.Errorf("%w; %s", err, trustHint)
	}
	return &driver.ConnectError{Server: t.server.String(), Err: cause}
}

// loginText is the server's own words, with what to do about them.
func loginText(e mssql.Error, a auth) string {
	text := strings.TrimPrefix(e.Message, "login error: ")
	for _, f := range e.All {
		// A database that is not there answers 4060 first and 18456 last.
		if f.Number == 4060 {
			text = f.Message + " " + text
		}
	}
	if a.integrated && (e.Number == 18452 || e.Number == 18456) {
		text += " (" + a.hint + ")"
	}
	return text
}

type timeoutError struct{ text string }

func (e *timeoutError) Error() string { return e.text }
func (e *timeoutError) Timeout() bool { return true }

// notes says each line once.
type notes struct {
	to   func(string)
	mu   sync.Mutex
	seen map[string]bool
}

func (n *notes) say(text string) {
	if n.to == nil {
		return
	}
	n.mu.Lock()
	seen := n.seen[text]
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	n.seen[text] = true
	n.mu.Unlock()
	if !seen {
		n.to(text)
	}
}

// auth is how a login proves itself.
type auth struct {
	integrated     bool
	user, password string
	login          string // for messages
	parameters     map[string]string
	hint           string // what to do when the server refuses it
}

func chooseAuth(o Options, srv Server) (auth, error) {
	if o.User != "" {
		a := auth{user: o.User, password: o.Password, login: o.User, parameters: map[string]string{}}
		if strings.Contains(o.User, `\`) {
			a.parameters["authenticator"] = "ntlm"
		}
		return a, nil
	}
	a := auth{integrated: true, parameters: map[string]string{}}
	if runtime.GOOS == "windows" {
		a.login = osUser()
		a.parameters["authenticator"] = "winsspi"
		a.hint = "the login was tried as the current Windows user; -U and -P log in as a SQL Server login"
		return a, nil
	}
	if k, ok := kerberos(o.Env); ok {
		a.login, a.user, a.parameters = k.login, k.user, k.parameters
		a.hint = "the login was tried with the Kerberos ticket of " + k.login + "; klist shows it, -U and -P log in as a SQL Server login"
		return a, nil
	}
	const what = "get a Kerberos ticket with kinit, or log in with -U and -P"
	if !srv.Loopback() {
		return auth{}, fmt.Errorf("-E: there is no Kerberos ticket or keytab to log in to %s with; %s", srv, what)
	}
	host, _ := os.Hostname()
	if host == "" {
		host = "localhost"
	}
	a.login = osUser()
	a.user = host + `\` + a.login
	a.parameters["authenticator"] = "ntlm"
	a.hint = "without a Kerberos ticket the login was tried as the user " + a.login + " of this machine; " + what
	return a, nil
}

func osUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	for _, k := range []string{"USER", "USERNAME"} {
		if v := os.Getenv(k); v != "" {
			return v
		}
	}
	return "nobody"
}

func remoteLoopback(c net.Conn) bool {
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}

func isTLS(err error) bool {
	var ce *tls.CertificateVerificationError
	return errors.As(err, &ce) || strings.Contains(err.Error(), "TLS Handshake failed")
}
