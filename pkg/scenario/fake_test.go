package scenario

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"gostress/pkg/driver"
)

// fake is a scripted session: it answers the facts from its fields, prints the first message of
// each batch, and keeps what it was sent.
type fake struct {
	t    *testing.T
	row  []any // the answer to the facts query
	sent []string
	// answer, if set, is asked first.
	answer func(text string) (rows [][]any, bad *driver.ServerError, ok bool)
	closed bool
}

// facts are those of an empty database of SQL Server 2022 Developer, changed by the functions.
func facts(change ...func(row []any)) []any {
	row := []any{"shop", "16.0.4085.2", "Developer Edition (64-bit)", int64(3), int64(1), int64(0), nil, nil, nil, nil}
	for _, f := range change {
		f(row)
	}
	return row
}

func set(i int, v any) func([]any) { return func(row []any) { row[i] = v } }

// Columns of the facts.
const (
	colDatabase, colVersion, colEdition, colEngine, colXTP = 0, 1, 2, 3, 4
	colMarked, colInmem, colOndisk, colReset, colHeader    = 5, 6, 7, 8, 9
)

func installed() []func([]any) {
	return []func([]any){set(colMarked, int64(1)), set(colInmem, int64(11)), set(colOndisk, int64(12)), set(colReset, int64(13))}
}

func sample() []func([]any) {
	return append(installed(), set(colMarked, int64(0)), set(colHeader, int64(14)))
}

var printed = regexp.MustCompile(`PRINT N'((?:[^']|'')*)'`)

func (f *fake) Do(ctx context.Context, r *driver.Request, sink driver.Sink) (driver.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return driver.Outcome{}, err
	}
	f.sent = append(f.sent, r.Text)
	if f.answer != nil {
		if rows, bad, ok := f.answer(r.Text); ok {
			for _, row := range rows {
				if err := sink.Row(row); err != nil {
					f.t.Error(err)
				}
			}
			if bad != nil {
				return driver.Outcome{Errors: []driver.ServerError{*bad}}, nil
			}
			return driver.Outcome{Rows: int64(len(rows))}, nil
		}
	}
	switch {
	case r.Text == factsQuery:
		return driver.Outcome{Rows: 1}, sink.Row(f.row)
	case r.Text == azureXTP:
		return driver.Outcome{Rows: 1}, sink.Row([]any{f.row[colXTP]})
	}
	if m := printed.FindStringSubmatch(r.Text); m != nil {
		return driver.Outcome{}, sink.Event(driver.SinkEvent{
			Kind: driver.SinkMessage, Message: driver.ServerError{Message: strings.ReplaceAll(m[1], "''", "'")}})
	}
	return driver.Outcome{}, nil
}

func (f *fake) Close() error { f.closed = true; return nil }

// changes are the texts that were sent, queries for facts apart.
func (f *fake) changes() []string {
	var out []string
	for _, s := range f.sent {
		if s != factsQuery && s != azureXTP {
			out = append(out, s)
		}
	}
	return out
}
