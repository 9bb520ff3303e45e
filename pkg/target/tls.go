package target

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/microsoft/go-mssqldb/msdsn"
)

const trustHint = "if the server is the right one, trust its certificate with --trust-server-certificate or " +
	"GOSTRESS_TRUST_SERVER_CERTIFICATE=1, or name the authority that signed it with --ca-file or GOSTRESS_CA_FILE"

// CheckTLSMin checks an oldest TLS version; "" is Go's default.
func CheckTLSMin(v string) error {
	switch v {
	case "", "1.0", "1.1", "1.2", "1.3":
		return nil
	}
	return fmt.Errorf("TLS version %q is not known: write 1.0, 1.1, 1.2 or 1.3", v)
}

// tlsConfig checks what can be checked of o's TLS options before a connection.
// The connection's own check is verifier's.
func tlsConfig(o Options, srv Server) (*tls.Config, error) {
	if err := CheckTLSMin(o.TLSMin); err != nil {
		return nil, err
	}
	var min uint16
	if o.TLSMin != "" {
		min = msdsn.TLSVersionFromString(o.TLSMin)
	}
	var max uint16
	if o.ExtendedProtection {
		// TLS 1.3 has no tls-unique, which is what SQL Server holds a login to.
		max = tls.VersionTLS12
		if min > max {
			return nil, errors.New("--extended-protection needs TLS 1.2 or older: TLS 1.3 has no channel binding that SQL Server checks")
		}
	}
	name := o.HostNameInCertificate
	if name == "" {
		name = srv.Host
	}
	var roots *x509.CertPool // nil is the system's
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("cannot read the certificate authority's file: %w", err)
		}
		roots = x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("the certificate authority's file %s holds no PEM certificate", o.CAFile)
		}
	}
	return &tls.Config{
		ServerName:                  name,
		RootCAs:                     roots,
		MinVersion:                  min,
		MaxVersion:                  max,
		DynamicRecordSizingDisabled: true,
		// The chain is checked by the connection's dialer, which knows whether the
		// server is this machine itself.
		InsecureSkipVerify: true,
	}, nil
}

// checkChain is Go's own verification of a server's certificate.
func checkChain(cs tls.ConnectionState, roots *x509.CertPool, name string) error {
	if len(cs.PeerCertificates) == 0 {
		return errors.New("the server showed no certificate")
	}
	opts := x509.VerifyOptions{Roots: roots, DNSName: name, Intermediates: x509.NewCertPool()}
	for _, c := range cs.PeerCertificates[1:] {
		opts.Intermediates.AddCert(c)
	}
	_, err := cs.PeerCertificates[0].Verify(opts)
	return err
}
