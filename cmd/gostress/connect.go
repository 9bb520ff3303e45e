package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"gostress/pkg/driver"
	"gostress/pkg/odbcini"
	"gostress/pkg/ostress"
	"gostress/pkg/target"
)

// connectFlags say where to connect; commands that connect embed them.
type connectFlags struct {
	Server     string  `short:"S" help:"Server: . | host | host,port | host\\instance (default .)."`
	DataSource string  `short:"D" help:"ODBC data source that says what the switches do not."`
	Integrated bool    `short:"E" help:"Integrated authentication (the default without -U)."`
	User       string  `short:"U" help:"SQL Server login."`
	Password   *string `short:"P" help:"Its password; else SQLCMDPASSWORD, else asked for."`
	Database   string  `short:"d" help:"Database."`

	LoginTimeout string `short:"l" help:"Seconds a login may take, 0 = none (default 15)."`
	PacketSize   string `short:"p" help:"Packet size in bytes, 512 to 32767."`

	Encrypt                string `env:"GOSTRESS_ENCRYPT" help:"mandatory, optional, strict or disable."`
	TrustServerCertificate bool   `env:"GOSTRESS_TRUST_SERVER_CERTIFICATE" help:"Do not check the server's certificate."`
	CAFile                 string `name:"ca-file" env:"GOSTRESS_CA_FILE" help:"Authority of the server's certificate, PEM."`
	HostNameInCertificate  string `help:"Name that the server's certificate must have."`
	TLSMin                 string `name:"tls-min" help:"Oldest TLS version to speak: 1.0 to 1.3."`
	AllowCleartextLogin    bool   `help:"A password may cross the network unencrypted."`
	Wire                   string `help:"Who sends requests: auto, tds (gostress itself) or go-mssqldb."`
	Session                string `default:"odbc" help:"Whose SET options a session has: odbc or ssms."`
	Language               string `help:"Language of the sessions, as SET LANGUAGE takes it."`
	AppName                string `help:"Name the sessions carry (program_name)."`
	ApplicationIntent      string `help:"readonly: the database may be a readable secondary."`
	ServerSPN              string `name:"server-spn" help:"The server's Kerberos service principal name."`
	ExtendedProtection     bool   `help:"Bind an integrated or NTLM login to its TLS channel, for servers that demand it."`
	MultiSubnetFailover    bool   `help:"Dial all addresses of the server's name at once."`

	runID  string
	tune   func(*target.Options) // what the switches do not say; may be nil
	source *odbcini.Source       // -D, once it was found
}

// connector is what a target is to the commands.
type connector interface {
	Connect(ctx context.Context) (driver.Session, error)
}

// check finds what is wrong with the switches before anything is sent.
func (c *connectFlags) check() error {
	bad := func(format string, args ...any) error { return &ostress.ArgError{Text: fmt.Sprintf(format, args...)} }
	sourced := c.DataSource != "" && c.source == nil // -D is yet to say the rest
	if c.User == "" && c.Password != nil && !sourced {
		return bad("-P needs -U")
	}
	if _, err := target.ParseEncrypt(c.Encrypt); err != nil {
		return bad("--encrypt: %v", err)
	}
	if w, err := target.ParseWire(c.Wire); err != nil {
		return bad("--wire: %v", err)
	} else if enc, _ := target.ParseEncrypt(c.Encrypt); w == target.WireTDS && enc == target.EncryptStrict {
		return bad("--wire=tds cannot be with --encrypt=strict, which go-mssqldb alone speaks")
	}
	if c.Session != "odbc" && c.Session != "ssms" {
		return bad("--session=%s: write odbc or ssms", c.Session)
	}
	switch c.ApplicationIntent {
	case "", "readwrite":
	case "readonly":
		if c.Database == "" && !sourced {
			return bad("--application-intent=readonly needs a database (-d): the listener routes by it")
		}
	default:
		return bad("--application-intent=%s: write readonly or readwrite", c.ApplicationIntent)
	}
	if err := target.CheckTLSMin(c.TLSMin); err != nil {
		return bad("--tls-min: %v", err)
	}
	if c.PacketSize != "" {
		// The value is not shown: a password typed with -p for -P stands there.
		if n, err := number("-p", c.PacketSize, 512); err != nil || n > 32767 {
			return bad("-p: the packet size is a number of bytes from 512 to 32767")
		}
	}
	if _, err := target.ParseServer(c.Server); err != nil {
		return bad("%v", err)
	}
	return nil
}

