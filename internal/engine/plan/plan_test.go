package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// shape tells how a plan finds and joins its rows.
func shape(n node) string {
	switch n := n.(type) {
	case *tableRows:
		a := n.acc
		s := "scan"
		switch {
		case a.index < 0:
			s += " " + n.leaf.name
			for _, c := range n.conds {
				if e, ok := c.(*existsCond); ok {
					s += " exists(" + shape(e.root) + ")"
				}
			}
			return s
		case a.list != nil:
			s = "list"
		case a.lo != nil || a.hi != nil:
			s = "range"
		case a.walk:
			s = "walk"
		default:
			s = "seek"
		}
		if a.reverse {
			s += " back"
		}
		return s + " " + n.leaf.name + "." + n.leaf.table.Indexes[a.index].Name
	case *loopJoin:
		return "loop(" + shape(n.left) + ", " + shape(n.right) + ")"
	case *hashJoin:
		return fmt.Sprintf("hash%d(%s, %s)", len(n.leftKeys), shape(n.left), shape(n.right))
	case *filter:
		return "filter(" + shape(n.child) + ")"
	case *project:
		return shape(n.child)
	case *groupRows:
		return "group(" + shape(n.child) + ")"
	case *firstRow:
		return "first(" + shape(n.child) + ")"
	case *limitRows:
		return "limit(" + shape(n.child) + ")"
	case *sortRows:
		return "sort(" + shape(n.child) + ")"
	case *windowRows:
		return "window(" + shape(n.child) + ")"
	case *distinctRows:
		return "distinct(" + shape(n.child) + ")"
	}
	return strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%T", n), "*"), "plan.")
}

