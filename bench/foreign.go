package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Clients of other languages: each sends the batch so many times over one
// connection in clear.
//
//go:embed tedious.js
var tediousJS string

//go:embed pytds.py
var pytdsPY string

// foreign prints the CPU time of a call of other clients, where they are installed:
// that of a run with many calls less that of a run with one.
func foreign(ctx context.Context, srv *child, o options, batch string, out io.Writer) error {
	host, port, err := net.SplitHostPort(srv.clear)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gostress-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	env := append(os.Environ(), "BENCH_HOST="+host, "BENCH_PORT="+port, "BENCH_PASSWORD="+secret, "BENCH_BATCH="+batch, "TDSVER=7.4")
	clients := []struct {
		name string
		args func(n int) ([]string, error)
	}{
		{"tedious (node)", func(n int) ([]string, error) { return []string{"node", "-e", tediousJS, fmt.Sprint(n)}, nil }},
		{"bsqldb (FreeTDS)", func(n int) ([]string, error) {
			file := filepath.Join(dir, fmt.Sprintf("%d.sql", n))
			text := strings.Repeat(strings.TrimSpace(batch)+"\ngo\n", n)
			return []string{"bsqldb", "-S", host + ":" + port, "-U", "sa", "-P", secret, "-q", "-i", file}, os.WriteFile(file, []byte(text), 0o600)
		}},
		{"python3-tds", func(n int) ([]string, error) { return []string{python(ctx), "-c", pytdsPY, fmt.Sprint(n)}, nil }},
	}
	fmt.Fprintf(out, "\nthe batch in clear, one connection, %d calls of clients of other languages:\n", o.foreign)
	for _, c := range clients {
		var us [2]float64
		var failed error
		for i, n := range []int{1, o.foreign + 1} {
			args, err := c.args(n)
			if err != nil {
				return err
			}
			cmd := exec.CommandContext(ctx, args[0], args[1:]...)
			cmd.Env = env
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = io.Discard, &said
			if err := cmd.Run(); err != nil {
				failed = fmt.Errorf("%w: %s", err, lastLine(said.String()))
				break
			}
			us[i] = float64((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Microseconds())
		}
		if failed != nil {
			fmt.Fprintf(out, "  %-18s not measured (%v)\n", c.name, failed)
			continue
		}
		fmt.Fprintf(out, "  %-18s %.1f us CPU a call\n", c.name, (us[1]-us[0])/float64(o.foreign))
	}
	return nil
}

// python is the interpreter that knows pytds: the system's, where another stands before it.
func python(ctx context.Context) string {
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(ctx, p, "-c", "import pytds").Run() == nil {
			return p
		}
	}
	return "python3"
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for _, l := range lines {
		if strings.Contains(l, "Error") || strings.Contains(l, "rror:") {
			return strings.TrimSpace(l)
		}
	}
	return lines[len(lines)-1]
}
