package exec

import (
	"context"
	"strings"
	"testing"

	"gostress/internal/engine/types"
)

func TestFunctions(t *testing.T) {
	t.Parallel()
	e, s := testDB(t)
	run(t, s, `CREATE SCHEMA x`, `CREATE TABLE x.t (id int IDENTITY(5,2) PRIMARY KEY, v nvarchar(20) NOT NULL, w decimal(8,2) NULL)`,
		`CREATE TYPE x.tt AS TABLE (a int)`, `CREATE PROCEDURE x.p AS SELECT @@PROCID - OBJECT_ID('x.p'), @@NESTLEVEL, OBJECT_NAME(@@PROCID)`,
		`CREATE FUNCTION x.twice (@a int) RETURNS int AS BEGIN DECLARE @r int = @a * 2 RETURN @r END`,
		`CREATE FUNCTION x.rows_of (@n nvarchar(20)) RETURNS TABLE AS RETURN (SELECT id, v FROM x.t WHERE v = @n)`,
		`CREATE FUNCTION x.plus (@a int) RETURNS TABLE AS RETURN (SELECT @a + 1 AS a)`,
		`CREATE FUNCTION x.multi (@n int) RETURNS @r TABLE (i int) AS BEGIN DECLARE @i int = 0 WHILE @i < @n BEGIN INSERT @r VALUES (@i) SET @i += 1 END RETURN END`,
		`INSERT x.t (v) VALUES (N'a'), (N'b')`)
	runBrief(t, s, []briefCase{
		{"identity", "INSERT x.t (v) VALUES ('c') SELECT SCOPE_IDENTITY(), @@IDENTITY, IDENT_CURRENT('x.t'), IDENT_SEED('x.t'), IDENT_INCR('x.t')", "row 9 | 9 | 9 | 5 | 2"},
		{"identity keeps across batches", "SELECT @@IDENTITY, SCOPE_IDENTITY()", "row 9 | NULL"},
		{"identity_insert", "SET IDENTITY_INSERT x.t ON INSERT x.t (id, v) VALUES (100, 'z') SET IDENTITY_INSERT x.t OFF INSERT x.t (v) VALUES ('y') SELECT SCOPE_IDENTITY() DELETE x.t WHERE id >= 100", "row 102"},
		{"database", "SELECT DB_NAME(), DB_ID('master'), DB_NAME(1), DB_ID('nope')", "row d | 1 | master | NULL"},
		{"object", "SELECT OBJECT_NAME(OBJECT_ID('x.t')), OBJECT_SCHEMA_NAME(OBJECT_ID('[x].[t]')), OBJECT_ID('x.t', 'P'), OBJECT_ID('nope')", "row t | x | NULL | NULL"},
		{"object in another database", "SELECT CASE WHEN OBJECT_ID('d.x.t') IS NULL THEN 0 ELSE 1 END", "row 1"},
		{"schema", "SELECT SCHEMA_NAME(SCHEMA_ID('x')), SCHEMA_NAME(), SCHEMA_ID('nope')", "row x | dbo | NULL"},
		{"type", "SELECT TYPE_NAME(TYPE_ID('int')), TYPE_NAME(TYPE_ID('x.tt')), TYPE_ID('nope')", "row int | tt | NULL"},
		{"column", "SELECT COL_NAME(OBJECT_ID('x.t'), 2), COL_LENGTH('x.t', 'v'), COLUMNPROPERTY(OBJECT_ID('x.t'), 'id', 'IsIdentity')", "row v | 40 | 1"},
		{"objectproperty", "SELECT OBJECTPROPERTY(OBJECT_ID('x.t'), 'TableHasIdentity'), OBJECTPROPERTY(OBJECT_ID('x.p'), 'IsProcedure'), OBJECTPROPERTY(OBJECT_ID('x.t'), 'IsView')", "row 1 | 1 | 0"},
		{"server", "SELECT CONVERT(int, SERVERPROPERTY('ProductMajorVersion')), CONVERT(int, SERVERPROPERTY('EngineEdition')), CONVERT(nvarchar(99), SERVERPROPERTY('Edition')), SERVERPROPERTY('IsXTPSupported')", "row 16 | 3 | gostress embedded engine | 1"},
		{"databasepropertyex", "SELECT DATABASEPROPERTYEX('d', 'Recovery'), DATABASEPROPERTYEX('d', 'Status')", "row FULL | ONLINE"},
		{"session", "SELECT SUSER_SNAME(), ORIGINAL_LOGIN(), USER_NAME(), CURRENT_USER, SYSTEM_USER, HOST_NAME(), APP_NAME()", "row sa | sa | dbo | dbo | sa | client | test"},
		{"roles", "SELECT IS_SRVROLEMEMBER('sysadmin'), HAS_DBACCESS('d'), HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')", "row 1 | 1 | 1"},
		{"globals", "SELECT @@TRANCOUNT, @@MAX_PRECISION, @@LANGUAGE, @@SERVERNAME, @@NESTLEVEL, @@PROCID, @@DATEFIRST, @@TEXTSIZE", "row 0 | 38 | us_english | testserver | 0 | 0 | 7 | 2147483647"},
		{"procid", "EXEC x.p", "row 0 | 1 | p"},
		{"context", "SET CONTEXT_INFO 0x0102 SELECT SUBSTRING(CONTEXT_INFO(), 1, 2) EXEC sp_set_session_context 'k', 5 SELECT SESSION_CONTEXT(N'k')", "row 0x0102\nrow 5"},
		{"sessionproperty", "SELECT SESSIONPROPERTY('ANSI_NULLS'), SESSIONPROPERTY('nope')", "row 1 | NULL"},
		{"scalar function", "SELECT x.twice(21), x.twice(id) FROM x.t WHERE id = 5", "row 42 | 10"},
		{"inline function", "SELECT id FROM x.rows_of(N'b')", "row 7"},
		{"inline function over no table", "SELECT a FROM x.plus(3)", "row 4"},
		{"inline function over no table, in a join", "SELECT t.id, p.a FROM x.t AS t CROSS APPLY x.plus(t.id) AS p WHERE t.id = 5", "row 5 | 6"},
		{"inline function over no table, in a subquery", "SELECT (SELECT a FROM x.plus(1)) IF EXISTS (SELECT 1 FROM x.plus(1)) SELECT 'yes'", "row 2\nrow yes"},
		{"multi-statement function", "SELECT SUM(i) FROM x.multi(5)", "row 10"},
		{"global temporary table", "CREATE TABLE ##g (a int)", "error 40514 16 1 line 1"},
		{"global temporary table by SELECT INTO", "SELECT 1 AS a INTO ##g", "error 40514 16 1 line 1"},
		{"throw again without a semicolon", "BEGIN TRY RAISERROR('x', 16, 3) END TRY BEGIN CATCH THROW END CATCH", "error 50000 16 3 line 1: x"},
		{"merge with values", "DECLARE @t TABLE (a int, b varchar(9)) INSERT @t VALUES (1, 'x') MERGE @t AS t USING (VALUES (1, 'y'), (2, 'z')) AS s (a, b) ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = s.b WHEN NOT MATCHED THEN INSERT (a, b) VALUES (s.a, s.b); SELECT a, b FROM @t ORDER BY a", "row 1 | y\nrow 2 | z"},
		{"function in a condition", "IF x.twice(2) = 4 SELECT 'four'", "row four"},
		{"wrong number of arguments", "SELECT x.twice()", "error 313 16 2 line 1"},
		{"system views", "SELECT name FROM sys.tables SELECT name FROM master.sys.databases WHERE name = 'd' SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE session_id = @@SPID", "row t\nrow d\nrow 1"},
		{"requests", "SELECT command FROM sys.dm_exec_requests WHERE session_id = @@SPID", "row SELECT"},
	})
	if got := batch(t, s, `SELECT @@VERSION`); !strings.Contains(got, "gostress embedded engine test") || !strings.Contains(got, productVersion) {
		t.Error(got)
	}
	if len(e.Sessions()) < 1 {
		t.Error("sessions are missing")
	}
}

