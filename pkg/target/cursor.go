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
	return c, c.check()
}

// check says whether there is such a cursor.
func (c Cursor) check() error {
	switch {
	case c.IsZero():
		return nil
	case c.scroll() == 0 || c.control() == 0:
		return fmt.Errorf("there is no server cursor of type %q with concurrency %q", c.Type, c.Concurrency)
	case c.Type == CursorFastForward && c.Concurrency != ConcurrencyReadOnly:
		return fmt.Errorf("a fast forward cursor is read only: write another type beside concurrency %s", c.Concurrency)
	}
	return nil
}

func cursorWord(s, prefix string) string {
	s = strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "", "\t", "").Replace(s))
	return strings.TrimPrefix(s, prefix)
}

// What sp_cursoropen calls the types and the concurrencies.
const (
	scrollKeyset        = 0x01
	scrollDynamic       = 0x02
	scrollForwardOnly   = 0x04
	scrollStatic        = 0x08
	scrollFastForward   = 0x10
	scrollTypes         = 0x1F
	scrollParameterized = 0x1000 // parameters follow

	controlReadOnly      = 0x01
	controlLocks         = 0x02
	controlOptimistic    = 0x04
	controlOptimisticVal = 0x08
	controlTypes         = 0x0F
	controlAllowDirect   = 0x2000 // what gives no cursor is just run
)

// The cursors by the server's numbers.
var (
	scrolls = map[CursorType]int{CursorFastForward: scrollFastForward, CursorForwardOnly: scrollForwardOnly,
		CursorStatic: scrollStatic, CursorKeyset: scrollKeyset, CursorDynamic: scrollDynamic}
	controls = map[CursorConcurrency]int{ConcurrencyReadOnly: controlReadOnly, ConcurrencyLock: controlLocks,
		ConcurrencyOptimisticVer: controlOptimistic, ConcurrencyOptimisticVal: controlOptimisticVal}
)

func (c Cursor) scroll() int  { return scrolls[c.Type] }
func (c Cursor) control() int { return controls[c.Concurrency] }

// given is the cursor that the server says it opened where c was wanted. What it
// does not say is as wanted.
func (c Cursor) given(scroll, control int32) Cursor {
	for t, n := range scrolls {
		if int(scroll)&scrollTypes == n {
			c.Type = t
		}
	}
	for t, n := range controls {
		if int(control)&controlTypes == n {
			c.Concurrency = t
		}
	}
	return c
}

// IsZero says that there is no cursor.
func (c Cursor) IsZero() bool { return c == Cursor{} }

func (c Cursor) String() string {
	if c.IsZero() {
		return "none"
	}
	return string(c.Type) + ", " + string(c.Concurrency)
}
