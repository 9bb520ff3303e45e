package target

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"runtime"
	"strings"
	"unicode/utf8"
)

const (
	defaultPacketSize = 4096
	minPacketSize     = 512
	maxPacketSize     = 32767
	maxLoginName      = 128 // characters of each name in LOGIN7
)

// checkLogin refuses what a login packet cannot carry.
func checkLogin(o Options) error {
	if n := o.PacketSize; n != 0 && (n < minPacketSize || n > maxPacketSize) {
		return fmt.Errorf("packet size %d: it must be from %d to %d bytes", n, minPacketSize, maxPacketSize)
	}
	for _, f := range []struct{ what, text string }{
		{"login", o.User}, {"password", o.Password}, {"database", o.Database}, {"application name", o.AppName},
	} {
		switch {
		case !utf8.ValidString(f.text):
			return fmt.Errorf("the %s is not text in UTF-8", f.what)
		case utf8.RuneCountInString(f.text) > maxLoginName:
			return fmt.Errorf("the %s is longer than %d characters", f.what, maxLoginName)
		case strings.ContainsFunc(f.text, func(r rune) bool { return r > 0xFFFF }):
			// go-mssqldb counts such a character once, where it takes two units.
			return fmt.Errorf("the %s has a character that go-mssqldb cannot send in a login: one beyond U+FFFF, such as an emoji", f.what)
		}
	}
	return nil
}

// auth is how a login proves itself.
type auth struct {
	integrated     bool
	user, password string
	login          string // for messages
	how            string // the means, for messages
	parameters     map[string]string
	hint           string // what to do when the server refuses it
}

func chooseAuth(o Options, srv Server) (auth, error) {
	if o.User != "" {
		a := auth{user: o.User, password: o.Password, login: o.User, how: "SQL Server login", parameters: map[string]string{}}
		if strings.Contains(o.User, `\`) {
			a.parameters["authenticator"], a.how = "ntlm", "NTLM"
		}
		return a, nil
	}
	a := auth{integrated: true, parameters: map[string]string{}}
	if runtime.GOOS == "windows" {
		a.login, a.how = osUser(), "Windows authentication"
		a.parameters["authenticator"] = "winsspi"
		a.hint = "the login was tried as the current Windows user; -U and -P log in as a SQL Server login"
		return a, nil
	}
	if k, ok := kerberos(o.Env); ok {
		a.login, a.user, a.parameters, a.how = k.login, k.user, k.parameters, "Kerberos"
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
	a.login, a.how = osUser(), "NTLM without a password"
	a.user = host + `\` + a.login
	a.parameters["authenticator"] = "ntlm"
	a.hint = "without a Kerberos ticket the login was tried as the user " + a.login + " of this machine; " + what
	return a, nil
}

// bind makes a the login that is bound to its TLS channel.
func (a *auth) bind() error {
	switch a.parameters["authenticator"] {
	case "ntlm", "winsspi":
		return nil
	case "krb5":
		a.parameters["authenticator"] = krb5Bound
		return nil
	}
	return errors.New("--extended-protection is for integrated and NTLM logins: a SQL Server login has nothing to bind")
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
