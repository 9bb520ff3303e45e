package odbcini

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gostress/pkg/ini"
)

// testPlaces are places in a directory of the test's own: files by their names,
// environment by "NAME=value" with $DIR for the directory.
func testPlaces(t *testing.T, files map[string]string, env ...string) (Places, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	vars := map[string]string{"HOME": filepath.Join(dir, "home")}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		vars[name] = strings.ReplaceAll(value, "$DIR", dir)
	}
	return Places{
		Getenv:        func(name string) string { return vars[name] },
		System:        []string{filepath.Join(dir, "etc", "odbc.ini")},
		SystemFreeTDS: []string{filepath.Join(dir, "etc", "freetds.conf")},
		registry:      func() []store { return nil },
	}, dir
}

func TestFindLooksInOrder(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"given.ini":      "[one]\nServer=given\n",
		"home/.odbc.ini": "[one]\nServer=user\n[Two]\nServer=user\n",
		"sys/odbc.ini":   "[two]\nServer=sys\n[three]\nServer=sys\n",
		"etc/odbc.ini":   "[ODBC]\nTrace=0\n[ODBC Data Sources]\nfour=FreeTDS\n[three]\nServer=etc\n[four]\nServer=etc\n",
	}
	p, dir := testPlaces(t, files, "ODBCINI=$DIR/given.ini", "ODBCSYSINI=$DIR/sys")
	for name, want := range map[string]string{"one": "given", "TWO": "user", "three": "sys", " Four": "etc"} {
		s, err := p.Find(name)
		if err != nil || s.Server != want {
			t.Errorf("%q: server %q, %v; want %q", name, s.Server, err, want)
		}
	}
	_, err := p.Find("odbc")
	var nf *NotFoundError
	if !errors.As(err, &nf) {
		t.Fatalf("got %v", err)
	}
	want := "-Dodbc: there is no ODBC data source of this name; there are one, Two, three, four; looked in " +
		strings.Join([]string{filepath.Join(dir, "given.ini"), filepath.Join(dir, "home", ".odbc.ini"), filepath.Join(dir, "sys", "odbc.ini"), filepath.Join(dir, "etc", "odbc.ini")}, ", ")
	if d := cmp.Diff(want, err.Error()); d != "" {
		t.Errorf("error (-want +got):\n%s", d)
	}
	p, dir = testPlaces(t, nil)
	_, err = p.Find("x")
	if err == nil || !strings.Contains(err.Error(), "there is none at all; looked in "+filepath.Join(dir, "home", ".odbc.ini")+" (not there)") {
		t.Error(err)
	}
}

