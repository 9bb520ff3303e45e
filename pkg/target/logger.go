package target

import (
	"context"
	"strings"
	"sync"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// tranKey finds, in the context of a request, the mark of an open transaction.
type tranKey struct{}

// tranLogger reads go-mssqldb's log of transactions, the only public sign of the
// environment changes that begin and end them.
type tranLogger struct{}

func (tranLogger) Log(ctx context.Context, category msdsn.Log, msg string) {
	if category != msdsn.LogTransaction {
		return
	}
	if open, ok := ctx.Value(tranKey{}).(*bool); ok {
		*open = strings.HasPrefix(msg, "BEGIN")
	}
}

// go-mssqldb has one logger for all connections, so it is set once.
var useLogger = sync.OnceFunc(func() { mssql.SetContextLogger(tranLogger{}) })
