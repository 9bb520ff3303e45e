package plan

import (
	"testing"
)

const stock = `
CREATE TABLE dbo.item (id int IDENTITY(5,2) NOT NULL PRIMARY KEY, name nvarchar(5) NOT NULL, price money NULL DEFAULT 1.5, made datetime2 NOT NULL DEFAULT SYSDATETIME(), n int NOT NULL DEFAULT (0) CHECK (n >= 0), double_n AS n * 2)
CREATE TABLE dbo.pair (a int NOT NULL, b int NOT NULL, v nvarchar(10) NULL, CONSTRAINT pk_pair PRIMARY KEY (a, b))
CREATE UNIQUE INDEX ux_v ON dbo.pair (v)
INSERT dbo.pair VALUES (1, 1, 'one'), (1, 2, 'two'), (2, 1, 'three'), (2, 2, 'four')
CREATE TABLE dbo.parent (id int NOT NULL PRIMARY KEY, up int NULL CONSTRAINT fk_up REFERENCES dbo.parent (id))
CREATE TABLE dbo.child (id int NOT NULL PRIMARY KEY, pid int NULL CONSTRAINT fk_child FOREIGN KEY REFERENCES dbo.parent (id))
CREATE TABLE dbo.kept (id int NOT NULL, what nvarchar(10) NULL)
INSERT dbo.parent VALUES (1, NULL), (2, 1)
INSERT dbo.child VALUES (10, 1)
`

func newStock(t testing.TB) *lab {
	l := newLab(t)
	l.must(t, stock)
	return l
}

func TestChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, sql, want string }{
		{"insert with defaults", "INSERT item (name) VALUES (N'a'), (N'b') SELECT id, name, price, n, double_n FROM item ORDER BY id", "5|a|1.50|0|0\n7|b|1.50|0|0"},
		{"insert without list", "INSERT item VALUES (N'a', 2, '2020-01-01', 3) SELECT id, price, n, double_n FROM item", "5|2.00|3|6"},
		{"insert DEFAULT", "INSERT item (name, price, n) VALUES (N'a', DEFAULT, 4) SELECT price, double_n FROM item", "1.50|8"},
		{"insert default values", "CREATE TABLE d (id int IDENTITY, x int DEFAULT 7) INSERT d DEFAULT VALUES INSERT d DEFAULT VALUES SELECT id, x FROM d ORDER BY id", "1|7\n2|7"},
		{"insert select", "INSERT kept SELECT a * 10 + b, v FROM pair WHERE a = 1 SELECT id, what FROM kept ORDER BY id", "11|one\n12|two"},
		{"insert select into itself", "INSERT pair SELECT a + 10, b, NULL FROM pair WHERE b = 1 AND a = 1 INSERT kept SELECT a, v FROM pair INSERT kept SELECT id, what FROM kept SELECT COUNT(*) FROM kept", "10"},
		{"insert top", "INSERT TOP (2) kept SELECT a, v FROM pair ORDER BY a, b SELECT COUNT(*) FROM kept", "2"},
		{"insert with cte", "WITH c AS (SELECT a FROM pair WHERE b = 2) INSERT kept (id) SELECT a FROM c SELECT id, what FROM kept ORDER BY id", "1|NULL\n2|NULL"},
		{"insert output", "INSERT item (name, n) OUTPUT inserted.id, inserted.double_n, inserted.* VALUES (N'a', 1), (N'b', 2)", "5|2|5|a|1.50|2026-01-02 03:04:05.0000000|1|2\n7|4|7|b|1.50|2026-01-02 03:04:05.0000000|2|4"},
		{"insert output into", "INSERT item (name) OUTPUT inserted.id, inserted.name INTO kept VALUES (N'a') SELECT id, what FROM kept", "5|a"},
		{"insert output into columns", "DECLARE @o TABLE (x int IDENTITY, y int) INSERT item (name) OUTPUT inserted.id INTO @o (y) VALUES (N'a'), (N'b') SELECT x, y FROM @o ORDER BY x", "1|5\n2|7"},
		{"table variable", "DECLARE @t TABLE (id int IDENTITY(1,1) PRIMARY KEY, x int UNIQUE) INSERT @t (x) VALUES (5) INSERT @t (x) SELECT x + 1 FROM @t INSERT @t SELECT x + 2 FROM @t SELECT id, x FROM @t ORDER BY id", "1|5\n2|6\n3|7\n4|8"},
		{"temporary table", "CREATE TABLE #t (a int NULL) INSERT #t VALUES (1), (NULL) SELECT a FROM #t ORDER BY a", "NULL\n1"},
		{"identity_insert list", "INSERT kept (id, what) VALUES (1, 'x') SELECT id FROM kept", "1"},
		{"insert select NULL", "CREATE TABLE n (d date NULL, b varbinary(4) NULL) INSERT n SELECT NULL, NULL INSERT n SELECT NULL, NULL UNION ALL SELECT NULL, 0x01 SELECT d, CAST(b AS int) FROM n ORDER BY b", "NULL|NULL\nNULL|NULL\nNULL|1"},
		{"conversion", "INSERT kept (id, what) VALUES ('12', 34) SELECT id, what FROM kept", "12|34"},

		{"update", "UPDATE pair SET v = 'x' WHERE a = 1 AND b = 2 SELECT v FROM pair ORDER BY a, b", "one\nx\nthree\nfour"},
		{"update all keys", "UPDATE pair SET a = a + 1 SELECT a, b FROM pair ORDER BY a, b", "2|1\n2|2\n3|1\n3|2"},
		{"update swaps unique values", "UPDATE pair SET v = CASE v WHEN 'one' THEN 'two' ELSE 'one' END WHERE v IN ('one', 'two') SELECT v FROM pair WHERE a = 1 ORDER BY b", "two\none"},
		{"update with operator", "UPDATE pair SET v += '!' WHERE a = 2 SELECT v FROM pair WHERE a = 2 ORDER BY b", "three!\nfour!"},
		{"update from", "UPDATE k SET what = p.v FROM kept k JOIN pair p ON p.a = k.id AND p.b = 1 INSERT kept VALUES (1, NULL), (2, 'b') UPDATE k SET what = p.v FROM kept k JOIN pair p ON p.a = k.id AND p.b = 1 SELECT id, what FROM kept ORDER BY id", "1|one\n2|three"},
		{"update from by table name", "INSERT kept VALUES (1, NULL) UPDATE kept SET what = p.v FROM pair p WHERE p.a = kept.id AND p.b = 2 SELECT what FROM kept", "two"},
		{"update from by table name in FROM", "INSERT kept VALUES (1, NULL) UPDATE dbo.kept SET what = p.v FROM kept k JOIN pair p ON p.a = k.id AND p.b = 2 SELECT what FROM kept", "two"},
		{"update once a row", "INSERT kept VALUES (1, '') UPDATE k SET what = 'x' + what FROM kept k JOIN pair p ON p.a = k.id SELECT what FROM kept", "x"},
		{"update variable", "DECLARE @v nvarchar(10), @n int = 0 UPDATE pair SET @v = v = v + '+', @n = @n + 1 WHERE a = 1 AND b = 1 SELECT @v, @n, v FROM pair WHERE a = 1 AND b = 1", "one+|1|one+"},
		{"update default", "INSERT item (name, price) VALUES (N'a', 9) UPDATE item SET price = DEFAULT, n = 3 SELECT price, double_n FROM item", "1.50|6"},
		{"update output", "UPDATE pair SET v = 'n' + CAST(b AS nvarchar(2)) OUTPUT deleted.v, inserted.v, inserted.a WHERE a = 1", "one|n1|1\ntwo|n2|1"},
		{"update output from", "INSERT kept VALUES (1, 'k') UPDATE k SET what = p.v OUTPUT p.b, deleted.what FROM kept k JOIN pair p ON p.a = k.id AND p.b = 2", "2|k"},
		{"update top", "UPDATE TOP (1) pair SET b = b + 10 SELECT COUNT(*) FROM pair WHERE b > 10", "1"},
		{"update with subquery", "UPDATE pair SET v = (SELECT COUNT(*) FROM child) WHERE a = 1 AND b = 1 SELECT v FROM pair WHERE a = 1 AND b = 1", "1"},
		{"update table variable", "DECLARE @t TABLE (a int PRIMARY KEY) INSERT @t VALUES (1), (2) UPDATE @t SET a = a + 1 SELECT a FROM @t ORDER BY a", "2\n3"},
		{"update cte", "WITH c AS (SELECT v, ROW_NUMBER() OVER (ORDER BY a, b) AS r FROM pair) UPDATE c SET v = 'r' + CAST(r AS nvarchar(3)) WHERE r > 2 SELECT v FROM pair ORDER BY a, b", "one\ntwo\nr3\nr4"},
		{"update hint", "UPDATE pair WITH (ROWLOCK) SET v = 'q' WHERE a = 1 AND b = 1 SELECT v FROM pair WHERE a = 1 AND b = 1", "q"},
		{"update nothing", "UPDATE pair SET v = 'q' WHERE a = 9 SELECT COUNT(*) FROM pair WHERE v = 'q'", "0"},

		{"delete", "DELETE pair WHERE a = 1 SELECT v FROM pair ORDER BY b", "three\nfour"},
		{"delete from", "DELETE FROM p FROM pair p JOIN child c ON c.pid = p.a SELECT a FROM pair ORDER BY b", "2\n2"},
		{"delete all", "DELETE FROM pair SELECT COUNT(*) FROM pair", "0"},
		{"delete top", "DELETE TOP (3) FROM pair SELECT COUNT(*) FROM pair", "1"},
		{"delete output", "DELETE pair OUTPUT deleted.v WHERE b = 1 AND a = 2", "three"},
		{"delete output into", "DELETE pair OUTPUT deleted.a, deleted.v INTO kept WHERE b = 1 SELECT id, what FROM kept ORDER BY id", "1|one\n2|three"},
		{"delete cte duplicates", "INSERT kept VALUES (1, 'a'), (1, 'b'), (2, 'c') ; WITH d AS (SELECT id, ROW_NUMBER() OVER (PARTITION BY id ORDER BY what) AS r FROM kept) DELETE d WHERE r > 1 SELECT id, what FROM kept ORDER BY id", "1|a\n2|c"},
		{"delete child and parent", "DELETE child DELETE parent SELECT COUNT(*) FROM parent", "0"},
		{"delete with exists", "DELETE p FROM pair p WHERE NOT EXISTS (SELECT 1 FROM child c WHERE c.pid = p.a) SELECT COUNT(*) FROM pair", "2"},

		{"merge", "INSERT kept VALUES (1, 'old'), (9, 'gone') MERGE kept AS t USING (SELECT a, v FROM pair WHERE b = 1) AS s ON t.id = s.a WHEN MATCHED THEN UPDATE SET what = s.v WHEN NOT MATCHED THEN INSERT (id, what) VALUES (s.a, s.v) WHEN NOT MATCHED BY SOURCE THEN DELETE; SELECT id, what FROM kept ORDER BY id", "1|one\n2|three"},
		{"merge output", "INSERT kept VALUES (1, 'old') MERGE kept AS t USING (SELECT 1 AS id, 'x' AS v UNION ALL SELECT 2, 'y') AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET what = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v) OUTPUT $action, inserted.id, deleted.what, s.v;", "UPDATE|1|old|x\nINSERT|2|NULL|y"},
		{"merge with conditions", "INSERT kept VALUES (1, 'a'), (2, 'b') MERGE kept t USING pair s ON s.a = t.id AND s.b = 1 WHEN MATCHED AND t.id = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET what = t.what + s.v; SELECT id, what FROM kept", "2|bthree"},
		{"merge insert only", "MERGE kept t USING pair s ON s.a = t.id WHEN NOT MATCHED AND s.b = 2 THEN INSERT (id) VALUES (s.a); SELECT id FROM kept ORDER BY id", "1\n2"},
		{"merge hint", "MERGE kept WITH (HOLDLOCK) AS t USING (SELECT 1 AS id) s ON s.id = t.id WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id); SELECT id FROM kept", "1"},

		{"truncate", "INSERT item (name) VALUES (N'a') TRUNCATE TABLE item INSERT item (name) VALUES (N'b') SELECT id, name FROM item", "5|b"},
		{"foreign key to itself in one statement", "INSERT parent VALUES (4, 5), (5, NULL) SELECT COUNT(*) FROM parent", "4"},
		{"foreign key null", "INSERT child VALUES (11, NULL) SELECT COUNT(*) FROM child", "2"},
		{"cascade", "CREATE TABLE c2 (id int PRIMARY KEY, pid int REFERENCES parent (id) ON DELETE CASCADE) INSERT c2 VALUES (1, 2), (2, 1) DELETE parent WHERE id = 2 SELECT id FROM c2", "2"},
		{"set null", "CREATE TABLE c2 (id int PRIMARY KEY, pid int NULL REFERENCES parent (id) ON DELETE SET NULL) INSERT c2 VALUES (1, 2) DELETE parent WHERE id = 2 SELECT id, pid FROM c2", "1|NULL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got, want := newStock(t).last(t, c.sql), lines(c.want); got != want {
				t.Errorf("%s\ngot\n%s\nwant\n%s", c.sql, got, want)
			}
		})
	}
}

func TestChangeErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, sql string
		number    int32
		text      string // a part of the message
	}{
		{"not null", "INSERT kept (what) VALUES ('x')", 515, "'id' of table 'lab.dbo.kept'"},
		{"update to null", "UPDATE pair SET a = NULL", 515, "UPDATE"},
		{"check", "INSERT item (name, n) VALUES (N'a', -1)", 547, "INSERT"},
		{"update check", "INSERT item (name) VALUES (N'a') UPDATE item SET n = -1", 547, "UPDATE"},
		{"primary key", "INSERT pair VALUES (1, 1, 'x')", 2627, "'pk_pair'"},
		{"primary key value", "INSERT pair VALUES (1, 2, 'x')", 2627, "(1, 2)"},
		{"unique index", "INSERT pair VALUES (7, 7, 'ONE')", 2601, "'ux_v'"},
		{"update primary key", "UPDATE pair SET b = 1", 2627, "pk_pair"},
		{"truncation", "INSERT item (name) VALUES (N'toolong')", 2628, "column 'name'"},
		{"unknown hint", "SELECT 1 OPTION (NOPE)", 102, "NOPE"},
		{"unknown hint with a value", "SELECT 1 OPTION (NOPE 1)", 102, "NOPE"},
		{"hint without its value", "SELECT 1 OPTION (MAXDOP)", 102, "MaxDop"},
		{"unknown word after a hint", "DELETE item OPTION (HASH NOPE)", 102, "Hash"},
		{"update truncation", "UPDATE pair SET v = REPLICATE('x', 11)", 2628, "'v'"},
		{"foreign key", "INSERT child VALUES (11, 77)", 547, "\"fk_child\""},
		{"foreign key to itself", "INSERT parent VALUES (7, 8)", 547, "fk_up"},
		{"update foreign key", "UPDATE child SET pid = 5", 547, "UPDATE"},
		{"delete referenced", "DELETE parent WHERE id = 1", 547, "REFERENCE"},
		{"update referenced", "UPDATE parent SET id = 100 WHERE id = 1", 547, "REFERENCE"},
		{"column count", "INSERT kept VALUES (1)", 213, ""},
		{"more columns", "INSERT kept (id, what) VALUES (1)", 109, ""},
		{"fewer columns", "INSERT kept (id) VALUES (1, 'x')", 110, ""},
		{"select fewer", "INSERT kept (id, what) SELECT 1", 120, ""},
		{"select more", "INSERT kept (id) SELECT 1, 2", 121, ""},
		{"unknown column", "INSERT kept (nix) VALUES (1)", 207, "nix"},
		{"column twice", "INSERT kept (id, id) VALUES (1, 2)", 264, "id"},
		{"set twice", "UPDATE kept SET id = 1, id = 2", 264, ""},
		{"identity without list", "INSERT item VALUES (1, N'a', 2, '2020-01-01', 3)", 8101, "item"},
		{"identity off", "INSERT item (id, name) VALUES (1, N'a')", 544, "'item'"},
		{"update identity", "UPDATE item SET id = 1", 8102, "id"},
		{"computed", "INSERT item (name, double_n) VALUES (N'a', 1)", 271, "double_n"},
		{"update computed", "UPDATE item SET double_n = 1", 271, "double_n"},
		{"conversion", "INSERT kept (id) VALUES ('x')", 245, ""},
		{"no implicit conversion", "INSERT kept (id) VALUES (CAST('2020-01-01' AS date))", 206, ""},
		{"no table", "INSERT nix VALUES (1)", 208, "nix"},
		{"unknown set column", "UPDATE kept SET nix = 1", 207, "nix"},
		{"truncate referenced", "TRUNCATE TABLE parent", 4712, "parent"},
		{"truncate nothing", "TRUNCATE TABLE nix", 4701, "nix"},
		{"merge twice", "INSERT kept VALUES (1, 'x') MERGE kept t USING pair s ON s.a = t.id WHEN MATCHED THEN UPDATE SET what = s.v;", 8672, ""},
		{"insert exec without a session", "INSERT kept EXEC nix", 40514, ""},
		{"output star", "DELETE pair OUTPUT *", 102, ""},
		{"in a table variable", "DECLARE @t TABLE (a int PRIMARY KEY) INSERT @t VALUES (1), (2), (1)", 2627, ""},
		{"table variable without scalar", "DELETE @nix", 1087, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := newStock(t).fails(t, c.sql, c.number)
			if !contains(e.Text, c.text) {
				t.Errorf("%s\n%s\nlacks %q", c.sql, e.Text, c.text)
			}
		})
	}
}

