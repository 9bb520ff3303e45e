package exec

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/types"
)

// Session is one connection's state. It runs one request at a time; only SPID,
// Database, Kill and Killed may be called beside a running request.
type Session struct {
	e      *Engine
	spid   int
	opts   SessionOptions
	login  settings // what Reset goes back to
	start  string   // the database at login
	dbp    atomic.Pointer[catalog.Database]
	killed chan struct{}
	dead   atomic.Bool
	closed atomic.Bool
	live   live
	inside bool // a statement of it is inside the engine's gate
	alone  bool // it keeps the gate shut
	// tempLayout counts changes of the layout of #tables.
	tempLayout int64

	// The request that runs.
	ctx      context.Context
	done     <-chan struct{}
	em       emitter
	emitRow  func([]types.Value) error // sendRow, bound once
	frames   []*frame
	tries    int  // TRY blocks of callers that are active
	rpc      bool // the request is a Call: tokens are those of a procedure
	hadError bool
	capture  *capture
	caught   []*sqlerr.Error
	rc       int32
	outs     []types.Value
	result   types.Value

	set          settings
	tran         tran
	atomicDepth  int
	autos        []*storage.Tx // of the statements that run on their own
	hasTranLocks bool

	temp        *catalog.TempTables
	tempVersion int64
	ownPlans    map[planKey]*program
	ownProcs    map[*catalog.Procedure]*program
	prepared    map[int32]*prepared
	nextHandle  int32
	keptText    int // bytes of prepared
	cursors     map[string]*cursor
	apiCursors  map[int32]*apiCursor
	nextCursor  int32
	context     map[string]contextValue
	bulk        *bulkLoad

	rowCount       int64
	lastError      int32
	identity       types.Value
	fetchStatus    int32
	lastCursorRows int64
	rng            *rand.Rand
	pcg            *rand.PCG
}

func newSession(e *Engine, opts SessionOptions, db *catalog.Database) *Session {
	s := &Session{e: e, opts: opts, start: db.Name(), killed: make(chan struct{}), ctx: context.Background()}
	s.login = defaultSettings(opts)
	s.set = s.login
	s.dbp.Store(db)
	s.emitRow = s.sendRow
	s.pcg = rand.NewPCG(e.opts.Seed, e.seeds.Add(1))
	s.rng = rand.New(s.pcg)
	s.temp = &catalog.TempTables{}
	s.temp.Enter()
	s.live.open(e.opts.Now(), s)
	return s
}

// SPID is the session's number, from 51 on.
func (s *Session) SPID() int { return s.spid }

// Database is the name of the session's current database.
func (s *Session) Database() string { return s.dbp.Load().Name() }

// Language is the session's language name, for ENVCHANGE 2 at login.
func (s *Session) Language() string { return language }

// Rand is the next number of RAND() without a seed, in [0,1).
func (s *Session) Rand() float64 { return s.rng.Float64() }

// SeedRand restarts the session's random numbers, as RAND(seed) does.
func (s *Session) SeedRand(seed int64) { s.pcg.Seed(uint64(seed), 0x9E3779B97F4A7C15) }

// Now is the local time.
func (s *Session) Now() time.Time { return s.e.opts.Now() }

// InTransaction reports whether a transaction is open.
func (s *Session) InTransaction() bool { return s.tran.count > 0 }

// TransactionID is the descriptor of the open transaction, 0 when there is none.
func (s *Session) TransactionID() uint64 {
	if s.tran.count == 0 {
		return 0
	}
	return s.tran.id
}

// Reset puts the session back to what it was after login, as the RESETCONNECTION
// bit asks. keepTran keeps the open transaction (RESETCONNECTIONSKIPTRAN). The
// server sends ENVCHANGE 18 itself.
func (s *Session) Reset(keepTran bool) {
	s.ctx, s.done = context.Background(), nil
	s.em.start(discard{})
	if !keepTran && s.tran.count > 0 {
		_ = s.rollbackAll()
	}
	s.set = s.login
	s.clear()
	if db, ok := s.e.cat.Database(s.start); ok {
		s.dbp.Store(db)
	}
}

// clear drops what belongs to the session besides its options and transaction.
func (s *Session) clear() {
	s.temp.Clear()
	s.temp.Enter()
	s.tempVersion++
	s.ownPlans, s.ownProcs, s.context, s.bulk = nil, nil, nil, nil
	for _, c := range s.cursors {
		c.close()
	}
	s.cursors = nil
	for _, c := range s.apiCursors {
		c.close()
	}
	s.apiCursors = nil
	s.prepared, s.keptText = nil, 0
	s.rowCount, s.lastError, s.fetchStatus = 0, 0, 0
	s.identity = types.Value{}
	s.e.locks.releaseAll(lockOwner{s, false})
	s.live.reset()
}

// Close rolls back what is open and ends the session.
func (s *Session) Close() {
	if s.closed.Swap(true) {
		return
	}
	s.ctx, s.done = context.Background(), nil
	s.em.start(discard{})
	if s.tran.count > 0 {
		_ = s.rollbackAll()
	}
	s.clear()
	s.e.mu.Lock()
	delete(s.e.sessions, s.spid)
	s.e.mu.Unlock()
}

// Kill ends the session from outside (KILL): its request is cancelled, and
// Killed is closed so that the server drops the connection.
func (s *Session) Kill() {
	if !s.dead.Swap(true) {
		close(s.killed)
		s.live.cancelRequest()
	}
}

// Killed is closed when another session killed this one.
func (s *Session) Killed() <-chan struct{} { return s.killed }

func (s *Session) isKilled() bool { return s.dead.Load() }

// discard is an Output that nobody reads.
type discard struct{}

func (discard) Row([]types.Value) error { return nil }
func (discard) Event(Event) error       { return nil }

func foldName(s string) string { return strings.ToLower(s) }

func upper(s string) string { return strings.ToUpper(s) }

func itoa(n int) string { return strconv.Itoa(n) }
