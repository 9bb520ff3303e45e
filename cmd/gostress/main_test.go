package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/text/encoding/charmap"

	"gostress/internal/engine/exec"
	"gostress/internal/server"
	"gostress/pkg/script"
)

func TestMain(m *testing.M) {
	// The demo starts this program again as its engine; the file is then the
	// test binary, and the name alone tells what it is to be.
	if len(os.Args) > 1 && os.Args[1] == "serve" && os.Args[0] == "gostress" || os.Getenv(asProgram) != "" {
		main()
	}
	testscript.Main(m, map[string]func(){"gostress": main, "ostress": main})
}

// asProgram, set in the environment, makes the test binary be the program.
const asProgram = "GOSTRESS_TEST_AS_PROGRAM"

// testPassword holds every character that connection strings stumble over.
const testPassword = `P@ss;w={0}%r#d'"!`

// startServer starts an embedded engine that ends with the process.
func startServer() (int, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	eng := exec.New(exec.Options{Version: "test", ServerName: "TESTSRV"})
	go func() {
		_ = server.Serve(context.Background(), server.Options{Listener: ln, Engine: eng, Users: map[string]string{"sa": testPassword, "ann": testPassword}})
	}()
	return ln.Addr().(*net.TCPAddr).Port, nil
}

func TestScripts(t *testing.T) {
	t.Parallel()
	// One embedded engine for all scripts, each of which works in databases of its own.
	testscript.Run(t, scriptParams(sync.OnceValues(startServer)))
}

// scriptParams are those of every script; server gives the port of its engine.
func scriptParams(server func() (int, error)) testscript.Params {
	return testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			port, err := server()
			if err != nil {
				return err
			}
			dead, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			e.Setenv("DEADPORT", fmt.Sprint(dead.Addr().(*net.TCPAddr).Port))
			if err := dead.Close(); err != nil {
				return err
			}
			mute, err := net.Listen("tcp", "127.0.0.1:0") // accepts, says nothing
			if err != nil {
				return err
			}
			e.Defer(func() { _ = mute.Close() })
			e.Setenv("MUTEPORT", fmt.Sprint(mute.Addr().(*net.TCPAddr).Port))
			e.Setenv("PORT", fmt.Sprint(port))
			e.Setenv("SQLPW", testPassword)
			e.Setenv("KRB5CCNAME", "FILE:"+e.WorkDir+"/no-ticket")
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "trusted" { // a trusted login needs to know the peer's user
				return runtime.GOOS == "linux", nil
			}
			if cond == "devfull" {
				_, err := os.Stat("/dev/full")
				return err == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exitcode": exitCode, "utf8": toUTF8, "size": fileSize, "glob": globs, "await": await,
			"leftover": leftover, "program": program, "expand": expand, "cp1251": toCP1251,
			"utf16": toUTF16,
		},
	}
}

// exitCode is "exitcode N program args...": it runs the program and holds its
// exit status to N, or to one of N|M. Its output is for stdout and stderr to look at.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N program [args...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if !slices.Contains(strings.Split(args[0], "|"), got) {
		ts.Fatalf("%s: exit status %s, want %s", args[1], got, args[0])
	}
}

// toUTF8 is "utf8 FILE OUT": OUT holds the text of FILE, which is UTF-16LE.
func toUTF8(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: utf8 file out")
	}
	text, enc, err := script.Decode([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	if enc != script.UTF16LE {
		ts.Fatalf("%s is %s", args[0], enc)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// toCP1251 is "cp1251 FILE OUT": OUT holds the UTF-8 text of FILE in code page 1251.
func toCP1251(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cp1251 file out")
	}
	text, err := charmap.Windows1251.NewEncoder().String(ts.ReadFile(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// fileSize is "size FILE N".
func fileSize(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: size file bytes")
	}
	if n := fmt.Sprint(len(ts.ReadFile(args[0]))); n != args[1] {
		ts.Fatalf("%s has %s bytes, want %s", args[0], n, args[1])
	}
}

// globs is "glob PATTERN": some file matches.
func globs(ts *testscript.TestScript, neg bool, args []string) {
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if (len(found) > 0) == neg {
		ts.Fatalf("%s matches %q", args[0], found)
	}
}

// await is "await FILE TEXT": it waits until FILE is there and holds TEXT.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await file text")
	}
	for range 24000 { // four minutes: the race detector is slow
		if b, err := os.ReadFile(ts.MkAbs(args[0])); err == nil && strings.Contains(string(b), args[1]) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s never held %q", args[0], args[1])
}

// leftover is "leftover FILE PATTERNS": each line of FILE matches one of the
// regular expressions in PATTERNS.
func leftover(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: leftover file patterns")
	}
	var known []*regexp.Regexp
	for p := range strings.SplitSeq(strings.TrimSuffix(ts.ReadFile(args[1]), "\n"), "\n") {
		re, err := regexp.Compile(p)
		ts.Check(err)
		known = append(known, re)
	}
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile(args[0]), "\n"), "\n")
	if len(lines) < 5 {
		ts.Fatalf("%s has %d lines only", args[0], len(lines))
	}
	for _, line := range lines {
		if !slices.ContainsFunc(known, func(re *regexp.Regexp) bool { return re.MatchString(strings.TrimSuffix(line, "\r")) }) {
			ts.Fatalf("no pattern matches the line %q", line)
		}
	}
}

// program is "program NAME": a link in the script's directory by which the
// program can be run under that name.
func program(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: program name")
	}
	self, err := os.Executable()
	ts.Check(err)
	ts.Check(os.Symlink(self, ts.MkAbs(args[0])))
	ts.Setenv(asProgram, "1")
}

// expand is "expand FILE OUT": OUT holds FILE with the script's variables in it.
func expand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: expand file out")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(os.Expand(ts.ReadFile(args[0]), ts.Getenv)), 0o600))
}
