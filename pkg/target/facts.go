package target

import (
	"crypto/tls"
	"fmt"
	"reflect"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"

	"gostress/internal/tdsclient"
)

// facts are what a login told about a session.
type facts struct {
	strict     bool
	answered   bool    // the server's PRELOGIN was seen
	encryption byte    // what it said of encryption
	version    [6]byte // what it said of its version: major, minor, build, sub-build
	tls        uint16  // as crypto/tls numbers versions; 0 is none
	cipher     uint16
	login, how string // as whom, and by what means
	asked      int    // packet size in bytes
	wire       Wire   // who sends the requests
	ack        ack
}

// Describe tells an administrator about the session in one line: the server's
// program and version, the encryption, the packet size, the login, and the wire.
// It holds no secret.
func (f *facts) Describe() string {
	size := f.asked
	server := "server"
	if f.answered {
		v := f.version
		server = fmt.Sprintf("server version %d.%d.%d", v[0], v[1], int(v[2])<<8|int(v[3]))
	}
	if a := f.ack; a.program != "" {
		server = fmt.Sprintf("%s %d.%d.%d, TDS %s", a.program, a.version>>24, a.version>>16&0xFF, a.version&0xFFFF, tdsName(a.tds))
		size = a.packetSize
	}
	packet := fmt.Sprintf("packet size %d", size)
	if size != f.asked {
		packet += fmt.Sprintf(" (asked for %d)", f.asked)
	}
	return strings.Join([]string{server, "encryption " + f.encrypted(), packet, fmt.Sprintf("login %s (%s)", f.login, f.how), "wire " + string(f.wire)}, ", ")
}

// Wire says which of the ways to send requests the session takes.
func (f *facts) Wire() string { return string(f.wire) }

// Encryption says what of the session is encrypted, "all", "login", "strict" or
// "none", and with which TLS version and cipher suite.
func (f *facts) Encryption() (what, with string) {
	if f.tls == 0 {
		return "none", ""
	}
	with = fmt.Sprintf("%s %s", tls.VersionName(f.tls), tls.CipherSuiteName(f.cipher))
	switch {
	case f.strict:
		return "strict", with
	case f.answered && f.encryption == encryptOff:
		return "login", with
	}
	return "all", with
}

func (f *facts) encrypted() string {
	what, with := f.Encryption()
	words, known := map[string]string{"all": "of everything", "login": "of the login only"}[what]
	if !known {
		words = what
	}
	return strings.TrimSuffix(words+", "+with, ", ")
}

// directAck is what a login over a tdsclient.Login told.
func directAck(l tdsclient.LoginFacts) ack {
	a := l.Ack
	return ack{strings.TrimRight(a.Program, "\x00 "), uint32(a.Major)<<24 | uint32(a.Minor)<<16 | uint32(a.Build), uint32(a.Version), l.PacketSize}
}

// ack is what LOGINACK and the packet size's ENVCHANGE said.
type ack struct {
	program    string
	version    uint32 // major, minor, build
	tds        uint32
	packetSize int
}

// loginAck reads what go-mssqldb knows and does not show. Should its fields be
// laid out otherwise one day, there is nothing to show.
func loginAck(c *mssql.Conn) (ack, bool) {
	field := func(v reflect.Value, kind reflect.Kind, path ...string) (reflect.Value, bool) {
		for _, name := range path {
			for v.Kind() == reflect.Pointer {
				if v.IsNil() {
					return v, false
				}
				v = v.Elem()
			}
			if v.Kind() != reflect.Struct {
				return v, false
			}
			v = v.FieldByName(name)
		}
		return v, v.IsValid() && v.Kind() == kind
	}
	conn := reflect.ValueOf(c)
	program, ok1 := field(conn, reflect.String, "sess", "loginAck", "ProgName")
	version, ok2 := field(conn, reflect.Uint32, "sess", "loginAck", "ProgVer")
	tds, ok3 := field(conn, reflect.Uint32, "sess", "loginAck", "TDSVersion")
	size, ok4 := field(conn, reflect.Int, "sess", "buf", "packetSize")
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return ack{}, false
	}
	name := strings.TrimRight(program.String(), "\x00 ")
	return ack{name, uint32(version.Uint()), uint32(tds.Uint()), int(size.Int())}, name != ""
}

func tdsName(v uint32) string {
	if v == 0x08000000 {
		return "8.0"
	}
	return fmt.Sprintf("%d.%d", v>>28, v>>24&0xF)
}
