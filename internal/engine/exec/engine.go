package exec

import (
	"math/rand/v2"
	"os"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/dmv"
	"gostress/internal/engine/sqlerr"
)

// productVersion is the SQL Server version whose language the engine speaks;
// clients parse the leading number.
const productVersion = "16.0.4000.1"

// Engine is an instance: its databases, its sessions and its plans.
type Engine struct {
	opts    Options
	cat     *catalog.Instance
	started time.Time
	plans   *planCache
	// version counts the DDL statements of the instance. Compiled statements
	// carry the version they were compiled at and are compiled anew when it
	// has moved.
	version atomic.Int64
	procs   sync.Map // *catalog.Procedure -> *program
	locks   appLocks
	trans   atomic.Uint64 // the last transaction id given to a client
	seeds   atomic.Uint64

	parsing     chan struct{} // a place for each long text that is parsed at once
	cursorBytes atomic.Int64  // that the rows of open cursors take

	retired retired
	gate    *gate

	mu       sync.Mutex
	sessions map[int]*Session
	nextSPID int
}

// New makes an engine with empty system databases.
func New(opts Options) *Engine {
	if opts.Version == "" {
		opts.Version = "dev"
	}
	if opts.ServerName == "" {
		opts.ServerName, _ = os.Hostname()
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.PlanCache == 0 {
		opts.PlanCache = 1000
	}
	if opts.CursorMemory == 0 {
		opts.CursorMemory = 256 << 20
	}
	if opts.Seed == 0 {
		opts.Seed = rand.Uint64()
	}
	e := &Engine{opts: opts, gate: newGate(), parsing: make(chan struct{}, maxLongParses), sessions: map[int]*Session{}, nextSPID: 51}
	e.started = opts.Now()
	e.plans = newPlanCache(opts.PlanCache)
	e.cat = newCatalog(e)
	return e
}

// Catalog returns the instance's databases.
func (e *Engine) Catalog() *catalog.Instance { return e.cat }

// Open opens a session. The error is an *sqlerr.Error: 4060 when the database
// is not there.
func (e *Engine) Open(opts SessionOptions) (*Session, error) {
	if opts.Database == "" {
		opts.Database = "master"
	}
	db, ok := e.cat.Database(opts.Database)
	if !ok {
		return nil, sqlerr.New(4060, 11, 1, "Database \"%s\" cannot be opened at login: it does not exist or is not accessible.", opts.Database)
	}
	if opts.PacketSize == 0 {
		opts.PacketSize = 4096
	}
	if opts.AuthScheme == "" {
		opts.AuthScheme = "SQL"
	}
	s := newSession(e, opts, db)
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.sessions[e.nextSPID] != nil {
		e.nextSPID = nextSPID(e.nextSPID)
	}
	s.spid = e.nextSPID
	e.nextSPID = nextSPID(e.nextSPID)
	e.sessions[s.spid] = s
	return s, nil
}

// nextSPID goes around within TDS's 16 bits; user sessions start at 51.
func nextSPID(n int) int {
	if n >= 32767 {
		return 51
	}
	return n + 1
}

// list returns the open sessions by SPID.
func (e *Engine) list() []*Session {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := make([]*Session, 0, len(e.sessions))
	for _, s := range e.sessions {
		l = append(l, s)
	}
	sort.Slice(l, func(i, j int) bool { return l[i].spid < l[j].spid })
	return l
}

// changed makes compiled code out of date: the catalog changed.
func (e *Engine) changed() {
	e.version.Add(1)
	e.procs.Clear()
}

// session returns the open session of that SPID, or nil.
func (e *Engine) session(spid int) *Session {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sessions[spid]
}

// newCatalog makes the instance's databases and the system views they show.
func newCatalog(e *Engine) *catalog.Instance {
	in := catalog.NewInstance(catalog.Options{ServerName: e.opts.ServerName, Now: e.opts.Now, DataPath: dataPath})
	dmv.Install(in, e)
	return in
}
