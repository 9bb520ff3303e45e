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
	"text/tabwriter"
	"time"
)

// Clients of other languages: each sends the batch so many times over one
// connection in clear.
//
//go:embed tedious.js
var tediousJS string

//go:embed pytds.py
var pytdsPY string

// client is a program that sends the batch n times.
type client struct {
	name string
	args func(n int) ([]string, error)
}

// foreign prints what a call costs clients of other languages, where they are installed, beside the
// bare socket and gostress in processes of their own: a run with many calls less one with one call.
// They take turns; medians are shown.
func foreign(ctx context.Context, srv *child, o options, batch string, out io.Writer) error {
	host, port, err := net.SplitHostPort(srv.clear)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gostress-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	env := append(os.Environ(), "BENCH_HOST="+host, "BENCH_PORT="+port, "BENCH_PASSWORD="+secret, "BENCH_BATCH="+batch, "TDSVER=7.4")
	own := func(path string) client {
		return client{path, func(n int) ([]string, error) {
			return []string{self, "calls", path, "batch", "false", "1", fmt.Sprint(n), srv.clear, srv.tls}, nil
		}}
	}
	clients := []client{
		own("floor"), own("tds"), own("go-mssqldb"), own("database/sql"),
		{"FreeTDS bsqldb", func(n int) ([]string, error) {
			file := filepath.Join(dir, fmt.Sprintf("%d.sql", n))
			text := strings.Repeat(strings.TrimSpace(batch)+"\ngo\n", n)
			return []string{"bsqldb", "-S", host + ":" + port, "-U", "sa", "-P", secret, "-q", "-i", file}, os.WriteFile(file, []byte(text), 0o600)
		}},
		{"python-tds", func(n int) ([]string, error) { return []string{python(ctx), "-c", pytdsPY, fmt.Sprint(n)}, nil }},
		{"tedious", func(n int) ([]string, error) { return []string{"node", "-e", tediousJS, fmt.Sprint(n)}, nil }},
	}
	turns := make([][]figures, len(clients))
	failed := make([]error, len(clients))
	for range o.rounds {
		for i, c := range clients {
			if failed[i] != nil {
				continue
			}
			var f figures
			if f, failed[i] = c.cost(ctx, srv, env, o.foreign); failed[i] == nil {
				turns[i] = append(turns[i], f)
			}
		}
	}
	fmt.Fprintf(out, "\nthe batch in clear, one connection, each client a process of its own; medians of %d runs of %d calls\n\n", o.rounds, o.foreign)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "client\tuser us\tsystem us\tCPU us\tx floor\tcalls/s\tbytes out\tbytes in\t")
	floor := lane{turns: turns[0]}
	for i, c := range clients {
		if failed[i] != nil {
			continue
		}
		l := lane{turns: turns[i]}
		m, ratio := l.median(), 1.0
		if failed[0] == nil {
			ratio = l.ratio(&floor)
		}
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%.2f\t%.0f\t%.0f\t%.0f\t\n", c.name, m.user, m.system, m.user+m.system, ratio, m.rate, m.sent, m.got)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i, c := range clients {
		if failed[i] != nil {
			fmt.Fprintf(out, "%s was not measured: %v\n", c.name, failed[i])
		}
	}
	return nil
}

// cost is what a call takes of n.
func (c client) cost(ctx context.Context, srv *child, env []string, n int) (figures, error) {
	var user, system, took [2]time.Duration
	var in, out [2]int64
	for i, calls := range []int{1, n + 1} {
		args, err := c.args(calls)
		if err != nil {
			return figures{}, err
		}
		in0, out0, err := srv.bytes()
		if err != nil {
			return figures{}, err
		}
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Env = env
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = io.Discard, &said
		start := time.Now()
		if err := cmd.Run(); err != nil {
			return figures{}, fmt.Errorf("%w: %s", err, lastLine(said.String()))
		}
		took[i] = time.Since(start)
		user[i], system[i] = cmd.ProcessState.UserTime(), cmd.ProcessState.SystemTime()
		in1, out1, err := srv.bytes()
		if err != nil {
			return figures{}, err
		}
		in[i], out[i] = in1-in0, out1-out0
	}
	per := func(v float64) float64 { return v / float64(n) }
	us := func(d [2]time.Duration) float64 { return per(float64((d[1] - d[0]).Microseconds())) }
	return figures{user: us(user), system: us(system), rate: 1e6 / us(took), sent: per(float64(in[1] - in[0])), got: per(float64(out[1] - out[0]))}, nil
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
