package target

import (
	"context"
	"strings"
	"sync"

	"github.com/golang-sql/sqlexp"
	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// logFlags are the parts of go-mssqldb's log that watcher needs.
const logFlags = msdsn.LogTransaction | msdsn.LogErrors

// callKey finds, in the context of a request, its call.
type callKey struct{}

// callContext is the context of a request as go-mssqldb sees it.
type callContext struct {
	context.Context
	call *call
}

func (c *callContext) Value(key any) any {
	if key == (callKey{}) {
		return c.call
	}
	return c.Context.Value(key)
}

// watcher reads go-mssqldb's log, on the goroutine that reads the response. It is
// the only public sign of two things: the environment changes that begin and end
// transactions, and a response that cannot be read, which go-mssqldb does not
// tell its message queue, so that a request would wait there for ever.
type watcher struct{}

func (watcher) Log(ctx context.Context, category msdsn.Log, msg string) {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return
	}
	switch category {
	case msdsn.LogTransaction:
		c.s.tran.Store(strings.HasPrefix(msg, "BEGIN"))
	case msdsn.LogErrors:
		if strings.HasPrefix(msg, "BeginRead failed") {
			_ = sqlexp.ReturnMessageEnqueue(ctx, &c.queue, sqlexp.MsgNextResultSet{})
		}
	}
}

// go-mssqldb has one logger for all connections, so it is set once.
var useLogger = sync.OnceFunc(func() { mssql.SetContextLogger(watcher{}) })
