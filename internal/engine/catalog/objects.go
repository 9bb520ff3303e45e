package catalog

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
)

// firstObjectID and objectIDStep make ids that look like SQL Server's.
const (
	firstObjectID int32 = 565577053
	objectIDStep  int32 = 16000057
)

// Constraint is a named constraint of a table. Its details are in the Table.
type Constraint struct {
	ID           int32
	Schema, Name string
	Kind         ConstraintKind
	Table        int32 // object id
}

// ConstraintKind is the type code of a constraint in sys.objects.
type ConstraintKind string

// The kinds of constraints.
const (
	PrimaryKeyConstraint ConstraintKind = "PK"
	UniqueConstraint     ConstraintKind = "UQ"
	CheckConstraint      ConstraintKind = "C"
	DefaultConstraint    ConstraintKind = "D"
	ForeignKeyConstraint ConstraintKind = "F"
)

// newID returns an object id that nobody has.
func (s *snapshot) newID() int32 {
	for {
		id := s.nextID
		next := int64(s.nextID) + int64(objectIDStep)
		if next > 1<<31-1 {
			next -= 1<<31 - 1
		}
		s.nextID = int32(next)
		if _, ok := s.byID[id]; !ok && id > 100 {
			return id
		}
	}
}

func (s *snapshot) taken(schema, name string) error {
	if _, ok := s.objects[key(schema, name)]; ok {
		return nameTaken(name)
	}
	return nil
}

func nameTaken(name string) error {
	return sqlerr.New(2714, 16, 6, "An object named '%s' is in the database already.", name)
}

func (s *snapshot) schema(name string) (*Schema, error) {
	sc, ok := s.schemas[Fold(name)]
	if !ok {
		return nil, sqlerr.New(2760, 16, 1, "The schema name \"%s\" is not there, or you may not use it.", name)
	}
	return sc, nil
}

// putTable registers a table and its constraints, giving ids to what has none.
func (s *snapshot) putTable(t *Table) error {
	if t.ID == 0 {
		if err := s.taken(t.Schema, t.Name); err != nil {
			return err
		}
		t.ID = s.newID()
	}
	old, _ := s.byID[t.ID].(*Table)
	had := map[int32]bool{}
	if old != nil {
		for _, c := range old.Constraints() {
			had[c.ID] = true
			delete(s.objects, key(c.Schema, c.Name))
			delete(s.byID, c.ID)
		}
	}
	s.objects[key(t.Schema, t.Name)] = t
	s.byID[t.ID] = t
	t.numberConstraints(s.newID)
	for _, c := range t.Constraints() {
		if err := s.taken(c.Schema, c.Name); err != nil {
			return err
		}
		s.objects[key(c.Schema, c.Name)] = c
		s.byID[c.ID] = c
	}
	return nil
}

func (s *snapshot) removeTable(t *Table) {
	for _, c := range t.Constraints() {
		delete(s.objects, key(c.Schema, c.Name))
		delete(s.byID, c.ID)
	}
	delete(s.objects, key(t.Schema, t.Name))
	delete(s.byID, t.ID)
	s.dropProperties(1, t.ID)
}

// numberConstraints gives ids to the constraints that have none.
func (t *Table) numberConstraints(newID func() int32) {
	number := func(id *int32) {
		if *id == 0 {
			*id = newID()
		}
	}
	for i := range t.Columns {
		if d := t.Columns[i].Default; d != nil {
			number(&d.ID)
		}
	}
	for i := range t.Indexes {
		if t.Indexes[i].Constraint {
			number(&t.Indexes[i].ConstraintID)
		}
	}
	for i := range t.Checks {
		number(&t.Checks[i].ID)
	}
	for i := range t.ForeignKeys {
		number(&t.ForeignKeys[i].ID)
	}
}

// Constraints lists the table's named constraints.
func (t *Table) Constraints() []*Constraint {
	var list []*Constraint
	add := func(id int32, name string, kind ConstraintKind) {
		list = append(list, &Constraint{ID: id, Schema: t.Schema, Name: name, Kind: kind, Table: t.ID})
	}
	for i := range t.Indexes {
		switch x := &t.Indexes[i]; {
		case x.PrimaryKey:
			add(x.ConstraintID, x.Name, PrimaryKeyConstraint)
		case x.Constraint:
			add(x.ConstraintID, x.Name, UniqueConstraint)
		}
	}
	for i := range t.Checks {
		add(t.Checks[i].ID, t.Checks[i].Name, CheckConstraint)
	}
	for i := range t.Columns {
		if d := t.Columns[i].Default; d != nil {
			add(d.ID, d.Name, DefaultConstraint)
		}
	}
	for i := range t.ForeignKeys {
		add(t.ForeignKeys[i].ID, t.ForeignKeys[i].Name, ForeignKeyConstraint)
	}
	return list
}

// clone returns a copy whose slices may be changed.
func (t *Table) clone() *Table {
	c := *t
	c.Columns = append([]Column(nil), t.Columns...)
	c.Indexes = append([]Index(nil), t.Indexes...)
	c.Checks = append([]Check(nil), t.Checks...)
	c.ForeignKeys = append([]ForeignKey(nil), t.ForeignKeys...)
	return &c
}

func (d *DDL) defaultSchema() string { return "dbo" }

// target resolves the name of an object of this database; other databases and
// servers are refused.
func (d *DDL) target(n *ast.SchemaObjectName) (Name, error) {
	name := NameOf(n)
	if name.Server != "" {
		return name, sqlerr.New(117, 15, 1, "The object name '%s' has too many parts; 3 is the largest number here.", dotted(name))
	}
	if name.Schema == "" {
		name.Schema = d.defaultSchema()
	}
	return name, nil
}
