package catalog

import (
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gostress/internal/engine/storage"
)

// Database is one database.
type Database struct {
	ID      int32
	Created time.Time
	Store   *storage.Store

	instance *Instance
	version  atomic.Int64
	dropped  atomic.Bool
	mu       sync.Mutex // held while a new snapshot is made
	snap     atomic.Pointer[snapshot]
}

// snapshot is the state of a database's catalog at one moment. It never changes.
type snapshot struct {
	name    string
	options DatabaseOptions
	schemas map[string]*Schema // by folded name
	objects map[string]any     // by folded schema.name: *Table, *Procedure, *Function
	byID    map[int32]any      // the same objects, and constraints' owners
	types   map[string]any     // by folded schema.name: *TableType, *AliasType
	props   []ExtendedProperty
	groups  []FileGroup
	files   []File
	nextID  int32 // seed of object ids
	nextTyp int32
	nextSch int32

	propSerial, fileSerial int // change with props, and with groups and files
}

func newDatabase(in *Instance, name string, id int32) *Database {
	db := &Database{ID: id, Created: in.Now(), Store: storage.NewStore(), instance: in}
	s := &snapshot{
		name:    name,
		options: defaultOptions(id),
		schemas: map[string]*Schema{},
		objects: map[string]any{},
		byID:    map[int32]any{},
		types:   map[string]any{},
		nextID:  firstObjectID,
		nextTyp: 257,
		nextSch: 5,
	}
	for i, n := range []string{"dbo", "guest", "INFORMATION_SCHEMA", "sys"} {
		s.schemas[Fold(n)] = &Schema{ID: int32(i) + 1, Name: n, Owner: n}
	}
	s.defaultFiles(in.opts.DataPath)
	db.snap.Store(s)
	return db
}

// Name returns the database's name.
func (db *Database) Name() string { return db.snap.Load().name }

// Instance returns the instance the database belongs to.
func (db *Database) Instance() *Instance { return db.instance }

// Version changes with every change of the catalog: a plan compiled at one
// version is valid while the version stays.
func (db *Database) Version() int64 { return db.version.Load() }

// Dropped reports whether the database was dropped.
func (db *Database) Dropped() bool { return db.dropped.Load() }

// Options returns the database's options.
func (db *Database) Options() DatabaseOptions { return db.snap.Load().options }

func key(schema, name string) string {
	if schema == "" {
		schema = "dbo"
	}
	return Fold(schema) + "." + Fold(name)
}

// Table finds a table, view or system view. An empty schema means dbo, and for
// the compatibility views (sysobjects ...) sys.
func (db *Database) Table(schema, name string) (*Table, bool) {
	if t, ok := db.snap.Load().objects[key(schema, name)].(*Table); ok {
		return t, true
	}
	if schema == "" {
		if len(name) < 3 || !strings.EqualFold(name[:3], "sys") {
			return nil, false
		}
		schema = "sys"
	}
	t, ok := (*db.instance.system.Load())[key(schema, name)]
	return t, ok
}

// Procedure finds a stored procedure.
func (db *Database) Procedure(schema, name string) (*Procedure, bool) {
	p, ok := db.snap.Load().objects[key(schema, name)].(*Procedure)
	return p, ok
}

// Function finds a user-defined function.
func (db *Database) Function(schema, name string) (*Function, bool) {
	f, ok := db.snap.Load().objects[key(schema, name)].(*Function)
	return f, ok
}

// TableType finds a user-defined table type.
func (db *Database) TableType(schema, name string) (*TableType, bool) {
	t, ok := db.snap.Load().types[key(schema, name)].(*TableType)
	return t, ok
}

// AliasType finds a type made by CREATE TYPE ... FROM.
func (db *Database) AliasType(schema, name string) (*AliasType, bool) {
	t, ok := db.snap.Load().types[key(schema, name)].(*AliasType)
	return t, ok
}

// Schema finds a schema by name.
func (db *Database) Schema(name string) (*Schema, bool) {
	s, ok := db.snap.Load().schemas[Fold(name)]
	return s, ok
}

// SchemaByID finds a schema by id.
func (db *Database) SchemaByID(id int32) (*Schema, bool) {
	for _, s := range db.snap.Load().schemas {
		if s.ID == id {
			return s, true
		}
	}
	return nil, false
}

