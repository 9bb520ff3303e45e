package odbcini

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"gostress/pkg/ini"
)

// freeTDS looks Servername up in freetds.conf. The section [global] stands behind
// the server's own. As FreeTDS does, it takes a name that is nowhere for a host's.
func (b *builder) freeTDS() error {
	var looked []string
	for _, path := range b.places.freeTDSFiles() {
		file, _, err := fileStore(path).read()
		if errors.Is(err, fs.ErrNotExist) {
			looked = append(looked, path+" (not there)")
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot read %s, where Servername leads: %w", path, cause(err))
		}
		s, ok := file.Find(b.servername)
		if !ok {
			looked = append(looked, path)
			continue
		}
		global, _ := file.Find("global")
		return b.freeTDSServer(path, s, global)
	}
	b.Server = b.servername
	b.Notes = append(b.Notes, fmt.Sprintf("data source %s: Servername %s is no section of freetds.conf, so it is taken for a host; looked in %s",
		b.Name, b.servername, strings.Join(looked, ", ")))
	return nil
}

func (b *builder) freeTDSServer(path string, s, global ini.Section) error {
	get := func(key string) string {
		for _, section := range []ini.Section{s, global} {
			if e, ok := section.Get(key); ok {
				return ini.Bare(e.Value)
			}
		}
		return ""
	}
	host, port, instance := get("host"), get("port"), get("instance")
	if host == "" {
		return fmt.Errorf("section [%s] of %s, where Servername leads, has no host", s.Name, path)
	}
	if _, err := strconv.ParseUint(port, 10, 16); port != "" && err != nil {
		return fmt.Errorf("section [%s] of %s, where Servername leads: port: a port is a number from 1 to 65535", s.Name, path)
	}
	b.Server = host
	switch {
	case instance != "":
		b.Server += `\` + instance
	case b.port == "":
		b.port = port
	}
	if enc := get("encryption"); enc != "" && b.Encrypt == "" {
		var err error
		if b.Encrypt, err = freeTDSEncryption(enc); err != nil {
			return fmt.Errorf("section [%s] of %s, where Servername leads: encryption: %w", s.Name, path, err)
		}
	}
	if db := get("database"); b.Database == "" {
		b.Database = db
	}
	return nil
}

// freeTDSEncryption reads FreeTDS's words. Its "off" is "optional" here: the login
// stays encrypted.
func freeTDSEncryption(v string) (string, error) {
	switch strings.ToLower(v) {
	case "off", "request":
		return "optional", nil
	case "require":
		return "mandatory", nil
	case "strict":
		return "strict", nil
	}
	return "", errors.New("write off, request, require or strict")
}

func (p Places) freeTDSFiles() []string {
	var out []string
	if f := p.env("FREETDSCONF"); f != "" {
		out = append(out, f)
	}
	if home := p.home(); home != "" {
		out = append(out, filepath.Join(home, ".freetds.conf"))
	}
	if p.SystemFreeTDS != nil {
		return append(out, p.SystemFreeTDS...)
	}
	return append(out, systemFreeTDS()...)
}
