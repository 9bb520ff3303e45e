package catalog

import (
	"context"

	"gostress/internal/engine/types"
)

// SystemQuery says for whom a system view's rows are made.
type SystemQuery struct {
	Context  context.Context
	Instance *Instance
	Database *Database   // the one whose sys schema was named
	Temp     *TempTables // of the session; may be nil
	SPID     int
	Live     any // what exec wants to hand to the views about sessions
}

// SystemRows makes the rows of a system view, one call of emit per row. The
// values belong to the receiver only during the call.
type SystemRows func(q SystemQuery, emit func(row []types.Value) error) error
