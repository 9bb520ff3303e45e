package expr

import (
	"strings"
	"testing"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

func TestNames(t *testing.T) {
	t.Parallel()
	runScalars(t, []scalarTest{
		{"qty", "smallint 3"},
		{"QTY", "smallint 3"},
		{"[qty]", "smallint 3"},
		{"Orders.id", "int 42"},
		{"Sales.Orders.id", "int 42"},
		{"db.Sales.Orders.id", "int 42"},
		{"db..Orders.id", "int 42"},
		{"o.id", "int 43"},
		{"id", "error 209"},
		{"nothere", "error 207"},
		{"o.nothere", "error 207"},
		{"x.id", "error 4104"},
		{"dbo.Orders.id", "error 4104"},
		{"Sales.o.id", "error 4104"},
		{"@i", "int 7"},
		{"@I", "int 7"},
		{"@nothere", "error 137"},
		{"@@ROWCOUNT", "int 0"},
		{"@@NOTHERE", "error 137"},
		{"dbo.twice(21)", "int 42"},
		{"dbo.nothere(21)", "error 4121"},
		{"nothere(21)", "error 195"},
		{"FORMAT(1, 'x')", "error 40514"},
		{"SUM(id)", "error 147"},
		{"COUNT(*)", "error 147"},
		{"ROW_NUMBER() OVER (ORDER BY qty)", "error 4108"},
		{"LEN()", "error 174"},
		{"ROUND(1)", "error 189"},
		{"DATEADD(fortnight, 1, at)", "error 155"},
		{"NEXT VALUE FOR dbo.s", "error 40514"},
		{"name COLLATE Klingon", "error 448"},
		{"name COLLATE Japanese_CI_AS", "error 40514"},
	})
}

func TestErrorsHaveTheirLine(t *testing.T) {
	t.Parallel()
	_, _, err := scalar(t, "1 +\n  2 +\n  nothere")
	var e *sqlerr.Error
	if e, _ = err.(*sqlerr.Error); e == nil || e.Number != 207 || e.Line != 3 {
		t.Fatalf("got %v, want 207 on line 3", err)
	}
	if !strings.Contains(e.Text, "'nothere'") {
		t.Errorf("%q does not name the column", e.Text)
	}
}

func TestScopeRefusesTheSameNameTwice(t *testing.T) {
	t.Parallel()
	cols := []SourceColumn{{Name: "a", Type: types.Int}}
	tests := []struct {
		name   string
		add    func(*Scope) error
		number int32
	}{
		{"two aliases", func(s *Scope) error { _, err := s.AddSource("X", cols); return err }, 1011},
		{"alias and table", func(s *Scope) error { _, err := s.AddTable("", "dbo", "x", cols); return err }, 1013},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := NewScope(NewModule())
			if _, err := s.AddSource("x", cols); err != nil {
				t.Fatal(err)
			}
			if got := sqlerr.Number(tt.add(s)); got != tt.number {
				t.Errorf("error %d, want %d", got, tt.number)
			}
		})
	}
	t.Run("same table of two schemas", func(t *testing.T) {
		s := NewScope(NewModule())
		for _, schema := range []string{"a", "b"} {
			if _, err := s.AddTable("", schema, "t", cols); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("variables", func(t *testing.T) {
		s := NewScope(NewModule())
		if _, err := s.DeclareVar("@x", types.Int); err != nil {
			t.Fatal(err)
		}
		if _, err := s.DeclareTable("@X", nil); sqlerr.Number(err) != 134 {
			t.Errorf("got %v, want 134", err)
		}
	})
}

func TestRegistersAreReusedByStatement(t *testing.T) {
	t.Parallel()
	m := NewModule()
	s := NewScope(m)
	cols := []SourceColumn{{Name: "a", Type: types.Int}, {Name: "b", Type: types.Int}}
	if _, err := s.AddSource("x", cols); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Child().AddSource("y", cols); err != nil {
		t.Fatal(err)
	}
	next := s.Statement()
	regs, err := next.AddSource("z", cols)
	if err != nil {
		t.Fatal(err)
	}
	if regs[0] != 0 || m.NumRegs() != 4 {
		t.Errorf("registers start at %d, the frame has %d; want 0 and 4", regs[0], m.NumRegs())
	}
}
