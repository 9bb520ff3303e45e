package exec

import (
	"strconv"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// other compiles the statements about the server, its databases and its
// objects. What it does not know is refused by name.
func (cc *compiler) other(st ast.Statement) (*code, error) {
	if cc.p.atomic != nil {
		return nil, sqlerr.New(10794, 16, 91, "The statement '%s' is not supported with natively compiled modules.", construct(st))
	}
	switch n := st.(type) {
	case *ast.CreateDatabaseStatement:
		return cc.server(func(s *Session) error {
			if _, err := s.e.cat.CreateDatabaseFrom(n); err != nil {
				return err
			}
			return nil
		}, "CREATE DATABASE"), nil
	case *ast.DropDatabaseStatement:
		return cc.server(func(s *Session) error { return s.dropDatabases(n) }, "DROP DATABASE"), nil
	case *ast.AlterDatabaseSetStatement:
		return cc.server(func(s *Session) error { return s.alterDatabaseSet(n) }, "ALTER DATABASE"), nil
	case *ast.CheckpointStatement:
		// Every table of this engine is in memory: there is nothing to write.
		return simple(func(*Session, *frame) error { return nil }), nil
	case *ast.KillStatement:
		return cc.kill(n)
	case *ast.DbccStatement:
		return cc.dbcc(n)
	case *ast.InsertBulkStatement:
		return cc.insertBulk(n)
	case *ast.AlterViewStatement:
		if n.IsMaterialized || n.SelectStatement == nil {
			return nil, sqlerr.Unsupported("ALTER MATERIALIZED VIEW")
		}
	case *ast.AlterDatabaseModifyFileStatement:
		if n.FileDeclaration == nil {
			return nil, sqlerr.Syntax("FILE")
		}
	case *ast.GrantStatement, *ast.DenyStatement, *ast.RevokeStatement:
		return nil, sqlerr.Unsupported(construct(st) + " (the embedded engine has no permissions: every login may do everything)")
	}
	if catalog.Handles(st) {
		return cc.definition(st)
	}
	if strings.HasPrefix(construct(st), "ALTER DATABASE") {
		return cc.server(func(s *Session) error {
			_, handled, err := s.e.cat.AlterDatabase(st, s.db())
			if err == nil && !handled {
				err = sqlerr.Unsupported(construct(st))
			}
			return err
		}, "ALTER DATABASE"), nil
	}
	return nil, sqlerr.Unsupported(construct(st))
}

// server wraps a statement about databases: not within a transaction.
func (cc *compiler) server(fn func(s *Session) error, what string) *code {
	return simple(func(s *Session, fr *frame) error {
		if s.tran.count > 0 {
			return sqlerr.New(226, 16, 6, "%s statement not allowed within a multi-statement transaction.", what)
		}
		err := fn(s)
		s.e.changed()
		return err
	})
}

func (s *Session) dropDatabases(n *ast.DropDatabaseStatement) error {
	for _, id := range n.Databases {
		db, ok := s.e.cat.Database(id.Value)
		if !ok && n.IsIfExists {
			continue
		}
		if ok {
			for _, o := range s.e.list() {
				if o.db() == db {
					return sqlerr.New(3702, 16, 3, "Cannot drop database \"%s\": it is in use.", id.Value)
				}
			}
		}
		if err := s.e.cat.DropDatabase(id.Value); err != nil {
			return err
		}
	}
	return nil
}

// alterDatabaseSet carries out ALTER DATABASE ... SET. SINGLE_USER and OFFLINE
// with ROLLBACK IMMEDIATE end the other sessions of the database, as they do on
// SQL Server.
func (s *Session) alterDatabaseSet(n *ast.AlterDatabaseSetStatement) error {
	db, handled, err := s.e.cat.AlterDatabase(n, s.db())
	if err != nil {
		return err
	}
	if !handled {
		return sqlerr.Unsupported("ALTER DATABASE SET")
	}
	if n.Termination != nil && n.Termination.ImmediateRollback && db != nil && db.Options().SingleUser {
		for _, o := range s.e.list() {
			if o != s && o.db() == db {
				o.Kill()
			}
		}
	}
	return nil
}

func (cc *compiler) kill(n *ast.KillStatement) (*code, error) {
	if n.WithStatusOnly {
		return nil, sqlerr.Unsupported("KILL ... WITH STATUSONLY")
	}
	x, err := cc.scalarAs(n.Parameter, types.Int)
	if err != nil {
		return nil, err
	}
	return simple(func(s *Session, fr *frame) error {
		v, err := x.Eval(&fr.Frame)
		if err != nil {
			return err
		}
		spid := int(v.Int())
		if spid == s.spid {
			return sqlerr.New(6104, 16, 1, "KILL cannot be used to end your own process.")
		}
		if s.tran.count > 0 {
			return sqlerr.New(6115, 16, 1, "KILL cannot be used inside user transactions.")
		}
		o := s.e.session(spid)
		if o == nil {
			return sqlerr.New(6106, 16, 2, "Process ID %d is not an active process ID.", spid)
		}
		o.Kill()
		return nil
	}), nil
}

// dbcc compiles the DBCC commands that mean something here.
func (cc *compiler) dbcc(n *ast.DbccStatement) (*code, error) {
	name := strings.ToUpper(n.Command)
	if n.DllName != "" {
		name = strings.ToUpper(n.DllName)
	}
	quietly := false
	for _, o := range n.Options {
		quietly = quietly || strings.Contains(foldName(strings.ReplaceAll(o.OptionKind, "_", "")), "noinfomsgs")
	}
	line := int(cc.in.line)
	completed := func(s *Session) error {
		if quietly {
			return nil
		}
		return s.info(2528, 1, 0, line, "DBCC execution completed. If DBCC printed error messages, see your system administrator.")
	}
	switch strings.ReplaceAll(name, "_", "") {
	case "FREEPROCCACHE", "FREESYSTEMCACHE", "FREESESSIONCACHE":
		return simple(func(s *Session, fr *frame) error {
			s.e.plans.clear()
			s.e.changed()
			return completed(s)
		}), nil
	case "OPENTRAN":
		return simple(func(s *Session, fr *frame) error {
			if err := s.info(7969, 1, 0, line, "No active open transactions."); err != nil {
				return err
			}
			return completed(s)
		}), nil
	case "CHECKIDENT":
		return cc.checkIdent(n, completed)
	case "TRACEON", "TRACEOFF":
		return nil, sqlerr.Unsupported("DBCC " + name)
	}
	return nil, sqlerr.Unsupported("DBCC " + name)
}

// checkIdent is DBCC CHECKIDENT (table [, NORESEED | RESEED [, value]]).
func (cc *compiler) checkIdent(n *ast.DbccStatement, completed func(s *Session) error) (*code, error) {
	if len(n.Literals) == 0 {
		return nil, sqlerr.Syntax("CHECKIDENT")
	}
	text := func(l *ast.DbccNamedLiteral) string {
		if t := literalText(l.Value); t != "" {
			return t
		}
		return l.Name
	}
	name, err := parseName(text(n.Literals[0]))
	if err != nil {
		return nil, err
	}
	mode, value := "RESEED", ""
	if len(n.Literals) > 1 {
		mode = strings.ToUpper(text(n.Literals[1]))
	}
	if len(n.Literals) > 2 {
		value = text(n.Literals[2])
	}
	db, p, line := cc.db, cc.p, int(cc.in.line)
	return simple(func(s *Session, fr *frame) error {
		t, _, err := s.table(db, p, name)
		if err != nil {
			return sqlerr.New(2501, 16, 45, "Cannot find a table or object with the name \"%s\". Check the system catalog.", nameText(name))
		}
		if t.MemoryOptimized {
			return sqlerr.New(12320, 16, 1, "Operations that need a change to the identity of a memory-optimized table, such as DBCC CHECKIDENT, are not supported with memory-optimized tables.")
		}
		if t.Identity == nil {
			return sqlerr.New(7997, 16, 1, "'%s' has no identity column.", nameText(name))
		}
		old := "NULL"
		if v, ok := t.Identity.Last(); ok {
			old = strconv.FormatInt(v, 10)
		}
		if value != "" && mode == "RESEED" {
			v, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return sqlerr.Syntax(value)
			}
			t.Identity.Reseed(v)
		}
		if err := s.info(7998, 1, 0, line, "Checking identity information: current identity value '"+old+"'."); err != nil {
			return err
		}
		return completed(s)
	}), nil
}
