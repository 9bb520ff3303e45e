package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// terminals tells what the program writes to.
type terminals struct{ stdout, stderr *os.File }

func (t terminals) err() bool { return isTerminal(t.stderr) }

// size is that of the terminal behind standard error, zeros when it is not known.
func (t terminals) size() (width, height int) {
	width, height, err := term.GetSize(int(t.stderr.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
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