// A statement on a table variable is done whole or not at all.
func TestTableVariableStatementIsWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, sql string }{
		{"insert", "INSERT @t VALUES (5, 5), (1, 1)"},
		{"update", "UPDATE @t SET n = CASE WHEN a = 2 THEN NULL ELSE 9 END"},
		{"update of keys", "UPDATE @t SET a = CASE a WHEN 1 THEN 8 ELSE 7 END, n = CASE WHEN a = 3 THEN NULL ELSE 9 END"},
		{"duplicate keys", "UPDATE @t SET a = 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			s := l.script()
			if err := s.run("DECLARE @t TABLE (a int PRIMARY KEY, n int NOT NULL) INSERT @t VALUES (1, 1), (2, 2), (3, 3)"); err != nil {
				t.Fatal(err)
			}
			if err := s.run(c.sql); err == nil {
				t.Fatal("no error")
			}
			if err := s.run("SELECT a, n FROM @t ORDER BY a"); err != nil {
				t.Fatal(err)
			}
			rows := s.sets[len(s.sets)-1].rows
			if len(rows) != 3 || rows[0] != "1|1" || rows[1] != "2|2" || rows[2] != "3|3" {
				t.Errorf("left %v", rows)
			}
		})
	}
}

func TestIdentityInsert(t *testing.T) {
	t.Parallel()
	l := newStock(t)
	l.identity, _ = l.db.Table("dbo", "item")
	l.must(t, "INSERT item (id, name) VALUES (100, N'a')")
	l.fails(t, "INSERT item (name) VALUES (N'a')", 545)
	l.identity = nil
	s := l.script()
	if err := s.run("INSERT item (name) VALUES (N'b')"); err != nil {
		t.Fatal(err)
	}
	if got := text(s.f.Identity); got != "102" {
		t.Errorf("identity %s", got)
	}
}