// Schemas returns the schemas in the order of their ids.
func (db *Database) Schemas() []*Schema {
	m := db.snap.Load().schemas
	list := make([]*Schema, 0, len(m))
	for _, s := range m {
		list = append(list, s)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	return list
}

// Object finds any object by name: *Table, *Procedure or *Function (system views
// included).
func (db *Database) Object(schema, name string) (any, bool) {
	if o, ok := db.snap.Load().objects[key(schema, name)]; ok {
		return o, true
	}
	if t, ok := db.Table(schema, name); ok {
		return t, true
	}
	return nil, false
}

// ObjectByID finds an object by id: *Table, *Procedure, *Function, a *TableType
// by its table's id, or a constraint as Constraint.
func (db *Database) ObjectByID(id int32) (any, bool) {
	s := db.snap.Load()
	if o, ok := s.byID[id]; ok {
		return o, true
	}
	for _, t := range *db.instance.system.Load() {
		if t.ID == id {
			return t, true
		}
	}
	return nil, false
}

// TableByID finds a table or view by id.
func (db *Database) TableByID(id int32) (*Table, bool) {
	t, ok := db.snap.Load().byID[id].(*Table)
	return t, ok
}

// Tables returns the user tables and views in the order of their ids.
func (db *Database) Tables() []*Table {
	return objectsOf[*Table](db, func(t *Table) int32 { return t.ID })
}

// Procedures returns the stored procedures in the order of their ids.
func (db *Database) Procedures() []*Procedure {
	return objectsOf[*Procedure](db, func(p *Procedure) int32 { return p.ID })
}

// Functions returns the user-defined functions in the order of their ids.
func (db *Database) Functions() []*Function {
	return objectsOf[*Function](db, func(f *Function) int32 { return f.ID })
}

func objectsOf[T any](db *Database, id func(T) int32) []T {
	var list []T
	for _, o := range db.snap.Load().objects {
		if t, ok := o.(T); ok {
			list = append(list, t)
		}
	}
	sort.Slice(list, func(i, j int) bool { return id(list[i]) < id(list[j]) })
	return list
}

// TableTypes returns the table types in the order of their ids.
func (db *Database) TableTypes() []*TableType {
	var list []*TableType
	for _, o := range db.snap.Load().types {
		if t, ok := o.(*TableType); ok {
			list = append(list, t)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	return list
}

// AliasTypes returns the alias types in the order of their ids.
func (db *Database) AliasTypes() []*AliasType {
	var list []*AliasType
	for _, o := range db.snap.Load().types {
		if t, ok := o.(*AliasType); ok {
			list = append(list, t)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	return list
}

// Reference is a foreign key that refers to a table.
type Reference struct {
	Table *Table // the one that has the key
	Key   *ForeignKey
}

// References returns the foreign keys that refer to a table, disabled ones included.
func (db *Database) References(id int32) []Reference {
	var list []Reference
	for _, t := range db.Tables() {
		for i := range t.ForeignKeys {
			if t.ForeignKeys[i].RefTable == id {
				list = append(list, Reference{t, &t.ForeignKeys[i]})
			}
		}
	}
	return list
}

// edit publishes a changed snapshot and a new version. u, when not nil, takes the
// change back on rollback.
func (db *Database) edit(u *Undo, fn func(s *snapshot) error) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	old := db.snap.Load()
	s := old.clone()
	if err := fn(s); err != nil {
		return err
	}
	db.snap.Store(s)
	db.version.Add(1)
	u.add(func() { db.revert(old, s) })
	return nil
}

// revert puts back what differs between two snapshots, leaving alone what others
// have changed since.
func (db *Database) revert(from, to *snapshot) {
	db.mu.Lock()
	defer db.mu.Unlock()
	s := db.snap.Load().clone()
	revertMap(s.schemas, from.schemas, to.schemas)
	revertMap(s.objects, from.objects, to.objects)
	revertMap(s.byID, from.byID, to.byID)
	revertMap(s.types, from.types, to.types)
	if from.propSerial != to.propSerial {
		s.props, s.propSerial = from.props, s.propSerial+1
	}
	if from.fileSerial != to.fileSerial {
		s.groups, s.files, s.fileSerial = from.groups, from.files, s.fileSerial+1
	}
	if from.options != to.options {
		s.options = from.options
	}
	db.snap.Store(s)
	db.version.Add(1)
}

func revertMap[K comparable, V comparable](m, from, to map[K]V) {
	for k, v := range to {
		if old, ok := from[k]; !ok {
			delete(m, k)
		} else if old != v {
			m[k] = old
		}
	}
	for k, v := range from {
		if _, ok := to[k]; !ok {
			m[k] = v
		}
	}
}

func (s *snapshot) clone() *snapshot {
	c := *s
	c.schemas = cloneMap(s.schemas)
	c.objects = cloneMap(s.objects)
	c.byID = cloneMap(s.byID)
	c.types = cloneMap(s.types)
	c.props = append([]ExtendedProperty(nil), s.props...)
	c.groups = append([]FileGroup(nil), s.groups...)
	c.files = append([]File(nil), s.files...)
	return &c
}

func cloneMap[K comparable, V any](m map[K]V) map[K]V {
	c := make(map[K]V, len(m)+1)
	for k, v := range m {
		c[k] = v
	}
	return c
}
