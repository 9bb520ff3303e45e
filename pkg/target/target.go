package target

import (
	"cmp"
	"context"
	"crypto/tls"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"strconv"
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

// Wire says who sends the requests and reads the answers.
type Wire string

// The kinds of wire. go-mssqldb logs in on each of them.
const (
	WireAuto  Wire = "auto"       // WireTDS wherever it can be (the default)
	WireTDS   Wire = "tds"        // gostress itself; not for EncryptStrict
	WireMSSQL Wire = "go-mssqldb" // go-mssqldb
)

// ParseWire reads a wire's name.
func ParseWire(s string) (Wire, error) {
	switch w := Wire(s); w {
	case "":
		return WireAuto, nil
	case WireAuto, WireTDS, WireMSSQL:
		return w, nil
	}
	return "", fmt.Errorf("wire %q is not known: write auto, tds or go-mssqldb", s)
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

	AppName        string
	ReadOnlyIntent bool
	ServerSPN      string
	// ExtendedProtection binds an integrated or NTLM login to its TLS channel, for servers that
	// demand it.
	ExtendedProtection  bool
	MultiSubnetFailover bool
	// PacketSize is in bytes, 512 to 32767; 0 is 4096, which is also the least that
	// is used.
	PacketSize int
	// SSMS sets the session options of Management Studio (ARITHABORT ON) in
	// place of ODBC's.
	SSMS bool
	// ImplicitTransactions makes the session SET IMPLICIT_TRANSACTIONS ON.
	ImplicitTransactions bool
	// QuotedIdentifierOff makes it SET QUOTED_IDENTIFIER OFF.
	QuotedIdentifierOff bool
	// Language is that of the session, as SET LANGUAGE takes it; "" for the login's.
	Language string
	// Prepare makes text requests go out as sp_prepare once for each text, and
	// sp_execute each time.
	Prepare bool
	// Cursor makes text requests run through a server cursor.
	Cursor Cursor
	// FetchDelay is a pause behind each row that is read.
	FetchDelay time.Duration

	// Wire is who sends the requests; "" is WireAuto.
	Wire Wire

	// Env reads the environment; nil is os.Getenv.
	Env func(string) string
	// Note takes a line for the user, each line once; it may be nil.
	Note func(string)
}

const defaultAppName = "gostress"

// Target opens sessions on one server. It is safe for concurrent use.
type Target struct {
	opt    Options
	server Server
	auth   auth
	tls    *tls.Config
	notes  *notes
	shared *encodings // of the direct sessions
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
	if o.Wire, err = ParseWire(string(o.Wire)); err != nil {
		return nil, err
	}
	if o.Wire == WireTDS && o.Encrypt == EncryptStrict {
		return nil, errors.New("strict encryption goes through go-mssqldb alone: leave the wire at auto")
	}
	if err := checkLogin(o); err != nil {
		return nil, err
	}
	if o.ReadOnlyIntent && o.Database == "" {
		return nil, errors.New("a read-only application intent needs a database (-d): the listener routes by it")
	}
	if err := o.checkMode(); err != nil {
		return nil, err
	}
	tc, err := tlsConfig(o, srv)
	if err != nil {
		return nil, err
	}
	t := &Target{opt: o, server: srv, tls: tc, notes: &notes{to: o.Note}, shared: &encodings{}}
	if n := o.PacketSize; n != 0 && n < defaultPacketSize {
		// go-mssqldb takes no larger packet than it asked for, and servers use
		// packets of 4096 bytes until the login is over.
		t.notes.say(fmt.Sprintf("packet size %d: a login needs packets of %d bytes, so that is the size", n, defaultPacketSize))
		t.opt.PacketSize = defaultPacketSize
	}
	t.auth, err = chooseAuth(o, srv)
	if err != nil {
		return nil, err
	}
	if o.ExtendedProtection {
		if o.Encrypt == EncryptStrict {
			return nil, errors.New("--extended-protection does not go with strict encryption, which go-mssqldb binds no login to; use mandatory encryption")
		}
		if err := t.auth.bind(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// WithDatabase is the same target, with another database.
func (t *Target) WithDatabase(db string) *Target {
	u := *t
	u.opt.Database = db
	return &u
}

// Beside is the same target for a connection beside the load: what is added stands behind the name
// that the load's sessions carry (program_name), and none of the ways in which those run their
// requests is its own.
func (t *Target) Beside(added string) *Target {
	u := *t
	o := &u.opt
	name := []rune(cmp.Or(o.AppName, defaultAppName))
	added = " " + added
	o.AppName = string(name[:min(len(name), maxLoginName-len(added))]) + added
	o.SSMS, o.ImplicitTransactions, o.QuotedIdentifierOff, o.Language = false, false, false, ""
	o.Prepare, o.Cursor, o.FetchDelay = false, Cursor{}, 0
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
	if err != nil && dialed.hasNoTLS() && dialed.cause() == nil && t.opt.Encrypt == EncryptMandatory {
		// The dialer has refused already where that would show a password to the
		// network.
		s, dialed, err = t.open(ctx, EncryptDisable)
	}
	if err == nil {
		return s, nil
	}
	return nil, t.explain(ctx, dialed, err)
}

func (t *Target) open(ctx context.Context, enc Encrypt) (driver.Session, *dialer, error) {
	cfg := t.config(enc)
	d := &dialer{target: t, password: t.auth.password, mayClear: t.opt.AllowCleartextLogin,
		strict: enc == EncryptStrict, enc: enc}
	d.facts = facts{strict: d.strict, login: t.auth.login, how: t.auth.how, asked: int(cfg.PacketSize)}
	verified := cfg.TLSConfig
	cfg.TLSConfig.VerifyConnection = func(cs tls.ConnectionState) error { return d.verify(cs, verified) }
	if t.opt.Wire != WireMSSQL && !d.strict {
		// The connection ends TLS below go-mssqldb.
		d.direct, d.tls = true, cfg.TLSConfig
		cfg.Encryption = msdsn.EncryptionDisabled
		if t.opt.ExtendedProtection {
			cfg.Parameters = maps.Clone(cfg.Parameters)
			cfg.Parameters["authenticator"] = bound + cfg.Parameters["authenticator"]
			cfg.TLSConfig = &tls.Config{KeyLogWriter: channel{d.channel}}
		}
	}
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
	s, err := d.session(raw)
	if err != nil {
		d.close()
		return nil, d, err
	}
	settings := t.opt.settings()
	if len(settings) > 0 {
		if err := set(ctx, s, settings); err != nil {
			_ = s.Close()
			return nil, d, err
		}
	}
	return t.mode(s, settings), d, nil
}

// session makes a session of the connection that raw logged in.
func (d *dialer) session(raw sqldriver.Conn) (wired, error) {
	if d.direct {
		c, told, err := d.login.Take()
		if err != nil {
			return nil, err
		}
		// This gives go-mssqldb's buffers back, and leaves the connection open.
		if err := raw.Close(); err != nil {
			return nil, err
		}
		d.login = nil
		d.facts.ack = directAck(told)
		return newDirect(c, d.facts, d.target.shared), nil
	}
	c, ok := raw.(*mssql.Conn)
	if !ok {
		return nil, fmt.Errorf("the driver returned a %T", raw)
	}
	return newSession(c, d.conn, d.facts), nil
}

func (t *Target) config(enc Encrypt) msdsn.Config {
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
		EpaEnabled:             t.opt.ExtendedProtection,
		LogFlags:               logFlags,
		TrustServerCertificate: t.opt.TrustServerCertificate,
		TLSConfig:              t.tls.Clone(),
	}
	if t.server.Port == 0 {
		cfg.Instance = t.server.Instance
	}
	if cfg.AppName == "" {
		cfg.AppName = defaultAppName
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
	if cfg.PacketSize == 0 {
		cfg.PacketSize = defaultPacketSize
	}
	if cfg.ServerSPN == "" && net.ParseIP(cfg.Host) == nil {
		// go-mssqldb makes one only of names that it has looked up itself.
		service := cfg.Instance
		if service == "" {
			service = strconv.Itoa(t.server.Port)
		}
		cfg.ServerSPN = "MSSQLSvc/" + cfg.Host + ":" + service
	}
	return cfg
}

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

func remoteLoopback(c net.Conn) bool {
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}