func TestFindReads(t *testing.T) {
	t.Parallel()
	secret := "s;e#c ret"
	tests := map[string]struct {
		in   string
		want Source
	}{
		"microsoft's driver": {
			"[x]\nDriver=ODBC Driver 18 for SQL Server\nDescription=mine\nServer = tcp:host,1444\nDatabase=Db\nUID=sa\nPWD=" + secret + "\nEncrypt=Strict\nTrustServerCertificate=Yes\nHostNameInCertificate=h\nServerSPN=MSSQLSvc/h\nApplicationIntent=ReadOnly\nMultiSubnetFailover=yes\nAPP=mine\nLanguage=Deutsch\nQuotedId=No\nPacketSize=8192\n",
			Source{Server: "tcp:host,1444", Database: "Db", User: "sa", Password: &secret, Encrypt: "strict", TrustServerCertificate: true,
				HostNameInCertificate: "h", ServerSPN: "MSSQLSvc/h", ReadOnlyIntent: true, MultiSubnetFailover: true,
				AppName: "mine", Language: "Deutsch", QuotedIdentifierOff: true, PacketSize: "8192"}},
		"trusted":            {"[x]\nSERVER=host\\inst\nTrusted_Connection=Yes\nUID=sa\nPWD=p\n", Source{Server: `host\inst`, Trusted: true}},
		"not trusted":        {"[x]\nServer=h\nTrusted_Connection=no\nUID=sa\n", Source{Server: "h", User: "sa"}},
		"windows' dialog":    {"[x]\nServer=h\nLastUser=sa\n", Source{Server: "h", User: "sa"}},
		"optional":           {"[x]\nServer=h\nEncrypt=no\n", Source{Server: "h", Encrypt: "optional"}},
		"FreeTDS":            {"[x]\nServer=h\nPort=1444\nTDS_Version=7.4\nEncryption=require\n", Source{Server: "h,1444", Encrypt: "mandatory"}},
		"port in the server": {"[x]\nServer=h:1444\nPort=1\n", Source{Server: "h,1444"}},
		"instance and port":  {"[x]\nServer=h\\i\nPort=1444\n", Source{Server: `h\i`}},
		"IPv6":               {"[x]\nServer=::1\nPort=1444\n", Source{Server: "[::1],1444"}},
		"address":            {"[x]\nAddress=h,1\n", Source{Server: "h,1"}},
		"empty values":       {"[x]\nServer=\nUID=\nEncrypt=\nPort=\n", Source{}},
		"the first holds":    {"[x]\nServer=a\nserver=b\n", Source{Server: "a"}},
		"the first section":  {"[x]\nServer=a\n[X]\nServer=b\n", Source{Server: "a"}},
		"other section bad":  {"[y]\nrubbish\n[x]\nServer=a\n", Source{Server: "a"}},
		"what has no effect": {"[x]\nServer=a\nAttachDBFileName=f\nNetwork=dbnmpntw\nNetwork=DBMSSOCN\n", Source{Server: "a", Notes: []string{
			"data source x: PLACE, line 3: AttachDBFileName: it has no effect here", "data source x: PLACE, line 4: Network: connections are made by TCP alone"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, dir := testPlaces(t, map[string]string{"etc/odbc.ini": tt.in})
			got, err := p.Find("x")
			if err != nil {
				t.Fatal(err)
			}
			place := filepath.Join(dir, "etc", "odbc.ini")
			tt.want.Name, tt.want.Place = "x", place
			for i, n := range tt.want.Notes {
				tt.want.Notes[i] = strings.ReplaceAll(n, "PLACE", place)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("source (-want +got):\n%s", d)
			}
		})
	}
}

func TestFindRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"encrypt":     {"[x]\nEncrypt=s3cret\n", "line 2: Encrypt: write yes, no, mandatory, optional or strict"},
		"encryption":  {"[x]\nEncryption=s3cret\n", "line 2: Encryption: write off, request, require or strict"},
		"trusted":     {"[x]\nTrusted_Connection=s3cret\n", "line 2: Trusted_Connection: write Yes or No"},
		"trust":       {"[x]\nTrustServerCertificate=s3cret\n", "TrustServerCertificate: write Yes or No"},
		"port":        {"[x]\nPort=s3cret\n", "Port: a port is a number from 1 to 65535"},
		"intent":      {"[x]\nApplicationIntent=s3cret\n", "ApplicationIntent: write ReadOnly or ReadWrite"},
		"entra":       {"[x]\nAuthentication=ActiveDirectoryPassword\nPWD=s3cret\n", "Authentication: Microsoft Entra authentication is not supported"},
		"quoted id":   {"[x]\nQuotedId=s3cret\n", "QuotedId: write Yes or No"},
		"both names":  {"[x]\nServer=a\nServername=b\n", "both Server and Servername are given"},
		"broken line": {"[x]\nServer=a\ns3cret\n[y]\n", "line 3: it is neither [section] nor key=value"},
		"a NUL":       {"[x]\nServer=\x00\n", "cannot read "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, dir := testPlaces(t, map[string]string{"etc/odbc.ini": tt.in})
			_, err := p.Find("x")
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "-Dx: ") ||
				!strings.Contains(err.Error(), filepath.Join(dir, "etc", "odbc.ini")) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestFreeTDS(t *testing.T) {
	t.Parallel()
	conf := "[global]\ntds version = 7.4 ; all\nencryption = request\nport = 1500\n[srv]\nhost = h.example\ndatabase = d\n" +
		"[named]\nhost=h\ninstance=i\nencryption=require # all of it\n[hostless]\nport=1\n[badport]\nhost=h\nport=x\n[badenc]\nhost=h\nencryption=x\n"
	tests := map[string]struct {
		section, in string
		want        Source
		err         string
	}{
		"host and global port":  {in: "Servername=SRV\n", want: Source{Server: "h.example,1500", Encrypt: "optional", Database: "d"}},
		"odbc.ini goes before":  {in: "Servername=srv\nDatabase=mine\nPort=9\nEncrypt=strict\n", want: Source{Server: "h.example,9", Encrypt: "strict", Database: "mine"}},
		"instance":              {in: "Servername=named\n", want: Source{Server: `h\i`, Encrypt: "mandatory"}},
		"no host":               {in: "Servername=hostless\n", err: "section [hostless] of "},
		"a bad port":            {in: "Servername=badport\n", err: "port: a port is a number"},
		"a bad encryption":      {in: "Servername=badenc\n", err: "encryption: write off, request, require or strict"},
		"no section: it's host": {in: "Servername=elsewhere\nPort=7\n", want: Source{Server: "elsewhere,7", Notes: []string{"Servername elsewhere is no section of freetds.conf"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, dir := testPlaces(t, map[string]string{"etc/odbc.ini": "[x]\n" + tt.in, "mine.conf": conf, "etc/freetds.conf": "[srv]\nhost=other\n"}, "FREETDSCONF=$DIR/mine.conf")
			got, err := p.Find("x")
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Name, tt.want.Place = "x", filepath.Join(dir, "etc", "odbc.ini")
			same := cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Notes" },
				cmp.Comparer(func(a, b []string) bool {
					return len(a) == len(b) && (len(a) == 0 || strings.Contains(a[0], b[0]) || strings.Contains(b[0], a[0]))
				}))
			if d := cmp.Diff(tt.want, got, same); d != "" {
				t.Errorf("source (-want +got):\n%s", d)
			}
		})
	}
}

// memory is a store as the registry is one.
type memory struct {
	file ini.File
	err  error
}

func (m memory) place() string                        { return "REGISTRY" }
func (m memory) read() (ini.File, []ini.Fault, error) { return m.file, nil, m.err }

func TestFindInARegistry(t *testing.T) {
	t.Parallel()
	p, _ := testPlaces(t, map[string]string{"home/.odbc.ini": "[x]\nServer=file\n"})
	p.registry = func() []store {
		return []store{memory{err: fs.ErrNotExist}, memory{file: ini.File{Sections: []ini.Section{
			{Name: "X", Entries: []ini.Entry{{Key: "Server", Value: "reg"}, {Key: "Failover_Partner", Value: "f"}}}}}}}
	}
	s, err := p.Find("x")
	if err != nil || s.Server != "reg" || len(s.Notes) != 1 || s.Notes[0] != "data source X: REGISTRY: Failover_Partner: it has no effect here" {
		t.Errorf("%+v, %v", s, err)
	}
	p.registry = func() []store { return []store{memory{err: errors.New("access is denied")}} }
	if _, err := p.Find("x"); err == nil || err.Error() != "-Dx: cannot read REGISTRY: access is denied" {
		t.Error(err)
	}
}

func FuzzFind(f *testing.F) {
	f.Add("[x]\nServer=h\nPort=1\nPWD=secret-word\n", "[global]\nport=1\n")
	f.Add("[x]\r\nServername=y\r\nUID=u\r\n", "[y]\nhost=::1\ninstance=z\nencryption=off\n")
	f.Fuzz(func(t *testing.T, odbc, freetds string) {
		p, _ := testPlaces(t, map[string]string{"etc/odbc.ini": odbc, "etc/freetds.conf": freetds})
		s, err := p.Find("x")
		if err != nil && !strings.HasPrefix(err.Error(), "-Dx: ") {
			t.Fatalf("an error without the name: %v", err)
		}
		if s.Trusted && (s.User != "" || s.Password != nil) {
			t.Fatalf("a trusted source with a login: %+v", s)
		}
	})
}
