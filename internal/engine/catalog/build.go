package catalog

import (
	"strconv"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// Limits of SQL Server.
const (
	maxColumns    = 1024
	maxKeyColumns = 32
)

// builder makes a Table out of a definition.
type builder struct {
	d    *DDL
	t    *Table
	auto int // serial of made-up names

	// fks hold the foreign keys until the table's keys are known.
	fks []pendingKey
}

type pendingKey struct {
	def     *ast.ForeignKeyConstraintDefinition
	columns []*ast.Identifier
}

// kindOf says what an error message calls the table.
func (b *builder) kindOf() string {
	switch {
	case b.t.Type && b.t.MemoryOptimized:
		return "memory optimized table types"
	case b.t.MemoryOptimized:
		return "memory optimized tables"
	}
	return "disk-based tables"
}

// build fills t from def: columns, keys, indexes and checks, in that order.
func (b *builder) build(def *ast.TableDefinition) error {
	t := b.t
	t.PrimaryKey = -1
	if def == nil || len(def.ColumnDefinitions) == 0 {
		return sqlerr.New(1701, 16, 1, "The table '%s' needs at least one column.", t.Name)
	}
	if def.SystemTimePeriod != nil {
		return sqlerr.Unsupported("PERIOD FOR SYSTEM_TIME")
	}
	for _, c := range def.ColumnDefinitions {
		if err := b.column(c); err != nil {
			return sqlerr.AtLine(err, tsql.Line(c))
		}
	}
	if len(t.Columns) > maxColumns {
		return sqlerr.New(1702, 16, 1, "The table '%s' cannot be made: it has %d columns, and %d is the largest number.", t.Name, len(t.Columns), maxColumns)
	}
	if err := t.checkRowSize(); err != nil {
		return err
	}
	for _, c := range def.ColumnDefinitions {
		if err := b.columnConstraints(c); err != nil {
			return sqlerr.AtLine(err, tsql.Line(c))
		}
	}
	for _, c := range def.TableConstraints {
		if err := b.constraint(c); err != nil {
			return sqlerr.AtLine(err, tsql.Line(c))
		}
	}
	for _, x := range def.Indexes {
		if err := b.index(x, -1); err != nil {
			return sqlerr.AtLine(err, tsql.Line(x))
		}
	}
	if err := b.finishIndexes(); err != nil {
		return err
	}
	if err := b.computedColumns(def.ColumnDefinitions, 0); err != nil {
		return err
	}
	for _, fk := range b.fks {
		if err := b.foreignKey(fk); err != nil {
			return sqlerr.AtLine(err, tsql.Line(fk.def))
		}
	}
	t.Def = storageDef(t)
	return nil
}

// storageDef describes the table to storage.
func storageDef(t *Table) storage.TableDef {
	def := storage.TableDef{Kind: storage.Disk}
	switch {
	case t.Type:
		def.Kind = storage.Local
	case t.Temp:
		def.Kind = storage.Temp
	case t.MemoryOptimized:
		def.Kind = storage.Memory
	}
	for _, c := range t.Columns {
		def.Columns = append(def.Columns, storage.Column{Type: c.Type, Nullable: c.Nullable})
	}
	for _, x := range t.Indexes {
		def.Indexes = append(def.Indexes, storageIndex(&x))
	}
	return def.Prepared()
}

func storageIndex(x *Index) storage.IndexDef {
	d := storage.IndexDef{Columns: x.Columns, Desc: x.Desc, Unique: x.Unique, Kind: storage.Ordered}
	if x.Hash {
		d.Kind, d.Buckets, d.Desc = storage.Hash, x.Buckets, nil
	}
	return d
}

func (b *builder) column(def *ast.ColumnDefinition) error {
	t, name := b.t, def.ColumnIdentifier.Value
	if t.Column(name) >= 0 {
		return sqlerr.New(2705, 16, 3, "Column names in each table must be unique. The column name '%s' occurs more than once in the table '%s'.", name, t.Name)
	}
	for _, o := range []struct {
		set  bool
		what string
	}{
		{def.GeneratedAlways != "", "GENERATED ALWAYS"},
		{def.IsHidden, "HIDDEN columns"},
		{def.IsMasked || def.MaskingFunction != nil, "MASKED columns"},
		{def.Encryption != nil, "ENCRYPTED columns"},
		{def.StorageOptions != nil, "SPARSE and FILESTREAM columns"},
	} {
		if o.set {
			return sqlerr.Unsupported(o.what)
		}
	}
	c := Column{ID: b.nextColumnID(), Name: name, Nullable: !b.d.AnsiNullDefaultOff, RowGUID: def.IsRowGuidCol, Created: b.d.DB.instance.Now()}
	if def.ComputedColumnExpression != nil {
		c.Computed = &Computed{Expr: def.ComputedColumnExpression, Text: parenthesize(b.d.Batch.Slice(def.ComputedColumnExpression)), Persisted: def.IsPersisted}
		c.Nullable = true
		t.Columns = append(t.Columns, c)
		return nil
	}
	if def.DataType == nil {
		return sqlerr.New(173, 15, 1, "The definition of the column '%s' needs a data type.", name)
	}
	r, err := b.d.DB.ResolveType(def.DataType)
	if err != nil {
		return b.numbered(err, len(t.Columns)+1)
	}
	if r.Table != nil {
		return sqlerr.New(350, 16, 1, "The column \"%s\" cannot have a table type.", name)
	}
	c.Type, c.UserType = r.Type, r.Alias
	if r.Alias != nil {
		c.Nullable = r.Alias.Nullable
	}
	if def.Collation != nil {
		if !isCharacter(c.Type.Kind) {
			return sqlerr.New(452, 16, 1, "COLLATE cannot be used on the column '%s': its type %s has no collation.", name, c.Type.Name())
		}
		if c.Type.Coll, err = types.CollationByName(def.Collation.Value); err != nil {
			return err
		}
		c.Collation = def.Collation.Value
	}
	if t.MemoryOptimized && !memoryType(c.Type.Kind) {
		return sqlerr.New(10794, 16, 97, "The type '%s' is not supported with %s.", c.Type.Name(), b.kindOf())
	}
	null := def.Nullable
	for _, k := range def.Constraints {
		if n, ok := k.(*ast.NullableConstraintDefinition); ok {
			null = n
		}
	}
	if null != nil {
		c.Nullable, c.NullabilityGiven = null.Nullable, true
	}
	if def.IdentityOptions != nil {
		if err := b.identity(&c, def.IdentityOptions, null); err != nil {
			return err
		}
	}
	if c.RowGUID && c.Type.Kind != types.KindUniqueIdentifier {
		return sqlerr.New(2761, 16, 2, "The ROWGUIDCOL property needs a column of type uniqueidentifier; '%s' is none.", name)
	}
	t.Columns = append(t.Columns, c)
	return nil
}

func (b *builder) nextColumnID() int32 {
	id := int32(0)
	for _, c := range b.t.Columns {
		id = max(id, c.ID)
	}
	return id + 1
}

// numbered puts the column's ordinal into an error that types could not know.
func (b *builder) numbered(err error, n int) error {
	if e, ok := err.(*sqlerr.Error); ok && n > 1 {
		c := *e
		c.Text = strings.Replace(c.Text, "#1:", "#"+strconv.Itoa(n)+":", 1)
		return &c
	}
	return err
}

func (b *builder) identity(c *Column, o *ast.IdentityOptions, null *ast.NullableConstraintDefinition) error {
	t := b.t
	if t.Identity != nil {
		return sqlerr.New(2744, 16, 2, "Several identity columns were given for the table '%s'; one is allowed.", t.Name)
	}
	switch k := c.Type; k.Kind {
	case types.KindTinyInt, types.KindSmallInt, types.KindInt, types.KindBigInt:
	case types.KindDecimal:
		if k.Scale != 0 {
			return sqlerr.New(2749, 16, 2, "The identity column '%s' must be of type int, bigint, smallint, tinyint, or decimal or numeric with scale 0, and not NULL.", c.Name)
		}
	default:
		return sqlerr.New(2749, 16, 2, "The identity column '%s' must be of type int, bigint, smallint, tinyint, or decimal or numeric with scale 0, and not NULL.", c.Name)
	}
	if null != nil && null.Nullable {
		return sqlerr.New(8147, 16, 1, "The identity column '%s' of the table '%s' cannot allow NULL.", c.Name, t.Name)
	}
	seed, inc := int64(1), int64(1)
	var err error
	if o.IdentitySeed != nil {
		if seed, err = integer(o.IdentitySeed); err != nil {
			return sqlerr.New(2751, 16, 1, "The seed of the identity column '%s' is no whole number.", c.Name)
		}
	}
	if o.IdentityIncrement != nil {
		if inc, err = integer(o.IdentityIncrement); err != nil {
			return sqlerr.New(2752, 16, 1, "The increment of the identity column '%s' is no whole number.", c.Name)
		}
	}
	if inc == 0 {
		return sqlerr.New(2752, 16, 1, "The identity column '%s' has an increment that is not valid.", c.Name)
	}
	if t.MemoryOptimized && (seed != 1 || inc != 1) {
		return sqlerr.New(12339, 16, 1, "Identity columns of %s must have seed 1 and increment 1.", b.kindOf())
	}
	c.Identity, c.Nullable = true, false
	t.Identity = NewIdentity(len(t.Columns), seed, inc)
	return nil
}

// columnConstraints adds the constraints and the index written at column i.
func (b *builder) columnConstraints(def *ast.ColumnDefinition) error {
	i := b.t.Column(def.ColumnIdentifier.Value)
	if def.DefaultConstraint != nil {
		if err := b.defaultFor(i, def.DefaultConstraint); err != nil {
			return err
		}
	}
	for _, k := range def.Constraints {
		var err error
		switch k := k.(type) {
		case *ast.NullableConstraintDefinition:
		case *ast.DefaultConstraintDefinition:
			if k != def.DefaultConstraint {
				err = b.defaultFor(i, k)
			}
		case *ast.CheckConstraintDefinition:
			err = b.check(k, i)
		case *ast.UniqueConstraintDefinition:
			err = b.key(k, i)
		case *ast.ForeignKeyConstraintDefinition:
			b.fks = append(b.fks, pendingKey{k, []*ast.Identifier{def.ColumnIdentifier}})
		default:
			err = sqlerr.Unsupported("this column constraint")
		}
		if err != nil {
			return sqlerr.AtLine(err, tsql.Line(k))
		}
	}
	if def.Index != nil {
		return b.index(def.Index, i)
	}
	return nil
}

func (b *builder) constraint(c ast.TableConstraint) error {
	switch c := c.(type) {
	case *ast.CheckConstraintDefinition:
		return b.check(c, -1)
	case *ast.UniqueConstraintDefinition:
		return b.key(c, -1)
	case *ast.ForeignKeyConstraintDefinition:
		b.fks = append(b.fks, pendingKey{c, c.Columns})
		return nil
	case *ast.DefaultConstraintDefinition:
		if c.Column == nil {
			return sqlerr.New(142, 15, 2, "A DEFAULT constraint of a table needs FOR and a column.")
		}
		i := b.t.Column(c.Column.Value)
		if i < 0 {
			return b.noColumn(c.Column.Value)
		}
		return b.defaultFor(i, c)
	}
	return sqlerr.Unsupported("this table constraint")
}

func (b *builder) noColumn(name string) error {
	return sqlerr.New(1911, 16, 1, "The column name '%s' does not exist in the target table or view.", name)
}

func (b *builder) defaultFor(i int, def *ast.DefaultConstraintDefinition) error {
	c := &b.t.Columns[i]
	switch {
	case c.Identity:
		return sqlerr.New(1754, 16, 0, "The column '%s' cannot have a default: it is an identity column (table '%s').", c.Name, b.t.Name)
	case c.Computed != nil:
		return sqlerr.New(1752, 16, 0, "The column '%s' of the table '%s' cannot have a default.", c.Name, b.t.Name)
	case c.Default != nil:
		return sqlerr.New(1781, 16, 1, "The column already has a DEFAULT bound to it.")
	}
	expr := def.Expression
	if p, ok := expr.(*ast.ParenthesisExpression); ok && !tsqlHasSpan(p) {
		expr = p.Expression // teesql adds parentheses of its own
	}
	d := &Default{Expr: expr, Text: defaultText(b.d.Batch.Slice(expr), expr)}
	d.Name, d.System = b.name(def.ConstraintIdentifier, "DF", c.Name)
	c.Default = d
	return nil
}

func tsqlHasSpan(n any) bool { return tsql.Line(n) > 0 }

func (b *builder) check(def *ast.CheckConstraintDefinition, column int) error {
	k := Check{Expr: def.CheckCondition, Text: parenthesize(b.d.Batch.Slice(def.CheckCondition)), Column: column}
	of := ""
	if column >= 0 {
		of = b.t.Columns[column].Name
	}
	k.Name, k.System = b.name(def.ConstraintIdentifier, "CK", of)
	b.t.Checks = append(b.t.Checks, k)
	return nil
}

func isCharacter(k types.Kind) bool {
	switch k {
	case types.KindChar, types.KindVarChar, types.KindNChar, types.KindNVarChar, types.KindText, types.KindNText:
		return true
	}
	return false
}

// memoryType reports whether memory-optimized tables can have columns of a kind.
func memoryType(k types.Kind) bool {
	switch k {
	case types.KindText, types.KindNText, types.KindImage, types.KindDateTimeOffset, types.KindSQLVariant:
		return false
	}
	return true
}

// computedColumns types the computed columns from position from on.
func (b *builder) computedColumns(defs []*ast.ColumnDefinition, from int) error {
	for i := from; i < len(b.t.Columns); i++ {
		c := &b.t.Columns[i]
		if c.Computed == nil {
			continue
		}
		if b.d.Computed == nil {
			return sqlerr.Unsupported("computed columns")
		}
		typ, null, err := b.d.Computed(b.t, c.Computed.Expr)
		if err != nil {
			return err
		}
		c.Type, c.Nullable = typ, null
		for _, def := range defs {
			if EqualName(def.ColumnIdentifier.Value, c.Name) {
				for _, k := range def.Constraints {
					if n, ok := k.(*ast.NullableConstraintDefinition); ok && !n.Nullable {
						c.Nullable = false
					}
				}
			}
		}
	}
	return nil
}
