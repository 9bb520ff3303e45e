package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"gostress/internal/engine/exec"
	"gostress/internal/server"
)

func TestMain(m *testing.M) {
	// The demo starts this program again as its engine; the file is then the
	// test binary, and the name alone tells what it is to be.
	if len(os.Args) > 1 && os.Args[1] == "serve" && os.Args[0] == "gostress" {
		main()
	}
	testscript.Main(m, map[string]func(){"gostress": main, "ostress": main})
}

// testPassword holds every character that connection strings stumble over.
const testPassword = `P@ss;w={0}%r#d'"!`

// testServer is one embedded engine for all scripts of a test run; each script
// works in databases of its own.
var testServer = sync.OnceValues(func() (int, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	eng := exec.New(exec.Options{Version: "test", ServerName: "TESTSRV"})
	go func() {
		_ = server.Serve(context.Background(), server.Options{Listener: ln, Engine: eng, Users: map[string]string{"sa": testPassword}})
	}()
	return ln.Addr().(*net.TCPAddr).Port, nil
})

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			port, err := testServer()
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
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exitcode": exitCode},
	})
}

// exitCode is "exitcode N program args...": it runs the program and holds its
// exit status to N. Its output is for stdout and stderr to look at.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N program [args...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("%s: exit status %s, want %s", args[1], got, args[0])
	}
}
