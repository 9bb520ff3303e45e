package driver

// Kind says how a request travels.
type Kind uint8

const (
	// Text is a SQL batch.
	Text Kind = iota
	// RPC is a procedure called by name.
	RPC
	// Disconnect ends the session in good order, and nothing is sent; the next request opens
	// another. It is no batch: Load.Disconnects alone counts it.
	Disconnect
)

// Request is one thing sent to the server and answered: a batch or a procedure call. A program
// may yield the same Request again and again; neither the driver nor a session changes it, and a
// session may keep what it made of it for as long as it lives.
type Request struct {
	Kind Kind
	// Text is the batch; empty for RPC.
	Text string
	// Proc is the procedure's name as it is to be sent; empty for Text.
	Proc string
	// Params are the parameters in order. A Text request with parameters goes through
	// sp_executesql.
	Params []Param
	// Plain sends a Text as a batch at once, even on a session that prepares its batches, runs them
	// through cursors or reads them slowly: what is no part of the load, such as a rollback after
	// a cancel, is plain.
	Plain bool
	// Statement is the index of its name among its unit's Statements.
	Statement int
	// Source is where the request came from, for messages.
	Source Source
}

// Source is a place in the input.
type Source struct {
	// File is the input file's full path; empty for -Q.
	File string
	// Line is the first line of the batch in File, from 1; 0 when there is none.
	Line int
	// Batch is the number of the batch in its file, from 1.
	Batch int
}

// Param is one parameter of a request.
type Param struct {
	// Name begins with @; empty means positional.
	Name string
	// Type is sent exactly.
	Type SQLType
	// Value is nil, int64, float64, bool, string, []byte, time.Time or *Table. Decimal and money
	// values are strings such as "12.3400".
	Value any
	// Output marks an output parameter.
	Output bool
}

// SQLType is a type as T-SQL spells it.
type SQLType struct {
	// Schema is set for table types alone.
	Schema string
	// Name in lower case: "int", "nvarchar", "datetime2"; a table type's own name.
	Name string
	// Len is in characters for nchar and nvarchar, in bytes for char, varchar, binary and
	// varbinary; -1 is max.
	Len int32
	// Prec and Scale belong to decimal and numeric; Scale to time, datetime2, datetimeoffset.
	Prec, Scale uint8
}

// Table is a table-valued parameter.
type Table struct {
	// Schema and Name name the table type.
	Schema, Name string
	Columns      []SQLType
	// Rows hold values as Param.Value does, tables excluded.
	Rows [][]any
}

// Column describes a column of a result set.
type Column struct {
	Name     string
	Type     SQLType
	Nullable bool
}
