package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"gostress/pkg/driver"
)

// childEngine is the embedded engine in a process of its own, so that its CPU
// and memory are told apart from the generator's.
type childEngine struct {
	cmd      *exec.Cmd
	stdin    io.Closer
	server   string // as -S takes it
	password string
}

// startEngine starts this program as a server on a free port of the loopback
// address. The password goes through a pipe, whose end stops the child, so that
// it cannot outlive its parent.
func startEngine(ctx context.Context, stderr io.Writer) (*childEngine, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find this program's own file: %w", err)
	}
	e := &childEngine{password: rand.Text()}
	e.cmd = exec.Command(self, "serve", "--listen=127.0.0.1:0", "--child")
	e.cmd.Args[0] = "gostress"
	e.cmd.Stderr = stderr
	ownGroup(e.cmd)
	in, err := e.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	e.stdin = in
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := e.cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start the embedded engine: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = e.cmd.Process.Kill() })
	defer stop()
	_, err = io.WriteString(in, e.password+"\n")
	var line string
	if err == nil {
		line, err = bufio.NewReader(out).ReadString('\n')
	}
	addr, found := strings.CutPrefix(strings.TrimSpace(line), "listening on 127.0.0.1:")
	if err != nil || !found {
		_ = e.stop()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("the embedded engine did not start: it said %q (%w)", line, err)
	}
	e.server = "127.0.0.1," + addr
	return e, nil
}

// stop ends the child and waits for it.
func (e *childEngine) stop() error {
	_ = e.stdin.Close()
	done := make(chan error, 1)
	go func() { done <- e.cmd.Wait() }()
	select {
	case err := <-done:
		return err
	case <-time.After(10 * time.Second):
		_ = e.cmd.Process.Kill()
		<-done
		return errors.New("it did not stop in time and was killed")
	}
}

type cpuSeconds struct{ user, system float64 }

// engineCPU asks the engine for the CPU time of its process.
func engineCPU(ctx context.Context, s driver.Session) (cpuSeconds, error) {
	var row firstRow
	out, err := s.Do(ctx, &driver.Request{Text: "SELECT process_user_time_ms, process_kernel_time_ms FROM sys.dm_os_sys_info;"}, &row)
	if err == nil && len(out.Errors) > 0 {
		err = out.Errors[0]
	}
	if err != nil {
		return cpuSeconds{}, fmt.Errorf("cannot read the engine's CPU time: %w", err)
	}
	if len(row.values) != 2 {
		return cpuSeconds{}, errors.New("the engine does not tell its CPU time")
	}
	return cpuSeconds{float64(row.values[0]) / 1000, float64(row.values[1]) / 1000}, nil
}

// firstRow takes the whole numbers of the first row of a result.
type firstRow struct{ values []int64 }

func (f *firstRow) Row(v []any) error {
	if f.values != nil {
		return nil
	}
	for _, x := range v {
		n, ok := x.(int64)
		if !ok {
			return fmt.Errorf("%v is not a whole number", x)
		}
		f.values = append(f.values, n)
	}
	return nil
}

func (f *firstRow) Event(driver.SinkEvent) error { return nil }
