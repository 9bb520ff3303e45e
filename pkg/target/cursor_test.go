package target

import (
	"strings"
	"testing"
)

func TestParseCursor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		typ, concurrency string
		want             Cursor
		err              string
	}{
		{"", "", Cursor{}, ""},
		{"ForwardOnly", "", Cursor{CursorForwardOnly, ConcurrencyReadOnly}, ""},
		{"SQL_CURSOR_FORWARD_ONLY", "SQL_CONCUR_READ_ONLY", Cursor{CursorForwardOnly, ConcurrencyReadOnly}, ""},
		{"forward only", "read-only", Cursor{CursorForwardOnly, ConcurrencyReadOnly}, ""},
		{"FAST_FORWARD", "", Cursor{CursorFastForward, ConcurrencyReadOnly}, ""},
		{"Static", "ReadOnly", Cursor{CursorStatic, ConcurrencyReadOnly}, ""},
		{"SQL_CURSOR_KEYSET_DRIVEN", "SQL_CONCUR_LOCK", Cursor{CursorKeyset, ConcurrencyLock}, ""},
		{"keyset", "OptimisticVer", Cursor{CursorKeyset, ConcurrencyOptimisticVer}, ""},
		{"DYNAMIC", "SQL_CONCUR_VALUES", Cursor{CursorDynamic, ConcurrencyOptimisticVal}, ""},
		{"Dynamic", "SQL_CONCUR_ROWVER", Cursor{CursorDynamic, ConcurrencyOptimisticVer}, ""},
		{"", "Lock", Cursor{CursorForwardOnly, ConcurrencyLock}, ""},
		{"insensitive", "", Cursor{}, `"insensitive" is not known: write ForwardOnly, FastForward, Static, Keyset or Dynamic`},
		{"static", "none", Cursor{}, `"none" is not known: write ReadOnly, Lock, OptimisticVer or OptimisticVal`},
		{"fast forward", "Lock", Cursor{}, "a fast forward cursor is read only"},
	} {
		got, err := ParseCursor(tt.typ, tt.concurrency)
		switch {
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("ParseCursor(%q, %q): %v", tt.typ, tt.concurrency, err)
			}
		case err != nil || got != tt.want:
			t.Errorf("ParseCursor(%q, %q) = %v, %v", tt.typ, tt.concurrency, got, err)
		}
	}
}

// FuzzParseCursor: what is read is a cursor that there is, and reads the same by
// its own words.
func FuzzParseCursor(f *testing.F) {
	f.Add("SQL_CURSOR_KEYSET_DRIVEN", "SQL_CONCUR_LOCK")
	f.Add("fast forward", "")
	f.Add("", "optimistic-ver")
	f.Fuzz(func(t *testing.T, typ, concurrency string) {
		c, err := ParseCursor(typ, concurrency)
		if err != nil {
			return
		}
		if err := c.check(); err != nil {
			t.Errorf("%q, %q: %v", typ, concurrency, err)
		}
		if again, err := ParseCursor(string(c.Type), string(c.Concurrency)); err != nil || again != c {
			t.Errorf("%q, %q is %v, and then %v, %v", typ, concurrency, c, again, err)
		}
	})
}
