// Package dmv defines the system views: sys.*, INFORMATION_SCHEMA.* and the
// dynamic management views that the engine can fill. Names, types and the order
// of columns are SQL Server's; columns that the engine has nothing to say about
// are left out at the end of a view or are NULL where SQL Server shows NULL too.
package dmv

import (
	"fmt"
	"strings"
	"time"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/types"
)

// Live tells of what lives only while the engine runs.
type Live interface {
	// Sessions returns the sessions of this moment in the order of their ids.
	Sessions() []Session
}

// Session is a session as sys.dm_exec_sessions, sys.dm_exec_connections and
// sys.dm_exec_requests show it.
type Session struct {
	ID                int
	Login             string
	Host, Program     string
	HostPID           int
	Interface         string // of the client, e.g. "ODBC"
	Address           string // of the client
	Port              int    // of the client; 0 = unknown
	PacketSize        int    // bytes
	Encrypted         bool
	AuthScheme        string // SQL or NTLM
	Database          int32
	LoginTime         time.Time
	LastStart         time.Time // of the last request
	LastEnd           time.Time // zero while the first one runs
	Status            string    // running, sleeping
	RowCount          int64
	Isolation         int // 1 READ UNCOMMITTED, 2 READ COMMITTED, 3 REPEATABLE READ, 4 SERIALIZABLE, 5 SNAPSHOT
	OpenTransactions  int
	LockTimeout       int // ms, -1 = forever
	DeadlockPriority  int
	Language          string
	DateFormat        string // mdy
	DateFirst         int
	TextSize          int
	QuotedIdentifier  bool
	ArithAbort        bool
	AnsiNullDefaultOn bool
	AnsiWarnings      bool
	AnsiPadding       bool
	AnsiNulls         bool
	ConcatNull        bool
	PrevError         int
	Elapsed           time.Duration // of all requests
	Request           *Request      // nil = none runs
}

// Request is a request that runs.
type Request struct {
	Start    time.Time
	Status   string // running, suspended
	Command  string // SELECT, INSERT, EXECUTE ...
	Text     string
	Blocking int    // session id; 0 = none
	WaitType string // "" = it does not wait
	Wait     time.Duration
}

// Suspend makes it a request that waits, for a session if one is known, since a time.
func (r *Request) Suspend(waitType string, blocking int, since time.Time) {
	r.Status, r.WaitType, r.Blocking, r.Wait = "suspended", waitType, blocking, time.Since(since)
}

// Install defines the system views of every database of in. live may be nil: then
// the views about sessions are empty.
func Install(in *catalog.Instance, live Live) {
	var list []*catalog.Table
	for _, group := range [][]def{
		objectViews(), columnViews(), indexViews(), constraintViews(), typeViews(), moduleViews(),
		databaseViews(), principalViews(), storageViews(), serverViews(), logViews(), sessionViews(live), schemaViews(), oldViews(),
	} {
		for _, d := range group {
			list = append(list, d.table(int32(-100-len(list))))
		}
	}
	in.SetSystem(list)
}

// def defines a view: its columns as "name type" or "name type null", and its rows.
type def struct {
	name string // schema.name
	cols []string
	rows func(q catalog.SystemQuery, add adder) error
}

// adder adds a row: a Go value per column, nil for NULL.
type adder func(values ...any) error

func (d def) table(id int32) *catalog.Table {
	schema, name, _ := strings.Cut(d.name, ".")
	t := &catalog.Table{ID: id, Schema: schema, Name: name, PrimaryKey: -1}
	for i, c := range d.cols {
		col, err := column(c)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", d.name, err))
		}
		col.ID = int32(i) + 1
		t.Columns = append(t.Columns, col)
	}
	cols, rows := t.Columns, d.rows
	t.System = func(q catalog.SystemQuery, emit func([]types.Value) error) error {
		row := make([]types.Value, len(cols))
		return rows(q, func(values ...any) error {
			if len(values) != len(cols) {
				return fmt.Errorf("%s.%s: %d values for %d columns", schema, name, len(values), len(cols))
			}
			for i, v := range values {
				var err error
				if row[i], err = value(cols[i].Type, v); err != nil {
					return fmt.Errorf("%s.%s.%s: %w", schema, name, cols[i].Name, err)
				}
			}
			return emit(row)
		})
	}
	return t
}

// column reads "name type [null]".
func column(s string) (catalog.Column, error) {
	f := strings.Fields(s)
	if len(f) < 2 {
		return catalog.Column{}, fmt.Errorf("column %q", s)
	}
	c := catalog.Column{Name: f[0], Nullable: len(f) > 2}
	name, rest, _ := strings.Cut(f[1], "(")
	var args []int
	for _, a := range strings.Split(strings.TrimSuffix(rest, ")"), ",") {
		if a == "max" {
			args = append(args, types.Max)
		} else if a != "" {
			n := 0
			if _, err := fmt.Sscan(a, &n); err != nil {
				return c, err
			}
			args = append(args, n)
		}
	}
	var err error
	c.Type, err = types.ParseTypeName(name, args)
	return c, err
}

// value makes the value of a column out of a Go value.
func value(t types.Type, v any) (types.Value, error) {
	switch v := v.(type) {
	case nil:
		return types.Value{}, nil
	case types.Value:
		return v, nil
	case bool:
		return types.NewBit(v), nil
	case int:
		return number(t, int64(v)), nil
	case int16:
		return number(t, int64(v)), nil
	case int32:
		return number(t, int64(v)), nil
	case int64:
		return number(t, v), nil
	case uint8:
		return number(t, int64(v)), nil
	case float64:
		if t.Kind == types.KindReal {
			return types.NewReal(float32(v)), nil
		}
		return types.NewFloat(v), nil
	case string:
		if t.Kind == types.KindChar {
			v += strings.Repeat(" ", max(int(t.Len)-len(v), 0))
		}
		if t.Kind == types.KindSQLVariant {
			return types.NewString(types.KindNVarChar, v), nil
		}
		return types.NewString(t.Kind, v), nil
	case []byte:
		return types.NewBytes(types.KindVarBinary, v), nil
	case time.Time:
		if v.IsZero() {
			return types.Value{}, nil
		}
		return datetime(v), nil
	}
	return types.Value{}, fmt.Errorf("no value for %T", v)
}

func number(t types.Type, n int64) types.Value {
	switch t.Kind {
	case types.KindBit:
		return types.NewBit(n != 0)
	case types.KindSQLVariant:
		return types.NewInt(types.KindInt, n)
	case types.KindReal, types.KindFloat:
		return types.NewFloat(float64(n))
	}
	return types.NewInt(t.Kind, n)
}

// datetime makes a datetime, which counts 1/300 s since 1900.
func datetime(t time.Time) types.Value {
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	days := day.Sub(time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)) / (24 * time.Hour)
	in := time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	return types.NewDateTime(int64(days), int64(in/1000)*300/1_000_000)
}

// orNil is nil for an empty string.
func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func none(catalog.SystemQuery, adder) error { return nil }

// join puts column lists one after the other.
func join(lists ...[]string) []string {
	var all []string
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}