func TestShape(t *testing.T) {
	t.Parallel()
	l := newShop(t)
	l.must(t, `CREATE TABLE dbo.h (id int NOT NULL CONSTRAINT pk_h PRIMARY KEY, k int NOT NULL, s nvarchar(10) NULL, at datetime2 NOT NULL)
CREATE INDEX ix_k ON dbo.h (k, at DESC)
CREATE INDEX ix_s ON dbo.h (s)
CREATE TABLE dbo.big (id int NOT NULL CONSTRAINT pk_big PRIMARY KEY, h int NOT NULL)`)
	l.must(t, "CREATE VIEW dbo.v AS SELECT h.id, h.k * 2 AS k2, b.id AS bid FROM dbo.h h JOIN dbo.big b ON b.id = h.k")
	for _, c := range []struct{ name, sql, want string }{
		{"scan", "SELECT at FROM h", "scan h"},
		{"key", "SELECT at FROM h WHERE id = 5", "seek h.pk_h"},
		{"key on the left", "SELECT at FROM h WHERE 5 = id", "seek h.pk_h"},
		{"key from a variable", "DECLARE @x bigint SELECT at FROM h WHERE id = @x", "seek h.pk_h"},
		{"key of text", "SELECT at FROM h WHERE s = 'x'", "seek h.ix_s"},
		{"column converted", "SELECT at FROM h WHERE s = 5", "scan h"},
		{"other collation", "SELECT at FROM h WHERE s = CAST(N'x' AS nvarchar(9)) COLLATE Latin1_General_BIN2", "scan h"},
		{"runtime constant", "SELECT at FROM h WHERE id = CAST(RAND() * 10 AS int) + 1", "seek h.pk_h"},
		{"prefix", "SELECT at FROM h WHERE k = 3", "seek h.ix_k"},
		{"prefix and range", "SELECT id FROM h WHERE k = 3 AND at >= '2020-01-01' AND at < '2021-01-01'", "range h.ix_k"},
		{"range", "SELECT at FROM h WHERE id BETWEEN 2 AND 9", "range h.pk_h"},
		{"unique before prefix", "SELECT at FROM h WHERE k = 3 AND id = 2", "seek h.pk_h"},
		{"list", "SELECT at FROM h WHERE id IN (1, 2, 3)", "list h.pk_h"},
		{"or", "SELECT at FROM h WHERE id = 1 OR id = 2", "scan h"},
		{"index hint", "SELECT at FROM h WITH (INDEX(ix_k)) WHERE k = 3 AND id = 2", "seek h.ix_k"},
		{"order by the index in use", "SELECT id FROM h WHERE k = 3 ORDER BY at DESC", "seek h.ix_k"},
		{"order against the index in use", "SELECT id FROM h WHERE k = 3 ORDER BY at", "seek back h.ix_k"},
		{"order of another column", "SELECT id FROM h WHERE k = 3 ORDER BY s", "sort(seek h.ix_k)"},
		{"order without limit", "SELECT s FROM h ORDER BY id", "sort(scan h)"},
		{"top by index", "SELECT TOP 3 s FROM h ORDER BY id DESC", "limit(walk back h.pk_h)"},
		{"offset by index", "SELECT s FROM h ORDER BY k, at DESC OFFSET 1 ROWS", "limit(walk h.ix_k)"},
		{"min", "SELECT MIN(k) FROM h", "group(first(walk h.ix_k))"},
		{"max", "SELECT MAX(id) FROM h", "group(first(walk back h.pk_h))"},
		{"max of an expression", "SELECT MAX(id + 1) FROM h", "group(scan h)"},
		{"join by key", "SELECT 1 FROM h JOIN big b ON b.id = h.k", "loop(scan h, seek b.pk_big)"},
		{"join from the other side", "SELECT 1 FROM big b JOIN h ON h.k = b.h WHERE h.id = 1", "hash1(seek h.pk_h, scan b)"},
		{"join begins at the constant", "SELECT 1 FROM big b JOIN h ON b.id = h.k WHERE h.id = 1", "loop(seek h.pk_h, seek b.pk_big)"},
		{"join without index", "SELECT 1 FROM h JOIN big b ON b.h = h.k + 1", "hash1(scan h, scan b)"},
		{"join begins at the table variable", "DECLARE @t TABLE (x int) SELECT 1 FROM h JOIN @t t ON t.x = h.id", "loop(scan t, seek h.pk_h)"},
		{"force order", "DECLARE @t TABLE (x int) SELECT 1 FROM h JOIN @t t ON t.x = h.id OPTION (FORCE ORDER)", "hash1(scan h, scan t)"},
		{"left join by key", "SELECT b.h FROM h LEFT JOIN big b ON b.id = h.k", "loop(scan h, seek b.pk_big)"},
		{"left join without equality", "SELECT b.h FROM h LEFT JOIN big b ON b.h > h.k", "hash0(scan h, scan b)"},
		{"through a view", "SELECT k2 FROM v WHERE id = 5", "loop(seek h.pk_h, seek b.pk_big)"},
		{"through a derived table", "SELECT y FROM (SELECT id AS x, s AS y FROM h) d WHERE x = 3", "seek h.pk_h"},
		{"apply", "SELECT x.h FROM h CROSS APPLY (SELECT b.h FROM big b WHERE b.id = h.k) x", "loop(scan h, seek b.pk_big)"},
		{"looked up in a correlated query", "SELECT 1 FROM h WHERE EXISTS (SELECT 1 FROM big b WHERE b.h = h.k)", "scan h exists(hash1(single, scan b))"},
		{"never", "SELECT * FROM h WHERE 1 = 0", "nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := l.script()
			b, err := tsql.Parse(c.sql)
			if err != nil {
				t.Fatal(err)
			}
			for _, st := range b.Statements[:len(b.Statements)-1] {
				if err := s.statement(b, st); err != nil {
					t.Fatal(err)
				}
			}
			sel := b.Statements[len(b.Statements)-1].(*ast.SelectStatement)
			blk := s.c.begin()
			if blk.st.hints, err = readQueryHints(sel.OptimizerHints); err != nil {
				t.Fatal(err)
			}
			q, err := blk.query(sel.QueryExpression, queryUse{top: true})
			if err != nil {
				t.Fatal(err)
			}
			n, err := q.root()
			if err != nil {
				t.Fatal(err)
			}
			if got := shape(n); got != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.sql, got, c.want)
			}
		})
	}
}

