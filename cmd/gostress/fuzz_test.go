package main

import (
	"io"
	"strings"
	"testing"

	"gostress/pkg/ostress"
)

// FuzzCommandLine: no command line makes the grammar or the parser panic, and no
// password comes out in an error or in what a log shows of the arguments. Arguments are
// split at \x01; each password switch is given the password here.
func FuzzCommandLine(f *testing.F) {
	for _, s := range []string{
		"-S.\x01-E\x01-Q@x\x01-n100\x01-r5\x01-quiet\x01\u2013q", "-Usa\x01-P\x01-n\x015", "--password\x01x\x01--query=1",
		"-P1\x01.2\x01word\x01-fx\x01-T146", "-a\x01-mreplay\x01-cx.ini\x01--codepage\x011251", "--connections\x01-P\x01--help\x01/?", "-\x01--\x01--=\x01\u2014",
	} {
		f.Add(s)
	}
	c, err := newCLI(io.Discard, io.Discard)
	if err != nil {
		f.Fatal(err)
	}
	const secret = "hunter2-hunter2-hunter2"
	f.Fuzz(func(t *testing.T, joined string) {
		var args []string
		for _, a := range strings.Split(joined, "\x01") {
			switch {
			case a == "--password", a == "--replay-password":
				args = append(args, a, secret)
			case strings.HasPrefix(a, "--password="), strings.HasPrefix(a, "--replay-password="), strings.HasPrefix(a, "-P"), strings.HasPrefix(a, "-a"), strings.HasPrefix(a, "\u2013P"):
				args = append(args, a+secret)
			default:
				args = append(args, a)
			}
		}
		if shown := strings.Join(ostress.Redact(args), "\x01"); strings.Contains(shown, secret) && !afterDash(args) {
			t.Fatalf("a password is shown: %q of %q", shown, args)
		}
		long, err := ostress.Rewrite(args, c.takesValue)
		if err == nil {
			_, err = c.parse(append([]string{"stress"}, long...))
		}
		if err != nil && strings.Contains(plainKong(err), secret) {
			t.Fatalf("a password is in the error %q", plainKong(err))
		}
	})
}

// afterDash says whether an argument that is no switch of a password holds one because the
// switch before it swallowed it, as in --password --password=x.
func afterDash(args []string) bool {
	for i := 1; i < len(args); i++ {
		if a := args[i-1]; strings.HasPrefix(a, "--") && !strings.Contains(a, "=") {
			return true
		}
	}
	return false
}
