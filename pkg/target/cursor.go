package target

import (
	"fmt"
	"strings"
)

// CursorType is a kind of server cursor.
type CursorType string

// The kinds of cursors, from the one that costs the server least.
const (
	CursorFastForward CursorType = "fast forward"
	CursorForwardOnly CursorType = "forward only"
	CursorStatic      CursorType = "static"
	CursorKeyset      CursorType = "keyset"
	CursorDynamic     CursorType = "dynamic"
)

// CursorConcurrency says how a cursor guards the rows it shows.
type CursorConcurrency string

// The kinds of concurrency.
const (
	ConcurrencyReadOnly      CursorConcurrency = "read only"
	ConcurrencyLock          CursorConcurrency = "lock"           // locks on the rows fetched
	ConcurrencyOptimisticVer CursorConcurrency = "optimistic ver" // rows are compared by their rowversion
	ConcurrencyOptimisticVal CursorConcurrency = "optimistic val" // rows are compared by their values
)

// Cursor says through which server cursor batches are run. The zero value is
// none: rows come as the server makes them.
type Cursor struct {
	Type        CursorType
	Concurrency CursorConcurrency
}

// ParseCursor reads the values of CursorType and CursorConcurrency, in any case,
// with the prefixes of ODBC's constants or without, with blanks, hyphens or
// underscores between the words or none. Both empty mean no cursor; the type
// alone is read only, the concurrency alone forward only.
func ParseCursor(typ, concurrency string) (Cursor, error) {
	var c Cursor
	switch t := cursorWord(typ, "sqlcursor"); t {
	case "":
	case "fastforward", "fastforwardonly":
		c.Type = CursorFastForward
	case "forwardonly":
		c.Type = CursorForwardOnly
	case "static":
		c.Type = CursorStatic
	case "keyset", "keysetdriven":
		c.Type = CursorKeyset
	case "dynamic":
		c.Type = CursorDynamic
	default:
		return c, fmt.Errorf("cursor type %q is not known: write ForwardOnly, FastForward, Static, Keyset or Dynamic", typ)
	}
	switch t := cursorWord(concurrency, "sqlconcur"); t {
	case "":
	case "readonly":
		c.Concurrency = ConcurrencyReadOnly
	case "lock", "locks", "scrolllocks":
		c.Concurrency = ConcurrencyLock
	case "optimisticver", "rowver":
		c.Concurrency = ConcurrencyOptimisticVer
	case "optimisticval", "values":
		c.Concurrency = ConcurrencyOptimisticVal
	default:
		return c, fmt.Errorf("cursor concurrency %q is not known: write ReadOnly, Lock, OptimisticVer or OptimisticVal", concurrency)
	}
	switch {
	case c == Cursor{}:
		return c, nil
	case c.Type == "":
		c.Type = CursorForwardOnly
	case c.Concurrency == "":
		c.Concurrency = ConcurrencyReadOnly
	}
	if c.Type == CursorFastForward && c.Concurrency != ConcurrencyReadOnly {
		return c, fmt.Errorf("a fast forward cursor is read only: write another type beside concurrency %s", concurrency)
	}
	return c, nil
}

func cursorWord(s, prefix string) string {
	s = strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "", "\t", "").Replace(s))
	return strings.TrimPrefix(s, prefix)
}

// IsZero says that there is no cursor.
func (c Cursor) IsZero() bool { return c == Cursor{} }

func (c Cursor) String() string {
	if c.IsZero() {
		return "none"
	}
	return string(c.Type) + ", " + string(c.Concurrency)
}
