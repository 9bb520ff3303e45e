package target

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gostress/internal/tds"
	"gostress/pkg/driver"
)

// TestSettings: what a session is to be is one batch behind each login.
func TestSettings(t *testing.T) { overWires(t, testSettings) }

func testSettings(t *testing.T, w Wire) {
	for name, tt := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"ssms":     {func(o *Options) { o.SSMS = true }, "SET ARITHABORT ON\n"},
		"implicit": {func(o *Options) { o.ImplicitTransactions = true }, "SET IMPLICIT_TRANSACTIONS ON\n"},
		"all": {func(o *Options) {
			o.SSMS, o.ImplicitTransactions, o.QuotedIdentifierOff, o.Language = true, true, true, "O'lang"
		}, "SET LANGUAGE N'O''lang'\nSET ARITHABORT ON\nSET QUOTED_IDENTIFIER OFF\nSET IMPLICIT_TRANSACTIONS ON\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := make(chan string, 1)
			f := serve(t, func(p *peer) {
				p.accept(tds.EncryptNotSupported)
				got <- p.batch()
				p.send(done(0))
				p.wait()
			})
			o := options(w, f)
			tt.change(&o)
			if _, err := connectTo(t, o); err != nil {
				t.Fatal(err)
			}
			if text := <-got; text != tt.want {
				t.Errorf("the batch is %q, not %q", text, tt.want)
			}
		})
	}
}

// TestSettingRefused: a language that the server does not know is named.
func TestSettingRefused(t *testing.T) { overWires(t, testSettingRefused) }

func testSettingRefused(t *testing.T, w Wire) {
	f := serve(t, func(p *peer) {
		p.accept(tds.EncryptNotSupported)
		p.batch()
		p.send(tds.AppendMessage(nil, tds.V74, &tds.ServerMessage{Token: tds.TokenError, Number: 2740, State: 1, Class: 16,
			Text: "SET LANGUAGE failed", Server: "srv", Line: 1}), done(tds.DoneError))
		p.wait()
	})
	o := options(w, f)
	o.Language, o.SSMS = "Klingon", true
	_, err := connectTo(t, o)
	var ce *driver.ConnectError
	if !errors.As(err, &ce) || !strings.Contains(err.Error(), "cannot SET LANGUAGE N'Klingon': error 2740") {
		t.Errorf("got %v", err)
	}
}

// TestEngineSettings: the embedded engine takes them.
func TestEngineSettings(t *testing.T) { overWires(t, testEngineSettings) }

func testEngineSettings(t *testing.T, w Wire) {
	addr := serveEngine(t, newCert(t))
	o := Options{Server: addr, User: "sa", Password: "p;={}%#@'\"w", Database: "master", Wire: w}
	s, err := connectTo(t, o)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := do(t, s, context.Background(), text("create database d"), nil); err != nil || len(out.Errors) > 0 {
		t.Fatal(out, err)
	}
	o.Database = "d"
	o.ImplicitTransactions, o.QuotedIdentifierOff, o.Language = true, true, "us_english"
	if s, err = connectTo(t, o); err != nil {
		t.Fatal(err)
	}
	l := &log{}
	out, err := do(t, s, context.Background(), text("create table t(a int)\nselect sessionproperty('QUOTED_IDENTIFIER')"), l)
	if err != nil || len(out.Errors) > 0 || !out.OpenTran || len(l.rows) != 1 || l.rows[0][0] != int64(0) {
		t.Errorf("got %+v, %v, %q", out, err, l.lines)
	}
	o.Prepare = true
	if s, err = connectTo(t, o); err != nil {
		t.Fatal(err)
	}
	for _, r := range []string{"create table u(a int)", "insert u values (1)", "select * from u"} {
		// A transaction that began by itself is no mistake of the statement's.
		if out, err := do(t, s, context.Background(), text(r), nil); err != nil || len(out.Errors) > 0 || !out.OpenTran {
			t.Errorf("%s: got %+v, %v", r, out, err)
		}
	}
	o.Language = "Klingon"
	if _, err = connectTo(t, o); err == nil || !strings.Contains(err.Error(), "Klingon") {
		t.Errorf("got %v", err)
	}
}
