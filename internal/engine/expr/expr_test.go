package expr

import (
	"testing"
	"time"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// fakeSession counts through RAND() and stands still in time.
type fakeSession struct {
	rand float64
	step float64
	now  time.Time
}

func (s *fakeSession) Rand() float64 {
	r := s.rand
	s.rand += s.step
	return r
}

func (s *fakeSession) Now() time.Time { return s.now }

// fakeEnv has one function and one global variable.
type fakeEnv struct{}

func (fakeEnv) Function(name []string, args []Expr) (Expr, bool, error) {
	if len(name) == 2 && name[1] == "twice" {
		ev := args[0].Eval
		return Expr{Type: types.Int, Eval: func(f *Frame) (types.Value, error) {
			v, err := ev(f)
			return types.NewInt(types.KindInt, 2*v.Int()), err
		}}, true, nil
	}
	return Expr{}, false, nil
}

func (fakeEnv) Global(name string) (Expr, bool) {
	if name == "@@ROWCOUNT" {
		return Expr{Type: types.Int, Eval: func(f *Frame) (types.Value, error) {
			return types.NewInt(types.KindInt, f.RowCount), nil
		}}, true
	}
	return Expr{}, false
}

// bench is a scope with sources and variables, and a frame that fits it.
type bench struct {
	*Compiler
	frame *Frame
}

func newBench(t testing.TB) *bench {
	t.Helper()
	m := NewModule()
	sc := NewScope(m)
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	regs, err := sc.AddTable("db", "Sales", "Orders", []SourceColumn{
		{Name: "id", Type: types.Int}, {Name: "qty", Type: types.SmallInt, Nullable: true},
		{Name: "price", Type: types.Money}, {Name: "name", Type: types.NVarChar(25), Nullable: true},
		{Name: "code", Type: types.Type{Kind: types.KindVarChar, Len: 10, Coll: types.CollBIN2}},
		{Name: "at", Type: types.DateTime2(7)},
	})
	must(regs, err)
	must(sc.AddSource("o", []SourceColumn{{Name: "id", Type: types.Int}, {Name: "flag", Type: types.Bit}}))
	must(sc.DeclareVar("@i", types.Int))
	must(sc.DeclareVar("@s", types.VarChar(20)))
	must(sc.DeclareVar("@null", types.Int))
	must(sc.DeclareVar("@m", types.Money))
	b := &bench{Compiler: &Compiler{Scope: sc, Env: fakeEnv{}}}
	b.Query = fakeQuery
	b.frame = &Frame{Session: &fakeSession{rand: 0.25, step: 0.125, now: time.Date(2024, 2, 29, 13, 14, 15, 123456700, time.FixedZone("", 3600))}}
	return b
}

// ready fills the frame once everything is compiled.
func (b *bench) ready() *Frame {
	m := b.Scope.Module()
	f := b.frame
	f.Vars = make([]types.Value, m.NumVars())
	f.Regs = make([]types.Value, m.NumRegs()+8)
	f.Once = make([]OnceSlot, m.NumOnce())
	f.Vars[0] = types.NewInt(types.KindInt, 7)
	f.Vars[1] = types.NewString(types.KindVarChar, "abc")
	f.Vars[3] = types.NewMoney(123456)
	f.Regs[0] = types.NewInt(types.KindInt, 42)
	f.Regs[1] = types.NewInt(types.KindSmallInt, 3)
	f.Regs[2] = types.NewMoney(25000)
	f.Regs[3] = types.NewString(types.KindNVarChar, "Widget ")
	f.Regs[4] = types.NewString(types.KindVarChar, "aB")
	f.Regs[5] = types.NewDateTime2(types.DaysOf(2024, 1, 31)*types.TicksPerDay, 7)
	f.Regs[6] = types.NewInt(types.KindInt, 43)
	f.Regs[7] = types.NewBit(true)
	return f
}

// fakeQuery makes subqueries of SELECT v FROM t, where t is one of a few lists;
// WHERE makes it correlated with Orders.id.
func fakeQuery(q ast.QueryExpression, sc *Scope) (Subquery, error) {
	spec := q.(*ast.QuerySpecification)
	name := spec.FromClause.TableReferences[0].(*ast.NamedTableReference).SchemaObject.BaseIdentifier.Value
	lists := map[string][]any{"empty": nil, "one": {1}, "some": {1, 2, 3}, "withnull": {1, nil, 3}, "big": {40, 50}}
	child := sc.Child()
	if _, err := child.AddSource(name, []SourceColumn{{Name: "v", Type: types.Int, Nullable: true}}); err != nil {
		return Subquery{}, err
	}
	reg := child.Sources()[0].Regs[0]
	c := &Compiler{Scope: child}
	var where Pred
	if spec.WhereClause != nil {
		var err error
		if where, err = c.Bool(spec.WhereClause.SearchCondition); err != nil {
			return Subquery{}, err
		}
	}
	cols := make([]Column, len(spec.SelectElements))
	for i := range cols {
		cols[i] = Column{Name: "v", Type: types.Int, Nullable: true}
	}
	return Subquery{Columns: cols, Run: func(f *Frame, emit func([]types.Value) error) error {
		for _, x := range lists[name] {
			v := types.NULL()
			if n, ok := x.(int); ok {
				v = types.NewInt(types.KindInt, int64(n))
			}
			f.Regs[reg] = v
			if where != nil {
				if r, err := where(f); err != nil || r != True {
					if err != nil {
						return err
					}
					continue
				}
			}
			f.RowCount++ // counts the rows that were produced
			row := [2]types.Value{v, v}
			if err := emit(row[:len(cols)]); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

func parseScalar(t testing.TB, text string) ast.ScalarExpression {
	t.Helper()
	b, err := tsql.Parse("SELECT " + text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	spec := b.Statements[0].(*ast.SelectStatement).QueryExpression.(*ast.QuerySpecification)
	return spec.SelectElements[0].(*ast.SelectScalarExpression).Expression
}

func parseBool(t testing.TB, text string) ast.BooleanExpression {
	t.Helper()
	b, err := tsql.Parse("IF " + text + " SELECT 1")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return b.Statements[0].(*ast.IfStatement).Predicate
}

// scalar compiles and runs one expression.
func scalar(t testing.TB, text string) (Expr, types.Value, error) {
	t.Helper()
	b := newBench(t)
	e, err := b.Scalar(parseScalar(t, text))
	if err != nil {
		return e, types.Value{}, err
	}
	v, err := e.Eval(b.ready())
	return e, v, err
}

// show is a value as the tests write it: type and text, or the error's number.
func show(e Expr, v types.Value, err error) string {
	if err != nil {
		if n := sqlerr.Number(err); n != 0 {
			return "error " + types.Format(types.NewInt(types.KindInt, int64(n)))
		}
		return err.Error()
	}
	if v.IsNull() {
		return e.Type.String() + " NULL"
	}
	s := types.Format(v)
	if v.Kind().IsBinary() {
		x, _ := types.Convert(v, types.VarChar(types.Max), 1)
		s = x.Str()
	}
	if v.Kind().IsMoney() {
		x, _ := types.Convert(v, types.VarChar(types.Max), 2)
		s = x.Str()
	}
	if v.Kind() != e.Type.Kind {
		s += " of kind " + v.Kind().String()
	}
	return e.Type.String() + " " + s
}

type scalarTest struct{ sql, want string }

func runScalars(t *testing.T, tests []scalarTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.sql, func(t *testing.T) {
			t.Parallel()
			e, v, err := scalar(t, tt.sql)
			if got := show(e, v, err); got != tt.want {
				t.Errorf("got %s, want %s (%v)", got, tt.want, err)
			}
		})
	}
}

func TestLiterals(t *testing.T) {
	t.Parallel()
	runScalars(t, []scalarTest{
		{"1", "int 1"},
		{"-5", "int -5"},
		{"2147483647", "int 2147483647"},
		{"2147483648", "decimal(10,0) 2147483648"},
		{"1.50", "decimal(3,2) 1.50"},
		{"0.5", "decimal(1,1) 0.5"},
		{"007", "int 7"},
		{"1e3", "float 1000"},
		{"1.5e-3", "float 0.0015"},
		{"$1.25", "money 1.2500"},
		{"-$2", "money -2.0000"},
		{"'abc'", "varchar(3) abc"},
		{"''", "varchar(1) "},
		{"N'żółw'", "nvarchar(4) żółw"},
		{"'żółw'", "varchar(4) ?ó?w"},
		{"'it''s'", "varchar(4) it's"},
		{"0xAB01", "varbinary(2) 0xAB01"},
		{"0x1", "varbinary(1) 0x01"},
		{"0x", "varbinary(1) 0x"},
		{"NULL", "NULL NULL"},
		{"{d '2024-01-31'}", "datetime Jan 31 2024 12:00AM"},
	})
}

func TestArithmetic(t *testing.T) {
	t.Parallel()
	runScalars(t, []scalarTest{
		{"1 + 2 * 3", "int 7"},
		{"(1 + 2) * 3", "int 9"},
		{"7 / 2", "int 3"},
		{"-7 / 2", "int -3"},
		{"-7 % 3", "int -1"},
		{"7 & 3 | 8", "int 11"},
		{"1 & 2 + 1", "int 1"},
		{"1 | 6 & 3", "int 3"},
		{"@i + @i * 2", "int 21"},
		{"@i - @i * 2 + @i / 2 * 3", "int 2"},
		{"@i * (@i + 1) * 2", "int 112"},
		{"5 ^ 1", "int 4"},
		{"~5", "int -6"},
		{"~CAST(1 AS bit)", "bit 0"},
		{"- -3", "int 3"},
		{"1 / 0", "error 8134"},
		{"2147483647 + 1", "error 8115"},
		{"2147483647 * 2", "error 8115"},
		{"CAST(9223372036854775807 AS bigint) + 1", "error 8115"},
		{"CAST(200 AS tinyint) + CAST(100 AS tinyint)", "error 8115"},
		{"CAST(1 AS tinyint) - CAST(2 AS tinyint)", "error 8115"},
		{"CAST(1 AS smallint) + 1", "int 2"},
		{"CAST(1 AS bit) + 1", "int 2"},
		{"CAST(1 AS bit) + CAST(1 AS bit)", "error 8117"},
		{"1 + NULL", "int NULL"},
		{"@null + 1", "int NULL"},
		{"'5' + 3", "int 8"},
		{"'x' + 3", "error 245"},
		{"'a' - 'b'", "error 8117"},
		{"CAST(1 AS float) % 2", "error 402"},
		{"1.0 / 0", "error 8134"},
		{"1e0 / 0", "error 8134"},
		// Decimals: the documented rules of precision and scale.
		{"2.0 / 3", "decimal(7,6) 0.666666"},
		{"1.5 + 2.25", "decimal(4,2) 3.75"},
		{"1.5 * 2.25", "decimal(6,3) 3.375"},
		{"10.5 % 3", "decimal(2,1) 1.5"},
		{"CAST(10 AS decimal(10,2)) / CAST(3 AS decimal(10,2))", "decimal(23,13) 3.3333333333333"},
		{"CAST(1 AS decimal(38,10)) / CAST(3 AS decimal(38,10))", "decimal(38,6) 0.333333"},
		{"CAST(0.0000009 AS decimal(30,20)) * CAST(1 AS decimal(30,20))", "decimal(38,17) 0.00000090000000000"},
		{"CAST(1 AS decimal(38,0)) + 1", "decimal(38,0) 2"},
		{"CAST(99999999999999999999999999999999999999 AS decimal(38,0)) + 1", "error 8115"},
		{"-CAST(1.5 AS decimal(5,2))", "decimal(5,2) -1.50"},
		{"1.0 * @i", "decimal(13,1) 7.0"},
		// Money keeps four places; a division is cut off, a product rounded.
		{"@m * 2", "money 24.6912"},
		{"@m * qty", "money 37.0368"},
		{"@m * 1.5", "decimal(22,5) 18.51840"},
		{"@m * 1e0", "float 12.3456"},
		{"@m / 3", "money 4.1152"},
		{"CAST(100 AS money) / CAST(339 AS money) * CAST(10000 AS money)", "money 2949.0000"},
		{"CAST(0.0001 AS money) * CAST(0.5 AS money)", "money 0.0001"},
		{"CAST(1 AS smallmoney) + CAST(2 AS smallmoney)", "smallmoney 3.0000"},
		{"CAST(214748 AS smallmoney) * CAST(2 AS smallmoney)", "error 8115"},
		{"CAST(922337203685477 AS money) * 2", "error 8115"},
		{"$5 % $3", "money 2.0000"},
		{"ROUND(CAST(3 AS smallint) * price * (1 - $0.1), 4)", "money 6.7500"},
		// Dates.
		{"CAST('2024-01-31' AS datetime) + 1", "datetime Feb  1 2024 12:00AM"},
		{"CAST('2024-01-31' AS datetime) - 0.5", "datetime Jan 30 2024 12:00PM"},
		{"CAST('2024-01-31' AS datetime2) + 1", "error 206"},
		{"CAST('2024-01-31' AS date) + CAST('2024-01-31' AS date)", "error 8117"},
		// Text.
		{"'a' + 'b' + N'c'", "nvarchar(3) abc"},
		{"'a' + NULL", "varchar(2) NULL"},
		{"0x01 + 0x02", "varbinary(2) 0x0102"},
		{"'a' + 0x02", "error 402"},
	})
}

func TestConversions(t *testing.T) {
	t.Parallel()
	runScalars(t, []scalarTest{
		{"CAST(3.99 AS int)", "int 3"},
		{"CAST(-3.99 AS int)", "int -3"},
		{"CAST(3.99e0 AS int)", "int 3"},
		{"CAST($3.5 AS int)", "int 4"},
		{"CAST((0.25*106)+1 AS int)", "int 27"},
		{"CAST(1.005 AS decimal(5,2))", "decimal(5,2) 1.01"},
		{"CAST(-1.005 AS decimal(5,2))", "decimal(5,2) -1.01"},
		{"CAST(1234.5 AS decimal(5,2))", "error 8115"},
		{"CAST(1.23456 AS money)", "money 1.2346"},
		{"CAST(300 AS tinyint)", "error 220"},
		{"CAST(-1 AS tinyint)", "error 220"},
		{"CAST(3000000000 AS int)", "error 8115"},
		{"CAST(3e10 AS int)", "error 232"},
		{"CAST('12' AS int)", "int 12"},
		{"CAST(' 12 ' AS int)", "int 12"},
		{"CAST('' AS int)", "int 0"},
		{"CAST('12.5' AS int)", "error 245"},
		{"CAST('abc' AS int)", "error 245"},
		{"CAST('99999999999' AS int)", "error 248"},
		{"CAST('99999' AS smallint)", "error 244"},
		{"CAST('x' AS bigint)", "error 8114"},
		{"CAST('12.5' AS decimal(5,1))", "decimal(5,1) 12.5"},
		{"CAST('' AS decimal(5,1))", "error 8114"},
		{"CAST('1e2' AS decimal(5,1))", "error 8114"},
		{"CAST('1e2' AS float)", "float 100"},
		{"CAST('x' AS float)", "error 8114"},
		{"CAST(-922337203685477.5808 AS money)", "money -922337203685477.5808"},
		{"CAST('-922,337,203,685,477.5808' AS money)", "money -922337203685477.5808"},
		{"CAST(922337203685477.5807 AS money)", "money 922337203685477.5807"},
		{"CAST(922337203685477.5808 AS money)", "error 8115"},
		{"CAST('922337203685477.5808' AS money)", "error 8115"},
		{"CAST(-922337203685477.5809 AS money)", "error 8115"},
		{"CAST('$1,234.56' AS money)", "money 1234.5600"},
		{"CAST('x' AS money)", "error 235"},
		{"CAST('true' AS bit)", "bit 1"},
		{"CAST(5 AS bit)", "bit 1"},
		{"CAST('yes' AS bit)", "error 245"},
		{"CAST('hello' AS varchar(3))", "varchar(3) hel"},
		{"CAST('ab' AS char(4)) + '|'", "varchar(5) ab  |"},
		{"CAST(12345 AS varchar(3))", "varchar(3) *"},
		{"CAST(12345 AS nvarchar(3))", "error 8115"},
		{"CAST(12.345 AS varchar(3))", "error 8115"},
		{"CAST($12.345 AS varchar)", "varchar(30) 12.35"},
		{"CONVERT(varchar, $1234.5, 1)", "varchar(30) 1,234.50"},
		{"CONVERT(varchar, $1234.5, 2)", "varchar(30) 1234.5000"},
		{"CAST(1e6 AS varchar)", "varchar(30) 1e+006"},
		{"CAST(123456e0 AS varchar)", "varchar(30) 123456"},
		{"CAST(0.1e0 AS varchar)", "varchar(30) 0.1"},
		{"CAST(1234567e0 AS varchar)", "varchar(30) 1.23457e+006"},
		{"CAST('2024-02-30' AS date)", "error 241"},
		{"CAST('2024-02-30' AS datetime)", "error 242"},
		{"CAST('nonsense' AS datetime)", "error 241"},
		{"CAST('1700-01-01' AS datetime)", "error 242"},
		{"CAST('20240131' AS date)", "date 2024-01-31"},
		{"CAST('01/31/2024' AS date)", "date 2024-01-31"},
		{"CAST('Jan 31 2024 1:05PM' AS datetime2(0))", "datetime2(0) 2024-01-31 13:05:00"},
		{"CAST('31 Jan 2024' AS date)", "date 2024-01-31"},
		{"CAST('2024-01-31T13:14:15.1234567' AS datetime2)", "datetime2(7) 2024-01-31 13:14:15.1234567"},
		{"CAST('2024-01-31T13:14:15.1234567' AS datetime2(3))", "datetime2(3) 2024-01-31 13:14:15.123"},
		{"CAST('2024-01-31 13:14:15.1234567' AS datetime)", "error 241"},
		{"CONVERT(varchar, CAST('2024-01-31 13:14:15.127' AS datetime), 121)", "varchar(30) 2024-01-31 13:14:15.127"},
		{"CONVERT(varchar, CAST('2024-01-31 13:14:15.125' AS datetime), 121)", "varchar(30) 2024-01-31 13:14:15.127"},
		{"CONVERT(varchar(10), CAST('2024-01-31' AS datetime), 103)", "varchar(10) 31/01/2024"},
		{"CONVERT(date, '31/01/2024', 103)", "date 2024-01-31"},
		{"CONVERT(char(8), CAST('2024-01-31' AS datetime), 112)", "char(8) 20240131"},
		{"CONVERT(varchar, CAST('2024-01-31 13:14:15' AS datetime), 126)", "varchar(30) 2024-01-31T13:14:15"},
		{"CAST('2024-01-31 12:00 +02:00' AS datetimeoffset(0))", "datetimeoffset(0) 2024-01-31 12:00:00 +02:00"},
		{"CAST('2024-01-31 12:00:29' AS smalldatetime)", "smalldatetime Jan 31 2024 12:00PM"},
		{"CAST('2024-01-31 12:00:30' AS smalldatetime)", "smalldatetime Jan 31 2024 12:01PM"},
		{"CAST(45000 AS datetime)", "datetime Mar 17 2023 12:00AM"},
		{"CAST(CAST('1900-01-02 12:00' AS datetime) AS int)", "int 2"},
		{"CAST(1 AS date)", "error 529"},
		{"CAST(0x0102 AS int)", "int 258"},
		{"CAST(258 AS varbinary(4))", "varbinary(4) 0x00000102"},
		{"CAST(258 AS binary(2))", "binary(2) 0x0102"},
		{"CAST('ab' AS binary(3))", "binary(3) 0x616200"},
		{"CAST(N'ab' AS varbinary(4))", "varbinary(4) 0x61006200"},
		{"CONVERT(varchar(10), 0xABCD, 1)", "varchar(10) 0xABCD"},
		{"CONVERT(varbinary(2), '0xABCD', 1)", "varbinary(2) 0xABCD"},
		{"CAST('6F9619FF-8B86-D011-B42D-00C04FC964FF' AS uniqueidentifier)", "uniqueidentifier 6F9619FF-8B86-D011-B42D-00C04FC964FF"},
		{"CAST(CAST('6F9619FF-8B86-D011-B42D-00C04FC964FF' AS uniqueidentifier) AS binary(4))", "binary(4) 0xFF19966F"},
		{"CAST('x' AS uniqueidentifier)", "error 8169"},
		{"TRY_CAST('abc' AS int)", "int NULL"},
		{"TRY_CONVERT(date, '2024-13-01')", "date NULL"},
		{"TRY_CAST('12' AS int)", "int 12"},
		{"CAST(1 AS nosuchtype)", "error 243"},
		{"CAST('a' AS xml)", "error 40514"},
		{"CAST(1 AS sysname)", "nvarchar(128) 1"},
		{"PARSE('1' AS int)", "error 40514"},
	})
}

func TestConditionals(t *testing.T) {
	t.Parallel()
	runScalars(t, []scalarTest{
		{"CASE WHEN 1 = 2 THEN 'a' WHEN 2 = 2 THEN 'bc' END", "varchar(2) bc"},
		{"CASE WHEN 1 = 2 THEN 1 END", "int NULL"},
		{"CASE 3 WHEN 1 THEN 'one' WHEN 3 THEN N'three' ELSE 'x' END", "nvarchar(5) three"},
		{"CASE @null WHEN NULL THEN 1 ELSE 2 END", "int 2"},
		{"CASE WHEN 1 = 1 THEN 1 ELSE 1.5 END", "decimal(11,1) 1.0"},
		{"CASE WHEN 1 = 1 THEN 1 ELSE 1 / 0 END", "int 1"},
		{"CASE WHEN 1 = 1 THEN NULL END", "error 8133"},
		{"CASE WHEN 1 = 1 THEN 1 ELSE CAST('2024-01-01' AS date) END", "error 206"},
		{"IIF(@i > 5, 'big', 'small')", "varchar(5) big"},
		{"COALESCE(@null, 5)", "int 5"},
		{"COALESCE(NULL, NULL)", "error 4127"},
		{"COALESCE(@null, 'x')", "error 245"},
		{"ISNULL(@null, 5)", "int 5"},
		{"ISNULL(CAST(NULL AS varchar(2)), 'abc')", "varchar(2) ab"},
		{"ISNULL(NULL, 'abc')", "varchar(3) abc"},
		{"NULLIF(1, 1)", "int NULL"},
		{"NULLIF('a', 'b')", "varchar(1) a"},
		{"NULLIF(NULL, 1)", "error 4151"},
		{"CHOOSE(2, 'a', 'b', 'c')", "varchar(1) b"},
		{"CHOOSE(9, 'a', 'b')", "varchar(1) NULL"},
	})
}