// target makes the target of checked flags. say takes its notes.
func (c *connectFlags) target(a *app, say func(string)) (*target.Target, error) {
	if err := c.resolve(say); err != nil {
		return nil, err
	}
	enc, err := target.ParseEncrypt(c.Encrypt)
	if err != nil {
		return nil, err
	}
	o := target.Options{
		Server: c.Server, Database: c.Database, User: c.User,
		Encrypt: enc, TrustServerCertificate: c.TrustServerCertificate, CAFile: c.CAFile,
		HostNameInCertificate: c.HostNameInCertificate, TLSMin: c.TLSMin, AllowCleartextLogin: c.AllowCleartextLogin,
		AppName: c.appName(), ReadOnlyIntent: c.ApplicationIntent == "readonly", ServerSPN: c.ServerSPN, ExtendedProtection: c.ExtendedProtection,
		MultiSubnetFailover: c.MultiSubnetFailover, SSMS: c.Session == "ssms", Language: c.Language, Wire: target.Wire(c.Wire), Note: say,
	}
	if c.source != nil {
		o.QuotedIdentifierOff = c.source.QuotedIdentifierOff
	}
	if c.tune != nil {
		c.tune(&o)
	}
	if c.PacketSize != "" {
		n, err := number("-p", c.PacketSize, 512)
		if err != nil {
			return nil, err
		}
		o.PacketSize = int(n)
	}
	if c.User != "" {
		switch env, has := os.LookupEnv("SQLCMDPASSWORD"); {
		case c.Password != nil:
			o.Password = *c.Password
		case c.source != nil && c.source.Password != nil && strings.EqualFold(c.User, c.source.User):
			o.Password = *c.source.Password
		case has:
			o.Password = env
		default:
			if o.Password, err = askPassword(a.stdin, a.stderr, c.User); err != nil {
				return nil, err
			}
			c.Password = &o.Password // asked for once
		}
	}
	return target.New(o)
}

// appName is the program_name of the sessions.
func (c *connectFlags) appName() string {
	if c.AppName != "" {
		return c.AppName
	}
	return strings.TrimSpace("gostress/" + version + " " + c.runID)
}

func (c *connectFlags) timeout() time.Duration {
	d, err := timeLimit("-l", c.LoginTimeout, defaultLoginTimeout)
	if err != nil {
		return defaultLoginTimeout
	}
	return d
}

// first looks at the first session that logs in: how it is encrypted, who sends
// its requests, and whether the server has workers for all of the threads that are to come.
type first struct {
	inner      connector
	threads    int
	say        func(string)
	asked      atomic.Bool
	encryption atomic.Pointer[[2]string] // what of it, and with what
	wire       atomic.Pointer[string]
}

// fewWorkers is below the smallest max_workers_count of a 64-bit SQL Server, so
// that small runs send nothing of their own.
const fewWorkers = 256

func (f *first) Connect(ctx context.Context) (driver.Session, error) {
	s, err := f.inner.Connect(ctx)
	return f.look(ctx, s, err)
}

// look takes what a connector returned, and returns the same.
func (f *first) look(ctx context.Context, s driver.Session, err error) (driver.Session, error) {
	if err != nil || f.asked.Swap(true) {
		return s, err
	}
	if e, ok := s.(interface{ Encryption() (what, with string) }); ok {
		what, with := e.Encryption()
		f.encryption.Store(&[2]string{what, with})
	}
	if w, ok := s.(interface{ Wire() string }); ok {
		text := w.Wire()
		f.wire.Store(&text)
	}
	if f.threads <= fewWorkers {
		return s, nil
	}
	var row firstRow
	out, err := s.Do(ctx, &driver.Request{Text: "SELECT max_workers_count FROM sys.dm_os_sys_info;", Plain: true}, &row)
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	if len(out.Errors) == 0 && len(row.values) == 1 && int64(f.threads) > row.values[0] {
		f.say(fmt.Sprintf("%d threads are more than the %d workers of the server (sys.dm_os_sys_info.max_workers_count): requests will wait for one (THREADPOOL)", f.threads, row.values[0]))
	}
	return s, nil
}
