package ostress

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gostress/pkg/driver"
)

func testLog() (*Log, *bytes.Buffer) {
	var out bytes.Buffer
	now := time.Date(2026, 3, 9, 14, 5, 6, 78e6, time.UTC)
	return NewLog(&out, func() time.Time { return now }, 0x1A2C), &out
}

func TestLogLines(t *testing.T) {
	t.Parallel()
	l, out := testLog()
	l.Line("Max threads setting: %d", 10000)
	l.Block(l.Worker(0), "Attempt", "more", "")
	var file bytes.Buffer
	l.Attach(&file)
	l.Text("summary\n")
	want := "03/09/26 14:05:06.078 [0x00001A2C] Max threads setting: 10000\n" +
		"03/09/26 14:05:06.078 [0x00001A30] Attempt\nmore\n\nsummary\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("console (-want +got):\n%s", d)
	}
	if d := cmp.Diff(want, file.String()); d != "" {
		t.Errorf("file (-want +got):\n%s", d)
	}
	if l.Err() != nil {
		t.Error(l.Err())
	}
}

type badWriter struct{}

func (badWriter) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestLogKeepsTheFirstFailure(t *testing.T) {
	t.Parallel()
	l, out := testLog()
	l.Attach(badWriter{})
	l.Line("x")
	if l.Err() == nil || l.ConsoleErr() != nil || !strings.Contains(out.String(), "x\n") {
		t.Errorf("errors %v, %v, console %q", l.Err(), l.ConsoleErr(), out)
	}
	var file strings.Builder
	l = NewLog(badWriter{}, time.Now, 1)
	l.Attach(&file)
	l.Line("x")
	if l.ConsoleErr() == nil || l.Err() != nil || !strings.Contains(file.String(), "x\n") {
		t.Errorf("errors %v, %v, file %q", l.Err(), l.ConsoleErr(), file.String())
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	src := driver.Source{File: "/in/a.sql", Line: 7, Batch: 2}
	tests := map[string]struct {
		ev   driver.Event
		want string
	}{
		"query error": {
			driver.Event{Kind: driver.QueryError, Worker: 1, Server: driver.ServerError{Number: 8651, Class: 17, State: 1, Line: 1, Message: "low memory"}},
			"[0x00001A34] SQLState: 42000, Native Error: 8651, Severity: 17, State: 1, Line: 1\n[SQL Server]low memory\n\n"},
		"query error in a file, in the batch itself": {
			driver.Event{Kind: driver.QueryError, Worker: 0, Source: src, Server: driver.ServerError{Number: 102, Class: 15, State: 1, Line: 3, Message: "syntax"}},
			"[0x00001A30] SQLState: 42000, Native Error: 102, Severity: 15, State: 1, Line: 3\n" +
				"[SQL Server]syntax\nInput file: /in/a.sql, batch 2 from line 7; the error is on line 9 of the file\n\n"},
		"query error in a file": {
			driver.Event{Kind: driver.QueryError, Worker: 0, Source: src, Server: driver.ServerError{Number: 1205, Class: 13, State: 51, Line: 3, Proc: "dbo.p", Message: "deadlock"}},
			"[0x00001A30] SQLState: 40001, Native Error: 1205, Severity: 13, State: 51, Line: 3, Procedure: dbo.p\n" +
				"[SQL Server]deadlock\nInput file: /in/a.sql, batch 2 from line 7\n\n"},
		"connect failure": {
			driver.Event{Kind: driver.ConnectFailed, Worker: 0, Err: &driver.LoginError{Number: 18456, Server: "h,1", Login: "sa", State: 1, Message: "no"}},
			"[0x00001A30] Attempt to establish connection failed.  See the detailed errors that follow:\n" +
				"SQLState: 28000, Native Error: 18456\n[gostress]cannot log in to h,1 as sa: error 18456, state 1: no\nInput file: /full/a.sql\n\n"},
		"a certificate": {
			driver.Event{Kind: driver.ConnectFailed, Worker: 0, Unit: 1, Err: &driver.ConnectError{Server: "h,1", Err: &tls.CertificateVerificationError{Err: errors.New("unknown authority")}}},
			"[0x00001A30] Attempt to establish connection failed.  See the detailed errors that follow:\n" +
				"SQLState: 08001, Native Error: 0\n[gostress]cannot connect to h,1: tls: failed to verify certificate: unknown authority\n" +
				"NOTE: -T146 encrypts the login alone, and checks no certificate\n\n"},
		"begun":      {driver.Event{Kind: driver.Begun, Worker: -1}, "[0x00001A2C] Worker threads created, beginning execution...\n"},
		"lost":       {driver.Event{Kind: driver.Lost, Worker: 0, Err: errors.New("gone"), Source: src}, "[0x00001A30] The connection was lost; whether the batch in flight took effect is not known\n[gostress]gone\nInput file: /in/a.sql, batch 2 from line 7\n\n"},
		"suppressed": {driver.Event{Kind: driver.Suppressed, Of: driver.QueryError, Worker: -1, Count: 9, Server: driver.ServerError{Number: 8134}}, "[0x00001A2C] 9 more errors with number 8134 in the last second, not shown one by one\n"},
		"retried": {driver.Event{Kind: driver.Retried, Worker: 0, Err: errors.New("error 1205"), Source: src},
			"[0x00001A30] The batch is sent again: error 1205 (Input file: /in/a.sql, batch 2 from line 7)\n"},
		"cancelled":       {driver.Event{Kind: driver.Cancelled, Worker: 0}, "[0x00001A30] The batch was cancelled, as CancelPct asks for\n"},
		"ended":           {driver.Event{Kind: driver.Disconnected, Worker: 0}, "[0x00001A30] The connection was ended in good order, to be opened again\n"},
		"cut":             {driver.Event{Kind: driver.Disconnected, Worker: 0, Err: errors.New("cut")}, "[0x00001A30] The connection was cut while the batch ran, as BatchDisconnectPct asks for\n"},
		"rolled back":     {driver.Event{Kind: driver.RolledBack, Worker: 0}, "[0x00001A30] A transaction was open when the connection's work ended: it was rolled back\n"},
		"not rolled back": {driver.Event{Kind: driver.RolledBack, Worker: 0, Err: errors.New("gone")}, "[0x00001A30] A transaction was open when the connection's work ended, and could not be rolled back: gone; the server rolls it back as the connection ends\n"},
		"too many errors": {driver.Event{Kind: driver.TooManyErrors, Worker: 0}, "[0x00001A30] The connection ends: it has had too many errors (MaxThreadErrors)\n"},
		"connected":       {driver.Event{Kind: driver.Connected, Worker: 0}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, out := testLog()
			e := Events{Log: l, Inputs: []string{"/full/a.sql", ""}}
			e.Event(tt.ev)
			if d := cmp.Diff(tt.want, strings.TrimPrefix(out.String(), "03/09/26 14:05:06.078 ")); d != "" {
				t.Errorf("lines (-want +got):\n%s", d)
			}
		})
	}
}

