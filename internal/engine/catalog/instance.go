// Package catalog holds what a server knows of its databases: schemas, tables,
// indexes, constraints, types and modules, and the rules for making them.
//
// Everything published is immutable: a change publishes new objects in a new
// snapshot of the database, so that looking a name up takes no lock.
package catalog

import (
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"gostress/internal/engine/sqlerr"
)

// Options configure an Instance.
type Options struct {
	ServerName string
	Now        func() time.Time // local time; nil = time.Now
	DataPath   string           // the directory shown for database files; default "/var/opt/mssql/data"
}

// Instance is a server's set of databases.
type Instance struct {
	opts    Options
	started time.Time
	mu      sync.Mutex // held by CREATE, ALTER and DROP DATABASE
	dbs     atomic.Pointer[databases]
	system  atomic.Pointer[map[string]*Table] // by folded schema.name
	logins  atomic.Pointer[[]Login]
}

type databases struct {
	byName map[string]*Database
	byID   map[int32]*Database
}

// Login is a server principal.
type Login struct {
	ID      int32
	Name    string
	Created time.Time
}

// System databases and their ids.
const (
	MasterID int32 = 1
	TempdbID int32 = 2
	ModelID  int32 = 3
	MsdbID   int32 = 4
)

// NewInstance returns an Instance with master, tempdb, model and msdb.
func NewInstance(o Options) *Instance {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.DataPath == "" {
		o.DataPath = "/var/opt/mssql/data"
	}
	in := &Instance{opts: o, started: o.Now()}
	in.dbs.Store(&databases{byName: map[string]*Database{}, byID: map[int32]*Database{}})
	in.system.Store(&map[string]*Table{})
	in.logins.Store(&[]Login{{ID: 1, Name: "sa", Created: in.started}})
	for i, name := range []string{"master", "tempdb", "model", "msdb"} {
		in.publish(newDatabase(in, name, int32(i)+1))
	}
	return in
}

// ServerName returns the name of the server.
func (in *Instance) ServerName() string { return in.opts.ServerName }

// Started returns when the instance was made.
func (in *Instance) Started() time.Time { return in.started }

// Now returns the local time by the instance's clock.
func (in *Instance) Now() time.Time { return in.opts.Now() }

// Database finds a database by name.
func (in *Instance) Database(name string) (*Database, bool) {
	db, ok := in.dbs.Load().byName[Fold(name)]
	return db, ok
}

// DatabaseByID finds a database by id.
func (in *Instance) DatabaseByID(id int32) (*Database, bool) {
	db, ok := in.dbs.Load().byID[id]
	return db, ok
}

// Databases returns all databases in the order of their ids.
func (in *Instance) Databases() []*Database {
	m := in.dbs.Load().byID
	list := make([]*Database, 0, len(m))
	for _, db := range m {
		list = append(list, db)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	return list
}

// CreateDatabase makes a database with default files. Error 1801: the name is taken.
func (in *Instance) CreateDatabase(name string) (*Database, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if _, ok := in.Database(name); ok {
		return nil, sqlerr.New(1801, 16, 3, "A database named '%s' is already there; choose another name.", name)
	}
	if name == "" || len([]rune(name)) > 128 {
		return nil, sqlerr.New(103, 15, 4, "The database name '%.128s' is empty or longer than 128 characters.", name)
	}
	id := int32(5)
	for in.dbs.Load().byID[id] != nil {
		id++
	}
	db := newDatabase(in, name, id)
	in.publish(db)
	return db, nil
}

// DropDatabase drops a database. Errors: 3701 no such database, 3708 a system
// database. Whether sessions use it (3702) is for the caller to know.
func (in *Instance) DropDatabase(name string) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	db, ok := in.Database(name)
	if !ok {
		return sqlerr.New(3701, 11, 1, "Cannot drop the database '%s': it is not there, or you may not drop it.", name)
	}
	if db.ID <= MsdbID {
		return sqlerr.New(3708, 16, 4, "Cannot drop the database '%s': it is a system database.", name)
	}
	in.edit(func(d *databases) {
		delete(d.byName, Fold(db.Name()))
		delete(d.byID, db.ID)
	})
	db.dropped.Store(true)
	return nil
}

func (in *Instance) publish(db *Database) {
	in.edit(func(d *databases) {
		d.byName[Fold(db.Name())] = db
		d.byID[db.ID] = db
	})
}

func (in *Instance) edit(fn func(d *databases)) {
	old := in.dbs.Load()
	d := &databases{byName: make(map[string]*Database, len(old.byName)+1), byID: make(map[int32]*Database, len(old.byID)+1)}
	for k, v := range old.byName {
		d.byName[k] = v
	}
	for k, v := range old.byID {
		d.byID[k] = v
	}
	fn(d)
	in.dbs.Store(d)
}

// SetSystem installs the system views that every database shows. Their Schema is
// sys or INFORMATION_SCHEMA.
func (in *Instance) SetSystem(views []*Table) {
	m := make(map[string]*Table, len(views))
	for _, v := range views {
		m[Fold(v.Schema)+"."+Fold(v.Name)] = v
	}
	in.system.Store(&m)
}

// SystemViews returns the installed system views, by schema and name.
func (in *Instance) SystemViews() []*Table {
	m := *in.system.Load()
	list := make([]*Table, 0, len(m))
	for _, v := range m {
		list = append(list, v)
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].Schema != list[j].Schema {
			return list[i].Schema < list[j].Schema
		}
		return list[i].Name < list[j].Name
	})
	return list
}

// Logins returns the server's logins.
func (in *Instance) Logins() []Login { return *in.logins.Load() }

// AddLogin adds a login that may connect; a name that is there already is kept.
func (in *Instance) AddLogin(name string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	old := in.Logins()
	for _, l := range old {
		if EqualName(l.Name, name) {
			return
		}
	}
	list := append(append([]Login(nil), old...), Login{ID: 256 + int32(len(old)), Name: name, Created: in.Now()})
	in.logins.Store(&list)
}