func TestProcedures(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	run(t, s, `CREATE TYPE tt AS TABLE (a int)`, `CREATE TYPE tt2 AS TABLE (a int)`,
		`CREATE PROCEDURE p @a int, @b varchar(9) = 'def', @c int = 3 OUTPUT AS SELECT @a, @b, @c SET @c = @a * 10`,
		`CREATE PROCEDURE q @t tt READONLY AS SELECT COUNT(*), SUM(a) FROM @t`,
		`CREATE PROCEDURE none AS SELECT 1`,
		`CREATE PROCEDURE settings AS SET NOCOUNT ON SET XACT_ABORT ON SELECT (@@OPTIONS) & 16384`,
		`CREATE PROCEDURE outer_p AS CREATE TABLE #t (a int) INSERT #t VALUES (1) EXEC inner_p SELECT a FROM #t`,
		`CREATE PROCEDURE inner_p AS INSERT #t VALUES (2)`,
		`CREATE PROCEDURE several AS SELECT 1, 'a' SELECT 2, 'b'`,
		`CREATE TABLE into_me (a int, b varchar(5))`)
	runBrief(t, s, []briefCase{
		{"positional", "EXEC p 1, 'x', 2", "row 1 | x | 2"},
		{"defaults", "EXEC p 1", "row 1 | def | 3"},
		{"named", "EXEC p @c = 9, @a = 1", "row 1 | def | 9"},
		{"default word", "EXEC p 1, DEFAULT, 5", "row 1 | def | 5"},
		{"output", "DECLARE @o int = 4 EXEC p 7, 'x', @o OUTPUT SELECT @o", "row 7 | x | 4\nrow 70"},
		{"output not asked for", "DECLARE @o int = 4 EXEC p 7, 'x', @o SELECT @o", "row 7 | x | 4\nrow 4"},
		{"converted output", "DECLARE @o varchar(10) = '4' EXEC p 7, 'x', @o OUTPUT SELECT @o + '!'", "row 7 | x | 4\nrow 70!"},
		{"word as a string", "EXEC p 1, word", "row 1 | word | 3"},
		{"missing", "EXEC p SELECT 'on'", "error 201 16 4 line 1\nrow on"},
		{"too many", "EXEC p 1, 2, 3, 4", "error 8144 16 2 line 1"},
		{"unknown name", "EXEC p @nope = 1", "error 8145 16 2 line 1"},
		{"twice", "EXEC p 1, @a = 2", "error 8143 16 1 line 1"},
		{"position after name", "EXEC p @a = 1, 2", "error 119 15 1 line 1"},
		{"output of an input", "DECLARE @o int EXEC p @o OUTPUT", "error 8162 16 2 line 1"},
		{"output of a constant", "EXEC p 1, 'x', 3 OUTPUT", "error 179 15 1 line 1"},
		{"arguments to none", "EXEC none 1", "error 8144 16 2 line 1"},
		{"table type", "DECLARE @v tt INSERT @v VALUES (1), (2) EXEC q @v EXEC q", "row 2 | 3\nrow 0 | NULL"},
		{"wrong table type", "DECLARE @v tt2 EXEC q @v", "error 206 16 2 line 1"},
		{"scalar for a table", "EXEC q 1", "error 206 16 2 line 1"},
		{"name in a variable", "DECLARE @n nvarchar(20) = N'dbo.none' EXEC @n", "row 1"},
		{"settings come back", "EXEC settings SELECT (@@OPTIONS) & 16384", "row 16384\nrow 0"},
		{"temp tables by scope", "EXEC outer_p EXEC outer_p SELECT * FROM #t", "row 1\nrow 2\nrow 1\nrow 2\nerror 208 16 1 line 1"},
		{"temp tables of the session", "CREATE TABLE #s (a int) INSERT #s VALUES (3)", ""},
		{"in the next batch", "SELECT a FROM #s DROP TABLE #s", "row 3"},
		{"temp table with another shape", "CREATE TABLE #s (b varchar(3), c int) INSERT #s VALUES ('x', 1) SELECT b FROM #s DROP TABLE #s", "row x"},
		{"insert exec", "INSERT into_me EXEC several SELECT a, b FROM into_me ORDER BY a", "row 1 | a\nrow 2 | b"},
		{"insert exec of a string", "DELETE into_me INSERT into_me EXEC('SELECT 5, ''e''') SELECT a, b FROM into_me", "row 5 | e"},
		{"select into", "SELECT a, b INTO copied FROM into_me SELECT COUNT(*) FROM copied DROP TABLE copied", "row 1"},
		{"select into temp", "SELECT 1 AS a INTO #c SELECT a FROM #c", "row 1"},
		{"other database", "CREATE DATABASE other", ""},
		{"across databases", "USE other CREATE TABLE there (a int) INSERT there VALUES (8) USE d SELECT a FROM other.dbo.there INSERT other..there VALUES (9) SELECT COUNT(*) FROM other.dbo.there", "info 5701 0 2 line 1\ninfo 5701 0 2 line 1\nrow 8\nrow 2"},
		{"use in dynamic SQL ends with it", "EXEC('USE other SELECT DB_NAME()') SELECT DB_NAME()", "info 5701 0 2 line 1\nrow other\nrow d"},
		{"two databases in one statement", "SELECT * FROM other.dbo.there, into_me", "error 40514 16 1 line 1"},
		{"drop database in use", "DROP DATABASE d", "error 3702 16 3 line 1"},
		{"drop database", "DROP DATABASE other SELECT DB_ID('other')", "row NULL"},
		{"recompiled", "CREATE TABLE shape (a int) INSERT shape VALUES (1)", ""},
		{"before", "SELECT * FROM shape", "row 1"},
		{"changed", "ALTER TABLE shape ADD b int NULL", ""},
		{"after", "SELECT * FROM shape", "row 1 | NULL"},
		{"alter procedure", "CREATE OR ALTER PROCEDURE none AS SELECT 'new'", ""},
		{"altered", "EXEC none", "row new"},
		{"create must be first", "SELECT 1 CREATE PROCEDURE z AS SELECT 1", "error 111 15 1 line 1"},
		{"wrong body is refused", "CREATE PROCEDURE wrong AS SELECT nope FROM into_me", "error 207 16 1 line 1 in dbo.wrong"},
		{"and not kept", "SELECT OBJECT_ID('wrong')", "row NULL"},
		{"missing tables are not", "CREATE PROCEDURE later AS SELECT * FROM made_later", ""},
		{"rand with a seed", "DECLARE @a float = RAND(7) DECLARE @b float = RAND(7) SELECT CASE WHEN @a = @b THEN 1 ELSE 0 END", "row 1"},
	})
}

