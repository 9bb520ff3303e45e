package main

import (
	"cmp"
	"fmt"

	"gostress/pkg/odbcini"
)

// resolve reads the ODBC data source (-D) and lets it say what the switches and
// the environment did not.
func (c *connectFlags) resolve(say func(string)) error {
	if c.DataSource == "" || c.source != nil {
		return nil
	}
	src, err := odbcini.Places{}.Find(c.DataSource)
	if err != nil {
		return err
	}
	c.source = &src
	for _, n := range src.Notes {
		say(n)
	}
	c.Server = cmp.Or(c.Server, src.Server)
	c.Database = cmp.Or(c.Database, src.Database)
	if !c.Integrated {
		c.User = cmp.Or(c.User, src.User)
	}
	c.Encrypt = cmp.Or(c.Encrypt, src.Encrypt)
	c.TrustServerCertificate = c.TrustServerCertificate || src.TrustServerCertificate
	c.HostNameInCertificate = cmp.Or(c.HostNameInCertificate, src.HostNameInCertificate)
	c.ServerSPN = cmp.Or(c.ServerSPN, src.ServerSPN)
	if src.ReadOnlyIntent {
		c.ApplicationIntent = cmp.Or(c.ApplicationIntent, "readonly")
	}
	c.MultiSubnetFailover = c.MultiSubnetFailover || src.MultiSubnetFailover
	c.Language = cmp.Or(c.Language, src.Language)
	c.AppName = cmp.Or(c.AppName, src.AppName)
	c.PacketSize = cmp.Or(c.PacketSize, src.PacketSize)
	if err := c.check(); err != nil {
		// It is not a bad command line, so the text alone goes on.
		return fmt.Errorf("-D%s: with data source %s of %s: %s", c.DataSource, src.Name, src.Place, err.Error())
	}
	return nil
}
