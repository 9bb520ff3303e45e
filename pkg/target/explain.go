package target

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"gostress/pkg/driver"
)

// noDatabase is the error of a login into a database that is not there or not
// open to it. The server sends it before the refusal itself.
const noDatabase = 4060

// explain turns what go-mssqldb says into what a DBA can act on.
func (t *Target) explain(ctx context.Context, d *dialer, err error) error {
	var me mssql.Error
	if errors.As(err, &me) {
		return t.refused(me)
	}
	return &driver.ConnectError{Server: t.server.String(), Err: t.cause(ctx, d, err)}
}

func (t *Target) refused(e mssql.Error) *driver.LoginError {
	out := &driver.LoginError{Number: e.Number, State: e.State, Class: e.Class, Server: t.server.String(),
		Login: t.auth.login, Message: strings.TrimPrefix(e.Message, "login error: ")}
	for _, f := range e.All {
		if f.Number == noDatabase && e.Number != noDatabase {
			out.Number, out.State, out.Class = f.Number, f.State, f.Class
			out.Message = f.Message + " " + out.Message
			break
		}
	}
	if t.auth.integrated && (out.Number == 18452 || out.Number == 18456) {
		out.Message += " (" + t.auth.hint + ")"
	}
	if e.Number == 18452 && t.auth.parameters["authenticator"] != "" && !t.opt.ExtendedProtection {
		out.Message += " (if the server demands extended protection: --extended-protection)"
	}
	return out
}

func (t *Target) cause(ctx context.Context, d *dialer, err error) error {
	var down error
	d.mu.Lock()
	if d.conn != nil {
		down = d.conn.isDown()
	}
	d.mu.Unlock()
	// A dial sees the deadline a little before the context does.
	deadline, timed := ctx.Deadline()
	late := timed && !time.Now().Before(deadline)
	var cert *tls.CertificateVerificationError
	text := err.Error()
	switch own := d.cause(); {
	case own != nil:
		return own
	case ctx.Err() != nil || late:
		switch {
		case !late && !errors.Is(context.Cause(ctx), context.DeadlineExceeded) && !errors.Is(ctx.Err(), context.DeadlineExceeded):
			return ctx.Err()
		case d.dialed():
			return &timeoutError{"the login did not end in time (-l)"}
		}
		return &timeoutError{"nothing answered in time (-l)"}
	case t.server.Instance != "" && t.server.Port == 0 && !d.dialed():
		return fmt.Errorf("%w; SQL Server Browser tells an instance's port on UDP 1434, or write host,port", err)
	case closedByServer(err) || closedByServer(down):
		return errors.New("the server closed the connection during the login")
	case strings.Contains(text, "protocol version"):
		return fmt.Errorf("%w; an old server may need --tls-min 1.0", err)
	case errors.As(err, &cert) || strings.Contains(text, "x509:"):
		return fmt.Errorf("%w; %s", err, trustHint)
	}
	return err
}

type timeoutError struct{ text string }

func (e *timeoutError) Error() string { return e.text }
func (e *timeoutError) Timeout() bool { return true }
