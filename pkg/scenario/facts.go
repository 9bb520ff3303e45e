package scenario

import (
	"context"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"gostress/pkg/driver"
	"gostress/workloads"
)

// Engine editions as SERVERPROPERTY('EngineEdition') numbers them.
const (
	editionStandard = 2
	editionExpress  = 4
	editionAzureDB  = 5
)

// Facts are what is asked of a server and a database before anything is done to them.
type Facts struct {
	Database string
	// Version is the product version, such as 16.0.4085.2; Edition its edition in words.
	Version, Edition string
	EngineEdition    int64
	// XTP says that the database can have memory-optimized tables.
	XTP bool
	// Marked says that the database carries the extended property gostress.workload.
	Marked bool
	// HasInmem and HasOndisk say that the order procedure of the half is there.
	HasInmem, HasOndisk bool
	// HasReset says that Demo.usp_DemoReset is there.
	HasReset bool
	// Sample says that the database holds the tables of AdventureWorks and, not being Marked, the
	// In-Memory OLTP sample as Microsoft ships it.
	Sample bool
}

const factsQuery = `SELECT
    DB_NAME(),
    CONVERT(nvarchar(128), SERVERPROPERTY('ProductVersion')),
    CONVERT(nvarchar(128), SERVERPROPERTY('Edition')),
    CONVERT(int, SERVERPROPERTY('EngineEdition')),
    CONVERT(int, SERVERPROPERTY('IsXTPSupported')),
    (SELECT COUNT(*) FROM sys.extended_properties WHERE class = 0 AND name = N'gostress.workload'),
    OBJECT_ID(N'Sales.usp_InsertSalesOrder_inmem'),
    OBJECT_ID(N'Sales.usp_InsertSalesOrder_ondisk'),
    OBJECT_ID(N'Demo.usp_DemoReset'),
    OBJECT_ID(N'Sales.SalesOrderHeader');`

// azureXTP asks the database, since on Azure it depends on the database's service tier.
const azureXTP = `SELECT CONVERT(int, DATABASEPROPERTYEX(DB_NAME(), 'IsXTPSupported'));`

// ReadFacts asks a session's server and database.
func ReadFacts(ctx context.Context, s driver.Session) (Facts, error) {
	rows, err := query(ctx, s, factsQuery)
	if err != nil {
		return Facts{}, fmt.Errorf("cannot read the properties of server and database: %w", err)
	}
	if len(rows) != 1 || len(rows[0]) != 10 {
		return Facts{}, fmt.Errorf("cannot read the properties of server and database: %d rows came where one is expected", len(rows))
	}
	r := rows[0]
	there := func(v any) bool { n, err := integer(v); return err == nil && n != 0 }
	f := Facts{
		Database:  str(r[0]),
		Version:   str(r[1]),
		Edition:   str(r[2]),
		XTP:       there(r[4]),
		Marked:    there(r[5]),
		HasInmem:  there(r[6]),
		HasOndisk: there(r[7]),
		HasReset:  there(r[8]),
	}
	f.EngineEdition, _ = integer(r[3])
	f.Sample = !f.Marked && (f.HasInmem || f.HasOndisk) && f.HasReset && there(r[9])
	if f.EngineEdition == editionAzureDB {
		n, err := scalar(ctx, s, azureXTP)
		f.XTP = err == nil && n == 1
	}
	return f, nil
}

// major is the first number of the version, 0 when there is none.
func (f Facts) major() int {
	n, _ := strconv.Atoi(strings.SplitN(f.Version, ".", 2)[0])
	return n
}

// GuardError is the refusal to change a database.
type GuardError struct {
	Database string
	Text     string
	// Yes says that Options.Yes (--yes) would overrule the refusal.
	Yes bool
}

func (e *GuardError) Error() string {
	text := e.Text
	if e.Database != "" {
		text = "database " + e.Database + ": " + text
	}
	if e.Yes {
		text += " (--yes does it all the same)"
	}
	return text
}

var systemDatabases = []string{"master", "model", "msdb", "tempdb", "distribution", "SSISDB", "mssqlsystemresource"}

// system says whether a database belongs to the server itself.
func system(database string) bool {
	for _, s := range systemDatabases {
		if strings.EqualFold(s, database) {
			return true
		}
	}
	return false
}

