package scenario

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gostress/pkg/driver"
	"gostress/workloads"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("%s differs (-want +got); -update writes it anew\n%s", name, diff)
	}
}

func workload(t *testing.T) workloads.Workload {
	t.Helper()
	w, ok := workloads.Lookup("inmem-oltp")
	if !ok {
		t.Fatal("no workload inmem-oltp")
	}
	return w
}

// TestWhatIsPrinted holds install, reset and uninstall to what a user reads.
func TestWhatIsPrinted(t *testing.T) {
	t.Parallel()
	w := workload(t)
	for _, c := range []struct {
		name string
		row  []any
		do   func(ctx context.Context, s driver.Session, o Options) error
		o    Options
	}{
		{"install.golden", facts(), func(ctx context.Context, s driver.Session, o Options) error { return Install(ctx, s, w, o) }, Options{Yes: true}},
		{"install-ondisk.golden", facts(set(colXTP, int64(0))), func(ctx context.Context, s driver.Session, o Options) error { return Install(ctx, s, w, o) }, Options{Yes: true, Only: "ondisk"}},
		{"install-azure.golden", facts(set(colEngine, int64(5)), set(colEdition, "SQL Azure"), set(colVersion, "12.0.2000.8")), func(ctx context.Context, s driver.Session, o Options) error { return Install(ctx, s, w, o) }, Options{Yes: true, Orders: 10_000_000}},
		{"install-sample.golden", facts(sample()...), func(ctx context.Context, s driver.Session, o Options) error { return Install(ctx, s, w, o) }, Options{}},
		{"reset.golden", facts(installed()...), func(ctx context.Context, s driver.Session, o Options) error { return Reset(ctx, s, w, o) }, Options{}},
		{"uninstall.golden", facts(installed()...), func(ctx context.Context, s driver.Session, o Options) error { return Uninstall(ctx, s, w, o) }, Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			c.o.Out = &out
			if err := c.do(context.Background(), &fake{t: t, row: c.row}, c.o); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name, out.String())
		})
	}
}

