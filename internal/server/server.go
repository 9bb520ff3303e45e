// Package server puts TDS in front of the embedded engine: it listens, ends
// TLS, checks logins, reads requests and answers them with what a session of
// the engine produces. One goroutine serves one connection; while a request
// runs for long, a second one watches for the client's cancel.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"go.uber.org/zap"

	"gostress/internal/engine/exec"
)

// Options configure Serve. Listener and Engine are required.
type Options struct {
	Listener net.Listener
	Engine   *exec.Engine
	// Users are the SQL logins and their passwords. Names are compared without
	// case, as SQL Server does under its default collation.
	Users map[string]string
	// TrustLocal admits trusted logins (NTLM) from any user of this machine.
	// Otherwise the client's socket must belong to the server's own user,
	// which can be told on Linux only.
	TrustLocal bool
	// RequireEncryption refuses clients that do not encrypt the connection.
	RequireEncryption bool
	// Certificate is for TLS; nil makes a self-signed one.
	Certificate *tls.Certificate
	// ServerName stands in the messages of failed logins; "" = the host's name.
	ServerName string
	Logger     *zap.Logger // nil = silent
	// PreloginTimeout is how long a client may take to say its first word, 0 =
	// 5 s; LoginTimeout until it is logged in, 0 = 15 s.
	PreloginTimeout, LoginTimeout time.Duration
	// FailureDelay is how long the answer to a first failed login waits; it
	// doubles with each further failure of the same address, up to 16 times as
	// long. 0 = 50 ms.
	FailureDelay time.Duration
	// MaxPending is how many connections may be logging in at once, 0 = 512.
	// More wait to be accepted.
	MaxPending int
	// MaxRequest is a request's largest size in bytes, 0 = 64 MiB.
	MaxRequest int

	open opener // tests script the sessions
}

// runner carries out requests; see exec.Session.
type runner interface {
	Batch(ctx context.Context, text string, out exec.Output) error
	Call(ctx context.Context, c *exec.Call, out exec.Output) error
}

// transactor carries out transaction manager requests; see exec.Session.
type transactor interface {
	Begin(ctx context.Context, iso uint8, name string, out exec.Output) error
	Commit(ctx context.Context, begin bool, iso uint8, name string, out exec.Output) error
	Rollback(ctx context.Context, name string, begin bool, iso uint8, beginName string, out exec.Output) error
	Save(ctx context.Context, name string, out exec.Output) error
}

// session is what the server needs of an *exec.Session.
type session interface {
	runner
	transactor
	SPID() int
	Database() string
	Language() string
	Reset(keepTran bool)
	Killed() <-chan struct{}
	Close()
}

type opener func(exec.SessionOptions) (session, error)

// server is what all connections share.
type server struct {
	opts   Options
	open   opener
	log    *zap.Logger
	tls    *tls.Config // inside PRELOGIN
	strict *tls.Config // TDS 8
	users  map[string][32]byte
	fails  *failures
	slots  chan struct{}
	bufs   *buffers
	sentry *sentry
	ctx    context.Context // ends with the server; requests derive from it

	mu    sync.Mutex
	conns map[*conn]struct{}
	done  bool
	wg    sync.WaitGroup
}

// Serve accepts connections until ctx ends; then it cancels what runs, closes
// all sessions and returns nil. Any other error is the listener's.
func Serve(ctx context.Context, opts Options) error {
	s, err := newServer(ctx, opts)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, s.shutdown)
	defer stop()
	defer s.wg.Wait()
	defer s.shutdown()
	for {
		select {
		case s.slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		nc, err := opts.Listener.Accept()
		if err != nil {
			<-s.slots
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) && s.isDone() {
				return nil
			}
			var ne net.Error
			if errors.As(err, &ne) && ne.Timeout() || isResourceError(err) {
				s.log.Warn("cannot accept a connection", zap.Error(err))
				select {
				case <-time.After(50 * time.Millisecond):
				case <-ctx.Done():
				}
				continue
			}
			return err
		}
		c := newConn(s, nc)
		if !s.add(c) {
			<-s.slots
			_ = nc.Close()
			continue
		}
		go c.start()
	}
}

func newServer(ctx context.Context, opts Options) (*server, error) {
	if opts.PreloginTimeout == 0 {
		opts.PreloginTimeout = 5 * time.Second
	}
	if opts.LoginTimeout == 0 {
		opts.LoginTimeout = 15 * time.Second
	}
	if opts.FailureDelay == 0 {
		opts.FailureDelay = 50 * time.Millisecond
	}
	if opts.MaxPending == 0 {
		opts.MaxPending = 512
	}
	if opts.Logger == nil {
		opts.Logger = zap.NewNop()
	}
	if opts.ServerName == "" {
		opts.ServerName, _ = os.Hostname()
	}
	s := &server{
		opts: opts, open: opts.open, log: opts.Logger, ctx: ctx,
		users: hashUsers(opts.Users), fails: newFailures(opts.FailureDelay),
		slots: make(chan struct{}, opts.MaxPending), bufs: newBuffers(), conns: map[*conn]struct{}{},
	}
	if s.open == nil {
		s.open = func(o exec.SessionOptions) (session, error) {
			es, err := opts.Engine.Open(o)
			if err != nil {
				return nil, err
			}
			return es, nil
		}
	}
	if err := s.configureTLS(opts.Certificate); err != nil {
		return nil, err
	}
	s.sentry = newSentry(s)
	s.opts.Users = nil // only their hashes stay
	return s, nil
}

func (s *server) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return false
	}
	s.conns[c] = struct{}{}
	s.wg.Add(1)
	return true
}

func (s *server) remove(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.wg.Done()
}

func (s *server) isDone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done
}

// list is the open connections, appended to l.
func (s *server) list(l []*conn) []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		l = append(l, c)
	}
	return l
}

// shutdown stops accepting and ends the connections: idle ones at once, the
// others when their request, whose context has ended, has said so to its client.
func (s *server) shutdown() {
	s.mu.Lock()
	again := s.done
	s.done = true
	s.mu.Unlock()
	if again {
		return
	}
	_ = s.opts.Listener.Close()
	s.sentry.stop()
	for _, c := range s.list(nil) {
		c.endSoon()
	}
}