// guardSystem refuses databases of the server itself, whatever else was said.
func guardSystem(f Facts) error {
	if system(f.Database) {
		return &GuardError{Database: f.Database, Text: "this is a system database, and gostress never changes those: name another with -d"}
	}
	return nil
}

// Sizes are what an installation needs, in bytes.
type Sizes struct {
	// Indexes is the memory that the hash indexes take at once; Data about what the original
	// orders and the products take, in memory and again on disk.
	Indexes, Data int64
}

const (
	// originalOrders and originalLines are what install generates.
	originalOrders, originalLines = 31465, 121317
	// An order with its header takes about 161 bytes, a line 105, in memory-optimized tables.
	orderBytes, lineBytes = 161, 105
	// perOrder is an order with five lines, rounded up.
	perOrder = orderBytes + 5*lineBytes + 14
	// DefaultOrders is the number of orders that hash indexes are sized for unless told otherwise.
	DefaultOrders = 1_000_000
)

// buckets are the values of the installer's bucket variables for a number of orders.
func buckets(orders int64) (order, line, key int64) {
	order = max(orders+originalOrders, 65536)
	if orders >= 10_000_000 {
		order = orders // as published: the originals are within the rounding
	}
	return order, 5 * order, min(1_000_000, max(16_384, orders/10))
}

// pow2 is n rounded up to a power of two, as the server does it.
func pow2(n int64) int64 { return 1 << bits.Len64(uint64(n-1)) }

// SizesFor says what an installation for a number of orders needs in memory.
func SizesFor(orders int64) Sizes {
	order, line, key := buckets(orders)
	return Sizes{
		// The header has one index by order, the lines one by line and one by order; customers,
		// sales persons, the lines' products, products and offers have one each.
		Indexes: 8 * (2*pow2(order) + pow2(line) + 5*pow2(key)),
		Data:    originalOrders*orderBytes + originalLines*lineBytes + 4<<20,
	}
}

func mb(n int64) string { return strconv.FormatInt((n+(1<<20)-1)>>20, 10) + " MB" }

// quota is what an edition allows for memory-optimized data in a database, 0 when it has none or
// it is not known.
func (f Facts) quota() int64 {
	switch f.EngineEdition {
	case editionExpress:
		return 352 << 20
	case editionStandard:
		return 32 << 30
	}
	return 0
}

// CheckMemory compares what a run of a number of orders into the memory-optimized tables will
// take with what the edition allows for a database. It returns a warning, or "" when there is no
// known limit or enough room; refuse says that the run cannot end well.
func CheckMemory(ctx context.Context, s driver.Session, orders int64) (warning string, refuse bool, err error) {
	f, err := ReadFacts(ctx, s)
	if err != nil {
		return "", false, err
	}
	quota := f.quota()
	if quota == 0 || !f.HasInmem {
		return "", false, nil
	}
	// Without the permission to read it, what is used already is unknown and counts as nothing.
	used, err := scalar(ctx, s, "SELECT SUM(memory_allocated_for_table_kb + memory_allocated_for_indexes_kb) FROM sys.dm_db_xtp_table_memory_stats;")
	if err != nil {
		used = 0
		if ctx.Err() != nil {
			return "", false, err
		}
	}
	need := orders * perOrder
	free := quota - used<<10
	if need <= free {
		return "", false, nil
	}
	return fmt.Sprintf("%d orders take about %s of memory, and %s allows this database %s more: fewer iterations or connections, or a reset, make it fit",
		orders, mb(need), f.Edition, mb(max(free, 0))), true, nil
}

// formVars are the variables of scripts that exist in two forms.
func formVars(form string, f Facts) map[string]string {
	v := map[string]string{
		workloads.FormVar: form,
		"gs_hint":         "",
		"gs_header":       "Demo.vOriginalSalesOrderHeader",
		"gs_detail":       "Demo.vOriginalSalesOrderDetail",
		"gs_new":          "NOT EXISTS (SELECT * FROM Demo.vOriginalSalesOrderHeader AS o WHERE o.SalesOrderID = h.SalesOrderID)",
	}
	if form == workloads.Inmem {
		v["gs_hint"] = "WITH (SNAPSHOT)"
	}
	if f.Sample {
		v["gs_header"], v["gs_detail"] = "Sales.SalesOrderHeader", "Sales.SalesOrderDetail"
		v["gs_new"] = "h.OrderDate > (SELECT MAX(o.OrderDate) FROM Sales.SalesOrderHeader AS o)"
	}
	return v
}
