package catalog

import (
	"strings"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// Classes of extended properties.
const (
	PropertyDatabase  uint8 = 0
	PropertyObject    uint8 = 1 // an object, or a column of it when MinorID is set
	PropertyParameter uint8 = 2
	PropertySchema    uint8 = 3
	PropertyType      uint8 = 6
	PropertyIndex     uint8 = 7
)

// ExtendedProperty is a property set by sp_addextendedproperty.
type ExtendedProperty struct {
	Class   uint8
	MajorID int32
	MinorID int32
	Name    string
	Value   types.Value
}

// Is reports whether the property belongs to a target.
func (p *ExtendedProperty) is(t PropertyTarget, name string) bool {
	return p.Class == t.Class && p.MajorID == t.MajorID && p.MinorID == t.MinorID && EqualName(p.Name, name)
}

// PropertyTarget is what an extended property belongs to.
type PropertyTarget struct {
	Class            uint8
	MajorID, MinorID int32
	Name             string // for messages
}

// ExtendedProperties returns all extended properties.
func (db *Database) ExtendedProperties() []ExtendedProperty { return db.snap.Load().props }

// PropertyTarget resolves the levels that sp_addextendedproperty takes; a level
// not given has an empty type. Error 15135: no such object.
func (db *Database) PropertyTarget(type0, name0, type1, name1, type2, name2 string) (PropertyTarget, error) {
	bad := func(name string) error {
		return sqlerr.New(15135, 16, 8, "The object is not valid. Extended properties are not permitted on '%s', or the object is not there.", name)
	}
	type0, type1, type2 = strings.ToUpper(type0), strings.ToUpper(type1), strings.ToUpper(type2)
	if type0 == "" {
		return PropertyTarget{Name: "object specified"}, nil
	}
	if type0 != "SCHEMA" && type0 != "USER" {
		return PropertyTarget{}, bad(name0)
	}
	sc, ok := db.Schema(name0)
	if !ok {
		return PropertyTarget{}, bad(name0)
	}
	if type1 == "" {
		return PropertyTarget{PropertySchema, sc.ID, 0, sc.Name}, nil
	}
	full := name0 + "." + name1
	if type1 == "TYPE" {
		if t, ok := db.TableType(name0, name1); ok {
			return PropertyTarget{PropertyType, t.ID, 0, full}, nil
		}
		if t, ok := db.AliasType(name0, name1); ok {
			return PropertyTarget{PropertyType, t.ID, 0, full}, nil
		}
		return PropertyTarget{}, bad(full)
	}
	o, ok := db.snap.Load().objects[key(name0, name1)]
	if !ok || !isLevel1(o, type1) {
		return PropertyTarget{}, bad(full)
	}
	target := PropertyTarget{PropertyObject, idOf(o), 0, full}
	if type2 == "" {
		return target, nil
	}
	target.Name = full + "." + name2
	switch o := o.(type) {
	case *Table:
		switch type2 {
		case "COLUMN":
			if i := o.Column(name2); i >= 0 {
				target.MinorID = o.Columns[i].ID
				return target, nil
			}
		case "INDEX":
			if i := o.Index(name2); i >= 0 {
				target.Class, target.MinorID = PropertyIndex, o.Indexes[i].ID
				return target, nil
			}
		case "CONSTRAINT":
			if c, ok := db.snap.Load().objects[key(name0, name2)].(*Constraint); ok && c.Table == o.ID {
				target.MajorID = c.ID
				return target, nil
			}
		}
	case *Procedure:
		if i := paramIndex(o.Params, name2); type2 == "PARAMETER" && i >= 0 {
			target.Class, target.MinorID = PropertyParameter, int32(i)+1
			return target, nil
		}
	case *Function:
		if i := paramIndex(o.Params, name2); type2 == "PARAMETER" && i >= 0 {
			target.Class, target.MinorID = PropertyParameter, int32(i)+1
			return target, nil
		}
	}
	return PropertyTarget{}, bad(target.Name)
}

func isLevel1(o any, kind string) bool {
	switch o := o.(type) {
	case *Table:
		return kind == "VIEW" && o.View != nil || kind == "TABLE" && o.View == nil
	case *Procedure:
		return kind == "PROCEDURE"
	case *Function:
		return kind == "FUNCTION"
	}
	return false
}

func idOf(o any) int32 {
	switch o := o.(type) {
	case *Table:
		return o.ID
	case *Procedure:
		return o.ID
	case *Function:
		return o.ID
	case *Constraint:
		return o.ID
	}
	return 0
}

func paramIndex(params []Param, name string) int {
	for i := range params {
		if EqualName(params[i].Name, name) {
			return i
		}
	}
	return -1
}

// AddProperty sets a new property. Error 15233: it is there already.
func (db *Database) AddProperty(u *Undo, t PropertyTarget, name string, v types.Value) error {
	return db.edit(u, func(s *snapshot) error {
		for i := range s.props {
			if s.props[i].is(t, name) {
				return sqlerr.New(15233, 16, 1, "The property cannot be added: '%s' is there already for '%s'.", name, t.Name)
			}
		}
		s.propSerial++
		s.props = append(s.props, ExtendedProperty{t.Class, t.MajorID, t.MinorID, name, v})
		return nil
	})
}

// UpdateProperty changes a property. Error 15217: it is not there.
func (db *Database) UpdateProperty(u *Undo, t PropertyTarget, name string, v types.Value) error {
	return db.edit(u, func(s *snapshot) error {
		for i := range s.props {
			if s.props[i].is(t, name) {
				s.propSerial++
				s.props[i].Value = v
				return nil
			}
		}
		return noProperty(t, name)
	})
}

// DropProperty removes a property. Error 15217: it is not there.
func (db *Database) DropProperty(u *Undo, t PropertyTarget, name string) error {
	return db.edit(u, func(s *snapshot) error {
		for i := range s.props {
			if s.props[i].is(t, name) {
				s.propSerial++
				s.props = append(s.props[:i], s.props[i+1:]...)
				return nil
			}
		}
		return noProperty(t, name)
	})
}

func noProperty(t PropertyTarget, name string) error {
	return sqlerr.New(15217, 16, 1, "The property cannot be changed or removed: '%s' is not there for '%s'.", name, t.Name)
}

// dropProperties removes the properties of an object that goes away.
func (s *snapshot) dropProperties(class uint8, id int32) {
	kept := s.props[:0]
	for _, p := range s.props {
		related := p.Class == class || class == PropertyObject && (p.Class == PropertyParameter || p.Class == PropertyIndex)
		if !related || p.MajorID != id {
			kept = append(kept, p)
		}
	}
	if len(kept) < len(s.props) {
		s.propSerial++
	}
	s.props = kept
}
