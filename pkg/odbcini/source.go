package odbcini

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"gostress/pkg/ini"
)

// Source is a data source: what it says of where to connect, and how. What it
// does not say is empty.
type Source struct {
	Name  string
	Place string // the file or registry key that has it

	Server   string // in the forms of -S
	Database string

	Trusted  bool // integrated authentication
	User     string
	Password *string

	Encrypt                string // mandatory, optional or strict
	TrustServerCertificate bool
	HostNameInCertificate  string
	ServerSPN              string
	ReadOnlyIntent         bool
	MultiSubnetFailover    bool

	AppName             string
	Language            string
	QuotedIdentifierOff bool
	PacketSize          string

	// Notes are lines on what the data source asks for and does not get.
	Notes []string
}

// source reads a section. Keys are those of Microsoft's driver and of FreeTDS, in
// any case; no message shows a value that could be a password.
func (p Places) source(place string, s ini.Section) (Source, error) {
	b := builder{Source: Source{Name: s.Name, Place: place}, places: p}
	seen := map[string]bool{}
	for _, e := range s.Entries {
		key := squeeze(e.Key)
		if seen[key] || e.Value == "" {
			continue // the first of a name holds
		}
		seen[key] = true
		if err := b.take(key, e); err != nil {
			return Source{}, fmt.Errorf("-D%s: %s: %w", s.Name, b.at(e), err)
		}
	}
	if err := b.finish(); err != nil {
		return Source{}, fmt.Errorf("-D%s: %s: %w", s.Name, place, err)
	}
	return b.Source, nil
}

// squeeze makes one spelling of "Trusted_Connection", "TrustedConnection" and
// "trusted connection".
func squeeze(key string) string {
	return strings.NewReplacer("_", "", " ", "", "-", "").Replace(strings.ToLower(key))
}

// builder is a source in the making.
type builder struct {
	Source
	places     Places
	port       string
	address    string
	servername string // FreeTDS's: a section of freetds.conf
	lastUser   string // what the Windows dialog keeps
}

func (b *builder) at(e ini.Entry) string {
	if e.Line == 0 {
		return b.Place
	}
	return fmt.Sprintf("%s, line %d", b.Place, e.Line)
}

func (b *builder) take(key string, e ini.Entry) error {
	v := e.Value
	onOff := func(p *bool) error {
		on, ok := ini.Switch(v)
		if !ok {
			return fmt.Errorf("%s: write Yes or No", e.Key)
		}
		*p = on
		return nil
	}
	switch key {
	case "server":
		b.Server = v
	case "address", "addr", "networkaddress":
		b.address = v
	case "servername":
		b.servername = v
	case "port":
		if n, err := strconv.Atoi(v); err != nil || n < 1 || n > 65535 {
			return fmt.Errorf("%s: a port is a number from 1 to 65535", e.Key)
		}
		b.port = v
	case "database":
		b.Database = v
	case "uid", "user", "username":
		b.User = v
	case "lastuser":
		b.lastUser = v
	case "pwd", "password":
		b.Password = &v
	case "trustedconnection":
		return onOff(&b.Trusted)
	case "encrypt":
		enc, ok := map[string]string{"yes": "mandatory", "true": "mandatory", "1": "mandatory", "mandatory": "mandatory",
			"no": "optional", "false": "optional", "0": "optional", "optional": "optional", "strict": "strict"}[strings.ToLower(v)]
		if !ok {
			return fmt.Errorf("%s: write yes, no, mandatory, optional or strict", e.Key)
		}
		b.Encrypt = enc
	case "encryption":
		enc, err := freeTDSEncryption(v)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Key, err)
		}
		b.Encrypt = enc
	case "trustservercertificate":
		return onOff(&b.TrustServerCertificate)
	case "hostnameincertificate":
		b.HostNameInCertificate = v
	case "serverspn":
		b.ServerSPN = v
	case "applicationintent":
		switch strings.ToLower(v) {
		case "readonly":
			b.ReadOnlyIntent = true
		case "readwrite":
		default:
			return fmt.Errorf("%s: write ReadOnly or ReadWrite", e.Key)
		}
	case "multisubnetfailover":
		return onOff(&b.MultiSubnetFailover)
	case "app":
		b.AppName = v
	case "language":
		b.Language = v
	case "quotedid":
		on := true
		err := onOff(&on)
		b.QuotedIdentifierOff = !on
		return err
	case "packetsize":
		b.PacketSize = v
	case "authentication":
		switch strings.ToLower(v) {
		case "sqlpassword":
		case "activedirectoryintegrated", "activedirectorypassword", "activedirectoryinteractive", "activedirectorymsi", "activedirectoryserviceprincipal":
			return fmt.Errorf("%s: Microsoft Entra authentication is not supported", e.Key)
		default:
			return fmt.Errorf("%s: it is not known", e.Key)
		}
	case "network", "net", "protocol":
		if n := strings.ToLower(v); n != "dbmssocn" && n != "tcp" && n != "tcpip" {
			b.note(e, "connections are made by TCP alone")
		}
	default:
		if !harmless(key) {
			b.note(e, "it has no effect here")
		}
	}
	return nil
}

func (b *builder) note(e ini.Entry, text string) {
	b.Notes = append(b.Notes, fmt.Sprintf("data source %s: %s: %s: %s", b.Name, b.at(e), e.Key, text))
}

// harmless are the keys that change nothing of what is measured: names of the
// driver, its logs, and what an ODBC client does with data.
func harmless(key string) bool {
	switch key {
	case "description", "driver", "driver32", "driver64", "setup", "fileusage", "usagecount", "trace", "tracefile",
		"querylogon", "querylogfile", "querylogtime", "statslogon", "statslogfile", "dumpfile", "dumpfileappend", "debugflags",
		"tdsversion", "clientcharset", "servercharset", "ansinpw", "autotranslate", "regional", "textsize", "threading",
		"wsid", "longasmax", "usefmtonly", "connectretrycount", "connectretryinterval", "keepalive", "keepaliveinterval",
		"ipaddresspreference", "transparentnetworkipresolution", "marsconnection",
		"cptimeout", "cpprobe", "dmenvattr", "dontdlclose":
		return true
	}
	return false
}

// finish puts the server's parts together.
func (b *builder) finish() error {
	switch {
	case b.Server != "" && b.servername != "":
		return errors.New("both Server and Servername are given: leave one, Servername being a section of freetds.conf")
	case b.servername != "":
		if err := b.freeTDS(); err != nil {
			return err
		}
	case b.Server == "":
		b.Server = b.address
	}
	b.Server = withPort(b.Server, b.port)
	if b.User == "" && !b.Trusted {
		b.User = b.lastUser
	}
	if b.Trusted {
		b.User, b.Password = "", nil // as Microsoft's driver has it
	}
	return nil
}

// withPort is a server in the form of -S: FreeTDS has host:port and a Port of its
// own, and an IPv6 address may stand bare.
func withPort(server, port string) string {
	if net.ParseIP(server) != nil && strings.Contains(server, ":") {
		server = "[" + server + "]"
	}
	if host, p, ok := strings.Cut(server, ":"); ok && host != "" && !strings.Contains(host, "[") {
		if _, err := strconv.ParseUint(p, 10, 16); err == nil {
			server = host + "," + p
		}
	}
	if port == "" || server == "" || strings.ContainsAny(server, `,\`) {
		return server
	}
	return server + "," + port
}
