// Package exec runs T-SQL for the embedded engine: sessions, batches, stored
// procedures, transactions and everything a client sees of them.
//
// A batch is compiled statement by statement into closures over a frame of
// values (packages expr and plan) and kept in a plan cache. What a request
// produces goes to an Output, token by token, in the order in which SQL Server
// would send it; package server turns that into TDS.
package exec

import (
	"time"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/types"
)

// Options configure an Engine. The zero value is usable.
type Options struct {
	// Version is the version of the program that carries the engine; it is
	// part of @@VERSION. Empty means "dev".
	Version string
	// ServerName is @@SERVERNAME and the server name in error messages.
	// Empty means the host's name.
	ServerName string
	// Now gives the local time; nil means time.Now.
	Now func() time.Time
	// PlanCache is the number of batch texts whose plans are kept; 0 means 1000.
	PlanCache int
	// CursorMemory is how many bytes the rows of all open cursors may take; 0
	// means 256 MiB. A cursor that needs more is refused with error 1105.
	CursorMemory int64
	// OnCrash is told of a fault of the engine itself, which ends the session in
	// which it happened; nil means that nobody is.
	OnCrash func(reason any, stack []byte)
	// Seed seeds RAND() of the sessions; 0 means a random seed.
	Seed uint64
}

// SessionOptions say who opens a session, as LOGIN7 tells it.
type SessionOptions struct {
	Login      string // SUSER_SNAME()
	Database   string // "" = master
	App        string // APP_NAME()
	Host       string // HOST_NAME(): the client's machine
	PID        int    // the client's process id
	Library    string // the client's interface name, e.g. "ODBC"
	Language   string // "" = us_english
	Address    string // the client's network address, for dm_exec_connections
	PacketSize int    // bytes; 0 = 4096
	ODBC       bool   // LOGIN7's fODBC: the ANSI_* options start ON
	Encrypted  bool   // the connection runs through TLS
	AuthScheme string // "SQL" or "NTLM"
}

// Output takes what a request produces. Values and events are valid only
// during the call. An error from it ends the request.
type Output interface {
	// Row is one row of the result set that the last Columns event announced.
	Row(values []types.Value) error
	// Event is anything else.
	Event(e Event) error
}

// Event is one of *Columns, *Done, *Message, *ReturnStatus, *OutParam,
// *EnvChange and *Flush.
type Event interface{ event() }

// Column describes a column of a result set.
type Column struct {
	Name     string
	Type     types.Type
	Nullable bool
	Identity bool
	Hidden   bool // beside what the query asks for: ROWSTAT of a server cursor
}

// Columns starts a result set.
type Columns struct{ Columns []Column }

// DoneKind tells DONE, DONEINPROC and DONEPROC apart.
type DoneKind uint8

// The three kinds of Done.
const (
	DoneStatement DoneKind = iota // DONE: a statement of the batch
	DoneInProc                    // DONEINPROC: a statement of a procedure
	DoneProc                      // DONEPROC: the end of a procedure
)

// Done ends a statement or a procedure.
type Done struct {
	Kind     DoneKind
	Count    int64 // rows, when HasCount
	HasCount bool
	Error    bool   // the statement failed
	InTran   bool   // a transaction is open
	Cmd      uint16 // CurCmd: CmdSelect ...
	More     bool   // more follows in this request; clear in the last one only
}

// CurCmd values of Done.
const (
	CmdSelect  uint16 = 0xC1
	CmdInsert  uint16 = 0xC3
	CmdDelete  uint16 = 0xC4
	CmdUpdate  uint16 = 0xC5
	CmdMerge   uint16 = 0x117
	CmdExecute uint16 = 0xE0
	CmdOther   uint16 = 0xFD
	// CmdSelectInto is what SELECT ... INTO reports: the rows are not sent.
	CmdSelectInto uint16 = 0xC1
)

// Message is an ERROR token (class 11 and up) or an INFO token (class 10 and
// below: PRINT, RAISERROR with a low severity, 5701 ...).
type Message struct{ Err *sqlerr.Error }

// ReturnStatus is the return value of a procedure.
type ReturnStatus struct{ Value int32 }

// OutParam is an OUTPUT parameter of a procedure that was called by Call.
type OutParam struct {
	Ordinal int // of the parameter in the call, from 0
	Name    string
	Type    types.Type
	Value   types.Value
}

// EnvKind is the kind of an EnvChange.
type EnvKind uint8

// What can change in a session's environment.
const (
	EnvDatabase EnvKind = iota + 1
	EnvLanguage
	EnvBeginTran    // Tran is the new descriptor
	EnvCommitTran   // Tran is the old descriptor
	EnvRollbackTran // Tran is the old descriptor
	EnvResetAck
)

// EnvChange tells the client of a change in the session's environment.
type EnvChange struct {
	Kind     EnvKind
	New, Old string
	Tran     uint64
}

// Flush asks that what was produced so far be sent now (RAISERROR .. WITH
// NOWAIT); it is no token.
type Flush struct{}

func (*Columns) event()      {}
func (*Done) event()         {}
func (*Message) event()      {}
func (*ReturnStatus) event() {}
func (*OutParam) event()     {}
func (*EnvChange) event()    {}
func (*Flush) event()        {}

// Call is a remote procedure call.
type Call struct {
	Proc          string // as sent: one to three parts, quoted or not
	Params        []Param
	NoMetadata    bool // fNoMetaData: the client knows the columns; Columns are sent all the same
	WithRecompile bool
}

// Param is a parameter of a Call.
type Param struct {
	Name    string // with @; "" = by position
	Type    types.Type
	Value   types.Value
	Table   *TableValue // for a table-valued parameter
	Output  bool
	Default bool // the procedure's default is asked for

	// local is the caller's table variable when a system procedure is called
	// from T-SQL, of the table localOf.
	local   *storage.Table
	localOf *catalog.Table
}

// TableValue is the value of a table-valued parameter. Schema and Name may be
// empty: then the procedure's parameter tells the type.
type TableValue struct {
	Schema, Name string
	Columns      []types.Type
	Rows         [][]types.Value
}
