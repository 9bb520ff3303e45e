package storage

import "gostress/internal/engine/types"

// Kind says which rules of concurrency a table follows.
type Kind uint8

const (
	// Disk tables: a writer that meets another transaction's uncommitted row
	// waits for it; deadlocks end with 1205, lock timeouts with 1222.
	Disk Kind = iota
	// Memory tables: the first committer wins and nobody waits; the other
	// transaction gets 41302.
	Memory
	// Local tables have one owner and no concurrency: table variables and
	// table-valued parameters. Rollback does not undo their changes, and a
	// nil Tx is allowed.
	Local
	// Temp tables are Local ones whose changes Rollback and RollbackTo undo.
	Temp
)

// IndexKind is the structure of an index.
type IndexKind uint8

const (
	Hash    IndexKind = iota // equality on the whole key
	Ordered                  // equality on a prefix, ranges, both directions
)

// Column is a column of a table.
type Column struct {
	Type     types.Type
	Nullable bool
}

// IndexDef describes an index. Uniqueness counts NULL as equal to NULL.
type IndexDef struct {
	Columns []int  // positions in TableDef.Columns
	Desc    []bool // per key column; nil = all ascending; ordered indexes only
	Unique  bool
	Kind    IndexKind
	Buckets int // hash: rounded up to a power of two; their memory is taken as rows come
}

// TableDef describes a table. It must not be changed once a table was made of it.
type TableDef struct {
	Columns []Column
	Indexes []IndexDef
	Kind    Kind

	shape *shape
}

// Bound is one end of a range. A nil Key is no bound; a Key of fewer values
// than the index has columns bounds that prefix. Included says whether rows
// equal to the key belong to the range.
type Bound struct {
	Key      []types.Value
	Included bool
}

// RowID names one version of one row. It holds until the statement that found
// it ends; in a Snapshot or stricter transaction until the transaction ends.
type RowID uint64

// Isolation is a transaction's isolation level.
type Isolation uint8

const (
	ReadCommitted  Isolation = iota // each statement reads what was committed when it began
	Snapshot                        // reads what was committed when the transaction began
	RepeatableRead                  // Snapshot, and commit fails with 41305 when a row it read was changed
	Serializable                    // RepeatableRead, and commit fails with 41325 when a scan would find new rows
)
