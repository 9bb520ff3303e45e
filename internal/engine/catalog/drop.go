package catalog

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
)

// missingObject is 3701 for what DROP does not find.
func missingObject(what string, n *ast.SchemaObjectName) error {
	return sqlerr.New(3701, 11, 5, "Cannot drop the %s '%s': it is not there, or you may not drop it.", what, dotted(NameOf(n)))
}

func (d *DDL) dropTables(st ast.Statement) error {
	s := st.(*ast.DropTableStatement)
	for _, n := range s.Objects {
		if err := d.dropTable(n, s.IsIfExists); err != nil {
			return sqlerr.AtLine(err, tsql.Line(n))
		}
	}
	return nil
}

func (d *DDL) dropTable(n *ast.SchemaObjectName, ifExists bool) error {
	name, err := d.target(n)
	if err != nil {
		return err
	}
	if d, err = d.in(name); err != nil {
		return err
	}
	if local(name.Object) {
		t, ok := d.Temp.Table(name.Object)
		if !ok {
			if ifExists {
				return nil
			}
			return missingObject("table", n)
		}
		d.Temp.drop(d.Undo, t)
		return nil
	}
	return d.DB.edit(d.Undo, func(sn *snapshot) error {
		o := sn.objects[key(name.Schema, name.Object)]
		t, ok := o.(*Table)
		if !ok && o != nil {
			return wrongKind(name, "TABLE", o)
		}
		if !ok {
			if ifExists {
				return nil
			}
			return missingObject("table", n)
		}
		if t.View != nil {
			return wrongKind(name, "TABLE", o)
		}
		if t.MemoryOptimized && d.UserTran {
			return sqlerr.New(12331, 16, 1, "CREATE, ALTER and DROP inside user transactions are not supported with memory optimized tables.")
		}
		for _, r := range d.DB.References(t.ID) {
			if r.Table.ID != t.ID {
				return sqlerr.New(3726, 16, 1, "The object '%s' cannot be dropped: a FOREIGN KEY constraint refers to it.", dotted(NameOf(n)))
			}
		}
		if by := sn.boundTo(t.Schema, t.Name); by != "" {
			return sqlerr.New(3729, 16, 1, "'DROP TABLE' cannot be carried out on '%s': the object '%s' refers to it.", dotted(NameOf(n)), by)
		}
		sn.removeTable(t)
		d.Undo.retire(t.Data)
		return nil
	})
}

func wrongKind(name Name, wanted string, o any) error {
	return sqlerr.New(3705, 16, 1, "DROP %s cannot be used on '%s': it is a %s. Use the DROP statement of its kind.", wanted, dotted(name), kindName(o))
}

func kindName(o any) string {
	switch o := o.(type) {
	case *Table:
		if o.View != nil {
			return "view"
		}
		return "table"
	case *Procedure:
		return "procedure"
	case *Function:
		return "function"
	}
	return "constraint"
}

// boundTo names a schema-bound module that mentions a table, view or function,
// or returns "".
func (s *snapshot) boundTo(schema, name string) string {
	for _, o := range s.objects {
		m := moduleOf(o)
		if m == nil || !m.SchemaBound {
			continue
		}
		for _, r := range m.refs {
			if EqualName(r.Object, name) && (EqualName(r.Schema, schema) || r.Schema == "" && EqualName(schema, "dbo")) {
				return m.Name
			}
		}
	}
	return ""
}

func moduleOf(o any) *Module {
	switch o := o.(type) {
	case *Procedure:
		return &o.Module
	case *Function:
		return &o.Module
	case *Table:
		if o.View != nil {
			return &o.View.Module
		}
	}
	return nil
}

func (d *DDL) dropViews(st ast.Statement) error {
	s := st.(*ast.DropViewStatement)
	return d.dropModules(s.Objects, s.IsIfExists, "view", func(o any) bool {
		t, ok := o.(*Table)
		return ok && t.View != nil
	})
}

func (d *DDL) dropProcedures(st ast.Statement) error {
	s := st.(*ast.DropProcedureStatement)
	return d.dropModules(s.Objects, s.IsIfExists, "procedure", func(o any) bool {
		_, ok := o.(*Procedure)
		return ok
	})
}

func (d *DDL) dropFunctions(st ast.Statement) error {
	s := st.(*ast.DropFunctionStatement)
	return d.dropModules(s.Objects, s.IsIfExists, "function", func(o any) bool {
		_, ok := o.(*Function)
		return ok
	})
}

