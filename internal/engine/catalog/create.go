package catalog

import (
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/tsql"
)

// local reports whether a name is that of a session's #table.
func local(name string) bool { return strings.HasPrefix(name, "#") && !strings.HasPrefix(name, "##") }

// global reports whether a name is that of a ##table, which the engine has not.
func global(name string) bool { return strings.HasPrefix(name, "##") }

func errGlobal() error { return sqlerr.Unsupported("a global temporary table (##)") }

// in returns the DDL to use for a name: that of its database for a name of three
// parts.
func (d *DDL) in(name Name) (*DDL, error) {
	db := d.DB
	switch {
	case name.Database != "" && !local(name.Object):
		var ok bool
		if db, ok = d.DB.instance.Database(name.Database); !ok {
			return nil, sqlerr.New(2702, 16, 2, "The database '%s' is not there.", name.Database)
		}
	}
	if db == d.DB {
		return d, nil
	}
	c := *d
	c.DB = db
	return &c, nil
}

func (d *DDL) createTable(st ast.Statement) error {
	s := st.(*ast.CreateTableStatement)
	switch {
	case s.AsEdge, s.AsNode:
		return sqlerr.Unsupported("graph tables")
	case s.AsFileTable:
		return sqlerr.Unsupported("FileTable")
	case s.SelectStatement != nil:
		return sqlerr.Unsupported("CREATE TABLE AS SELECT")
	case s.FederationScheme != nil:
		return sqlerr.Unsupported("FEDERATED ON")
	}
	name, err := d.target(s.SchemaObjectName)
	if err != nil {
		return err
	}
	if global(name.Object) {
		return errGlobal()
	}
	if d, err = d.in(name); err != nil {
		return err
	}
	t := &Table{Schema: name.Schema, Name: name.Object, Created: d.DB.instance.Now(), DataSpace: 1}
	t.Modified = t.Created
	if local(name.Object) {
		return d.createTemp(t, s)
	}
	if sc, ok := d.DB.Schema(name.Schema); ok {
		t.Schema = sc.Name
	} else {
		return sqlerr.New(2760, 16, 1, "The schema name \"%s\" is not there, or you may not use it.", name.Schema)
	}
	if EqualName(t.Schema, "sys") || EqualName(t.Schema, "INFORMATION_SCHEMA") {
		return sqlerr.New(2760, 16, 1, "The schema name \"%s\" is not there, or you may not use it.", name.Schema)
	}
	if err := d.DB.snap.Load().taken(t.Schema, t.Name); err != nil {
		return err
	}
	if err := d.tableOptions(t, s); err != nil {
		return err
	}
	// The id must be known before self-references are resolved.
	return d.DB.edit(d.Undo, func(sn *snapshot) error {
		if err := sn.taken(t.Schema, t.Name); err != nil {
			return err
		}
		t.ID = sn.newID()
		b := &builder{d: d, t: t}
		if err := b.build(s.Definition); err != nil {
			return err
		}
		if err := d.compileChecks(t, t.Checks); err != nil {
			return err
		}
		t.Data = d.DB.Store.NewTable(t.Def)
		return sn.putTable(t)
	})
}

func (d *DDL) compileChecks(t *Table, checks []Check) error {
	if d.Check == nil {
		return nil
	}
	for i := range checks {
		if err := d.Check(t, checks[i].Expr); err != nil {
			return sqlerr.AtLine(err, tsql.Line(checks[i].Expr))
		}
	}
	return nil
}

// tableOptions reads WITH (...) and ON.
func (d *DDL) tableOptions(t *Table, s *ast.CreateTableStatement) error {
	durability := ""
	for _, o := range s.Options {
		switch o := o.(type) {
		case *ast.MemoryOptimizedTableOption:
			t.MemoryOptimized = o.OptionState == "On"
		case *ast.DurabilityTableOption:
			durability = o.DurabilityTableOptionKind
		case *ast.TableDataCompressionOption:
			if o.DataCompressionOption != nil && o.DataCompressionOption.CompressionLevel != "None" {
				return sqlerr.UnsupportedOption("DATA_COMPRESSION = " + o.DataCompressionOption.CompressionLevel)
			}
		case *ast.SystemVersioningTableOption:
			if o.OptionState == "On" {
				return sqlerr.UnsupportedOption("SYSTEM_VERSIONING = ON")
			}
		default:
			return sqlerr.UnsupportedOption("this table option")
		}
	}
	if durability != "" && !t.MemoryOptimized {
		return sqlerr.New(10798, 16, 1, "The option DURABILITY is only supported with memory optimized tables.")
	}
	t.SchemaOnly = durability == "SchemaOnly"
	if on := s.OnFileGroupOrPartitionScheme; on != nil && on.Name != nil {
		if len(on.PartitionSchemeColumns) > 0 {
			return sqlerr.Unsupported("partition schemes")
		}
		if t.MemoryOptimized {
			return sqlerr.New(10794, 16, 95, "The option 'filegroup' is not supported with memory optimized tables.")
		}
		g, err := d.DB.filegroup(on.Name.Value)
		if err != nil {
			return err
		}
		t.DataSpace = g.ID
	}
	if s.FileStreamOn != nil {
		return sqlerr.UnsupportedOption("FILESTREAM_ON")
	}
	if !t.MemoryOptimized {
		return nil
	}
	if d.UserTran {
		return sqlerr.New(12331, 16, 1, "CREATE, ALTER and DROP inside user transactions are not supported with memory optimized tables.")
	}
	if d.DB.ID <= MsdbID {
		return sqlerr.New(41326, 16, 1, "Memory optimized tables cannot be made in the system database '%s'.", d.DB.Name())
	}
	if !d.DB.HasMemoryOptimized() {
		return sqlerr.New(41337, 16, 100, "Cannot create memory optimized tables: the database must have a filegroup for memory optimized data that is online and has at least one container.")
	}
	for _, g := range d.DB.FileGroups() {
		if g.Type == "FX" {
			t.DataSpace = g.ID
		}
	}
	return nil
}

