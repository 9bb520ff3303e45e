package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gostress/pkg/driver"
	"gostress/pkg/script"
	"gostress/workloads"
)

// Options say how a workload is installed, reset or removed.
type Options struct {
	// Only is the one part to install; empty means all.
	Only string
	// Orders is the number of orders to size hash indexes for; 0 is DefaultOrders.
	Orders int64
	// Yes overrules the refusals that say so.
	Yes bool
	// Out takes the progress, a line each. Nil drops it.
	Out io.Writer

	// created says that InstallInto made the database.
	created bool
}

func (o *Options) say(format string, args ...any) {
	if o.Out != nil {
		fmt.Fprintf(o.Out, format+"\n", args...)
	}
}

// ScriptError is an error of the server in a script of a workload.
type ScriptError struct {
	File string
	// Line is the line in File, from 1; 0 when the error arose in a procedure.
	Line   int
	Server driver.ServerError
}

func (e *ScriptError) Error() string {
	where := e.File
	if e.Line > 0 {
		where += ", line " + strconv.Itoa(e.Line)
	}
	if e.Server.Proc != "" {
		where += ", in " + e.Server.Proc + " line " + strconv.Itoa(int(e.Server.Line))
	}
	return fmt.Sprintf("%s: error %d, severity %d, state %d: %s", where, e.Server.Number, e.Server.Class, e.Server.State, e.Server.Message)
}
func (e *ScriptError) Unwrap() error { return e.Server }

// InstallInto installs a workload in a database, which it makes when the server says that there
// is none of that name (error 4060). Connect gives the way to a database; only an empty name means
// the login's default. What cannot work is found before the database is made.
func InstallInto(ctx context.Context, connect func(database string) driver.Connector, database string, w workloads.Workload, o Options) error {
	s, err := connect(database).Connect(ctx)
	var refused *driver.LoginError
	if errors.As(err, &refused) && refused.Number == 4060 && database != "" {
		if s, err = createDatabase(ctx, connect, database, w, &o); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	defer s.Close()
	return Install(ctx, s, w, o)
}

// createDatabase makes the database over a session in master, and opens a session in it.
func createDatabase(ctx context.Context, connect func(string) driver.Connector, database string, w workloads.Workload, o *Options) (driver.Session, error) {
	master, err := connect("master").Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("there is no database %s that this login may use, and none can be made: %w", database, err)
	}
	defer master.Close()
	f, err := ReadFacts(ctx, master)
	if err != nil {
		return nil, err
	}
	if f.EngineEdition == editionAzureDB {
		if !o.Yes {
			return nil, &GuardError{Database: database, Yes: true, Text: "it is not there, or not for this login; making a database on Azure SQL Database costs money"}
		}
		f.XTP = true // it depends on the tier of a database that is not there yet
	}
	if err := preflight(f, w, *o); err != nil {
		return nil, err
	}
	there, err := scalar(ctx, master, "SELECT COUNT(*) FROM sys.databases WHERE name = "+literal(database)+";")
	if err != nil {
		return nil, fmt.Errorf("cannot look for database %s: %w", database, err)
	}
	if there > 0 {
		return nil, fmt.Errorf("database %s is there, but this login may not use it, or it is not online", database)
	}
	if err := do(ctx, master, "CREATE DATABASE "+quoteName(database)+";", printer{io.Discard}); err != nil {
		return nil, fmt.Errorf("cannot make database %s: %w", database, err)
	}
	o.say("created database %s", database)
	o.created = true
	return connect(database).Connect(ctx)
}

// quoteName brackets an identifier.
func quoteName(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }

// literal makes a Unicode string literal.
func literal(s string) string { return "N'" + strings.ReplaceAll(s, "'", "''") + "'" }

// preflight finds what would make an installation fail in its middle.
func preflight(f Facts, w workloads.Workload, o Options) error {
	if o.Only != "" && !w.HasPart(o.Only) {
		var names []string
		for _, p := range w.Parts {
			names = append(names, p.Name)
		}
		return fmt.Errorf("workload %s has no part %q; there is %s", w.Name, o.Only, strings.Join(names, ", "))
	}
	if o.Orders < 0 || o.Orders > 200_000_000 {
		return fmt.Errorf("--orders %d: a number from 1 to 200000000 is expected", o.Orders)
	}
	// Azure's version number stands still at 12.
	if n := f.major(); n != 0 && n < 13 && f.EngineEdition < editionAzureDB {
		return fmt.Errorf("this server is version %s; workload %s needs SQL Server 2016 (13) or later", f.Version, w.Name)
	}
	if !f.XTP && o.Only != workloads.Ondisk {
		return fmt.Errorf("this server (%s) has no In-Memory OLTP: --only ondisk installs the disk-based half", f.Edition)
	}
	return nil
}

