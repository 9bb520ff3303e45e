package target

import (
	"fmt"
	"os"
	"strings"

	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"
	_ "github.com/microsoft/go-mssqldb/integratedauth/krb5" // registers the authenticator "krb5"
)

type krbLogin struct {
	login, user string
	parameters  map[string]string
}

// kerberos finds a ticket cache (KRB5CCNAME, else the default of MIT Kerberos) or
// a keytab (KRB5_CLIENT_KTNAME, KRB5_KTNAME) that a login can use. Caches that are
// not files cannot be read by the library.
func kerberos(env func(string) string) (krbLogin, bool) {
	with := func(kind, file, realm string) map[string]string {
		p := map[string]string{"authenticator": "krb5", kind: file, "krb5-realm": realm}
		if c := env("KRB5_CONFIG"); c != "" {
			p["krb5-configfile"] = c
		}
		return p
	}
	cache := env("KRB5CCNAME")
	if cache == "" {
		cache = fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid())
	}
	cache = strings.TrimPrefix(cache, "FILE:")
	if cc, err := credentials.LoadCCache(cache); err == nil {
		name := cc.GetClientPrincipalName().PrincipalNameString()
		realm := cc.GetClientRealm()
		return krbLogin{
			login:      name + "@" + realm,
			parameters: with("krb5-credcachefile", cache, realm),
		}, true
	}
	for _, k := range []string{"KRB5_CLIENT_KTNAME", "KRB5_KTNAME"} {
		file := strings.TrimPrefix(env(k), "FILE:")
		if file == "" {
			continue
		}
		kt, err := keytab.Load(file)
		if err != nil || len(kt.Entries) == 0 {
			continue
		}
		p := kt.Entries[0].Principal
		name := strings.Join(p.Components, "/")
		return krbLogin{
			login:      name + "@" + p.Realm,
			user:       name,
			parameters: with("krb5-keytabfile", file, p.Realm),
		}, true
	}
	return krbLogin{}, false
}