func TestCursors(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	run(t, s, `CREATE TABLE t (id int PRIMARY KEY, v varchar(5))`, `INSERT t VALUES (1, 'a'), (2, 'b'), (3, 'c')`)
	runBrief(t, s, []briefCase{
		{"loop", `DECLARE c CURSOR LOCAL FAST_FORWARD FOR SELECT id, v FROM t ORDER BY id
DECLARE @id int, @v varchar(5), @all varchar(50) = ''
OPEN c
FETCH NEXT FROM c INTO @id, @v
WHILE @@FETCH_STATUS = 0 BEGIN SET @all += @v + CAST(@id AS varchar(9)) FETCH NEXT FROM c INTO @id, @v END
CLOSE c DEALLOCATE c
SELECT @all`, "row a1b2c3"},
		{"rows to the client", "DECLARE c CURSOR FOR SELECT id FROM t ORDER BY id OPEN c FETCH NEXT FROM c FETCH FROM c CLOSE c DEALLOCATE c", "row 1\nrow 2"},
		{"not there", "OPEN nope", "error 16916 16 1 line 1"},
		{"not open", "DECLARE c CURSOR FOR SELECT id FROM t; FETCH FROM c DEALLOCATE c", "error 16917 16 1 line 1"},
		{"dynamic is refused", "DECLARE c CURSOR DYNAMIC FOR SELECT id FROM t", "error 40517 16 1 line 1"},
		{"scroll", "DECLARE c CURSOR STATIC SCROLL FOR SELECT id FROM t ORDER BY id OPEN c FETCH LAST FROM c FETCH PRIOR FROM c FETCH ABSOLUTE 1 FROM c CLOSE c DEALLOCATE c", "row 3\nrow 2\nrow 1"},
	})
}

