package catalog

import (
	"slices"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// maxBuckets is the largest BUCKET_COUNT.
const maxBuckets = 1 << 30

// key adds a PRIMARY KEY or UNIQUE constraint; column is the one it is written
// at, or -1.
func (b *builder) key(def *ast.UniqueConstraintDefinition, column int) error {
	t := b.t
	if def.IsEnforced != nil && !*def.IsEnforced {
		return sqlerr.UnsupportedOption("NOT ENFORCED")
	}
	x := Index{Unique: true, PrimaryKey: def.IsPrimaryKey, Constraint: true}
	prefix := "UQ"
	if def.IsPrimaryKey {
		prefix = "PK"
		if t.hasPrimaryKey() {
			return sqlerr.New(8110, 16, 0, "The table '%s' cannot have more than one PRIMARY KEY constraint.", t.Name)
		}
	}
	if column >= 0 && len(def.Columns) == 0 {
		x.Columns, x.Desc = []int{column}, []bool{false}
	} else if err := b.keyColumns(&x, def.Columns); err != nil {
		return err
	}
	x.Name, x.System = b.name(def.ConstraintIdentifier, prefix, "")
	kind := ""
	if def.IndexType != nil {
		kind = def.IndexType.IndexTypeKind
	}
	if err := b.structure(&x, kind, def.Clustered, def.IndexOptions, def.OnFileGroupOrPartitionScheme); err != nil {
		return err
	}
	if def.IsPrimaryKey {
		for _, c := range x.Columns {
			col := &t.Columns[c]
			if col.Nullable && col.NullabilityGiven {
				return sqlerr.New(8111, 16, 1, "The PRIMARY KEY constraint of the table '%s' needs columns that do not allow NULL.", t.Name)
			}
			col.Nullable = false
		}
	}
	return b.add(x)
}

// index adds an index of a table definition; column is the one it is written at, or -1.
func (b *builder) index(def *ast.IndexDefinition, column int) error {
	x := Index{Unique: def.Unique}
	if def.Name == nil {
		return sqlerr.New(1029, 15, 1, "An index in a table definition needs a name.")
	}
	x.Name = def.Name.Value
	if def.FilterPredicate != nil {
		return sqlerr.UnsupportedOption("filtered index")
	}
	if column >= 0 && len(def.Columns) == 0 {
		x.Columns, x.Desc = []int{column}, []bool{false}
	} else if err := b.keyColumns(&x, def.Columns); err != nil {
		return err
	}
	if err := b.include(&x, def.IncludeColumns); err != nil {
		return err
	}
	kind := ""
	if def.IndexType != nil {
		kind = def.IndexType.IndexTypeKind
	}
	if err := b.structure(&x, kind, false, def.IndexOptions, def.OnFileGroupOrPartitionScheme); err != nil {
		return err
	}
	return b.add(x)
}

func (t *Table) hasPrimaryKey() bool {
	return slices.ContainsFunc(t.Indexes, func(x Index) bool { return x.PrimaryKey })
}

// add appends an index after checking its name.
func (b *builder) add(x Index) error {
	for _, o := range b.t.Indexes {
		if EqualName(o.Name, x.Name) {
			return sqlerr.New(1913, 16, 1, "An index or statistics with the name '%s' is already on the table '%s'.", x.Name, b.t.Name)
		}
	}
	b.t.Indexes = append(b.t.Indexes, x)
	return nil
}

func (b *builder) keyColumns(x *Index, cols []*ast.ColumnWithSortOrder) error {
	if len(cols) == 0 {
		return sqlerr.New(1958, 16, 1, "An index or key needs at least one column.")
	}
	if len(cols) > maxKeyColumns {
		return sqlerr.New(1904, 16, 1, "The index '%s' on the table '%s' has %d key columns; %d is the largest number.", x.Name, b.t.Name, len(cols), maxKeyColumns)
	}
	for _, c := range cols {
		name := lastName(c.Column)
		i := b.t.Column(name)
		if i < 0 {
			return b.noColumn(name)
		}
		if slices.Contains(x.Columns, i) {
			return sqlerr.New(1909, 16, 1, "The column name '%s' occurs more than once in an index or key. Each must be different.", name)
		}
		if typ := b.t.Columns[i].Type; typ.Len == types.Max || !keyType(typ.Kind) {
			return sqlerr.New(1919, 16, 1, "The column '%s' of the table '%s' has the type %s, which cannot be a key of an index.", name, b.t.Name, typ)
		}
		x.Columns = append(x.Columns, i)
		x.Desc = append(x.Desc, c.SortOrder == ast.SortOrderDescending)
	}
	return nil
}

func (b *builder) include(x *Index, cols []*ast.ColumnReferenceExpression) error {
	if len(cols) > 0 && b.t.MemoryOptimized {
		return sqlerr.New(10794, 16, 96, "The feature 'included columns' is not supported with %s.", b.kindOf())
	}
	for _, c := range cols {
		name := lastName(c)
		i := b.t.Column(name)
		if i < 0 {
			return b.noColumn(name)
		}
		if slices.Contains(x.Columns, i) || slices.Contains(x.Include, i) {
			return sqlerr.New(1909, 16, 2, "The column name '%s' occurs more than once in an index or key. Each must be different.", name)
		}
		x.Include = append(x.Include, i)
	}
	return nil
}

func lastName(c *ast.ColumnReferenceExpression) string {
	if c == nil || c.MultiPartIdentifier == nil || len(c.MultiPartIdentifier.Identifiers) == 0 {
		return ""
	}
	ids := c.MultiPartIdentifier.Identifiers
	return ids[len(ids)-1].Value
}

func keyType(k types.Kind) bool {
	switch k {
	case types.KindText, types.KindNText, types.KindImage:
		return false
	}
	return true
}

// structure settles clustered, nonclustered or hash, and the options. An index
// that does not say is left for finishIndexes.
func (b *builder) structure(x *Index, kind string, clustered bool, options []ast.IndexOption, on *ast.FileGroupOrPartitionScheme) error {
	switch kind {
	case "":
		x.Clustered = clustered
	case "Clustered":
		x.Clustered = true
	case "NonClustered":
	case "NonClusteredHash":
		x.Hash = true
	default:
		return sqlerr.Unsupported("index type " + kind)
	}
	// ID is borrowed until finishIndexes: -1 = neither CLUSTERED nor NONCLUSTERED.
	if kind == "" && !clustered {
		x.ID = -1
	}
	if b.t.MemoryOptimized && (x.Clustered || x.ID == -1 && x.PrimaryKey) {
		return sqlerr.New(12317, 16, 76, "Clustered indexes, the default of primary keys, are not supported with %s. Say NONCLUSTERED or NONCLUSTERED HASH.", b.kindOf())
	}
	if x.Hash && !b.t.MemoryOptimized {
		return sqlerr.New(10797, 16, 1, "Hash indexes are only supported with memory optimized tables and table types.")
	}
	for _, o := range options {
		if err := b.indexOption(x, o); err != nil {
			return err
		}
	}
	if x.Hash && x.Buckets == 0 {
		return sqlerr.New(1084, 15, 1, "The hash index '%s' needs WITH (BUCKET_COUNT = n).", x.Name)
	}
	if on != nil && on.Name != nil {
		if len(on.PartitionSchemeColumns) > 0 {
			return sqlerr.Unsupported("partition schemes")
		}
		if b.t.MemoryOptimized {
			return sqlerr.New(10794, 16, 95, "The option 'filegroup' is not supported with %s.", b.kindOf())
		}
		if _, err := b.d.DB.filegroup(on.Name.Value); err != nil {
			return err
		}
	}
	return nil
}

func (db *Database) filegroup(name string) (FileGroup, error) {
	for _, g := range db.FileGroups() {
		if EqualName(g.Name, name) || EqualName(name, "default") && g.Default {
			return g, nil
		}
	}
	return FileGroup{}, sqlerr.New(1921, 16, 1, "The filegroup or partition scheme '%s' is not valid.", name)
}

func (b *builder) indexOption(x *Index, o ast.IndexOption) error {
	switch o := o.(type) {
	case *ast.IndexExpressionOption:
		n, err := integer(o.Expression)
		if err != nil {
			return sqlerr.New(304, 16, 1, "'%s' is out of range for the index option '%s'.", b.d.Batch.Slice(o.Expression), o.OptionKind)
		}
		switch o.OptionKind {
		case "BucketCount":
			if !x.Hash {
				return sqlerr.New(10794, 16, 94, "The index option 'BUCKET_COUNT' is only supported with hash indexes.")
			}
			if n < 1 || n > maxBuckets {
				return sqlerr.New(304, 16, 1, "'%d' is out of range for the index option '%s'. It is 1 to %d.", n, "bucket_count", maxBuckets)
			}
			x.Buckets = buckets(n)
		case "FillFactor":
			if n < 1 || n > 100 {
				return sqlerr.New(129, 15, 1, "FILLFACTOR %d is no valid percentage; it must be 1 to 100.", n)
			}
			x.FillFactor = uint8(n)
		case "MaxDop": // every index is built by one thread
		default:
			return sqlerr.UnsupportedOption(o.OptionKind)
		}
	case *ast.IndexStateOption:
		switch o.OptionKind {
		case "PadIndex", "SortInTempDB", "StatisticsNoRecompute", "DropExisting", "AllowRowLocks", "AllowPageLocks", "OptimizeForSequentialKey", "Online", "StatisticsIncremental":
			if o.OptionKind == "DropExisting" && o.OptionState == "On" {
				return sqlerr.UnsupportedOption("DROP_EXISTING = ON")
			}
		case "IgnoreDupKey":
			if o.OptionState == "On" {
				return sqlerr.UnsupportedOption("IGNORE_DUP_KEY = ON")
			}
		default:
			return sqlerr.UnsupportedOption(o.OptionKind)
		}
	case *ast.IgnoreDupKeyIndexOption:
		if o.OptionState == "On" {
			return sqlerr.UnsupportedOption("IGNORE_DUP_KEY = ON")
		}
	case *ast.OnlineIndexOption:
	case *ast.DataCompressionOption:
		if o.CompressionLevel != "None" {
			return sqlerr.UnsupportedOption("DATA_COMPRESSION = " + o.CompressionLevel)
		}
	default:
		return sqlerr.UnsupportedOption("this index option")
	}
	return nil
}

// finishIndexes makes the primary key clustered where nothing speaks against it,
// orders the indexes and numbers them.
func (b *builder) finishIndexes() error {
	t := b.t
	clustered := 0
	for i := range t.Indexes {
		if t.Indexes[i].Clustered {
			clustered++
		}
	}
	if clustered > 1 {
		if t.Data == nil {
			return sqlerr.New(8112, 16, 0, "The table '%s' cannot have more than one clustered index.", t.Name)
		}
		return b.secondClustered()
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if x.ID == -1 {
			x.ID = 0
			if x.PrimaryKey && clustered == 0 && !t.MemoryOptimized {
				x.Clustered = true
				clustered++
			}
		}
	}
	next := int32(2)
	for _, x := range t.Indexes {
		next = max(next, x.ID+1)
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if x.ID > 0 {
			continue
		}
		if x.Clustered {
			x.ID = 1
		} else {
			x.ID = next
			next++
		}
	}
	t.PrimaryKey = slices.IndexFunc(t.Indexes, func(x Index) bool { return x.PrimaryKey })
	return b.memoryRules()
}

func (b *builder) secondClustered() error {
	for _, x := range b.t.Indexes {
		if x.Clustered {
			return sqlerr.New(1902, 16, 3, "There can be no more than one clustered index on the table '%s'. Drop the clustered index '%s' first.", b.t.Name, x.Name)
		}
	}
	return nil
}

// memoryRules checks what a memory-optimized table as a whole must have.
func (b *builder) memoryRules() error {
	t := b.t
	if !t.MemoryOptimized {
		return nil
	}
	if len(t.Indexes) == 0 {
		return sqlerr.New(41327, 16, 7, "The memory optimized table '%s' must have at least one index or a primary key.", t.Name)
	}
	if !t.Type && !t.SchemaOnly && t.PrimaryKey < 0 {
		return sqlerr.New(41321, 16, 7, "The memory optimized table '%s' with DURABILITY = SCHEMA_AND_DATA must have a primary key.", t.Name)
	}
	return nil
}