// TestGuards: what is refused is refused before anything is changed.
func TestGuards(t *testing.T) {
	t.Parallel()
	w := workload(t)
	install := func(s driver.Session, o Options) error { return Install(context.Background(), s, w, o) }
	reset := func(s driver.Session, o Options) error { return Reset(context.Background(), s, w, o) }
	uninstall := func(s driver.Session, o Options) error { return Uninstall(context.Background(), s, w, o) }
	for _, c := range []struct {
		name    string
		row     []any
		do      func(driver.Session, Options) error
		o       Options
		wants   []string // in the error; none for success
		changes bool
	}{
		{name: "install in another's database", row: facts(), do: install, wants: []string{"database shop", "cannot be removed before SQL Server 2025", "memory", "disk", "--yes"}},
		{name: "install with yes", row: facts(), do: install, o: Options{Yes: true}, changes: true},
		{name: "install again", row: facts(installed()...), do: install, changes: true},
		{name: "install over Microsoft's sample", row: facts(sample()...), do: install},
		{name: "install over Microsoft's sample with yes", row: facts(sample()...), do: install, o: Options{Yes: true}},
		{name: "install in master", row: facts(set(colDatabase, "MASTER")), do: install, o: Options{Yes: true}, wants: []string{"system database"}},
		{name: "install in tempdb", row: facts(set(colDatabase, "tempdb")), do: install, o: Options{Yes: true}, wants: []string{"system database"}},
		{name: "install in msdb", row: facts(set(colDatabase, "msdb")), do: install, o: Options{Yes: true}, wants: []string{"system database"}},
		{name: "no In-Memory OLTP", row: facts(set(colXTP, int64(0))), do: install, o: Options{Yes: true}, wants: []string{"--only ondisk", "In-Memory OLTP"}},
		{name: "IsXTPSupported unknown", row: facts(set(colXTP, nil)), do: install, o: Options{Yes: true}, wants: []string{"--only ondisk"}},
		{name: "the disk half without In-Memory OLTP", row: facts(set(colXTP, int64(0))), do: install, o: Options{Yes: true, Only: "ondisk"}, changes: true},
		{name: "an unknown part", row: facts(), do: install, o: Options{Yes: true, Only: "both"}, wants: []string{`"both"`, "inmem, ondisk"}},
		{name: "SQL Server 2014", row: facts(set(colVersion, "12.0.6024.0")), do: install, o: Options{Yes: true}, wants: []string{"2016"}},
		{name: "Azure", row: facts(set(colVersion, "12.0.2000.8"), set(colEngine, int64(5))), do: install, o: Options{Yes: true}, changes: true},
		{name: "Azure, a tier without", row: facts(set(colVersion, "12.0.2000.8"), set(colEngine, int64(5)), set(colXTP, int64(0))), do: install, o: Options{Yes: true}, wants: []string{"--only ondisk"}},
		{name: "Express, too many orders", row: facts(append(installed(), set(colEngine, int64(4)))...), do: install, o: Options{Orders: 10_000_000}, wants: []string{"352 MB", "--orders"}},
		{name: "Express, a million orders", row: facts(append(installed(), set(colEngine, int64(4)))...), do: install, changes: true},
		{name: "a negative number of orders", row: facts(), do: install, o: Options{Yes: true, Orders: -1}, wants: []string{"--orders -1"}},
		{name: "reset", row: facts(installed()...), do: reset, changes: true},
		{name: "reset where nothing is", row: facts(), do: reset, o: Options{Yes: true}, wants: []string{"not installed", "workload install"}},
		{name: "reset of Microsoft's sample", row: facts(sample()...), do: reset, wants: []string{"cannot be undone", "--yes"}},
		{name: "reset of Microsoft's sample with yes", row: facts(sample()...), do: reset, o: Options{Yes: true}, changes: true},
		{name: "reset in model", row: facts(set(colDatabase, "model")), do: reset, o: Options{Yes: true}, wants: []string{"system database"}},
		{name: "uninstall", row: facts(installed()...), do: uninstall, changes: true},
		{name: "uninstall of Microsoft's sample", row: facts(sample()...), do: uninstall, o: Options{Yes: true}, wants: []string{"nothing in it is ours"}},
		{name: "uninstall where nothing is", row: facts(), do: uninstall, o: Options{Yes: true}, wants: []string{"nothing in it is ours"}},
		{name: "uninstall in master", row: facts(append(installed(), set(colDatabase, "master"))...), do: uninstall, o: Options{Yes: true}, wants: []string{"system database"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &fake{t: t, row: c.row}
			err := c.do(s, c.o)
			if (err == nil) != (len(c.wants) == 0) {
				t.Fatalf("error %v", err)
			}
			for _, w := range c.wants {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q is not in %q", w, err)
				}
			}
			if got := len(s.changes()) > 0; got != c.changes {
				t.Errorf("%d texts were sent besides queries, expected any: %v", len(s.changes()), c.changes)
			}
		})
	}
}

// TestOnly: a half is installed without the other's scripts.
func TestOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ only, not string }{{"ondisk", "MEMORY_OPTIMIZED = ON"}, {"inmem", "usp_InsertSalesOrder_ondisk"}} {
		s := &fake{t: t, row: facts()}
		if err := Install(context.Background(), s, workload(t), Options{Yes: true, Only: c.only}); err != nil {
			t.Fatal(err)
		}
		all := strings.Join(s.sent, "\n")
		if !strings.Contains(all, "CREATE PROCEDURE Sales.usp_InsertSalesOrder_"+c.only) {
			t.Errorf("--only %s does not create its order procedure", c.only)
		}
		for _, text := range s.changes() {
			if strings.Contains(text, c.not) {
				t.Errorf("--only %s sends %s:\n%s", c.only, c.not, text)
			}
		}
	}
}

