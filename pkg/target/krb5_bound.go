package target

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/chksumtype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	krb "github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/spnego"
	"github.com/jcmturner/gokrb5/v8/types"
	"github.com/microsoft/go-mssqldb/integratedauth"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// krb5Bound is the name of Kerberos with a channel binding: go-mssqldb's own authenticator has no
// place for one.
const krb5Bound = "gostress-krb5"

// krbAuth logs in with a Kerberos ticket, bound to the TLS channel. It takes the parameters of
// go-mssqldb's "krb5".
type krbAuth struct {
	spn, user string
	params    map[string]string
	binding   *integratedauth.ChannelBindings
	client    *client.Client
}

func newKrbAuth(cfg msdsn.Config) (integratedauth.IntegratedAuthenticator, error) {
	if cfg.ServerSPN == "" {
		return nil, errors.New("to log in by Kerberos takes the server's name instead of its address, or --server-spn")
	}
	return &krbAuth{spn: cfg.ServerSPN, user: cfg.User, params: cfg.Parameters}, nil
}

// SetChannelBinding comes before InitialBytes.
func (k *krbAuth) SetChannelBinding(cb *integratedauth.ChannelBindings) { k.binding = cb }

// InitialBytes is the SPNEGO token with the AP-REQ.
func (k *krbAuth) InitialBytes() ([]byte, error) {
	if k.binding == nil {
		return nil, errors.New("extended protection: there is no channel to bind the login to")
	}
	var err error
	if k.client, err = k.login(); err != nil {
		return nil, err
	}
	ticket, key, err := k.client.GetServiceTicket(canonical(k.spn))
	if err != nil {
		return nil, err
	}
	return krbToken(k.client, ticket, key, k.binding.Md5Hash())
}

// login is a client with a ticket-granting ticket, from a ticket cache or a keytab.
func (k *krbAuth) login() (*client.Client, error) {
	file := k.params["krb5-configfile"]
	if file == "" {
		file = "/etc/krb5.conf"
	}
	cfg, err := config.Load(file)
	if err != nil {
		return nil, err
	}
	// As go-mssqldb has it: domain controllers are found by DNS and asked over TCP.
	cfg.LibDefaults.DNSLookupKDC, cfg.LibDefaults.UDPPreferenceLimit = true, 1
	var c *client.Client
	if file := k.params["krb5-keytabfile"]; file != "" {
		kt, err := keytab.Load(file)
		if err != nil {
			return nil, err
		}
		c = client.NewWithKeytab(k.user, k.params["krb5-realm"], kt, cfg, client.DisablePAFXFAST(true))
	} else {
		cache, err := credentials.LoadCCache(k.params["krb5-credcachefile"])
		if err != nil {
			return nil, err
		}
		if c, err = client.NewFromCCache(cache, cfg, client.DisablePAFXFAST(true)); err != nil {
			return nil, err
		}
	}
	if err := c.Login(); err != nil {
		c.Destroy()
		return nil, err
	}
	return c, nil
}

// krbToken is what proves the ticket's owner: an AP-REQ (RFC 4121 4.1) in SPNEGO (RFC 4178), whose
// authenticator carries the hash of the channel's binding.
func krbToken(c *client.Client, ticket krb.Ticket, key types.EncryptionKey, binding []byte) ([]byte, error) {
	token, err := spnego.NewKRB5TokenAPREQ(c, ticket, key, nil, nil)
	if err != nil {
		return nil, err
	}
	auth, err := types.NewAuthenticator(c.Credentials.Domain(), c.Credentials.CName())
	if err != nil {
		return nil, err
	}
	// RFC 4121 4.1.1: the binding's length, the binding, the context's flags.
	sum := binary.LittleEndian.AppendUint32(nil, uint32(len(binding)))
	sum = append(sum, binding...)
	sum = binary.LittleEndian.AppendUint32(sum, gssapi.ContextFlagInteg|gssapi.ContextFlagConf)
	auth.Cksum = types.Checksum{CksumType: chksumtype.GSSAPI, Checksum: sum}
	if token.APReq, err = krb.NewAPReq(ticket, key, auth); err != nil {
		return nil, err
	}
	mech, err := token.Marshal()
	if err != nil {
		return nil, err
	}
	hello := spnego.SPNEGOToken{Init: true, NegTokenInit: spnego.NegTokenInit{MechTokenBytes: mech}}
	hello.NegTokenInit.MechTypes = append(hello.NegTokenInit.MechTypes, gssapi.OIDKRB5.OID())
	return hello.Marshal()
}

// NextBytes takes the server's answer; there is nothing more to send.
func (k *krbAuth) NextBytes(answer []byte) ([]byte, error) {
	var t spnego.SPNEGOToken
	if err := t.Unmarshal(answer); err != nil {
		return nil, fmt.Errorf("the server's answer to the Kerberos ticket: %w", err)
	}
	if ok, status := t.Verify(); !ok && status.Code != gssapi.StatusContinueNeeded {
		return nil, fmt.Errorf("the server's answer to the Kerberos ticket: %w", status)
	}
	return nil, nil
}

// Free lets go of the tickets.
func (k *krbAuth) Free() {
	if k.client != nil {
		k.client.Destroy()
		k.client = nil
	}
}

// canonical puts the host's canonical name into an SPN with a port or an instance, as go-mssqldb
// does: tickets are for that name.
func canonical(spn string) string {
	service, at, found := strings.Cut(spn, "/")
	host, port, err := net.SplitHostPort(at)
	if !found || err != nil {
		return spn
	}
	name, err := net.LookupCNAME(strings.ToLower(host))
	if name = strings.TrimSuffix(name, "."); err != nil || name == "" {
		return spn
	}
	return service + "/" + net.JoinHostPort(name, port)
}