func (d *DDL) createTemp(t *Table, s *ast.CreateTableStatement) error {
	if d.Temp == nil {
		return sqlerr.Unsupported("temporary tables here")
	}
	if len(s.Options) > 0 {
		if err := d.tempOptions(s); err != nil {
			return err
		}
	}
	if len([]rune(t.Name)) > 116 {
		return sqlerr.New(193, 15, 1, "The name that starts with '%s' is too long. The maximum length of a temporary table's name is 116 characters.", cut(t.Name, 116))
	}
	if d.Temp.here(t.Name) {
		return nameTaken(t.Name)
	}
	t.Temp = true
	t.ID = d.Temp.newID()
	b := &builder{d: d, t: t}
	if err := b.build(s.Definition); err != nil {
		return err
	}
	if err := d.compileChecks(t, t.Checks); err != nil {
		return err
	}
	t.numberConstraints(d.Temp.newID)
	t.Data = storage.NewLocal(t.Def)
	d.Temp.put(d.Undo, t)
	return nil
}

func (d *DDL) tempOptions(s *ast.CreateTableStatement) error {
	for _, o := range s.Options {
		if m, ok := o.(*ast.MemoryOptimizedTableOption); ok && m.OptionState == "On" {
			return sqlerr.New(10794, 16, 90, "The feature 'memory optimized' is not supported with temporary tables.")
		}
	}
	return d.tableOptions(&Table{}, s)
}

// TableVariable builds the table of DECLARE @name TABLE (...). It has no Data: a
// frame makes its own with storage.NewLocal(t.Def).
func (d *DDL) TableVariable(name string, def *ast.TableDefinition) (*Table, error) {
	t := &Table{Schema: "", Name: name, Temp: true, Type: true, Created: d.DB.instance.Now()}
	t.ID = -int32(fnv64(name)>>33) - 1
	b := &builder{d: d, t: t}
	if err := b.build(def); err != nil {
		return nil, err
	}
	if err := d.compileChecks(t, t.Checks); err != nil {
		return nil, err
	}
	next := t.ID
	t.numberConstraints(func() int32 { next--; return next })
	return t, nil
}

// CreateAs makes the table of SELECT ... INTO from the columns of the query, a
// #table of the session when the name says so. Of each column Name, Type,
// Nullable and Identity count.
func (d *DDL) CreateAs(n *ast.SchemaObjectName, cols []Column) (*Table, error) {
	name, err := d.target(n)
	if err != nil {
		return nil, err
	}
	if global(name.Object) {
		return nil, errGlobal()
	}
	if d, err = d.in(name); err != nil {
		return nil, err
	}
	now := d.DB.instance.Now()
	t := &Table{Schema: name.Schema, Name: name.Object, PrimaryKey: -1, Created: now, Modified: now, DataSpace: 1}
	for i, c := range cols {
		if c.Name == "" {
			return nil, sqlerr.New(1038, 15, 5, "A column name is missing or empty. SELECT INTO needs a name for every column: add an alias to column %d.", i+1)
		}
		if t.Column(c.Name) >= 0 {
			return nil, sqlerr.New(2705, 16, 3, "Column names in each table must be unique. The column name '%s' occurs more than once in the table '%s'.", c.Name, t.Name)
		}
		col := Column{ID: int32(i) + 1, Name: c.Name, Type: c.Type, Nullable: c.Nullable, Created: now}
		if c.Identity && t.Identity == nil {
			col.Identity, col.Nullable = true, false
			t.Identity = NewIdentity(i, 1, 1)
		}
		t.Columns = append(t.Columns, col)
	}
	if len(t.Columns) > maxColumns {
		return nil, sqlerr.New(1702, 16, 1, "The table '%s' cannot be made: it has %d columns, and %d is the largest number.", t.Name, len(t.Columns), maxColumns)
	}
	if err := t.checkRowSize(); err != nil {
		return nil, err
	}
	if local(t.Name) {
		if d.Temp == nil {
			return nil, sqlerr.Unsupported("temporary tables here")
		}
		if d.Temp.here(t.Name) {
			return nil, nameTaken(t.Name)
		}
		t.Temp, t.ID = true, d.Temp.newID()
		t.Def = storageDef(t)
		t.Data = storage.NewLocal(t.Def)
		d.Temp.put(d.Undo, t)
		return t, nil
	}
	sc, ok := d.DB.Schema(name.Schema)
	if !ok {
		return nil, sqlerr.New(2760, 16, 1, "The schema name \"%s\" is not there, or you may not use it.", name.Schema)
	}
	t.Schema = sc.Name
	t.Def = storageDef(t)
	return t, d.DB.edit(d.Undo, func(s *snapshot) error {
		if err := s.taken(t.Schema, t.Name); err != nil {
			return err
		}
		t.Data = d.DB.Store.NewTable(t.Def)
		return s.putTable(t)
	})
}