func (d *DDL) dropModules(names []*ast.SchemaObjectName, ifExists bool, what string, is func(any) bool) error {
	for _, n := range names {
		name, err := d.target(n)
		if err != nil {
			return err
		}
		if name.Database != "" && !EqualName(name.Database, d.DB.Name()) {
			return sqlerr.New(166, 15, 1, "DROP %s does not allow a database name before the object's name.", upper(what))
		}
		err = d.DB.edit(d.Undo, func(sn *snapshot) error {
			o, ok := sn.objects[key(name.Schema, name.Object)]
			if !ok {
				if ifExists {
					return nil
				}
				return missingObject(what, n)
			}
			if !is(o) {
				return wrongKind(name, upper(what), o)
			}
			if by := sn.boundTo(name.Schema, name.Object); by != "" {
				return sqlerr.New(3729, 16, 1, "'DROP %s' cannot be carried out on '%s': the object '%s' refers to it.", upper(what), dotted(NameOf(n)), by)
			}
			delete(sn.objects, key(name.Schema, name.Object))
			delete(sn.byID, idOf(o))
			sn.dropProperties(PropertyObject, idOf(o))
			return nil
		})
		if err != nil {
			return sqlerr.AtLine(err, tsql.Line(n))
		}
	}
	return nil
}

func (d *DDL) dropType(st ast.Statement) error {
	s := st.(*ast.DropTypeStatement)
	name, err := d.target(s.Name)
	if err != nil {
		return err
	}
	return d.DB.edit(d.Undo, func(sn *snapshot) error {
		k := key(name.Schema, name.Object)
		o, ok := sn.types[k]
		if !ok {
			if s.IsIfExists {
				return nil
			}
			return sqlerr.New(218, 16, 1, "The type '%s' cannot be found: it is not there, or you may not use it.", dotted(NameOf(s.Name)))
		}
		if by := sn.usesType(o); by != "" {
			return sqlerr.New(3732, 16, 1, "The type '%s' cannot be dropped: the object '%s' refers to it. There may be others.", dotted(NameOf(s.Name)), by)
		}
		delete(sn.types, k)
		switch o := o.(type) {
		case *TableType:
			delete(sn.byID, o.Table.ID)
			sn.dropProperties(PropertyType, o.ID)
		case *AliasType:
			sn.dropProperties(PropertyType, o.ID)
		}
		return nil
	})
}

// usesType names an object that has a parameter or column of a type, or returns "".
func (s *snapshot) usesType(typ any) string {
	params := func(list []Param) bool {
		for _, p := range list {
			if p.TableType != nil && any(p.TableType) == typ || p.UserType != nil && any(p.UserType) == typ {
				return true
			}
		}
		return false
	}
	for _, o := range s.objects {
		switch o := o.(type) {
		case *Procedure:
			if params(o.Params) {
				return o.Name
			}
		case *Function:
			if params(o.Params) {
				return o.Name
			}
		case *Table:
			for i := range o.Columns {
				if u := o.Columns[i].UserType; u != nil && any(u) == typ {
					return o.Name
				}
			}
		}
	}
	return ""
}

func (d *DDL) dropSchema(st ast.Statement) error {
	s := st.(*ast.DropSchemaStatement)
	name := NameOf(s.Schema).Object
	return d.DB.edit(d.Undo, func(sn *snapshot) error {
		sc, ok := sn.schemas[Fold(name)]
		if !ok {
			if s.IsIfExists {
				return nil
			}
			return sqlerr.New(15151, 16, 1, "Cannot drop the schema '%s': it is not there, or you may not drop it.", name)
		}
		if sc.ID < 5 {
			return sqlerr.New(15150, 16, 1, "Cannot drop the schema '%s'.", name)
		}
		for _, m := range []map[string]any{sn.objects, sn.types} {
			for _, o := range m {
				if schema, object := schemaOf(o); EqualName(schema, name) {
					return sqlerr.New(3729, 16, 1, "Cannot drop the schema '%s': the object '%s' refers to it.", name, object)
				}
			}
		}
		delete(sn.schemas, Fold(name))
		sn.dropProperties(PropertySchema, sc.ID)
		return nil
	})
}

func schemaOf(o any) (schema, name string) {
	switch o := o.(type) {
	case *Table:
		return o.Schema, o.Name
	case *Procedure:
		return o.Schema, o.Name
	case *Function:
		return o.Schema, o.Name
	case *Constraint:
		return o.Schema, o.Name
	case *TableType:
		return o.Schema, o.Name
	case *AliasType:
		return o.Schema, o.Name
	}
	return "", ""
}