func TestPlaceOfAnError(t *testing.T) {
	t.Parallel()
	ev := driver.Event{Kind: driver.QueryError, Source: driver.Source{File: "a.sql", Line: 7, Batch: 2},
		Server: driver.ServerError{Number: 102, Class: 15, State: 1, Line: 3, Message: "syntax"}}
	head := "03/09/26 14:05:06.078 [0x00001A30] SQLState: 42000, Native Error: 102, Severity: 15, State: 1, Line: 3\n[SQL Server]syntax\n"
	where := "Input file: a.sql, batch 2 from line 7; the error is on line 9 of the file\n"
	for name, tt := range map[string]struct {
		manners       Manners
		console, file string
	}{
		"as gostress": {AsGostress, head + where + "\n", head + where + "\n"},
		"as ostress":  {AsOstress, head + "\n", head + where + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, console := testLog()
			l.Manners = tt.manners
			var file bytes.Buffer
			l.Attach(&file)
			(&Events{Log: l}).Event(ev)
			if d := cmp.Diff(tt.console, console.String()); d != "" {
				t.Errorf("console (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.file, file.String()); d != "" {
				t.Errorf("file (-want +got):\n%s", d)
			}
		})
	}
}

func TestEventsTellProgress(t *testing.T) {
	t.Parallel()
	l, out := testLog()
	e := Events{Log: l, Threads: 250}
	for i := range 250 {
		e.Event(driver.Event{Kind: driver.WorkerCreated, Worker: i})
	}
	if n := strings.Count(out.String(), "PROGRESS: Creating thread "); n != 2 {
		t.Errorf("%d lines of progress:\n%s", n, out)
	}
}

type describedSession struct{}

func (describedSession) Do(context.Context, *driver.Request, driver.Sink) (driver.Outcome, error) {
	return driver.Outcome{}, nil
}
func (describedSession) Close() error { return nil }

func TestEventsDescribeASession(t *testing.T) {
	t.Parallel()
	l, out := testLog()
	e := Events{Log: l, Verbose: true, Describe: func(driver.Session) string { return "packet size 4096" }}
	e.Event(driver.Event{Kind: driver.Connected, Worker: 0, Session: describedSession{}})
	if !strings.Contains(out.String(), "Connected: packet size 4096") {
		t.Error(out)
	}
}
