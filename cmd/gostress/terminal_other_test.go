//go:build !linux

package main

import (
	"errors"
	"os"
)

func openTerminal() (keyboard, tty *os.File, err error) { return nil, nil, errors.ErrUnsupported }
