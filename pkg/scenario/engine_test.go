package scenario

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"gostress/internal/engine/exec"
	"gostress/internal/server"
	"gostress/pkg/driver"
	"gostress/pkg/target"
	"gostress/workloads"
)

// engine serves the embedded engine on a port of its own and returns the way to its databases.
func engine(t *testing.T) func(database string) driver.Connector {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- server.Serve(ctx, server.Options{Listener: l, Engine: exec.New(exec.Options{Seed: 1}), Users: map[string]string{"sa": "Secret-1"}})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	at := strings.Replace(l.Addr().String(), ":", ",", 1)
	base, err := target.New(target.Options{Server: at, User: "sa", Password: "Secret-1", Encrypt: target.EncryptOptional, TrustServerCertificate: true})
	if err != nil {
		t.Fatal(err)
	}
	return func(database string) driver.Connector { return base.WithDatabase(database) }
}

func open(t *testing.T, ctx context.Context, connect func(string) driver.Connector, database string) driver.Session {
	t.Helper()
	s, err := connect(database).Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func verify(t *testing.T, ctx context.Context, s driver.Session, w workloads.Workload, form string, orders int64) Verification {
	t.Helper()
	v, err := Verify(ctx, s, w, VerifyOptions{Form: form, Orders: orders})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func mustHold(t *testing.T, v Verification) {
	t.Helper()
	for _, c := range v.Checks {
		if !c.OK {
			t.Errorf("%s: %s: want %d, got %d", v.Form, c.Name, c.Want, c.Got)
		}
	}
}

// TestOnTheEngine takes the workload through its life on the embedded engine, over a socket.
func TestOnTheEngine(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("installs the whole workload")
	}
	ctx := t.Context()
	const database = "AdventureWorks2022"
	connect := engine(t)
	w := workload(t)
	var out bytes.Buffer
	if err := InstallInto(ctx, connect, database, w, Options{Orders: 5000, Out: &out}); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	t.Logf("%s", &out)
	s := open(t, ctx, connect, database)
	out.Reset()
	if err := Install(ctx, s, w, Options{Out: &out}); err != nil {
		t.Fatalf("the second install: %v\n%s", err, &out)
	}
	if strings.Contains(out.String(), "created") {
		t.Errorf("the second install created something:\n%s", &out)
	}
	for _, r := range w.Runs {
		run, err := FindRun(w.Name + "/" + r.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range Modes() {
			u, err := run.Unit(ctx, s, RunOptions{Mode: mode, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			iterateTogether(t, ctx, connect, database, u, 4, 3)
		}
		if !raceEnabled {
			mustHold(t, verify(t, ctx, s, w, r.Name, int64(len(Modes())*4*3*run.Orders)))
		}
	}
	for _, p := range w.Parts {
		procedures(t, ctx, s, p.Name)
	}
	if raceEnabled {
		return // what follows is one session's work
	}
	mustNotHold(t, ctx, s, w, int64(len(Modes())*4*3*20))
	if err := Reset(ctx, s, w, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, p := range w.Parts {
		if c, err := Count(ctx, s, p.Name); err != nil || c != (Counts{Orders: originalOrders, Lines: originalLines}) {
			t.Errorf("%s after the reset: %+v, %v", p.Name, c, err)
		}
	}
	out.Reset()
	if err := Uninstall(ctx, s, w, Options{Out: &out}); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	n, err := scalar(ctx, s, "SELECT COUNT(*) FROM sys.objects WHERE is_ms_shipped = 0;")
	if err != nil || n != 0 {
		t.Errorf("%d objects are left after uninstall, %v", n, err)
	}
	f, err := ReadFacts(ctx, s)
	if err != nil || f.Marked {
		t.Errorf("after uninstall: %+v, %v", f, err)
	}
	if err := Install(ctx, s, w, Options{}); err == nil {
		t.Error("after uninstall the database is not ours any more, yet install asked for nothing")
	}
}

// mustNotHold: whatever is changed behind its back, a check fails.
func mustNotHold(t *testing.T, ctx context.Context, s driver.Session, w workloads.Workload, orders int64) {
	t.Helper()
	changes := []struct{ change, check string }{
		{"UPDATE Sales.SalesOrderHeader_ondisk SET SubTotal = SubTotal + 0.0001 WHERE SalesOrderID = 31470;", "SubTotal"},
		{"UPDATE Sales.SalesOrderHeader_ondisk SET Freight = -1 WHERE SalesOrderID = 31471;", "rules"},
		{"UPDATE Sales.SalesOrderDetail_ondisk SET UnitPrice = UnitPrice + 1 WHERE SalesOrderID = 31472;", "price or discount"},
		{"DELETE FROM Sales.SalesOrderDetail_ondisk WHERE SalesOrderID = 5;", "original order lines"},
		{"DELETE FROM Sales.SalesOrderHeader_ondisk WHERE SalesOrderID = 6;", "original orders"},
		{"DELETE FROM Sales.SalesOrderHeader_ondisk WHERE SalesOrderID = 31473;", "orders above"},
		{"DELETE FROM Sales.SalesOrderDetail_ondisk WHERE SalesOrderID = 31474;", "have not five lines"},
	}
	for _, c := range changes {
		if err := do(ctx, s, c.change, printer{io.Discard}); err != nil {
			t.Fatal(err)
		}
	}
	v := verify(t, ctx, s, w, workloads.Ondisk, orders)
	for _, c := range changes {
		found := false
		for _, ch := range v.Checks {
			found = found || !ch.OK && strings.Contains(ch.Name, c.check)
		}
		if !found {
			t.Errorf("after %s no check %q fails: %+v", c.change, c.check, v.Checks)
		}
	}
	if v.OK() {
		t.Error("the verification is content")
	}
}

// iterateTogether runs iterations of a unit on several sessions at once.
func iterateTogether(t *testing.T, ctx context.Context, connect func(string) driver.Connector, database string, u driver.Unit, sessions int, n int64) {
	t.Helper()
	var group errgroup.Group
	for worker := range sessions {
		group.Go(func() error {
			s, err := connect(database).Connect(ctx)
			if err != nil {
				return err
			}
			defer s.Close()
			for i := range n {
				for r := range u.Program.Iteration(driver.Worker{ID: worker, Conn: worker, Connections: sessions}, i) {
					out, err := s.Do(ctx, r, nil)
					if err != nil {
						return err
					}
					if len(out.Errors) > 0 {
						return out.Errors[0]
					}
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

// procedures calls every other procedure of a form, for its effect and for its errors.
func procedures(t *testing.T, ctx context.Context, s driver.Session, form string) {
	t.Helper()
	with := func(text string) string { return strings.ReplaceAll(text, "_F", "_"+form) }
	for _, c := range []struct {
		name, text string
		want       int64
		fails      int32
	}{
		{name: "ship", text: `EXEC Sales.usp_UpdateSalesOrderShipInfo_F 31466, NULL, N'soon', 5, 0.1, 2.5, N'GS-1';
SELECT COUNT(*) FROM Sales.SalesOrderHeader_F AS h WHERE h.SalesOrderID = 31466 AND h.TaxAmt = ROUND(h.SubTotal * 0.1, 4) AND h.Freight = 2.5
AND h.Comment = N'soon' AND h.ShipDate IS NOT NULL AND 5 = (SELECT COUNT(*) FROM Sales.SalesOrderDetail_F AS d WHERE d.SalesOrderID = h.SalesOrderID AND d.CarrierTrackingNumber = N'GS-1');`, want: 1},
		{name: "ship nothing", text: "EXEC Sales.usp_UpdateSalesOrderShipInfo_F @SalesOrderID = 1000000000;", fails: 50101},
		{name: "product", text: `DECLARE @id int; EXEC Production.usp_InsertProduct_F @id OUTPUT, N'Plain Hook', N'HK-1', 1.5, 3; SELECT @id;`, want: 505},
		{name: "product of the same name", text: `DECLARE @id int; EXEC Production.usp_InsertProduct_F @id OUTPUT, N'plain hook', N'HK-2', 1.5, 3; SELECT @id;`, fails: 50114},
		{name: "product of the same number", text: `DECLARE @id int; EXEC Production.usp_InsertProduct_F @id OUTPUT, N'Hook', N'HK-1', 1.5, 3; SELECT @id;`, fails: 50115},
		{name: "negative price", text: `DECLARE @id int; EXEC Production.usp_InsertProduct_F @id OUTPUT, N'Hook', N'HK-3', 1.5, -3;`, fails: 50110},
		{name: "weight", text: `DECLARE @id int; EXEC Production.usp_InsertProduct_F @id OUTPUT, N'Hook', N'HK-3', 1.5, 3, @Weight = 0;`, fails: 50111},
		{name: "sold before", text: `DECLARE @id int; EXEC Production.usp_InsertProduct_F @id OUTPUT, N'Hook', N'HK-3', 1.5, 3, @SellStartDate = '2024-01-02T00:00:00', @SellEndDate = '2024-01-01T00:00:00';`, fails: 50112},
		{name: "class", text: `DECLARE @id int; EXEC Production.usp_InsertProduct_F @id OUTPUT, N'Hook', N'HK-3', 1.5, 3, @Class = N'X';`, fails: 50113},
		{name: "offer", text: `DECLARE @id int; EXEC Sales.usp_InsertSpecialOffer_F @id OUTPUT, N'Hooks', 0.5, N'Event', N'Customer', '2024-01-01T00:00:00', '2024-01-02T00:00:00'; SELECT @id;`, want: 17},
		{name: "offer above 1", text: `DECLARE @id int; EXEC Sales.usp_InsertSpecialOffer_F @id OUTPUT, N'Hooks', 50, N'Event', N'Customer', '2024-01-01T00:00:00', '2024-01-02T00:00:00';`, fails: 50130},
		{name: "offer ends first", text: `DECLARE @id int; EXEC Sales.usp_InsertSpecialOffer_F @id OUTPUT, N'Hooks', 0.5, N'Event', N'Customer', '2024-01-03T00:00:00', '2024-01-02T00:00:00';`, fails: 50131},
		{name: "offer quantities", text: `DECLARE @id int; EXEC Sales.usp_InsertSpecialOffer_F @id OUTPUT, N'Hooks', 0.5, N'Event', N'Customer', '2024-01-01T00:00:00', '2024-01-02T00:00:00', 5, 4;`, fails: 50132},
		{name: "pair", text: `EXEC Sales.usp_InsertSpecialOfferProduct_F 17, 505; SELECT COUNT(*) FROM Sales.SpecialOfferProduct_F;`, want: 539},
		{name: "pair without offer", text: `EXEC Sales.usp_InsertSpecialOfferProduct_F 99, 505;`, fails: 50150},
		{name: "pair without product", text: `EXEC Sales.usp_InsertSpecialOfferProduct_F 17, 999;`, fails: 50151},
		{name: "delete an ordered product", text: `DELETE FROM Sales.SpecialOfferProduct_F WHERE ProductID = 504; EXEC Production.usp_DeleteProduct_F 504;`, fails: 50120},
		{name: "it is still there", text: `EXEC Sales.usp_InsertSpecialOfferProduct_F 16, 504; SELECT COUNT(*) FROM Production.Product_F WHERE ProductID = 504;`, want: 1},
		{name: "delete an offered product", text: `EXEC Production.usp_DeleteProduct_F 505;`, fails: 50121},
		{name: "delete an offer with products", text: `EXEC Sales.usp_DeleteSpecialOffer_F 17;`, fails: 50140},
		{name: "delete an ordered offer", text: `DELETE FROM Sales.SpecialOfferProduct_F WHERE SpecialOfferID = 2; EXEC Sales.usp_DeleteSpecialOffer_F 2;`, fails: 50141},
		{name: "put its products back", text: `INSERT INTO Sales.SpecialOfferProduct_F (SpecialOfferID, ProductID, ModifiedDate) SELECT SpecialOfferID, ProductID, ModifiedDate FROM Demo.vOriginalSpecialOfferProduct WHERE SpecialOfferID = 2; SELECT COUNT(*) FROM Sales.SpecialOffer_F;`, want: 17},
		{name: "delete an offer", text: `DELETE FROM Sales.SpecialOfferProduct_F WHERE SpecialOfferID = 17; EXEC Sales.usp_DeleteSpecialOffer_F 17; SELECT COUNT(*) FROM Sales.SpecialOffer_F;`, want: 16},
		{name: "delete it again", text: `EXEC Sales.usp_DeleteSpecialOffer_F 17;`, fails: 50142},
		{name: "delete the product", text: `EXEC Production.usp_DeleteProduct_F 505; SELECT COUNT(*) FROM Production.Product_F;`, want: 504},
		{name: "delete no product", text: `EXEC Production.usp_DeleteProduct_F 505;`, fails: 50122},
		{name: "headers by view", text: `SELECT COUNT(*) FROM Sales.vSalesOrderHeader_extended_F WHERE SalesOrderNumber = N'SO' + CONVERT(nvarchar(10), SalesOrderID) AND TotalDue = SubTotal + TaxAmt + Freight AND SalesOrderID <= 100;`, want: 100},
		{name: "lines by view", text: `SELECT COUNT(*) FROM Sales.SalesOrderHeader_F AS h WHERE h.SalesOrderID <= 100 AND h.SubTotal = (SELECT SUM(d.LineTotal) FROM Sales.vSalesOrderDetail_extended_F AS d WHERE d.SalesOrderID = h.SalesOrderID);`, want: 100},
		{name: "integrity of one table", text: `DECLARE @id int = OBJECT_ID(N'Sales.SalesOrderHeader_F'); EXEC dbo.usp_ValidateIntegrity @id; SELECT 1;`, want: -1},
	} {
		col := &collector{}
		err := do(ctx, s, with(c.text), col)
		if c.fails != 0 {
			bad, ok := err.(driver.ServerError)
			if !ok || bad.Number != c.fails {
				t.Errorf("%s, %s: expected error %d, got %v", form, c.name, c.fails, err)
			}
			continue
		}
		if err != nil || len(col.rows) == 0 {
			t.Errorf("%s, %s: %d rows, %v", form, c.name, len(col.rows), err)
			continue
		}
		if c.want < 0 {
			if len(col.rows) != 7 { // six rules about the header, and the row behind them
				t.Errorf("%s, %s: %d rows", form, c.name, len(col.rows))
			}
			continue
		}
		if n, err := integer(col.rows[len(col.rows)-1][0]); err != nil || n != c.want {
			t.Errorf("%s, %s: want %d, got %d, %v", form, c.name, c.want, n, err)
		}
	}
}