// TestNoVariableIsLeft: what reaches the server has no $(name) in it.
func TestNoVariableIsLeft(t *testing.T) {
	t.Parallel()
	w := workload(t)
	s := &fake{t: t, row: facts(installed()...)}
	if err := errors.Join(Install(context.Background(), s, w, Options{}), Reset(context.Background(), s, w, Options{}), Uninstall(context.Background(), s, w, Options{})); err != nil {
		t.Fatal(err)
	}
	for _, text := range s.sent {
		for line := range strings.Lines(text) {
			if strings.Contains(line, "$(") && !strings.HasPrefix(strings.TrimSpace(line), "--") {
				t.Errorf("sent %q", line)
			}
		}
	}
}

// TestScriptErrorNamesTheLine: an error of the server stops the installation at its place.
func TestScriptErrorNamesTheLine(t *testing.T) {
	t.Parallel()
	s := &fake{t: t, row: facts(), answer: func(text string) ([][]any, *driver.ServerError, bool) {
		if !strings.Contains(text, "CREATE TYPE Sales.SalesOrderDetailType_ondisk") {
			return nil, nil, false
		}
		return nil, &driver.ServerError{Number: 262, Class: 14, State: 1, Line: 3, Message: "no permission"}, true
	}}
	err := Install(context.Background(), s, workload(t), Options{Yes: true})
	var bad *ScriptError
	if !errors.As(err, &bad) {
		t.Fatalf("error %v", err)
	}
	text, err := os.ReadFile("../../workloads/" + bad.File)
	if err != nil {
		t.Fatal(err)
	}
	// The batch begins on the line behind its GO with an empty line; its third line is BEGIN's next.
	line := strings.Split(string(text), "\n")[bad.Line-1]
	if !strings.Contains(bad.File, "40-ondisk-tables.sql") || !strings.Contains(line, "BEGIN") && !strings.Contains(line, "IF TYPE_ID") {
		t.Errorf("%s line %d is %q", bad.File, bad.Line, line)
	}
	if !strings.Contains(s.sent[len(s.sent)-1], "CREATE TYPE Sales.SalesOrderDetailType_ondisk") {
		t.Error("the installation went on after the error")
	}
}

type connects map[string]func() (driver.Session, error)

func (c connects) to(database string) driver.Connector {
	return connector(func(context.Context) (driver.Session, error) { return c[database]() })
}

type connector func(context.Context) (driver.Session, error)

func (c connector) Connect(ctx context.Context) (driver.Session, error) { return c(ctx) }