// Install installs a workload in the session's database. It can be repeated: what is there stays,
// and code is replaced. A database that holds Microsoft's own In-Memory OLTP sample is left as it
// is, and Install says so. Another database than one that install made or marked needs o.Yes; the
// refusal, a *GuardError, says what cannot be undone and what it takes.
func Install(ctx context.Context, s driver.Session, w workloads.Workload, o Options) error {
	f, err := ReadFacts(ctx, s)
	if err != nil {
		return err
	}
	if err := guardSystem(f); err != nil {
		return err
	}
	if f.Sample {
		o.say("database %s holds Microsoft's In-Memory OLTP sample for AdventureWorks already: nothing is installed, nothing is changed", f.Database)
		return nil
	}
	if err := preflight(f, w, o); err != nil {
		return err
	}
	orders := o.Orders
	if orders == 0 {
		orders = DefaultOrders
	}
	takes := needs(f, orders, o.Only)
	if !f.Marked && !o.created && !o.Yes {
		return &GuardError{Database: f.Database, Yes: true,
			Text: "it carries no mark of gostress, and install adds objects in the schemas Sales, Production, Demo and dbo. " + takes}
	}
	if size := SizesFor(orders); o.Only != workloads.Ondisk && f.quota() > 0 && size.Indexes+size.Data > f.quota() && !o.Yes {
		return &GuardError{Database: f.Database, Yes: true,
			Text: fmt.Sprintf("%s allows a database %s of memory-optimized data, and the indexes for %d orders take %s with the data: a smaller --orders fits",
				f.Edition, mb(f.quota()), orders, mb(size.Indexes+size.Data))}
	}
	o.say("installing workload %s in database %s. %s", w.Name, f.Database, takes)
	order, line, key := buckets(orders)
	vars := map[string]string{
		"gs_order_buckets": strconv.FormatInt(order, 10),
		"gs_line_buckets":  strconv.FormatInt(line, 10),
		"gs_key_buckets":   strconv.FormatInt(key, 10),
	}
	for _, sc := range w.Install {
		if o.Only != "" && sc.Part != workloads.Base && sc.Part != o.Only {
			continue
		}
		if err := runScript(ctx, s, sc, vars, o); err != nil {
			return fmt.Errorf("the installation of workload %s stopped: %w; run it again when the cause is gone, it goes on from there", w.Name, err)
		}
	}
	o.say("workload %s is installed in database %s", w.Name, f.Database)
	return nil
}

// needs is the line that says what an installation takes and what cannot be undone.
func needs(f Facts, orders int64, only string) string {
	size := SizesFor(orders)
	if only == workloads.Ondisk {
		return fmt.Sprintf("The disk-based half takes about %s of disk", mb(3*size.Data))
	}
	text := fmt.Sprintf("Hash indexes for %d orders take about %s of memory at once, the data about %s more and as much on disk", orders, mb(size.Indexes), mb(size.Data))
	if f.EngineEdition >= editionAzureDB {
		return text
	}
	return text + ", checkpoint files up to 136 MB a logical processor; a memory-optimized filegroup, added where there is none, " +
		"cannot be removed before SQL Server 2025 and keeps SQL Server 2016 and 2017 from making database snapshots"
}

// runScript runs the batches of a script and stops at the first error.
func runScript(ctx context.Context, s driver.Session, sc workloads.Script, vars map[string]string, o Options) error {
	list, err := script.Split(sc.File, workloads.Expand(sc.Text, sc.Vars, vars))
	if err != nil {
		return err
	}
	out := o.Out
	if out == nil {
		out = io.Discard
	}
	for _, b := range list {
		for range b.Count {
			err := do(ctx, s, b.Text, printer{out})
			var bad driver.ServerError
			if errors.As(err, &bad) {
				e := &ScriptError{File: sc.File, Server: bad}
				if bad.Proc == "" {
					e.Line = b.Line + max(int(bad.Line), 1) - 1
				}
				return e
			}
			if err != nil {
				return fmt.Errorf("%s, line %d: %w", sc.File, b.Line, err)
			}
		}
	}
	return nil
}

// Reset brings the workload's tables back to the original orders.
func Reset(ctx context.Context, s driver.Session, w workloads.Workload, o Options) error {
	f, err := ReadFacts(ctx, s)
	if err != nil {
		return err
	}
	if err := guardSystem(f); err != nil {
		return err
	}
	if !f.HasReset {
		return fmt.Errorf("database %s: workload %s is not installed there (no Demo.usp_DemoReset); gostress workload install %s installs it", f.Database, w.Name, w.Name)
	}
	if !f.Marked && !o.Yes {
		return &GuardError{Database: f.Database, Yes: true,
			Text: "gostress did not install this sample, and reset deletes every order inserted since its originals: that cannot be undone"}
	}
	o.say("resetting workload %s in database %s", w.Name, f.Database)
	if err := runScript(ctx, s, w.Reset, nil, o); err != nil {
		return fmt.Errorf("cannot reset workload %s: %w", w.Name, err)
	}
	return nil
}

// Uninstall removes every object that Install made. It acts only in a database that Install
// marked: in any other it cannot know what is whose.
func Uninstall(ctx context.Context, s driver.Session, w workloads.Workload, o Options) error {
	f, err := ReadFacts(ctx, s)
	if err != nil {
		return err
	}
	if err := guardSystem(f); err != nil {
		return err
	}
	if !f.Marked {
		return &GuardError{Database: f.Database,
			Text: "it does not carry the extended property gostress.workload, so nothing in it is ours to remove"}
	}
	o.say("removing workload %s from database %s", w.Name, f.Database)
	if err := runScript(ctx, s, w.Uninstall, nil, o); err != nil {
		return fmt.Errorf("cannot remove workload %s: %w", w.Name, err)
	}
	o.say("workload %s is removed; the database itself stays", w.Name)
	return nil
}