func (d *DDL) createTableType(st ast.Statement) error {
	s := st.(*ast.CreateTypeTableStatement)
	name, err := d.target(s.Name)
	if err != nil {
		return err
	}
	t := &Table{Schema: name.Schema, Name: name.Object, Type: true, Temp: true, Created: d.DB.instance.Now()}
	for _, o := range s.Options {
		m, ok := o.(*ast.MemoryOptimizedTableOption)
		if !ok {
			return sqlerr.UnsupportedOption("this option of a table type")
		}
		t.MemoryOptimized = m.OptionState == "On"
	}
	if t.MemoryOptimized && !d.DB.HasMemoryOptimized() {
		return sqlerr.New(41337, 16, 100, "Cannot create memory optimized table types: the database must have a filegroup for memory optimized data that is online and has at least one container.")
	}
	return d.DB.edit(d.Undo, func(sn *snapshot) error {
		sc, err := sn.schema(name.Schema)
		if err != nil {
			return err
		}
		t.Schema = sc.Name
		if _, ok := sn.types[key(t.Schema, t.Name)]; ok {
			return typeTaken(t.Schema, t.Name)
		}
		t.ID = sn.newID()
		b := &builder{d: d, t: t}
		if err := b.build(s.Definition); err != nil {
			return err
		}
		if err := d.compileChecks(t, t.Checks); err != nil {
			return err
		}
		t.numberConstraints(sn.newID)
		tt := &TableType{ID: sn.nextTyp, Schema: t.Schema, Name: t.Name, Table: t, Created: t.Created}
		sn.nextTyp++
		sn.types[key(t.Schema, t.Name)] = tt
		sn.byID[t.ID] = tt
		return nil
	})
}

func typeTaken(schema, name string) error {
	return sqlerr.New(219, 16, 1, "The type '%s.%s' is there already, or you may not make it.", schema, name)
}

func (d *DDL) createAliasType(st ast.Statement) error {
	s := st.(*ast.CreateTypeUddtStatement)
	name, err := d.target(s.Name)
	if err != nil {
		return err
	}
	r, err := d.DB.ResolveType(s.DataType)
	if err != nil {
		return err
	}
	if r.Table != nil || r.Alias != nil {
		return sqlerr.New(2715, 16, 5, "An alias type must be based on a system data type.")
	}
	return d.DB.edit(d.Undo, func(sn *snapshot) error {
		sc, err := sn.schema(name.Schema)
		if err != nil {
			return err
		}
		if _, ok := sn.types[key(sc.Name, name.Object)]; ok {
			return typeTaken(sc.Name, name.Object)
		}
		sn.types[key(sc.Name, name.Object)] = &AliasType{
			ID: sn.nextTyp, Schema: sc.Name, Name: name.Object, Type: r.Type,
			Nullable: s.NullableConstraint == nil || s.NullableConstraint.Nullable,
		}
		sn.nextTyp++
		return nil
	})
}

func (d *DDL) createSchema(st ast.Statement) error {
	s := st.(*ast.CreateSchemaStatement)
	name, owner := "", "dbo"
	if s.Owner != nil {
		owner, name = s.Owner.Value, s.Owner.Value
	}
	if s.Name != nil {
		name = s.Name.Value
	}
	if s.StatementList != nil && len(s.StatementList.Statements) > 0 {
		return sqlerr.Unsupported("CREATE SCHEMA with schema elements")
	}
	return d.DB.edit(d.Undo, func(sn *snapshot) error {
		if _, ok := sn.schemas[Fold(name)]; ok {
			return nameTaken(name)
		}
		if !EqualName(owner, "dbo") {
			return sqlerr.New(15151, 16, 1, "Cannot find the user '%s': it is not there, or you may not use it.", owner)
		}
		sn.schemas[Fold(name)] = &Schema{ID: sn.nextSch, Name: name, Owner: "dbo"}
		sn.nextSch++
		return nil
	})
}
