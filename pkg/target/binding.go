package target

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"

	"github.com/microsoft/go-mssqldb/integratedauth"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// bound begins the names of authenticators that bind the login to the TLS channel (extended
// protection for authentication) although go-mssqldb sees none: the connection ends TLS below it.
const bound = "gostress-bound-"

// go-mssqldb keeps its authenticators by name in a map that is not to be written to once anybody
// connects.
func init() {
	set := func(name string, p integratedauth.ProviderFunc) {
		if err := integratedauth.SetIntegratedAuthenticationProvider(name, p); err != nil {
			panic(err) // a nil provider or an empty name
		}
	}
	set(krb5Bound, newKrbAuth)
	for _, name := range []string{"ntlm", "winsspi", krb5Bound} {
		set(bound+name, func(cfg msdsn.Config) (integratedauth.IntegratedAuthenticator, error) { return bind(name, cfg) })
	}
}

// channel gives an authenticator the TLS state of its own login. It travels in the TLS
// configuration's KeyLogWriter, the one place for an interface in what go-mssqldb hands to
// authenticators; with encryption disabled, go-mssqldb does not use that configuration.
type channel struct {
	state func() (tls.ConnectionState, bool)
}

func (channel) Write(b []byte) (int, error) { return len(b), nil }

// bind makes the named authenticator and binds it.
func bind(name string, cfg msdsn.Config) (integratedauth.IntegratedAuthenticator, error) {
	cfg.Parameters = maps.Clone(cfg.Parameters)
	cfg.Parameters["authenticator"] = name
	auth, err := integratedauth.GetIntegratedAuthenticator(cfg)
	if err != nil {
		return nil, err
	}
	var ch channel
	if cfg.TLSConfig != nil {
		ch, _ = cfg.TLSConfig.KeyLogWriter.(channel)
	}
	if err := bindTo(auth, ch); err != nil {
		auth.Free()
		return nil, fmt.Errorf("extended protection: %w", err)
	}
	return auth, nil
}

// bindTo gives the authenticator the channel's binding: tls-unique (RFC 5929), which is what SQL
// Server holds a login over TDS 7 to.
func bindTo(auth integratedauth.IntegratedAuthenticator, ch channel) error {
	protected, ok := auth.(integratedauth.AuthenticatorWithEPA)
	if !ok {
		return fmt.Errorf("a %T cannot bind a login to its channel", auth)
	}
	if ch.state == nil {
		return errors.New("the connection's encryption is not known")
	}
	state, encrypted := ch.state()
	if !encrypted {
		return errors.New("the connection is not encrypted, so there is no channel to bind the login to")
	}
	cbt, err := integratedauth.GenerateCBTFromTLSConnState(state)
	switch {
	case err != nil:
		return err
	case cbt == nil: // tlsConfig asks for no such version
		return errors.New("TLS 1.3 has no binding that SQL Server knows")
	}
	protected.SetChannelBinding(cbt)
	return nil
}
