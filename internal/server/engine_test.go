package server

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"gostress/internal/engine/exec"
)

// engineDB is a database of its own on an engine of its own.
func engineDB(t *testing.T, params ...string) (*running, *sql.DB) {
	t.Helper()
	e := exec.New(exec.Options{ServerName: "TEST"})
	r := start(t, Options{Engine: e}, nil)
	admin := r.db(t)
	if _, err := admin.Exec("create database [shop]"); err != nil {
		t.Fatal(err)
	}
	return r, r.db(t, append([]string{"database=shop"}, params...)...)
}

func must(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s\n%v", s, err)
		}
	}
}

func number(err error) int32 {
	var e mssql.Error
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

var shop = []string{
	`create schema Sales`,
	`create table Sales.Orders (
		OrderID int identity(1,1) not null primary key,
		Customer nvarchar(25) not null,
		Placed datetime2(7) not null default sysdatetime(),
		Total decimal(18,2) null)`,
	`create table Sales.Lines (
		OrderID int not null, Line smallint not null, Product int not null, Price money not null,
		primary key (OrderID, Line))`,
	`create type Sales.LineType as table (Line smallint not null, Product int not null, Price money not null)`,
	`create procedure Sales.usp_Insert @id int output, @customer nvarchar(25), @lines Sales.LineType readonly as
	begin
		insert Sales.Orders (Customer) values (@customer);
		set @id = scope_identity();
		insert Sales.Lines (OrderID, Line, Product, Price) select @id, Line, Product, Price from @lines;
		update Sales.Orders set Total = (select sum(Price) from @lines) where OrderID = @id;
		return 7;
	end`,
}

type shopLine struct {
	Line    int16
	Product int32
	Price   float64
}

func TestEngineProcedureWithTable(t *testing.T) {
	t.Parallel()
	_, db := engineDB(t)
	must(t, db, shop...)
	for i := range 3 {
		var id int64
		var rs mssql.ReturnStatus
		lines := mssql.TVP{TypeName: "Sales.LineType", Value: []shopLine{{1, 10, 1.25}, {2, 11, 2.5}}}
		_, err := db.Exec("Sales.usp_Insert", sql.Named("id", sql.Out{Dest: &id}), sql.Named("customer", "Zoë"), sql.Named("lines", lines), &rs)
		if err != nil {
			t.Fatal(err)
		}
		if id != int64(i+1) || rs != 7 {
			t.Fatalf("id %d, status %d", id, rs)
		}
	}
	var name string
	var total string
	var lines int
	err := db.QueryRow(`select o.Customer, o.Total, (select count(*) from Sales.Lines l where l.OrderID = o.OrderID)
		from Sales.Orders o where o.OrderID = @p1`, 2).Scan(&name, &total, &lines)
	if err != nil || name != "Zoë" || total != "3.75" || lines != 2 {
		t.Fatalf("%q, %s, %d lines, %v", name, total, lines, err)
	}
}

func TestEngineErrors(t *testing.T) {
	t.Parallel()
	r, db := engineDB(t)
	must(t, db, shop...)
	for _, tc := range []struct {
		sql    string
		number int32
	}{
		{"select * from nowhere", 208},
		{"select nothing from Sales.Orders", 207},
		{"exec dbo.usp_Nothing", 2812},
		{"select )", 102},
		{"select 1/0", 8134},
		{"insert Sales.Lines values (1, 1, 1, 1), (1, 1, 1, 1)", 2627},
		{"insert Sales.Orders (Customer) values (null)", 515},
	} {
		_, err := db.Exec(tc.sql)
		if got := number(err); got != tc.number {
			t.Errorf("%s: error %d (%v), want %d", tc.sql, got, err, tc.number)
		}
	}
	nowhere := r.db(t, "database=nowhere")
	var e mssql.Error
	if err := nowhere.Ping(); !errors.As(err, &e) || e.Number != 18456 || len(e.All) != 2 || e.All[0].Number != 4060 {
		t.Errorf("a database that is not there: %v", err)
	}
}

func TestEngineTransactions(t *testing.T) {
	t.Parallel()
	_, db := engineDB(t)
	must(t, db, "create table t (n int not null)")
	count := func() (n int) {
		t.Helper()
		if err := db.QueryRow("select count(*) from t").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i, commit := range []bool{false, true} {
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec("insert t values (@p1)", i); err != nil {
			t.Fatal(err)
		}
		if commit {
			err = tx.Commit()
		} else {
			err = tx.Rollback()
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := count(); n != i {
			t.Fatalf("%d rows after commit = %v", n, commit)
		}
	}
	must(t, db, "begin tran; insert t values (5); save tran s; insert t values (6); rollback tran s; commit")
	if n := count(); n != 2 {
		t.Fatalf("%d rows after the savepoint", n)
	}
	// An open transaction does not outlive its user of a pooled connection.
	db.SetMaxOpenConns(1)
	must(t, db, "begin tran; insert t values (7)")
	if n := count(); n != 2 {
		t.Fatalf("%d rows after the reset", n)
	}
}

func TestEngineCancel(t *testing.T) {
	t.Parallel()
	_, db := engineDB(t)
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, text := range []string{"waitfor delay '00:01:00'", "declare @i int = 0; while 1 = 1 set @i = 1"} {
		// Not a deadline: go-mssqldb takes that error for a broken connection.
		ctx, cancel := context.WithCancel(context.Background())
		stop := time.AfterFunc(30*time.Millisecond, cancel)
		_, err = conn.ExecContext(ctx, text)
		stop.Stop()
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: error %v", text, err)
		}
		var n int
		if err := conn.QueryRowContext(context.Background(), "select 7").Scan(&n); err != nil || n != 7 {
			t.Fatalf("after the cancel of %s: %d, %v", text, n, err)
		}
	}
}

func TestEngineKill(t *testing.T) {
	t.Parallel()
	r, db := engineDB(t)
	victim := r.db(t)
	victim.SetMaxOpenConns(1)
	var spid int
	if err := victim.QueryRow("select @@spid").Scan(&spid); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := victim.Exec("waitfor delay '00:01:00'")
		ended <- err
	}()
	time.Sleep(20 * time.Millisecond) // most likely it waits by now; if not, it ends all the same
	must(t, db, "kill "+strconv.Itoa(spid))
	select {
	case err := <-ended:
		if err == nil {
			t.Fatal("the victim's request ended well")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the victim still waits")
	}
}

func TestEngineMessages(t *testing.T) {
	t.Parallel()
	_, db := engineDB(t)
	rows, err := db.Query("print 'one'; select 1 as a; raiserror('two', 10, 1); select 2 as b, N'x' as c")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	sets := 0
	for {
		for rows.Next() {
		}
		sets++
		if !rows.NextResultSet() {
			break
		}
	}
	if rows.Err() != nil || sets != 2 {
		t.Fatalf("%d result sets, %v", sets, rows.Err())
	}
}

func TestEngineManyConnections(t *testing.T) {
	t.Parallel()
	_, db := engineDB(t)
	must(t, db, shop...)
	var wg sync.WaitGroup
	const workers, each = 16, 20
	errs := make(chan error, workers)
	for range workers {
		wg.Go(func() {
			for range each {
				var id int64
				lines := mssql.TVP{TypeName: "Sales.LineType", Value: []shopLine{{1, 10, 1}, {2, 11, 2}}}
				if _, err := db.Exec("Sales.usp_Insert", sql.Named("id", sql.Out{Dest: &id}), sql.Named("customer", "c"), sql.Named("lines", lines)); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		t.Fatal(err)
	default:
	}
	var orders, lines int
	if err := db.QueryRow("select (select count(*) from Sales.Orders), (select count(*) from Sales.Lines)").Scan(&orders, &lines); err != nil {
		t.Fatal(err)
	}
	if orders != workers*each || lines != 2*orders {
		t.Fatalf("%d orders, %d lines", orders, lines)
	}
}

func TestEngineBulk(t *testing.T) {
	t.Parallel()
	_, db := engineDB(t)
	must(t, db, "create table t (n int not null, s nvarchar(20) null)")
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	stmt, err := tx.Prepare(mssql.CopyIn("t", mssql.BulkOptions{}, "n", "s"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if _, err := stmt.Exec(i, "row"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := stmt.Exec(); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	var n, sum int
	if err := db.QueryRow("select count(*), sum(n) from t where s = N'row'").Scan(&n, &sum); err != nil || n != 1000 || sum != 499500 {
		t.Fatalf("%d rows, sum %d, %v", n, sum, err)
	}
}
