package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// terminals tells what the program writes its progress to.
type terminals struct{ stderr *os.File }

func (t terminals) err() bool { return isTerminal(t.stderr) }

func (t terminals) width() int {
	w, _, err := term.GetSize(int(t.stderr.Fd()))
	if err != nil {
		return 0
	}
	return w
}

func isTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// askPassword reads a password from the terminal, unseen.
func askPassword(in *os.File, out io.Writer, login string) (string, error) {
	if !isTerminal(in) {
		return "", errors.New("there is no password: give it with -P or in SQLCMDPASSWORD (no terminal is there to ask on)")
	}
	fmt.Fprintf(out, "Password for %s: ", login)
	b, err := term.ReadPassword(int(in.Fd()))
	fmt.Fprintln(out)
	if err != nil {
		return "", fmt.Errorf("cannot read the password: %w", err)
	}
	return string(b), nil
}
