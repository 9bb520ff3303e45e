package tsql

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestInvalidErrors keeps number, line and text of the error of every invalid batch.
func TestInvalidErrors(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, c := range readCorpus(t, "testdata/invalid.txt") {
		_, err := Parse(c.text)
		e, ok := err.(*sqlerr.Error)
		if !ok {
			t.Errorf("%s: %v, want a *sqlerr.Error", c.name, err)
			continue
		}
		if e.Line < 1 || e.Class != 15 && e.Number < 40000 {
			t.Errorf("%s: line %d, class %d", c.name, e.Line, e.Class)
		}
		fmt.Fprintf(&got, "%s: %d, line %d: %s\n", c.name, e.Number, e.Line, e.Text)
	}
	const file = "testdata/invalid.golden"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text   string
		number, line int32
		near         string // in quotation marks; "" = do not look
	}{
		{"token in the third line", "SELECT 1;\n\nSELECT * FROM t WHERE a = )", 102, 3, ")"},
		{"keyword", "SELECT a\nFROM t\nWHERE GROUP BY a", 156, 3, "GROUP"},
		{"end of batch names the last token", "SELECT 1 FROM", 102, 1, "FROM"},
		{"open block names the last token", "BEGIN\nSELECT 42", 102, 2, "42"},
		{"after a string over lines", "SELECT 'a\nb'\n, , 1", 102, 3, ","},
		{"after a nested comment", "/* a /* b\n */ */ SELECT ,", 102, 2, ","},
		{"after wide characters", "SELECT N'𝄞é' ,, 2", 102, 1, ","},
		{"CRLF counts once", "SELECT 1\r\n\r\nSELECT ,", 102, 3, ","},
		{"unclosed string", "SELECT 1\nSELECT 'abc", 105, 2, "abc"},
		{"unclosed comment", "SELECT 1\n/* abc", 113, 2, ""},
		{"unclosed bracket", "SELECT * FROM [abc", 105, 1, "abc"},
		{"long name", "SELECT " + strings.Repeat("a", 129), 103, 1, ""},
		{"empty name", "SELECT []", 1038, 1, ""},
		{"nul", "SELECT 1\x00", 102, 1, ""},
		{"nested parentheses", "SELECT " + strings.Repeat("(", 300000) + "1" + strings.Repeat(")", 300000), 191, 1, ""},
		{"nested blocks", strings.Repeat("BEGIN ", 100000) + "SELECT 1" + strings.Repeat(" END", 100000), 191, 1, ""},
		{"nested CASE", "SELECT " + strings.Repeat("CASE WHEN 1=1 THEN ", 100000) + "1" + strings.Repeat(" END", 100000), 191, 1, ""},
		{"run of signs", "SELECT " + strings.Repeat("- ", 100000) + "1", 191, 1, ""},
		{"run of NOT", "SELECT 1 WHERE " + strings.Repeat("NOT ", 100000) + "1=1", 191, 1, ""},
		{"run of IF", strings.Repeat("IF 1=1 ", 100000) + "SELECT 1", 191, 1, ""},
		{"run of ELSE IF", "IF 1=1 SELECT 1" + strings.Repeat(" ELSE IF 1=1 SELECT 1", 50000), 191, 1, ""},
		{"run of WHILE", strings.Repeat("WHILE 1=1 ", 100000) + "SELECT 1", 191, 1, ""},
		{"module is not first", "SELECT 1\nCREATE PROCEDURE p AS SELECT 1", 111, 2, ""},
		{"module in a branch", "IF 1 = 1\nCREATE PROCEDURE p AS SELECT 1", 156, 2, "PROCEDURE"},
		{"positioned update", "UPDATE t SET a = 1 WHERE CURRENT OF c", 40514, 1, "WHERE CURRENT OF"},
		{"FOR JSON without FROM", "SELECT 1 AS a FOR JSON PATH", 40514, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			_, err := Parse(c.text)
			e, ok := err.(*sqlerr.Error)
			if !ok {
				t.Fatalf("%v, want error %d", err, c.number)
			}
			if e.Number != c.number || e.Line != c.line || c.near != "" && !strings.Contains(e.Text, "'"+c.near+"'") {
				t.Errorf("%v, want %d, line %d, near %q", e, c.number, c.line, c.near)
			}
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	for _, c := range readCorpus(t, "testdata/valid.txt") {
		t.Run(c.name, func(t *testing.T) {
			b, err := Parse(c.text)
			if err != nil {
				t.Fatalf("%s\n%v", c.text, err)
			}
			var kinds []string
			for _, s := range b.Statements {
				kinds = append(kinds, strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", s), "*ast."), "Statement"))
			}
			if got := strings.Join(kinds, " "); got != c.args {
				t.Errorf("%s\nstatements %s, want %s", c.text, got, c.args)
			}
		})
	}
}

func TestDeclaredTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"DECLARE @t Sales.SalesOrderDetailType_inmem", "Sales.SalesOrderDetailType_inmem"},
		{"DECLARE @x int, @t AS [my schema].[a]]b], @y int", "my schema.a]b"},
		{`DECLARE @t "dbo"."x"`, "dbo.x"},
		{"DECLARE @t tt;", "tt"},
		{"DECLARE @é nvarchar(9) = N'𝄞', @t dbo.tt", "dbo.tt"},
		{"BEGIN TRY IF 1=1 BEGIN DECLARE @t dbo.tt END END TRY BEGIN CATCH END CATCH", "dbo.tt"},
		{"CREATE PROCEDURE p AS WHILE 1=1 DECLARE @t dbo.tt", "dbo.tt"},
		{"DECLARE @t xml", "xml"},
	} {
		t.Run(c.text, func(t *testing.T) {
			b, err := Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			Statements(b.Statements, func(s ast.Statement) {
				d, ok := s.(*ast.DeclareVariableStatement)
				if !ok {
					return
				}
				for _, e := range d.Declarations {
					if n := UserType(e.DataType); n != nil {
						var parts []string
						for _, id := range n.Identifiers {
							parts = append(parts, id.Value)
						}
						got = append(got, strings.Join(parts, "."))
					}
				}
			})
			if diff := cmp.Diff([]string{c.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHashKeys(t *testing.T) {
	t.Parallel()
	b, err := Parse(`CREATE TABLE t (a int, CONSTRAINT pk PRIMARY KEY NONCLUSTERED HASH (a, b) WITH (BUCKET_COUNT = 8), b int,
		UNIQUE HASH (b) WITH (BUCKET_COUNT = 8), CONSTRAINT u UNIQUE NONCLUSTERED (a, b)) WITH (MEMORY_OPTIMIZED = ON)`)
	if err != nil {
		t.Fatal(err)
	}
	def := b.Statements[0].(*ast.CreateTableStatement).Definition
	if len(def.ColumnDefinitions) != 2 || len(def.TableConstraints) != 3 {
		t.Fatalf("%d columns, %d constraints", len(def.ColumnDefinitions), len(def.TableConstraints))
	}
	for i, want := range []string{"NonClusteredHash", "NonClusteredHash", "NonClustered"} {
		u := def.TableConstraints[i].(*ast.UniqueConstraintDefinition)
		if u.IndexType == nil || u.IndexType.IndexTypeKind != want || len(u.Columns) == 0 {
			t.Errorf("constraint %d: %+v", i, u)
		}
	}
}

func TestRewritten(t *testing.T) {
	t.Parallel()
	t.Run("implicit EXEC keeps positions", func(t *testing.T) {
		b, err := Parse("dbo.p 1, @b = N'é'\nSELECT 2")
		if err != nil {
			t.Fatal(err)
		}
		e := b.Statements[0].(*ast.ExecuteStatement).ExecuteSpecification.ExecutableEntity.(*ast.ExecutableProcedureReference)
		if got := Text(b, e.Parameters[1]); got != "@b = N'é'" {
			t.Errorf("second parameter is %q", got)
		}
		if Line(b.Statements[1]) != 2 || Text(b, b.Statements[1]) != "SELECT 2" {
			t.Errorf("second statement: line %d, %q", Line(b.Statements[1]), Text(b, b.Statements[1]))
		}
	})
	t.Run("call escape", func(t *testing.T) {
		b, err := Parse("{call dbo.p(1, 'a')}")
		if err != nil {
			t.Fatal(err)
		}
		e := b.Statements[0].(*ast.ExecuteStatement).ExecuteSpecification.ExecutableEntity.(*ast.ExecutableProcedureReference)
		if len(e.Parameters) != 2 {
			t.Errorf("%d parameters", len(e.Parameters))
		}
	})
	t.Run("hints of MERGE", func(t *testing.T) {
		b, err := Parse("MERGE INTO dbo.t WITH (HOLDLOCK, ROWLOCK) AS x USING s ON x.a = s.a WHEN MATCHED THEN DELETE;")
		if err != nil {
			t.Fatal(err)
		}
		m := b.Statements[0].(*ast.MergeStatement).MergeSpecification
		n := m.Target.(*ast.NamedTableReference)
		if len(n.TableHints) != 2 {
			t.Errorf("%d hints", len(n.TableHints))
		}
	})
	t.Run("restore from a snapshot", func(t *testing.T) {
		b, err := Parse("RESTORE DATABASE d FROM DATABASE_SNAPSHOT = 's'")
		if err != nil {
			t.Fatal(err)
		}
		r := b.Statements[0].(*ast.RestoreStatement)
		if len(r.Devices) != 1 || r.Devices[0].DeviceType != "DatabaseSnapshot" {
			t.Errorf("%+v", r.Devices)
		}
	})
	t.Run("nested comment beyond ASCII keeps positions", func(t *testing.T) {
		b, err := Parse("/* 𝄞 /* é */ */ SELECT 1 AS é, N'𝄞' AS b")
		if err != nil {
			t.Fatal(err)
		}
		q := b.Statements[0].(*ast.SelectStatement).QueryExpression.(*ast.QuerySpecification)
		if got := Text(b, q.SelectElements[1]); got != "N'𝄞' AS b" {
			t.Errorf("second element is %q", got)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, file := range []string{"testdata/invalid.txt", "testdata/valid.txt"} {
		for _, c := range readCorpus(f, file) {
			f.Add(c.text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := ParseQuoted(text, false); err != nil {
			if _, ok := err.(*sqlerr.Error); !ok {
				t.Fatalf("%T: %v", err, err)
			}
		}
		b, err := Parse(text)
		if err != nil {
			if _, ok := err.(*sqlerr.Error); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		Statements(b.Statements, func(s ast.Statement) { Text(b, s) })
	})
}

func BenchmarkParse(b *testing.B) {
	for _, c := range readCorpus(b, "testdata/valid.txt") {
		if c.name != "the order batch" {
			continue
		}
		b.SetBytes(int64(len(c.text)))
		for b.Loop() {
			if _, err := Parse(c.text); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func TestQuotedIdentifierOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		on         bool
		want       []string // the values of the string literals
	}{
		{"a string", `SELECT "abc"`, false, []string{"abc"}},
		{"an apostrophe", `SELECT "it's", 'x "y"'`, false, []string{"it's", `x "y"`}},
		{"a doubled mark", `SELECT "a""b" + 'c'`, false, []string{`a"b`, "c"}},
		{"none", `SELECT ""`, false, []string{""}},
		{"beyond ASCII", `SELECT N'ü🙂', "ß'🙂'", "x'y"`, false, []string{"ü🙂", "ß'🙂'", "x'y"}},
		{"lines", "SELECT \"a\n'b\"", false, []string{"a\n'b"}},
		{"identifiers", `SELECT "abc" FROM t`, true, nil},
		{"brackets stay", `SELECT [abc], "d" FROM t`, false, []string{"d"}},
		{"off within", `SELECT "a" FROM t SET QUOTED_IDENTIFIER OFF SELECT "b"`, true, []string{"b"}},
		{"off in a list", `SET ANSI_NULLS, QUOTED_IDENTIFIER OFF SELECT "b"`, true, []string{"b"}},
		{"on within", `SELECT "a" SET QUOTED_IDENTIFIER ON SELECT "b" FROM t`, false, []string{"a"}},
		{"not in a module", `CREATE PROCEDURE p AS SET QUOTED_IDENTIFIER ON SELECT "a"`, false, []string{"a"}},
		{"print", `PRINT "a'b"`, false, []string{"a'b"}},
		{"a procedure's argument", `EXEC p "a", @b = "c"`, false, []string{"a", "c"}},
		{"waitfor", `WAITFOR DELAY "00:00:01"`, false, []string{"00:00:01"}},
	} {
		b, err := ParseQuoted(c.text, c.on)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, st := range b.Statements {
			visit(reflect.ValueOf(st), func(n any) {
				if l, ok := n.(*ast.StringLiteral); ok {
					got = append(got, l.Value)
				}
			})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	if _, err := ParseQuoted(`SELECT "abc`, false); sqlerr.Number(err) != 105 {
		t.Errorf("not closed: %v", err)
	}
}
