package target

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gostress/pkg/driver"
)

// settings are the SET statements that a session of o begins with, one a line.
// go-mssqldb, which logs in, has no field for the language.
func (o *Options) settings() []string {
	var out []string
	if o.Language != "" {
		out = append(out, "SET LANGUAGE N'"+strings.ReplaceAll(o.Language, "'", "''")+"'")
	}
	if o.SSMS {
		out = append(out, "SET ARITHABORT ON")
	}
	if o.QuotedIdentifierOff {
		out = append(out, "SET QUOTED_IDENTIFIER OFF")
	}
	if o.ImplicitTransactions {
		out = append(out, "SET IMPLICIT_TRANSACTIONS ON")
	}
	return out
}

// set gives s its settings.
func set(ctx context.Context, s driver.Session, settings []string) error {
	out, err := s.Do(ctx, &driver.Request{Text: strings.Join(settings, "\n") + "\n"}, nil)
	if err != nil {
		return fmt.Errorf("cannot set the session's options: %w", err)
	}
	if len(out.Errors) == 0 {
		return nil
	}
	e := out.Errors[0]
	what := "set the session's options"
	if n := int(e.Line); n > 0 && n <= len(settings) {
		what = settings[n-1]
	}
	return fmt.Errorf("cannot %s: %w", what, e)
}

// resets says that r gives the session back the options of its login.
func resets(r *driver.Request) bool {
	if r.Kind != driver.RPC {
		return false
	}
	name := r.Proc[strings.LastIndexByte(r.Proc, '.')+1:]
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	return strings.EqualFold(name, "sp_reset_connection")
}

// checkMode says which of o's ways to carry out requests cannot be had.
func (o *Options) checkMode() error {
	switch {
	case o.FetchDelay < 0:
		return fmt.Errorf("a pause of %s behind each row: it cannot be negative", o.FetchDelay)
	case o.Prepare && !o.Cursor.IsZero():
		return errors.New("prepared execution (PrepareExecute) and a server cursor (CursorType, CursorConcurrency) do not go together: leave one out")
	}
	return o.Cursor.check()
}
