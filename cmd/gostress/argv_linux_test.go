package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestPasswordLeavesTheProcessList starts the program with -P against a server
// that says nothing, and reads its command line as ps does.
func TestPasswordLeavesTheProcessList(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-S127.0.0.1,"+fmt.Sprint(ln.Addr().(*net.TCPAddr).Port), "-Usa", "-Pfirst-secret", "-Q", "SELECT 1", "-q", "-l0", "-o", t.TempDir())
	cmd.Args[0] = "gostress"
	cmd.Env = append(os.Environ(), asProgram+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	if _, err := ln.Accept(); err != nil { // it has read its command line by now
		t.Fatal(err)
	}
	var line []byte
	for range 100 {
		if line, err = os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", cmd.Process.Pid)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(line, []byte("secret")) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if bytes.Contains(line, []byte("secret")) || !bytes.Contains(line, []byte("-P***")) || !bytes.Contains(line, []byte("SELECT 1")) {
		t.Errorf("the process list shows %q", line)
	}
}