func TestInstallInto(t *testing.T) {
	t.Parallel()
	missing := &driver.LoginError{Number: 4060, Server: "here", Message: "no such database"}
	for _, c := range []struct {
		name   string
		master []any // facts of the session in master
		exists bool  // sys.databases has it
		o      Options
		wants  []string
		create bool
	}{
		{name: "made", master: facts(set(colDatabase, "master")), create: true},
		{name: "there but not for us", master: facts(set(colDatabase, "master")), exists: true, wants: []string{"may not use it"}},
		{name: "no In-Memory OLTP", master: facts(set(colDatabase, "master"), set(colXTP, int64(0))), wants: []string{"--only ondisk"}},
		{name: "the disk half", master: facts(set(colDatabase, "master"), set(colXTP, int64(0))), o: Options{Only: "ondisk"}, create: true},
		{name: "Azure costs money", master: facts(set(colDatabase, "master"), set(colEngine, int64(5))), wants: []string{"costs money", "--yes"}},
		{name: "Azure with yes", master: facts(set(colDatabase, "master"), set(colEngine, int64(5))), o: Options{Yes: true}, create: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			made := false
			master := &fake{t: t, row: c.master, answer: func(text string) ([][]any, *driver.ServerError, bool) {
				switch {
				case strings.Contains(text, "FROM sys.databases"):
					n := int64(0)
					if c.exists {
						n = 1
					}
					return [][]any{{n}}, nil, true
				case text == "CREATE DATABASE [sh]]op];":
					made = true
					return nil, nil, true
				}
				return nil, nil, false
			}}
			xtp := c.master[colXTP]
			shop := &fake{t: t, row: facts(set(colDatabase, "sh]op"), set(colXTP, xtp))}
			way := connects{
				"master": func() (driver.Session, error) { return master, nil },
				"sh]op": func() (driver.Session, error) {
					if !made {
						return nil, missing
					}
					return shop, nil
				},
			}
			err := InstallInto(context.Background(), way.to, "sh]op", workload(t), c.o)
			if (err == nil) != (len(c.wants) == 0) {
				t.Fatalf("error %v", err)
			}
			for _, w := range c.wants {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q is not in %q", w, err)
				}
			}
			if made != c.create || (len(shop.sent) > 0) != c.create {
				t.Errorf("made %v, %d texts sent there", made, len(shop.sent))
			}
			if !master.closed || shop.closed != c.create {
				t.Errorf("closed: master %v, the database's %v", master.closed, shop.closed)
			}
		})
	}
	t.Run("a wrong password is not tried twice", func(t *testing.T) {
		t.Parallel()
		tries := 0
		way := connects{"shop": func() (driver.Session, error) { tries++; return nil, &driver.LoginError{Number: 18456} }}
		if err := InstallInto(context.Background(), way.to, "shop", workload(t), Options{}); err == nil || tries != 1 {
			t.Errorf("error %v after %d tries", err, tries)
		}
	})
}

func TestSizes(t *testing.T) {
	t.Parallel()
	// Published for 10,000,000 orders: header 147,456 KB, lines 663,552 KB; products and offers add 8,192 KB each.
	if got, want := SizesFor(10_000_000).Indexes, int64(147456+663552+2*8192)<<10; got != want {
		t.Errorf("indexes for 10,000,000 orders: %d bytes, published %d", got, want)
	}
	if perOrder < 650 || perOrder > 750 {
		t.Errorf("an order is reckoned at %d bytes, published about 0.7 kB", perOrder)
	}
	for _, orders := range []int64{1, 1000, 100_000, 1_000_000, 9_999_999} {
		order, line, key := buckets(orders)
		if order < orders+originalOrders || line != 5*order || key < 8192*2 || key > 1_000_000 {
			t.Errorf("%d orders: %d, %d, %d buckets", orders, order, line, key)
		}
	}
}

func TestCheckMemory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		engine int64
		used   any // kB, nil for no permission
		orders int64
		refuse bool
	}{
		{"Developer has no quota", 3, int64(900 << 20), 1 << 40, false},
		{"Express, enough room", 4, int64(150 << 10), 100_000, false},
		{"Express, too many", 4, int64(150 << 10), 10_000_000, true},
		{"Express, full", 4, int64(400 << 10), 1, true},
		{"Standard, 10,000,000", 2, int64(900 << 10), 10_000_000, false},
		{"Standard, 100,000,000", 2, int64(900 << 10), 100_000_000, true},
		{"no permission to see", 4, nil, 10_000_000, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &fake{t: t, row: facts(append(installed(), set(colEngine, c.engine))...), answer: func(text string) ([][]any, *driver.ServerError, bool) {
				if !strings.Contains(text, "dm_db_xtp_table_memory_stats") {
					return nil, nil, false
				}
				if c.used == nil {
					return nil, &driver.ServerError{Number: 262, Class: 14}, true
				}
				return [][]any{{c.used}}, nil, true
			}}
			warning, refuse, err := CheckMemory(context.Background(), s, c.orders)
			if err != nil || refuse != c.refuse || (warning != "") != c.refuse {
				t.Errorf("%q, %v, %v", warning, refuse, err)
			}
		})
	}
}
