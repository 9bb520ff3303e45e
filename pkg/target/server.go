// Package target knows where to connect and how: the forms of a server's name,
// authentication, encryption. It is the one place that dials.
package target

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// DefaultPort is that of a default instance.
const DefaultPort = 1433

// Server is a server's address, as -S gives it.
type Server struct {
	Host     string // a name or an IP address without brackets
	Port     int    // 0 when SQL Browser has to tell it
	Instance string // "" for the default instance
}

// ParseServer reads the forms that -S takes: ".", "(local)", "host",
// "host,port", "host\instance", "host\instance,port", "[::1],port", each with an
// optional "tcp:", and "lpc:", which is the local default here. What this
// program cannot do (np:, admin:, (localdb)) is an error that says so.
func ParseServer(s string) (Server, error) {
	rest := strings.TrimSpace(s)
	proto, addr, found := strings.Cut(rest, ":")
	switch strings.ToLower(strings.TrimSpace(proto)) {
	case "tcp", "lpc":
		if found {
			rest = strings.TrimSpace(addr)
		}
	case "np":
		if found {
			return Server{}, fmt.Errorf("-S%s: named pipes are not supported; name the server as host,port or tcp:host,port", s)
		}
	case "admin":
		if found {
			return Server{}, fmt.Errorf("-S%s: the dedicated administrator connection is not supported, since it takes one session only; name the server as host,port", s)
		}
	}
	if strings.HasPrefix(strings.ToLower(rest), "(localdb)") {
		return Server{}, fmt.Errorf("-S%s: LocalDB listens on named pipes alone, which are not supported; name the server as host,port", s)
	}
	if strings.HasPrefix(rest, `\\`) {
		return Server{}, fmt.Errorf("-S%s: named pipes are not supported; name the server as host,port", s)
	}
	var out Server
	host := rest
	if strings.HasPrefix(host, "[") {
		end := strings.IndexByte(host, ']')
		if end < 0 {
			return Server{}, fmt.Errorf("-S%s: the bracket is not closed; an IPv6 address is written as [::1],1433", s)
		}
		out.Host = host[1:end]
		if net.ParseIP(strings.SplitN(out.Host, "%", 2)[0]) == nil {
			return Server{}, fmt.Errorf("-S%s: %q is not an IP address", s, out.Host)
		}
		host = host[end+1:]
		if host != "" && host[0] != ',' && host[0] != '\\' {
			return Server{}, fmt.Errorf("-S%s: after the bracket comes ,port or \\instance", s)
		}
	}
	host, port, hasPort := strings.Cut(host, ",")
	if hasPort {
		n, err := strconv.Atoi(strings.TrimSpace(port))
		if err != nil || n < 1 || n > 65535 {
			return Server{}, fmt.Errorf("-S%s: %q is not a port; a port is a number from 1 to 65535", s, strings.TrimSpace(port))
		}
		out.Port = n
	}
	host, inst, hasInst := strings.Cut(host, `\`)
	out.Instance = strings.TrimSpace(inst)
	if hasInst && out.Instance == "" || strings.Contains(out.Instance, `\`) {
		return Server{}, fmt.Errorf(`-S%s: an instance is written as host\instance`, s)
	}
	if strings.EqualFold(out.Instance, "MSSQLSERVER") {
		out.Instance = "" // the default instance's own name
	}
	if out.Host == "" {
		out.Host = strings.TrimSpace(host)
	}
	switch strings.ToLower(out.Host) {
	case ".", "(local)", "localhost", "":
		out.Host = "127.0.0.1"
	}
	if strings.ContainsAny(out.Host, " \t()/;@") || strings.Contains(out.Host, ":") && net.ParseIP(strings.SplitN(out.Host, "%", 2)[0]) == nil {
		return Server{}, fmt.Errorf(`-S%s: %q is not a host name; write host,port or host\instance`, s, out.Host)
	}
	if out.Port == 0 && out.Instance == "" {
		out.Port = DefaultPort
	}
	return out, nil
}

// String is the address as a DBA writes it.
func (s Server) String() string {
	out := s.Host
	if strings.Contains(out, ":") {
		out = "[" + out + "]"
	}
	if s.Instance != "" {
		out += `\` + s.Instance
	}
	if s.Port != 0 {
		out += "," + strconv.Itoa(s.Port)
	}
	return out
}

// Loopback says that the address, as written, never leaves this machine.
func (s Server) Loopback() bool {
	ip := net.ParseIP(s.Host)
	return ip != nil && ip.IsLoopback()
}