func TestSystemProcedures(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	run(t, s, `CREATE TABLE t (id int PRIMARY KEY, v nvarchar(20))`, `INSERT t VALUES (1, N'a'), (2, N'b')`, "CREATE PROCEDURE p AS\nSELECT 1")
	runBrief(t, s, []briefCase{
		{"executesql", "EXEC sp_executesql N'SELECT v FROM t WHERE id = @i', N'@i int', 2", "row b"},
		{"executesql with output", "DECLARE @o int EXEC sp_executesql N'SET @x = @i * 2', N'@i int, @x int OUTPUT', @i = 21, @x = @o OUTPUT SELECT @o", "row 42"},
		{"executesql without parameters", "EXEC sys.sp_executesql N'SELECT 1'", "row 1"},
		{"executesql missing", "EXEC sp_executesql N'SELECT @i', N'@i int'", "error 8178 16 1 line 1"},
		{"property", "EXEC sp_addextendedproperty N'k', N'v' SELECT CONVERT(nvarchar(9), value) FROM sys.extended_properties EXEC sp_updateextendedproperty N'k', N'w' SELECT CONVERT(nvarchar(9), value) FROM sys.extended_properties EXEC sys.sp_dropextendedproperty @name = N'k' SELECT COUNT(*) FROM sys.extended_properties", "row v\nrow w\nrow 0"},
		{"helptext", "EXEC sp_helptext 'p'", "row CREATE PROCEDURE p AS\nrow SELECT 1"},
		{"helptext of nothing", "EXEC sp_helptext 'nope'", "error 15009 16 1 line 1"},
		{"unknown", "EXEC sp_nope", "error 2812 16 62 line 1"},
		{"applock", "DECLARE @r int EXEC @r = sp_getapplock 'a', 'Exclusive', 'Session', 0 SELECT @r EXEC @r = sp_releaseapplock 'a', 'Session' SELECT @r", "row 0\nrow 0"},
		{"checkpoint", "CHECKPOINT SELECT 1", "row 1"},
		{"checkident", "DBCC CHECKIDENT ('t')", "error 7997 16 1 line 1"},
		{"dbcc unknown", "DBCC SHRINKDATABASE (d)", "error 40514 16 1 line 1"},
		{"who", "DECLARE @w TABLE (spid smallint, ecid smallint, status nchar(30), loginame nvarchar(128), hostname nchar(128), blk char(5), db nvarchar(128), cmd nchar(26), r int) INSERT @w EXEC sp_who SELECT COUNT(*) FROM @w WHERE spid = @@SPID", "row 1"},
	})
}

