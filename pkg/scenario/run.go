package scenario

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"time"

	"gostress/pkg/driver"
	"gostress/workloads"
)

// Mode says how a bundled run makes its orders.
type Mode string

const (
	// Batch sends one T-SQL batch an iteration; the server builds the orders.
	Batch Mode = "batch"
	// TVP builds the orders in the client and sends each as a call with a table-valued parameter.
	// An iteration makes as many calls as the batch makes orders, so that both modes insert the
	// same number.
	TVP Mode = "tvp"
)

// Modes are the modes that a bundled run has.
func Modes() []Mode { return []Mode{Batch, TVP} }

// Run is a run of a bundled workload.
type Run struct {
	workloads.Run
	Workload workloads.Workload
}

// FindRun finds a run by WORKLOAD/RUN. Its error lists what there is.
func FindRun(name string) (Run, error) {
	workload, run, _ := strings.Cut(name, "/")
	var names []string
	for _, w := range workloads.All() {
		for _, r := range w.Runs {
			if strings.EqualFold(w.Name, workload) && strings.EqualFold(r.Name, run) {
				return Run{Run: r, Workload: w}, nil
			}
			names = append(names, w.Name+"/"+r.Name)
		}
	}
	return Run{}, fmt.Errorf("there is no workload run %q; there is %s", name, strings.Join(names, ", "))
}

// String is the name as on the command line.
func (r Run) String() string { return r.Workload.Name + "/" + r.Name }

// RunOptions say how a run becomes a unit.
type RunOptions struct {
	// Mode is Batch when empty.
	Mode Mode
	// Seed makes the orders of TVP mode repeatable: the same seed, worker and iteration give the
	// same orders, whatever the others do.
	Seed uint64
	// Now is the clock for due dates in TVP mode; nil is time.Now.
	Now func() time.Time
}

// Unit makes the run's unit. Session is used in TVP mode alone, to read the seed orders before
// the run; it may be nil otherwise. In Batch mode a request is one batch; in TVP mode a request
// is one order, and an iteration has r.Orders of them.
func (r Run) Unit(ctx context.Context, s driver.Session, o RunOptions) (driver.Unit, error) {
	source := driver.Source{File: r.String(), Line: 1, Batch: 1}
	switch o.Mode {
	case Batch, "":
		p := &batches{steps: []step{{request: &driver.Request{Text: r.Batch, Source: source}, count: 1}}}
		return driver.Unit{Name: r.String(), Program: p}, nil
	case TVP:
		seeds, err := readSeeds(ctx, s, r.Part)
		if err != nil {
			return driver.Unit{}, err
		}
		now := o.Now
		if now == nil {
			now = time.Now
		}
		p := &orders{
			proc: "Sales.usp_InsertSalesOrder_" + r.Part, source: source,
			seeds: seeds, seed: o.Seed, count: r.Orders, now: now,
		}
		return driver.Unit{Name: r.String(), Program: p}, nil
	}
	return driver.Unit{}, fmt.Errorf("there is no mode %q; there is batch and tvp", o.Mode)
}

// orders is the program of TVP mode.
type orders struct {
	proc   string
	source driver.Source
	seeds  []*driver.Table // shared by all requests, never changed
	seed   uint64
	count  int
	now    func() time.Time
}

var (
	typeInt       = driver.SQLType{Name: "int"}
	typeSmallint  = driver.SQLType{Name: "smallint"}
	typeDatetime2 = driver.SQLType{Name: "datetime2", Scale: 7}
)

// Iteration draws each order anew from a generator that worker and iteration begin. Customer,
// addresses and shipping lie in the ranges of the batch.
func (p *orders) Iteration(w driver.Worker, i int64) iter.Seq[*driver.Request] {
	return func(yield func(*driver.Request) bool) {
		// PCG mixes neighbouring seeds poorly in its first outputs; SplitMix's constant spreads them.
		rng := rand.New(rand.NewPCG(p.seed^mix(uint64(w.ID)), mix(uint64(i))))
		for range p.count {
			if !yield(p.order(rng)) {
				return
			}
		}
	}
}

func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// order makes a request of its own each time: a session may keep what it made of an earlier one.
func (p *orders) order(rng *rand.Rand) *driver.Request {
	lines := p.seeds[rng.IntN(len(p.seeds))]
	customer, bill, ship, method := rng.Int64N(8000), rng.Int64N(10000), rng.Int64N(10000), 1+rng.Int64N(5)
	return &driver.Request{
		Kind:   driver.RPC,
		Proc:   p.proc,
		Source: p.source,
		// Natively compiled procedures take a slower path for named, converted and defaulted
		// parameters, so all of these are positional and of the exact type.
		Params: []driver.Param{
			{Type: typeInt, Output: true},
			{Type: typeDatetime2, Value: p.now()},
			{Type: typeInt, Value: customer},
			{Type: typeInt, Value: bill},
			{Type: typeInt, Value: ship},
			{Type: typeInt, Value: method},
			{Type: driver.SQLType{Schema: lines.Schema, Name: lines.Name}, Value: lines},
		},
	}
}

// seedOrders is how many seed orders the workload uses, from 1.
const seedOrders = 106

// readSeeds reads the seed orders 1 to 106 as tables of the order type of a part.
func readSeeds(ctx context.Context, s driver.Session, part string) ([]*driver.Table, error) {
	if s == nil {
		return nil, fmt.Errorf("mode tvp reads its seed orders from the server, and there is no session")
	}
	rows, err := query(ctx, s, fmt.Sprintf(
		"SELECT OrderID, OrderQty, ProductID, SpecialOfferID FROM Demo.DemoSalesOrderDetailSeed WHERE OrderID BETWEEN 1 AND %d ORDER BY OrderID, LocalID;",
		seedOrders))
	if err != nil {
		return nil, fmt.Errorf("cannot read the seed orders of mode tvp: %w", err)
	}
	tables := make([]*driver.Table, seedOrders)
	for _, row := range rows {
		n, err := ints(row, 4)
		if err != nil {
			return nil, fmt.Errorf("cannot read the seed orders of mode tvp: %w", err)
		}
		if n[0] < 1 || n[0] > seedOrders {
			return nil, fmt.Errorf("the server sent seed order %d, asked for 1 to %d", n[0], seedOrders)
		}
		t := tables[n[0]-1]
		if t == nil {
			t = &driver.Table{
				Schema: "Sales", Name: "SalesOrderDetailType_" + part,
				Columns: []driver.SQLType{typeSmallint, typeInt, typeInt},
			}
			tables[n[0]-1] = t
		}
		t.Rows = append(t.Rows, []any{n[1], n[2], n[3]})
	}
	for i, t := range tables {
		if t == nil || len(t.Rows) != 5 {
			lines := 0
			if t != nil {
				lines = len(t.Rows)
			}
			return nil, fmt.Errorf("seed order %d has %d lines in Demo.DemoSalesOrderDetailSeed, and five are expected: is the workload installed whole?", i+1, lines)
		}
	}
	return tables, nil
}
