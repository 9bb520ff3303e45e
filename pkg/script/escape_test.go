package script

import (
	"errors"
	"strings"
	"testing"
)

func TestEscapes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, text, proc string }{
		{name: "published form", in: "{call sp_reset_connection()}", proc: "sp_reset_connection"},
		{name: "no parentheses", in: " { CALL dbo.p } ", proc: "dbo.p"},
		{name: "quoted name", in: "{call [a b].[c(d]]e]}", proc: "[a b].[c(d]]e]"},
		{name: "name in double quotes", in: `{call "a}b"()}`, proc: `"a}b"`},
		{name: "return status", in: "{? = call p()}", proc: "p"},
		{name: "return status, tight", in: "{?=call p}", proc: "p"},
		{name: "semicolon", in: "{call p};\r\n", proc: "p"},
		{name: "comments around", in: "-- {call q}\n{call p} /* {call r} */", proc: "p"},
		{name: "literals", in: "{call p(1, N'a)b''c', (2))}", text: "EXEC p 1, N'a)b''c', (2)"},
		{name: "status and literals", in: "{?=call p(1)}", text: "EXEC p 1"},
		{name: "named argument", in: "{call p(@a = 1, @b = DEFAULT)}", text: "EXEC p @a = 1, @b = DEFAULT"},
		{name: "dates as arguments", in: "{call p({d '2024-02-29'}, {ts '2024-02-29 10:11:12.5'}, {t '10:11'})}", text: "EXEC p '20240229', '2024-02-29T10:11:12.5', '10:11'"},
		{name: "question mark in a string", in: "{call p('what?')}", text: "EXEC p 'what?'"},
		{name: "calls among statements", in: "DECLARE @i int = 1{call p(@i)}{call q}SELECT 1", text: "DECLARE @i int = 1 EXEC p @i EXEC q SELECT 1"},
		{name: "comment in arguments", in: "{call p(1 -- one\n, 2)}", text: "EXEC p 1 -- one\n, 2"},

		{name: "no escape", in: "EXEC p 4", text: "EXEC p 4"},
		{name: "in a string", in: "SELECT '{fn NOW()}', N'it''s {d', \"{call\"", text: "SELECT '{fn NOW()}', N'it''s {d', \"{call\""},
		{name: "in brackets", in: "SELECT [{fn x]]{fn y] FROM t", text: "SELECT [{fn x]]{fn y] FROM t"},
		{name: "in comments", in: "SELECT 1 -- {fn\n/* {d /* {ts */ */", text: "SELECT 1 -- {fn\n/* {d /* {ts */ */"},
		{name: "a quantifier of a graph", in: "SHORTEST_PATH(a(-(b)->c){1,3})", text: "SHORTEST_PATH(a(-(b)->c){1,3})"},
		{name: "other words in braces", in: "{fnord} {datum} {dt '2024-01-01'}", text: "{fnord} {datum} {dt '2024-01-01'}"},

		{name: "literals stand", in: "SELECT {d '2024-01-31'}, { ts '2024-01-31 23:59:59.997' }, {t '23:59:59'}", text: "SELECT {d '2024-01-31'}, { ts '2024-01-31 23:59:59.997' }, {t '23:59:59'}"},
		{name: "guid stands", in: "SELECT {guid '6F9619FF-8B86-D011-B42D-00C04FC964FF'}", text: "SELECT {guid '6F9619FF-8B86-D011-B42D-00C04FC964FF'}"},
		{name: "escape stands", in: `SELECT 1 WHERE a LIKE '\%x' {escape '\'}`, text: `SELECT 1 WHERE a LIKE '\%x' {escape '\'}`},
		{name: "outer join", in: "SELECT 1 FROM {oj a LEFT OUTER JOIN b ON {fn UCASE(a.x)} = b.x} WHERE 1=1", text: "SELECT 1 FROM {oj a LEFT OUTER JOIN b ON UPPER(a.x) = b.x} WHERE 1=1"},

		{name: "function", in: "SELECT {fn ucase('a,b)')}", text: "SELECT UPPER('a,b)')"},
		{name: "apart from its neighbours", in: "SELECT{fn PI()}AS x", text: "SELECT PI() AS x"},
		{name: "nested", in: "{fn LEFT({fn CONCAT(a, {fn SPACE(3)})}, {fn MOD(x + 1, 2)})}", text: "LEFT(CONCAT(a, SPACE(3)), ((x + 1) % 2))"},
		{name: "commas of inner calls", in: "{fn LENGTH(COALESCE(a, b, c))}", text: "LEN(COALESCE(a, b, c))"},
		{name: "literal inside", in: "{fn YEAR({d '2024-01-31'})}", text: "DATEPART(year, {d '2024-01-31'})"},
		{name: "dollar and star in arguments", in: "{fn MOD($2, a*b)}", text: "($2 % (a*b))"},
		{name: "convert", in: "{fn CONVERT(a, sql_integer)}", text: "CONVERT(int, a)"},
		{name: "timestampadd", in: "{fn TIMESTAMPADD(SQL_TSI_DAY, -1, {fn NOW()})}", text: "DATEADD(day, -1, GETDATE())"},
		{name: "timestampdiff", in: "{fn timestampdiff(SQL_TSI_FRAC_SECOND, a, b)}", text: "DATEDIFF(nanosecond, a, b)"},
		{name: "extract", in: "{fn EXTRACT(Year FROM (SELECT d FROM t))}", text: "DATEPART(year, (SELECT d FROM t))"},
		{name: "position", in: "{fn POSITION(' in ' IN a)}", text: "CHARINDEX(' in ', a)"},
		{name: "current date", in: "{fn CURRENT_DATE}", text: "CAST(SYSDATETIME() AS date)"},
		{name: "current time", in: "{fn CURRENT_TIME(6)}", text: "CAST(SYSDATETIME() AS time(6))"},
		{name: "current timestamp", in: "{fn CURRENT_TIMESTAMP()}", text: "CURRENT_TIMESTAMP"},
		{name: "truncate", in: "{fn TRUNCATE(1.29, 1)}", text: "ROUND(1.29, 1, 1)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Escapes(c.in)
			if err != nil || got.Text != c.text || got.Proc != c.proc {
				t.Errorf("got %+v, %v; want %q, procedure %q", got, err, c.text, c.proc)
			}
		})
	}
}

func TestEscapeFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"marker", "{call p(?)}", "line 1: the ODBC escape {call ...} has a parameter marker ?"},
		{"no brace", "\n{call p", "line 2: the ODBC escape {call p has no closing brace"},
		{"no parenthesis", "{call p(1}", "has no closing parenthesis"},
		{"unclosed string", "{call p('a)}", "has no closing parenthesis"},
		{"no name", "{call (1)}", "names no procedure"},
		{"status of nothing", "{? = fn}", "not a call"},
		{"status alone", "{?}", "not {?=call ...}"},
		{"call in a call", "{call p({call q})}", "cannot be the argument of another"},
		{"function in a call", "{call p({fn NOW()})}", "cannot be the argument of a {call ...}"},
		{"argument without braces", "{call p 1}", "no closing brace"},
		{"date without quotes", "SELECT\r\n{d 2024-01-01}", "line 2: the ODBC escape {d ...} holds no string in quotes"},
		{"open date", "SELECT {d '2024-01-01'", "{d ...} has no closing brace"},
		{"open string", "SELECT {d '2024-01-01}", "holds no string in quotes"},
		{"day that is none", "SELECT {d '2023-02-29'}", "{d '2023-02-29'} does not hold a date, as in {d '2024-12-31'}"},
		{"hour that is none", "SELECT {t '24:00:00'}", "does not hold a time"},
		{"timestamp that is none", "SELECT {ts '2024-01-01 10'}", "does not hold a date and time"},
		{"guid that is none", "SELECT {guid '6F9619FF'}", "does not hold a uniqueidentifier"},
		{"interval", "SELECT {INTERVAL '1' DAY}", "T-SQL has no intervals"},
		{"no function", "SELECT {fn }", "names no function"},
		{"function without a twin", "SELECT {fn FOO(1)}", "the ODBC function FOO has no equal in T-SQL"},
		{"too few", "SELECT {fn UCASE()}", "the ODBC function UCASE takes 1 argument, not 0"},
		{"too many", "SELECT {fn LOCATE(1,2,3,4)}", "takes 2 to 3 arguments, not 4"},
		{"empty argument", "SELECT {fn LEFT(a, )}", "an argument of the ODBC function LEFT is empty"},
		{"no parentheses", "SELECT {fn NOW}", "written with parentheses"},
		{"unknown type", "{fn CONVERT(a, SQL_INTERVAL_DAY)}", "cannot make SQL_INTERVAL_DAY"},
		{"unknown interval", "{fn TIMESTAMPADD(day, 1, a)}", "has no interval day"},
		{"unknown part", "{fn EXTRACT(century FROM a)}", "is written EXTRACT(YEAR FROM x)"},
		{"no IN", "{fn POSITION(a, b)}", "is written POSITION(x IN y)"},
		{"precision", "{fn CURRENT_TIME(9)}", "a precision from 0 to 7"},
		{"no end of a function", "{fn UCASE('a')", "{fn UCASE ...} has no closing brace"},
		{"no end of a join", "{oj a JOIN b ON 1=1", "{oj ...} has no closing brace"},
		{"too deep", strings.Repeat("{fn UCASE(", 100), "deep in one another"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := Escapes(c.in)
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to say %q", err, c.want)
			}
		})
	}
}

// TestEscapesLong: the time grows with the text, not with its square.
func TestEscapesLong(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"{", "{d '2024-01-31'} ", "{fn PI()}", "{call p}", "'{'", "/*{*/", "[{", "--{", "{call p(1,", "(", "{?"} {
		text := "{" + strings.Repeat(unit, 4<<20/len(unit))
		if got, err := Escapes(text); err == nil && got.Text == "" && got.Proc == "" {
			t.Errorf("%.20q: nothing came of it", unit)
		}
	}
}

func FuzzEscapes(f *testing.F) {
	for _, s := range []string{"{call p}", "{call p(1)}", "{?=call [a]]b](')", "{call \"", "{", "{call", "{call p(('", "SELECT {fn UCASE({fn LEFT('a', 1)})}",
		"{d '2024-01-01'}{ts '2024-01-01 00:00:00'}", "{oj a {fn NOW()}}", "x LIKE 'a' {escape '!'}", "{fn MOD(a -- x\n, b)}", "/* {fn */ [{d] '{t", "{call p({d '2024-01-01'})}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := Escapes(s)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 || e.Line > 1+lineBreaks(s) {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		if !strings.Contains(s, "{") && got.Text != s {
			t.Fatalf("%q without braces became %q", s, got.Text)
		}
		if got.Proc != "" && got.Text != "" {
			t.Fatalf("%q: %+v", s, got)
		}
		again, err := Escapes(got.Text)
		if err != nil || again.Text != got.Text && again.Proc == "" {
			t.Fatalf("%q became %q, and that %+v, %v", s, got.Text, again, err)
		}
	})
}