func TestSetOptions(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	runBrief(t, s, []briefCase{
		{"tedious", "set ansi_null_dflt_on on\nset ansi_nulls on\nset ansi_padding on\nset ansi_warnings on\nset arithabort on\nset concat_null_yields_null on\nset cursor_close_on_commit off\nset datefirst 7\nset dateformat mdy\nset implicit_transactions off\nset language us_english\nset numeric_roundabort off\nset quoted_identifier on\nset textsize 2147483647\nset transaction isolation level read committed", "info 5703 0 1 line 11"},
		{"options", "SELECT (@@OPTIONS) & 64", "row 64"},
		{"other semantics are refused", "SET ANSI_NULLS OFF", "error 40517 16 1 line 1"},
		{"other first day", "SET DATEFIRST 1", "error 40517 16 1 line 1"},
		{"other language", "SET LANGUAGE Deutsch", "error 40517 16 1 line 1"},
		{"other language by its alias", "SET LANGUAGE N'British English'", "error 40517 16 1 line 1"},
		{"no language", "SET LANGUAGE Klingon", "error 2740 16 1 line 1"},
		{"english", "SET LANGUAGE English SELECT @@LANGUAGE, @@LANGID", "info 5703 0 1 line 1\nrow us_english | 0"},
		{"other order of a date", "SET DATEFORMAT dmy", "error 40517 16 1 line 1"},
		{"no order of a date", "SET DATEFORMAT dmx", "error 2741 16 1 line 1"},
		{"no day of a week", "SET DATEFIRST 8", "error 2742 16 1 line 1"},
		{"statistics", "SET STATISTICS IO ON", "error 40517 16 1 line 1"},
		{"statistics off", "SET STATISTICS TIME OFF SELECT 1", "row 1"},
		{"lock timeout", "SET LOCK_TIMEOUT 500 SELECT @@LOCK_TIMEOUT SET LOCK_TIMEOUT -1", "row 500"},
		{"parse only", "SET PARSEONLY ON", ""},
		{"parsed only", "SELECT 1", ""},
		{"parsed with an error", "SELECT FROM WHERE", "error 156 15 1 line 1"},
		{"off again", "SET PARSEONLY OFF", ""},
		{"runs", "SELECT 1", "row 1"},
	})
	s.Reset(false)
	if got := brief(batch(t, s, `SELECT (@@OPTIONS) & 64, DB_NAME(), @@TRANCOUNT`)); got != "row 0 | master | 0" {
		t.Error(got)
	}
}

