package workloads

// Names in inmem-oltp that others need.
const (
	InmemOLTP = "inmem-oltp"
	Inmem     = "inmem"
	Ondisk    = "ondisk"
	// FormVar is the variable that chooses between the tables ..._inmem and ..._ondisk.
	FormVar = "gs_form"
)

func inmemOLTP() Workload {
	const dir = InmemOLTP + "/"
	form := func(f string) map[string]string { return map[string]string{FormVar: f} }
	script := func(part, file string, vars map[string]string) Script {
		return Script{File: dir + file, Part: part, Text: text(dir + file), Vars: vars}
	}
	batch := body(text(dir + "run.sql"))
	run := func(f, title string) Run {
		return Run{Name: f, Title: title, Part: f, Batch: Expand(batch, form(f)), Orders: 20}
	}
	return Workload{
		Name:  InmemOLTP,
		Title: "sales orders into memory-optimized or disk-based tables",
		About: `Every iteration inserts 20 sales orders of five lines each, one transaction an order.
Run inmem uses memory-optimized tables and a natively compiled procedure, run
ondisk the same tables on disk and an ordinary procedure.

Mode batch sends one T-SQL batch an iteration: the server picks one of 106 seed
orders and calls the procedure 20 times. Mode tvp builds each order in the client
and calls the procedure 20 times an iteration, one call an order, with the lines
as a table-valued parameter.

Install makes its own data, the same everywhere: 504 products, 16 special offers,
538 pairs of the two, 31,465 orders with 121,317 lines. It needs SQL Server 2016
or later or Azure SQL Database. Where there is no In-Memory OLTP, --only ondisk
installs the disk-based half.`,
		Parts: []Part{
			{Name: Inmem, Title: "memory-optimized tables, natively compiled procedures"},
			{Name: Ondisk, Title: "disk-based tables, ordinary procedures"},
		},
		Runs: []Run{
			run(Inmem, "20 orders an iteration into the memory-optimized tables"),
			run(Ondisk, "20 orders an iteration into the disk-based tables"),
		},
		// The memory-optimized half comes first, so that the seeds are made only once.
		Install: []Script{
			script(Base, "10-base.sql", nil),
			script(Base, "20-originals.sql", nil),
			script(Inmem, "30-inmem-database.sql", nil),
			script(Inmem, "31-inmem-tables.sql", nil),
			script(Inmem, "32-inmem-procedures.sql", nil),
			script(Inmem, "33-inmem-data.sql", nil),
			script(Ondisk, "40-ondisk-tables.sql", nil),
			script(Ondisk, "41-ondisk-procedures.sql", nil),
			script(Ondisk, "42-ondisk-data.sql", nil),
			script(Base, "50-integrity.sql", nil),
			script(Inmem, "51-rules.sql", form(Inmem)),
			script(Ondisk, "51-rules.sql", form(Ondisk)),
			script(Base, "60-demo.sql", nil),
		},
		Reset:     script(Base, "reset.sql", nil),
		Verify:    script(Base, "verify.sql", nil),
		Uninstall: script(Base, "uninstall.sql", nil),
		Vars: []Var{
			{Name: "gs_order_buckets", Title: "hash buckets, one for each order expected (--orders)"},
			{Name: "gs_line_buckets", Title: "hash buckets, one for each order line expected, five an order"},
			{Name: "gs_key_buckets", Title: "hash buckets for sales persons, customers, products and offers"},
			{Name: FormVar, Title: "inmem or ondisk: which of the two sets of tables"},
			{Name: "gs_hint", Title: "the table hint of memory-optimized tables in verify, or nothing"},
			{Name: "gs_header", Title: "the table or view with the original orders, in verify"},
			{Name: "gs_new", Title: "the condition that makes an order a new one, in verify"},
			{Name: "gs_detail", Title: "the table or view with the original order lines, in verify"},
		},
	}
}
