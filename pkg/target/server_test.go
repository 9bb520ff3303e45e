package target

import (
	"strings"
	"testing"
)

func TestParseServer(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		want Server
		text string
	}{
		".":                       {Server{"127.0.0.1", 1433, ""}, "127.0.0.1,1433"},
		"":                        {Server{"127.0.0.1", 1433, ""}, "127.0.0.1,1433"},
		"(local)":                 {Server{"127.0.0.1", 1433, ""}, "127.0.0.1,1433"},
		"(LOCAL)":                 {Server{"127.0.0.1", 1433, ""}, "127.0.0.1,1433"},
		"localhost":               {Server{"127.0.0.1", 1433, ""}, "127.0.0.1,1433"},
		"localhost,1455":          {Server{"127.0.0.1", 1455, ""}, "127.0.0.1,1455"},
		"host":                    {Server{"host", 1433, ""}, "host,1433"},
		"host,1455":               {Server{"host", 1455, ""}, "host,1455"},
		"host, 1455":              {Server{"host", 1455, ""}, "host,1455"},
		`host\inst`:               {Server{"host", 0, "inst"}, `host\inst`},
		`.\SQLEXPRESS`:            {Server{"127.0.0.1", 0, "SQLEXPRESS"}, `127.0.0.1\SQLEXPRESS`},
		`host\inst,1455`:          {Server{"host", 1455, "inst"}, `host\inst,1455`},
		`host\MSSQLSERVER`:        {Server{"host", 1433, ""}, "host,1433"},
		"tcp:host,1455":           {Server{"host", 1455, ""}, "host,1455"},
		"TCP:host":                {Server{"host", 1433, ""}, "host,1433"},
		"tcp:.":                   {Server{"127.0.0.1", 1433, ""}, "127.0.0.1,1433"},
		"lpc:.":                   {Server{"127.0.0.1", 1433, ""}, "127.0.0.1,1433"},
		"[::1],1455":              {Server{"::1", 1455, ""}, "[::1],1455"},
		"[::1]":                   {Server{"::1", 1433, ""}, "[::1],1433"},
		"::1":                     {Server{"::1", 1433, ""}, "[::1],1433"},
		"10.1.2.3,14":             {Server{"10.1.2.3", 14, ""}, "10.1.2.3,14"},
		"x.database.windows.net":  {Server{"x.database.windows.net", 1433, ""}, "x.database.windows.net,1433"},
		"tcp:x.database.net,1433": {Server{"x.database.net", 1433, ""}, "x.database.net,1433"},
	}
	for in, tt := range tests {
		t.Run(in, func(t *testing.T) {
			t.Parallel()
			got, err := ParseServer(in)
			if err != nil || got != tt.want || got.String() != tt.text {
				t.Errorf("got %+v (%s), %v; want %+v (%s)", got, got, err, tt.want, tt.text)
			}
		})
	}
}

func TestParseServerRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"host,0":              "is not a port",
		"host,70000":          "is not a port",
		"host,x":              "is not a port",
		"host,":               "is not a port",
		`host\`:               "an instance is written",
		"np:.":                "named pipes are not supported",
		`np:\\.\pipe\x`:       "named pipes are not supported",
		`\\.\pipe\sql\query`:  "named pipes are not supported",
		"admin:host":          "administrator connection is not supported",
		`(localdb)\v11.0`:     "LocalDB",
		"[::1":                "bracket is not closed",
		"[x]":                 "is not an IP address",
		"host:1433":           "is not a host name; write host,port",
		"server name":         "is not a host name",
		"sqlserver://host:14": "is not a host name",
	}
	for in, want := range tests {
		t.Run(in, func(t *testing.T) {
			t.Parallel()
			got, err := ParseServer(in)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %+v, %v; want an error with %q", got, err, want)
			}
		})
	}
}

func FuzzParseServer(f *testing.F) {
	for _, s := range []string{".", `a\b,1`, "[::1],2", "tcp:x", "np:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseServer(s)
		if err == nil && (got.Host == "" || got.Port == 0 && got.Instance == "") {
			t.Fatalf("%q gave %+v", s, got)
		}
	})
}