func TestViews(t *testing.T) {
	t.Parallel()
	l := newShop(t)
	l.must(t, "CREATE VIEW dbo.total (who, sum_of) AS SELECT c.name, SUM(o.amount) FROM dbo.customer c JOIN dbo.orders o ON o.customer = c.id GROUP BY c.name")
	l.must(t, "CREATE VIEW dbo.rich AS SELECT who FROM dbo.total WHERE sum_of > 10")
	l.must(t, "CREATE VIEW dbo.plain AS SELECT id, name + N'!' AS loud FROM dbo.customer")
	for _, c := range []struct{ name, sql, want string }{
		{"grouped", "SELECT who, sum_of FROM total ORDER BY who", "Ann|12.50\nBob|20.00\nDot|1.00"},
		{"of a view", "SELECT COUNT(*) FROM dbo.rich", "2"},
		{"alias", "SELECT r.who FROM rich r WHERE r.who LIKE 'B%'", "Bob"},
		{"qualified by its own name", "SELECT dbo.plain.loud FROM dbo.plain WHERE plain.id = 2", "Bob!"},
		{"joined twice", "SELECT a.loud, b.loud FROM plain a JOIN plain b ON b.id = a.id + 1 WHERE a.id = 1", "Ann!|Bob!"},
		{"padded expression", "SELECT c.id, p.loud FROM customer c LEFT JOIN plain p ON p.id = c.id AND p.id > 3 ORDER BY c.id", "1|NULL\n2|NULL\n3|NULL\n4|Dot!"},
		{"a CTE does not reach into it", "WITH customer AS (SELECT 1 AS id, N'x' AS name) SELECT COUNT(*) FROM plain", "4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, want := l.last(t, c.sql), lines(c.want); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
	l.fails(t, "UPDATE total SET sum_of = 1", 4405)
	l.fails(t, "INSERT plain (id) VALUES (1)", 40514)
	l.must(t, "UPDATE plain SET id = 40 WHERE id = 4")
	l.fails(t, "UPDATE plain SET loud = N'x'", 4406)
}

// Plans are shared: many frames may run one at a time.
func TestPlansAreShared(t *testing.T) {
	t.Parallel()
	l := newShop(t)
	s := l.script()
	sql := `SELECT c.name, SUM(o.amount), ROW_NUMBER() OVER (ORDER BY c.name) FROM customer c LEFT JOIN orders o ON o.customer = c.id
WHERE EXISTS (SELECT 1 FROM line) AND c.id IN (SELECT customer FROM orders WHERE amount > (SELECT MIN(amount) FROM orders)) GROUP BY c.name ORDER BY c.name DESC`
	b, err := tsql.Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	q, err := s.c.Select(b.Statements[0].(*ast.SelectStatement))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			f := &expr.Frame{Session: l, Ctx: context.Background(), Regs: make([]types.Value, s.mod.NumRegs()), Once: make([]expr.OnceSlot, s.mod.NumOnce())}
			for range 50 {
				f.Tx = l.db.Store.Begin(storage.Snapshot)
				f.BeginStatement()
				f.Tx.StatementBegin()
				var got []string
				_, err := q.Run(f, func(row []types.Value) error {
					got = append(got, text(row[0])+text(row[1])+text(row[2]))
					return nil
				})
				f.Tx.Rollback()
				if err != nil || strings.Join(got, " ") != "Bob20.002 Ann12.501" {
					t.Errorf("%v %v", got, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{
		"SELECT COUNT(*) FROM GENERATE_SERIES(1, 2000000000)",
		"SELECT COUNT(*) FROM GENERATE_SERIES(1, 100000) a JOIN GENERATE_SERIES(1, 100000) b ON a.value < b.value",
		"WITH n AS (SELECT 1 AS k UNION ALL SELECT k + 1 FROM n WHERE k < 2000000000) SELECT COUNT(*) FROM n OPTION (MAXRECURSION 0)",
		"SELECT COUNT(*) FROM big a, big b, big c, big d WHERE a.id + b.id + c.id + d.id = -1",
	} {
		t.Run(sql, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.must(t, "CREATE TABLE big (id int NOT NULL) INSERT big SELECT value FROM GENERATE_SERIES(1, 3000)")
			ctx, cancel := context.WithCancel(context.Background())
			l.ctx = &countdown{Context: ctx, left: 50, cancel: cancel}
			if err := l.script().run(sql); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// countdown is a context that is cancelled when it has been asked a number of
// times: no clock is needed to cancel in the middle.
type countdown struct {
	context.Context
	left   int
	cancel func()
}

func (c *countdown) Err() error {
	if c.left--; c.left == 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// The rows of a transaction are those of its own view, whatever COUNT(*) asks.
func TestReadsBelongToTheTransaction(t *testing.T) {
	t.Parallel()
	l := newShop(t)
	s := l.script()
	s.tx = l.db.Store.Begin(storage.Snapshot)
	if err := s.run("DELETE orders WHERE id = 10 INSERT orders VALUES (20, 1, 1, NULL), (21, 1, 1, NULL) SELECT COUNT(*), MAX(id), MIN(id) FROM orders"); err != nil {
		t.Fatal(err)
	}
	if got := s.sets[len(s.sets)-1].rows[0]; got != "5|21|11" {
		t.Errorf("inside %s", got)
	}
	if got := l.last(t, "SELECT COUNT(*), MAX(id), MIN(id) FROM orders"); got != "4|13|10" {
		t.Errorf("outside %s", got)
	}
	s.tx.Rollback()
}

// A locking read that meets a row changed since it began starts again over the
// rows as they are then, and leaves no trace of the first attempt.
func TestUpdlock(t *testing.T) {
	t.Parallel()
	l := newShop(t)
	r := l.script()
	r.tx = l.db.Store.Begin(storage.ReadCommitted)
	l.onRand = func() { l.must(t, "UPDATE orders SET amount = 99 WHERE id = 12") }
	err := r.run("DECLARE @n int = 0, @m money SELECT @n += 1, @m = amount FROM orders WITH (UPDLOCK) WHERE id >= 11 AND amount > 5 + RAND() * 0 SELECT @n, @m")
	if err != nil {
		t.Fatal(err)
	}
	if got := r.sets[len(r.sets)-1].rows[0]; got != "2|99.00" {
		t.Errorf("read %s", got)
	}
	err = r.run("SELECT id FROM orders WITH (UPDLOCK) WHERE amount > 5")
	if err != nil || strings.Join(r.sets[len(r.sets)-1].rows, " ") != "11 12" {
		t.Errorf("%v %v", r.sets, err)
	}
	r.tx.Rollback()
}

func TestDeps(t *testing.T) {
	t.Parallel()
	l := newShop(t)
	l.must(t, "CREATE VIEW dbo.v AS SELECT id FROM dbo.customer")
	b, err := tsql.Parse("SELECT 1 FROM v JOIN orders o ON o.id = v.id WHERE EXISTS (SELECT 1 FROM line) AND o.id IN (SELECT id FROM orders)")
	if err != nil {
		t.Fatal(err)
	}
	q, err := l.script().c.Select(b.Statements[0].(*ast.SelectStatement))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range q.Deps {
		names = append(names, d.Table.Name)
	}
	if got := strings.Join(names, " "); got != "v customer orders line" {
		t.Errorf("depends on %s", got)
	}
}
