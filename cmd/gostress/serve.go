package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"gostress/internal/engine/exec"
	"gostress/internal/server"
)

type serveCmd struct {
	Listen      string  `default:"127.0.0.1:1433" help:"Address and port; port 0 takes a free one."`
	User        string  `default:"sa" short:"U" help:"The SQL login that is let in."`
	Password    *string `short:"P" env:"GOSTRESS_SERVE_PASSWORD" help:"Its password; one is made and printed if none is given."`
	AllowRemote bool    `help:"Listen on an address that other machines reach; needs a password."`
	TrustLocal  bool    `help:"Let every user of this machine log in with -E."`
	Verbose     bool    `short:"v" help:"Log connections to standard error."`
	// Child is how demo starts it: the password comes as the first line of
	// standard input, whose end stops the server.
	Child bool `hidden:""`
}

func (c *serveCmd) Run(a *app) error {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("--listen=%s: write an address and a port, as in 127.0.0.1:1433", c.Listen)
	}
	local := host == "localhost" || net.ParseIP(host).IsLoopback()
	switch {
	case local:
	case !c.AllowRemote:
		return fmt.Errorf("--listen=%s: other machines could reach it; say --allow-remote to mean that", c.Listen)
	case c.Password == nil || *c.Password == "":
		return errors.New("--allow-remote needs a password: give one with --password or in GOSTRESS_SERVE_PASSWORD")
	}
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	made := false
	var password string
	switch {
	case c.Child:
		in := bufio.NewReader(a.stdin)
		line, err := in.ReadString('\n')
		if err != nil {
			return fmt.Errorf("cannot read the password from standard input: %w", err)
		}
		password = strings.TrimRight(line, "\r\n")
		go func() {
			_, _ = io.Copy(io.Discard, in)
			cancel()
		}()
	case c.Password != nil:
		password = *c.Password
	default:
		password, made = rand.Text(), true
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", c.Listen, err)
	}
	level := zap.ErrorLevel // the engine's own faults are said in any case
	if c.Verbose {
		level = zap.InfoLevel
	}
	logger := zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(zap.NewDevelopmentEncoderConfig()), zapcore.Lock(zapcore.AddSync(a.stderr)), level))
	eng := exec.New(exec.Options{Version: version, OnCrash: func(reason any, stack []byte) {
		// What is no fault of the Go runtime may quote a value of the request, and so a secret.
		what := fmt.Sprintf("%T", reason)
		if r, ok := reason.(runtime.Error); ok {
			what = r.Error()
		}
		logger.Error("a request failed in an unexpected way", zap.String("panic", what), zap.ByteString("stack", stack))
	}})
	fmt.Fprintf(a.stdout, "listening on %s\n", ln.Addr())
	if !c.Child {
		addr := ln.Addr().(*net.TCPAddr)
		fmt.Fprintf(a.stdout, "gostress embedded engine %s: connect with -S%s\n", version, sqlAddress(addr))
		if made {
			fmt.Fprintf(a.stdout, "login %s, password %s (made for this run)\n", c.User, password)
		} else {
			fmt.Fprintf(a.stdout, "login %s\n", c.User)
		}
		fmt.Fprint(a.stdout, "It is for demos, experiments and tests. Its tables live in memory alone and are gone when it stops;\n"+
			"its times are its own, never SQL Server's. Ctrl-C stops it.\n")
	}
	err = server.Serve(ctx, server.Options{
		Listener:   ln,
		Engine:     eng,
		Users:      map[string]string{c.User: password},
		TrustLocal: c.TrustLocal,
		Logger:     logger,
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the server ended: %w", err)
	}
	return nil
}

func sqlAddress(a *net.TCPAddr) string {
	host := a.IP.String()
	if a.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return fmt.Sprintf("%s,%d", host, a.Port)
}
