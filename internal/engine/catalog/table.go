package catalog

import (
	"sync/atomic"
	"time"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/storage"
	"gostress/internal/engine/types"
)

// Table is a table, a view, a table type's shape or a system view. A published
// Table never changes: ALTER publishes another one that shares Data and Identity.
type Table struct {
	ID               int32
	Schema, Name     string
	Columns          []Column
	Indexes          []Index // Indexes[i] is index i of Data
	PrimaryKey       int     // in Indexes; -1 = none
	MemoryOptimized  bool
	SchemaOnly       bool      // DURABILITY = SCHEMA_ONLY
	Identity         *Identity // nil = no identity column
	Checks           []Check
	ForeignKeys      []ForeignKey
	Data             *storage.Table // nil for views, system views and types
	Def              storage.TableDef
	View             *View
	System           SystemRows
	Temp             bool // #table or table variable
	Type             bool // the shape of a table type
	Created          time.Time
	Modified         time.Time
	TextImageColumns bool // has a column of a (max) or text type
	WideRows         bool // a row may be too large even with its variable columns elsewhere
	DataSpace        int32
}

// Column is a column of a Table.
type Column struct {
	ID               int32 // column_id: keeps its value when other columns are dropped
	Name             string
	Type             types.Type
	UserType         *AliasType // when declared with one
	Nullable         bool
	Identity         bool
	RowGUID          bool
	Default          *Default
	Computed         *Computed // the value is computed on write and stored
	Collation        string
	Created          time.Time
	NullabilityGiven bool
}

// Default is a DEFAULT constraint.
type Default struct {
	ID     int32
	Name   string
	System bool // the name was made up
	Expr   ast.ScalarExpression
	Text   string // with parentheses, as sys.default_constraints shows it
}

// Computed is the definition of a computed column.
type Computed struct {
	Expr      ast.ScalarExpression
	Text      string
	Persisted bool
}

// Index is an index, a primary key or a unique constraint.
type Index struct {
	ID           int32 // index_id: 1 = clustered, 2 and up = others
	Name         string
	Columns      []int // in Table.Columns, in key order
	Desc         []bool
	Include      []int
	Unique       bool
	Clustered    bool
	Hash         bool
	Buckets      int // as made: a power of two
	PrimaryKey   bool
	Constraint   bool // made by PRIMARY KEY or UNIQUE
	ConstraintID int32
	System       bool // the constraint's name was made up
	FillFactor   uint8
	IgnoreDup    bool
	Disabled     bool
}

// Check is a CHECK constraint.
type Check struct {
	ID         int32
	Name       string
	System     bool
	Expr       ast.BooleanExpression
	Text       string
	Column     int // in Table.Columns when written at a column, else -1
	Disabled   bool
	NotTrusted bool
}

// ForeignKey is a FOREIGN KEY constraint.
type ForeignKey struct {
	ID         int32
	Name       string
	System     bool
	Columns    []int // in Table.Columns
	RefTable   int32 // object id
	RefColumns []int // in the referenced table's Columns
	RefIndex   int   // the index of the referenced table they are the key of
	OnDelete   Action
	OnUpdate   Action
	Disabled   bool
	NotTrusted bool
}

// Action is what a foreign key does to its rows when the row they refer to goes.
type Action uint8

// The actions, in the numbering of sys.foreign_keys.
const (
	NoAction Action = iota
	Cascade
	SetNull
	SetDefault
)

// Identity hands out the values of an identity column. Values are lost when a
// transaction rolls back, as on SQL Server.
type Identity struct {
	Column    int
	Seed      int64
	Increment int64
	next      atomic.Int64 // the value Next returns next
	used      atomic.Bool
}

// NewIdentity returns an Identity that starts at seed.
func NewIdentity(column int, seed, increment int64) *Identity {
	id := &Identity{Column: column, Seed: seed, Increment: increment}
	id.next.Store(seed)
	return id
}

// Next returns the next value.
func (id *Identity) Next() int64 {
	v := id.next.Add(id.Increment) - id.Increment
	if !id.used.Load() {
		id.used.Store(true)
	}
	return v
}

// Explicit tells that a value was inserted explicitly (IDENTITY_INSERT): the
// next ones follow the highest, or the lowest with a negative increment.
func (id *Identity) Explicit(v int64) {
	for {
		n := id.next.Load()
		if (id.Increment > 0 && v < n) || (id.Increment < 0 && v > n) {
			return
		}
		if id.next.CompareAndSwap(n, v+id.Increment) {
			id.used.Store(true)
			return
		}
	}
}

// Last returns the last value handed out; ok is false when there was none.
func (id *Identity) Last() (v int64, ok bool) {
	return id.next.Load() - id.Increment, id.used.Load()
}

// Reseed makes last the last value handed out: the next one follows it. On a
// table that never had a row, the next one is last itself.
func (id *Identity) Reseed(last int64) {
	if id.used.Load() {
		id.next.Store(last + id.Increment)
	} else {
		id.next.Store(last)
	}
}

// Reset starts again at the seed, as TRUNCATE TABLE does.
func (id *Identity) Reset() {
	id.next.Store(id.Seed)
	id.used.Store(false)
}

// Column returns the position of a column by name, or -1.
func (t *Table) Column(name string) int {
	for i := range t.Columns {
		if EqualName(t.Columns[i].Name, name) {
			return i
		}
	}
	return -1
}

// Index returns the position of an index by name, or -1.
func (t *Table) Index(name string) int {
	for i := range t.Indexes {
		if EqualName(t.Indexes[i].Name, name) {
			return i
		}
	}
	return -1
}

// FullName returns schema.name.
func (t *Table) FullName() string { return t.Schema + "." + t.Name }

// View is the definition of a view.
type View struct {
	Module
	Select      *ast.SelectStatement
	Names       []string // column names given in CREATE VIEW; nil = the select's
	CheckOption bool
}
