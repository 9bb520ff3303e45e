package tdsclient

import (
	"strings"

	"gostress/internal/tds"
)

// SQLType is a type as T-SQL spells it.
type SQLType struct {
	// Schema is set for table types alone.
	Schema string
	// Name in lower case: "int", "nvarchar", "datetime2"; a table type's own name.
	Name string
	// Len is in characters for nchar and nvarchar, in bytes for char, varchar, binary and
	// varbinary; -1 is max, 0 the longest that is not max.
	Len int32
	// Prec and Scale belong to decimal and numeric; Scale to time, datetime2, datetimeoffset.
	Prec, Scale uint8
}

// Column describes a column of a result set.
type Column struct {
	Name     string
	Type     SQLType
	Nullable bool
}

// Sink takes what an answer holds, in the order in which it came. A call that
// gives an error ends the connection.
type Sink interface {
	// Columns begins a result set. The slice stays as it is.
	Columns(cols []Column) error
	// Row takes a row; the slice is valid during the call alone, its values stay.
	// They are nil, int64, float64, bool, string, []byte or time.Time; decimal,
	// money and uniqueidentifier are strings.
	Row(values []any) error
	// Done ends a statement. counted is false if there is no count of rows.
	Done(rows int64, counted bool) error
	// Message takes an error or a message of any class.
	Message(m *ServerError) error
}

// OutputSink is a Sink that wants what a procedure returns beside rows.
type OutputSink interface {
	Sink
	// Output takes an output parameter; name is empty if it went by position.
	Output(name string, ordinal int, value any) error
	// Status takes the procedure's return status.
	Status(v int32) error
}

// Outcome is what came of a request.
type Outcome struct {
	// Rows counts rows received, ResultSets the result sets they were in.
	Rows, ResultSets int64
	// Affected is the sum of the counts of statements that return no rows.
	Affected int64
	// Errors are the messages of class 11 and above.
	Errors []ServerError
	// OpenTran says that a transaction is open after the request.
	OpenTran bool
}

// sqlType says what T-SQL calls t.
func sqlType(t *tds.TypeInfo) SQLType {
	name, _, _ := strings.Cut(t.Name(), "(")
	q := SQLType{Name: name, Prec: t.Prec, Scale: t.Scale}
	switch t.ID {
	case tds.TypeNVarChar, tds.TypeNChar:
		q.Len = int32(t.Size / 2)
	case tds.TypeVarChar, tds.TypeChar, tds.TypeVarBinary, tds.TypeBinary,
		tds.TypeVarChar1, tds.TypeChar1, tds.TypeVarBinary1, tds.TypeBinary1:
		q.Len = int32(t.Size)
	case tds.TypeText, tds.TypeNText, tds.TypeImage, tds.TypeXML:
		q.Len = -1
	case tds.TypeUDT:
		q.Name, q.Len = "varbinary", -1
	}
	if t.Size == tds.SizeMax {
		q.Len = -1
	}
	return q
}
