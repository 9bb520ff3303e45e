package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// EXEC's rows come through the hook and are converted like any others.
func TestInsertExec(t *testing.T) {
	t.Parallel()
	l := newStock(t)
	s := l.script()
	rows := [][]types.Value{
		{types.NewString(types.KindVarChar, "7"), types.NewString(types.KindVarChar, "seven")},
		{types.NewInt(types.KindInt, 8), types.Value{}},
	}
	s.c.Exec = func(*ast.ExecuteSpecification) (Rows, error) {
		return func(_ *expr.Frame, emit func([]types.Value) error) error {
			for _, r := range rows {
				if err := emit(r); err != nil {
					return err
				}
			}
			return nil
		}, nil
	}
	if err := s.run("INSERT kept EXEC dbo.p INSERT kept (what, id) EXEC dbo.p2 SELECT id, what FROM kept ORDER BY id"); err == nil {
		t.Error("'seven' went into an int column")
	}
	if err := s.run("INSERT kept EXEC dbo.p SELECT id, what FROM kept ORDER BY id"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.sets[len(s.sets)-1].rows, " "); got != "7|seven 7|seven 8|NULL 8|NULL" {
		t.Error(got)
	}
	rows = [][]types.Value{{types.NewInt(types.KindInt, 8)}}
	if err := s.run("INSERT kept EXEC dbo.p"); err == nil || !strings.Contains(err.Error(), "213") {
		t.Errorf("one value for two columns: %v", err)
	}
}

func TestTableFunction(t *testing.T) {
	t.Parallel()
	l := newShop(t)
	s := l.script()
	s.c.Function = func(name *ast.SchemaObjectName, args []expr.Expr) (*TableFunction, bool, error) {
		if name.BaseIdentifier.Value != "upto" {
			return nil, false, nil
		}
		return &TableFunction{Columns: []Column{{Name: "n", Type: types.Int}}, Rows: func(f *expr.Frame, emit func([]types.Value) error) error {
			v, err := args[0].Eval(f)
			if err != nil {
				return err
			}
			for i := range v.Int() {
				if err := emit([]types.Value{types.NewInt(types.KindInt, i+1)}); err != nil {
					return err
				}
			}
			return nil
		}}, true, nil
	}
	if err := s.run("SELECT c.id, u.n FROM customer c CROSS APPLY dbo.upto(c.id) u WHERE c.id < 3 ORDER BY 1, 2"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.sets[0].rows, " "); got != "1|1 2|1 2|2" {
		t.Error(got)
	}
	if err := s.run("SELECT * FROM dbo.nix(1)"); err == nil {
		t.Error("an unknown function was accepted")
	}
}

func TestSystemView(t *testing.T) {
	t.Parallel()
	l := newShop(t)
	l.in.SetSystem([]*catalog.Table{{
		ID: -1, Schema: "sys", Name: "numbers", PrimaryKey: -1,
		Columns: []catalog.Column{{ID: 1, Name: "n", Type: types.Int}, {ID: 2, Name: "db", Type: types.Sysname}},
		System: func(q catalog.SystemQuery, emit func([]types.Value) error) error {
			for i := range int64(3) {
				if err := emit([]types.Value{types.NewInt(types.KindInt, i), types.NewString(types.KindNVarChar, q.Database.Name())}); err != nil {
					return err
				}
			}
			return nil
		},
	}})
	if got := l.last(t, "SELECT c.name, s.db FROM sys.numbers s JOIN customer c ON c.id = s.n ORDER BY c.id"); got != "Ann|lab\nBob|lab" {
		t.Error(got)
	}
	l.fails(t, "DELETE sys.numbers", 4405)
	l.fails(t, "INSERT sys.numbers VALUES (1, 'x')", 259)
}

// TOP sorts no more than it must, and gives what sorting everything would.
func TestTopOfMany(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.must(t, "CREATE TABLE m (id int NOT NULL, k int NOT NULL) INSERT m SELECT value, value * 7919 % 10007 FROM GENERATE_SERIES(1, 9000)")
	all := strings.Split(l.last(t, "SELECT id FROM m ORDER BY k"), "\n")
	if len(all) != 9000 {
		t.Fatal(len(all))
	}
	if got := l.last(t, "SELECT TOP 5 id FROM m ORDER BY k"); got != strings.Join(all[:5], "\n") {
		t.Errorf("got %s, want %v", got, all[:5])
	}
	if got := l.last(t, "SELECT id FROM m ORDER BY k OFFSET 40 ROWS FETCH NEXT 3 ROWS ONLY"); got != strings.Join(all[40:43], "\n") {
		t.Errorf("got %s, want %v", got, all[40:43])
	}
}

func TestSelectInto(t *testing.T) {
	t.Parallel()
	l := newStock(t)
	l.must(t, shopSchema)
	for _, c := range []struct {
		sql, want string
		number    int32
	}{
		{"SELECT id, name, n * 2 AS m INTO x FROM item", "id int identity, name nvarchar(5), m int", 0},
		{"SELECT i.id, c.id AS cid INTO x FROM item i JOIN customer c ON c.id = i.id", "id int, cid int", 0},
		{"SELECT COUNT(*) AS c, MAX(amount) AS m INTO #x FROM orders", "c int, m money null", 0},
		{"SELECT id, 1 INTO x FROM item", "", 1038},
		{"SELECT id, n AS id INTO x FROM item", "", 2705},
		{"DECLARE @a int SELECT @a = id INTO x FROM item", "", 194},
	} {
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
		q, err := s.c.Select(b.Statements[len(b.Statements)-1].(*ast.SelectStatement))
		if c.number != 0 {
			if err == nil || !strings.Contains(err.Error(), fmt.Sprint(c.number)) {
				t.Errorf("%s: %v", c.sql, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		var cols []string
		for _, k := range q.Columns {
			d := k.Name + " " + k.Type.String()
			if k.Nullable {
				d += " null"
			}
			if k.Identity {
				d += " identity"
			}
			cols = append(cols, d)
		}
		if got := strings.Join(cols, ", "); got != c.want || q.Into == nil {
			t.Errorf("%s: %s", c.sql, got)
		}
	}
}
