//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps the terminal's Ctrl-C from the child: the parent stops it once
// the run has ended and been reported.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
