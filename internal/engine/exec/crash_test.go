package exec

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// faulty is an Output that fails at the first row.
type faulty struct {
	discard
	fail func() error
}

func (f faulty) Row([]types.Value) error { return f.fail() }

// TestFault has the engine meet a fault of its own in the middle of a request.
func TestFault(t *testing.T) {
	t.Parallel()
	e, s := testDB(t)
	run(t, s, `CREATE TABLE t (id int PRIMARY KEY)`, `INSERT t VALUES (1)`)
	var reason any
	e.opts.OnCrash = func(r any, stack []byte) { reason = r }
	o := openSession(t, e, "d")
	err := o.Batch(context.Background(), `BEGIN TRAN UPDATE t SET id = 2 SELECT id FROM t`, faulty{fail: func() error { panic("boom") }})
	var se *sqlerr.Error
	if !errors.As(err, &se) || se.Class < 20 || reason != "boom" {
		t.Errorf("error %v, reason %v", err, reason)
	}
	if got := brief(batch(t, s, `SET LOCK_TIMEOUT 1000 UPDATE t SET id = 3 SELECT id FROM t`)); got != "row 3" {
		t.Error(got)
	}
}

// TestBrokenOutput has the client go away in the middle of a result set.
func TestBrokenOutput(t *testing.T) {
	t.Parallel()
	e, s := testDB(t)
	run(t, s, `CREATE TABLE t (id int PRIMARY KEY)`, `INSERT t VALUES (1), (2)`)
	o := openSession(t, e, "d")
	gone := errors.New("gone")
	if err := o.Batch(context.Background(), `BEGIN TRAN DELETE t WHERE id = 1 SELECT id FROM t`, faulty{fail: func() error { return gone }}); !errors.Is(err, gone) {
		t.Errorf("error %v", err)
	}
	if got := brief(batch(t, s, `SELECT COUNT(*) FROM t`)); got != "row 2" {
		t.Error(got)
	}
	if _, err := e.Open(SessionOptions{Database: "nope"}); err == nil || !strings.Contains(err.Error(), "4060") {
		t.Errorf("error %v", err)
	}
}