func TestCalls(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	run(t, s, `CREATE TABLE t (id int PRIMARY KEY, v nvarchar(20))`, `INSERT t VALUES (1, N'a')`,
		`CREATE PROCEDURE p @a int, @b int OUTPUT AS SET @b = @a + 1 RETURN 4`, `CREATE PROCEDURE bad AS SELECT 1/0 SELECT 2`)
	str := func(v string) Param {
		return Param{Type: types.NVarChar(4000), Value: types.NewString(types.KindNVarChar, v)}
	}
	num := func(n int64) Param { return Param{Type: types.Int, Value: types.NewInt(types.KindInt, n)} }
	named := func(n string, p Param) Param { p.Name = n; return p }
	out := func(p Param) Param { p.Output = true; return p }
	for _, c := range []struct {
		name, want string
		call       Call
	}{
		{"procedure", "status 4\nout 1 @b int = 6\ndoneproc EXECUTE\n", Call{Proc: "p", Params: []Param{num(5), out(Param{Type: types.Int})}}},
		{"named", "status 4\nout 0 @b int = 6\ndoneproc EXECUTE\n", Call{Proc: "[dbo].[p]", Params: []Param{named("@b", out(Param{Type: types.Int})), named("@a", num(5))}}},
		{"converted", "status 4\ndoneproc EXECUTE\n", Call{Proc: "p", Params: []Param{str("5"), num(0)}}},
		{"executesql", "columns v nvarchar(20)\nrow a\ndoneinproc SELECT 1 more\nstatus 0\ndoneproc EXECUTE\n", Call{Proc: "sp_executesql", Params: []Param{str("SELECT v FROM t WHERE id = @p1"), str("@p1 int"), named("@p1", num(1))}}},
		{"executesql output", "status 0\nout 3 @o int = 2\ndoneproc EXECUTE\n", Call{Proc: "sp_executesql", Params: []Param{str("SET @o = @i * 2"), str("@i int, @o int output"), named("@i", num(1)), named("@o", out(Param{Type: types.Int}))}}},
		{"prepare", "status 0\nout 0  int = 1\ndoneproc EXECUTE\n", Call{Proc: "sp_prepare", Params: []Param{out(Param{Type: types.Int}), str("@i int"), str("SELECT @i AS i")}}},
		{"execute", "columns i int\nrow 3\ndoneinproc SELECT 1 more\nstatus 0\ndoneproc EXECUTE\n", Call{Proc: "sp_execute", Params: []Param{num(1), num(3)}}},
		{"prepexec", "columns i int\nrow 4\ndoneinproc SELECT 1 more\nstatus 0\nout 0  int = 2\ndoneproc EXECUTE\n", Call{Proc: "sp_prepexec", Params: []Param{out(Param{Type: types.Int}), str("@i int"), str("SELECT @i AS i"), num(4)}}},
		{"unprepare", "status 0\ndoneproc EXECUTE\n", Call{Proc: "sp_unprepare", Params: []Param{num(1)}}},
	} {
		var o transcript
		if err := s.Call(context.Background(), &c.call, &o); err != nil {
			t.Fatal(err)
		}
		if got := o.b.String(); got != c.want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		name, want string
		call       Call
	}{
		{"no such handle", "error 8179 16 4 line 1", Call{Proc: "sp_execute", Params: []Param{num(1)}}},
		{"no such procedure", "error 2812 16 62 line 1", Call{Proc: "nope"}},
		{"missing parameter", "error 201 16 4 line 1", Call{Proc: "p"}},
		{"error in the procedure", "error 8134 16 1 line 1 in dbo.bad\nrow 2", Call{Proc: "bad"}},
		{"error in the text", "error 102 15 1 line 2", Call{Proc: "sp_executesql", Params: []Param{str("SELECT 1\nSELECT )")}}},
		{"too few parameters", "error 16903 16 1 line 1", Call{Proc: "sp_cursoropen"}},
	} {
		var o transcript
		if err := s.Call(context.Background(), &c.call, &o); err != nil {
			t.Fatal(err)
		}
		if got := brief(o.b.String()); got != c.want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", c.name, got, c.want)
		}
	}
}

