package catalog

import "gostress/internal/engine/types"

// ExtendedProperty is a property set by sp_addextendedproperty.
type ExtendedProperty struct {
	Class   uint8 // 0 database, 1 object or column, 3 schema, 6 type
	MajorID int32
	MinorID int32
	Name    string
	Value   types.Value
}

// ExtendedProperties returns all extended properties.
func (db *Database) ExtendedProperties() []ExtendedProperty { return db.snap.Load().props }
