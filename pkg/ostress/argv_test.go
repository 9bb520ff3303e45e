package ostress

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func longValues(name string) bool {
	return name != "quiet" && name != "verbose" && name != "help"
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want []string }{
		"glued": {
			[]string{"-n100", "-r5000", "-S.", "-E", "-dAdventureWorks2022", "-q", "-QEXEC p"},
			[]string{"--connections=100", "--iterations=5000", "--server=.", "--integrated", "--database=AdventureWorks2022", "--quiet", "--query=EXEC p"}},
		"spaced":                      {[]string{"-n", "100", "-U", "sa"}, []string{"--connections=100", "--user=sa"}},
		"en and em dash":              {[]string{"\u2013n100", "\u2014r500"}, []string{"--connections=100", "--iterations=500"}},
		"en dash inside a value":      {[]string{"-Qselect '\u2013'"}, []string{"--query=select '\u2013'"}},
		"letters behind -q":           {[]string{"-quiet", "-verbose", "-E1"}, []string{"--quiet", "--verbose", "--integrated"}},
		"password with a dash":        {[]string{"-P-secret"}, []string{"--password=-secret"}},
		"password of all signs":       {[]string{"-PP@ss;={}%#'\"w0rd!"}, []string{"--password=P@ss;={}%#'\"w0rd!"}},
		"empty password":              {[]string{"-Usa", "-P", "-n1"}, []string{"--user=sa", "--password=", "--connections=1"}},
		"empty password, last":        {[]string{"-P"}, []string{"--password="}},
		"an equals sign in a query":   {[]string{"-Q=1"}, []string{"--query==1"}},
		"query with line breaks":      {[]string{"-Q", "select 1\nGO\nselect 2"}, []string{"--query=select 1\nGO\nselect 2"}},
		"named pipe and local":        {[]string{"-Slpc:."}, []string{"--server=lpc:."}},
		"trace flag and mode":         {[]string{"-T146", "-mstress", "-l0"}, []string{"--trace-flag=146", "--run-mode=stress", "--login-timeout=0"}},
		"long names":                  {[]string{"--server=a", "--connections", "5", "--quiet"}, []string{"--server=a", "--connections=5", "--quiet"}},
		"long name, value has a dash": {[]string{"--query", "-- note", "--quiet"}, []string{"--query=-- note", "--quiet"}},
		"cut by PowerShell":           {[]string{"-S127", ".0.0.1,1433", "-istart", ".sql", "-S", ".", "-o", `.\Out`}, []string{"--server=127.0.0.1,1433", "--input=start.sql", "--server=.", `--output=.\Out`}},
		"at signs":                    {[]string{"-Q@x.sql", "-i@y.sql"}, []string{"--query=@x.sql", "--input=@y.sql"}},
		"the seldom ones":             {[]string{"-csample.ini", "-Dmydsn", "-L1033", "-ax", "-fx"}, []string{"--control-file=sample.ini", "--data-source=mydsn", "--lcid=1033", "--replay-password=x", "--result-format=x"}},
		"help":                        {[]string{"/?"}, []string{"--help"}},
		"none":                        {nil, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Rewrite(tt.in, longValues)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("arguments (-want +got):\n%s", d)
			}
		})
	}
}

func TestRewriteRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   []string
		want string
	}{
		"unknown switch":          {[]string{"-s."}, "unknown switch -s."},
		"unknown letter z":        {[]string{"-z"}, "unknown switch -z"},
		"a bare word":             {[]string{"-n1", "server"}, `"server" is not a switch`},
		"a word behind a flag":    {[]string{"--quiet", "secret"}, "--quiet is unknown or takes no value"},
		"quotes lost in a query":  {[]string{"-QSELECT 1 AS", "x", "y"}, `"x" is not a switch: it stands behind -Q, whose quotes the shell took away`},
		"password with a blank":   {[]string{"-Ptop", "secret"}, "what stands behind -P is not a switch"},
		"more words of it":        {[]string{"-P", "top", "secret", "word"}, "what stands behind -P is not a switch"},
		"replay password, words":  {[]string{"-a", "top", "secret"}, "what stands behind -a is not a switch"},
		"a word behind -pwd":      {[]string{"-pwd", "secret"}, "what stands behind -p is not a switch"},
		"a word behind -password": {[]string{"-password", "secret"}, "what stands behind -p is not a switch"},
		"password with a slash":   {[]string{"-Usa", "/Psecret"}, "/P... is not a switch: write -P"},
		"a word behind a size":    {[]string{"-Psecret", "-p512", "word"}, `"word" is not a switch`},
		"an empty server":         {[]string{"-S", "", "-E"}, "-S needs a value"},
		"an empty output":         {[]string{"-o", ""}, "-o needs a value"},
		"password with a dash":    {[]string{"-P", "-secret"}, "unknown switch -s: a password that begins with a dash stands right behind -P"},
		"two dashes":              {[]string{"--", "-Psecret"}, "-- is not a switch"},
		"a path behind a value":   {[]string{"-n1", "./x"}, `"./x" is not a switch`},
		"a bare dash":             {[]string{"-"}, `"-" is not a switch`},
		"value missing":           {[]string{"-n"}, "-n needs a value"},
		"next is a switch":        {[]string{"-U", "-P", "x"}, "-U needs a value"},
		"query, next is a switch": {[]string{"-Q", "\u2013n5"}, "-Q needs a value"},
		"long name without value": {[]string{"--server"}, "--server needs a value"},
		"format missing":          {[]string{"-f"}, "-f needs a value"},
		"control file missing":    {[]string{"-c", "-n1"}, "-c needs a value"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Rewrite(tt.in, longValues)
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows a password: %v", err)
			}
			var e *ArgError
			if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, %v; want an error with %q", got, err, tt.want)
			}
		})
	}
}

func TestRedact(t *testing.T) {
	t.Parallel()
	got := Redact([]string{"-Usa", "-Psecret", "-P", "secret", "\u2013Psecret", "--password=secret", "--password", "-secret", "-P", "-n1",
		"-QCREATE LOGIN x WITH PASSWORD = N'sec''ret', CHECK_POLICY = OFF", "-d", "P", "-asecret", "-a", "secret", "--replay-password", "-secret", "--replay-password=secret", "-Psec", ".ret",
		"--sqlcmd-vars", "appPwd=secret", "--sqlcmd-vars=TOKEN=sec=ret", "--sqlcmd-vars", "db=x", "--sqlcmd-vars", "-Psecret"})
	want := []string{"-Usa", "-P********", "-P", "********", "-P********", "--password=********", "--password", "********", "-P", "-n1",
		"-QCREATE LOGIN x WITH PASSWORD = N'********', CHECK_POLICY = OFF", "-d", "P", "-a********", "-a", "********", "--replay-password", "********", "--replay-password=********", "-P********", "********",
		"--sqlcmd-vars", "appPwd=********", "--sqlcmd-vars=TOKEN=********", "--sqlcmd-vars", "db=x", "--sqlcmd-vars", "-P********"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("arguments (-want +got):\n%s", d)
	}
}

func FuzzRewrite(f *testing.F) {
	f.Add("-n100\x01-P\x01secret\x01--password\x01x")
	f.Add("\u2013Q\x01-\x01--\x01--=")
	f.Fuzz(func(t *testing.T, joined string) {
		args := strings.Split(joined, "\x01")
		out, err := Rewrite(args, longValues)
		if err != nil {
			return
		}
		for _, a := range out {
			if !strings.HasPrefix(a, "--") {
				t.Fatalf("%q came out of %q without a long name", a, args)
			}
		}
		shown := strings.Join(Redact(args), "\x01")
		for _, a := range out {
			p, ok := strings.CutPrefix(a, "--password=")
			if r, replay := strings.CutPrefix(a, "--replay-password="); replay {
				p, ok = r, true
			}
			if ok && len(p) > 12 && strings.Contains(shown, p) {
				t.Fatalf("the password %q is shown in %q", p, shown)
			}
		}
	})
}