func TestBulk(t *testing.T) {
	t.Parallel()
	_, s := testDB(t)
	run(t, s, `CREATE TABLE t (id int PRIMARY KEY, v nvarchar(5))`, `INSERT BULK t (id int, v nvarchar(5))`)
	if n := len(s.BulkColumns()); n != 2 {
		t.Fatalf("%d columns", n)
	}
	load := func(rows [][]types.Value) string {
		var o transcript
		next := func() ([]types.Value, error) {
			if len(rows) == 0 {
				return nil, nil
			}
			r := rows[0]
			rows = rows[1:]
			return r, nil
		}
		if err := s.Bulk(context.Background(), next, &o); err != nil {
			t.Fatal(err)
		}
		return o.b.String()
	}
	row := func(n int64, v string) []types.Value {
		return []types.Value{types.NewInt(types.KindInt, n), types.NewString(types.KindNVarChar, v)}
	}
	if got := load([][]types.Value{row(1, "a"), row(2, "b")}); got != "done INSERT 2\n" {
		t.Error(got)
	}
	run(t, s, `INSERT BULK t (id int, v nvarchar(5))`)
	if got := brief(load([][]types.Value{row(3, "a"), row(1, "b")})); got != "error 2627 14 1 line 1" {
		t.Error(got)
	}
	if got := brief(batch(t, s, `SELECT COUNT(*) FROM t`)); got != "row 2" {
		t.Error(got)
	}
	if got := brief(load(nil)); got != "error 4002 16 1 line 1" {
		t.Error(got)
	}
}
